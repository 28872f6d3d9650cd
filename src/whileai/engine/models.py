"""The models of a run: who plays, writes, talks and judges."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from whileai.engine.options import CALL, Options
from whileai.engine.person import Person, ScriptedPerson
from whileai.engine.plan import Plan
from whileai.engine.situations import Situation
from whileai.engine.store import Store
from whileai.errors import ParamError
from whileai.result.blocks import Note


class Models:
    """The models of a run: who plays, writes, talks and judges; each held to ``rpm=`` where that is given.

    Parameters
    ----------
    agent, simulator : object
        As given.
    options : Options
    """

    def __init__(self, agent: Any, simulator: Any, options: Options) -> None:
        self.options = options
        self._limited: dict[int, Any] = {}
        self._kept: list[Any] = []
        if agent is None:
            from whileai.engine.endpoint import OpenAI

            agent = OpenAI()
        if simulator is not None and simulator is not False and not is_model(simulator):
            fix = f"Write wai.Endpoint({simulator!r})." if isinstance(simulator, str) else ""
            raise ParamError.of(CALL, "simulator", "an Endpoint, or None for the templates", simulator, fix)
        if options.users.model is not None and not is_model(options.users.model):
            raise ParamError.of(CALL, "users.model", "an Endpoint, or None for a scripted person", options.users.model)
        self.agent = self._held(agent)
        self.writer = self._held(simulator) if is_model(simulator) else None
        self.person = self._held(options.users.model)
        self.judge = self._held_judge(options.judge)
        self.notes = self._same()

    def _held(self, model: Any) -> Any:
        """A model under the run's rate; all that share one object go on sharing it."""
        rpm = self.options.run.rpm
        if rpm is None or not is_model(model) or not hasattr(model, "rpm"):
            return model
        held = self._limited.get(id(model))
        if held is None:
            held = copy.copy(model)
            held.__setstate__({**model.__getstate__(), "rpm": min(rpm, model.rpm or rpm)})
            self._limited[id(model)] = held
            self._kept.append(model)  # so that its id stays its own
        return held

    def _held_judge(self, judge: Any) -> Any:
        from whileai.engine.judge import Judge as ModelJudge

        if self.options.run.rpm is None or not isinstance(judge, ModelJudge):
            return judge
        held = copy.copy(judge)
        held.endpoint = self._held(judge.endpoint)
        return held

    def _same(self) -> list[Note]:
        """A note where the agent's own model also writes, talks or judges."""
        own = _place_of(self.agent)
        roles = {"writer": self.writer, "person": self.person, "judge": getattr(self.judge, "endpoint", None)}
        same = [role for role, model in roles.items() if own is not None and _place_of(model) == own]
        if not same:
            return []
        text = f"the agent's own model is also the {' and the '.join(same)}: it may favour what it would say itself."
        return [Note("same_model", text, "Use another model, or measure the judge with wai.judge_trust.")]

    def writer_for(self, plan: Plan, store: Store | None) -> Any:
        """The model writer over a plan; ``None`` where templates write."""
        if self.writer is None:
            return None
        from whileai.engine.writer import Writer

        retries = self.options.run.retries
        if store is None:
            return Writer(plan, self.writer, retries=retries)
        return Writer(plan, self.writer, accepted=store.accepted, on_accepted=store.accept, retries=retries)

    def person_of(self, situation: Situation) -> Person:
        """Who the agent talks to, anew for every rollout."""
        patience = self.options.users.patience
        if self.person is None:
            return ScriptedPerson(situation.brief, patience)
        from whileai.engine.model_person import ModelPerson

        return ModelPerson(situation.brief, self.person, patience=patience, retries=self.options.run.retries)


def is_model(value: Any) -> bool:
    """Whether a value is a model that can be asked."""
    return inspect.iscoroutinefunction(getattr(value, "chat", None))


def _place_of(model: Any) -> tuple[str, str] | None:
    """Which model at which server."""
    return (str(model.model), str(getattr(model, "base_url", ""))) if is_model(model) else None
