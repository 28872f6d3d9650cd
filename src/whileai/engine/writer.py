"""The model writer: prompts for the points of a plan, written by a model and checked one by one."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from whileai.engine.axes import HISTORIES, NO_TOOL, STANCES, STATES
from whileai.engine.closeness import Known, repeats
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.plan import Plan
from whileai.engine.records import ids_in
from whileai.engine.reply import Usage
from whileai.engine.situations import Situation
from whileai.engine.structured import Asker, Model
from whileai.engine.values import plain_text
from whileai.result.blocks import Note
from whileai.result.digits import count

BATCH = 8
SHORTEST, LONGEST = 10, 1_200
_SCHEMA = {
    "type": "object",
    "properties": {
        "prompts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"i": {"type": "integer"}, "prompt": {"type": "string"}},
                "required": ["i", "prompt"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["prompts"],
    "additionalProperties": False,
}
_STANCES = {
    "plain": "calm and to the point", "hurried": "in a great hurry", "vague": "vague, naming no number or name",
    "upset": "upset about how things went", "insistent": "will not take no for an answer",
    "mistaken": "sure of something that is wrong", "changes_mind": "not quite decided yet",
    "hostile": "rude and hostile, without threats",
}  # fmt: skip
_STATES = {
    "present": "nothing is out of the ordinary",
    "missing": "the person is sure that the thing is there",
    "already_done": "the person does not know that it has been done before",
    "partial": "the person has only some of the papers at hand",
    "conflicting": "the person believes something of it that is not on file",
    "stale": "what the person knows of it is some weeks old",
}
_HISTORIES = {
    "first_contact": "first message ever", "repeat": "has asked for the same before",
    "handed_over": "was passed on by somebody else", "contradicted": "was told two opposite things",
    "long": "tells the long story behind it, in eight sentences or so",
}  # fmt: skip
_LABELS = re.compile(
    r"\b(" + "|".join(word for word in (*STANCES, *STATES, *HISTORIES) if "_" in word) + r")\b", re.IGNORECASE
)


class Writer:
    """Asks a model for the prompts of a plan, eight at a time, and falls back on the templates.

    A prompt is taken only if it has the place it was asked for, is 10 to 1,200 characters long, holds the ids that the
    situation needs and no others, holds no text that only a judge may see and no label of an axis, and is no near copy
    of one taken before or of a trace. What is not taken is asked for once more; then the template's prompt stands.
    Openings that the caller gave are never touched.

    Parameters
    ----------
    plan : Plan
    model : Endpoint
    name : str, optional
        ``writer_model`` on the row; the endpoint's model by default.
    accepted : mapping of int to dict, optional
        Entries as `on_accepted` got them, by place, as a resumed run reads them: those are not asked for again.
    on_accepted : callable, optional
        Called with ``{"situation", "task_id", "prompt", "writer"}`` for each place that is settled, before it is used.
    retries : int, optional
        Requests sent again at the most; by default as the model does.

    Attributes
    ----------
    n_fallen_back : int
        Situations for which the template stands, of those asked for in this run.
    problems : Counter
        Why prompts were not taken, with counts.
    """

    def __init__(
        self,
        plan: Plan,
        model: Model,
        name: str | None = None,
        *,
        accepted: Mapping[int, Mapping[str, Any]] | None = None,
        on_accepted: Callable[[dict[str, Any]], None] | None = None,
        retries: int | None = None,
    ) -> None:
        self.plan = plan
        self.name = name or str(getattr(model, "model", "model"))
        self._asker = Asker(model, "prompts", _SCHEMA, retries)
        self._accepted = {int(place): dict(entry) for place, entry in (accepted or {}).items()}
        self._on_accepted = on_accepted
        self._known = Known()
        self._batches: dict[int, list[Situation]] = {}
        self._turn = asyncio.Lock()
        self.n_fallen_back = 0
        self.problems: Counter[str] = Counter()

    @property
    def usage(self) -> Usage:
        """What the writer cost so far."""
        return self._asker.usage

    @property
    def notes(self) -> tuple[Note, ...]:
        """How many prompts the templates wrote after all, and why."""
        if not self.n_fallen_back:
            return ()
        why = ", ".join(f"{reason} ({n})" for reason, n in self.problems.most_common(4))
        text = f"The templates wrote {count(self.n_fallen_back, 'prompt')} that the writer's model could not: {why}."
        return (Note("template_prompts", text, "They have writer_model='template'."),)

    async def situation(self, index: int) -> Situation:
        """The situation at a place, its prompt written by the model or, failing that, by the templates.

        Batches are written in order, as each is checked against those before it.

        Raises
        ------
        EndpointError
            If no further request could succeed: no access, no money, no such model.
        """
        last = index // BATCH
        async with self._turn:
            for number in range(len(self._batches), last + 1):
                self._batches[number] = await self._batch(number)
        return self._batches[last][index % BATCH]

    async def take(self, n: int) -> list[Situation]:
        """The first `n` situations."""
        return [await self.situation(index) for index in range(n)]

    async def _batch(self, number: int) -> list[Situation]:
        planned = [self.plan.situation(index) for index in range(number * BATCH, (number + 1) * BATCH)]
        settled: dict[int, Situation] = {}
        for situation in planned:
            entry = self._accepted.get(situation.index)
            if situation.writer in ("seed", "replay") or situation.seed_row is not None:
                settled[situation.index] = situation
            elif entry is not None:
                self._known.add(entry["prompt"])
                settled[situation.index] = self.plan.rewritten(situation, entry["prompt"], entry["writer"])
        open_now = {situation.index: situation for situation in planned if situation.index not in settled}
        told: dict[int, str] = {}
        for _ in range(2):
            if open_now:
                told = await self._ask(open_now, told, settled)
        for index, situation in open_now.items():
            self.n_fallen_back += 1
            settled[index] = situation
            self._settle(situation)
        return [settled[situation.index] for situation in planned]

    async def _ask(
        self, open_now: dict[int, Situation], told: Mapping[int, str], settled: dict[int, Situation]
    ) -> dict[int, str]:
        """Ask for the prompts still open; take out what is taken, and say of the rest what was wrong."""
        messages = [
            {"role": "system", "content": _INSTRUCTIONS},
            {"role": "user", "content": json.dumps(self._asked(open_now, told), ensure_ascii=False)},
        ]
        try:
            answer = (await self._asker.ask(messages)).value
        except EndpointError as error:
            if error.fatal:
                raise
            return self._all_wrong(open_now, f"no answer: {error.reason}")
        except TimeoutError:
            return self._all_wrong(open_now, "no answer in time")
        items = answer.get("prompts") if answer is not None else None
        if not isinstance(items, list):
            return self._all_wrong(open_now, "the answer has no list of prompts")
        wrong = dict.fromkeys(open_now, "no prompt came for it")
        for item in items:
            index = item.get("i") if isinstance(item, Mapping) else None
            if isinstance(index, bool) or not isinstance(index, int) or index not in open_now:
                continue  # a place that was not asked for, or one that is settled
            problem = self.problem(open_now[index], item.get("prompt"))
            if problem:
                wrong[index] = problem
                continue
            prompt = item["prompt"].strip()
            self._known.add(prompt)
            settled[index] = self.plan.rewritten(open_now.pop(index), prompt, self.name)
            self._settle(settled[index])
        wrong = {index: reason for index, reason in wrong.items() if index in open_now}
        self.problems.update(wrong.values())
        return wrong

    def _all_wrong(self, open_now: Mapping[int, Situation], reason: str) -> dict[int, str]:
        self.problems.update(dict.fromkeys([reason], len(open_now)))
        return dict.fromkeys(open_now, reason)

    def _settle(self, situation: Situation) -> None:
        if self._on_accepted is not None:
            entry = {"situation": situation.index, "task_id": situation.task_id, "prompt": situation.public.prompt}
            self._on_accepted({**entry, "writer": situation.writer})

    def _asked(self, open_now: Mapping[int, Situation], told: Mapping[int, str]) -> dict[str, Any]:
        """What the model is told of a batch: what is public, and what the persons know and are like, as prose."""
        tools = [{"name": tool.name, "description": tool.description} for tool in self.plan.catalog.tools]
        return {
            "tools": tools,
            "people": [
                {**_point(situation), **({"last_time": f"not usable: {told[index]}"} if index in told else {})}
                for index, situation in open_now.items()
            ],
        }

    def problem(self, situation: Situation, prompt: Any) -> str:
        """Why a prompt cannot be taken, empty where it can."""
        if not isinstance(prompt, str):
            return "it is no text"
        text = prompt.strip()
        if not SHORTEST <= len(text) <= LONGEST:
            return f"it is not {SHORTEST} to {LONGEST:,} characters long"
        held = {own.casefold() for own in ids_in(text)}
        needed = required_ids(situation)
        if any(own.casefold() not in text.casefold() for own in needed):
            return "it lacks an id that it must hold"
        if not held <= {own.casefold() for own in ids_in(" ".join((*needed, _may_say(situation))))}:
            return "it holds an id of its own making"
        if _LABELS.search(text):
            return "it names a label"
        if repeats(text, situation.reference, _may_say(situation), size=6) or _gives_away(situation, self.plan, text):
            return "it says what only a judge may know"
        if self._known.is_close(text) or self.plan.is_close_to_trace(text):
            return "it is a near copy of another one"
        return ""


_INSTRUCTIONS = (
    "You write the first message that a person sends to a service's agent. For each of the people below write one "
    "message, in that person's own words: what they want, how they are, what came before. Use the ids listed under "
    "must_contain exactly as they stand, and no other ids. Facts under may_mention may be left out. Invent no other "
    "names or numbers. Write as different people do: length, tone, order, spelling. Never speak of these instructions, "
    'never use a label from them. Answer as JSON: {"prompts": [{"i": number, "prompt": text}, ...]}, one for each.'
)


def required_ids(situation: Situation) -> list[str]:
    """The ids that a prompt must hold: those that the template's holds."""
    brief = situation.brief
    held = {**brief.facts, **brief.wrong}
    return [plain_text(held[name]) for name in brief.told if name in brief.kinds]


def _may_say(situation: Situation) -> str:
    """What a prompt may hold of facts and rules."""
    brief = situation.brief
    facts = map(plain_text, (*brief.facts.values(), *brief.wrong.values()))
    return " ".join((*facts, brief.goal, situation.rule or "", situation.public.prompt))


def _gives_away(situation: Situation, plan: Plan, text: str) -> bool:
    """Whether a prompt holds the true value of what the person has wrong."""
    records = situation.records(plan.catalog)
    claim = records.claim
    if claim is None:
        return False
    kind = records.claim_kind
    true = plain_text(records.record(kind, records.target_place(kind)).get(claim[0]))
    said = plain_text(claim[1])
    return len(true) > 5 and true.casefold() in text.casefold() and true.casefold() not in said.casefold()


def _point(situation: Situation) -> dict[str, Any]:
    """One person, as a model is told of them."""
    axes, brief = situation.axes, situation.brief
    held = {**brief.facts, **brief.wrong}
    needed = required_ids(situation)
    facts = {brief.labels.get(name, name): plain_text(value) for name, value in held.items() if name not in brief.kinds}
    point: dict[str, Any] = {
        "i": situation.index,
        "wants": brief.goal if axes["tool"] != NO_TOOL else f"{brief.goal} (which none of the tools does)",
        "must_contain": needed,
        "may_mention": {} if axes["stance"] == "vague" else facts,
        "is": _STANCES.get(axes["stance"], axes["stance"]),
        "the_case": _STATES.get(axes["state"], axes["state"]),
        "before": _HISTORIES.get(axes["history"], axes["history"]),
    }
    if situation.rule is not None:
        point["tests_the_rule"] = situation.rule
    return point
