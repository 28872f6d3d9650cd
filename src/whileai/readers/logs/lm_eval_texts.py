"""What a line of lm-eval says of the prompt, the completions and the gold."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whileai.keys import GOLD_NAMES, is_messages, last_user_text


@dataclass(frozen=True)
class Answers:
    """The completions of a document.

    Attributes
    ----------
    texts : list of str
        One a repeat; of a choice among given texts the one with the highest log-likelihood.
    of_choices : list of str
        The texts to choose from, where there are any.
    is_free : bool
        Whether the model wrote them, and no likelihood was asked for.
    """

    texts: list[str]
    of_choices: list[str]
    is_free: bool = False


def answers_of(line: Mapping[str, Any]) -> Answers:
    """The completions in ``resps``: a list for each request, in it one for each repeat."""
    resps = line.get("resps")
    requests = resps if isinstance(resps, list) else []
    first = requests[0] if requests else None
    repeats = first if isinstance(first, list) else [first]
    arguments = _arguments(line)
    if repeats and isinstance(repeats[0], str) and not _is_pair(repeats) and not _is_rolling(arguments, repeats[0]):
        return Answers([text if isinstance(text, str) else json.dumps(text) for text in repeats], [], is_free=True)
    choices = [second for _, second in arguments if isinstance(second, str)]
    scores = [_likelihood(request) for request in requests]
    if not choices or len(choices) != len(requests) or any(math.isnan(score) for score in scores):
        return Answers([""], [])
    if len(choices) == 1:  # the likelihood of one given text: whether it would have been written, not what was
        return Answers([choices[0].strip() if _is_greedy(first) else ""], choices)
    best = max(range(len(scores)), key=lambda place: scores[place])
    return Answers([choices[best].strip()], [choice.strip() for choice in choices])


def _is_rolling(arguments: list[tuple[Any, Any]], response: str) -> bool:
    """Whether a response is the likelihood of the prompt's own text, which is asked for with no settings."""
    return bool(arguments) and arguments[0][1] is None and not math.isnan(_number(response))


def _is_pair(value: Any) -> bool:
    """Whether a list is a log-likelihood and whether it was the greedy one, in texts or as they are."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and str(value[1]) in ("True", "False")
        and not math.isnan(_number(value[0]))
    )


def _likelihood(request: Any) -> float:
    """The log-likelihood that a request got, NaN where there is none."""
    while isinstance(request, list) and request and not _is_pair(request):
        request = request[0]
    return _number(request[0] if isinstance(request, list) and request else request)


def _is_greedy(request: Any) -> bool:
    while isinstance(request, list) and request and not _is_pair(request):
        request = request[0]
    return isinstance(request, list) and len(request) == 2 and str(request[1]) == "True"


def _number(value: Any) -> float:
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _arguments(line: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """The first two arguments of each request, in either form that lm-eval has written them in."""
    requests = line.get("arguments")
    if isinstance(requests, Mapping):
        requests = [list(of.values()) if isinstance(of, Mapping) else of for of in requests.values()]
    found = []
    for request in requests if isinstance(requests, list) else []:
        parts = request if isinstance(request, list) else [request]
        found.append((parts[0] if parts else None, parts[1] if len(parts) > 1 else None))
    return found


def prompt_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """The prompt as the model saw it, and its messages where it was a conversation."""
    arguments = _arguments(line)
    prompt = arguments[0][0] if arguments else None
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.startswith('[{"'):
        try:
            turns = json.loads(prompt)
        except ValueError:
            turns = None
        prompt = turns if is_messages(turns) and all("role" in turn for turn in turns) else prompt
    if is_messages(prompt):
        return {"prompt": last_user_text(prompt), "messages": [dict(turn) for turn in prompt]}
    return {"prompt": prompt if isinstance(prompt, str) else ""}


def gold_of(line: Mapping[str, Any], answers: Answers) -> Any:
    """The gold: ``target``, of a choice its text, else what the document calls so; ``None`` where there is none."""
    target = line.get("target")
    if len(answers.of_choices) > 1:
        place = _place(target)
        if place is not None and place < len(answers.of_choices):
            return answers.of_choices[place]
    doc = line.get("doc")
    if target not in (None, "", []):
        return _listed(target, doc) if isinstance(target, str) else target if isinstance(target, list) else str(target)
    found = [doc[name] for name in GOLD_NAMES if doc.get(name) not in (None, "")] if isinstance(doc, Mapping) else []
    return found[0] if found else None


def _listed(target: str, doc: Any) -> str | list[str]:
    """A target, of several golds the list of them, which lm-eval writes as the text that Python prints.

    It is one where the document has such a list, or where it reads as texts and the document has no such text.
    """
    if not (target.startswith("[") and target.endswith("]")):
        return target
    values = list(doc.values()) if isinstance(doc, Mapping) else []
    for value in values:
        if isinstance(value, list) and value and str(value) == target:
            return [gold if isinstance(gold, str) else str(gold) for gold in value]
    try:
        golds = ast.literal_eval(target)
    except (MemoryError, RecursionError, SyntaxError, ValueError):
        return target
    texts = isinstance(golds, list) and golds and all(isinstance(gold, str) for gold in golds)
    return golds if texts and str(golds) == target and target not in values else target


def _place(target: Any) -> int | None:
    """The number of a choice in a target, ``None`` where it is something else."""
    if isinstance(target, bool) or not isinstance(target, (int, str)):
        return None
    text = str(target).strip()
    return int(text) if text.isdecimal() else None
