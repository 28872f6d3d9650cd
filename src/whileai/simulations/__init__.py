"""The typed row: ``import whileai.simulations as wai`` gives the names of `whileai.simulations.schema`.

Loaded by name, so that importing the library does not import them.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = (
    "Calibration",
    "Dataset",
    "FaultEvent",
    "Judgment",
    "Lineage",
    "Marker",
    "Message",
    "PolicyRef",
    "Privileged",
    "Rollout",
    "SCHEMA_VERSION",
    "ScorerRef",
    "Step",
    "Task",
    "World",
    "calibration_of",
    "conversation",
    "from_row",
    "row_schema",
    "to_row",
    "validate",
)

__all__ = [*_NAMES, "schema"]  # noqa: PLE0604  (the names are strings, two lines up)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'whileai.simulations' has no attribute {name!r}")
    module = importlib.import_module("whileai.simulations.schema")
    value = module if name == "schema" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
