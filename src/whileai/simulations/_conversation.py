"""The messages of an episode: read off its steps, where a row keeps none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whileai import keys
from whileai.simulations._chat import as_json_text
from whileai.simulations._parts import Message, Step
from whileai.simulations._types import Rollout, Task
from whileai.simulations._wire import all_dicts, copied, read_part, write_part


def conversation(task: Task, rollout: Rollout) -> list[Message]:
    """The messages of an episode, typed.

    Parameters
    ----------
    task : Task
        The situation.
    rollout : Rollout
        The episode.

    Returns
    -------
    list of Message
        The messages the row brought, if they say more than prompt and steps do (``rollout.extra["messages"]``); else
        the task's prefix, its prompt, the steps and the final text as turns. A tool step becomes an assistant turn with
        one call and a tool turn with its result.
    """
    kept = rollout.extra.get("messages")
    turns = kept if kept and all_dicts(kept) else turns_of(task, rollout)
    return [read_part(Message, copied(turn)) for turn in turns]


def turns_of(task: Task, rollout: Rollout) -> list[dict[str, Any]]:
    """The turns of an episode as message dicts, empty where there is no prompt."""
    if not task.prompt and not task.prefix:
        return []
    prefix = [write_part(message) for message in task.prefix]
    return prefix + episode_turns(task.prompt, rollout.steps, rollout.final_text)


def episode_turns(prompt: str, steps: Sequence[Step], final_text: str) -> list[dict[str, Any]]:
    """The turns from the prompt on: what each step said, and the final text where the last turn does not say it."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for place, step in enumerate(steps):
        turns += _step_turns(step if isinstance(step, Step) else read_part(Step, step), place)
    if len(turns) > 1 and turns[1] == turns[0]:
        del turns[1]  # the first step is the prompt itself
    if final_text and turns[-1] != {"role": "assistant", "content": final_text}:
        turns.append({"role": "assistant", "content": final_text})
    return turns


def _step_turns(step: Step, place: int) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    if step.user is not None:
        turns.append({"role": "user", "content": step.user})
    if step.tool is not None:
        call = step.id or f"call_{place}"
        function = {"name": step.tool, "arguments": as_json_text({} if step.arguments is None else step.arguments)}
        calls = [{"id": call, "type": "function", "function": function}]
        turns.append({"role": "assistant", "content": step.text or "", "tool_calls": calls})
        result = "" if step.result is None else as_json_text(step.result)
        turns.append({"role": "tool", "tool_call_id": call, "name": step.tool, "content": result})
    elif step.text is not None:
        turns.append({"role": "assistant", "content": step.text})
    return turns


def prompt_place(messages: Sequence[dict[str, Any]], prompt: str, *, first: bool) -> int | None:
    """Where the user turn with the prompt's text stands, the first or the last such; ``None`` where there is none."""
    places = range(len(messages)) if first else range(len(messages) - 1, -1, -1)
    for place in places:
        turn = messages[place]
        if turn.get("role") == "user" and keys.text_of(turn.get("content")) == prompt:
            return place
    return None


def read_messages(
    messages: Any, prompt: str, steps: Sequence[Step], final_text: str
) -> tuple[tuple[Message, ...], Any]:
    """The turns before the prompt, and the messages where prompt and steps do not say the same, else ``None``.

    In an episode of several steps the person may say the prompt again, so the first turn that says it opens it; without
    steps the last one does.
    """
    if not prompt or not all_dicts(messages):
        return (), messages
    place = prompt_place(messages, prompt, first=bool(steps))
    if place is None:
        return (), messages
    prefix = tuple([read_part(Message, copied(turn)) for turn in messages[:place]])
    return prefix, None if messages[place:] == episode_turns(prompt, steps, final_text) else messages
