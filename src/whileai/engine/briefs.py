"""Which tools a person needs, and what they know, want and are like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whileai.engine.axes import NO_TOOL, SEVERAL, UNSPECIFIED
from whileai.engine.catalog import Catalog
from whileai.engine.hearing import label
from whileai.engine.records import Records
from whileai.engine.situations import Brief
from whileai.engine.templates import Draft
from whileai.engine.values import Draw, plain_text


def focus_of(catalog: Catalog, axes: Mapping[str, str], world_seed: int) -> tuple[str, ...]:
    """The tools a person needs: the one on the axis, none, or two that a world's seed picks.

    Where the thing is already done, the first of two is one that does something, as reading is never done.
    """
    tool = axes["tool"]
    if tool != SEVERAL:
        return () if tool in (NO_TOOL, UNSPECIFIED) else (tool,)
    names = [one.name for one in catalog.tools]
    order = sorted(names, key=lambda name: (Draw(world_seed, "several", name).below(1 << 32), name))
    if axes["state"] == "already_done":
        order.sort(key=lambda name: catalog.use(name).tool.effect == "read")
    return tuple(order[:2])


def brief_of(axes: Mapping[str, str], records: Records, draft: Draft) -> Brief:
    """What the person knows, wants and is like; which facts the prompt gives is read off the prompt."""
    facts = records.facts
    kinds: dict[str, str] = {}
    for tool in records.focus:
        kinds.update({name: kind for name, kind in records.catalog.use(tool).ids.items() if name in facts})
    stance = axes["stance"]
    held = {name: draft.wrong.get(name, value) for name, value in facts.items()}
    wrong = draft.wrong or (records.mistake if stance == "mistaken" else {})
    wrong = {name: value for name, value in wrong.items() if _holds(draft.prompt, value)}
    held.update(wrong)
    return Brief(
        goal=draft.goal,
        stance=stance,
        facts=facts,
        labels={name: label(name) for name in facts},
        kinds=kinds,
        told=tuple(name for name, value in held.items() if _holds(draft.prompt, value)),
        wrong=wrong,
        change=_change(records, kinds) if stance == "changes_mind" else {},
        state=axes["state"],
        history=axes["history"],
        voice=Draw(records.world_seed, "voice").below(1 << 32),
    )


def _holds(prompt: str, value: Any) -> bool:
    return plain_text(value).casefold() in prompt.casefold()


def _change(records: Records, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Another value for one thing the person asks for: of a detail where there is one, else of which thing it is."""
    for tool in records.focus:
        use = records.catalog.use(tool)
        for name in (*use.fields, *use.searches) if use.tool.effect != "read" else ():
            for tries in range(8 if name in records.facts else 0):
                other = records.guess(use, name, tries)
                if other != records.facts[name]:
                    return {name: other}
    for name, kind in kinds.items():
        if isinstance(records.facts[name], list):
            continue
        other = records.other_id(kind, records.facts[name])
        if other != records.facts[name]:
            return {name: other}
    return {}
