"""The pages of the API: every public name with the docstring that mkdocstrings puts in, and every class of results."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import whileai
from whileai.result import Result

#: Page: title, what it says, and the rooms whose public names stand on it.
PAGES = {
    "rows": ("Rows", "Build, judge, read and write them.", ("scoring", "readers", "export", "table")),
    "measure": ("Measure", "Numbers with intervals, and verdicts.", ("measure", "stats")),
    "select": ("Select", "What to train on, and what to keep out.", ("selection",)),
    "simulate": ("Simulate", "Situations, agents, worlds, judges and endpoints.", ("engine",)),
    "report": ("Report", "The page to look at.", ("pages", "cli", "pytest_plugin")),
    "verify": ("Verify", "Rules that score a completion: `wai.verify`.", ("verify",)),
    "errors": (
        "Errors",
        "What is raised on purpose is a `WaiError`, and says in one sentence what to do.",
        ("errors",),
    ),
}


def room_of(home: str) -> str:
    """The room of a module: ``measure`` of ``whileai.measure.compare``."""
    return home.split(".")[1]


def directive(home: str, heading: str) -> str:
    """One object; its home is where it is written, its heading how it is called."""
    return f"::: {home}\n    options:\n      heading: {heading}\n"


def results() -> list[type[Result]]:
    """Every class of results that a call of these rooms returns, by name."""
    rooms = [
        room for _, _, listed in PAGES.values() for room in listed if room not in {"stats", "cli", "pytest_plugin"}
    ]
    found: dict[str, type[Result]] = {}
    for info in pkgutil.walk_packages(whileai.__path__, "whileai."):
        if room_of(info.name) not in rooms or info.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            own = inspect.isclass(value) and value.__module__ == info.name and not name.startswith("_")
            if own and issubclass(value, Result):
                found[name] = value
    return [found[name] for name in sorted(found)]


def named(module: ModuleType, prefix: str) -> dict[str, str]:
    """What the public names of a module are called, by where each is written; plain values are left out."""
    values = {name: getattr(module, name) for name in module.__all__}
    return {
        f"{value.__module__}.{name}": f"{prefix}{name}"
        for name, value in values.items()
        if hasattr(value, "__module__")
    }


def pages() -> dict[str, str]:
    """Every page of the API by its path."""
    headings = {f"{home}.{name}": f"wai.{name}" for name, home in whileai._HOMES.items()}
    headings |= named(whileai.verify, "wai.verify.")
    headings |= {
        f"{value.__module__}.{value.__name__}": value.__name__
        for value in results()
        if value.__name__ not in whileai._HOMES
    }
    page_of = {room: page for page, (_, _, rooms) in PAGES.items() for room in rooms}
    listed: dict[str, list[str]] = {page: [] for page in PAGES}
    for home, heading in headings.items():
        listed[page_of[room_of(home)]].append(directive(home, heading))
    found = {f"api/{page}.md": _page(title, said, listed[page]) for page, (title, said, _) in PAGES.items()}
    schema = importlib.import_module("whileai.simulations.schema")
    parts = [directive(home, name) for home, name in named(schema, "").items()]
    found["api/schema.md"] = _page("Schema", "The typed row: `whileai.simulations.schema`.", parts)
    base = [directive("whileai.result.base.Result", "Result"), directive("whileai.result.blocks.Note", "Note")]
    found["api/results.md"] = _page("Results", "What every call returns is a frozen `Result`.", base)
    return found


def _page(title: str, said: str, parts: list[str]) -> str:
    return "\n".join([f"# {title}\n", f"{said}\n", *parts])
