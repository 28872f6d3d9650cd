"""What each Result prints and shows in a notebook, as text, Markdown and HTML, kept as files.

``WHILEAI_WRITE_PRINTED=1`` writes them anew: read what changed before it is kept.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

import whileai as wai

TEXTS = Path(__file__).parent
EXAMPLE = [[1, 0, 1, 1], [0, 0, 1, 0], [1] * 4, [1, 0, 1, 1]]
TUNED = [[1] * 4, [1, 1, 1, 0], [1] * 4, [1] * 4]


def rows(groups, markers=None, **more):
    """One row per reward; `markers` is a function of task and row."""
    return [
        {
            "task_id": f"t{i}",
            "prompt": f"Question {i}",
            "final_text": "reply",
            "reward": reward,
            **({} if markers is None else {"markers": markers(i, j)}),
            **{name: value(i) for name, value in more.items()},
        }
        for i, group in enumerate(groups)
        for j, reward in enumerate(group)
    ]


def passes(n, of, k=1, step=7):
    """`n` tasks of k rows whose passes are spread evenly: `of` in 100."""
    return [[int((i * step + j * 31) % 100 < of) for j in range(k)] for i in range(n)]


def lengths(base, spread):
    return lambda i, _: {"chars": base + spread * (i % 11), "tools": (i % 4) / 10}


BEFORE = rows(passes(300, 35), lengths(300, 3), lang=lambda i: ["de", "en", "fr"][i % 3])
AFTER = rows(passes(300, 60), lengths(310, 4), lang=lambda i: ["de", "en", "fr"][i % 3])
WORSE = rows(passes(300, 20), lengths(310, 4), lang=lambda i: ["de", "en", "fr"][i % 3])


def judged_rows(leak=5, of=60):
    """300 rows with gold on each; the judge passes all that pass and one in `leak` of those that fail."""
    made = []
    for i in range(300):
        true = (i * 7) % 100 < of
        text = f"{0 if true else 1} {i}"
        said = true or i % leak == 0
        made.append(
            {"task_id": i, "prompt": f"q{i}", "final_text": text, "reward": int(said), "gold_reward": int(true)}
        )
    return made


def gold_on(made, each):
    """The same with gold on every so many of them."""
    return [row if i % each == 1 else {**row, "gold_reward": None} for i, row in enumerate(made)]


def labelled_sample():
    made = judged_rows()
    bare = [{key: value for key, value in row.items() if key != "gold_reward"} for row in made]
    return wai.label(
        bare, [{**row, "label": made[row["task_id"]]["gold_reward"]} for row in wai.sample_for_labels(bare, 60)]
    )


def in_passages(groups):
    """Tasks of which a dozen ask about one passage."""
    return rows(groups, info=lambda i: {"passage": f"p{i // 12}"})


def odd_passages(groups):
    """The same with some that ask about none, and one that asks about two."""
    found = in_passages(groups)
    found[0]["info"] = found[13]["info"] = {}
    return [*found, {**found[-1], "info": {"passage": "p1"}}]


def other_ids(found):
    return [{**row, "task_id": f"q-{row['task_id']}"} for row in found]


def replies(pull):
    """Thirty tasks of six replies, half of which pass; a pass is `pull` steps longer."""
    found = rows(
        [[int((i + j) % 2) for j in range(6)] for i in range(30)], lambda i, j: {"a": (i * j) % 5, "b": j // 3}
    )
    return [{**row, "final_text": "x" * (20 + i * 7 % 11 + pull * row["reward"])} for i, row in enumerate(found)]


def sided(groups, version="m@1", base=-9.5):
    """Rows with log-probabilities under a student and, where given, a reference."""
    found = rows(groups, logprob=lambda i: -9.0 - i, n_tokens=lambda i: 10 + i, policy_version=lambda i: version)
    return [{**row, "base": None if base is None else base + row["logprob"] / 9} for row in found]


def without_markers(found):
    return [{key: value for key, value in row.items() if key != "markers"} for row in found]


def some_odd(found):
    """Rows with everything a note speaks of."""
    odd = [dict(row) for row in found[:-2]]
    odd[0]["reward"] = None
    odd[1]["scenario_id"] = "another"
    odd[2]["prompt"] = "another"
    odd[3]["markers"] = None
    odd[4]["markers"] = {**odd[4]["markers"], "own": 1}
    return odd


def covered(n=None, fires=True, **options):
    """The coverage of a run of the two tools of a shop."""
    from engine_tools import PROMPT, SHOP
    from whileai.engine.coverage import coverage_of
    from whileai.engine.plan import Plan

    plan = Plan(SHOP, PROMPT, **options)
    n = n or plan.n_to_cover()
    ledgers = {s.task_id: [{"mode": s.fault.mode}] if s.fault and fires else [] for s in plan.take(n)}
    return coverage_of(plan, n, [{"task_id": task, "ledger": ledger} for task, ledger in ledgers.items()])


CASES = {
    "pass_at": lambda: wai.pass_at(rows(EXAMPLE)),
    "pass_at_one_try": lambda: wai.pass_at(rows(passes(500, 60))),
    "pass_at_many": lambda: wai.pass_at(rows(passes(2000, 60, 4, 3))),
    "pass_at_all_pass": lambda: wai.pass_at(rows([[1]] * 10)),
    "pass_at_all_fail": lambda: wai.pass_at(rows([[0]] * 10)),
    "pass_at_all_pass_several": lambda: wai.pass_at(rows([[1] * 4] * 10)),
    "pass_at_unjudged": lambda: wai.pass_at(rows([[1, None, 0, 1]] * 9 + [[0]])),
    "pass_at_partial": lambda: wai.pass_at(rows([[1, 0, 0.5]] * 12)),
    "pass_at_only_partial": lambda: wai.pass_at(rows([[0.5, 0.25, None]] * 12)),
    "pass_at_nothing_judged": lambda: wai.pass_at(rows([[None] * 2] * 3)),
    "pass_at_no_rows": lambda: wai.pass_at([]),
    "pass_at_k_too_large": lambda: wai.pass_at(rows(EXAMPLE), k=9),
    "pass_at_odd_ids": lambda: wai.pass_at(some_odd(BEFORE)),
    "pass_at_level": lambda: wai.pass_at(rows([[1]] * 10), level=0.999),
    "pass_at_clusters": lambda: wai.pass_at(in_passages(passes(120, 60, 2)), cluster="info.passage"),
    "pass_at_few_clusters": lambda: wai.pass_at(in_passages([[1, 0, 1, 1]] * 30 + [[0]] * 30), cluster="info.passage"),
    "pass_at_clusters_all_pass": lambda: wai.pass_at(in_passages([[1]] * 60), cluster="info.passage"),
    "pass_at_clusters_odd": lambda: wai.pass_at(odd_passages(passes(60, 60)), cluster="info.passage"),
    "compare": lambda: wai.compare(rows(EXAMPLE), rows(TUNED)),
    "compare_itself": lambda: wai.compare(rows(EXAMPLE), rows(EXAMPLE)),
    "compare_improved": lambda: wai.compare(BEFORE, AFTER, lower_is_better=["marker:chars"]),
    "compare_regressed": lambda: wai.compare(BEFORE, WORSE),
    "compare_within_noise": lambda: wai.compare(
        without_markers(BEFORE), without_markers(AFTER), run_std=0.08, run_std_runs=3
    ),
    "compare_outside_noise": lambda: wai.compare(
        without_markers(BEFORE), without_markers(AFTER), run_std=0.02, run_std_runs=5
    ),
    "compare_known_noise": lambda: wai.compare(without_markers(BEFORE), without_markers(AFTER), run_std=0.02),
    "compare_zero_noise": lambda: wai.compare(without_markers(BEFORE), without_markers(AFTER), run_std=0),
    "compare_guard_worse": lambda: wai.compare(
        BEFORE, AFTER, must_not_regress=["marker:chars", "marker:tools"], lower_is_better=["marker:chars"]
    ),
    "compare_guard_not_measured": lambda: wai.compare(
        BEFORE, without_markers(AFTER), must_not_regress=["marker:chars"]
    ),
    "compare_over_optimised": lambda: wai.compare(
        rows(EXAMPLE * 5, lengths(10, 1)), rows(EXAMPLE * 5, lengths(20, 2)), proxy="marker:chars"
    ),
    "compare_slices": lambda: wai.compare(BEFORE, AFTER, by="lang", level=0.9),
    "compare_clusters": lambda: wai.compare(
        in_passages(passes(240, 35)), in_passages(passes(240, 60)), cluster="info.passage"
    ),
    "compare_few_clusters": lambda: wai.compare(
        in_passages(passes(48, 35)), in_passages(passes(48, 60)), cluster="info.passage"
    ),
    "compare_one_cluster": lambda: wai.compare(
        in_passages(passes(9, 35)), in_passages(passes(9, 60)), cluster="info.passage", by="task_id"
    ),
    "compare_many_slices": lambda: wai.compare(
        rows(passes(300, 35), town=lambda i: f"town {i * i // 700}"),
        rows(passes(300, 60), town=lambda i: f"town {i * i // 700}" if i else None),
        by="town",
    ),
    "compare_reward": lambda: wai.compare(rows([[0.5]] * 8), rows([[0.6]] * 8), target="reward"),
    "compare_marker": lambda: wai.compare(BEFORE, AFTER, target="marker:chars", run_std=50, run_std_runs=4),
    "compare_odd_rows": lambda: wai.compare(BEFORE, some_odd(AFTER), run_std=0.01, run_std_runs=5),
    "compare_no_shared_task": lambda: wai.compare(rows(EXAMPLE), other_ids(rows(EXAMPLE))),
    "compare_one_empty": lambda: wai.compare(rows(EXAMPLE), []),
    "compare_no_rows": lambda: wai.compare([], []),
    "compare_partial": lambda: wai.compare(rows([[0.5]] * 8), rows([[0.6]] * 8)),
    "compare_delta": lambda: wai.compare(BEFORE, AFTER).metrics["marker:chars"],
    "eval_variance": lambda: wai.eval_variance(*(rows([[1]] * n + [[0]] * (10 - n)) for n in (5, 6, 8))),
    "eval_variance_beyond_sampling": lambda: wai.eval_variance(*(rows(passes(200, p)) for p in (30, 40, 50, 60, 70))),
    "eval_variance_two_runs": lambda: wai.eval_variance(rows(EXAMPLE), rows(TUNED)),
    "eval_variance_equal_runs": lambda: wai.eval_variance(*[rows(EXAMPLE)] * 3),
    "eval_variance_no_rows": lambda: wai.eval_variance([], [], []),
    "eval_variance_marker": lambda: wai.eval_variance(BEFORE, AFTER, WORSE, metric="marker:chars"),
    "eval_variance_many_runs": lambda: wai.eval_variance(*(rows(passes(50, 50 + r, 1, 3 + 2 * r)) for r in range(24))),
    "holdout_size": lambda: wai.holdout_size(0.10, base=0.45, k=4),
    "holdout_size_no_base": lambda: wai.holdout_size(0.05),
    "holdout_size_one_arm": lambda: wai.holdout_size(0.05, before=rows(EXAMPLE)),
    "holdout_size_paired": lambda: wai.holdout_size(0.05, before=BEFORE, after=AFTER),
    "holdout_size_given": lambda: wai.holdout_size(0.004, task_std=0.3, power=0.9, level=0.999),
    "holdout_size_no_pairs": lambda: wai.holdout_size(0.05, before=rows(EXAMPLE), after=other_ids(rows(TUNED))),
    "holdout_size_single_rows": lambda: wai.holdout_size(0.05, before=BEFORE),
    "select_rl": lambda: wai.select(rows(EXAMPLE), mode="rl").report,
    "select_rl_target": lambda: wai.select(rows(EXAMPLE), mode="rl", target=5).report,
    "select_rl_nothing": lambda: wai.select(rows([[1]] * 5), mode="rl").report,
    "select_rl_no_rows": lambda: wai.select([], mode="rl").report,
    "select_sft": lambda: wai.select(rows(EXAMPLE), mode="sft", per_task=2, target=5).report,
    "select_sft_nothing": lambda: wai.select(rows([[0, 0]]), mode="sft").report,
    "judge_trust": lambda: wai.judge_trust(gold_on(judged_rows(), 3)),
    "judge_trust_weighted": lambda: wai.judge_trust(labelled_sample()),
    "judge_trust_fooled": lambda: wai.judge_trust(
        judged_rows(), lambda row: "0" in row["final_text"][:4] or "correct" in row["final_text"]
    ),
    "judge_trust_judge_fails": lambda: wai.judge_trust(judged_rows(), lambda row: row["nothing"]),
    "judge_trust_no_gold": lambda: wai.judge_trust(rows(EXAMPLE)),
    "judge_trust_one_class": lambda: wai.judge_trust([{**row, "gold_reward": "yes"} for row in rows(EXAMPLE)]),
    "judge_trust_constant": lambda: wai.judge_trust([{**row, "reward": 1} for row in judged_rows()]),
    "judge_trust_no_rows": lambda: wai.judge_trust([]),
    "compare_gold": lambda: wai.compare(gold_on(judged_rows(7), 3), gold_on(judged_rows(3), 3), gold="gold_reward"),
    "compare_gold_lost": lambda: wai.compare(
        gold_on(judged_rows(9, 80), 2), gold_on(judged_rows(1, 40), 2), gold="gold_reward"
    ),
    "compare_gold_not_random": lambda: wai.compare(
        gold_on(judged_rows(9, 80), 2), gold_on(judged_rows(2, 40), 2), gold="gold_reward"
    ),
    "compare_gold_few": lambda: wai.compare(gold_on(judged_rows(), 3), gold_on(judged_rows(), 900), gold="gold_reward"),
    "sample_for_labels": lambda: wai.sample_for_labels(gold_on(judged_rows(), 9), 50).report,
    "label": lambda: wai.label(judged_rows(), [[i % 2, i % 3 > 0, i % 2] for i in range(300)]).report,
    "label_tie": lambda: wai.label(judged_rows(), {"ann": [1] * 300, "bob": [i % 2 for i in range(300)]}).report,
    "compare_judges": lambda: wai.compare_judges(
        {"one": judged_rows(4), "two": judged_rows(9), "three": judged_rows()[:280]}
    ),
    "compare_judges_no_gold": lambda: wai.compare_judges({"one": rows(EXAMPLE), "two": rows(TUNED)}),
    "hack_scan": lambda: wai.hack_scan(replies(3)),
    "hack_scan_clean": lambda: wai.hack_scan(replies(0), endorsed=["marker:b"]),
    "hack_scan_thin": lambda: wai.hack_scan(rows(EXAMPLE)),
    "hack_scan_no_rows": lambda: wai.hack_scan([]),
    "calibrate": lambda: wai.calibrate(sided(EXAMPLE), ref="base"),
    "calibrate_students": lambda: wai.calibrate(sided(EXAMPLE) + sided(TUNED, "m@2", None), ref="base"),
    "calibrate_no_rows": lambda: wai.calibrate([]),
    "publish_gate": lambda: wai.publish_gate(rows(EXAMPLE, judge_name=lambda _: "Numeric"), mode="rl"),
    "publish_gate_refused": lambda: wai.publish_gate(
        rows([[1] * 3] * 9, usable=lambda i: i > 0), mode="rl", holdout=["Question 3"], strict=True
    ),
    "coverage": covered,
    "coverage_thin": lambda: covered(16, seeds=[{"prompt": "Where is my order?"}]),
    "coverage_never_reached": lambda: covered(fires=False),
    "coverage_no_faults": lambda: covered(fault_rate=0),
    "publish_gate_no_rows": lambda: wai.publish_gate([], mode="sft"),
}


#: What each form of a result is kept as; a notebook's must stay small.
FORMS = {
    "txt": str,
    "md": lambda result: result._repr_markdown_(),
    "html": lambda result: result._repr_html_().replace("><", ">\n<"),
}
MOST_BYTES = 12_000
result_of = cache(lambda name: CASES[name]())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_text(name, form):
    path = TEXTS / f"{name}.{form}"
    text = f"{FORMS[form](result_of(name))}\n"
    if os.environ.get("WHILEAI_WRITE_PRINTED"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert form != "txt" or text.isascii()
    assert len(text.encode()) < MOST_BYTES


def test_no_text_without_its_case():
    kept = {path.name for path in TEXTS.iterdir() if path.suffix[1:] in FORMS}
    assert kept == {f"{name}.{form}" for name in CASES for form in FORMS}
