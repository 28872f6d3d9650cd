"""The service behind the tools where no code of the caller's answers: it reads and writes the records of one world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from whileai.engine import nouns, statuses, values
from whileai.engine.catalog import Use
from whileai.engine.ids import canonical
from whileai.engine.records import Records, status_saying
from whileai.engine.statuses import refusal
from whileai.engine.values import Draw
from whileai.simulations._wire import copied

#: Verbs after which a record is no longer there, where others leave it with another status.
_GONE = frozenset(("delete", "remove", "purge", "erase", "destroy", "drop", "clear", "discard", "uninstall"))
#: Verbs that make the thing whose id they take; others (``add_item(item_id)``) speak of one that is there.
_NEW = frozenset(("create", "register"))
_LIMITS = ("limit", "max_results", "top_k", "num_results", "page_size", "per_page")

Record = dict[str, Any]


class Desk:
    """The records of one rollout: those of its world, and over them what this rollout has changed.

    Parameters
    ----------
    records : Records
        Shared by all rollouts of a task, and never written to.
    said : callable
        Whether a text was said by the person: what they speak of without an id is there, unless it is missing.

    Attributes
    ----------
    changed : dict
        Kind -> id -> record as it is now, ``None`` where it was deleted.
    """

    def __init__(self, records: Records, said: Callable[[str], bool]) -> None:
        self.records = records
        self.said = said
        self.changed: dict[str, dict[str, Record | None]] = {}
        self._earlier: dict[tuple[str, str], Record] = {}
        self._made: dict[str, tuple[str, str]] = {}
        self._gone: set[tuple[str, str]] = set()

    def get(self, kind: str, own: Any) -> Record | None:
        """A record as it is now, ``None`` where there is none."""
        key = str(own).strip()
        changed = self.changed.get(kind, {})
        return changed[key] if key in changed else self.records.tables.get(kind, {}).get(key)

    def all(self, kind: str) -> list[Record]:
        """All records of a kind as they are now, those made here last."""
        table = {**self.records.tables.get(kind, {}), **self.changed.get(kind, {})}
        return [record for record in table.values() if record is not None]

    def before(self, kind: str, own: Any) -> Record | None:
        """A record before its last change, with an old ``as_of``."""
        key = str(own).strip()
        earlier = self._earlier.get((kind, key))
        old = self.records.previous.get(kind, {}).get(key)
        if earlier is None:
            return old
        return {**earlier, "as_of": old["as_of"] if old else "2023-11-01T08:00:00Z"}

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a valid call answers; it changes the records where the tool does.

        The records in an answer are those of the world: whoever hands it on hands on a copy.
        """
        use = self.records.catalog.use(tool)
        given = {name: value for name, value in arguments.items() if value is not None}
        missing = self._missing_link(use, given)
        if missing:
            return missing
        if use.tool.effect == "read":
            return self._read(use, given)
        if use.makes or (use.own_id in given and use.verb in _NEW):
            return self._make(use, given)
        return self._change(use, given)

    def _missing_link(self, use: Use, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """The refusal of a call that names another thing that is not there."""
        for name, kind in use.ids.items():
            if name not in given or (name == use.own_id and use.verb in _NEW):
                continue
            for own in _listed(given[name]):
                if self.get(kind, own) is None and (kind, str(own).strip()) not in self._gone:
                    return _not_found(kind, name, own)
        return None

    def _read(self, use: Use, given: Mapping[str, Any]) -> dict[str, Any]:
        own = given.get(use.own_id) if use.own_id is not None else None
        rest = {name: value for name, value in given.items() if name != use.own_id}
        if own is None:
            return self._search(use, rest)
        found = []
        for one in _listed(own):
            record = self.get(use.entity, one)
            if record is None:
                return _not_found(use.entity, str(use.own_id), one)
            wrong = None if use.many else self._mismatch(use, record, rest)
            if wrong:
                return wrong
            found.append(record)
        return self._told_all(use, found) if isinstance(own, list) else self._told(use.entity, found[0])

    def _search(self, use: Use, given: Mapping[str, Any]) -> dict[str, Any]:
        found = [record for record in self.all(use.entity) if self._fits(use, record, given)]
        if use.many:
            limit = next((given[name] for name in _LIMITS if name in use.controls and name in given), None)
            return self._told_all(use, found, limit if isinstance(limit, int) else None)
        if not found and given:
            made = self._spoken_of(use, given)
            found = [made] if made is not None else []
        if not found:
            return _not_found(use.entity, *next(iter(given.items()), ("", None)))
        if given:
            return self._told(use.entity, found[0])
        target = self.get(use.entity, self.records.target_id(use.entity))
        return self._told(use.entity, target if target is not None else found[0])

    def _fits(self, use: Use, record: Record, given: Mapping[str, Any]) -> bool:
        """Whether a search finds a record; ids of other things hold where the record has a field of them."""
        return use.matches(record, {name: value for name, value in given.items() if name not in use.controls})

    def _spoken_of(self, use: Use, given: Mapping[str, Any]) -> Record | None:
        """A record for something the person speaks of by its name (a city, a product), unless it is missing."""
        asked = {name: given[name] for name in use.fields if name in given}
        texts = [str(value).strip().lower() for value in asked.values() if isinstance(value, str)]
        if self.records.state == "missing" or not texts or not all(map(self.said, texts)):
            return None
        entity = self.records.catalog.entity(use.entity)
        draw = (self.records.world_seed, use.entity, canonical(asked))
        made = {entity.id_field: entity.draw_id(Draw(*draw, "id"))}
        for name, (schema, root) in entity.fields.items():
            made[name] = values.value_of(name, schema, Draw(*draw, name), root)
        made.update({use.fields[name]: value for name, value in asked.items()})
        self._put(use.entity, made[entity.id_field], made)
        return made

    def _make(self, use: Use, given: Mapping[str, Any]) -> dict[str, Any]:
        entity = self.records.catalog.entity(use.entity)
        asked = canonical([use.tool.name, dict(given)])
        if asked in self._made:
            kind, key = self._made[asked]
            return self._already(use, kind, self.get(kind, key), key)
        fields = self._fields(use, given)
        if use.own_id in given:
            own = given[str(use.own_id)]
            if self.get(use.entity, own) is not None:
                told = f"there is already a {use.entity} {own}"
                return refusal(statuses.CONFLICT, told, f"Change it, or take another {use.own_id}.")
        else:
            same = next((record for record in self.all(use.entity) if fields and _holds(record, fields)), None)
            if same is None and self._is_what_was_done(use, given):
                same = self.get(use.entity, self.records.target_id(use.entity))
            if same is not None:
                return self._already(use, use.entity, same, str(same.get(entity.id_field)))
            own = self._new_id(use.entity)
        made = {entity.id_field: own, **fields}
        if entity.status_field not in made:
            made[entity.status_field] = status_saying(entity, nouns.done_word(use.verb))
        self._put(use.entity, own, made)
        self._made[asked] = (use.entity, str(own).strip())
        return self._told(use.entity, made)

    def _is_what_was_done(self, use: Use, given: Mapping[str, Any]) -> bool:
        """Whether a call makes what the person asks for, in a situation in which that was made before."""
        records = self.records
        if records.state != "already_done" or use.tool.name not in records.focus or not given:
            return False
        return all(records.facts.get(name) == value for name, value in given.items() if name not in use.controls)

    def _new_id(self, kind: str) -> Any:
        """An id that no record has had."""
        entity = self.records.catalog.entity(kind)
        count = len(self.changed.get(kind, {}))
        own: Any = None
        for tries in range(50):
            own = entity.draw_id(Draw(self.records.world_seed, kind, "new", count, tries))
            if self.get(kind, own) is None and str(own) != str(self.records.absent_id(kind)):
                return own
        return own

    def _change(self, use: Use, given: Mapping[str, Any]) -> dict[str, Any]:
        found = self._targets(use, given)
        if isinstance(found, dict):
            return found
        rest = {name: value for name, value in given.items() if name != use.own_id}
        told = []
        for key, record in found:
            if record is None:
                return self._already(use, use.entity, record, key)
            refused = self._mismatch(use, record, rest) if use.ends else None
            if refused:
                return refused
            changed = self._after(use, record, rest)
            if changed == record:
                return self._already(use, use.entity, record, key)
            told.append((key, record, changed))
        for key, record, changed in told:
            gone = use.tool.effect == "delete" and use.verb in _GONE
            self._earlier[use.entity, key] = record
            self._put(use.entity, key, None if gone else changed)
            if gone:
                self._gone.add((use.entity, key))
        return self._told(use.entity, told[-1][2])

    def _targets(self, use: Use, given: Mapping[str, Any]) -> list[tuple[str, Record | None]] | dict[str, Any]:
        """The records a write is about, with their ids; ``None`` for one that was deleted. Or the refusal."""
        entity = self.records.catalog.entity(use.entity)
        if use.own_id is not None and use.own_id in given:
            keys = [str(own).strip() for own in _listed(given[use.own_id])]
            return [(key, self.get(use.entity, key)) for key in keys]
        named = {name: value for name, value in given.items() if name in use.ids or name in use.fields}
        found = [record for record in self.all(use.entity) if self._fits(use, record, named)]
        own = self.records.target_id(use.entity) if self.records.tables.get(use.entity) else None
        target = self.get(use.entity, own) if own is not None else None
        if not found and target is None:
            return _not_found(use.entity, *next(iter(named.items()), ("", None)))
        record = found[0] if found and named else target if target is not None else found[0]
        return [(str(record[entity.id_field]), record)]

    def _after(self, use: Use, record: Record, given: Mapping[str, Any]) -> Record:
        """A record once the tool has done its work."""
        changed = {**record, **self._fields(use, given)}
        if use.ends:
            entity = self.records.catalog.entity(use.entity)
            word = status_saying(entity, nouns.done_word(use.verb))
            if record.get(entity.status_field) == word:
                return record
            changed[entity.status_field] = word
        return changed

    def _mismatch(self, use: Use, record: Record, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """The refusal of a call whose other arguments say what the record does not.

        Those are ids of other things, and where nothing is set by it, whose the thing is. What the person would say
        is right, unless it is the point of the situation that it is not.
        """
        records = self.records
        asked = record.get(self._id_field(use)) == records.target_id(use.entity)
        facts = records.facts if asked and records.state != "conflicting" else {}
        for name, value in given.items():
            whose = use.tool.effect != "write" and nouns.parts_of(name)[-1] in _IDENTITY
            held = record.get(use.fields.get(name, name))
            if not (name in use.ids or use.tool.effect == "read" or whose) or name in use.controls or held is None:
                continue
            if facts.get(name) != value and not use.matches(record, {name: value}):
                error = f"{name} {value!r} is not what {use.entity} {record.get(self._id_field(use))} has"
                return refusal(statuses.CONFLICT, error, "Check it with the person before trying again.")
        return None

    def _fields(self, use: Use, given: Mapping[str, Any]) -> Record:
        """What a call writes: its fields, and the ids of other things."""
        written = {use.fields.get(name, name): value for name, value in given.items() if name in use.fields}
        links = {name: value for name, value in given.items() if name in use.ids and name != use.own_id}
        made: Record = copied({**links, **written})
        return made

    def _id_field(self, use: Use) -> str:
        return self.records.catalog.entity(use.entity).id_field

    def _put(self, kind: str, own: Any, record: Record | None) -> None:
        self.changed.setdefault(kind, {})[str(own).strip()] = record

    def _already(self, use: Use, kind: str, record: Record | None, key: str) -> dict[str, Any]:
        told = refusal(
            statuses.ALREADY_DONE,
            f"{kind} {key} is already {nouns.done_word(use.verb)}",
            "There is nothing left to do.",
        )
        return {**told, _key(kind): record} if record is not None else told

    def _told(self, kind: str, record: Record) -> dict[str, Any]:
        return {"status": statuses.OK, _key(kind): record}

    def _told_all(self, use: Use, found: list[Record], limit: int | None = None) -> dict[str, Any]:
        shown = found if limit is None or limit < 0 else found[:limit]
        return {"status": statuses.OK, _key(nouns.plural(use.entity)): shown, "count": len(found)}


#: Last words of parameters that say whose a thing is; where a write leaves them alone they must be what the record has.
_IDENTITY = frozenset(("email", "phone", "name", "username", "zip", "postcode", "birthdate", "surname"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _key(kind: str) -> str:
    """The key a record stands under in an answer."""
    key = "_".join(kind.split()) or "record"
    return key if key != "status" else "status_record"


def _holds(record: Record, fields: Mapping[str, Any]) -> bool:
    return all(record.get(name) == value for name, value in fields.items())


def _not_found(kind: str, name: str, value: Any) -> dict[str, Any]:
    told = f"there is no {kind} with {name} {value!r}" if name else f"there is no {kind}"
    return refusal(statuses.NOT_FOUND, told, "Ask the person for the right one." if name else "")
