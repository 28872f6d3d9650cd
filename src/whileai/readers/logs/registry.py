"""Which format a file of logs is, told by what is in it.

A reader of files asks `recognise` for each file it was named, or `recognise_all` for those of a folder or glob, and
reads a file of plain rows itself where the answer is ``None``::

    reader = recognise(path, format, call="pass_at")
    rows = plain_rows(path) if reader is None else reader.rows("pass_at", wanted=("task_id", "reward", "markers"))
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whileai import params
from whileai.errors import ParamError
from whileai.readers.logs.base import Companion, Format, Log
from whileai.readers.logs.head import Head, head_of
from whileai.readers.logs.looks import has_rows, looks_like
from whileai.readers.logs.tally import Counts, Tally
from whileai.result import Note


@dataclass(frozen=True, slots=True)
class Entry:
    """One format before its module is loaded.

    Attributes
    ----------
    name : str
        What ``format=`` takes.
    place : str
        ``module:Class`` in this package.
    kinds : str
        Kinds of file it can be, with spaces between.
    keys : str
        Keys, with spaces between, of which the first record or the document has one, or columns of a table; empty for a
        format that only its `sniff` can tell. No module is loaded for a file of another kind or without these: what
        recognition costs a file of plain rows does not grow with the number of formats.
    """

    name: str
    place: str
    kinds: str
    keys: str = ""

    def may_fit(self, head: Head) -> bool:
        """Whether a file has the kind and a key of the format, so that its `sniff` is worth asking."""
        if head.kind not in self.kinds.split():
            return False
        names = head.columns if head.kind in ("csv", "parquet") else head.keys
        return not self.keys or head.kind in ("zip", "folder") or not set(self.keys.split()).isdisjoint(names)

    def format(self) -> Format:
        """The format itself."""
        module, _, name = self.place.partition(":")
        kind: type[Format] = getattr(importlib.import_module(f"whileai.readers.logs.{module}"), name)
        return kind()


#: In the order they are asked: a format that another's looks include comes first. Companions have no name of their own.
FORMATS = (
    Entry("inspect", "inspect_log:InspectLog", "zip json lines", "eval"),
    Entry("", "inspect_log:InspectListing", "json"),
    Entry("lm-eval", "lm_eval:LmEvalSamples", "lines json", "resps"),
    Entry("", "lm_eval:LmEvalResults", "json lines", "configs"),
    Entry("verl", "verl:VerlRollouts", "lines json", "score"),
    Entry("trl", "trl:TrlCompletions", "parquet", "completion"),
    Entry("verifiers", "verifiers_results:VerifiersResults", "lines json", "example_id"),
    Entry("", "verifiers_results:VerifiersMetadata", "json lines", "rollouts_per_example"),
    Entry("verifiers-traces", "verifiers_traces:VerifiersTraces", "lines json", "traces rewards"),
    Entry("tau-bench", "tau_bench:TauBenchTrials", "json lines", "traj info"),
    Entry("tau2-bench", "tau2_bench:Tau2Simulations", "json lines folder", "tasks termination_reason"),
    Entry("", "tau2_bench:Tau2Index", "json lines", "simulation_index"),
    Entry("human-eval", "human_eval:HumanEvalSamples", "lines json", "completion solution"),
    Entry("evalplus", "evalplus:EvalPlusResults", "json lines", "eval"),
    Entry("swe-bench", "swe_bench:SweBenchRun", "json lines", "resolved_ids resolved total_instances"),
    Entry("promptfoo", "promptfoo:PromptfooResults", "json lines", "results success"),
    Entry("lighteval", "lighteval:LightevalDetails", "parquet", "model_response"),
    Entry("every-eval-ever", "every_eval_ever:EveryEvalEverSamples", "lines json", "sample_id"),
    Entry("", "every_eval_ever:EveryEvalEverResults", "json lines", "model_info"),
    Entry("helm", "helm:HelmRun", "json lines folder", "adapter_spec"),
    Entry("", "helm:HelmSide", "json lines", "instance_id references name scenario_spec"),
    Entry("openai-evals", "openai_evals:OpenAIEvals", "lines json", "spec event_id"),
    Entry("otel", "otel:OtelSpans", "lines json folder", "resourceSpans resourceLogs resource_spans resource_logs"),
    Entry(
        "langfuse", "langfuse:LangfuseTraces", "lines json", "scores evaluations data item_results itemResults traces"
    ),
    Entry("langsmith", "langsmith:LangsmithRuns", "lines json", "reference_example_id feedback_stats run_type"),
    Entry("braintrust", "braintrust:BraintrustSpans", "lines json", "scores events rows data objects"),
    Entry("swe-bench-instance", "swe_bench:SweBenchInstance", "json lines"),
)
#: The name of files of rows, which need no reader of logs.
PLAIN = "rows"
#: Names of logs that are no names of row files; a folder is searched for these too.
SUFFIXES = (".eval",)


def names() -> list[str]:
    """What ``format=`` takes."""
    return [entry.name for entry in FORMATS if entry.name] + [PLAIN]


class Reader:
    """One recognised log.

    Attributes
    ----------
    format : Format
    path : Path
    eval_name : str or None
        The eval that the log is of, where it says so.
    prefix : str
        Goes before every task id, for logs of several evals that are read as one.
    model : str or None
        The model that the log is of, where its rows do not say so.
    """

    def __init__(self, format: Format, head: Head) -> None:
        self.format = format
        self.head = head
        self.path = head.path
        self.eval_name = format.eval_name(head)
        self.prefix = ""
        self.model: str | None = None
        self.counts = Counts()

    def rows(
        self, call: str, wanted: Sequence[str] | None = None, filter: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows of the log, one after the other.

        Parameters
        ----------
        call : str
            The call that reads, for errors.
        wanted : sequence of str, optional
            The only keys that are needed. Texts that none of them names are not loaded; other keys may be there.
        filter : str, optional
            Which verdict to take where a log has several: an lm-eval filter, an Inspect scorer.
        """
        log = Log(self.head, call, wanted, filter)
        self.counts = log.counts  # a log that is read again is counted anew
        if not isinstance(self.format, Companion):
            log.counts.formats[self.format.name] += 1
        for row in self.format.read(log):
            if self.prefix:
                row["task_id"] = f"{self.prefix}{row['task_id']}"
            if self.model:
                row.setdefault("model", self.model)
            log.counts.add(row)
            yield row

    @property
    def tally(self) -> Tally:
        """What was read so far; complete once `rows` has ended."""
        return self.counts.tally()

    def notes(self) -> list[Note]:
        """What the reader chose or left out."""
        return list(self.tally.notes)


def recognise(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    call: str = "read",
    alone: bool = True,
    fields: Collection[str] = (),
) -> Reader | None:
    """The reader of a log, ``None`` for a file of plain rows and for a folder that is no log as a whole.

    Parameters
    ----------
    path : path
        A file, or a folder.
    format : str, optional
        The name of the format, where the content should not decide.
    call : str
        The call that reads, for errors.
    alone : bool
        Whether the file was named, and not found in a folder: a listing or a summary is then an error, not skipped.
    fields : collection of str
        Names in the file that a field map says are a row's; an object with one of them is a row.

    Raises
    ------
    ParamError
        A format of that name does not exist, a file that holds no rows was named, or a content that no format fits;
        the message says what it looks like and which formats were tried.
    """
    if format is not None:
        params.one_of(call, "format", format, names())
    if format == PLAIN:
        return None
    head = head_of(Path(path))
    if format is not None:
        chosen = next(entry for entry in FORMATS if entry.name == format).format()
        if not chosen.sniff(head):
            found = _first_that_fits(head)
            fix = f"It looks like {found.what if found else looks_like(head)}."
            raise ParamError.of(call, str(path), f"{chosen.what} where format={format!r}", head.kind, fix)
        return Reader(chosen, head)
    if head.is_ours:
        return None
    found = _first_that_fits(head)
    if isinstance(found, Companion) and alone:
        raise ParamError.of(call, str(path), "a file of rows or a log", found.what, found.fix)
    if found is None and head.kind != "folder" and not has_rows(head, fields):
        tried = ", ".join(entry.name for entry in FORMATS if entry.name)
        fix = f"It looks like {looks_like(head)}; formats tried: {tried}."
        raise ParamError(f"{call}: {path} must be a file of rows or a log that is known here. {fix}")
    return None if found is None else Reader(found, head)


def recognise_all(
    paths: Sequence[str | os.PathLike[str]],
    format: str | None = None,
    *,
    call: str = "read",
    fields: Collection[str] = (),
) -> list[Reader | None]:
    """The reader of each file of a folder or glob.

    Listings and summaries get a reader without rows, which counts them. Where the logs are of several evals, each task
    id gets its eval's name before it, since two evals may both have a task ``1``.
    """
    alone = len(paths) == 1
    readers = [recognise(path, format, call=call, alone=alone, fields=fields) for path in paths]
    logs = [reader for reader in readers if reader is not None and not isinstance(reader.format, Companion)]
    if len({(reader.format.name, reader.eval_name) for reader in logs}) > 1:
        for reader in logs:
            reader.prefix = f"{reader.eval_name or reader.path.stem}/"
    folders = {reader.path.parent for reader in logs if reader.format.model_is_folder}
    if len(folders) > 1:
        for reader in logs:
            reader.model = reader.path.parent.name if reader.format.model_is_folder else None
    return readers


def _first_that_fits(head: Head) -> Format | None:
    """The first format whose looks the file has."""
    for entry in FORMATS:
        if entry.may_fit(head):
            format = entry.format()
            if format.sniff(head):
                return format
    return None
