"""What a format of logs is, and what it is given to read one."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from whileai import params
from whileai.errors import RowError
from whileai.readers.logs import packed
from whileai.readers.logs.decoding import Wanted, decode_json, decoder
from whileai.readers.logs.head import Head, head_of
from whileai.readers.logs.json_stream import Place, TornJson, split
from whileai.readers.logs.tally import Counts

#: Keys of a row that hold its texts; a call that wants none of them need not load them.
TEXTS = frozenset({"prompt", "messages", "final_text", "steps", "privileged", "reason"})


class Format(abc.ABC):
    """One format of logs.

    A subclass sets `name` (what ``format=`` takes) and `what` (what such a file is, for messages), and writes `sniff`
    and `read`. It holds no state: what belongs to one file stands on its `Log`.
    """

    name: str
    what: str
    #: Whether the folder of a log is named for the model, which the log itself does not say.
    model_is_folder = False

    @abc.abstractmethod
    def sniff(self, head: Head) -> bool:
        """Whether a file that begins like this is a log of this format; must not read on."""

    @abc.abstractmethod
    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of a log, one after the other.

        An error of the run is a row without a reward and with ``judge_status="error"``; what gives no row at all is
        counted with ``log.skip``.
        """

    def eval_name(self, head: Head) -> str | None:
        """The eval that a log is of, where the file says so; ids of different evals do not name the same task."""
        return None


class Companion(Format):
    """A file that lies beside logs and holds no rows: a listing, a summary.

    It is skipped, with a note, where a folder or a glob is read, and an error that says what it is where it is named
    alone. `fix` says what to read instead.
    """

    fix: str

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """No rows."""
        log.skip(f"file that is {self.what}")
        return iter(())


class Log:
    """One log being read: its bytes in every form that formats need, what is asked of it, and the counts.

    Parameters
    ----------
    head : Head
        The file and its beginning.
    call : str
        The call that reads, for errors.
    wanted : sequence of str, optional
        The only keys of a row that are needed; ``None`` is all.
    choice : str, optional
        The caller's ``filter=``: which of several verdicts to take.
    """

    def __init__(self, head: Head, call: str, wanted: Sequence[str] | None = None, choice: str | None = None) -> None:
        self.head = head
        self.path: Path = head.path
        self.call = call
        self.wanted = None if wanted is None else frozenset(wanted)
        self.choice = choice
        self.counts = Counts()

    def needs(self, *names: str) -> bool:
        """Whether any of these keys of a row is asked for, itself or a path into it (``metadata.passage``)."""
        return self.wanted is None or any(key.partition(".")[0] in names for key in self.wanted)

    @cached_property
    def texts(self) -> bool:
        """Whether texts are asked for. A prompt that only has to name the task is not: logs name their tasks."""
        if self.wanted is None:
            return True
        spare = {"prompt"} if "task_id" in self.wanted else set()
        return any(key.partition(".")[0] in TEXTS - spare for key in self.wanted)

    def skip(self, reason: str, n: int = 1) -> None:
        """Count lines or records that give no row; `reason` reads after a number."""
        self.counts.skip(reason, n)

    def note(self, code: str, text: str, fix: str = "") -> None:
        """Say something about what was read."""
        self.counts.note(code, text, fix)

    def pick(self, names: Sequence[str], what: str) -> str:
        """The one of several verdicts to take: what the caller chose, else the first.

        Parameters
        ----------
        names : sequence of str
            What there is, at least one.
        what : str
            What they are, for the message: ``scorer``.
        """
        if self.choice is not None:
            return params.one_of(self.call, "filter", self.choice, names, what=f"a {what} of {self.path}")
        if len(names) > 1:
            others = ", ".join(names[1:6]) + (", ..." if len(names) > 6 else "")
            self.note(f"{what}_chosen", f"{what} {names[0]} was read; there is also {others}.", "Choose with filter=.")
        return names[0]

    def again(self) -> Log:
        """The same log for looking through it before its rows are made; what it counts and notes is let go."""
        return Log(self.head, self.call)

    def beside(self, path: Path) -> Log:
        """Another file of the same run, read for the same call into the same counts."""
        other = Log(head_of(path), self.call, None if self.wanted is None else sorted(self.wanted), self.choice)
        other.counts = self.counts
        return other

    def opened(self) -> Any:
        """The file's bytes, unpacked."""
        return packed.opened(self.path)

    def lines(self, *names: Wanted) -> Iterator[dict[str, Any]]:
        """The objects of a file of JSON lines, of which only the keys `names` where any are given.

        A line that is no JSON, or no object, is counted and passed over; blank lines are nothing.
        """
        decode = decoder(names)
        with self.opened() as file:
            try:
                for line in file:
                    if not line.strip():
                        continue
                    try:
                        record = decode(line)
                    except ValueError:
                        self.skip("torn last line" if not line.endswith(b"\n") else "lines that are no JSON")
                        continue
                    if isinstance(record, dict):
                        yield record
                    else:
                        self.skip("lines that are no JSON object")
            except packed.broken() as error:
                raise self.torn(error) from error

    def records(self, *names: Wanted) -> Iterator[dict[str, Any]]:
        """The objects of JSON lines or of a JSON list, whichever the file is."""
        if not self.head.is_list:
            yield from self.lines(*names)
            return
        yield from self.items((), *names)

    def items(self, place: tuple[str, ...], *names: Wanted) -> Iterator[dict[str, Any]]:
        """The objects in the list at a place inside one JSON document, streamed; ``()`` is the document itself."""
        for _, record in self.decoded({place}, (), names):
            if isinstance(record, dict):
                yield record
            else:
                self.skip("entries that are no JSON object")

    def decoded(
        self, lists: Collection[Place], keep: Collection[str] = (), names: Sequence[Wanted] = ()
    ) -> Iterator[tuple[Place, Any]]:
        """The parts of one JSON document decoded, of items only the keys `names`; one that is no JSON is counted."""
        decode = decoder(names)
        for place, data in self.parts(lists, keep):
            try:
                value = decode(data) if place in lists else decode_json(data)
            except ValueError:
                self.skip("entries that are no JSON")
                continue
            yield place, value

    def parts(self, lists: Collection[Place], keep: Collection[str] = ()) -> Iterator[tuple[Place, bytes]]:
        """The parts of one JSON document as `json_stream.split` gives them; a torn end is counted."""
        with self.opened() as file:
            try:
                yield from split(file, lists, keep)
            except TornJson:
                self.skip("torn end of the file")
            except packed.broken() as error:
                raise self.torn(error) from error
            except ValueError as error:
                raise self.broken(error) from error

    def document(self) -> Any:
        """The whole of a JSON file."""
        try:
            with self.opened() as file:
                return decode_json(file.read())
        except packed.broken() as error:
            raise self.torn(error) from error
        except ValueError as error:
            raise self.broken(error) from error

    def torn(self, error: BaseException) -> RowError:
        """The error of a compressed file that ends early or is damaged."""
        reason = str(error).rstrip(".")
        return RowError(f"{self.call}: {self.path} must be a whole compressed file; got {reason}.", 0, "", None)

    def broken(self, error: BaseException) -> RowError:
        """The error of a file that is not the JSON it began as."""
        return RowError(f"{self.call}: {self.path} must be valid JSON; {error}.", 0, "", None)
