"""Prompts that would fill the memory are kept as digests, and nothing measured shows it."""

from __future__ import annotations

import random

import pytest

import whileai as wai
from whileai.table import row_tasks


def rows_of(seed, n=6000):
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        task = draw.randrange(500)
        row = {"reward": draw.choice([0, 1, 0.5, None]), "prompt": f"p{task}" + ("x" if draw.random() < 0.01 else "")}
        if draw.random() < 0.5:
            row["task_id"] = draw.choice([f"t{task}", None, task])
        if draw.random() < 0.3:
            row["scenario_id"] = draw.choice([f"t{task}", None])
        if draw.random() < 0.02:
            row["messages"] = [{"role": "user", "content": row.pop("prompt")}]
        rows.append(row)
    return rows


def lines(table):
    columns = (table.n, table.passes, table.n_unjudged, table.reward.mean, table.prompts.codes, table.prompts.several)
    values = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(table.task, map(repr, values), strict=True)), table.n_id_conflicts


@pytest.mark.parametrize("kept", [0, 500, 3000])
@pytest.mark.parametrize("only", [None, ("prompt", "reward"), ("scenario_id", "prompt", "reward")], ids=str)
def test_the_same_table(monkeypatch, kept, only):
    for seed in range(3):
        rows = rows_of(seed)
        if only:
            rows = [{key: row.get(key, "s") for key in only} for row in rows]
        expected = lines(wai.task_table(rows))
        monkeypatch.setattr(row_tasks, "KEPT", kept)
        monkeypatch.setattr(row_tasks, "LONG", 0)
        assert lines(wai.task_table(iter(rows))) == expected


def test_long_prompts_are_let_go(monkeypatch):
    monkeypatch.setattr(row_tasks, "KEPT", 10_000)
    reader = row_tasks.TaskReader()
    reader.streamed = True
    for i in range(50):
        reader.add([{"prompt": f"{i} {j} " + "long " * 100} for j in range(20)])
    kept = [prompt for identities in reader._known.values() for prompt in identities]
    assert len(kept) == 1000
    assert sum(isinstance(prompt, str) for prompt in kept) == 0


def test_a_list_keeps_its_own_prompts():
    reader = row_tasks.TaskReader()
    reader.add([{"prompt": "long " * 100_000 + str(j)} for j in range(50)])
    assert all(isinstance(prompt, str) for prompt in reader._known["prompt",])
