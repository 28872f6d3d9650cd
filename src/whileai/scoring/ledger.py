"""The file a resumed run reads its verdicts from: one verdict a line, written as it lands."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from whileai import keys
from whileai.scoring.fingerprint import fingerprint, verifier_version
from whileai.verify.adapt import FunctionJudge, Judge
from whileai.verify.base import Verifier
from whileai.verify.verdict import Verdict

#: Verdicts that say nothing of the completion are asked for again.
RETRIED = ("error", "timeout")
FIELDS = ("reward", "status", "reason", "markers", "failure_class", "meta")


class Ledger:
    """Verdicts on disk, found by what was judged.

    A line's key is a hash of task, prompt, completion, gold and judge with its version and settings, and counts equal
    rows: two equal completions of one task are two verdicts.
    """

    def __init__(self, path: str | os.PathLike[str], rows: Sequence[Mapping[str, Any]], judge: Judge) -> None:
        self.path = Path(path)
        self.judge = judge
        self.keys = _keys_of(rows, judge)
        self.saved = self._load()
        self.file: IO[str] | None = None

    def __enter__(self) -> Self:
        torn = self.path.exists() and self.path.stat().st_size > 0 and not self._ends_a_line()
        self.file = self.path.open("a", encoding="utf-8")
        if torn:  # the next verdict must not be glued to half a line
            self.file.write("\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()

    def known(self) -> Iterator[tuple[int, Verdict]]:
        """The saved verdicts with the places of their rows."""
        for place, key in enumerate(self.keys):
            if key in self.saved:
                yield place, self.saved[key]

    def open_places(self) -> list[int]:
        """The places of the rows that have no saved verdict."""
        return [place for place, key in enumerate(self.keys) if key not in self.saved]

    def append(self, place: int, verdict: Verdict) -> None:
        """Write one verdict, and hand it to the operating system at once."""
        assert self.file is not None
        line = {"key": self.keys[place], "judge": self.judge.name}
        line |= {name: getattr(verdict, name) for name in FIELDS}
        self.file.write(json.dumps(line, ensure_ascii=True, default=str) + "\n")
        self.file.flush()

    def _load(self) -> dict[str, Verdict]:
        """The verdicts in the file that count; a line that is no verdict is a torn one and is skipped."""
        saved: dict[str, Verdict] = {}
        if not self.path.exists():
            return saved
        with self.path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    key, verdict = entry["key"], Verdict(*(entry[name] for name in FIELDS))
                except (ValueError, KeyError, TypeError):
                    continue
                if verdict.status not in RETRIED:
                    saved[key] = verdict
        return saved

    def _ends_a_line(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def _keys_of(rows: Sequence[Mapping[str, Any]], judge: Judge) -> list[str]:
    """The key of every row's verdict."""
    who = json.dumps([judge.name, _version(judge)], sort_keys=True, default=repr)
    field = judge.field if isinstance(judge, Verifier) else None
    seen: defaultdict[str, int] = defaultdict(int)
    found = []
    for row in rows:
        what = [keys.task_of(row), row.get("prompt"), keys.candidate_of(row), keys.reference_of(row, field)]
        text = who + json.dumps(what, default=repr)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[key] += 1
        found.append(f"{key}.{seen[key]}")
    return found


def _version(judge: Judge) -> Any:
    """What makes a judge another judge: its class, version and settings, or the code of its function."""
    if isinstance(judge, Verifier):
        return verifier_version(judge)
    return fingerprint(judge.function) if isinstance(judge, FunctionJudge) else repr(type(judge))
