"""What `wai.write` reports."""

from __future__ import annotations

from dataclasses import dataclass, field

from whileai.result import Block, Headline, Line, Note, Result
from whileai.result.digits import count


@dataclass(frozen=True, repr=False)
class Written(Result):
    """What was written, and what was not.

    Attributes
    ----------
    path, format : str
    n_rows : int
        Rows, or pairs, that were given.
    n_lines : int
        Lines in the file; 0 means that no file was written.
    n_tasks : int
        Tasks that have a line.
    skipped : dict of str to int
        Rows that did not become a line, by reason; the last one counts pairs. ``unusable``, ``cut_off``,
        ``no_reply``, ``no_prompt``, ``not_text`` (an image), ``unknown_role``, ``unjudged``, ``partial``,
        ``nothing_to_learn`` (a mask of zeros), ``unlinked_calls``, ``several_turns``.
    withheld : dict of str to int
        Rows of which something did not leave that the format has a place for, by the key it stood under: ``privileged``
        always, in ``rows`` also ``reason`` and the like, and ``keys`` for keys that quote a secret themselves.
    include_reference : bool
        Whether the gold was written.
    notes : tuple of Note
    """

    path: str
    format: str
    n_rows: int
    n_lines: int
    n_tasks: int
    skipped: dict[str, int] = field(default_factory=dict)
    withheld: dict[str, int] = field(default_factory=dict)
    include_reference: bool = False
    notes: tuple[Note, ...] = ()

    def _blocks(self) -> list[Block]:
        given = count(self.n_rows, "row")
        if not self.n_lines:
            head = f"wrote nothing: no line of {self.format} in {given}"
        else:
            head = f"wrote {count(self.n_lines, 'line')} of {self.format} to {self.path}: "
            head += f"{count(self.n_tasks, 'task')}, from {given}"
        blocks: list[Block] = [Headline(head)]
        for word, counts in (("skipped", self.skipped), ("withheld", self.withheld)):
            if counts:
                items = [f"{name} {count(n, 'row')}" for name, n in counts.items()]
                blocks.append(Line(f"{word}: {' | '.join(items)}"))
        return [*blocks, *self.notes]
