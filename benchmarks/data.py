"""Rows to measure on: the keys that `wai.rows` writes, fresh objects as a file would give."""

from __future__ import annotations

import json
import random
from typing import Any


def rows(n: int, k: int = 8, seed: int = 1, *, as_loaded: bool = True) -> list[dict[str, Any]]:
    """`n` rows of ``n / k`` tasks with two markers.

    Parameters
    ----------
    as_loaded : bool
        Through JSON and back, so that no two rows share a string, as after loading a file.
    """
    draw = random.Random(seed)
    made = []
    for i in range(n):
        task = f"task_{i // k:012x}"
        prompt = f"Question {i // k}: how many are left after {i // k % 97} of {i // k % 89 + 97} are gone?"
        made.append(
            {
                "schema_version": "1",
                "task_id": task,
                "scenario_id": task,
                "prompt": prompt,
                "messages": [],
                "steps": [],
                "final_text": f"There are {draw.randint(0, 99)} left.",
                "rollout_index": i % k,
                "reward": int(draw.random() < (i // k % 100) / 100),
                "judge_name": "Numeric",
                "judge_status": "ok",
                "markers": {"chars": float(draw.randint(10, 400)), "score": draw.random()},
            }
        )
    return json.loads(json.dumps(made)) if as_loaded else made
