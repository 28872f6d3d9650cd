"""What a set of tools is about: the kinds of things their names and parameters speak of, and the fields of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from whileai.engine import nouns, values
from whileai.engine.tools import Tool
from whileai.engine.uses import ID_ENDS, SAID, Use, properties, read_use

__all__ = ["Catalog", "Entity", "Use", "properties"]

_PEOPLE = frozenset(
    nouns.listed(
        """
    customer user person employee guest patient contact member client student passenger driver owner
    """
    )
)


@dataclass(slots=True)
class Entity:
    """One kind of thing.

    Attributes
    ----------
    name : str
        As people say it: ``order``, ``order item``.
    id_field : str
        The field its id stands in, ``order_id`` or ``id``.
    id_schema : mapping
        The JSON Schema of an id, ``{}`` where no tool takes one.
    fields : dict of str to tuple
        Field -> its JSON Schema and the schema that references point into.
    links : dict of str to str
        Field -> the kind of thing whose id it holds.
    """

    name: str
    id_field: str = "id"
    id_schema: Mapping[str, Any] = field(default_factory=dict)
    fields: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    _shape: tuple[str, ...] | None = None
    _status: str = ""

    def draw_id(self, draw: values.Draw) -> Any:
        """An id, the next of those that `draw` gives."""
        return values.id_of(self.id_schema, self._shape, draw)

    @property
    def status_field(self) -> str:
        """The field that says how far the thing is."""
        return self._status or self._find_status()

    def settle(self) -> None:
        """Work out once what no longer changes."""
        self._shape = values.id_shape(self.name, self.id_schema)
        self._status = self._find_status()

    def _find_status(self) -> str:
        return next((name for name in self.fields if nouns.parts_of(name)[-1] in ("status", "state")), "status")


class Catalog:
    """The tools of a run and what they are about.

    Parameters
    ----------
    tools : iterable of Tool
        With distinct names.

    Attributes
    ----------
    tools : tuple of Tool
    uses : dict of str to Use
        Tool name -> what it does.
    entities : dict of str to Entity
        In the order in which the tools speak of them.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self.uses = {tool.name: read_use(tool) for tool in self.tools}
        self.entities: dict[str, Entity] = {}
        for use in self.uses.values():
            self._add(use)
        for entity in self.entities.values():
            self._complete(entity)

    def use(self, tool: str) -> Use:
        """What a tool does; of one that is not in the catalog, what its name says."""
        found = self.uses.get(tool)
        return found if found is not None else read_use(Tool(tool, effect="read"))

    def entity(self, name: str) -> Entity:
        """A kind of thing, with a status alone where no tool speaks of it."""
        if name not in self.entities:
            bare = Entity(name)
            self._complete(bare)
            return bare
        return self.entities[name]

    @cached_property
    def vocabulary(self) -> dict[str, frozenset[str]]:
        """Tool name -> the words of its name, its things and its parameters, in the singular."""
        found = {}
        for name, use in self.uses.items():
            said = [*nouns.parts_of(name), *use.entity.split()]
            for parameter in properties(use.tool):
                said += nouns.parts_of(parameter)
            found[name] = frozenset(nouns.singular(word) for word in said if len(word) > 2)
        return found

    def _add(self, use: Use) -> None:
        entity = self.entities.setdefault(use.entity, Entity(use.entity))
        root = use.tool.parameters
        for parameter, kind in use.ids.items():
            schema = use.schema(parameter)
            if values.kind_of(schema) == "array":
                schema = values.resolved(schema.get("items", {}), root)
            other = self.entities.setdefault(kind, Entity(kind))
            if not other.id_schema:
                other.id_schema = schema
                parts = nouns.parts_of(parameter)
                single = parameter.removesuffix("s") if parts[-1] == "ids" else parameter
                other.id_field = single if parts[-1] in ID_ENDS else f"{'_'.join(kind.split())}_id"
            if kind != use.entity:
                entity.links.setdefault(parameter, kind)
        for parameter, (name, _) in use.bounds.items():
            entity.fields.setdefault(name, (use.schema(parameter), root))
        for parameter, name in use.fields.items():
            said = nouns.parts_of(parameter)[-1] in SAID and use.verb not in nouns.MAKE_VERBS
            if not use.ends or not (said or use.tool.effect == "delete"):
                entity.fields.setdefault(name, (use.schema(parameter), root))
        if use.searches and not {"name", "title"} & entity.fields.keys():
            entity.fields["name"] = ({}, {})
        output = use.tool.returns or {}
        for name, schema in _output_fields(use.tool).items():
            if name not in entity.links and name != entity.id_field:
                entity.fields.setdefault(name, (values.resolved(schema, output), output))
        noun = nouns.verb_noun(use.tool.name)[1]
        last = noun.split()[-1] if noun else ""
        if use.tool.effect == "read" and not use.many and last and last not in use.entity.split():
            entity.fields.setdefault(last, ({}, {}))

    def _complete(self, entity: Entity) -> None:
        """What every record has, and what a kind of thing has that only its ids speak of."""
        entity.fields.pop(entity.id_field, None)
        if entity.id_field == "id" and not entity.id_schema and any(k == entity.name for k in entity.links.values()):
            entity.links = {name: kind for name, kind in entity.links.items() if kind != entity.name}
        if not entity.fields:
            entity.fields["name"] = ({}, {})
            if _PEOPLE.intersection(entity.name.split()):
                entity.fields["email"] = ({}, {})
        entity.fields.setdefault(entity.status_field, ({}, {}))
        entity.settle()


def _output_fields(tool: Tool) -> Mapping[str, Any]:
    """The fields of the object, or of the objects in the list, that a tool returns."""
    root = tool.returns or {}
    schema = values.resolved(root, root)
    for _ in range(3):
        found = schema.get("properties")
        if isinstance(found, Mapping) and found:
            inner = [values.resolved(part, root) for part in found.values()]
            if len(inner) > 1 or values.kind_of(inner[0]) not in ("array", "object"):
                return found
            schema = inner[0]
        elif isinstance(schema.get("items"), Mapping):
            schema = values.resolved(schema["items"], root)
        else:
            break
    return {}
