"""A pytest plugin: compare rows with a baseline that the repository keeps, and fail where they are worse.

The fixture ``wai_compare`` compares, `assert_not_worse` fails. pytest loads the plugin by itself where whileai is
installed; nothing else of whileai is loaded until a test compares.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from whileai.measure.comparison import Comparison

#: Where the properties of a comparison begin in a report, and which of them is printed at the end.
_PREFIX, _SUMMARY = "wai.", ".summary"
_NUMBERS = ("verdict", "ok", "target", "before", "after", "delta", "p_value", "n_paired")
#: Tasks named in a failure, and characters of their names.
_MOST_LOST, _LONGEST = 3, 60
_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_unfit = re.compile(r"[^A-Za-z0-9_.-]+")
#: What else is known of a comparison made under pytest, by its `id`, for as long as it lives.
_told: dict[int, tuple[str, ...]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("whileai", "comparisons of whileai")
    where = "folder of the baselines, from the root of the tests (tests/wai_baseline)"
    group.addoption("--wai-baseline", metavar="DIR", default="tests/wai_baseline", help=where)
    update = "write the baselines that wai_compare would read, and skip the tests that do"
    group.addoption("--wai-update-baseline", action="store_true", help=update)
    page = "write the HTML page of each comparison: FILE with the comparison's name before its suffix"
    group.addoption("--wai-report", metavar="FILE", help=page)


@pytest.fixture
def wai_compare(request: pytest.FixtureRequest) -> Callable[..., Comparison]:
    """A function that compares rows with the baseline of this test, or with another arm.

    ``wai_compare(after, before=None, *, name=None, **options)`` returns the `Comparison` of `wai.compare`, which takes
    the options. Without `before` the arm before is the file ``NAME.jsonl`` in the folder of ``--wai-baseline``; by
    default a test's baseline bears the name of its file and of itself. The test is skipped where there is no such file.
    """
    return _Comparing(request)


def assert_not_worse(result: Comparison, *, margin: float | None = None) -> None:
    """Fail where a comparison is not ok: regressed, a guard worse or not measured, over-optimised, too little data.

    Parameters
    ----------
    result : Comparison
        Of ``wai_compare`` or of `wai.compare`.
    margin : float, optional
        Fail unless the interval rules out a loss of so much of the target, and the guards and the proxy hold. That no
        difference was proven is no proof of no harm; with a margin a small eval cannot pass. A proven loss that is
        smaller passes.

    Raises
    ------
    AssertionError
        With the printed result, the loss that is not ruled out, and the tasks that lost most.
    """
    __tracebackhide__ = True
    from whileai.measure.comparison import Comparison
    from whileai.measure.gating import check_loss, failing_text, judged

    if not isinstance(result, Comparison):
        raise TypeError(f"assert_not_worse: result must be a Comparison; got {type(result).__name__}.")
    if margin is not None:
        check_loss("assert_not_worse", "margin", margin, result.target)
    gate = judged(result, gate=margin is None, max_loss=margin)
    if not gate.passes:
        raise AssertionError(failing_text(result, gate, _told.get(id(result), ())))


class _Comparing:
    """The comparisons of one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.node = request.node
        self.config = request.config
        self._unnamed = 0

    def __call__(self, after: Any, before: Any = None, *, name: str | None = None, **options: Any) -> Comparison:
        from whileai.measure.compare import compare

        name = self._named(name)
        after = list(after) if isinstance(after, Iterator) else after
        before = list(before) if isinstance(before, Iterator) else before
        source: tuple[str, ...] = ()
        if before is None:
            path = self._baseline(name)
            if self.config.getoption("wai_update_baseline"):
                self._skip(name, self._written(after, path))
            before, source = self._read(name, path)
        result = compare(before, after, **options)
        page = self._report(result, name, before, after)
        self._keep(result, name, (*_lost(result, before, after), *_where(source, page)))
        return result

    def _named(self, name: str | None) -> str:
        """The name of a comparison; without one that of the test, which then can compare but once."""
        if name is not None:
            if not isinstance(name, str) or not _name.fullmatch(name):
                bound = "1 to 100 letters, digits, dots, dashes and underscores, a letter or digit first"
                raise ValueError(f"wai_compare: name must be {bound}; got {name!r}.")
            return name
        self._unnamed += 1
        if self._unnamed > 1:
            raise ValueError("wai_compare: name must be given where a test compares more than once; got none.")
        plain = f"{self.node.path.stem}.{self.node.name}"
        fit = _unfit.sub("-", plain).strip("-")[:80]
        # what was replaced could make two tests one; the digest keeps them apart
        return fit if fit == plain else f"{fit}-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"

    def _skip(self, name: str, reason: str) -> NoReturn:
        """Skip the test, and say why at the end of the session too, where pytest counts skipped tests alone."""
        self.node.user_properties.append((f"{_PREFIX}{name}{_SUMMARY}", reason))
        pytest.skip(reason)

    def _baseline(self, name: str) -> Path:
        folder: Path = self.config.rootpath / self.config.getoption("wai_baseline")
        return folder / f"{name}.jsonl"

    def _shown(self, path: Path) -> str:
        """A path from the root of the tests, where it lies under it."""
        root = self.config.rootpath
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def _written(self, after: Any, path: Path) -> str:
        from whileai.result.digits import count
        from whileai.table.baseline import save_baseline
        from whileai.table.intake import as_table

        table = as_table(after, "wai_compare", "after")
        path.parent.mkdir(parents=True, exist_ok=True)
        save_baseline(table, path)
        return f"wrote the baseline {self._shown(path)} ({count(len(table), 'task')}); nothing was compared"

    def _read(self, name: str, path: Path) -> tuple[Any, tuple[str, ...]]:
        """The baseline, and how a failure names it; the test is skipped where there is none."""
        from whileai.result.digits import count
        from whileai.table.baseline import load_baseline

        if not path.exists():
            nodeid = self.node.nodeid
            quoted = nodeid if re.fullmatch(r"[\w./:-]+", nodeid) else f"'{nodeid}'"
            how = f"write it with: pytest {quoted} --wai-update-baseline"
            self._skip(name, f"no baseline {self._shown(path)}; {how}")
        table = load_baseline(path)
        return table, (f"baseline {self._shown(path)} ({count(len(table), 'task')})",)

    def _report(self, result: Comparison, name: str, before: Any, after: Any) -> tuple[str, ...]:
        """The page of the comparison, and how a failure names it."""
        file = self.config.getoption("wai_report")
        if file is None:
            return ()
        from whileai.pages.call import report

        path = Path(file)
        path = path.with_name(f"{path.stem}.{name}{path.suffix or '.html'}")
        report(result, path, before=before, after=after)
        return (f"see {path}",)

    def _keep(self, result: Comparison, name: str, told: tuple[str, ...]) -> None:
        """What the failure text, the end of the session and a JUnit file say of a comparison."""
        _told[id(result)] = told
        weakref.finalize(result, _told.pop, id(result), None)
        low, high = result.interval or (None, None)
        found = {_SUMMARY: result.summary, **{f".{field}": getattr(result, field) for field in _NUMBERS}}
        found |= {".interval.low": low, ".interval.high": high}
        self.node.user_properties += [
            (f"{_PREFIX}{name}{key}", str(value).lower() if isinstance(value, bool) else str(value))
            for key, value in found.items()
            if value is not None
        ]


def _lost(result: Comparison, before: Any, after: Any) -> tuple[str, ...]:
    """The tasks that lost most, as one line."""
    from whileai.measure.gating import largest_losses
    from whileai.result.svg import shortened
    from whileai.result.text import ascii_of
    from whileai.table.intake import as_table

    arms = [as_table(data, "wai_compare", name) for data, name in ((before, "before"), (after, "after"))]
    lost = largest_losses(arms[0], arms[1], result, _MOST_LOST)
    if not lost:
        return ()
    named = [f"{ascii_of(shortened(item.task, _LONGEST))} {item.text}" for item in lost]
    more = result._moved[1] - len(lost)
    return (f"lost most: {', '.join(named)}" + (f", and {more:,} more" if more > 0 else ""),)


def _where(source: tuple[str, ...], page: tuple[str, ...]) -> tuple[str, ...]:
    """Where the arm before and the page are, as one line."""
    told = "; ".join((*source, *page))
    return (told,) if told else ()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each comparison of the session, whichever process made it."""
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "teardown":  # it has the properties of the test, in the last report
                continue
            for key, value in report.user_properties:
                if key.startswith(_PREFIX) and key.endswith(_SUMMARY):
                    lines.append(f"{key.removeprefix(_PREFIX).removesuffix(_SUMMARY)}: {value}")
    if lines:
        terminalreporter.write_sep("=", "whileai")
        for line in sorted(lines):
            terminalreporter.write_line(line)
