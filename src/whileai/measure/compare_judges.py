"""`wai.compare_judges`: several judges on one labelled set, ranked, with what they cost."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whileai import keys, params
from whileai.errors import ParamError
from whileai.measure.gold import Gold, Picked, gold_notes, how_picked, label_key, read_gold
from whileai.measure.judge_comparison import JudgeComparison, JudgeScore
from whileai.measure.judged import ask, is_binary
from whileai.readers.containers import listed
from whileai.readers.logs.tally import told_of
from whileai.result import Note, noted
from whileai.result.digits import count
from whileai.scoring.replies import meta_of
from whileai.stats import agreement, intervals, multiple, signflip
from whileai.table.from_rows import TableBuilder, as_number
from whileai.verify.adapt import as_judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

CALL = "compare_judges"
_NOTHING = agreement.Agreed("not_measured", {})


@dataclass
class _Entry:
    """One judge's verdicts on the labelled rows."""

    name: str
    verdicts: NDArray[Any]
    seconds: float | None
    cost: float | None
    tokens: float | None
    why: str = ""

    @property
    def n_judged(self) -> int:
        """Labelled rows with a binary verdict."""
        return int(is_binary(self.verdicts).sum())


def compare_judges(
    judges: Mapping[str, Any], rows: Any = None, *, gold: Any = keys.GOLD_REWARD, level: float = 0.95
) -> JudgeComparison:
    """Which of several judges agrees most with gold, on the rows that have it, and what each takes.

    Parameters
    ----------
    judges : mapping of str to (verifier, callable or rows)
        Name -> a judge, which is asked about every labelled row, or rows that carry its verdicts as ``reward``.
    rows : rows, optional
        The labelled rows. By default those of the first judge that is given as rows and has gold.
    gold : str, or rows
        Key of the gold on a row (a dotted path); or the labelled rows themselves, with ``gold_reward``.
    level : float
        Of intervals and tests.

    Returns
    -------
    JudgeComparison

    Raises
    ------
    ParamError
        No judges, no rows to judge, a gold key that no row has.
    TypeError
        What is neither a judge nor rows.

    Notes
    -----
    Rows pair by task and completion. Only rows with gold on which every judge (that gives any) has a binary verdict
    count, so that all are measured on the same ones. Agreement is a mean over tasks; each judge is held against the
    first in order by the paired interval of `wai.compare` and the exact sign-flip test, adjusted by Holm. The first was
    chosen by its result on these labels, which flatters it a little.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = [{"task_id": i, "final_text": "y" if i % 2 else "n", "gold_reward": i % 2} for i in range(40)]
    >>> found = wai.compare_judges({"says yes": lambda row: 1, "reads": lambda row: row["final_text"] == "y"}, rows)
    >>> found.best, found.verdict
    ('reads', 'best')
    """
    params.level(CALL, level)
    if not isinstance(judges, Mapping) or not judges:
        raise ParamError.of(CALL, "judges", "a mapping of name to judge or rows", judges)
    if not isinstance(gold, str):
        if rows is not None:
            raise ParamError.of(CALL, "gold", "a key where rows are given", type(gold).__name__)
        rows, gold = gold, keys.GOLD_REWARD
    told: dict[str, Sequence[Note]] = {}
    given: dict[str, list[dict[str, Any]] | None] = {}
    for name, judge in judges.items():
        where = f"judges[{name!r}]"
        if _is_judge(judge):
            given[str(name)] = None
        else:
            given[str(name)], told[where] = listed(judge, CALL, where)
    if rows is not None:
        rows, told["rows"] = listed(rows, CALL, "rows")
    base = _base(given, rows, gold)
    labels = read_gold(base, CALL, gold)
    places = [place for place, value in enumerate(labels.values.tolist()) if value in (0, 1)]
    labelled = [base[place] for place in places]
    entries = [
        _asked(name, judge, labelled)
        if given[str(name)] is None
        else _read(str(name), given[str(name)] or [], labelled)
        for name, judge in judges.items()
    ]
    return noted(_compared(entries, labelled, labels, labels.values[places], gold, level), told_of(told))


def _is_judge(value: Any) -> bool:
    from whileai.verify.base import Verifier

    return isinstance(value, Verifier) or (callable(value) and not isinstance(value, type))


def _base(given: Mapping[str, Any], rows: list[dict[str, Any]] | None, gold: str) -> list[dict[str, Any]]:
    """The labelled rows."""
    if rows is not None:
        return rows
    tables = [table for table in given.values() if table is not None]
    if not tables:
        raise ParamError.of(CALL, "rows", "given where judges are to be asked", None, "Pass the labelled rows.")
    with_gold = (t for t in tables if any(not keys.is_missing(keys.at_path(row, gold)) for row in t))
    found: list[dict[str, Any]] = next(with_gold, tables[0])
    return found


def _asked(name: Any, judge: Any, rows: Sequence[Mapping[str, Any]]) -> _Entry:
    """A judge asked about the labelled rows."""
    import numpy as np

    scorer = as_judge(judge, CALL, f"judges[{name!r}]")
    start = time.perf_counter()
    verdicts = ask(scorer, rows)
    seconds = (time.perf_counter() - start) / len(rows) if rows else None
    rewards = [math.nan if verdict.reward is None else float(verdict.reward) for verdict in verdicts]
    cost, tokens = _spent([verdict.meta for verdict in verdicts])
    first = next((verdict for verdict in verdicts if verdict.reward is None), None)
    why = "" if first is None else f"{first.status}: {first.reason or 'no reason given'}"
    return _Entry(str(name), np.array(rewards, dtype=np.float64), seconds, cost, tokens, why)


def _read(name: str, rows: Sequence[Mapping[str, Any]], labelled: Sequence[Mapping[str, Any]]) -> _Entry:
    """The verdicts that stand on rows, for the labelled ones; equal rows in their order."""
    import numpy as np

    builder = TableBuilder(CALL, markers=False)
    builder.add_all(rows, f"judges[{name!r}]")
    rewards = builder.columns()[2]
    queues: defaultdict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        queues[label_key(row)].append(place)
    seen: defaultdict[str, int] = defaultdict(int)
    found = np.full(len(labelled), math.nan)
    metas = []
    for at, row in enumerate(labelled):
        key = label_key(row)
        here = queues.get(key, [])
        if seen[key] < len(here):
            place = here[seen[key]]
            seen[key] += 1
            found[at] = rewards[place]
            metas.append(meta_of(rows[place]))
    known = [meta.get("seconds") for meta in metas if isinstance(meta, Mapping)]
    cost, tokens = _spent(metas)
    return _Entry(name, found, _mean(known), cost, tokens)


def _spent(metas: Sequence[Any]) -> tuple[float | None, float | None]:
    """Cost and tokens of a verdict on average, where its meta tells them."""
    told = [meta for meta in metas if isinstance(meta, Mapping)]
    usages = [meta["usage"] for meta in told if isinstance(meta.get("usage"), Mapping)]
    cost = _mean([meta.get("cost") for meta in told])
    if cost is None:
        cost = _mean([usage.get("cost") for usage in usages])
    totals = [usage.get("total_tokens") for usage in usages]
    for at, usage in enumerate(usages):
        for names in (("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens")):
            parts = [as_number(usage.get(name)) for name in names]
            if totals[at] is None and None not in parts:
                totals[at] = sum(part for part in parts if part is not None)
    return cost, _mean(totals)


def _mean(values: Sequence[Any]) -> float | None:
    numbers = [number for number in map(as_number, values) if number is not None and math.isfinite(number)]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _compared(
    entries: Sequence[_Entry],
    rows: Sequence[Mapping[str, Any]],
    labels: Gold,
    gold: NDArray[Any],
    key: str,
    level: float,
) -> JudgeComparison:
    import numpy as np

    builder = TableBuilder(CALL, markers=False)
    builder.add_all([{**row, "reward": None} for row in rows], "rows")
    names, codes, _ = builder.columns()
    order = np.argsort(np.argsort(np.array(names, dtype=object), kind="stable"), kind="stable") if names else codes
    use = np.ones(len(rows), dtype=bool)
    silent = [entry for entry in entries if not entry.n_judged]
    entries = [entry for entry in entries if entry.n_judged] or silent
    for entry in entries:
        use &= is_binary(entry.verdicts)
    truth, tasks = gold[use], order[codes[use]] if names else codes
    notes = _notes(entries, silent if rows else [], rows, use, labels, key)
    picked = how_picked(rows, use)
    measured = bool(len(truth)) and 0 < truth.sum() < len(truth)
    scores = [
        _score(entry, entry.verdicts[use], truth, tasks, picked, use, level, measured=measured) for entry in entries
    ]
    unheard = [_scored(entry) for entry in sorted(silent, key=lambda entry: entry.name) if entry not in entries]
    if not measured:
        if len(rows) and len(truth):
            notes.insert(0, Note("one_class", "every gold is the same, so judges cannot be told apart from constants."))
        judges = (*scores, *unheard)
        return JudgeComparison("not_measured", False, None, judges, len(truth), 0, level, tuple(notes))
    ranked = sorted(range(len(scores)), key=lambda i: _rank(scores[i]))
    first = entries[ranked[0]].verdicts[use] == truth
    found = [scores[ranked[0]]]
    rest = [_behind(scores[i], first, entries[i].verdicts[use] == truth, tasks, picked, use, level) for i in ranked[1:]]
    adjusted = multiple.holm([score.p_value or 0.0 for score in rest]).tolist() if rest else []
    found += [replace(score, p_adjusted=p) for score, p in zip(rest, adjusted, strict=True)]
    proven = bool(rest) and all(
        s.p_adjusted is not None
        and s.p_adjusted < 1 - level
        and s.behind_interval is not None
        and s.behind_interval[0] > 0
        for s in found[1:]
    )
    verdict = "best" if proven else "tied"
    n_tasks = len(np.unique(tasks))
    judges = (*found, *unheard)
    return JudgeComparison(verdict, proven, found[0].name, judges, len(truth), n_tasks, level, tuple(notes))


def _rank(score: JudgeScore) -> tuple[float, float, str]:
    """By agreement, ties by kappa, then by name."""
    agreement, kappa = (-2.0 if value is None else value for value in (score.agreement, score.kappa))
    return -agreement, -kappa, score.name


def _score(
    entry: _Entry,
    said: NDArray[Any],
    truth: NDArray[Any],
    tasks: NDArray[Any],
    picked: Picked,
    use: NDArray[Any],
    level: float,
    *,
    measured: bool,
) -> JudgeScore:
    """One judge by itself."""
    weights = None if picked.weights is None else picked.weights[use]
    found = agreement.agreed(said, truth, _dense(tasks), (0.0, -1.0), level, weights)
    ac1 = None
    if measured:
        cells: Mapping[str, float] = found.confusion
        ac1 = agreement.gwet_ac1(**(cells if weights is None else agreement.cell_weights(said, truth, weights)))
    return _scored(entry, found, ac1)


def _scored(entry: _Entry, found: agreement.Agreed = _NOTHING, ac1: float | None = None) -> JudgeScore:
    """What was found of a judge, by default nothing."""
    return JudgeScore(
        name=entry.name,
        agreement=found.agreement,
        interval=found.agreement_interval,
        kappa=found.kappa,
        kappa_interval=found.kappa_interval,
        ac1=ac1,
        confusion=found.confusion,
        behind=None,
        behind_interval=None,
        p_value=None,
        p_adjusted=None,
        n_judged=entry.n_judged,
        n_unusable=len(entry.verdicts) - entry.n_judged,
        seconds=entry.seconds,
        cost=entry.cost,
        tokens=entry.tokens,
    )


def _dense(tasks: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    return np.unique(tasks, return_inverse=True)[1].ravel() if len(tasks) else tasks


def _behind(
    score: JudgeScore,
    first: NDArray[Any],
    own: NDArray[Any],
    tasks: NDArray[Any],
    picked: Picked,
    use: NDArray[Any],
    level: float,
) -> JudgeScore:
    """A judge held against the first, task by task."""
    lead = first.astype(float) - own.astype(float)
    changes = agreement.task_means(lead, tasks)
    p = signflip.signflip_p(changes)
    if picked.weights is None:
        mean = float(changes.mean())
        ends = intervals.paired_interval(changes, level)
    else:
        # (1 + lead)/2 lies in [0, 1], so the weighted interval of a rate carries over
        half, half_ends, _ = agreement.rate_of((1 + lead) / 2, tasks, level, picked.weights[use])
        mean, ends = 2 * half - 1, (2 * half_ends[0] - 1, 2 * half_ends[1] - 1)
    ends = (min(ends[0], mean), max(ends[1], mean))
    return replace(score, behind=mean, behind_interval=ends, p_value=p)


def _notes(
    entries: Sequence[_Entry],
    silent: Sequence[_Entry],
    rows: Sequence[Mapping[str, Any]],
    use: NDArray[Any],
    labels: Gold,
    key: str,
) -> list[Note]:
    notes = []
    if not rows:
        notes.append(Note("no_gold", f"no row has a gold under {key}.", "Label some rows, picked at random."))
    for entry in silent:
        why = " ".join(entry.why.split())[:120]
        text = f"{entry.name} has no binary verdict on a labelled row{f'; the first, {why}' if why else ''}."
        notes.append(Note("no_verdicts", ascii(text)[1:-1] if not text.isascii() else text))
    n_out = int((~use).sum())
    if n_out and entries != silent:
        worst = max(entries, key=lambda entry: (int((~is_binary(entry.verdicts)).sum()), entry.name))
        n_worst = int((~is_binary(worst.verdicts)).sum())
        text = f"{count(n_out, 'labelled row')} without a binary verdict of every judge were left out"
        notes.append(Note("not_judged_by_all", f"{text}; {worst.name} lacks {n_worst:,}."))
    return [*notes, *gold_notes(labels)]
