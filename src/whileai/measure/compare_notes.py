"""What a comparison tells its reader beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from whileai.measure.common import RATES, reading_notes, table_notes, unjudged_note
from whileai.measure.comparison import Comparison
from whileai.measure.paired import Arms, Pairs
from whileai.result import Note
from whileai.result.digits import count, p_text
from whileai.stats import signflip
from whileai.table.task_table import TaskTable


def comparison_notes(result: Comparison, arms: Arms, runs: int | None, groups: Sequence[Note] = ()) -> list[Note]:
    """What a reader should know, weightiest first; `groups` is what there is to say of slices and clusters."""
    a, b = arms.before, arms.after
    notes: list[Note | None] = []
    if result.verdict == "not_comparable" and not (len(a) and len(b)):
        notes.append(_nothing_measured(result, a, b))
    elif result.verdict == "not_comparable":
        fix = "Give both arms the same task_ids=."
        some = [repr(min(table.task)) for table in (a, b) if table.task]
        notes.append(Note("no_shared_tasks", f"ids are like {' and '.join(some)}.", fix))
    elif result.delta is None:
        notes.append(_nothing_measured(result, a, b))
    else:
        notes += _evidence_notes(result, arms)
    notes += groups
    if result.n_only_before + result.n_only_after and result.verdict != "not_comparable":
        text = (
            f"{count(result.n_only_before, 'task')} only before and {result.n_only_after:,} only after were left out."
        )
        notes.append(Note("unpaired_tasks", text))
    notes.append(_prompt_note(arms))
    for table, arm in ((a, "before"), (b, "after")):
        notes.append(unjudged_note(int(table.n_unjudged.sum()), table.n_rows, f" of {arm}"))
        notes += table_notes(table, arm)
    notes += reading_notes({"before": a, "after": b})
    if result.delta is not None:
        notes += _floor_notes(result, runs)
    notes += _marker_notes(result, a, b)
    return [note for note in notes if note is not None]


def _nothing_measured(result: Comparison, a: TaskTable, b: TaskTable) -> Note:
    """Why no task has the target in both arms."""
    if not len(a) or not len(b):
        arm = "neither arm" if not len(a) and not len(b) else "before" if not len(a) else "after"
        return Note("no_rows", f"{arm} has {'any' if arm == 'neither arm' else 'no'} rows.")
    if result.target == "pass_at_1" and int(a.n_partial.sum() + b.n_partial.sum()):
        text = "the rewards are partial, and pass_at_1 counts binary ones only."
        return Note("no_binary_reward", text, 'Pass target="reward".')
    fix = "Judge both arms with wai.grade(rows, judge)." if result.target in RATES else ""
    return Note("not_measured", f"no task has {result.target} in both arms.", fix)


def _evidence_notes(result: Comparison, arms: Arms) -> list[Note | None]:
    """What the interval and the test say together."""
    main = result.metrics[result.target]
    pairs = arms.pairs(result.target)
    assert pairs is not None  # there is a change
    if result.verdict != result._by_judge and result.corrected is not None:
        text = f"by the judge alone it {result._by_judge}, but with its errors counted that is not proven."
        return [Note("judge_errors", text, "Label more rows of both arms, picked at random.")]
    changed, unit = pairs.n_changed, "task" if pairs.clusters is None else "cluster"
    fewest = signflip.min_nonzero_for(result.level)
    settle = (
        f" About {result.tasks_needed:,} tasks{_at_this_size(pairs)} would settle it." if result.tasks_needed else ""
    )
    if main.interval is None and result.n_clusters == 1 and pairs.n > 1:
        text = "all tasks lie in one cluster, which says nothing of how clusters differ."
        return [Note("one_cluster", text, "More clusters are needed for an interval.")]
    if main.interval is None:
        what = "no task changed" if not main.delta else "every task changed by the same amount"
        return [Note("no_spread", f"{what}, so there is no spread to give the change an interval.")]
    low, high = main.interval
    apart, significant = low > 0 or high < 0, (main.p_value or 0.0) < 1 - result.level
    if apart == significant:
        if not apart and changed and changed < fewest:
            verb = "changed; the exact test needs"
            return [Note(f"too_few_{unit}s", f"{count(changed, unit)} {verb} {fewest}.{settle}")]
        return []
    if apart:
        text = f"the interval excludes 0 but the exact test does not (p{p_text(main.p_value)}).{settle}"
        return [Note("interval_only", text)]
    few = f"{result.n_paired:,}" if unit == "task" else count(pairs.n_units, unit)
    text = f"the tasks you ran changed (p{p_text(main.p_value)}), but {few} are too few to speak for others."
    text += settle
    return [Note("test_only", text)]


def _at_this_size(pairs: Pairs) -> str:
    """In how many clusters, where they stay as large as they are."""
    return "" if pairs.clusters is None or pairs.n_units == pairs.n else ", in clusters of this size,"


def _marker_notes(result: Comparison, a: TaskTable, b: TaskTable) -> list[Note]:
    """Markers of one arm only, of part of the rows, or without an interval."""
    notes = []
    alike: dict[bool, list[str]] = {True: [], False: []}
    for name in sorted({*a.markers, *b.markers}):
        if name not in a.markers or name not in b.markers:
            arm = "after" if name not in a.markers else "before"
            notes.append(Note("marker_one_arm", f"marker:{name} stands on {arm} only and was not compared."))
            continue
        gaps = [(table.n_rows - int(table.markers[name].n.sum()), arm) for table, arm in ((a, "before"), (b, "after"))]
        missing = [f"{count(n, 'row')} of {arm}" for n, arm in gaps if n]
        if missing:
            notes.append(Note("marker_gaps", f"marker:{name} is missing on {' and '.join(missing)}."))
        delta = result.metrics.get(f"marker:{name}")
        if delta is not None and delta.delta is not None and delta.interval is None and delta.n_clusters != 1:
            alike[bool(delta.delta)].append(f"marker:{name}")
    if alike[True]:
        text = f"{', '.join(alike[True])} changed by the same amount on every task, so the test alone decides."
        notes.append(Note("no_spread", text))
    if alike[False]:
        same = count(len(alike[False]), "marker")
        text = f"{same} did not change on any task, so there is no spread to give the change an interval."
        notes.append(Note("no_spread", text))
    return notes


def _prompt_note(arms: Arms) -> Note | None:
    """Tasks whose prompts differ between the arms."""
    a, b = arms.before, arms.after
    if a.task == b.task and a.prompts.same_texts(b.prompts):
        return None
    old, new = (table.prompts.codes[at] for table, at in zip((a, b), arms.lines, strict=True))
    differ = int(((old != new) & (old != 0) & (new != 0)).sum())
    if not differ:
        return None
    text = f"the prompt differs between the arms in {count(differ, 'task')} of one id."
    return Note("prompts_differ", text, "Check that the ids name the same tasks.")


def _floor_notes(result: Comparison, runs: int | None) -> list[Note]:
    """What is known of re-run noise."""
    if result.run_std == 0:
        text = "run_std=0 counts as not measured: equal runs do not prove an eval without noise."
        return [Note("zero_noise_floor", text, "Measure it on runs that sample anew.")]
    if result.run_std is None:
        fix = "Pass run_std= from wai.eval_variance(...)."
        return [Note("no_noise_floor", "re-run noise was not measured.", fix)]
    if runs == 3:
        return [Note("wide_band", "three runs make a wide band.", "Five runs make it about a third narrower.")]
    if runs is None:
        text = "run_std is taken as known exactly."
        return [Note("band_of_known_std", text, "Pass run_std_runs= if it was estimated from runs.")]
    return []
