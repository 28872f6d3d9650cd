"""Inspect logs: ``.eval`` archives, ``.json`` documents, and the listings that lie beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from whileai.errors import ParamError
from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.decoding import decode_json
from whileai.readers.logs.head import Head
from whileai.readers.logs.inspect_archive import SUMMARIES, Samples, broken_or_no_json, is_sample
from whileai.readers.logs.inspect_rows import SCORE_FIELDS, TEXT_FIELDS, THIN_FIELDS, RowMaker, survey_sample
from whileai.readers.logs.packed import Archive
from whileai.readers.logs.scores import Survey

HEADER, START = "header.json", "_journal/start.json"
#: Where the samples of a document stand.
SAMPLES = ("samples",)
#: The members of a header that say what the log is of.
HEADER_FIELDS = ("status", "eval", "results", "error", "invalidated")


class InspectLog(Format):
    """The log of one Inspect eval: a sample and epoch a row.

    The reward is the first scorer's (``filter=`` names another), a mapping's or list's parts are markers. Without need
    of texts only the summaries of an archive are read.
    """

    name = "inspect"
    what = "an Inspect eval log"

    def sniff(self, head: Head) -> bool:
        """A header or samples in an archive; a document with ``eval`` and ``status``."""
        if head.kind == "zip":
            return START in head.members or any(is_sample(name) for name in head.members) or _is_ended(head.members)
        return head.is_document and _is_header(head.value)

    def eval_name(self, head: Head) -> str | None:
        """The task of the eval."""
        if head.kind != "zip":
            return _task(head.value)
        try:
            with Archive(head.path) as archive:
                return _task(_header_of(archive))
        except broken_or_no_json():
            return None  # reading says what is wrong

    def read(self, log: Log) -> Iterator[dict[str, Any]]:
        """The rows of an archive or a document."""
        yield from _archive_rows(log) if log.head.kind == "zip" else _document_rows(log)


class InspectListing(Companion):
    """``logs.json`` or ``listing.json``: what lies in a folder of logs, by file name."""

    name = ""
    what = "a listing of Inspect logs"
    fix = "Read the logs it names, or the whole folder."

    def sniff(self, head: Head) -> bool:
        """An object of objects under the names of log files."""
        if not head.is_document or not isinstance(head.value, dict) or not head.value:
            return False
        first = next(iter(head.value.values()))
        told = isinstance(first, dict) and not {"eval", "task", "status"}.isdisjoint(first)
        return told and all(name.endswith((".eval", ".json")) for name in head.value)


def _is_ended(members: Collection[str]) -> bool:
    """Whether an archive has the header and the summaries of a log."""
    return HEADER in members and SUMMARIES in members


def _is_header(value: Any) -> bool:
    """Whether an object is a log's header, with samples or without."""
    spec = value.get("eval") if isinstance(value, dict) else None
    return isinstance(spec, dict) and "task" in spec and ("status" in value or "version" in value)


def _task(header: Any) -> str | None:
    """The name of the eval's task."""
    spec = header.get("eval") if isinstance(header, dict) else None
    task = spec.get("task") if isinstance(spec, dict) else None
    return task if isinstance(task, str) else None


def _header_of(archive: Archive) -> dict[str, Any]:
    """The header of an archive, or what a run that has not ended left of one."""
    for name in (HEADER, START):
        if name in archive:
            header = decode_json(archive.read(name))
            if isinstance(header, dict):
                return header if "status" in header else {"status": "started", **header}
    return {}


def _archive_rows(log: Log) -> Iterator[dict[str, Any]]:
    """The rows of a ``.eval`` archive."""
    try:
        with Archive(log.path) as archive:
            header, samples, survey = _header_of(archive), Samples(archive, log), Survey()
            for sample in samples.thin(SCORE_FIELDS):
                survey_sample(survey, sample)
            maker = RowMaker(log, header, survey)
            for sample in samples.for_rows(maker.needs_sample):
                yield from maker.rows(sample)
            maker.finish()
    except ParamError:
        raise  # a wrong argument is no damaged file, though both are ValueErrors
    except broken_or_no_json() as error:
        raise log.torn(error) from error


def _document_rows(log: Log) -> Iterator[dict[str, Any]]:
    """The rows of a ``.json`` document, its samples streamed."""
    maker = RowMaker(log, *_looked_through(log))
    for sample in log.items(SAMPLES, *(THIN_FIELDS + TEXT_FIELDS if log.texts else THIN_FIELDS)):
        yield from maker.rows(sample)
    maker.finish()


def _looked_through(log: Log) -> tuple[dict[str, Any], Survey]:
    """The header of a document and a survey of its scores; what is skipped is counted when the rows are read."""
    header: dict[str, Any] = {}
    survey = Survey()
    for place, value in Log(log.head, log.call).decoded({SAMPLES}, HEADER_FIELDS, SCORE_FIELDS):
        if place != SAMPLES:
            header[place[0]] = value
        elif isinstance(value, Mapping):
            survey_sample(survey, value)
    return header, survey
