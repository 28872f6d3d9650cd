"""The samples of an Inspect archive: summaries where they do, whole samples where texts are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from whileai.readers.logs.base import Log
from whileai.readers.logs.decoding import decode_json, decoder
from whileai.readers.logs.inspect_rows import TEXT_FIELDS, THIN_FIELDS
from whileai.readers.logs.json_stream import split
from whileai.readers.logs.packed import Archive, broken

SUMMARIES, JOURNAL = "summaries.json", "_journal/summaries/"
_sample = re.compile(r"samples/(.+)_epoch_(\d+)(?:\.json|/sample\.json)", re.DOTALL)
_piece = re.compile(r"(.+/)(\d+)\.json", re.DOTALL)
#: The fields of a whole sample that are read; its events, the bulk of it, are not.
SAMPLE_FIELDS = frozenset((*THIN_FIELDS, *TEXT_FIELDS, "attachments", "message_refs"))

Key = tuple[str, int]


class Samples:
    """The samples of an archive, each once, as mappings."""

    def __init__(self, archive: Archive, log: Log) -> None:
        self.archive = archive
        self.log = log
        self.members: dict[Key, str] = {}
        self.pieces: dict[str, list[tuple[int, str]]] = {}
        for name in archive.names:
            found = _sample.fullmatch(name)
            piece = _piece.fullmatch(name)
            if found:
                self.members[found[1], int(found[2])] = name
            elif piece:
                self.pieces.setdefault(piece[1], []).append((int(piece[2]), name))
        journal = [name for _, name in sorted(self.pieces.get(JOURNAL, ()))]
        self.summary_files = [SUMMARIES] if SUMMARIES in archive else journal
        keys = [key for key, _ in self._summaries(("id", "epoch"))]
        #: The place of the summary that holds of each sample: one that is run again is summed up again.
        self.last = {key: place for place, key in enumerate(keys)}
        self.n_again = len(keys) - len(self.last)

    def thin(self, names: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        """The fields `names` of every sample, of its summary where it has one."""
        for place, (key, summary) in enumerate(self._summaries((*names, "id", "epoch"))):
            if self.last[key] == place:
                yield summary
        for key in self._without_summary():
            yield self._whole(key, frozenset((*names, "id", "epoch"))) or {}

    def for_rows(self, needs_sample: Callable[[Mapping[str, Any]], bool]) -> Iterator[Mapping[str, Any]]:
        """What rows are made of: the summary of a sample, itself where that does not say all that is asked for."""
        fields = SAMPLE_FIELDS if self.log.texts else frozenset(THIN_FIELDS)
        if self.n_again:
            self.log.skip("samples that were run again", self.n_again)
        for place, (key, summary) in enumerate(self._summaries(THIN_FIELDS)):
            if self.last[key] != place:
                continue
            whole = None
            if needs_sample(summary):
                whole = self._whole(key, fields)
                if whole is None:
                    text = "of some samples only the summary could be read, which has no messages."
                    self.log.note("only_summary", text)
            yield summary if whole is None else whole
        for key in self._without_summary():
            sample = self._whole(key, fields)
            if sample is None:
                self.log.skip("samples that are damaged")
            else:
                yield sample

    def _without_summary(self) -> list[Key]:
        """The samples that no summary names, in the order of the archive."""
        return [key for key in self.members if key not in self.last]

    def _summaries(self, names: tuple[str, ...]) -> Iterator[tuple[Key, Mapping[str, Any]]]:
        """The summaries in the order they were written, each with the sample it is of."""
        decode = decoder(names)
        for file in self.summary_files:
            with self.archive.open(file) as data:
                for _, item in split(data, {()}):
                    summary = decode(item)
                    if isinstance(summary, Mapping):
                        yield key_of(summary), summary

    def _whole(self, key: Key, fields: frozenset[str]) -> dict[str, Any] | None:
        """A whole sample without its events, ``None`` where the archive has none that can be read."""
        name = self.members.get(key)
        if name is None:
            return None
        try:
            with self.archive.open(name) as file:
                parts = split(file, (), fields)
                sample = {place[0]: decode_json(data) for place, data in parts}
            return {**sample, **self._chunks(name)} if name.endswith("/sample.json") else sample
        except broken_or_no_json():
            return None

    def _chunks(self, shell: str) -> dict[str, Any]:
        """What a sample that is kept in pieces has beside its shell."""
        prefix = shell.removesuffix("sample.json")
        sample: dict[str, Any] = {}
        if prefix + "metadata.json" in self.archive:
            sample["metadata"] = decode_json(self.archive.read(prefix + "metadata.json"))
        sample["pool"] = self._sequence(prefix + "messages/")
        sample["attachments"] = {str(place): text for place, text in enumerate(self._sequence(prefix + "attachments/"))}
        return sample

    def _sequence(self, prefix: str) -> list[Any]:
        """The items of the pieces under a prefix, in their order."""
        names = [name for _, name in sorted(self.pieces.get(prefix, ()))]
        return [item for name in names for item in decode_json(self.archive.read(name))]


def is_sample(name: str) -> bool:
    """Whether a member of an archive is a sample."""
    return _sample.fullmatch(name) is not None


def broken_or_no_json() -> tuple[type[Exception], ...]:
    """What a damaged member raises."""
    return (*broken(), ValueError)


def key_of(sample: Mapping[str, Any]) -> Key:
    """What a sample is told apart by."""
    epoch = sample.get("epoch")
    return str(sample.get("id")), epoch if isinstance(epoch, int) else 1
