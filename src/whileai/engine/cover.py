"""The order in which a plan meets the points of its grid: a covering array first, then everything else, endlessly.

The stream depends on the axes, the seed, the fault rate and the marks alone, never on how much of it is read.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from whileai.engine.axes import NAMES, OK, Axes, Pair, Point
from whileai.engine.ids import rng

_TOOL, _CONDITION = NAMES.index("tool"), NAMES.index("condition")
#: Points looked at for the next draw where traces aim.
_LOOK = 8
#: Points built for the next one where the array is used up and pairs are still open.
_TRIES = 6
#: How many pairs a situation holds: one for every two axes.
PAIRS_HELD = math.comb(len(NAMES), 2)
#: Above this many pairs the array takes seconds to build, and building point by point does about as well.
MOST_PAIRS = 2_500


@lru_cache(maxsize=32)
def array(allowed: tuple[tuple[tuple[int, ...], ...], ...], seed: int) -> tuple[Point, ...]:
    """A pairwise covering array: points of which every possible pair of values is in one at least.

    covertable builds it (a greedy one-row-at-a-time generator with forward checking of the constraints). What is
    forbidden goes in as: tool is not t, or every other axis has one of the values that t allows.
    """
    from covertable import make

    live = [tool for tool, per_axis in enumerate(allowed) if per_axis[_TOOL]]
    factors = {
        name: live if place == _TOOL else sorted({value for tool in live for value in allowed[tool][place]})
        for place, name in enumerate(NAMES)
    }
    constraints = []
    for tool in live:
        for place, name in enumerate(NAMES):
            out = [value for value in factors[name] if value not in allowed[tool][place]]
            if place != _TOOL and out:
                others = [{"operator": "ne", "left": name, "value": value} for value in out]
                either = [{"operator": "ne", "left": "tool", "value": tool}, {"operator": "and", "conditions": others}]
                constraints.append({"operator": "or", "conditions": either})
    rows = make(factors, strength=2, salt=str(seed), constraints=constraints)
    return tuple(tuple(row[name] for name in NAMES) for row in rows)


class Stream:
    """Points one after another, each drawn when it is asked for.

    Whether a point is one with a fault is given by the rate alone: number i is when ``floor((i + 1) * rate) >
    floor(i * rate)``, so the share is right within one at any length. The fault is the kind least used so far. Among
    the points of a kind, those of the array go first, greedily by pairs newly covered; then the others, in a seeded
    order without repetition; then all of them again.

    Parameters
    ----------
    axes : Axes
    seed : int
    rate : float
        Share of points with a fault, in [0, 1].
    marks : dict of Pair to float, optional
        Pair -> share of failures where it was met; its gain is ``1 + 4 * share`` in place of 1.
    """

    def __init__(self, axes: Axes, seed: int, rate: float, marks: Mapping[Pair, float] | None = None) -> None:
        self.axes = axes
        self.seed = seed
        kinds = [value for value in axes.values["condition"] if value != OK]
        self.kinds = tuple(place for place, value in enumerate(axes.values["condition"]) if value != OK)
        self._ok = axes.values["condition"].index(OK) if OK in axes.values["condition"] else None
        self.rate = self._possible_rate(Fraction(str(rate)) if kinds else Fraction(0))
        self.counts = dict.fromkeys(self.kinds, 0)
        self.index = 0
        self._base = [sum(axes.sizes[:place]) for place in range(len(NAMES))]
        self._width = sum(axes.sizes)
        self._weights = self._weighed(marks or {})
        self._aimed = bool(self._weights)
        self.live_keys = frozenset(self._all_open())
        self.open = set(self.live_keys)
        self._queues: dict[int, list[tuple[float, int, Point]]] = {}
        self._fill_queues()
        self._draws: dict[int, _Draws] = {}
        self._used: set[Point] = set()
        self._starts: dict[int, list[int]] = {}
        self._met: Counter[int] = Counter()

    def _possible_rate(self, rate: Fraction) -> Fraction:
        """The share that the axes leave: none where no tool can fail, all where nothing else is on the axis."""
        if not self._points_with(self.kinds):
            return Fraction(0)
        return rate if self._ok is not None and self._points_with((self._ok,)) else Fraction(1)

    def _points_with(self, conditions: Iterable[int]) -> int:
        kept = set(conditions)
        return sum(
            math.prod(len(values) for place, values in enumerate(per_axis) if place != _CONDITION)
            * len(kept.intersection(per_axis[_CONDITION]))
            for per_axis in self.axes.allowed
        )

    @property
    def live(self) -> tuple[int, ...]:
        """The conditions that are ever met at this rate."""
        ok = (self._ok,) if self._ok is not None else ()
        return ok if self.rate == 0 else self.kinds if self.rate == 1 else (*ok, *self.kinds)

    def _live_allowed(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        live = set(self.live)
        found = []
        for per_axis in self.axes.allowed:
            kept = tuple(value for value in per_axis[_CONDITION] if value in live)
            found.append((*per_axis[:_CONDITION], kept, *per_axis[_CONDITION + 1 :]) if kept else ((),) * len(NAMES))
        return tuple(found)

    def _keys(self, point: Point) -> list[int]:
        """The pairs of a point as numbers."""
        held = [base + place for base, place in zip(self._base, point, strict=True)]
        return [first * self._width + second for first, second in combinations(held, 2)]

    def _weighed(self, marks: Mapping[Pair, float]) -> dict[int, float]:
        weights = {}
        for pair, share in marks.items():
            key = self.key(pair)
            if key is not None and share > 0:
                weights[key] = 1 + 4 * share
        return weights

    def key(self, pair: Pair) -> int | None:
        """The number of a pair, ``None`` where it is not on the axes."""
        held = []
        for name, value in ((pair.axis, pair.value), (pair.other_axis, pair.other_value)):
            if name not in NAMES or value not in self.axes.values[name]:
                return None
            held.append(self._base[NAMES.index(name)] + self.axes.values[name].index(value))
        return held[0] * self._width + held[1]

    def can_meet(self, pair: Pair) -> bool:
        """Whether some point of the stream holds a pair."""
        return self.key(pair) in self.live_keys

    def _all_open(self) -> set[int]:
        """The pairs that can be met at this rate."""
        found: set[int] = set()
        for per_axis in self._live_allowed():
            held = [[base + value for value in values] for base, values in zip(self._base, per_axis, strict=True)]
            for first, second in combinations(held, 2):
                found.update(x * self._width + y for x in first for y in second)
        return found

    def gain(self, point: Point) -> float:
        """What a point would newly cover, marked pairs counting more."""
        if not self._weights:
            return float(sum(key in self.open for key in self._keys(point)))
        return sum(self._weights.get(key, 1.0) for key in self._keys(point) if key in self.open)

    def _fill_queues(self) -> None:
        if len(self.open) > MOST_PAIRS:
            return
        for place, point in enumerate(array(self._live_allowed(), self.seed)):
            queue = self._queues.setdefault(point[_CONDITION], [])
            queue.append((-self.gain(point), place, point))
        for queue in self._queues.values():
            heapq.heapify(queue)

    def next_condition(self) -> int:
        """The condition of the next point."""
        i = self.index
        if math.floor((i + 1) * self.rate) > math.floor(i * self.rate):
            return min(self.kinds, key=lambda kind: (self.counts[kind], kind))
        return self._ok if self._ok is not None else self.kinds[0]

    def next_point(self) -> Point:
        """The next point of the stream."""
        condition = self.next_condition()
        point = self._queued(condition) or self._built(condition)
        point = self._drawn(condition) if point is None else self._loosened(point)
        self.take(point)
        return point

    def take(self, point: Point) -> None:
        """Count a point as the next of the stream."""
        self._used.add(point)
        for base, place in zip(self._base, point, strict=True):
            self._met[base + place] += 1
        if self.open:
            self.open.difference_update(self._keys(point))
        self._count(point[_CONDITION])

    def pass_over(self, axes: Mapping[str, str]) -> None:
        """Count a situation that the stream did not make, with the pairs it holds of those on the axes."""
        point = self.axes.point(axes)
        if point is not None:
            self._used.add(point)
            for base, place in zip(self._base, point, strict=True):
                self._met[base + place] += 1
        for pair in pairs_of(axes):
            key = self.key(pair)
            if key is not None:
                self.open.discard(key)
        conditions = self.axes.values["condition"]
        self._count(conditions.index(axes["condition"]) if axes.get("condition") in conditions else None)

    def _count(self, condition: int | None) -> None:
        if condition in self.counts:
            self.counts[condition] += 1
        self.index += 1

    def _queued(self, condition: int) -> Point | None:
        """The point of the array that covers most; the gains kept are upper bounds, as pairs are only ever closed."""
        queue = self._queues.get(condition)
        while queue:
            _, place, point = heapq.heappop(queue)
            now = -self.gain(point)
            if point in self._used or not now:
                continue
            if not queue or (now, place) <= queue[0][:2]:
                return point
            heapq.heappush(queue, (now, place, point))
        return None

    def _built(self, condition: int) -> Point | None:
        """A point made around an open pair, each further value the one that covers most; the best of a few."""
        if not self.open:
            return None
        starts = self._starts.get(condition)
        if starts is None:
            starts = sorted(self.open)
            rng("starts", self.seed, condition).shuffle(starts)
            self._starts[condition] = starts
        built: list[Point] = []
        left = []
        for place, key in enumerate(starts):
            if len(built) == _TRIES:
                left += starts[place:]
                break
            if key in self.open and (point := self._around(key, condition)) is not None:
                left.append(key)
                built.append(point)
        self._starts[condition] = left  # closed pairs, and those that this condition cannot have, are looked at once
        return max(built, key=self.gain, default=None)

    def _around(self, key: int, condition: int) -> Point | None:
        """A point of this condition with the values of a pair, ``None`` where there is none."""
        fixed: dict[int, int] = {_CONDITION: condition}
        for held in divmod(key, self._width):
            axis = max(place for place, base in enumerate(self._base) if base <= held)
            if fixed.setdefault(axis, held - self._base[axis]) != held - self._base[axis]:
                return None
        tools = self._tools_with(fixed)
        if not tools:
            return None
        fixed[_TOOL] = self._best(_TOOL, tools, fixed)
        per_axis = self.axes.allowed[fixed[_TOOL]]
        for axis in sorted(range(len(NAMES)), key=lambda axis: -len(per_axis[axis])):
            if axis not in fixed:
                fixed[axis] = self._best(axis, per_axis[axis], fixed)
        return tuple(fixed[axis] for axis in range(len(NAMES)))

    def _tools_with(self, fixed: Mapping[int, int]) -> list[int]:
        """The tool values that can be with some values of other axes."""
        allowed = self.axes.allowed
        return [t for t, per_axis in enumerate(allowed) if all(v in per_axis[axis] for axis, v in fixed.items())]

    def _best(self, axis: int, options: Sequence[int], fixed: Mapping[int, int]) -> int:
        """The value that covers most beside those that are fixed; of equals, the one that was met least."""
        held = [self._base[other] + value for other, value in fixed.items()]
        best, most = options[0], (-1.0, 0)
        for value in options:
            own = self._base[axis] + value
            covers = 0.0
            for there in held:
                key = own * self._width + there if own < there else there * self._width + own
                if key in self.open:
                    covers += self._weights.get(key, 1.0)
            if (covers, -self._met[own]) > most:
                best, most = value, (covers, -self._met[own])
        return best

    def _loosened(self, point: Point) -> Point:
        """The point with every value that covers nothing new replaced by what covers most, or else was met least.

        An array's row has such values where nothing was left to cover; they would all be the same ones.
        """
        fixed = dict(enumerate(point))
        for axis in range(len(NAMES)):
            if axis == _CONDITION:
                continue
            rest = {other: value for other, value in fixed.items() if other != axis}
            if not any(self._key_of(axis, fixed[axis], other, value) in self.open for other, value in rest.items()):
                options = self._tools_with(rest) if axis == _TOOL else self.axes.allowed[fixed[_TOOL]][axis]
                fixed[axis] = self._best(axis, options, rest)
        loosened = tuple(fixed[axis] for axis in range(len(NAMES)))
        return point if loosened in self._used else loosened

    def _key_of(self, axis: int, value: int, other: int, there: int) -> int:
        """The number of a pair of values of two axes."""
        held = sorted((self._base[axis] + value, self._base[other] + there))
        return held[0] * self._width + held[1]

    def _drawn(self, condition: int) -> Point:
        """The next point of the seeded order; where traces aim, the best of the next few, the others after all else."""
        draws = self._draws.get(condition)
        if draws is None:
            order = rng("points", self.seed, condition)
            draws = self._draws[condition] = _Draws(self.axes, condition, order)
        fresh = draws.some(_LOOK if self._aimed else 1, self._used)
        if not fresh:  # all points of this condition are used up: from here on, again
            self._used = {point for point in self._used if point[_CONDITION] != condition}
            draws.restart()
            return self._drawn(condition)
        best = max(fresh, key=self._aim) if len(fresh) > 1 else fresh[0]
        draws.postponed += [point for point in fresh if point != best]
        return best

    def _aim(self, point: Point) -> float:
        return sum(self._weights.get(key, 1.0) for key in self._keys(point))


class _Draws:
    """The points of one condition, shuffled (Fisher and Yates), each once; only what the shuffle moved is kept."""

    def __init__(self, axes: Axes, condition: int, order: Any) -> None:
        self._order = order
        self._blocks: list[tuple[int, tuple[tuple[int, ...], ...]]] = []
        self._size = 0
        for per_axis in axes.allowed:
            if condition in per_axis[_CONDITION]:
                choices = (*per_axis[:_CONDITION], (condition,), *per_axis[_CONDITION + 1 :])
                self._blocks.append((self._size, choices))
                self._size += math.prod(map(len, choices))
        self.restart()

    def restart(self) -> None:
        """All points again, in another order."""
        self._moved: dict[int, int] = {}
        self._next = 0
        self.postponed: list[Point] = []

    def some(self, n: int, used: set[Point]) -> list[Point]:
        """The next `n` points that are not used, of those put off once there are no others; fewer at the very end."""
        found: list[Point] = []
        while len(found) < n and (point := self._shuffled(used)) is not None:
            found.append(point)
        if not found:
            waiting = [point for point in self.postponed if point not in used]
            found, self.postponed = waiting[:n], waiting[n:]
        return found

    def _shuffled(self, used: set[Point]) -> Point | None:
        """The next point of the shuffle that is not used, ``None`` after the last."""
        while self._next < self._size:
            other = self._order.randrange(self._next, self._size)
            number = self._moved.get(other, other)
            self._moved[other] = self._moved.pop(self._next, self._next)
            self._next += 1
            point = self._at(number)
            if point not in used:
                return point
        return None

    def _at(self, number: int) -> Point:
        start, choices = next(block for block in reversed(self._blocks) if block[0] <= number)
        number -= start
        point = []
        for values in choices:
            number, place = divmod(number, len(values))
            point.append(values[place])
        return tuple(point)


def pairs_of(axes: Mapping[str, str]) -> list[Pair]:
    """The pairs of values that a situation holds."""
    known = [name for name in NAMES if name in axes]
    return [Pair(first, axes[first], second, axes[second]) for first, second in combinations(known, 2)]
