"""The axes a plan varies, their values, and which values exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

from whileai import params
from whileai.engine.catalog import Catalog
from whileai.engine.rules import rules_of
from whileai.errors import ParamError

CALL = "simulate"
NAMES = ("tool", "rule", "stance", "state", "condition", "history")
UNSPECIFIED = "unspecified"
NO_TOOL = "none"
SEVERAL = "several"
OK = "ok"
STANCES = ("plain", "hurried", "vague", "upset", "insistent", "mistaken", "changes_mind", "hostile")
STATES = ("present", "missing", "already_done", "partial", "conflicting", "stale")
HISTORIES = ("first_contact", "repeat", "handed_over", "contradicted", "long")

Point = tuple[int, ...]


class Pair(NamedTuple):
    """Two values of two axes, the axes in the order of `NAMES`."""

    axis: str
    value: str
    other_axis: str
    other_value: str

    def __str__(self) -> str:
        return f"{self.axis}={self.value} x {self.other_axis}={self.other_value}"


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A tool value and what it rules out.

    Attributes
    ----------
    tool : str
        A value of the axis ``tool``.
    axis : str
        The other axis.
    values : frozenset of str
        The values of it that cannot be.
    reason : str
    """

    tool: str
    axis: str
    values: frozenset[str]
    reason: str


@dataclass(frozen=True)
class Axes:
    """Axes, values, and what is impossible.

    Attributes
    ----------
    values : dict of str to tuple of str
        Axis -> values, in the order of `NAMES`.
    forbidden : tuple of Forbidden
    texts : dict of tuple to tuple of str
        (axis, value) -> how a person says it, for values of the caller's own.
    """

    values: Mapping[str, tuple[str, ...]]
    forbidden: tuple[Forbidden, ...] = ()
    texts: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Point:
        """How many values each axis has."""
        return tuple(len(self.values[name]) for name in NAMES)

    @cached_property
    def allowed(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Per tool value, per axis: the places of the values that can be with it; all empty where an axis has none."""
        found = []
        for place, tool in enumerate(self.values["tool"]):
            per_axis = [
                (place,)
                if name == "tool"
                else tuple(i for i, value in enumerate(self.values[name]) if value not in self._ruled_out(tool, name))
                for name in NAMES
            ]
            found.append(tuple(per_axis) if all(per_axis) else ((),) * len(NAMES))
        return tuple(found)

    def _ruled_out(self, tool: str, axis: str) -> frozenset[str]:
        rules = [rule.values for rule in self.forbidden if rule.tool == tool and rule.axis == axis]
        return frozenset().union(*rules)

    @cached_property
    def n_points(self) -> int:
        """How many combinations of one value an axis are possible."""
        return sum(prod(map(len, per_axis)) for per_axis in self.allowed)

    def point(self, axes: Mapping[str, str]) -> Point | None:
        """The places of the values of a situation, ``None`` where one of them is on no axis."""
        try:
            return tuple(self.values[name].index(axes[name]) for name in NAMES)
        except (KeyError, ValueError):
            return None

    def named(self, point: Point) -> dict[str, str]:
        """The values of a point by axis."""
        return {name: self.values[name][place] for name, place in zip(NAMES, point, strict=True)}

    def pairs(self) -> Iterator[Pair]:
        """Every pair of values of two axes, possible or not, in order."""
        for first, second in combinations(NAMES, 2):
            for value in self.values[first]:
                for other in self.values[second]:
                    yield Pair(first, value, second, other)

    @cached_property
    def feasible(self) -> frozenset[Pair]:
        """The pairs that some possible point holds."""
        found = set()
        for per_axis in self.allowed:
            for (i, first), (j, second) in combinations(enumerate(NAMES), 2):
                for x in per_axis[i]:
                    for y in per_axis[j]:
                        found.add(Pair(first, self.values[first][x], second, self.values[second][y]))
        return frozenset(found)

    def infeasible(self) -> tuple[tuple[Pair, str], ...]:
        """The pairs that no point holds, each with the rule that forbids it."""
        return tuple((pair, self._reason(pair)) for pair in self.pairs() if pair not in self.feasible)

    def _reason(self, pair: Pair) -> str:
        held = {pair.axis: pair.value, pair.other_axis: pair.other_value}
        close = [
            rule
            for rule in self.forbidden
            if held.get("tool", rule.tool) == rule.tool and held.get(rule.axis) in rule.values
        ]
        loose = [rule for rule in self.forbidden if held.get("tool", rule.tool) == rule.tool]
        reasons = dict.fromkeys(rule.reason for rule in close or loose)
        return "; ".join(reasons)


def axes_of(
    catalog: Catalog,
    system_prompt: str = "",
    *,
    fault_kinds: Sequence[str] = (),
    pinned: Mapping[str, Any] | None = None,
    spoken: bool = False,
) -> Axes:
    """The axes for some tools and a system prompt.

    Parameters
    ----------
    fault_kinds : sequence of str
        The values of ``condition`` beside ``ok``.
    pinned : mapping, optional
        Axis -> the values it is to have in place of its own: a value, a list, or for ``stance`` and ``history`` a
        mapping of value -> texts, which say how a person of that kind talks.
    spoken : bool, default False
        Whether a model writes the prompts, so that values of the caller's own need no texts.

    Raises
    ------
    ParamError
        If an axis or a value is not known, an axis has no value, or no combination is possible.
    """
    names = tuple(tool.name for tool in catalog.tools)
    for word in (NO_TOOL, SEVERAL, UNSPECIFIED):
        if word in names:
            raise ParamError.of(CALL, "tools", f"tools with other names than {word!r}", word)
    own: dict[str, tuple[str, ...]] = {
        "tool": (*names, NO_TOOL, *((SEVERAL,) if len(names) > 1 else ())),
        "rule": (*rules_of(system_prompt), UNSPECIFIED),
        "stance": STANCES,
        "state": STATES,
        "condition": (OK, *fault_kinds),
        "history": HISTORIES,
    }
    texts: dict[tuple[str, str], tuple[str, ...]] = {}
    if pinned is not None and not isinstance(pinned, Mapping):
        raise ParamError.of(CALL, "axes", "a mapping of axis to values", pinned)
    for axis, given in (pinned or {}).items():
        params.one_of(CALL, "a name in axes", axis, NAMES)
        own[axis] = _pinned(axis, given, own[axis], texts, spoken=spoken)
    axes = Axes(own, _rules(catalog, own), texts)
    if not axes.n_points:
        fix = f"{axes.forbidden[0].reason}." if axes.forbidden else ""
        raise ParamError.of(CALL, "axes", "axes with at least one possible combination", dict(pinned or {}), fix)
    return axes


def _pinned(
    axis: str, given: Any, known: Sequence[str], texts: dict[tuple[str, str], tuple[str, ...]], *, spoken: bool
) -> tuple[str, ...]:
    """The values of an axis that the caller set."""
    values = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, (Sequence, Mapping)) else None
    if not values or not all(isinstance(value, str) and value.strip() for value in values):
        raise ParamError.of(CALL, f"axes[{axis!r}]", "a value, or a list of at least one", given)
    values = tuple(dict.fromkeys(values))
    says = given if isinstance(given, Mapping) else {}
    for value in values:
        if value in known or axis == "rule":
            continue
        if axis not in ("stance", "history"):
            fix = params.near_miss(value, known)
            raise ParamError.of(CALL, f"a value of axes[{axis!r}]", f"one of {', '.join(known)}", value, fix)
        said = _said(axis, value, says.get(value), known, spoken=spoken)
        if said:
            texts[axis, value] = said
    return values


def _said(axis: str, value: str, given: Any, known: Sequence[str], *, spoken: bool) -> tuple[str, ...]:
    """The texts for a value of the caller's own."""
    said = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else ()
    if all(isinstance(text, str) and text.strip() for text in said) and (said or spoken):
        return said
    near = params.near_miss(value, known)
    fix = f'{near} One of your own needs texts: axes={{"{axis}": {{"{value}": ["..."]}}}}.'
    raise ParamError.of(CALL, f"a value of axes[{axis!r}]", "a known one, or one with texts that say it", value, fix)


def _rules(catalog: Catalog, values: Mapping[str, Sequence[str]]) -> tuple[Forbidden, ...]:
    """What the tools rule out."""
    effects = {tool.name: tool.effect for tool in catalog.tools}
    if effects and all(effect == "read" for effect in effects.values()):
        effects[SEVERAL] = "read"
    rules = []
    for tool in values["tool"]:
        if tool == NO_TOOL:
            for axis, kept in (("state", "present"), ("condition", OK)):
                out = frozenset(values[axis]) - {kept}
                rules.append(Forbidden(tool, axis, out, f"where no tool is needed, {axis} is {kept}"))
        elif effects.get(tool) == "read":
            out = frozenset({"already_done"})
            rules.append(Forbidden(tool, "state", out, f"{tool} only reads, so nothing is already done"))
    return tuple(rules)
