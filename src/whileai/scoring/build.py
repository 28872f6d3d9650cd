"""`wai.rows`: prompts and completions in, rows out."""

from __future__ import annotations

import numbers
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from whileai import keys
from whileai.errors import sentence
from whileai.scoring import shapes
from whileai.scoring.judging import check_clock, judge_rows
from whileai.simulations._wire import SCHEMA_VERSION
from whileai.verify.adapt import ACCEPTED, Judge, as_judge

CALL = shapes.CALL


def rows(
    prompts: Any,
    completions: Any,
    reward: Any = None,
    *,
    references: Any = None,
    task_ids: Any = None,
    markers: Any = None,
    timeout: float = 30.0,
    workers: int | None = None,
) -> list[dict[str, Any]]:
    """One row per completion: what every measurement reads.

    Parameters
    ----------
    prompts : iterable of str or of message lists
        Of a message list the row's ``prompt`` is the last user turn; ``messages`` keeps the list.
    completions : iterable
        One string per prompt, or one sequence of k strings per prompt. A message, or a conversation that ends in one,
        is read as its content.
    reward : verifier, callable or numbers, optional
        A verifier such as ``wai.verify.MathEqual()``; a function of ``(row)``, ``(prompt, completion)`` or
        ``(prompt, completion, reference)``, sync or async, that returns a bool, a number in [0, 1] or a dict with
        ``reward``; or the numbers themselves, nested like `completions` or flat, ``None`` and NaN for unjudged.
        Without it the rows are unjudged.
    references : iterable, optional
        The gold per prompt, ``None`` or NaN for none. Kept under ``privileged.reference``, which no export writes
        unasked.
    task_ids : iterable, optional
        A name per prompt; ``None`` falls back to ``task_`` and the first 12 hex digits of the prompt's SHA-256. Entries
        with one id are one task.
    markers : iterable of dict, optional
        Named numbers per completion, nested like `completions` or flat.
    timeout : float
        Seconds one verdict may take; a verdict that takes longer is stopped and reads ``timeout``. Counted only while
        that verdict runs.
    workers : int, optional
        Verdicts made at the same time, by default as many as suits the judge.

    Returns
    -------
    list of dict
        In the order of the completions. A judged row has ``reward`` (``None`` unless ``judge_status`` is ``"ok"``),
        ``judge_name``, ``judge_status`` and, where known, ``reason``, ``judge_meta``, ``failure_class``, ``markers``.

    Raises
    ------
    TypeError
        A bare string for `prompts`, `completions` or `references`; what is no text; what cannot be a reward.
    ParamError
        Lengths that differ; a given reward outside [0, 1]; a marker that is no number. Nothing has been judged then.

    Notes
    -----
    A function runs in child processes, on a copy of the row, so that a stuck one can be stopped: what it changes in
    memory stays there, and what it measures beside its verdict it returns as ``markers``.

    Examples
    --------
    >>> import whileai as wai
    >>> row = wai.rows(["What is 2 + 3?"], ["5"], wai.verify.Numeric(), references=["5"])[0]
    >>> row["task_id"], row["reward"], row["judge_name"]
    ('task_1ea26256ebae', 1, 'Numeric')
    """
    check_clock(CALL, timeout, workers)
    asked = shapes.sequence(prompts, "prompts", "a sequence of prompts")
    answered = shapes.sequence(completions, "completions", "a sequence of completions")
    shapes.same_length("completions", answered, len(asked), "prompt")
    read = [shapes.read_prompt(prompt, i) for i, prompt in enumerate(asked)]
    texts = [shapes.read_completions(entry, i) for i, entry in enumerate(answered)]
    golds = _per_prompt(references, "references", len(asked))
    names = _per_prompt(task_ids, "task_ids", len(asked))
    sizes = [len(group) for group in texts]
    measured = (
        None if markers is None else [shapes.given_markers(*pair) for pair in shapes.flat(markers, sizes, "markers")]
    )
    judge, given = _read_reward(reward, sizes)

    built = _build(read, texts, golds, names)
    for row, named in zip(built, measured or (), strict=measured is not None):
        row["markers"] = named
    if given is not None:
        for row, value in zip(built, given, strict=True):
            row["reward"] = value
            row["label_source"] = "given"
    if judge is not None:
        judge_rows(built, judge, timeout=timeout, workers=workers)
    return built


def _per_prompt(values: Any, where: str, n: int) -> list[Any]:
    """One value per prompt, ``None`` where it is missing."""
    if values is None:
        return [None] * n
    listed = shapes.sequence(values, where, "a sequence with one entry per prompt")
    shapes.same_length(where, listed, n, "prompt")
    return [None if keys.is_missing(value) else _own(value) for value in listed]


def _own(value: Any) -> Any:
    """A numpy scalar as Python's own, so that a row stays plain data."""
    return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value


def _read_reward(reward: Any, sizes: list[int]) -> tuple[Judge | None, list[int | float | None] | None]:
    """What `reward` is: a judge, or the numbers; neither where it is ``None``."""
    if reward is None:
        return None, None
    if callable(reward):
        return as_judge(reward, CALL, "reward"), None
    if isinstance(reward, (str, bytes, dict, numbers.Number)) or not isinstance(reward, Iterable):
        raise TypeError(sentence(CALL, "reward", f"{ACCEPTED}, or the numbers per completion", reward))
    return None, [shapes.given_reward(*pair) for pair in shapes.flat(reward, sizes, "reward")]


def _build(
    read: list[tuple[str, list[Any], str]], texts: list[list[str]], golds: list[Any], names: list[Any]
) -> list[dict[str, Any]]:
    """The unjudged rows."""
    built: list[dict[str, Any]] = []
    so_far: defaultdict[Any, int] = defaultdict(int)
    for (prompt, messages, default_id), group, gold, name in zip(read, texts, golds, names, strict=True):
        task = default_id if name is None else name
        first = so_far[task]
        so_far[task] = first + len(group)
        for j, text in enumerate(group):
            row = {
                "schema_version": SCHEMA_VERSION,
                "task_id": task,
                "scenario_id": task,
                "prompt": prompt,
                "messages": [*messages, {"role": "assistant", "content": text}],
                "steps": [],
                "final_text": text,
                "rollout_index": first + j,
                "reward": None,
            }
            if gold is not None:
                row["privileged"] = {"reference": gold}
            built.append(row)
    return built
