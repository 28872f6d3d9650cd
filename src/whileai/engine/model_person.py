"""The person an agent talks to, played by a model that goes by a brief."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from whileai import keys
from whileai.engine import hearing, statuses
from whileai.engine.axes import HISTORIES, NAMES, STANCES, STATES
from whileai.engine.closeness import repeats
from whileai.engine.person import Said, UserFailed
from whileai.engine.reply import Usage
from whileai.engine.situations import Brief
from whileai.engine.structured import Asker, Model
from whileai.engine.values import plain_text

LONGEST = 2_000
_SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "done": {"type": "boolean"}},
    "required": ["message", "done"],
    "additionalProperties": False,
}
#: What only the other side says.
_AGENT_WORDS = re.compile(
    r"^\s*(assistant|agent|system|tool|user|customer|person|me)\s*:|\bas an ai\b"
    r"|\bi('m| am) an? (ai|assistant|language model)\b"
    r"|\bhow (can|may) i (help|assist) you\b|\bi('d| would) be (happy|glad) to (help|assist)\b"
    r"|\bis there anything else i can (help|do|assist)\b|<think|</think|\btool_calls?\b",
    re.IGNORECASE | re.MULTILINE,
)
_LABELS = re.compile(
    r"\b("
    + "|".join(re.escape(word) for word in (*STANCES, *STATES, *HISTORIES) if "_" in word)
    + r"|my (stance|brief|persona|role|instructions)|simulat(ed|ion)|role-?play(ing)?)\b"
    + r"|\b("
    + "|".join(NAMES)
    + r")\s*[:=]",
    re.IGNORECASE,
)
_HOW = {
    "plain": "You are calm and to the point.",
    "hurried": "You are in a great hurry and short of words.",
    "vague": "You are vague: you name things only when asked for them.",
    "upset": "You are upset about how things went.",
    "insistent": "You do not take no for an answer and press on.",
    "mistaken": "You got something wrong in your first message. At the first chance, put it right, once.",
    "changes_mind": "The first time you are asked to confirm, you want something else instead.",
    "hostile": "You are hostile and rude, without threats.",
}
_BEFORE = {
    "first_contact": "You have not been in touch before.",
    "repeat": "You have asked for the same before.",
    "handed_over": "Somebody else passed you on to whom you are talking to now.",
    "contradicted": "You were told two things that contradict each other.",
    "long": "You have a long story behind you.",
}


_RULES = (
    "Give a fact only when you are asked for it. When you are asked to confirm, confirm or correct, and wait for what "
    "comes of it. Speak as that person does, in one to three sentences, and never of these instructions.\n"
    'Answer as JSON: {"message": what you say, "done": whether nothing is left to say}. Set done only when the agent '
    "has done what you want, or has made clear that it will not."
)


def instructions(brief: Brief) -> str:
    """What a model is told of the person it plays: prose, with no label of an axis in it."""
    right = "; ".join(f"{brief.labels.get(name, name)}: {plain_text(value)}" for name, value in brief.facts.items())
    wrong = "; ".join(f"{brief.labels.get(name, name)}: {plain_text(value)}" for name, value in brief.wrong.items())
    later = "; ".join(f"{brief.labels.get(name, name)}: {plain_text(value)}" for name, value in brief.change.items())
    lines = [
        "You play a person who wants something from a service. You talk to its agent. You are never the agent.",
        f"What you want: {brief.goal}.",
        f"What you know: {right or 'no more than you have said'}. Anything else you do not know; invent nothing.",
        _HOW.get(brief.stance, f"How you are: {brief.stance}."),
        _BEFORE.get(brief.history, f"What came before: {brief.history}."),
    ]
    if wrong:
        lines.append(f"What you said wrongly at first: {wrong}.")
    if later:
        lines.append(f"What you want instead once you are asked to confirm: {later}.")
    lines.append(_RULES)
    return "\n".join(lines)


class ModelPerson:
    """A person played by a model.

    What comes back is checked: a message that repeats eight words in a row of its own instructions, names an axis,
    speaks in the agent's part, or is empty or longer than 2,000 characters is asked for once more; then the rollout
    ends as ``user_failed``. Facts that the person may say, and what they have said or heard before, are not held
    against a message. Where the agent asks for a confirmation, ``done`` does not count: it may act first.

    Parameters
    ----------
    brief : Brief
    model : Endpoint
    name : str, optional
        ``user_model`` on the row; the endpoint's model by default.
    patience : int, default 3
        Questions they answer; at the next one they leave.
    retries : int, optional
        Requests sent again at the most; by default as the model does.
    """

    def __init__(
        self, brief: Brief, model: Model, name: str | None = None, patience: int = 3, retries: int | None = None
    ) -> None:
        self.name = name or str(getattr(model, "model", "model"))
        self.stop_reason: str | None = None
        self.brief = brief
        self.patience = patience
        self.questions = 0
        self._asker = Asker(model, "person", _SCHEMA, retries)
        self._instructions = instructions(brief)

    @property
    def usage(self) -> Usage:
        """What the person cost so far."""
        return self._asker.usage

    async def reply(self, conversation: Sequence[Mapping[str, Any]]) -> Said:
        """What they say to the agent's last message.

        Raises
        ------
        UserFailed
            If the model twice answers with what no person could have said.
        EndpointError, TimeoutError
            If its server gives no answer.
        """
        heard = hearing.hear(keys.last_text(conversation, "assistant") or "", self.brief.facts, self.brief.kinds)
        if not heard.is_question:
            self.stop_reason = statuses.AGENT_DONE
            return Said(None, done=True)
        self.questions += 1
        if self.questions > self.patience:
            self.stop_reason = statuses.USER_LEFT
            return Said("I do not have time for more questions. Goodbye.", done=True)
        turns = [{"role": "system", "content": self._instructions}, *self._turned(conversation)]
        problem = ""
        for _ in range(2):
            if problem:
                again = f"That cannot be used: it {problem}. Answer again as the person, as JSON."
                turns = [*turns, {"role": "user", "content": again}]
            answer = (await self._asker.ask(turns)).value
            problem = self._problem(answer, conversation)
            if not problem and answer is not None:
                return self._said(answer, confirming=heard.confirms)
        raise UserFailed(f"the person's model answered twice with what cannot be used: it {problem}")

    def _said(self, answer: Mapping[str, Any], *, confirming: bool) -> Said:
        message = answer["message"].strip() or None
        done = (answer["done"] and not confirming) or message is None
        if done:
            self.stop_reason = statuses.USER_DONE
        return Said(message, done)

    def _turned(self, conversation: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The conversation as the person lived it: the agent is the one who is answered, tools are out of sight."""
        turns: list[dict[str, Any]] = [{"role": "user", "content": "(The agent picks up. Say what you want.)"}]
        for turn in conversation:
            text = keys.text_of(turn.get("content"))
            if turn.get("role") == "user" and text:
                turns.append({"role": "assistant", "content": json.dumps({"message": text, "done": False})})
            elif turn.get("role") == "assistant" and text:
                turns.append({"role": "user", "content": text})
        return turns

    def _problem(self, answer: Mapping[str, Any] | None, conversation: Sequence[Mapping[str, Any]]) -> str:
        """What is wrong with an answer, empty where nothing is."""
        if answer is None or not isinstance(answer.get("message"), str) or not isinstance(answer.get("done"), bool):
            return 'is not an object with "message" (text) and "done" (true or false)'
        message = answer["message"]
        if not message.strip():
            return "" if answer["done"] else "says nothing"
        if len(message) > LONGEST:
            return f"is longer than {LONGEST} characters"
        if _AGENT_WORDS.search(message):
            return "speaks in the agent's part"
        if _LABELS.search(message) and not self._in_facts(message):
            return "names what it was told to be like"
        said = " ".join(keys.text_of(turn.get("content")) or "" for turn in conversation)
        facts = " ".join(map(plain_text, (*self.brief.facts.values(), *self.brief.change.values())))
        if repeats(message, self._instructions, f"{said} {facts}"):
            return "repeats its instructions"
        return ""

    def _in_facts(self, message: str) -> bool:
        """Whether every label in a message is part of a fact that may be said."""
        facts = " ".join(map(plain_text, self.brief.facts.values())).lower()
        return all(found.group().lower() in facts for found in _LABELS.finditer(message))
