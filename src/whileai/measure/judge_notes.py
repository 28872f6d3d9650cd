"""What a reader should know beside the numbers of `wai.judge_trust`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from whileai.measure.gold import gold_notes, shift_note
from whileai.measure.judged import Judged, is_binary
from whileai.result import Note
from whileai.result import digits as d
from whileai.result.digits import count
from whileai.stats import intervals

if TYPE_CHECKING:
    from whileai.measure.probes import Asked
    from whileai.measure.trust import JudgeTrust

#: The agreement that a first number of labels is planned for.
_FIRST_RATE, _FIRST_WIDTH = 0.9, 0.15
_PICK = "wai.sample_for_labels(rows, n) picks them."


def trust_notes(
    result: JudgeTrust, read: Judged, asked: Asked | None, *, has_judge: bool, n_fill: int = 0
) -> list[Note]:
    """What a reader should know, weightiest first."""
    notes: list[Note] = []
    if result.verdict == "not_measured":
        notes.append(_why_not_measured(result, read, has_judge=has_judge))
    elif result.verdict == "inconclusive":
        notes.append(_more_labels(result))
    table = result.confusion
    if result.verdict == "fail" and 0 in (table["tp"] + table["fp"], table["fn"] + table["tn"]):
        said = "passes" if table["tp"] + table["fp"] else "fails"
        text = f"the judge {said} every labelled row, whatever it says: that is no judgement."
        notes.append(Note("constant_judge", text))
    notes += _asked_notes(result, asked)
    moved = [s.name for s in result.sensitivity if s.p_adjusted is not None and s.p_adjusted < 1 - result.level]
    if moved:
        text = f"the judge's error moves with {', '.join(moved)}."
        notes.append(Note("biased", text, "Look at rows where it is high and at rows where it is low."))
    halves = next((check for check in result.checks if check.name == "halves"), None)
    if halves is not None and halves.verdict == "fail":
        notes.append(Note("halves_differ", f"{halves.reason}.", "Look for a kind of task that is rare in one of them."))
    notes += _sampling_notes(result, read)
    notes += gold_notes(read.gold)
    shift = None if result.verdict == "not_measured" or read.picked.rest_missing else shift_note(read.arm())
    notes += [] if shift is None else [shift]
    return [*notes, *_left_out(read, has_judge=has_judge, n_fill=n_fill)]


def _more_labels(result: JudgeTrust) -> Note:
    """Which interval crosses its bar, and how many labels would settle it."""
    crossing = [c.name for c in result.checks if c.name in ("agreement", "kappa") and c.verdict == "inconclusive"]
    both = "both intervals cross their bars."
    text = both if len(crossing) == 2 else f"the interval of {crossing[0]} crosses its bar."
    wide = result.labels_needed.get("agreement")
    if result.labels_to_settle:
        advice = f"About {result.labels_to_settle:,} more labels would settle it, were the rates to stay"
    elif wide:
        advice = f"About {wide:,} more labels make agreement's interval {d.given(result.width)} wide"
    else:
        advice = "The rate lies at its bar, so no number of labels may settle it; more narrow the interval"
    return Note("more_labels", text, f"{advice}. Pick at random: {_PICK}")


def _asked_notes(result: JudgeTrust, asked: Asked | None) -> list[Note]:
    """What came of asking again, where it was to the judge's discredit."""
    notes = []
    fooled = [probe for probe in result.probes if probe.verdict == "fail" and probe.to_pass is not None]
    if fooled:
        told = ", ".join(f"{probe.name} ({d.number(probe.to_pass[0], 2)})" for probe in fooled if probe.to_pass)
        text = f"replies that should not pass do so for {told}."
        notes.append(Note("fooled", text, "A policy trained on this judge will find that out."))
    again = next((check for check in result.checks if check.name == "consistency"), None)
    if again is not None and again.verdict == "fail":
        notes.append(
            Note("inconsistent", f"{again.reason}: asked again it says something else.", "Ask it several times.")
        )
    if asked is not None and asked.n_unusable:
        text = f"{asked.n_unusable:,} of {count(asked.n_asked, 'further verdict')} could not be used."
        notes.append(Note("unusable_verdicts", text))
    return notes


def _sampling_notes(result: JudgeTrust, read: Judged) -> list[Note]:
    """How the labelled rows were picked, where the rows say."""
    notes = []
    weights = read.picked.weights
    if weights is not None and result.verdict != "not_measured":
        used = weights[read.labelled]
        if used.min() < used.max():
            text = "labels were drawn with unequal chances, so rates are weighted; the table counts rows."
            notes.append(Note("weighted", text))
    if read.picked.n_unrecorded:
        rows = count(read.picked.n_unrecorded, "labelled row")
        text = f"{rows} not drawn by sample_for_labels are taken as drawn at random within their verdict."
        notes.append(Note("unrecorded_labels", text))
    if read.picked.rest_missing and result.verdict != "not_measured":
        text = "the rows that the labelled ones were drawn from are not all here, so the labels stand for them alone."
        notes.append(Note("rest_missing", text, "Pass all rows that were judged."))
    return notes


def _left_out(read: Judged, *, has_judge: bool, n_fill: int) -> list[Note]:
    """Rows that count for nothing here."""
    notes = []
    gold = read.gold.values
    partial = ((read.judge > 0) & (read.judge < 1)) | ((gold > 0) & (gold < 1))
    n_partial, n_missing = int(partial.sum()), int((read.judge != read.judge).sum())
    if n_partial:
        were = "was" if n_partial == 1 else "were"
        notes.append(Note("partial", f"{count(n_partial, 'row')} with a partial verdict or gold {were} left out."))
    if n_missing:
        were = "was" if n_missing == 1 else "were"
        text = f"{count(n_missing, 'row')} without a verdict of the judge {were} left out."
        if has_judge:
            statuses = Counter(verdict.status for verdict in read.verdicts if verdict.reward is None)
            first = next(verdict for verdict in read.verdicts if verdict.reward is None)
            told = ", ".join(f"{status} {n:,}" for status, n in sorted(statuses.items()))
            why = " ".join((first.reason or "no reason given").split())
            text += f" {told}; the first: {ascii(why[:120])[1:-1].rstrip('.')}."
        notes.append(Note("unjudged", text))
    if n_fill:
        were, they = ("was", "it tells") if n_fill == 1 else ("were", "they tell")
        text = f"{count(n_fill, 'row')} {were} left out: added because of earlier outcomes, {they} no rate."
        notes.append(Note("fill_rows", text))
    return notes


def _why_not_measured(result: JudgeTrust, read: Judged, *, has_judge: bool) -> Note:
    if not result.n_rows:
        return Note("no_rows", "there are no rows, so nothing was measured.")
    if not result.n_labeled:
        if is_binary(read.gold.values).any():
            text = "no row with gold has a verdict of the judge, pass or fail."
            return Note("no_gold", text, "" if has_judge else "Judge them again.")
        if (read.gold.values == read.gold.values).any():
            return Note("no_gold", "all gold is partial, and agreement is of pass and fail.", "Round it to 0 and 1.")
        return Note("no_gold", f"no row has a gold under {read.gold_key}.", f"Label some rows, {_first_labels(result)}")
    only = "passes" if result.confusion["tp"] + result.confusion["fn"] else "fails"
    text = f"every gold {only}, so agreement beyond chance cannot be told."
    return Note("one_class", text, f"Label rows of the other kind too, picked at random. {_PICK}")


def _first_labels(result: JudgeTrust) -> str:
    """How many labels to begin with."""
    import numpy as np

    n = 20
    while n < 1000:
        low, high = intervals.mean_interval((np.arange(n) < _FIRST_RATE * n).astype(float), result.level)
        if high - low <= _FIRST_WIDTH:
            break
        n += 10
    return f"picked at random: about {n} make agreement's interval {d.given(_FIRST_WIDTH)} wide. {_PICK}"
