"""What one tool does: its verb, the kind of thing it is about, and what each of its parameters means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai.engine import nouns, values
from whileai.engine.tools import Tool

#: Parameters that say how to answer, not what is asked about; no field of any record.
CONTROLS = frozenset(
    nouns.listed(
        """
    limit offset page page_size per_page sort sort_by order_by sort_order cursor format verbose fields include
    units timezone dry_run max_results top_k num_results count_only
    """
    )
)
#: Parameters that search the text of records.
SEARCHES = frozenset(nouns.listed("query q keyword keywords term search search_term search_query text"))
_LOWER = frozenset(nouns.listed("min minimum from start after since above"))
_UPPER = frozenset(nouns.listed("max maximum until to end before below under"))
ID_ENDS = frozenset(("id", "ids"))
_NUMBER_ENDS = frozenset(("number", "code", "ref", "reference", "no", "key", "uuid", "num", "name"))
SAID = frozenset(
    nouns.listed(
        """
    reason note notes comment comments message body text content feedback explanation details
    """
    )
)
UPDATES = frozenset(
    nouns.listed(
        """
    update set change edit modify move assign rename reschedule patch put replace save write
    """
    )
)


@dataclass(frozen=True, slots=True)
class Use:
    """What one tool does.

    Attributes
    ----------
    tool : Tool
    verb : str
        As in its name, empty where it has none.
    entity : str
        The kind of thing it is about, such as ``order``.
    many : bool
        Whether it answers with any number of them.
    ids : dict of str to str
        Parameter -> the kind of thing whose id it takes.
    fields : dict of str to str
        Parameter -> the field of the record it is about.
    bounds : dict of str to tuple
        Parameter of a search -> the field it bounds, and ``min`` or ``max``.
    searches, controls : tuple of str
        Parameters that search the text of records; parameters that are about no record.
    required : frozenset of str
    """

    tool: Tool
    verb: str
    entity: str
    many: bool
    ids: Mapping[str, str]
    fields: Mapping[str, str]
    bounds: Mapping[str, tuple[str, str]]
    searches: tuple[str, ...]
    controls: tuple[str, ...]
    required: frozenset[str]

    def matches(self, record: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
        """Whether a search with these arguments finds a record: every argument that speaks of its fields holds.

        Text is compared without case, a bound includes its end, a search text must stand in some field; what is
        ``None``, empty or about no field asks for nothing.
        """
        for name, asked in arguments.items():
            if asked is None or asked in ("", []):
                continue
            if name in self.searches:
                if not _found_in(record, str(asked)):
                    return False
            elif name in self.bounds:
                field_name, end = self.bounds[name]
                if field_name in record and not _within(record[field_name], asked, end):
                    return False
            else:
                field_name = self.fields.get(name, name)
                if field_name in record and not _same(record[field_name], asked):
                    return False
        return True

    def schema(self, parameter: str) -> Mapping[str, Any]:
        """The JSON Schema of a parameter, references resolved."""
        return values.resolved(properties(self.tool).get(parameter, {}), self.tool.parameters)

    @property
    def own_id(self) -> str | None:
        """The parameter that takes the id of its own kind of thing."""
        return next((name for name, kind in self.ids.items() if kind == self.entity), None)

    @property
    def makes(self) -> bool:
        """Whether it makes a new thing, rather than changing one that is there."""
        return self.tool.effect == "write" and self.own_id is None

    @property
    def ends(self) -> bool:
        """Whether the thing is over once it is done, so that doing it twice makes no sense."""
        if self.tool.effect == "read" or self.makes:
            return False
        return self.tool.effect == "delete" or not self.fields or self.verb not in UPDATES


def properties(tool: Tool) -> Mapping[str, Any]:
    """The parameters of a tool and their schemas."""
    found = tool.parameters.get("properties")
    return found if isinstance(found, Mapping) else {}


def read_use(tool: Tool) -> Use:
    """What a tool does, read off its name, its effect and its parameters."""
    verb, noun, many = nouns.verb_noun(tool.name)
    named = {
        parameter: kind
        for parameter, schema in properties(tool).items()
        if (kind := _id_of(tool, parameter, values.resolved(schema, tool.parameters))) is not None
    }
    required = frozenset(name for name in tool.parameters.get("required", ()) if name in properties(tool))
    entity = _entity(tool, verb, noun, named, [name for name in named if name in required], many=many)
    ids = {parameter: kind or entity for parameter, kind in named.items()}
    rest = [parameter for parameter in properties(tool) if parameter not in ids]
    searches = tuple(name for name in rest if name.lower() in SEARCHES and tool.effect == "read")
    controls = tuple(name for name in rest if name.lower() in CONTROLS and name not in searches)
    several = tool.effect == "read" and (many or verb in nouns.LIST_VERBS)
    bounds = {name: bound for name in rest if several and (bound := _bound(name)) is not None}
    taken = {*searches, *controls, *bounds}
    fields = {name: field_of(name) for name in rest if name not in taken}
    return Use(tool, verb, entity, several, ids, fields, bounds, searches, controls, required)


def _bound(parameter: str) -> tuple[str, str] | None:
    """The field that a parameter of a search bounds, and from which side; ``None`` for one that bounds none."""
    parts = nouns.parts_of(parameter)
    for end, words in (("min", _LOWER), ("max", _UPPER)):
        rest = [part for part in parts if part not in words]
        if rest and len(rest) < len(parts):
            return "_".join(rest), end
    return None


def _found_in(record: Mapping[str, Any], text: str) -> bool:
    """Whether every word of a text stands in some field of a record."""
    held = " ".join(str(value) for value in record.values() if value is not None).casefold()
    return all(word in held for word in text.casefold().split())


def _same(held: Any, asked: Any) -> bool:
    if isinstance(held, list):
        return all(item in held for item in asked) if isinstance(asked, list) else asked in held
    if isinstance(held, str) and isinstance(asked, str):
        return held.casefold().strip() == asked.casefold().strip()
    return bool(held == asked) or str(held) == str(asked)


def _within(held: Any, asked: Any, end: str) -> bool:
    if held is None:
        return False
    try:
        return bool(held >= asked) if end == "min" else bool(held <= asked)
    except TypeError:  # of another type than the record's: it cannot be told, so nothing is hidden
        return True


def field_of(parameter: str) -> str:
    """The field of a record that a parameter sets: ``new_address`` sets ``address``."""
    parts = nouns.parts_of(parameter)
    if len(parts) > 1 and parts[0] in ("new", "updated", "changed"):
        return "_".join(parts[1:])
    return parameter


def _id_of(tool: Tool, parameter: str, schema: Mapping[str, Any]) -> str | None:
    """The kind of thing whose id a parameter takes: empty for the tool's own kind, ``None`` for no id."""
    verb, noun, _ = nouns.verb_noun(tool.name)
    kind = values.kind_of(schema)
    inner = schema.get("items") if kind == "array" else schema
    plain = isinstance(inner, Mapping) and values.kind_of(inner) in ("string", "integer", "number")
    if not plain or "enum" in schema or "const" in schema or kind == "boolean":
        return None
    parts = nouns.parts_of(parameter)
    rest = " ".join([*parts[:-2], nouns.singular(parts[-2])]) if len(parts) > 1 else ""
    if parts[-1] in ID_ENDS:
        return rest
    if parts[-1] in _NUMBER_ENDS - {"name"} and rest and rest == noun:
        return rest
    alone = len(properties(tool)) == 1 and verb not in nouns.MAKE_VERBS and verb not in nouns.LIST_VERBS
    return noun if alone and " ".join([*parts[:-1], nouns.singular(parts[-1])]) == noun else None


def _entity(tool: Tool, verb: str, noun: str, ids: Mapping[str, str], required: Sequence[str], *, many: bool) -> str:
    """The kind of thing a tool is about."""
    kinds = [kind for kind in ids.values() if kind]
    if noun in kinds or (noun and "" in ids.values()):
        return noun
    for kind in kinds:
        if set(kind.split()) <= set(noun.split()):
            rest = [word for word in noun.split() if word not in kind.split()]
            # list_customer_orders is about orders, get_order_status about an order
            return rest[-1] if many and rest and noun.endswith(rest[-1]) else kind
    if not noun:
        return kinds[0] if kinds else " ".join(nouns.parts_of(tool.name))
    if many or verb in nouns.LIST_VERBS or verb in nouns.MAKE_VERBS:
        return noun
    needed = {ids[name] for name in required if ids[name]}
    return needed.pop() if len(needed) == 1 else noun
