"""`wai.read`: anybody's data -> rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whileai.readers.containers import as_list, sources
from whileai.readers.fields import Fields

if TYPE_CHECKING:
    from whileai.readers.logs.tally import Rows

CALL = "read"


def read(path_or_object: Any, format: str | None = None, fields: Any = None, filter: str | None = None) -> Rows:
    """The rows of a file, of every file that a pattern or a folder names, or of anything in memory.

    Parameters
    ----------
    path_or_object : path or data
        JSON lines, JSON, CSV or Parquet, the first three also packed with gzip or zstd, or a log of an eval harness or
        trainer: told by its content, whatever its name. A glob or a folder reads its files in the order of their names.
        Or what every call takes: a list or generator of dicts, a frame, an Arrow stream, a dataset, a relation.
    format : str, optional
        ``jsonl``, ``json``, ``csv``, ``parquet``, or the name of a format of logs (docs/formats.md), where the content
        should not decide.
    fields : mapping of str to str, optional
        What the data calls our keys, ours first: ``{"prompt": "question", "final_text": "response"}``. Theirs may be a
        dotted path. Ours may also be ``reference`` (the gold), ``marker:<name>`` and ``metadata.<name>``. A line whose
        completions stand in a list becomes one row each; what stands beside them in lists of the same length is theirs
        one by one, and a single value belongs to all.
    filter : str, optional
        Which verdict to take where a log holds several: a filter of lm-eval, a scorer of Inspect.

    Returns
    -------
    list of dict
        Rows as they stand in the data, where no map renames them. An empty CSV cell is ``None``. The list also has a
        ``.report``: rows, tasks, errors, what was skipped.

    Raises
    ------
    FileNotFoundError
        No file has that name.
    ParamError
        A format or a name in `fields` that does not exist, with the near miss; a content that no format fits.
    RowError
        A line is not a JSON object, or the lists of a row differ in length; the message names the file and the place.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import whileai as wai
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "samples.jsonl"
    >>> _ = path.write_text(json.dumps({"idx": 7, "response": ["5", "6"], "score": [True, False]}))
    >>> fields = {"task_id": "idx", "final_text": "response", "reward": "score"}
    >>> [(row["task_id"], row["rollout_index"], row["reward"]) for row in wai.read(path, fields=fields)]
    [(7, 0, True), (7, 1, False)]
    """
    from whileai.readers.logs.tally import Counts, Rows

    counts = Counts()
    mapped = None if fields is None else Fields(CALL, fields)
    parts = sources(path_or_object, CALL, "path_or_object", format=format, fields=mapped, filter=filter, counts=counts)
    rows = as_list([row for _, part in parts for row in part], CALL, "path_or_object", counts)
    if not counts.formats:  # the readers of logs count their rows themselves
        for row in rows:
            counts.add(row)
    return Rows(rows, counts.tally())
