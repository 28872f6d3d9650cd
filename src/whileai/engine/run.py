"""A run: workers take rollouts off the allocation, rows land, are judged, written and counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from whileai import keys
from whileai.engine import statuses
from whileai.engine.agents import MAX_STUCK, Agent
from whileai.engine.allocate import ADAPTIVE, Allocation, Slot, is_mixed
from whileai.engine.endpoint_error import EndpointError
from whileai.engine.judging import Judging
from whileai.engine.options import CALL, Options
from whileai.engine.person import Person
from whileai.engine.plan import Plan
from whileai.engine.played import NOTES, Played
from whileai.engine.reply import Usage
from whileai.engine.rollout import replayed
from whileai.engine.rowform import prompt_sha, row_of
from whileai.engine.situations import Situation
from whileai.engine.store import Key, Store
from whileai.engine.tally import Tally
from whileai.engine.world import Worlds
from whileai.engine.writer import Writer
from whileai.errors import ParamError
from whileai.keys import VERDICT_KEYS
from whileai.result.blocks import Note
from whileai.result.digits import count
from whileai.verify.adapt import Judge

Stopped = Literal["done", "budget", "interrupted", "agent_failed"]
#: Unusable rollouts, none usable among them, after which a run stops.
BREAKER = 16
#: Rollouts of an earlier run passed over before the loop gets a turn.
_BREATH = 256
#: What a resumed run plays again: what a service spoilt. A context that is too long is the conversation's doing, and to
#: play it again would be to draw again for its content.
AGAIN = frozenset(statuses.INFRASTRUCTURE) - {"context_length"}
#: Situations that coverage speaks of at most where a run did not reach them.
FAR = 10_000
#: Verdicts that say nothing of a rollout: a resumed run asks for them again.
ASK_AGAIN = (None, "error", "timeout")


class Run:
    """One run of the engine on a loop.

    Parameters
    ----------
    plan, agent, options
    allocation : Allocation
    person_of : callable
        Who the agent talks to in a situation, made anew for each rollout.
    writer : Writer, optional
        Who writes the prompts, by default the plan's templates.
    judge : Judge, optional
        Judges rows as they land.
    store : Store, optional
        Where rows are written as they land; its rows are not run again.

    Attributes
    ----------
    rows : dict of (task, rollout index) to row
    situations : dict of int to Situation
        Those that were met, by their places.
    stopped_because : str or None
    error : BaseException or None
        What the caller must see raised.
    tally : Tally
    """

    def __init__(
        self,
        plan: Plan,
        agent: Agent,
        options: Options,
        allocation: Allocation,
        *,
        person_of: Callable[[Situation], Person],
        writer: Writer | None = None,
        judge: Judge | None = None,
        store: Store | None = None,
    ) -> None:
        self.plan, self.agent, self.options, self.allocation = plan, agent, options, allocation
        self.person_of = person_of
        self.writer = writer
        self.judge = judge
        self.store = store
        self.worlds = Worlds(plan.catalog, options.world)
        self.rows: dict[Key, dict[str, Any]] = {}
        self.situations: dict[int, Situation] = {}
        self.stopped_because: Stopped | None = None
        self.error: BaseException | None = None
        self.tally = Tally(planned=allocation.n_planned)
        self.notes: list[Note] = []
        self.seen: Counter[str] = Counter()
        self.n_resumed = 0
        self._before: dict[Key, dict[str, Any]] = {} if store is None else store.rows
        self._system_prompt_sha = prompt_sha(agent.system_prompt)
        self._judging: Judging | None = None
        self._workers: list[asyncio.Task[None]] = []
        self._n_usable = self._n_unusable = 0

    async def go(self) -> None:
        """Run all of it; ends early where `stop` was called."""
        if self.judge is not None:
            self._judging = Judging(self.judge, self._finish, self._fail)
        try:
            await self._all(self.allocation.first())
            if self.allocation.policy == ADAPTIVE and self.stopped_because is None:
                await self._all(self.allocation.later(self._is_mixed))
        finally:
            if self._judging is not None:
                for row in self._judging.leftover():
                    self._keep_unjudged(row)
        if self.stopped_because is None:
            everything = self.allocation.n_situations * self.allocation.repeats
            cut = self.options.budget is not None and self.allocation.n_planned < everything
            asked = self.options.situations is not None and self.allocation.n_situations < self.options.situations
            self.stopped_because = "budget" if cut or asked else "done"

    def stop(self, why: Stopped, error: BaseException | None = None) -> None:
        """Start no more rollouts and end those that run; on the loop's own thread."""
        if self.stopped_because is not None:
            return
        self.stopped_because, self.error = why, error
        for worker in self._workers:
            worker.cancel()

    def _fail(self, error: BaseException) -> None:
        self.stop("agent_failed", error)

    # the rollouts

    async def _all(self, slots: Iterator[Slot]) -> None:
        """Rollouts at so many at a time as was asked for, and the verdicts on them."""
        self._workers = [asyncio.ensure_future(self._work(slots)) for _ in range(self.options.run.concurrency)]
        for ended in await asyncio.gather(*self._workers, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, asyncio.CancelledError):
                self._fail(ended)
        if self._judging is not None and self.stopped_because is None:
            waiting = asyncio.ensure_future(self._judging.idle())
            self._workers = [waiting]  # cancelled like a worker
            await asyncio.gather(waiting, return_exceptions=True)

    async def _work(self, slots: Iterator[Slot]) -> None:
        passed = 0
        for slot in slots:
            if self.stopped_because is not None:  # a worker that is cancelled while it does not wait goes on to here
                return
            situation = await self._situation(slot.situation)
            if situation is None:
                return
            if await self._is_settled(situation, slot):
                passed += 1
                if passed % _BREATH == 0:
                    await asyncio.sleep(0)
                continue
            await self._play(situation, slot)

    async def _situation(self, place: int) -> Situation | None:
        """A situation of the plan; ``None`` where its prompt can no longer be written, which stops the run."""
        situation = self.situations.get(place)
        if situation is None:
            try:
                made = self.plan.situation(place) if self.writer is None else await self.writer.situation(place)
            except EndpointError as error:
                self.notes.append(Note("writer_failed", f"no more prompts could be written: {error}"))
                self.stop("agent_failed", None if self.rows else error)
                return None
            situation = self.situations.setdefault(place, made)
        return situation

    async def _is_settled(self, situation: Situation, slot: Slot) -> bool:
        """Whether an earlier run has played a rollout; its row is taken over, and judged where it is not."""
        row = self._before.get((situation.task_id, slot.index))
        if row is None or (self.options.run.retry_unusable == "infra" and row.get("unusable_reason") in AGAIN):
            return False
        self.n_resumed += 1
        key = situation.task_id, slot.index
        if self._judging is not None and row.get("usable", True) and row.get("judge_status") in ASK_AGAIN:
            self.rows[key] = row
            await self._judging.take({name: value for name, value in row.items() if name not in VERDICT_KEYS})
        else:
            self._add(key, row, here=False)
        return True

    async def _play(self, situation: Situation, slot: Slot) -> None:
        played = await replayed(
            situation,
            self.agent,
            lambda: self.worlds.of(situation, slot.index),
            lambda: self.person_of(situation),
            self.options,
            slot.index,
        )
        row = row_of(
            situation,
            played,
            self.allocation.stamp(slot),
            policy=self.agent.name,
            system_prompt_sha=self._system_prompt_sha,
        )
        self.seen.update(played.notes)
        if self._judging is not None and played.usable:
            try:
                await self._judging.take(row)
            except asyncio.CancelledError:
                self._keep_unjudged(row)
                raise
        else:
            self._finish(row)
        self._watch(played)

    def _finish(self, row: dict[str, Any]) -> None:
        """A rollout is done, verdict and all."""
        reward = row.get("reward")
        try:
            if self.store is not None:
                self.store.append(row)
        except OSError as error:
            self._fail(error)
            return
        self._add((row["task_id"], row["rollout_index"]), row)
        if self.allocation.policy == ADAPTIVE and not keys.is_missing(reward) and reward not in (0, 1):
            fix = "Give repeat_policy='fixed', or a judge that says pass or fail."
            bound = "one that gives 0 or 1 for the adaptive policy, which splits on them"
            self._fail(ParamError.of(CALL, "judge", bound, reward, fix))

    def _keep_unjudged(self, row: dict[str, Any]) -> None:
        """A rollout whose verdict did not come in time is written without one; the same call later asks for it."""
        key = row["task_id"], row["rollout_index"]
        if key in self._before and not isinstance(self.error, OSError):
            self._add(key, self._before[key], here=False)
        elif not isinstance(self.error, OSError):
            self._finish(row)

    def _add(self, key: Key, row: dict[str, Any], *, here: bool = True) -> None:
        self.rows[key] = row
        self.tally.add(row, here=here)

    def _watch(self, played: Played) -> None:
        """Stop where going on makes no sense."""
        self._n_usable += played.usable
        self._n_unusable += not played.usable
        told = played.error or {}
        if played.fatal:
            text = f"every rollout would end as {played.stop_reason}: {told.get('message', '')}"
            self._give_up(text, "Check the model's name, its key and its account.")
        elif self._n_unusable >= BREAKER and not self._n_usable:
            text = (
                f"the first {self._n_unusable} rollouts were all unusable; the last as {played.stop_reason}: "
                f"{told.get('type', '')}: {told.get('message', '')}"
            )
            self._give_up(text, "data.unusable() has them.")
        elif self.agent.stuck >= MAX_STUCK:
            text = f"the agent's code did not end in {MAX_STUCK} rollouts whose time was up, and still runs."
            self._give_up(text, "Give it a clock of its own.")

    def _give_up(self, text: str, fix: str) -> None:
        if self.stopped_because is None:
            self.notes.append(Note("agent_failed", text, fix))
        self.stop("agent_failed")

    def _is_mixed(self, place: int) -> bool:
        """Whether the first rollouts of a situation disagree."""
        task = self.situations[place].task_id
        first = (self.rows.get((task, index), {}) for index in range(self.allocation.n_first))
        return is_mixed(row.get("reward") for row in first)

    # what came of it

    def in_order(self) -> list[dict[str, Any]]:
        """The rows in the order of the plan, then of the rollouts."""
        place = {situation.task_id: index for index, situation in self.situations.items()}
        return [row for _, row in sorted(self.rows.items(), key=lambda item: (place.get(item[0][0], 0), item[0][1]))]

    def met(self) -> list[Situation]:
        """The situations of the run, in order; of those that were not reached the plan's own.

        Where a run of very many was cut short, those that were not reached are left out from some point on: to make
        them all would take longer than the run did.
        """
        reached = max(self.situations, default=-1) + 1
        n = min(self.allocation.n_situations, max(reached, FAR))
        return [self.situations.get(index) or self.plan.situation(index) for index in range(n)]

    def told(self) -> list[Note]:
        """What a reader of the rows should know of how they were made."""
        found = [*self.options.notes, *self.plan.notes, *self.notes]
        if self.writer is not None:
            found += self.writer.notes
        for code, n in self.seen.items():
            note = NOTES[code]
            found.append(Note(note.code, f"{note.text.rstrip('.')} ({count(n, 'rollout')}).", note.fix))
        if self.agent.abandoned:
            left = "was left to itself" if self.agent.abandoned == 1 else "were left to themselves"
            text = f"{count(self.agent.abandoned, 'rollout')} went on after the time was up and {left}."
            found.append(Note("abandoned", text, "Give the agent's code a clock of its own."))
        if self.store is not None:
            found += self._of_the_store(self.store)
        return found

    def _of_the_store(self, store: Store) -> list[Note]:
        found = []
        if self.n_resumed:
            found.append(
                Note("resumed", f"{count(self.n_resumed, 'rollout')} of {len(self.rows):,} were there before.")
            )
        if store.n_torn:
            text = f"a torn line was cut off the end of {str(store.path)!r} and kept in {store.path.name}.torn."
            found.append(Note("torn_line", text))
        beyond = len(store.rows.keys() - self.rows.keys())
        if beyond and self.stopped_because in ("done", "budget"):
            text = f"{count(beyond, 'row')} of {str(store.path)!r} lie beyond this call and were left out."
            found.append(Note("rows_beyond", text, "Ask for more situations, repeats or budget to have them."))
        return found

    def usage(self) -> dict[str, Usage]:
        """What each role cost, over all rows; of the writer what this call spent."""
        totals = {role: Usage() for role in ("agent", "person", "writer", "judge")}
        for row in self.rows.values():
            meta = row.get("judge_meta")
            spent = {"agent": row.get("usage"), "person": row.get("user_usage")}
            spent["judge"] = meta.get("usage") if isinstance(meta, dict) else None
            for role, block in spent.items():
                if isinstance(block, dict):
                    totals[role] += _usage_of(block)
        if self.writer is not None:
            totals["writer"] = self.writer.usage
        return totals


def _usage_of(block: Mapping[str, Any]) -> Usage:
    """The usage that stands on a row; what a judge of the caller's says in other words is not known."""

    def known(name: str) -> Any:
        value = block.get(name)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    tokens = (known("input_tokens"), known("output_tokens"), known("cached_tokens"))
    return Usage(*tokens, int(known("requests") or 0), int(known("retries") or 0), known("cost"))
