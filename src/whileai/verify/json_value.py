"""`JSONValid`, `JSONSchema` and `JSONField`: the JSON a completion is."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from whileai import keys
from whileai.errors import MissingExtra, ParamError
from whileai.verify.base import Verifier
from whileai.verify.reading.json_text import NotJSONError, read_json, same_value
from whileai.verify.verdict import Verdict, not_scored, plain

_ABSENT = object()


class JSONValid(Verifier):
    """Whether a completion is JSON.

    Parameters
    ----------
    field, name : str, optional
        As in `Verifier`; no gold is read.

    Notes
    -----
    The whole completion, or what stands in its one fenced block, must be one JSON value (RFC 8259): ``NaN``,
    ``Infinity``, single quotes, comments and trailing commas are none. A byte order mark is passed over.

    Examples
    --------
    >>> import whileai as wai
    >>> wai.verify.JSONValid().score({"final_text": '{"a": 1}'}).reward
    1
    """

    needs_reference = False
    bounded = True

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the completion's form."""
        try:
            read_json(candidate)
        except NotJSONError as error:
            return Verdict(0, reason=str(error))
        return Verdict(1)


class JSONSchema(Verifier):
    """Whether a completion is JSON that fits a JSON Schema, checked by the jsonschema library.

    Parameters
    ----------
    schema : dict or bool
        A JSON Schema; ``$schema`` names its draft, 2020-12 by default.
    field, name : str, optional
        As in `Verifier`; no gold is read.

    Raises
    ------
    ParamError
        If `schema` is no valid schema.
    MissingExtra
        If jsonschema is not installed: ``pip install 'whileai[schema]'``.

    Notes
    -----
    ``format`` is an annotation, as the standard has it, and checks nothing; write a ``pattern``. A ``$ref`` to another
    document is never fetched: its verdicts have the status ``error``. Patterns of a schema can run long, so each
    verdict is made in a process that the time limit kills.

    Examples
    --------
    >>> import whileai as wai
    >>> judge = wai.verify.JSONSchema({"type": "object", "required": ["name"]})
    >>> judge.score({"final_text": '{"name": "Ada"}'}).reward
    1
    """

    needs_reference = False

    def __init__(self, schema: dict[str, Any] | bool, field: str | None = None, name: str | None = None) -> None:
        super().__init__(field, name)
        self.schema = copy.deepcopy(schema)
        self._validator = _validator(self.schema)

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the completion's value."""
        from jsonschema.exceptions import best_match

        try:
            value = read_json(candidate)
            error = best_match(self._validator.iter_errors(value))
        except NotJSONError as wrong:
            return Verdict(0, reason=str(wrong))
        except RecursionError:
            return Verdict(0, reason="the completion's JSON is nested too deep to check")
        if error is None:
            return Verdict(1)
        place = ".".join(map(str, error.absolute_path))
        where = f"at {place[:200]!r}" if place else "as a whole"
        return Verdict(0, reason=f"the completion's JSON breaks the schema's {error.validator!r} {where}")


def _validator(schema: Any) -> Any:
    """The validator of a schema's draft, that resolves references within the schema and the standard's own only."""
    try:
        from jsonschema import validators
        from jsonschema.exceptions import SchemaError
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it ships no types
    except ImportError as error:
        fix = "JSONSchema needs the jsonschema library: pip install 'whileai[schema]'"
        raise MissingExtra(fix) from error
    if not isinstance(schema, (dict, bool)):
        raise ParamError.of("JSONSchema", "schema", "a JSON Schema as a dict or a bool", schema)
    draft = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        place = ".".join(map(str, error.absolute_path)) or "the schema"
        raise ParamError.of(
            "JSONSchema", "schema", "a valid JSON Schema", schema, f"At {place}: {error.message}."
        ) from None
    return draft(schema, registry=REGISTRY)


class JSONField(Verifier):
    """Whether the value at a path of a completion's JSON is the gold value.

    Parameters
    ----------
    path : str
        A dotted path with list places, such as ``answer``, ``items.0.name`` or ``items[0].name``; a key that has a dot
        itself wins over a path.
    equals : object, optional
        The gold for every row, in place of the row's own.
    field, name : str, optional
        As in `Verifier`.

    Notes
    -----
    Values are compared, not texts: ``42`` equals ``42.0``, ``true`` is not ``1``, the order of keys is nothing, and the
    text ``"42"`` in the completion is no number. A gold that is text also counts as the JSON it is where the value
    found is no text, since columns of golds are often text: ``"42"`` accepts ``42``. A gold list is met by the same
    list, or by any one of its items.

    Examples
    --------
    >>> import whileai as wai
    >>> wai.verify.JSONField("a.b").score({"final_text": '{"a": {"b": 1.0}}', "answer": 1}).reward
    1
    """

    needs_reference = False
    bounded = True

    def __init__(self, path: str, equals: Any = None, field: str | None = None, name: str | None = None) -> None:
        super().__init__(field, name)
        if not isinstance(path, str) or not path.strip():
            raise ParamError.of("JSONField", "path", "a dotted path such as 'answer' or 'items.0.name'", path)
        self.path = path
        self.equals = equals

    def check(self, candidate: str, reference: Any, row: Mapping[str, Any]) -> Verdict:
        """The verdict on the value at the path."""
        gold = self.equals
        if gold is None:
            if reference is None or keys.is_blank(reference):
                return not_scored("missing_reward", "the row has no gold to check against")
            gold = reference
        try:
            value = _at(read_json(candidate), self.path)
        except NotJSONError as error:
            return Verdict(0, reason=str(error))
        if value is _ABSENT:
            return Verdict(0, reason=f"the completion's JSON has nothing at {self.path!r}")
        gold = plain(gold)
        accepted = [gold, *gold] if isinstance(gold, list) else [gold]
        if any(_meets(value, item) for item in accepted):
            return Verdict(1)
        return Verdict(0, reason=f"the completion's value at {self.path!r} is not the gold value")


def _at(value: Any, path: str) -> Any:
    """The value at a path, `_ABSENT` where it leads nowhere."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for name in re.sub(r"\[(\d+)\]", r".\1", path).strip(".").split("."):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif (
            isinstance(value, list)
            and name.isascii()
            and name.isdecimal()
            and len(name) < 10
            and int(name) < len(value)
        ):
            value = value[int(name)]
        else:
            return _ABSENT
    return value


def _meets(value: Any, gold: Any) -> bool:
    """Whether a value is the gold, or the JSON that a gold text is."""
    if same_value(value, gold):
        return True
    if not isinstance(gold, str) or isinstance(value, str):
        return False
    try:
        return same_value(value, read_json(gold))
    except NotJSONError:  # a gold that is text and nothing else
        return False
