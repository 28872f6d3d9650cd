"""What went wrong, in one sentence, with the names of the command line."""

from __future__ import annotations

import re

from whileai.errors import WaiError

#: Command -> the call it makes.
CALLS = {
    "pass-at": "pass_at",
    "compare": "compare",
    "variance": "eval_variance",
    "holdout-size": "holdout_size",
    "select": "select",
    "decontaminate": "decontaminate",
    "judge-trust": "judge_trust",
    "sample-for-labels": "sample_for_labels",
    "label": "label",
    "compare-judges": "compare_judges",
    "grade": "grade",
    "convert": "write",
    "validate": "validate",
    "simulate": "simulate",
    "report": "report",
    "self-check": "self_check",
    "demo": "demo",
}
#: Arguments that are not flags of the same name.
POSITIONAL = {"data": "DATA", "rows": "DATA", "runs": "RUN", "effect": "EFFECT", "path": "--output"}


class InputError(WaiError):
    """What was given on the command line cannot be used; the message is the sentence."""


def explain(error: BaseException, command: str) -> str:
    """The sentence to print for an error of a command."""
    call = CALLS[command]
    text = str(error)
    if isinstance(error, InputError):
        return text
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else f"{str(error.filename)!r}: "
        return f"{name}{error.strerror}."
    ours = text.startswith(f"{call}: ")
    if ours or isinstance(error, WaiError):
        return with_flags(text.removeprefix(f"{call}: "), command)
    shown = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"unexpected {shown}. This is a fault of wai; --debug shows where."


def with_flags(text: str, command: str) -> str:
    """A sentence with the argument it begins with, and those it names as ``name=``, as flags."""
    text = re.sub(r"^([a-z_]+)(?:\[\d+\])?(?= (?:must|row)\b)", lambda m: flag(m[1], command), text)
    return re.sub(r"\b([a-z_]+)=(?=[\s,.;)]|$)", lambda m: flag(m[1], command), text)


def flag(argument: str, command: str) -> str:
    """How the command line names an argument of a call."""
    if command == "compare" and argument in ("before", "after"):
        return argument.upper()
    if command == "report" and argument in ("before", "after"):
        return "A" if argument == "before" else "B"
    if command != "convert" and argument == "format":  # the format of what is read
        return "--from"
    if command != "decontaminate" and argument == "fields":  # the names of what is read
        return "--map"
    return POSITIONAL.get(argument, "--" + argument.replace("_", "-"))


def one_line(text: str) -> str:
    """A text without line breaks and control characters, which could pass for output of another kind."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)
