"""The typed row and its conversions.

A row is a flat dict. `from_row` reads it as four typed objects, the situation (`Task`), the episode (`Rollout`), the
verdicts on it (`Judgment`) and the measurements beside them (`Marker`); `to_row` writes the flat row again, with
nothing lost; `validate` names what is wrong with a row. `conversation` is the typed view of its messages, and
`row_schema` the JSON Schema of a stamped row.
"""

from __future__ import annotations

from whileai.simulations._calibration import calibration_of
from whileai.simulations._conversation import conversation
from whileai.simulations._from_row import from_row
from whileai.simulations._parts import FaultEvent, Lineage, Message, PolicyRef, Privileged, ScorerRef, Step, World
from whileai.simulations._to_row import to_row
from whileai.simulations._types import Calibration, Dataset, Judgment, Marker, Rollout, Task
from whileai.simulations._validate import row_schema, validate
from whileai.simulations._wire import SCHEMA_VERSION

__all__ = [
    "SCHEMA_VERSION",
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
]
