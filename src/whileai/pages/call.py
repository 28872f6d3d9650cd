"""`wai.report`: results and rows as one page to look at."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whileai import keys, params
from whileai.errors import ParamError, sentence
from whileai.measure.compare import compare
from whileai.measure.comparison import Comparison
from whileai.measure.judge_trust import judge_trust
from whileai.measure.paired import Arms
from whileai.measure.pass_at import PassAt, measured
from whileai.measure.trust import JudgeTrust
from whileai.pages.content import Content, Input
from whileai.pages.flips import Arm, Tasks, tasks_of
from whileai.pages.given import CALL, arm_of, input_of, sorted_out
from whileai.pages.page import built
from whileai.pages.payload import kept_places
from whileai.pages.rows import has_gold
from whileai.readers.logs.tally import told_of
from whileai.result import Block, Headline, Line, Note, Result
from whileai.result import digits as d

LEVEL = 0.95


@dataclass(frozen=True, repr=False)
class Page(Result):
    """What `report` wrote.

    Attributes
    ----------
    path : str
        The file.
    n_bytes : int
        Its size.
    verdict : str or None
        Of the comparison on it, ``None`` where there is none.
    ok : bool or None
        The same.
    title : str
        The first line of the result that the page is about.
    n_tasks, n_listed, n_with_texts : int
        Tasks behind it, tasks whose numbers it lists, tasks whose texts it holds.
    notes : tuple of Note
    """

    path: str
    n_bytes: int
    verdict: str | None
    ok: bool | None
    title: str
    n_tasks: int
    n_listed: int
    n_with_texts: int
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        size = f"{self.n_bytes / 1e6:.2f} MB" if self.n_bytes >= 1e5 else f"{self.n_bytes / 1e3:.0f} KB"
        tasks = f"{d.count(self.n_tasks, 'task')}, texts of {self.n_with_texts:,}" if self.n_tasks else "no tasks"
        return [Headline(f"wrote {self.path}: {size}, {tasks}"), Line(self.title), *self.notes]


def report(
    results_or_rows: Any,
    path: str | os.PathLike[str],
    before: Any = None,
    after: Any = None,
    *,
    max_mb: float = 5,
    texts: bool = True,
    include_reference: bool = False,
    tasks: Iterable[Any] | None = None,
) -> Page:
    """One self-contained HTML page: the verdict in words, its figures, the tasks that flipped, what was left out.

    Parameters
    ----------
    results_or_rows : Result, list of them, rows, or None
        What calls returned, or rows, which are then measured: by `wai.pass_at`, two arms by `wai.compare`. A pair of
        two data sets is before and after.
    path : str or path
        The file to write; it appears whole or not at all.
    before, after : rows, optional
        The rows behind a comparison, whose tasks the page then lists. Beside rows in the first place `after` is their
        other arm.
    max_mb : float
        Megabytes that the file may have. Texts of the largest losses go in first; the page says how many found room.
    texts : bool
        Whether prompts and completions are on it.
    include_reference : bool
        Whether the gold is on it, and reasons that quote it.
    tasks : list of ids, optional
        List these tasks only; what is measured stays over all.

    Returns
    -------
    Page
        Where it was written, how large it is, whose texts it holds.

    Raises
    ------
    ParamError
        What is neither results nor rows; rows that are not those behind the comparison; an id that no task has; a
        `max_mb` that nothing fits into.
    RowError
        A row that cannot be read.

    Notes
    -----
    The page asks nothing of any network, and text of rows is only ever text on it. The same input gives the same bytes.

    Examples
    --------
    >>> import tempfile, whileai as wai
    >>> rows = [{"task_id": i, "prompt": f"{i}?", "final_text": "x", "reward": int(i % 3 > 0)} for i in range(9)]
    >>> better = [{**row, "reward": 1} for row in rows]
    >>> page = wai.report([rows, better], tempfile.mkdtemp() + "/report.html")
    >>> page.verdict, page.n_with_texts
    ('no_difference', 9)
    """
    params.real(CALL, "max_mb", max_mb, "a number above 0", 0, 1e6, ends="(]")
    _check_flags(texts=texts, include_reference=include_reference)
    _checked_path(path)
    results, given = sorted_out(results_or_rows, before, after)
    sources = [(name, data) for name, data in given if data is not None]
    arms = [arm_of(data, name) for name, data in sources]
    inputs = [input_of(arm, data) for arm, (_, data) in zip(arms, sources, strict=True)]
    # what was asked of a comparison is not all in it, so no command line is said to make it again
    known = all(entry.path for entry in inputs) and not any(isinstance(result, Comparison) for result in results)
    command = shlex.join(["wai", "report", *(entry.path for entry in inputs)]) if known and inputs else ""
    return write_page(
        results, arms, inputs, path,
        command=command, max_mb=max_mb, texts=texts, include_reference=include_reference, tasks=tasks,
    )  # fmt: skip


def write_page(
    results: list[Result],
    arms: list[Arm],
    inputs: list[Input],
    path: str | os.PathLike[str],
    *,
    command: str,
    max_mb: float,
    texts: bool,
    include_reference: bool,
    tasks: Iterable[Any] | None,
    gold: str = keys.GOLD_REWARD,
) -> Page:
    """The page of results and of arms that were read already.

    Parameters
    ----------
    command : str
        What measures the same on the command line, without the file to write; empty where nothing does.
    gold : str
        Key of the true verdict on rows, on which their judge is measured.
    """
    content = _content(results, arms, inputs, gold)
    content = replace(content, command=command, path=str(path))
    page, content = _made(content, max_mb, tasks, texts=texts, include_reference=include_reference)
    _write(_checked_path(path), page)
    comparison = content.comparison
    return Page(
        path=str(path),
        n_bytes=len(page),
        verdict=None if comparison is None else comparison.verdict,
        ok=None if comparison is None else comparison.ok,
        title=content.main.summary,
        n_tasks=0 if content.tasks is None else len(content.tasks),
        n_listed=len(content.kept),
        n_with_texts=len(content.texts.places),
        notes=(*_notes(content), *told_of({arm.name: arm.table.reading for arm in arms})),
    )


def _check_flags(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ParamError.of(CALL, name, "True or False", value)


def _checked_path(path: Any) -> Path:
    """The file to write, before any work is done."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(sentence(CALL, "path", "a path to write to", path, "wai.report(result, 'report.html')."))
    found = Path(path)
    if str(path) in ("", "-") or found.is_dir() or not found.resolve().parent.is_dir():
        raise ParamError.of(CALL, "path", "a file in a folder that exists", str(path))
    return found


# what is made of it --------------------------------------------------------------------------------------------------


def _content(results: list[Result], arms: list[Arm], inputs: list[Input], gold: str) -> Content:
    """Results, arms and what is still to be measured on them."""
    compared = [result for result in results if isinstance(result, Comparison)]
    if len(compared) > 1:
        raise ParamError.of(
            CALL, "results_or_rows", "results with one comparison at most", len(compared), "Write a page for each."
        )
    comparison = compared[0] if compared else None
    if comparison is not None and len(arms) == 2:
        _check_same(comparison, arms)
    elif comparison is not None and arms:
        raise ParamError.of(CALL, "results_or_rows", "a comparison with both arms, before= and after=", "one of them")
    elif len(arms) == 2:
        comparison = compare(arms[0].table, arms[1].table)
    rates = [result for result in results if isinstance(result, PassAt)]
    if not arms and comparison is None and len(rates) == 1 and rates[0]._table is not None:
        arms = [Arm("rows", rates[0]._table)]
    level = LEVEL if comparison is None else comparison.level
    if len(arms) == 1 and rates:
        passes = [("rows", rates[0])]
    else:
        passes = [(arm.name, measured(arm.table, None, level)) for arm in arms]
    if not any(isinstance(result, JudgeTrust) for result in results):
        results = [*results, *_judge(arms, gold)]
    main = comparison or (passes[0][1] if passes else None)
    others = [result for result in results if result is not main and (comparison is None or result is not comparison)]
    if main is None and not others:
        raise ParamError.of(CALL, "results_or_rows", "results, or rows, or before= and after=", None)
    return Content(
        comparison=comparison,
        passes=passes,
        results=others,
        arms=arms,
        tasks=_tasks(comparison, arms),
        kept=[],
        order=[],
        inputs=inputs,
        include_reference=False,
        with_texts=True,
    )


def _tasks(comparison: Comparison | None, arms: Sequence[Arm]) -> Tasks | None:
    """The tasks to list; those of one arm by their pass rate, or by their rewards where there is none."""
    if not arms:
        return None
    if comparison is None:
        table = arms[0].table
        passing, scored = (int((table.column(name)[1] > 0).sum()) for name in ("pass_at_1", "reward"))
        target = "reward" if scored > passing else "pass_at_1"
        return tasks_of(arms, target, lower=False)
    if comparison.delta is None:
        return None
    return tasks_of(arms, comparison.target, lower=comparison.metrics[comparison.target].lower_is_better)


def _check_same(comparison: Comparison, arms: Sequence[Arm]) -> None:
    """Raise where the rows are not those that were compared."""
    from whileai.stats import exact

    paired = Arms(arms[0].table, arms[1].table)
    known = comparison.target in paired.metrics
    pairs = paired.pairs(comparison.target) if known else None
    n = 0 if pairs is None else pairs.n
    same = n == comparison.n_paired
    if same and pairs is not None and comparison.before is not None and comparison.after is not None:
        means = (exact.mean(pairs.before, pairs.weights), exact.mean(pairs.after, pairs.weights))
        same = all(
            abs(mine - theirs) <= 1e-9 * max(1.0, abs(theirs))
            for mine, theirs in zip(means, (comparison.before, comparison.after), strict=True)
        )
    if not same:
        found = f"{n:,} paired tasks" if n != comparison.n_paired else "other rates"
        bound = f"the rows behind the comparison, with {comparison.n_paired:,} paired tasks"
        raise ParamError.of(CALL, "before and after", bound, found, "Are the arms in the order that compare had?")


def _judge(arms: Sequence[Arm], gold: str) -> list[JudgeTrust]:
    """How far the judge agrees with gold on the last arm that has any."""
    with_rows = [arm.rows for arm in reversed(arms) if arm.rows]
    found = next((rows for rows in with_rows if has_gold(rows, gold)), None)
    if found is None and gold != keys.GOLD_REWARD:
        found = next(iter(with_rows), [])  # raises, with the near miss
    return [] if found is None else [judge_trust(found, gold=gold)]


def _made(
    content: Content, max_mb: float, asked: Iterable[Any] | None, *, texts: bool, include_reference: bool
) -> tuple[bytes, Content]:
    """The page with the tasks that are to be listed."""
    kept: list[int] = []
    order: list[int] = []
    if content.tasks is not None:
        order = content.tasks.order()
        if asked is not None:
            order = _asked(content.tasks, order, asked)
        kept = kept_places(content.tasks, order)
        listed = set(kept)
        order = [place for place in order if place in listed]
    elif asked is not None:
        raise ParamError.of(CALL, "tasks", "left out where no rows are given", "ids")
    ids = () if asked is None or content.tasks is None else tuple(content.tasks.ids[place] for place in kept)
    content = replace(content, kept=kept, order=order, asked=ids, with_texts=texts, include_reference=include_reference)
    return built(content, max_mb)


def _asked(tasks: Tasks, order: Sequence[int], asked: Iterable[Any]) -> list[int]:
    """The places of the tasks that were asked for, in `order`."""
    from whileai.keys import task_name

    if isinstance(asked, (str, bytes)):
        raise ParamError.of(CALL, "tasks", "a list of ids", asked, "One id is a list of one.")
    wanted = {task_name(item) for item in asked}
    known = {task: place for place, task in enumerate(tasks.ids)}
    missing = sorted(wanted - known.keys())
    if missing or not wanted:
        got = missing[0] if missing else []
        raise ParamError.of(
            CALL, "tasks", "ids of measured tasks", got, params.near_miss(got, tasks.ids) if missing else ""
        )
    places = {known[task] for task in wanted}
    return [place for place in order if place in places]


def _notes(content: Content) -> list[Note]:
    """What is not on the page."""
    notes = []
    if content.tasks is not None and content.with_texts and any(arm.rows is not None for arm in content.arms):
        left = len(content.kept) - len(content.texts.places)
        if left:
            held = f"{len(content.texts.places):,} of {d.count(len(content.kept), 'task')}"
            text = f"texts of {held} found room, largest losses first."
            notes.append(Note("texts_sampled", text, "Name others with tasks=, or raise max_mb=."))
    if content.tasks is not None and len(content.kept) < len(content.tasks):
        text = (
            f"{len(content.kept):,} of {len(content.tasks):,} tasks {'is' if len(content.kept) == 1 else 'are'} listed."
        )
        notes.append(Note("tasks_sampled", text, "Every measurement is over all."))
    return notes


def _write(path: Path, page: bytes) -> None:
    """Write a file whole or not at all; a symbolic link keeps pointing where it points."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(page)
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(page)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
