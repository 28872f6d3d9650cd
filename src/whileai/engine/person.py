"""The person an agent talks to, scripted: answers what is asked, confirms, corrects, changes their mind, leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from whileai import keys
from whileai.engine import hearing, statuses
from whileai.engine.reply import Usage
from whileai.engine.situations import Brief
from whileai.engine.values import Draw, plain_text, quoted
from whileai.errors import WaiError


class Said(NamedTuple):
    """What a person says next, and whether that was the last; `message` is ``None`` where they say nothing more."""

    message: str | None
    done: bool


class UserFailed(WaiError, RuntimeError):
    """The person could not be played: the rollout says nothing about the agent."""


class Person(Protocol):
    """Whoever an agent talks to in one rollout.

    Attributes
    ----------
    name : str
        ``user_model`` on the row.
    usage : Usage
        What they cost so far.
    stop_reason : str or None
        Why they ended the conversation, once they did.
    """

    name: str
    stop_reason: str | None

    @property
    def usage(self) -> Usage:
        """What they cost so far."""

    async def reply(self, conversation: Sequence[Mapping[str, Any]]) -> Said:
        """What they say to the agent's last message."""


class ScriptedPerson:
    """A person who goes by a brief.

    A fact is given only when its field is asked for. A reply that asks nothing ends the conversation. The person never
    ends it in the turn in which they confirm, so that the agent can act on the confirmation.

    Parameters
    ----------
    brief : Brief
    patience : int, default 3
        Questions they answer; at the next one they leave.

    Attributes
    ----------
    name : str
        ``scripted``.
    stop_reason : str or None
        ``agent_done`` (a reply that asked nothing), ``user_done`` (asked whether there is anything else, there was
        not), ``user_left``; ``None`` while they talk.
    """

    def __init__(self, brief: Brief, patience: int = 3) -> None:
        self.name = "scripted"
        self.usage = Usage()
        self.stop_reason: str | None = None
        self.brief = brief
        self.patience = patience
        self.questions = 0
        self._facts = dict(brief.facts)
        self._to_correct = dict(brief.wrong)
        self._may_change = brief.stance == "changes_mind"
        self._draw = Draw(brief.voice, "person")

    async def reply(self, conversation: Sequence[Mapping[str, Any]]) -> Said:
        """What they say to the agent's last message."""
        return self.answer(keys.last_text(conversation, "assistant") or "")

    def answer(self, text: str) -> Said:
        """What they say to `text`.

        Examples
        --------
        >>> brief = Brief("cancel an order", facts={"order_id": "ORD-4550"}, kinds={"order_id": "order"})
        >>> person = ScriptedPerson(brief)
        >>> person.answer("What is the order number?").message
        'The order ID is ORD-4550.'
        >>> person.answer("It is cancelled."), person.stop_reason
        (Said(message=None, done=True), 'agent_done')
        """
        heard = hearing.hear(text, self._facts, self.brief.kinds)
        if not heard.is_question:
            return self._end(None, statuses.AGENT_DONE)
        if heard.closes and not heard.fields and not heard.confirms and not self._to_correct:
            return self._end(self._pick(_THANKS), statuses.USER_DONE)
        self.questions += 1
        if self.questions > self.patience:
            return self._end(self._pick(_LEAVES), statuses.USER_LEFT)
        return Said(self._answer(heard), done=False)

    def _end(self, message: str | None, reason: str) -> Said:
        self.stop_reason = reason
        return Said(message, done=True)

    def _pick(self, texts: Sequence[str]) -> str:
        return self._draw.pick(texts)

    def _answer(self, heard: hearing.Heard) -> str:
        if self._to_correct:
            return self._correct(heard.fields)
        if heard.fields:
            return self._given(heard.fields)
        if heard.confirms:
            return self._change() if self._may_change else self._pick(_YES.get(self.brief.stance, _YES["plain"]))
        if heard.wants_more:
            return f"{self._pick(_RESTATES)} {self.brief.goal}."
        return self._pick(_UNKNOWN.get(self.brief.stance, _UNKNOWN["plain"]))

    def _given(self, fields: Sequence[str]) -> str:
        """The facts asked for."""
        return " ".join(self._is(name) for name in fields)

    def _is(self, name: str) -> str:
        """One fact as a sentence."""
        value = quoted(plain_text(self._facts[name]))
        end = "" if value.startswith('"') else "."
        verb = "are" if isinstance(self._facts[name], list) else "is"
        return f"The {self._label(name)} {verb} {value}{end}"

    def _correct(self, fields: Sequence[str]) -> str:
        """What they got wrong at first, put right once, and the other facts that were asked for."""
        wrong, self._to_correct = list(self._to_correct), {}
        rest = [name for name in fields if name not in wrong]
        return f"{self._pick(_SORRY)} {self._given([*wrong, *rest])}"

    def _change(self) -> str:
        """Another request than before, once."""
        self._may_change = False
        if not self.brief.change:
            return self._pick(_GIVES_UP)
        self._facts.update(self.brief.change)
        wishes = [f"the {self._label(n)} {quoted(plain_text(value))}" for n, value in self.brief.change.items()]
        return f"{self._pick(_ACTUALLY)} {' and '.join(wishes)} instead."

    def _label(self, name: str) -> str:
        return self.brief.labels.get(name) or hearing.label(name)


_THANKS = ("No, that is all. Thank you.", "Nothing else, thanks.", "No, that was it.", "That is everything, thank you.")
_LEAVES = (
    "This takes too long, I will try another way. Goodbye.",
    "I have answered enough questions. Bye.",
    "Never mind, I am leaving it here.",
    "I do not have time for more questions. Goodbye.",
)
_RESTATES = ("What I want is to", "As I said, I want to", "It is simple: I want to", "I am trying to")
_SORRY = (
    "Sorry, I got something wrong before.",
    "Wait, what I told you was not right.",
    "I have to correct myself.",
    "My mistake, I mixed something up.",
)
_ACTUALLY = (
    "Hold on, I have changed my mind. Please take",
    "Actually, no. Let us take",
    "On second thought, please use",
    "Wait, not like that. I want",
)
_GIVES_UP = (
    "Actually, I have changed my mind. Please leave everything as it is.",
    "On second thought, do not do it.",
    "Hold on, I would rather not. Please do nothing for now.",
    "Wait, I have thought about it again: leave it.",
)
_YES: dict[str, Sequence[str]] = {
    "plain": ("Yes, please go ahead.", "Yes, that is right.", "Yes, do that please.", "Correct, please do."),
    "hurried": ("Yes, quickly please.", "Yes. Go.", "Yes, just do it.", "Yes, and fast please."),
    "upset": ("Yes, obviously.", "Yes. How often do I have to say it?", "Yes, that is what I asked for."),
    "insistent": ("Yes, and I insist on it.", "Yes. I will not take no for an answer.", "Yes, exactly that."),
    "hostile": ("Yes, do your job.", "Yes. What else would I want?", "Obviously yes."),
}
_UNKNOWN: dict[str, Sequence[str]] = {
    "plain": ("I do not know that.", "I cannot tell you that.", "I do not have that.", "That I do not know."),
    "hurried": ("No idea, I have to go on.", "I do not have that here.", "No time to look that up."),
    "upset": ("I do not know, and I should not have to.", "How would I know that?", "I do not have that."),
    "insistent": ("I do not know that. Just do it.", "It must work without that.", "I cannot tell you. Please do it."),
    "hostile": ("That is your job, not mine.", "I am not telling you more.", "No idea. Figure it out."),
}
