"""`wai.write`: rows into files that trainers and registries read."""

from __future__ import annotations

import os
from typing import Any

from whileai.errors import ParamError
from whileai.export.writing import CALL, checked, write_rows
from whileai.export.written import Written
from whileai.readers.containers import listed
from whileai.result import noted


def write(
    rows: Any,
    path: str | os.PathLike[str],
    *,
    format: str = "rows",
    include_reference: bool = False,
    system_prompt: str | None = None,
    tools: Any = None,
) -> Written:
    """Write rows in the format of a trainer or a registry. Nothing privileged leaves.

    Parameters
    ----------
    rows : rows
        Anything that counts as data, in any shape that `load_traces` reads, or the pairs of `preference_pairs`. All of
        it is written, so select first.
    path : path
        The file. Its name says how: ``.jsonl``, packed as ``.jsonl.gz`` or ``.jsonl.zst``, or ``.parquet``.
    format : str
        - ``rows``: our rows, canonical and stamped; in Parquet with lists and dicts as JSON text in ``*_json`` columns
        - ``trl-prompt``: a prompt a task, for GRPO and RLOO
        - ``trl-messages``, ``trl-prompt-completion``: for SFT
        - ``trl-preference``: prompt, chosen, rejected, for DPO; ``trl-kto``: prompt, completion, label
        - ``verl``: a prompt a task, Parquet
        - ``openai-sft``, ``openai-dpo``: OpenAI's fine-tuning files, ``.jsonl``
        - ``every-eval-ever``: a scored completion a line, ``.jsonl``
    include_reference : bool
        Whether the gold is written, which a rule-based reward in the trainer needs: ``reference`` in ``trl-prompt``,
        ``ground_truth`` in ``verl`` (``""`` without), ``privileged.reference`` in ``rows``, ``input.reference`` in
        ``every-eval-ever``. Nothing else of the privileged block ever is.
    system_prompt : str, optional
        What the policy was told; written once, before the turns. By default the ``system_prompt`` of a simulation's
        data, or of each row.
    tools : sequence, optional
        The tools it had, of `wai.tool` or as OpenAI schemas. By default the ``tools`` of a simulation's data, or of
        each row.

    Returns
    -------
    Written
        What was written, what was skipped and why, what was withheld. Where no row could become a line there is no
        file.

    Raises
    ------
    ParamError
        A misspelt format, a file name that does not fit it, pairs in a format for rows.
    RowError
        A reward that is no number in [0, 1], in a format that reads rewards.

    Notes
    -----
    The file is written under another name in its folder and renamed. Columns and turns have the same keys and types on
    every line. Arguments of tools are JSON text, and every result carries the id of its call.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import whileai as wai
    >>> rows = wai.rows(["2 + 3?"], [["5", "6"]], wai.verify.ExactMatch(), references=["5"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs.jsonl"
    >>> wai.write(rows, path, format="trl-preference").n_lines
    1
    >>> wai.read(path)[0]["chosen"]
    [{'role': 'assistant', 'content': '5'}]
    """
    checked(path, format)
    if not isinstance(include_reference, bool):
        raise ParamError.of(CALL, "include_reference", "True or False", include_reference)
    if system_prompt is not None and not isinstance(system_prompt, str):
        raise ParamError.of(CALL, "system_prompt", "a text", system_prompt)
    given, told = listed(rows, CALL, "rows")
    prompt, had = (getattr(rows, name, None) for name in ("system_prompt", "tools"))
    written = write_rows(
        given,
        path,
        format=format,
        include_reference=include_reference,
        system_prompt=system_prompt if system_prompt is not None or not isinstance(prompt, str) else prompt,
        tools=had if tools is None and isinstance(had, (list, tuple)) else tools,
    )
    return noted(written, told)
