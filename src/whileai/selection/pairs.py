"""`wai.preference_pairs`: a better and a worse completion of one prompt, nearest in length."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from whileai import params
from whileai.export.pairs import Pair, pick_pairs, sign_p
from whileai.export.reading import Source
from whileai.readers.containers import listed
from whileai.result import Block, Headline, Line, Note, Reported, Result
from whileai.result.digits import count, p_text

CALL = "preference_pairs"
#: Why a task has no pair -> what to do about it.
FIXES = {
    "unjudged": "Judge the rows, and sample several replies of each prompt.",
    "prompts_differ": "Give each prompt a task_id of its own.",
    "same_reward": "Sample more completions, or choose prompts of medium difficulty.",
    "within_margin": "Lower min_margin=.",
    "same_text": "Look at the judge: it gave one text two rewards.",
}


@dataclass(frozen=True, repr=False)
class PairReport(Result):
    """What `preference_pairs` found.

    Attributes
    ----------
    n_rows, n_pairs, n_tasks, n_tasks_paired : int
    per_task : int
    min_margin : float
    tasks_without : dict of str to int
        Tasks without a pair, by reason: ``unjudged`` (fewer than two judged replies that can be trained on),
        ``prompts_differ``, ``same_reward``, ``within_margin``, ``same_text``.
    skipped : dict of str to int
        Rows left out, by reason: ``unjudged``, ``unusable``, ``cut_off``, ``no_reply`` and so on.
    longer_chosen : float or None
        Share of the pairs of two lengths whose chosen reply is the longer, in [0, 1].
    longer_p : float or None
        Exact two-sided p of the sign test that it is one half; ``None`` where no lengths differ.
    notes : tuple of Note
    """

    n_rows: int
    n_pairs: int
    n_tasks: int
    n_tasks_paired: int
    per_task: int
    min_margin: float
    tasks_without: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    longer_chosen: float | None = None
    longer_p: float | None = None
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        head = f"{count(self.n_pairs, 'pair')} from {self.n_tasks_paired:,} of {count(self.n_tasks, 'task')}"
        blocks: list[Block] = [Headline(f"{head}, rewards at least {self.min_margin:g} apart")]
        if self.tasks_without:
            items = " | ".join(f"{name} {count(n, 'task')}" for name, n in self.tasks_without.items())
            blocks.append(Line(f"no pair: {items}"))
        if self.skipped:
            items = " | ".join(f"{name} {count(n, 'row')}" for name, n in self.skipped.items())
            blocks.append(Line(f"skipped: {items}"))
        if self.longer_chosen is not None:
            share = f"{self.longer_chosen:.2f} of the pairs of two lengths"
            blocks.append(Line(f"the chosen one is the longer in {share} (sign test p{p_text(self.longer_p)})"))
        return [*blocks, *self.notes]


class Pairs(Reported[PairReport]):
    """Preference pairs: a list that `wai.write` takes as ``trl-preference`` or ``openai-dpo``.

    Attributes
    ----------
    report : PairReport
        How many there are, which tasks have none and why, and whether the chosen ones are longer.
    """


def preference_pairs(rows: Any, *, per_task: int = 1, min_margin: float = 1.0) -> Pairs:
    """Pairs of a better and a worse completion of one task, as near in length as can be had.

    Parameters
    ----------
    rows : rows
        Anything that counts as data, judged; left as it is.
    per_task : int
        Pairs a task gives at most; no row is in two.
    min_margin : float
        How far apart the rewards of a pair are at least, in (0, 1]. At 1 only a pass beside a failure will do.

    Returns
    -------
    Pairs
        A list of dicts with ``prompt``, ``chosen`` and ``rejected`` (lists of turns), ``chosen_reward``,
        ``rejected_reward``, ``margin``, ``chosen_index``, ``rejected_index``, ``task_id`` and where known ``tools``, in
        the order of the tasks. Nothing privileged is in them. The order of the rows changes no pair.

    Raises
    ------
    ParamError
        A count below 1, a margin outside (0, 1].
    RowError
        A reward that is no number in [0, 1].

    Notes
    -----
    Both texts are of one prompt and differ, and both rows are usable, whole and judged. Length is what the policy
    wrote, in characters. A reward model learns to prefer the longer of two (Singhal et al. 2023, arXiv:2310.03716), so
    lengths are matched and the report tests for what is left.

    Examples
    --------
    >>> import whileai as wai
    >>> rows = wai.rows(["q"], [["yes", "no", "no, because of this"]], [[1, 0, 0]])
    >>> pairs = wai.preference_pairs(rows)
    >>> pairs[0]["chosen"], pairs[0]["rejected"]
    ([{'role': 'assistant', 'content': 'yes'}], [{'role': 'assistant', 'content': 'no'}])
    """
    params.whole(CALL, "per_task", per_task)
    params.real(CALL, "min_margin", min_margin, "a number in (0, 1]", 0, 1, ends="(]")
    given, told = listed(rows, CALL, "rows")
    prompt, had = (getattr(rows, name, None) for name in ("system_prompt", "tools"))
    source = Source.of(
        CALL,
        given,
        system_prompt=prompt if isinstance(prompt, str) else None,
        tools=had if isinstance(had, (list, tuple)) else None,
    )
    episodes = [episode for _, episode in source.episodes(judged=True)]
    pairs, without, left_out = pick_pairs(episodes, per_task=per_task, min_margin=float(min_margin))
    longer = sum(pair.chosen.size > pair.rejected.size for pair in pairs)
    shorter = sum(pair.chosen.size < pair.rejected.size for pair in pairs)
    paired = {pair.chosen.task_id for pair in pairs}
    reasons = Counter(without.values())
    report = PairReport(
        n_rows=len(given),
        n_pairs=len(pairs),
        n_tasks=len(paired) + len(without),
        n_tasks_paired=len(paired),
        per_task=per_task,
        min_margin=float(min_margin),
        tasks_without={name: reasons[name] for name in FIXES if reasons[name]},
        skipped={name: n for name, n in left_out.items() if n},
        longer_chosen=longer / (longer + shorter) if longer + shorter else None,
        longer_p=sign_p(longer, shorter),
        notes=(*_notes(len(given), len(pairs), reasons, sign_p(longer, shorter)), *told),
    )
    return Pairs(list(map(_as_dict, pairs)), report)


def _as_dict(pair: Pair) -> dict[str, Any]:
    chosen, rejected = pair
    found = {
        "task_id": chosen.task_id,
        "prompt": chosen.prompt,
        "chosen": chosen.completion,
        "rejected": rejected.completion,
        "chosen_reward": chosen.reward,
        "rejected_reward": rejected.reward,
        "margin": (chosen.reward or 0.0) - (rejected.reward or 0.0),
        "chosen_index": chosen.row.get("rollout_index"),
        "rejected_index": rejected.row.get("rollout_index"),
    }
    return {**found, "tools": chosen.tools} if chosen.tools else found


def _notes(n_rows: int, n_pairs: int, reasons: Counter[str], p: float | None) -> list[Note]:
    notes = []
    if not n_rows:
        notes.append(Note("no_rows", "there are no rows to pair."))
    elif not n_pairs:
        most = reasons.most_common(1)[0][0]
        notes.append(Note("no_pairs", f"no task has a pair, most of them because of {most}.", FIXES[most]))
    if p is not None and p < 0.05:
        text = "the chosen reply is the longer one more often, or less often, than chance would have it."
        notes.append(Note("length_tracks_choice", text, "A model can learn the length instead of the reason."))
    return notes
