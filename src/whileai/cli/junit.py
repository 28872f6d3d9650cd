"""A comparison as JUnit XML: a case for the target, for each guard, for the proxy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from whileai.measure.gating import guards_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whileai.measure.comparison import Comparison
    from whileai.measure.gating import Failure, Gate

#: What XML 1.0 cannot hold, not even escaped.
_forbidden = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CLASS = "wai.compare"
#: Kinds of failure that say nothing was measured.
_ERRORS = ("not_made",)


@dataclass(frozen=True)
class Case:
    """One testcase; `tag` is ``failure``, ``error``, ``skipped``, or empty where it passed."""

    name: str
    tag: str = ""
    type: str = ""
    message: str = ""


def document(result: Comparison, gate: Gate, strict: Gate, max_loss: float | None, suite: str) -> str:
    """The XML of one comparison.

    Parameters
    ----------
    gate : Gate
        What the gates that were asked for say.
    strict : Gate
        What they would say if every one had been asked for: its failures are those of the cases.
    max_loss : float or None
        The most that the target may lose; it then takes the place of "is not worse".
    suite : str
        The name of the suite.
    """
    cases = _cases(result, strict.failures, max_loss)
    counts = {tag: sum(case.tag == tag for case in cases) for tag in ("failure", "error", "skipped")}
    told = f'tests="{len(cases)}" failures="{counts["failure"]}" errors="{counts["error"]}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name={_attribute(suite)} {told} skipped="{counts["skipped"]}">',
        "  <properties>",
        *(f"    <property name={_attribute(k)} value={_attribute(v)}/>" for k, v in _properties(result)),
        "  </properties>",
        *(line for case in cases for line in _case(case)),
        f"  <system-out>{_text(_said(result, gate))}</system-out>",
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def _cases(result: Comparison, failures: Sequence[Failure], max_loss: float | None) -> list[Case]:
    """What passed and what did not; with `max_loss` a proven loss that is smaller passes."""
    rule = "is not worse" if max_loss is None else f"loses less than {max_loss:g}"
    kinds = ("by_gold", "regressed", "not_made") if max_loss is None else ("max_loss", "not_made")
    by_metric = {(failure.kind, failure.metric): failure for failure in failures}

    def case(metric: str, name: str, kinds: Sequence[str]) -> Case:
        found = next((by_metric[kind, metric] for kind in kinds if (kind, metric) in by_metric), None)
        if found is None:
            return Case(name)
        tag = "skipped" if found.kind == "not_measured" else "error" if found.kind in _ERRORS else "failure"
        verdict = result.verdict if found.kind in ("regressed", *_ERRORS) else found.kind
        kind = "regressed" if verdict == "guard" else verdict
        return Case(name, tag, kind, result.summary if found.kind in ("regressed", *_ERRORS) else found.text)

    cases = [case(result.target, f"{result.target} {rule}", kinds[::-1])]
    cases += [case(name, f"{name} is not worse", ("guard", "not_measured")) for name in guards_of(result)]
    if result.proxy is not None:
        name = f"{result.proxy} does not improve without {result.target}"
        cases.append(case(result.proxy, name, ("over_optimised",)))
    return cases


def _case(case: Case) -> list[str]:
    start = f"  <testcase classname={_attribute(_CLASS)} name={_attribute(case.name)}"
    if not case.tag:
        return [f"{start}/>"]
    if case.tag == "skipped":
        return [f"{start}>", f"    <skipped message={_attribute(case.message)}/>", "  </testcase>"]
    what = f"type={_attribute(case.type)} message={_attribute(case.message)}"
    return [f"{start}>", f"    <{case.tag} {what}/>", "  </testcase>"]


def _properties(result: Comparison) -> list[tuple[str, str]]:
    """The numbers in full precision, of the comparison and of each metric."""
    found: list[tuple[str, object]] = [
        (name, getattr(result, name)) for name in ("verdict", "ok", "target", "n_paired", "level", "noise_band")
    ]
    if result.corrected is not None:
        low, high = result.corrected.interval or (None, None)
        found += [("corrected.delta", result.corrected.delta)]
        found += [("corrected.interval.low", low), ("corrected.interval.high", high)]
    for metric, delta in result.metrics.items():
        found += [(f"{metric}.{name}", getattr(delta, name)) for name in ("before", "after", "delta", "p_value")]
        low, high = delta.interval or (None, None)
        found += [(f"{metric}.interval.low", low), (f"{metric}.interval.high", high)]
    return [(name, _value(value)) for name, value in found if value is not None]


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _said(result: Comparison, gate: Gate) -> str:
    return "\n".join([result.to_text(), *gate.remarks])


def _text(text: str) -> str:
    return escape(_forbidden.sub("", text))


def _attribute(text: str) -> str:
    """A quoted attribute; a line break stays one."""
    return quoteattr(_forbidden.sub("", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
