"""Verifiers: rules that score a completion, and their combinations.

Loaded by name, so that using one does not import the others.
"""

from __future__ import annotations

import importlib
from typing import Any as _Any

_HOMES = {
    "ExactMatch": "exact",
    "Includes": "includes",
    "Regex": "regex",
    "MultipleChoice": "choice",
    "Numeric": "numeric",
    "MathEqual": "math_equal",
    "JSONValid": "json_value",
    "JSONSchema": "json_value",
    "JSONField": "json_value",
    "CodeExec": "code_exec",
    "All": "combine",
    "Any": "combine",
    "Weighted": "combine",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        from whileai.params import near_miss

        raise AttributeError(f"module 'whileai.verify' has no attribute {name!r}. {near_miss(name, __all__)}")
    value = getattr(importlib.import_module(f"whileai.verify.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
