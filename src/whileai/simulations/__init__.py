"""The typed row: ``import whileai.simulations as wai`` gives the names of `whileai.simulations.schema`.

Loaded by name, so that importing the library does not import them.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    schema = importlib.import_module("whileai.simulations.schema")
    if name == "__all__":
        return [*schema.__all__, "schema"]
    if name == "schema":
        return schema
    if name not in schema.__all__:
        raise AttributeError(f"module 'whileai.simulations' has no attribute {name!r}")
    return getattr(schema, name)


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
