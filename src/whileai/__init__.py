"""Evaluate language models and choose what to train them on, from rows.

``import whileai as wai`` is the one import. Every name below is loaded when it is first used, so importing the library
costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: Public name -> module that defines it.
_HOMES = {
    "rows": "whileai.scoring.build",
    "grade": "whileai.scoring.grade",
    "Verifier": "whileai.verify.base",
    "verifier": "whileai.verify.base",
    "read": "whileai.readers.reading",
    "task_table": "whileai.table.intake",
    "TaskTable": "whileai.table.task_table",
    "pass_at": "whileai.measure.pass_at",
    "compare": "whileai.measure.compare",
    "eval_variance": "whileai.measure.eval_variance",
    "noise_band": "whileai.stats.noise",
    "holdout_size": "whileai.measure.holdout_size",
    "judge_trust": "whileai.measure.judge_trust",
    "label": "whileai.measure.label",
    "sample_for_labels": "whileai.measure.sample_for_labels",
    "compare_judges": "whileai.measure.compare_judges",
    "hack_scan": "whileai.measure.hack_scan",
    "self_check": "whileai.measure.self_check",
    "select": "whileai.selection.select",
    "decontaminate": "whileai.selection.decontaminate",
    "calibrate": "whileai.selection.calibrate",
    "publish_gate": "whileai.selection.publish_gate",
    "preference_pairs": "whileai.selection.pairs",
    "write": "whileai.selection.write",
    "load_traces": "whileai.readers.traces",
    "report": "whileai.pages.call",
    "Endpoint": "whileai.engine.endpoint",
    "OpenAI": "whileai.engine.endpoint",
    "Judge": "whileai.engine.judge",
    "simulate": "whileai.engine.simulate",
    "asimulate": "whileai.engine.simulate",
    "SimulationData": "whileai.engine.data",
    "WorldOptions": "whileai.engine.options",
    "Sampling": "whileai.engine.options",
    "UserOptions": "whileai.engine.options",
    "RunOptions": "whileai.engine.options",
    "tool": "whileai.engine.tools",
    "run_tools": "whileai.engine.tools",
    "seeded_agent": "whileai.engine.seeded",
    "mcp_tools": "whileai.engine.mcp",
    "WaiError": "whileai.errors",
    "ParamError": "whileai.errors",
    "RowError": "whileai.errors",
    "ScorerError": "whileai.errors",
    "MissingExtra": "whileai.errors",
}
_ROOMS = ("verify", "simulations", "stats", "errors")

__all__ = ["__version__", *_HOMES, *_ROOMS]  # noqa: PLE0604 - both hold names only


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"whileai.{name}")
    else:
        from whileai.params import near_miss

        raise AttributeError(f"module 'whileai' has no attribute {name!r}. {near_miss(name, __all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
