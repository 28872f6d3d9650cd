"""The records of one world, and what the person who asks knows of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from whileai.engine import nouns, values
from whileai.engine.catalog import Catalog, Entity, Use
from whileai.engine.tools import Tool
from whileai.engine.values import Draw

_ID_LIKE = re.compile(
    r"(?<![\w$€£.-])(?:#?\d{4,12}|[A-Za-z]{1,12}[-_#]?\d[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)(?![\w-]|\.\d)"
)
_YEAR = re.compile(r"(19|20)\d\d")


class Records:
    """The records of one world: a function of its arguments, the same in any process and any order of asking.

    A record depends on the seed, its kind, its place and the name of each field, so that another tool in the set
    changes no value of the ones that are there.

    Parameters
    ----------
    world_seed : int
        What everything is drawn from.
    tools : Catalog or iterable of Tool
        What there are records for.
    state : str, default "present"
        ``present``, ``missing`` (the thing asked about is not there), ``already_done`` (it is as if the tool had done
        its work), ``partial`` (half of its fields are not filled in), ``conflicting`` (what the person says of it is
        not what stands there), ``stale`` (what the person says of it was so before its last change).
    n : int, default 8
        Records of each kind.
    focus : sequence of str
        The tools that the person needs, none where no tool serves.
    named : sequence of str
        Ids that the prompt names and the records must have; none is added where the state is ``missing``.

    Attributes
    ----------
    catalog : Catalog
    tables : dict of str to dict
        Kind -> id as text -> record. A record holds its id under `Entity.id_field`, and its status.
    previous : dict of str to dict
        Kind -> id as text -> the record before its last change, with an old ``as_of``.
    facts : dict of str to object
        Parameter of a focus tool -> the value the person would have it called with. A person who is asked for a
        parameter that is not here does not know it.
    claim : tuple of (str, object) or None
        A field of the thing asked about and what the person says stands there, where the state is ``conflicting`` or
        ``stale``.

    Examples
    --------
    >>> records = Records(7, [], "present")
    >>> records.tables, records.facts, records.claim
    ({}, {}, None)
    """

    def __init__(
        self,
        world_seed: int,
        tools: Catalog | Iterable[Tool],
        state: str = "present",
        *,
        n: int = 8,
        focus: Sequence[str] = (),
        named: Sequence[str] = (),
    ) -> None:
        self.world_seed = world_seed
        self.catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
        self.state = state
        self.n = n
        self.focus = tuple(focus)
        self.named = tuple(token.lstrip("#") for token in named) if state != "missing" else ()
        self._ids: dict[str, tuple[list[Any], Any]] = {}
        self._placed: set[str] = set()
        self._made: dict[tuple[str, int], dict[str, Any]] = {}

    def ids(self, kind: str) -> list[Any]:
        """The ids of a kind, in record order; distinct as text."""
        return self._all_ids(kind)[0]

    def absent_id(self, kind: str) -> Any:
        """An id of this kind that no record has."""
        return self._all_ids(kind)[1]

    def _all_ids(self, kind: str) -> tuple[list[Any], Any]:
        """The ids of a kind, those that the prompt names among them, and one that no record has."""
        if kind not in self._ids:
            entity, draw = self.catalog.entity(kind), Draw(self.world_seed, kind, "id")
            drawn: dict[str, Any] = {}
            for _ in range(self.n + 13):
                own = entity.draw_id(draw)
                drawn.setdefault(str(own), own)
                if len(drawn) > self.n:
                    break
            ids = list(drawn.values())
            absent = ids.pop() if len(ids) > 1 else "NONE-0"
            named = [token for token in self.named if token not in drawn and self._kind_of(token) == kind]
            if named:
                self._placed.add(kind)
            for place, token in enumerate(named[: len(ids)]):
                ids[place : place + 1] = [_typed(token, ids[0])]
            self._ids[kind] = (ids, absent)
        return self._ids[kind]

    def _kind_of(self, token: str) -> str | None:
        """The kind whose ids look most like `token`: by the letters they start with, else what is asked about."""
        start = _letters(token)
        for kind, entity in self.catalog.entities.items():
            if start and start == _letters(str(entity.draw_id(Draw(kind)))):
                return kind
        return next((self.catalog.use(tool).entity for tool in self.focus), next(iter(self.catalog.entities), None))

    def target_place(self, kind: str) -> int:
        """The place of the record the person asks about."""
        ids = self.ids(kind)
        return 0 if kind in self._placed else Draw(self.world_seed, kind, "target").below(len(ids))

    def target_id(self, kind: str) -> Any:
        """The id the person gives for a kind: of a record, or of none where the state is ``missing``."""
        return self.absent_id(kind) if self.state == "missing" else self.ids(kind)[self.target_place(kind)]

    def other_id(self, kind: str, than: Any) -> Any:
        """Another id than `than`, of a record unless the state is ``missing``; for a person who is mistaken."""
        if self.state == "missing":
            entity, draw = self.catalog.entity(kind), Draw(self.world_seed, kind, "other")
            taken = {*map(str, self.ids(kind)), str(self.absent_id(kind))}
            for _ in range(40):
                drawn = entity.draw_id(draw)
                if str(drawn) not in taken:
                    return drawn
            return self.absent_id(kind)
        ids = self.ids(kind)
        return ids[(ids.index(than) + 1) % len(ids)] if than in ids else ids[0]

    @cached_property
    def tables(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Kind -> id as text -> record."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for kind in self.catalog.entities:
            found[kind] = {
                str(own): dict(self.record(kind, place))
                for place, own in enumerate(self.ids(kind))
                if not (self.state == "missing" and self._hidden(kind, place))
            }
        return found

    @cached_property
    def previous(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Kind -> id as text -> the record before its last change."""
        return {
            kind: {own: self._before(kind, record) for own, record in table.items()}
            for kind, table in self.tables.items()
        }

    def record(self, kind: str, place: int) -> dict[str, Any]:
        """The record at a place, as the state has it."""
        key = (kind, place)
        if key not in self._made:
            made = self._plain(kind, place)
            if self.state != "missing" and kind in self._focus_kinds and place == self.target_place(kind):
                self._bend(kind, made)
            self._made[key] = made
        return self._made[key]

    def _plain(self, kind: str, place: int) -> dict[str, Any]:
        entity = self.catalog.entity(kind)
        made: dict[str, Any] = {entity.id_field: self.ids(kind)[place]}
        for name, (schema, root) in entity.fields.items():
            made[name] = self._value(kind, place, name, schema, root)
        for name, other in entity.links.items():
            own = Draw(self.world_seed, kind, place, name).pick(self.ids(other))
            made[name] = [own] if name.endswith("ids") else own
        day = values.value_of("updated_at", {}, Draw(self.world_seed, kind, place, "updated_at"))
        made.setdefault("updated_at", day)
        return made

    def _value(self, kind: str, place: Any, name: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
        return values.value_of(_said(kind, name), schema, Draw(self.world_seed, kind, place, name), root)

    @cached_property
    def _focus_uses(self) -> list[Use]:
        return [self.catalog.use(tool) for tool in self.focus]

    @cached_property
    def _focus_kinds(self) -> frozenset[str]:
        return frozenset(use.entity for use in self._focus_uses)

    def _hidden(self, kind: str, place: int) -> bool:
        """Whether a record would be found by what the person says, though the thing is missing."""
        if kind not in self._focus_kinds:
            return False
        record = self.record(kind, place)
        return any(
            use.entity == kind and use.own_id is None and not use.makes and use.matches(record, self.facts)
            for use in self._focus_uses
        )

    def _bend(self, kind: str, made: dict[str, Any]) -> None:
        """Make a record what the state says it is."""
        entity = self.catalog.entity(kind)
        if self.state == "already_done":
            for use in self._focus_uses:
                if use.entity != kind or use.tool.effect == "read":
                    continue
                if use.ends:
                    made[entity.status_field] = status_saying(entity, nouns.done_word(use.verb))
                else:
                    made.update({field: self._wish(use, name) for name, field in use.fields.items()})
        elif self.state == "partial":
            names = [name for name in entity.fields if name != entity.status_field]
            kept = Draw(self.world_seed, kind, "partial").below(2)
            searched = {use.fields[name] for use in self._focus_uses for name in use.required & use.fields.keys()}
            for name in names[kept::2] or names:
                if name not in searched:
                    made[name] = None

    def _before(self, kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record before its last change: its status was another, and so was the day."""
        entity = self.catalog.entity(kind)
        field, own = entity.status_field, record[entity.id_field]
        schema, root = entity.fields[field]
        earlier = dict(record)
        for tries in range(12):
            earlier[field] = values.value_of(field, schema, Draw(self.world_seed, kind, own, "before", tries), root)
            if earlier[field] != record[field]:
                break
        day = Draw(self.world_seed, kind, own, "as_of").between(1, 28)
        earlier["updated_at"] = earlier["as_of"] = f"2023-11-{day:02d}T08:00:00Z"
        return earlier

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Parameter of a focus tool -> the value the person would have it called with."""
        found: dict[str, Any] = {}
        for use in self._focus_uses:
            for parameter in (*use.ids, *use.fields, *use.searches, *use.bounds, *use.controls):
                extra = parameter in use.controls or parameter in use.bounds
                if parameter in found or (extra and parameter not in use.required):
                    continue
                value = self._fact(use, parameter)
                if value is not None:
                    found[parameter] = value
        if self.state == "partial":
            optional = [
                name
                for use in self._focus_uses
                for name in use.fields
                if name in found and name not in use.required and use.tool.effect != "read"
            ]
            for name in optional[1::2]:
                del found[name]
        return found

    def _fact(self, use: Use, parameter: str) -> Any:
        if parameter in use.ids:
            kind = use.ids[parameter]
            own = self._linked(use, parameter, kind)
            many = values.kind_of(use.schema(parameter)) == "array" and not isinstance(own, list)
            return [own] if many else own
        if parameter in use.searches:
            if self.state == "missing":
                return f"{values.value_of('item', {}, Draw(self.world_seed, parameter, 'absent'))} No. 9"
            record = self._plain(use.entity, self.target_place(use.entity))
            return next((record[name] for name in ("name", "title") if record.get(name)), None)
        field = use.bounds[parameter][0] if parameter in use.bounds else use.fields.get(parameter, parameter)
        if use.tool.effect == "read" and parameter not in use.controls:
            if self.state != "missing":
                return self.record(use.entity, self.target_place(use.entity)).get(field)
            return self._value(use.entity, "absent", field, use.schema(parameter), use.tool.parameters)
        return self._wish(use, parameter)

    def _linked(self, use: Use, parameter: str, kind: str) -> Any:
        """The id for a parameter: the target's own, or the one that the target record links to."""
        if kind in self._focus_kinds or self.state == "missing" or use.makes:
            return self.target_id(kind)
        return self._plain(use.entity, self.target_place(use.entity)).get(parameter, self.target_id(kind))

    def _wish(self, use: Use, parameter: str) -> Any:
        """What the person wants a parameter to be; another value than the record has, where there is another."""
        field = use.fields.get(parameter, parameter)
        schema, root = use.schema(parameter), use.tool.parameters
        now = None
        if not use.makes and field in self.catalog.entity(use.entity).fields:
            now = self._value(use.entity, self.target_place(use.entity), field, schema, root)
        wish = None
        for tries in range(12):
            draw = Draw(self.world_seed, use.tool.name, parameter, "wish", tries)
            wish = values.value_of(_said(use.entity, field), schema, draw, root)
            if wish != now and not values.is_stock(wish):
                break
        return wish

    def guess(self, use: Use, parameter: str, tries: int) -> Any:
        """Another value that a parameter of a tool could have; the same for the same number of tries."""
        field = use.fields.get(parameter, parameter)
        draw = Draw(self.world_seed, use.tool.name, parameter, "guess", tries)
        said = "item" if parameter in use.searches else _said(use.entity, field)
        return values.value_of(said, use.schema(parameter), draw, use.tool.parameters)

    @cached_property
    def mistake(self) -> dict[str, Any]:
        """One fact as a person who is mistaken gives it at first: an id if they give one, else the first detail."""
        for use in self._focus_uses:
            for name, kind in use.ids.items():
                if name in self.facts and not isinstance(self.facts[name], list):
                    other = self.other_id(kind, self.facts[name])
                    return {name: other} if other != self.facts[name] else {}
        for use in self._focus_uses:
            for name in (*use.fields, *use.searches):
                for tries in range(8 if name in self.facts else 0):
                    other = self.guess(use, name, tries)
                    if other != self.facts[name]:
                        return {name: other}
        return {}

    @cached_property
    def claim(self) -> tuple[str, Any] | None:
        """A field of the target and what the person wrongly says stands there."""
        kind = self.claim_kind
        if self.state not in ("conflicting", "stale") or not kind:
            return None
        record = self.record(kind, self.target_place(kind))
        if self.state == "stale":
            field = self.catalog.entity(kind).status_field
            return field, self._before(kind, record)[field]
        return self._conflict(kind, record, self._asked_fields(kind))

    @property
    def claim_kind(self) -> str:
        """The kind of thing that a claim is about, empty where there is none."""
        use = self._focus_uses[0] if self._focus_uses else None
        if use is not None and use.makes:  # nothing is there yet: it is about what the new thing belongs to
            return next(iter(use.ids.values()), "")
        return use.entity if use is not None else ""

    def _asked_fields(self, kind: str) -> set[str]:
        """The fields that the person asks by or asks to set, and the status."""
        asked = {field for use in self._focus_uses for field in use.fields.values()}
        return asked | {self.catalog.entity(kind).status_field}

    def _conflict(self, kind: str, record: Mapping[str, Any], asked: set[str]) -> tuple[str, Any] | None:
        """Another value for a field that the person does not ask to set; for the status where there is no other."""
        entity = self.catalog.entity(kind)
        plain = (str, int, float, bool)
        free = [name for name in entity.fields if name not in asked and isinstance(record.get(name), plain)]
        for field in [*free, entity.status_field]:
            schema, root = entity.fields[field]
            for tries in range(12):
                said = self._value(kind, f"claim{tries}", field, schema, root)
                if said != record.get(field):
                    return field, said
        return None


def status_saying(entity: Entity, word: str) -> Any:
    """A status that says `word`, in the spelling of the field's own values where it has them."""
    schema, root = entity.fields[entity.status_field]
    options = values.resolved(schema, root).get("enum")
    if isinstance(options, list) and options:
        start = word[:5].lower()
        return next((option for option in options if str(option).lower().startswith(start)), options[-1])
    return word


def _said(kind: str, field: str) -> str:
    """The name a value is drawn by: ``name``, ``title``, ``to`` and ``from`` are of their kind's own sort."""
    return f"{'_'.join(kind.split())}_{field}" if field in ("name", "title", "to", "from") else field


def _letters(own: str) -> str:
    """The letters an id starts with, in capitals."""
    found = re.match(r"[A-Za-z]*", own)
    return found.group().upper() if found else ""


def _typed(token: str, like: Any) -> Any:
    """An id from a prompt in the type of the others."""
    return int(token) if isinstance(like, int) and token.isdigit() else token


def ids_in(text: str) -> tuple[str, ...]:
    """What looks like an id in a text, each once, in order: ``ORD-4550``, ``inv_20x``, ``88120``; no years or amounts.

    Examples
    --------
    >>> ids_in("Where is order ORD-4550 from 2024? I paid $1200 and have ticket 88120.")
    ('ORD-4550', '88120')
    """
    found = [token for token in _ID_LIKE.findall(text) if not _YEAR.fullmatch(token)]
    return tuple(dict.fromkeys(found))
