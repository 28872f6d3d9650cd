"""Blocks as GitHub's Markdown: names from the data stand in code spans, where they are text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whileai.result.blocks import Block, Headline, Line, Note, Table
from whileai.result.svg import visible

SIDES = {"l": ":--", "c": ":-:", "r": "--:"}
_words = re.compile(r"[a-z][a-z ,-]*[a-z](?=: )")
#: What would be markup, a mention, a reference or a formula where it stands; plain prose keeps its look.
_special = re.compile(
    r"[\\`*~$|]|_(?!\w)|(?<!\w)_|<(?=[A-Za-z/!?])|&(?=#?\w+;)|#(?=\d)|(?<!\w)@(?=\w)|!(?=\[)|\](?=[(\[:])"
    r"|^[-+#>=](?=[\s#>=-]|$)|(?<=^\d)[.)](?=\s|$)"
)
_link = re.compile(r"(?i)\b(https?|ftp|mailto):(?=\S)|\b(www)\.(?=\S)")
#: A cell that is numbers, signs and plain words needs no code span.
_plain = re.compile(r"[\w ,.:;+\-\[\]/^=<>()'%]*")
_breaks = re.compile(r"\s+")


def render(blocks: Sequence[Block]) -> str:
    """The verdict in bold, the lines, the tables, the notes folded."""
    parts: list[str] = []
    notes = [block for block in blocks if isinstance(block, Note)]
    for block in blocks:
        if isinstance(block, Headline):
            parts.append(headline(block.text))
        elif isinstance(block, Line):
            parts.append(escaped(block.text))
        elif isinstance(block, Table):
            parts.append(table(block))
    if notes:
        items = "\n".join(f"- {escaped(str(note))}" for note in notes)
        many = "1 note" if len(notes) == 1 else f"{len(notes):,} notes"
        parts.append(f"<details><summary>{many}</summary>\n\n{items}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def headline(text: str, name: str = "") -> str:
    """Line one, its verdict in bold; `name` stands before it."""
    found = _words.match(text)
    if found is None:
        return f"**{name}:** {escaped(text)}" if name else f"**{escaped(text)}**"
    verdict = f"{name}: {found[0]}" if name else found[0]
    return f"**{verdict}** - {escaped(text[found.end() + 2 :])}"


def table(block: Table) -> str:
    """A table; Markdown has none without a header, so that of labels and values has an empty one."""
    header = block.header or ("",) * len(block.align)
    lines = [_line(map(escaped, header)), _line(SIDES[side] for side in block.align)]
    lines += [_line(_cell(text, place == 0) for place, text in enumerate(row)) for row in block.rows]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text of one line in which nothing is markup, a mention or a link."""
    flat = _breaks.sub(" ", visible(text)).strip()
    return _link.sub(_unlinked, _special.sub(lambda match: f"\\{match[0]}", flat))


def _unlinked(match: re.Match[str]) -> str:
    """The start of an address, which GitHub would make a link of, with its sign escaped."""
    return f"{match[1]}\\:" if match[1] else f"{match[2]}\\."


def code_span(text: str) -> str:
    """A code span on one line that nothing in `text` can close, also inside a table."""
    flat = _breaks.sub(" ", visible(text)).replace("`", "'").replace("|", "\N{BROKEN BAR}").strip()
    return f"`{flat or ' '}`"


def _cell(text: str, is_name: bool) -> str:
    """A name as a code span; numbers and words as they are."""
    if not text:
        return ""
    return code_span(text) if is_name or not _plain.fullmatch(text) else escaped(text)


def _line(cells: object) -> str:
    return f"| {' | '.join(cells)} |"  # type: ignore[arg-type]  # any iterable of text
