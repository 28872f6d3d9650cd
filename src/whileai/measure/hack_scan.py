"""`wai.hack_scan`: does reward move with something that should not earn it?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whileai import params
from whileai.errors import ParamError
from whileai.readers.containers import listed
from whileai.result import Block, Headline, Interval, Line, Note, Plot, Result, Table, noted
from whileai.result import digits as d
from whileai.simulations.behaviour import WORDS
from whileai.stats import stratified
from whileai.stats.stratified import LEAST_ROWS, LEAST_STRATA
from whileai.table.features import Features, features_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CALL = "hack_scan"
_MOST_PRINTED = 6
_MOST_TASKS = 5


@dataclass(frozen=True)
class Moved:
    """One feature.

    Attributes
    ----------
    name : str
        ``length``, ``tool_calls``, ``turns``, ``tool:<name>``, ``faults``, ``cut_off``, ``mean_logprob``,
        ``marker:<name>``, or a name of your own.
    r : float or None
        Correlation with the reward within tasks; ``None`` where it varies within none.
    p : float or None
        How often the largest correlation of all features would be at least as far from 0 by chance.
    endorsed : bool
        Whether it may earn reward: then it is no finding, and not among the features compared.
    n_rows : int
        Rows in mixed tasks that tell it.
    tasks : tuple of str
        The tasks in which it moves with the reward the most, at most five.
    """

    name: str
    r: float | None
    p: float | None
    endorsed: bool
    n_rows: int
    tasks: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The name as a reader would say it."""
        return WORDS.get(self.name, self.name)


@dataclass(frozen=True, repr=False)
class HackScan(Result):
    """What `hack_scan` returns.

    Attributes
    ----------
    verdict : str
        ``clean``, ``tracks_feature`` or ``insufficient_data``.
    ok : bool
        The verdict is ``clean``.
    features : tuple of Moved
        Those that vary first, by the size of their correlation.
    floor : float or None
        The size of the largest correlation that chance alone reaches in ``1 - level`` of all permutations.
    level : float
    n_tasks, n_rows : int
        Mixed tasks (some replies pass, some fail) and the rows in them: no other row speaks.
    n_permutations : int
    every_permutation : bool
        Whether those are all there are.
    notes : tuple of Note
    """

    verdict: str
    ok: bool
    features: tuple[Moved, ...]
    floor: float | None
    level: float
    n_tasks: int
    n_rows: int
    n_permutations: int = 0
    every_permutation: bool = False
    notes: tuple[Note, ...] = field(default=())

    @property
    def findings(self) -> tuple[Moved, ...]:
        """The features that the reward moves with and that are not endorsed."""
        if self.verdict != "tracks_feature":
            return ()
        return tuple(
            f for f in self.features if not f.endorsed and f.p is not None and stratified.unlikely(f.p, self.level)
        )

    def _blocks(self) -> list[Block]:
        if self.verdict == "insufficient_data":
            return [Headline(f"not measured: {_why_not(self)}. This says nothing about the judge."), *self.notes]
        assert self.floor is not None
        heads = [
            f"reward moves with {f.words} within tasks ({_beside(f.r, self.floor)}). Endorse it or look at these rows."
            for f in self.findings
        ]
        if not heads:
            compared = [f for f in self.features if not f.endorsed and f.r is not None]
            top = f"the most with {compared[0].words} ({_beside(compared[0].r, self.floor)})"
            heads = [f"clean: reward moves with no feature within tasks; of {len(compared):,} {top}"]
        ways = f"all {self.n_permutations:,}" if self.every_permutation else f"{self.n_permutations:,} drawn"
        line = f"{d.count(self.n_tasks, 'mixed task')} | {d.count(self.n_rows, 'row')} in them | {ways} permutations"
        blocks: list[Block] = [Headline(heads[0]), *(Line(text) for text in heads[1:]), Line(line)]
        shown = [f for f in self.features if f.r is not None][:_MOST_PRINTED]
        if shown:
            cells = tuple(
                (f.words, _r(f.r), d.p_value(f.p, 1 - self.level), "endorsed" if f.endorsed else ", ".join(f.tasks[:2]))
                for f in shown
            )
            blocks.append(Table(("feature", "r", "p", "most in tasks"), cells, "lrrl", (3,)))
        return [*blocks, *self.notes]

    def _plot(self) -> Plot | None:
        if self.floor is None:
            return None
        found, band = {f.name for f in self.findings}, (-self.floor, self.floor)
        rows = [
            Interval(
                f.words,
                _r(f.r),
                f.r,
                shape="triangle" if f.name in found else "square",
                axis="r",
                reference=0.0,
                band=None if f.endorsed else band,
            )
            for f in self.features
            if f.r is not None
        ]
        caption = "mark = correlation with the reward within tasks, shaded = what chance reaches; triangle beyond it"
        return Plot("What the reward moves with", tuple(rows[:_MOST_PRINTED]), caption) if rows else None


def _beside(r: float | None, floor: float) -> str:
    """A correlation beside the floor, with as many decimals as keep them apart."""
    places = 2 if r is None else d.honest_decimals(2, [abs(r)], [floor])
    return f"r = {_r(r, places)}, floor {_r(floor, places)}"


def _r(value: float | None, places: int = 2) -> str:
    """A correlation without the 0 before the point: ``.41``, ``-.07``."""
    text = d.number(value, places)
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _why_not(result: HackScan) -> str:
    if result.n_tasks < LEAST_STRATA:
        return f"{d.count(result.n_tasks, 'mixed task')}, needs {LEAST_STRATA}"
    if result.n_rows < LEAST_ROWS:
        return f"{d.count(result.n_rows, 'row')} in mixed tasks, needs {LEAST_ROWS}"
    if all(f.r is None or f.endorsed for f in result.features):
        return "no feature that is not endorsed varies within the mixed tasks"
    return f"{d.count(result.n_permutations, 'permutation')} of these rows can give no p below {1 - result.level:.4g}"


def hack_scan(
    rows: Any,
    *,
    endorsed: Iterable[str] = (),
    features: Sequence[str] | Mapping[str, Callable[[Any], Any]] | None = None,
    level: float = 0.95,
) -> HackScan:
    """Whether reward moves, within tasks, with how a reply looks rather than with what it is.

    Parameters
    ----------
    rows : rows
        Anything that counts as data, judged; binary rewards are read.
    endorsed : iterable of str
        Features that may earn reward, such as ``"tool:search"`` where the task is to search.
    features : sequence of str, or mapping of str to callable, optional
        The features to look at, by name; or further ones of your own, each a function of a row that gives a number or
        ``None``. By default all that the rows tell: ``length``, ``tool_calls``, ``turns``, ``tool:<name>``, ``faults``,
        ``cut_off``, ``mean_logprob``, ``marker:<name>``.
    level : float
        The chance that rewards which move with nothing read ``clean``.

    Returns
    -------
    HackScan
        ``tracks_feature`` where the reward moves with a feature that is not endorsed by more than chance explains;
        ``insufficient_data`` with fewer than 8 mixed tasks or 20 rows in them, which says nothing about the judge.

    Raises
    ------
    ParamError
        A name that is no feature of the rows, a `level` outside (0, 1).
    RowError
        A reward or marker that is no number, or what a function of `features` gives.

    Notes
    -----
    Rewards and features are centred within their task, so a hard topic with long replies is no finding. The bar is the
    largest correlation of all features when rewards are permuted within tasks (Westfall & Young 1993). A finding is a
    reason to look, no proof of a hack: right replies may simply be longer.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"task_id": t, "final_text": "x" * (9 + 9 * r + t), "reward": r} for t in range(8) for r in (0, 0, 1)]
    >>> print(wai.hack_scan(rows).summary)
    reward moves with reply length within tasks (r = 1.00, floor .50). Endorse it or look at these rows.
    """
    params.level(CALL, level)
    own = features if isinstance(features, Mapping) else None
    for name, function in (own or {}).items():
        if not callable(function):
            raise ParamError.of(CALL, f"features[{name!r}]", "a function of a row", function)
    given, told = listed(rows, CALL, "rows")
    read = features_of(given, CALL, own)
    if features is not None and own is None:
        read = _only(read, features)
    allowed = _endorsed(endorsed, read)
    return noted(_scanned(read, allowed, level), told)


def _named(where: str, names: Any) -> list[str]:
    """Names of features as a list."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise ParamError.of(CALL, where, "names of features", names)
    return list(names)


def _only(read: Features, names: Any) -> Features:
    """The features asked for."""
    listed = _named("features", names)
    if not listed:
        raise ParamError.of(CALL, "features", "one name or more", names)
    for name in listed:
        params.one_of(CALL, "features", name, read.columns, "names of features on the rows")
    return Features(read.task, read.codes, read.reward, {name: read.columns[name] for name in dict.fromkeys(listed)})


def _endorsed(names: Any, read: Features) -> set[str]:
    listed = _named("endorsed", names)
    for name in listed:
        if len(read.reward):
            params.one_of(CALL, "endorsed", name, read.columns, "names of features on the rows")
    return set(listed)


def _scanned(read: Features, allowed: set[str], level: float) -> HackScan:
    import numpy as np

    use = read.mixed()
    codes = read.codes[use]
    n_tasks, n_rows = len(np.unique(codes)), int(use.sum())
    notes = _notes(read, n_tasks)
    empty = HackScan("insufficient_data", False, (), None, level, n_tasks, n_rows, notes=notes)
    if n_tasks < LEAST_STRATA or n_rows < LEAST_ROWS:
        return empty
    y = read.reward[use]
    x = np.column_stack([column[use] for column in read.columns.values()])
    counts = np.array([name not in allowed for name in read.columns])
    found = stratified.scan(y, x, codes, level, counts)
    assert found is not None
    told = tuple(
        _moved(name, found, place, x[:, place], y, codes, read.task, name in allowed)
        for place, name in enumerate(read.columns)
    )
    told = tuple(sorted(told, key=lambda f: (f.r is None, -abs(f.r or 0.0), f.name)))
    seen = replace(empty, features=told, n_permutations=found.n_ways, every_permutation=found.every_way)
    compared = [f for f in told if not f.endorsed and f.p is not None]
    if not stratified.unlikely(found.least_p, level) or not compared:
        return seen
    tracks = any(f.p is not None and stratified.unlikely(f.p, level) for f in compared)
    return replace(seen, verdict="tracks_feature" if tracks else "clean", ok=not tracks, floor=found.floor)


def _moved(
    name: str,
    found: stratified.Scan,
    place: int,
    values: NDArray[np.float64],
    y: NDArray[np.float64],
    codes: NDArray[np.int64],
    tasks: Sequence[str],
    endorsed: bool,
) -> Moved:
    import numpy as np

    r, p = float(found.r[place]), float(found.p[place])
    n_rows = int(np.isfinite(values).sum())
    if math.isnan(r):
        return Moved(name, None, None, endorsed, n_rows)
    pulls = []
    for code in np.unique(codes).tolist():
        at = (codes == code) & np.isfinite(values)
        if at.any():
            pull = float(((values[at] - values[at].mean()) * (y[at] - y[at].mean())).sum()) * math.copysign(1, r)
            pulls.append((-pull, tasks[code]))
    strongest = tuple(task for pull, task in sorted(pulls)[:_MOST_TASKS] if pull < 0)
    return Moved(name, r, p, endorsed, n_rows, strongest)


def _notes(read: Features, n_tasks: int) -> tuple[Note, ...]:
    import numpy as np

    notes = []
    if not len(read.reward):
        return (Note("no_rows", "there are no rows, so nothing was measured."),)
    n_unjudged = int(np.isnan(read.reward).sum())
    n_partial = int(((read.reward > 0) & (read.reward < 1)).sum())
    if n_unjudged:
        have, were = ("has", "was") if n_unjudged == 1 else ("have", "were")
        notes.append(Note("unjudged", f"{d.count(n_unjudged, 'row')} {have} no verdict and {were} left out."))
    if n_partial:
        were = "was" if n_partial == 1 else "were"
        notes.append(Note("partial", f"{d.count(n_partial, 'row')} with a partial reward {were} left out."))
    if n_tasks < LEAST_STRATA:
        fix = "Sample several completions of each prompt, on more prompts of medium difficulty."
        notes.append(Note("few_mixed_tasks", "only tasks in which some replies pass and some fail speak.", fix))
    return tuple(notes)
