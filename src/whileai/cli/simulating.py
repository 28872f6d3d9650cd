"""``wai simulate``: an agent in planned situations, as a TOML file names them; rows into a file, report to stdout."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whileai import keys, params
from whileai.cli.failures import InputError
from whileai.cli.grading import OWN_OPTION, VERIFIERS
from whileai.cli.output import Answer, deliver
from whileai.errors import ParamError, RowError
from whileai.result import Block, Note, Result

if TYPE_CHECKING:
    from whileai.engine.data import SimulationData

CALL = "simulate"
BAD, INTERRUPTED = 2, 130
#: Options of the command line that stand in for keys of the file.
_INSTEAD = ("mode", "situations", "repeats", "budget", "seed", "output")
_PLACE = "module:name"


@dataclass(frozen=True, repr=False)
class Simulation(Result):
    """What `wai simulate` ran.

    Attributes
    ----------
    mode, agent, output : str
    stopped_because : str
        ``done``, ``budget``, ``interrupted`` or ``agent_failed``.
    n_rows, n_situations, n_judged, n_passed : int
    unusable : dict of str to int
        Rows by ``unusable_reason``.
    faults : dict of str to int
        Failures of tools that were met, by kind.
    groups : dict of str to int
        Situations by how far their rollouts came.
    pairs_covered, pairs_possible : int
    usage : dict of str to dict
        What each role cost.
    notes : tuple of Note
    """

    mode: str
    agent: str
    output: str
    stopped_because: str
    n_rows: int
    n_situations: int
    n_judged: int
    n_passed: int
    unusable: dict[str, int]
    faults: dict[str, int]
    groups: dict[str, int]
    pairs_covered: int
    pairs_possible: int
    usage: dict[str, dict[str, Any]]
    notes: tuple[Note, ...] = ()
    _printed: tuple[Block, ...] = field(default=(), compare=False)

    def _blocks(self) -> list[Block]:
        return list(self._printed)


def simulate(args: argparse.Namespace) -> int:
    """Run what the file says; 2 where the agent could not be run, 130 after an interrupt."""
    from whileai.engine.simulate import simulate as call

    spec = _Spec(args)
    try:
        data = call(**spec.arguments())
    except (ParamError, RowError, InputError, FileNotFoundError, TypeError) as error:
        if isinstance(error, TypeError) and not str(error).startswith(f"{CALL}: "):
            raise  # nothing that was given is at fault
        raise InputError(spec.sentence(error)) from error
    result = _report(data)
    deliver(args, Answer(CALL, result, (), data.stopped_because in ("done", "budget")), to_file=False)
    return {"agent_failed": BAD, "interrupted": INTERRUPTED}.get(data.stopped_because, 0)


class _Spec:
    """What stands in the file, made into what the call takes; options of the command line stand in for keys of it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.path, self.folder = args.spec, Path(args.spec).parent
        try:
            self.given = tomllib.loads(Path(args.spec).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"SPEC must be a file that can be read; got {args.spec!r}: {error.strerror}.") from error
        except ValueError as error:
            raise InputError(f"SPEC must be a TOML file; {args.spec!r} is none: {error}.") from error
        if isinstance(self.given.get("output"), str):
            self.given["output"] = str(self.folder / self.given["output"])
        self.flags = {name: value for name in _INSTEAD if (value := getattr(args, name)) is not None}
        self.given |= self.flags
        if self.given.get("output") is None:
            raise InputError("--output must be given, or output in the file: a .jsonl file for the rows; got none.")
        for folder in (str(self.folder.resolve()), str(Path.cwd())):
            if folder not in sys.path:
                sys.path.insert(0, folder)

    def sentence(self, error: Exception) -> str:
        """What is wrong, with the option or the key of the file at fault, as it was written."""
        text = re.sub(f"^({CALL}|read|load_traces): ", "", str(error))
        name = text.partition(" ")[0]
        if name in self.flags:
            return f"--{text}"
        tables = (key for key, part in self.given.items() if isinstance(part, Mapping) and name in part)
        table = next(tables, None) if name not in self.given else None
        return f"{self.path}: {table}.{text}" if table else f"{self.path}: {text}"

    def arguments(self) -> dict[str, Any]:
        """All of it."""
        from whileai.engine.options import OBJECTS, EngineOptions
        from whileai.engine.simulate import simulate as call

        named = [name for name, one in inspect.signature(call).parameters.items() if one.kind is not one.VAR_KEYWORD]
        known = (*named, *EngineOptions.__annotations__)
        made: dict[str, Any] = {}
        _known("the file", self.given, known)
        for name, value in self.given.items():
            made[name] = self._table(name, OBJECTS[name], value) if name in OBJECTS else self._value(name, value)
        if "agent" not in made and not os.environ.get("WHILEAI_MODEL"):
            fix = "Or set WHILEAI_MODEL for a model at OPENAI_BASE_URL."
            raise ParamError.of(CALL, "agent", f'"{_PLACE}" or a table with model=', None, fix)
        return made

    def _table(self, name: str, kind: type[Any], value: Any) -> Any:
        """One of the four objects."""
        if not isinstance(value, Mapping):
            raise ParamError.of(CALL, name, "a table", value)
        _known(f"[{name}]", value, [part.name for part in dataclasses.fields(kind)])
        return kind(**{key: self._value(key, item) for key, item in value.items()})

    def _value(self, name: str, value: Any) -> Any:
        made = _READ.get(name)
        return value if made is None else made(self, name, value)

    def agent(self, name: str, value: Any) -> Any:
        """A function by its place, or an endpoint by its table."""
        return self.model(name, value) if isinstance(value, Mapping) else self.named(name, value)

    def model(self, name: str, value: Any) -> Any:
        """An endpoint by its table; ``false`` is kept."""
        from whileai.engine.endpoint import Endpoint

        if value is False:
            return value
        if not isinstance(value, Mapping):
            raise ParamError.of(CALL, name, "a table with model=, and base_url= for a server of your own", value)
        _known(f"[{name}]", value, inspect.signature(Endpoint).parameters)
        if "model" not in value:
            raise ParamError.of(CALL, f"{name}.model", "the name of a model", None)
        return _made(name, Endpoint, value)

    def tools(self, name: str, value: Any) -> list[Any]:
        """Tools by their places, one or a list each, or their schemas."""
        found: list[Any] = []
        for one in value if isinstance(value, list) else [value]:
            tool = self.named(name, one) if isinstance(one, str) else one
            found += tool if isinstance(tool, (list, tuple)) else [tool]
        return found

    def named(self, name: str, value: Any) -> Any:
        """What stands at ``module:name``."""
        module, _, path = value.partition(":") if isinstance(value, str) else ("", "", "")
        if not module or not path:
            raise ParamError.of(CALL, name, f'"{_PLACE}"', value)
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
                text = (
                    f"{name} must be in a module that can be imported; {module} needs {error.name}, which is not there."
                )
                raise InputError(text) from error
            fix = "It is looked for beside the file, in the current folder and among what is installed."
            raise ParamError.of(CALL, name, "in a module that is there", value, fix) from error
        except Exception as error:
            text = f"{name} must be in a module that can be imported; {module} raised {type(error).__name__}: {error}."
            raise InputError(text) from error
        for part in path.split("."):
            if not hasattr(found, part):
                near = params.near_miss(part, [one for one in dir(found) if not one.startswith("_")])
                raise ParamError.of(CALL, name, f"a name in {module}", value, near)
            found = getattr(found, part)
        return found

    def kinds(self, name: str, value: Any) -> Any:
        """Fault kinds: a list of names, or a table whose functions are named by their places."""
        if not isinstance(value, Mapping):
            return value
        return {kind: self.named(name, place) if place else None for kind, place in value.items()}

    def judge(self, name: str, value: Any) -> Any:
        """A verifier by its name, a function by its place, a rubric by its table."""
        if isinstance(value, Mapping):
            return self._rubric(name, value)
        if isinstance(value, str) and ":" in value:
            return self.named(name, value)
        plain = [one for one in VERIFIERS if not OWN_OPTION.get(one, ("", False))[1]]
        chosen = params.one_of(CALL, name, value, plain, f"a verifier, {_PLACE!r} or a table with rubric=")
        return VERIFIERS[chosen](argparse.Namespace(reference=None, pattern=None, tests=None, timeout=None))

    def _rubric(self, name: str, value: Mapping[str, Any]) -> Any:
        from whileai.engine.judge import Judge

        _known(f"[{name}]", value, inspect.signature(Judge).parameters)
        for key in ("rubric", "model"):
            if key not in value:
                raise ParamError.of(CALL, f"{name}.{key}", "given", None)
        model = value["model"]
        model = self.model(f"{name}.model", model) if isinstance(model, Mapping) else model
        return _made(name, Judge, {**value, "model": model})

    def file(self, name: str, value: Any) -> Any:
        """A file beside the spec, or what stands there itself."""
        return str(self.folder / value) if isinstance(value, str) else value


def _known(place: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise unless every key of a place in the file is a known one."""
    for key in given:
        params.one_of(CALL, f"a key of {place}", key, known, "a known one")


def _made(table: str, kind: type[Any], values: Mapping[str, Any]) -> Any:
    """An object from a table; what is wrong with it is told by the table's name."""
    try:
        return kind(**values)
    except ParamError as error:
        raise ParamError(f"{table}.{str(error).partition(': ')[2]}") from error


#: Key -> how its value is read; all others are taken as they are.
_READ: dict[str, Callable[[_Spec, str, Any], Any]] = {
    "agent": _Spec.agent,
    "model": _Spec.model,
    "simulator": _Spec.model,
    "tools": _Spec.tools,
    "execute": _Spec.named,
    "on_progress": _Spec.named,
    "fault_kinds": _Spec.kinds,
    "judge": _Spec.judge,
    "seeds": _Spec.file,
    "traces": _Spec.file,
}


def _report(data: SimulationData) -> Simulation:
    rewards = [row["reward"] for row in data if not keys.is_missing(row.get("reward"))]
    events = [event for row in data for event in row.get("ledger", ()) if event.get("injected")]
    coverage = data.coverage
    return Simulation(
        mode=data.mode,
        agent=data.agent,
        output=str(data.made.output),
        stopped_because=data.stopped_because,
        n_rows=len(data),
        n_situations=len({row["task_id"] for row in data}),
        n_judged=len(rewards),
        n_passed=sum(reward == 1 for reward in rewards),
        unusable=dict(Counter(str(row.get("unusable_reason")) for row in data.unusable())),
        faults=dict(Counter(str(event.get("mode")) for event in events)),
        groups=dict(Counter(data.groups.values())),
        pairs_covered=coverage.pairs_covered,
        pairs_possible=coverage.pairs_possible,
        usage={role: used.to_dict() for role, used in data.usage.items() if used.requests},
        notes=data.warnings,
        _printed=tuple(data._blocks()),
    )
