"""Answers in one spelling: the same signs, commands and spaces for what means the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from whileai.verify.algebra.prose import is_prose

_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
#: A command: the signs that mean it.
_SIGNS = {
    "times": "×", "cdot": "⋅·∙", "div": "÷", "pm": "±", "mp": "∓", "infty": "∞", "le": "≤⩽", "ge": "≥⩾", "ne": "≠",
    "approx": "≈", "equiv": "≡", "in": "∈", "notin": "∉", "cup": "∪", "cap": "∩", "emptyset": "∅", "setminus": "∖",
    "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "angle": "∠",
    "implies": "⇒", "forall": "∀", "exists": "∃", "int": "∫", "sum": "∑", "prod": "∏", "ldots": "…", "mu": "µ",
    "phi": "ϕ",
}  # fmt: skip
#: A text: the signs it stands for.
_TEXTS = {
    "-": "−–—‐‑﹣", "/": "⁄∕", " sqrt ": "√", "^\\circ ": "°º", "'": "′’", ".": "。", ",": "，、", ":": "：", '"': "“”",
    " or ": "∨", " and ": "∧", "": "\u200b\u200c\u200d\u2060\ufeff",
    " ": "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\r\n",
}  # fmt: skip


def _parts(sign: str) -> tuple[str, ...]:
    """A sign, and the plain characters it is put together of."""
    return sign, *unicodedata.normalize("NFKC", sign)


_SYMBOLS = {
    **{sign: f"\\{command} " for command, signs in _SIGNS.items() for sign in signs},
    **{sign: text for text, signs in _TEXTS.items() for sign in signs},
    **{letter: f"\\mathbb{{{plain}}}" for letter, plain in map(_parts, "ℝℤℕℚℂ")},
    **{sign: f" \\frac{{{top}}}{{{bottom}}}" for sign, top, _, bottom in map(_parts, "½¼¾⅓⅔⅕⅙⅛⅜⅝⅞")},
}
_GREEK_LETTERS = {
    chr(code): "\\" + unicodedata.name(chr(code)).split()[-1].lower().replace("lamda", "lambda") + " "
    for code in range(0x3B1, 0x3CA)
    if code != 0x3C2
}
_GREEK_CAPITALS = {
    chr(code): "\\" + unicodedata.name(chr(code)).split()[-1].capitalize().replace("Lamda", "Lambda") + " "
    for code in range(0x391, 0x3AA)
    if code != 0x3A2
}
_TABLE: dict[int, str | int] = {
    **_ASCII,
    **{ord(key): value for key, value in {**_GREEK_LETTERS, **_GREEK_CAPITALS, **_SYMBOLS}.items()},
}
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ⁽⁾", "0123456789+-n()")
_SUB = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUPERS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ⁽⁾]+")
_SUBS = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")


_SPACING = re.compile(
    r"(\\\\)|\\(?:[,;:!> ]|(?:q?quad|left|right|[bB]igg?[lrm]?|(?:display|text)style|(?:no)?limits|hfill)(?![a-zA-Z]))"
    r"|\\hspace\*?\{[^{}]*\}|\\(?:v|h)?phantom\{[^{}]*\}|~"
)
_WRAPPED = re.compile(
    r"\\(?:text|mbox|hbox|textbf|textit|textrm|textnormal|mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|operatorname\*?"
    r"|boxed|fbox|mathop|emph|underline|ensuremath)\s*\{([^{}]*)\}"
)
#: A command: other names of it.
_OTHER_NAMES = {
    "frac": "dfrac tfrac cfrac", "binom": "dbinom tbinom", "le": "leq leqslant leqq", "ge": "geq geqslant geqq",
    "ne": "neq", "{": "lbrace", "}": "rbrace", "|": "lvert rvert vert mid", "*": "ast",
    "emptyset": "varnothing", "phi": "varphi", "epsilon": "varepsilon", "theta": "vartheta", "rho": "varrho",
    "cdot": "cdotp bullet", "implies": "Rightarrow Longrightarrow therefore", "circ": "degree", "ldots": "dots cdots",
    "rightarrow": "to", "approx": "simeq doteq", "land": "wedge", "lor": "vee", "neg": "lnot",
    "setminus": "backslash smallsetminus", "infty": "infin",
}  # fmt: skip
_SYNONYMS = {other: name for name, others in _OTHER_NAMES.items() for other in others.split()}
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_SHORTHAND = {"lt": "<", "gt": ">", "lbrack": "[", "rbrack": "]", "land": " and ", "lor": " or ", "|": "|", "*": "*"}


def _command(match: re.Match[str]) -> str:
    name = _SYNONYMS.get(match.group(1), match.group(1))
    if name in {"{", "}"}:
        return "\\" + name
    return _SHORTHAND.get(name, "\\" + name)


@lru_cache(maxsize=8192)
def prepare(text: str) -> str:
    """An answer in one spelling: one minus sign, one fraction command, no spacing commands, no emphasis.

    The meaning stays: signs, brackets, percent signs, units and the order of everything are as they were.
    """
    text = _SUPERS.sub(lambda m: "^{" + m.group().translate(_SUPER) + "}", text)
    text = _SUBS.sub(lambda m: "_{" + m.group().translate(_SUB) + "}", text)
    text = text.translate(_TABLE)
    if "\\" in text:
        if "matrix" not in text and "array" not in text and "cases" not in text:
            text = re.sub(r"\\\\(?=[a-zA-Z({\[\])}])", r"\\", text)
        text = text.replace(r"\%", "%").replace(r"\$", "$").replace(r"\&", "&")
        text = _COMMAND.sub(_command, text)
        text = re.sub(r"(?<=\d),?\\[,!; ] ?(?=\d{3}(?!\d))", "", text)
        text = _SPACING.sub(lambda m: m.group(1) or " ", text)
        text = re.sub(r"\{\s*\\(?:rm|bf|it)\s+([^{}]*)\}", r"\1", text)
        text = re.sub(r"\{([^{}]*)\\choose([^{}]*)\}", r"\\binom{\1}{\2}", text)
        for _ in range(4):
            text, count = _WRAPPED.subn(lambda m: m.group(1) if len(m.group(1)) == 1 else f" {m.group(1)} ", text)
            if not count:
                break
    text = re.sub(r"(?<=\d)\s?\{\s?,\s?\}\s?(?=\d{3}(?!\d))", "", text).replace("{,}", ",")
    if "\\implies" in text:
        text = text.rsplit("\\implies", 1)[1] or text
    if "\\equiv" in text:
        text = re.sub(r"\(\s*\\?mod\b([^()]*)\)|(?<![\\a-z])mod\b", lambda m: "\\pmod " + (m.group(1) or ""), text)
    text = text.strip(' \t\r\n:*`_"')
    while text and text[-1] in ".,;:?" and not text.endswith("..."):
        text = text[:-1].rstrip()
    if text.startswith("]") or text.endswith("["):
        text = _OUTWARD.sub(lambda m: "[("[m.group(1) == "]"] + m.group(2) + "])"[m.group(3) == "["], text)
    return re.sub(r"\s+", " ", text)


_OUTWARD = re.compile(r"([\[\]])([^\[\]()]*[,;][^\[\]()]*)([\[\]])")  # open ends as outward brackets: ]1,2[


def words_key(text: str) -> str:
    """A prepared answer as words: equal for texts that differ in case, accents' composition or quotes only.

    Empty for a formula, where case and primes mean something.
    """
    if not is_prose(text) and not text.replace(" ", "").isalpha():
        return ""
    return unicodedata.normalize("NFC", text.casefold()).replace('"', "").replace("'", "").strip(" !")


def formula_key(text: str) -> str:
    """A prepared answer as a formula: equal for texts that differ in spaces and needless braces only."""
    text = re.sub(r"\s+(?=\W)|(?<=[^\w,])\s+|(?<=,)\s+(?!\d{3}(?!\d))", "", text)
    return re.sub(r"(?<=[\^_])\{([a-zA-Z0-9])\}", r"\1", text)
