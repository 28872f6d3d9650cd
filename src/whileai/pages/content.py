"""What a page is made of, before it is markup."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whileai.pages.payload import Texts

if TYPE_CHECKING:
    from whileai.measure.comparison import Comparison
    from whileai.measure.pass_at import PassAt
    from whileai.pages.flips import Arm, Tasks
    from whileai.result import Note, Result


@dataclass(frozen=True)
class Input:
    """Data that was given: its argument, and the file it came from where there is one."""

    name: str
    n_rows: int
    n_tasks: int
    path: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Content:
    """Everything a page says.

    Attributes
    ----------
    comparison : Comparison or None
        ``None`` on a page of one arm.
    passes : list of (str, PassAt)
        The rates of each arm.
    results : list of Result
        Whatever else was given.
    arms : list of Arm
    tasks : Tasks or None
        ``None`` where no rows or tables are known.
    kept : list of int
        The places of the tasks that the page lists.
    order : list of int
        The same in the order in which their texts are worth most.
    inputs : list of Input
    include_reference, with_texts : bool
    command : str
        What measures the same on the command line, empty where nothing does.
    path : str
        The file that is written.
    asked : list of str
        The tasks that were asked for, empty for all.
    texts : Texts
    """

    comparison: Comparison | None
    passes: Sequence[tuple[str, PassAt]]
    results: Sequence[Result]
    arms: Sequence[Arm]
    tasks: Tasks | None
    kept: Sequence[int]
    order: Sequence[int]
    inputs: Sequence[Input]
    include_reference: bool
    with_texts: bool
    command: str = ""
    path: str = ""
    asked: Sequence[str] = ()
    texts: Texts = field(default_factory=Texts)

    @property
    def again(self) -> str:
        """What makes the page again."""
        if not self.command:
            return f'wai.report(..., "{self.path}"{", tasks=[...]" if self.asked else ""})'
        tasks = f" --tasks {shlex.quote(','.join(self.asked))}" if self.asked else ""
        return f"{self.command}{tasks} -o {shlex.quote(self.path)}"

    @property
    def more(self) -> str:
        """What makes a page with the texts of other tasks."""
        if self.command:
            return f"{self.command} --tasks IDS -o more.html"
        return 'wai.report(..., "more.html", tasks=[...])'

    @property
    def main(self) -> Result:
        """The result whose first line is the page's title."""
        if self.comparison is not None:
            return self.comparison
        return self.passes[0][1] if self.passes else self.results[0]

    @property
    def others(self) -> list[Result]:
        """The results that are not the main one."""
        return [result for result in self.results if result is not self.main]

    @property
    def notes(self) -> list[tuple[str, Note]]:
        """Every note of every result, with what it is about."""
        named = [("", self.main), *((type(result).__name__, result) for result in self.others)]
        if self.comparison is not None:
            named += [(name, result) for name, result in self.passes]
        found = [(name, note) for name, result in named for note in getattr(result, "notes", ())]
        return list({(note.code, note.text): (name, note) for name, note in reversed(found)}.values())[::-1]
