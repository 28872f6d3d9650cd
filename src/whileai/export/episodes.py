"""A row as a trainer sees it: the turns of its prompt, the turns of its completion, and which of them to learn from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whileai import keys
from whileai.errors import ParamError, sentence
from whileai.simulations._chat import as_json_text, calls_of, chat_turns
from whileai.simulations._conversation import prompt_place
from whileai.simulations.schema import Message, Rollout, Task, conversation

Turn = dict[str, Any]
_ROLES = {"developer": "system", "function": "tool"}
ROLES = ("system", "user", "assistant", "tool")
#: Keys by which a message says whether to learn from it.
_WEIGHTS = ("weight", "loss_mask", "loss", "train")


@dataclass(frozen=True)
class Episode:
    """One row as turns.

    Attributes
    ----------
    row : dict
        The row it is made of, in canonical form, without what may not leave.
    task_id : str
    prompt, completion : list of dict
        Turns with ``role`` and a text under ``content``; where they use tools, ``tool_calls`` and ``tool_call_id``.
    mask : list of int
        Per turn of prompt and completion, 1 where it is to be learnt from.
    reward : float or None
    tools : list of dict
        Schemas of the tools in OpenAI's form; empty where unknown.
    linked : bool
        Whether every call has its results right behind it, and every result its call.
    problem : str
        Why it cannot be trained on, empty where it can.
    """

    row: Mapping[str, Any]
    task_id: str
    prompt: list[Turn]
    completion: list[Turn]
    mask: list[int]
    reward: float | None
    tools: list[dict[str, Any]] = field(default_factory=list)
    linked: bool = True
    problem: str = ""
    mask_unread: bool = False

    @property
    def turns(self) -> list[Turn]:
        """Prompt and completion."""
        return [*self.prompt, *self.completion]

    @property
    def size(self) -> int:
        """Characters that the policy wrote: its texts, and what it called tools with."""
        return sum(_size(turn) for turn in self.completion if turn["role"] == "assistant")


def _size(turn: Turn) -> int:
    return len(turn["content"]) + sum(len(call["function"]["arguments"]) for call in turn.get("tool_calls", ()))


def episode_of(
    row: Mapping[str, Any],
    task: Task,
    rollout: Rollout,
    reward: float | None,
    *,
    task_id: str,
    system_prompt: str | None = None,
    tools: Sequence[Any] | None = None,
) -> Episode:
    """The episode of a row, its typed objects given.

    Parameters
    ----------
    row : dict
        The row in canonical form, without what may not leave.
    reward : float or None
        The verdict.
    task_id : str
        The task's id as it may leave.
    system_prompt : str, optional
        What the policy was told; stands first, unless the row has a system turn of its own.
    tools : sequence, optional
        The tools it had; a row's own ``tools`` win.
    """
    messages = _messages_of(task, rollout)
    problem = _problem(row, rollout)
    turns = []
    for message in messages:
        turn = _plain_turn(message)
        if turn is None:
            problem = problem or ("unknown_role" if _role(message) not in ROLES else "not_text")
            break
        turns.append(turn)
    if not turns and not problem:
        problem = "no_prompt"
    opened = _place(turns, task.prompt, steps=bool(rollout.steps)) + 1
    mask, mask_unread = _mask(messages, row.get("loss_mask"))
    while len(turns) > opened and turns[-1]["role"] != "assistant":
        turns.pop()  # what follows the last word of the policy teaches nothing
    mask = mask[: len(turns)]
    said = row.get("system_prompt")
    told = said if isinstance(said, str) and said else system_prompt
    if told and not (turns and turns[0]["role"] == "system"):
        turns, mask, opened = [{"role": "system", "content": told}, *turns], [0, *mask], opened + 1
    linked = _link(turns)
    own = row.get("tools")
    known = tool_schemas(own or tools)
    completion = turns[opened:]
    if not problem and not any(_size(turn) for turn in completion if turn["role"] == "assistant"):
        problem = "no_reply"
    return Episode(row, task_id, turns[:opened], completion, mask, reward, known, linked, problem, mask_unread)


def plain_turns(messages: Sequence[Mapping[str, Any]]) -> list[Turn] | None:
    """Messages as turns of texts with their calls linked; ``None`` where one holds what is no text."""
    turns = [_plain_turn(message) for message in messages]
    found = [turn for turn in turns if turn is not None]
    if len(found) < len(turns):
        return None
    _link(found)
    return found


def _messages_of(task: Task, rollout: Rollout) -> list[dict[str, Any]]:
    """The messages of an episode as dicts, with the reply where they end before it."""
    typed: list[Message] = conversation(task, rollout)
    messages = [
        {
            **message.extra,
            "role": message.role,
            "content": message.content,
            **{
                key: value
                for key in ("tool_calls", "tool_call_id", "name")
                if (value := getattr(message, key)) is not None
            },
        }
        for message in typed
    ]
    if rollout.final_text and (not messages or _role(messages[-1]) in ("system", "user")) and not rollout.steps:
        messages.append({"role": "assistant", "content": rollout.final_text})
    return chat_turns(messages, Counter()) or messages


def _problem(row: Mapping[str, Any], rollout: Rollout) -> str:
    """Why the reply of a row cannot be trained on, empty where nothing on it says so."""
    if not rollout.usable:
        return "unusable"
    return "cut_off" if keys.is_cut_off(row) else ""


def _role(message: Mapping[str, Any]) -> str:
    role = str(message.get("role", ""))
    return _ROLES.get(role, role)


def _plain_turn(message: Mapping[str, Any]) -> Turn | None:
    """A message as role, text, calls and links; ``None`` where it holds what is no text, or nobody known speaks."""
    role = _role(message)
    if role not in ROLES:
        return None
    content = message.get("content")
    if isinstance(content, (list, tuple)) and not all(map(_is_text, content)):
        return None
    text = "" if content is None else keys.text_of(content)
    if text is None:
        text = as_json_text(content)
    turn: Turn = {"role": role, "content": text}
    name = message.get("name")
    if isinstance(name, str) and name:
        turn["name"] = name
    thought = message.get("reasoning_content")
    if role == "assistant":
        if isinstance(thought, str) and thought:
            turn["reasoning_content"] = thought
        calls = calls_of(dict(message))
        if calls:
            turn["tool_calls"] = [_call(call) for call in calls]
    elif role == "tool":
        turn["tool_call_id"] = str(message.get("tool_call_id") or "")
    return turn


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, Mapping) and isinstance(block.get("text"), str))


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": as_json_text(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}


def _place(turns: Sequence[Turn], prompt: str, *, steps: bool) -> int:
    """Where the last turn of the prompt stands, -1 where the policy speaks first."""
    place = prompt_place(turns, prompt, first=steps) if prompt else None
    if place is not None:
        return place
    users = [place for place, turn in enumerate(turns) if turn["role"] == "user"]
    if users:
        return users[0] if steps else users[-1]
    spoken = (place for place, turn in enumerate(turns) if turn["role"] == "assistant")
    return next(spoken, len(turns)) - 1


def _mask(messages: Sequence[Mapping[str, Any]], given: Any) -> tuple[list[int], bool]:
    """Per turn whether to learn from it, and whether the row's own mask could not be read.

    The row's ``loss_mask`` has one entry a message; a message's own ``weight`` comes next; else every turn of the
    assistant counts, those before the prompt's last turn included.
    """
    if (
        isinstance(given, (list, tuple))
        and len(given) == len(messages)
        and all(_bit(item) is not None for item in given)
    ):
        return [_bit(item) or 0 for item in given], False
    mask = []
    for message in messages:
        said = next((bit for key in _WEIGHTS if (bit := _bit(message.get(key))) is not None), None)
        mask.append(int(_role(message) == "assistant") if said is None else said)
    return mask, given is not None


def _bit(value: Any) -> int | None:
    """0 or 1 as an int, ``None`` for anything else."""
    return int(value) if isinstance(value, (bool, int, float)) and value in (0, 1) else None


def _link(turns: list[Turn]) -> bool:
    """Give every call an id of its own and every result the id of its call; whether that leaves none open.

    Ids that the log has are kept. A result without one answers the first open call of its name, else the first.
    """
    waiting: list[dict[str, Any]] = []
    taken: set[str] = set()
    whole, fresh = True, 0
    for turn in turns:
        if turn["role"] == "tool":
            call = _answers(turn, waiting)
            if call is None:
                whole = False
                turn["tool_call_id"] = turn["tool_call_id"] or "call_unknown"
                continue
            waiting.remove(call)
            turn["tool_call_id"] = call["id"]
            turn.setdefault("name", call["function"]["name"])
            continue
        whole = whole and not waiting
        waiting = list(turn.get("tool_calls", ()))
        for call in waiting:
            if not call["id"]:
                while f"call_{fresh}" in taken:
                    fresh += 1
                call["id"] = f"call_{fresh}"
            taken.add(call["id"])
    return whole and not waiting


def _answers(turn: Turn, waiting: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    call_id = turn["tool_call_id"]
    same = [call for call in waiting if call["id"] == call_id]
    if same or call_id:
        return same[0] if same else None
    named = [call for call in waiting if call["function"]["name"] == turn.get("name")]
    return next(iter([*named, *waiting]), None)


def tool_schemas(tools: Any) -> list[dict[str, Any]]:
    """Tools in OpenAI's form: ``{"type": "function", "function": {"name", "description", "parameters"}}``.

    Parameters
    ----------
    tools : sequence, str or None
        Tool objects of `wai.tool`, schemas in the form of chat completions, of responses or of content blocks
        (``input_schema``), or the JSON text of a list of those.

    Raises
    ------
    ParamError
        What has no name.
    """
    if tools is None or (isinstance(tools, str) and not tools.strip()):
        return []
    if isinstance(tools, str):
        try:
            tools = json.loads(tools)
        except ValueError:
            raise ParamError.of("write", "tools", "a list of tools, or its JSON", tools) from None
    if isinstance(tools, Mapping) or not hasattr(tools, "__iter__"):
        raise TypeError(sentence("write", "tools", "a list of tools", tools))
    return [_schema(tool) for tool in tools]


def _schema(tool: Any) -> dict[str, Any]:
    if callable(getattr(tool, "openai", None)):
        tool = tool.openai()
    found = tool.get("function", tool) if isinstance(tool, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(found.get("name"), str):
        raise ParamError.of("write", "tools", "tools with a name: of wai.tool, or OpenAI schemas", tool)
    function = {key: value for key, value in found.items() if key not in ("type", "input_schema")}
    if "input_schema" in found:
        function.setdefault("parameters", found["input_schema"])
    return {"type": "function", "function": function}
