"""What a function's docstring says of it and of its parameters, in the three styles people write."""

from __future__ import annotations

import inspect
import re

_GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments)\s*:\s*$")
_NUMPY = re.compile(r"^(Other )?Parameters\s*$")
_SPHINX = re.compile(r"^\s*:(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_RULE = re.compile(r"^[-=~]{3,}\s*$")


def read_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    r"""The first paragraph in one line, and parameter name -> its description.

    Examples
    --------
    >>> read_docstring("Find an order.\n\nArgs:\n    order_id (str): The id\n        on the slip.")
    ('Find an order.', {'order_id': 'The id on the slip.'})
    """
    lines = inspect.cleandoc(text or "").splitlines()
    first: list[str] = []
    for line in lines:
        if not line.strip() or _GOOGLE.match(line) or _NUMPY.match(line) or _SPHINX.match(line):
            break
        first.append(line.strip())
    return " ".join(first), {**_numpy(lines), **_google(lines), **_sphinx(lines)}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _google(lines: list[str]) -> dict[str, str]:
    """``Args:`` and, indented, ``name (type): text`` whose further lines are indented deeper."""
    start = next((place for place, line in enumerate(lines) if _GOOGLE.match(line)), None)
    if start is None:
        return {}
    found: dict[str, list[str]] = {}
    level: int | None = None
    current: list[str] | None = None
    for line in lines[start + 1 :]:
        if not line.strip():
            continue
        depth = _indent(line)
        if depth == 0:
            break
        level = depth if level is None else level
        entry = _ENTRY.match(line.strip()) if depth <= level else None
        if entry:
            current = found.setdefault(entry[1], [entry[2]])
        elif current is not None:
            current.append(line.strip())
    return _joined(found)


def _numpy(lines: list[str]) -> dict[str, str]:
    """``Parameters`` over a rule, ``name : type`` or ``a, b : type``, and their text indented below."""
    found: dict[str, list[str]] = {}
    for start, line in enumerate(lines[:-1]):
        if not (_NUMPY.match(line) and _RULE.match(lines[start + 1])):
            continue
        current: list[list[str]] = []
        body = lines[start + 2 :]
        for place, part in enumerate(body):
            following = body[place + 1] if place + 1 < len(body) else ""
            if part.strip() and _RULE.match(following):
                break
            if part.strip() and _indent(part) == 0:
                names = part.partition(":")[0].split(",")
                current = [found.setdefault(name.strip().lstrip("*"), []) for name in names]
            elif part.strip():
                for texts in current:
                    texts.append(part.strip())
    return _joined(found)


def _sphinx(lines: list[str]) -> dict[str, str]:
    """``:param type name: text`` whose further lines are indented."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        entry = _SPHINX.match(line)
        if entry:
            current = found.setdefault(entry[1], [entry[2]])
        elif current is not None and line.strip() and _indent(line) > 0:
            current.append(line.strip())
        else:
            current = None
    return _joined(found)


def _joined(found: dict[str, list[str]]) -> dict[str, str]:
    texts = {name: " ".join(part for part in parts if part).strip() for name, parts in found.items()}
    return {name: text for name, text in texts.items() if text}
