"""Texts made up for a field by what its name says: people, places, things, dates, sentences."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence

from whileai.engine.ids import Draw
from whileai.engine.nouns import listed

_FIRST = listed(
    """
    Mara Jonas Priya Tomas Aiko Lena Omar Sofia Henrik Noor Diego Ines Kofi Yara Emil Rosa Viktor Amina Oskar
    Mei Pavel Nadia Bruno Freya
    """
)
_LAST = listed(
    """
    Lindt Okafor Moreau Sato Novak Rossi Haddad Larsen Mehta Duarte Keller Varga Brandt Osei Silva Petrov Kovac
    Yilmaz Ferrer Holm Adler Costa Nkosi Tanaka
    """
)
_CITIES = listed(
    """
    Lisbon Oslo Kyoto Montreal Nairobi Prague Valencia Bergen Cork Graz Turin Osaka Perth Quito Tallinn Utrecht
    Malmo Leipzig Porto Ghent Denver Adelaide
    """
)
_COUNTRIES = listed(
    """
    Portugal Norway Japan Canada Kenya Austria Ireland Estonia Italy Belgium Spain Sweden
    """
)
_STREETS = listed(
    """
    Harbour Mill Orchard Station Chapel River Garden Castle Linden Market Bridge Meadow
    """
)
_THINGS = listed(
    """
    Cedar Harbor Falcon Juniper Summit Aurora Maple Lantern Granite Willow Comet Beacon Saffron Ember Orbit
    Quartz Thistle Marlin Tundra Pebble
    """
)
_KINDS = listed(
    """
    kit lamp plan report desk notebook course adapter jacket filter session bundle panel guide
    """
)
_SENTENCES = (
    "It arrived later than promised.",
    "The plans for that week have changed.",
    "Two of these were made by accident.",
    "It does not do what the page said.",
    "A cheaper one turned up elsewhere.",
    "The details on file are out of date.",
    "Somebody else has taken care of it.",
    "The first attempt went wrong halfway.",
)
_JOURNEYS = frozenset(listed("flight trip train route ticket journey transfer direction"))
_NUMBERED = frozenset(listed("code number sku reference ref serial symbol ticker isbn iban token"))
_STATUSES = ("open", "pending", "active", "waiting", "new")
_EPOCH = dt.datetime(2024, 1, 8, 9, 0)  # noqa: DTZ001 - a fixed day: worlds have no clock
_PHONE = re.compile(r"phone|mobile|fax")


def by_name(parts: Sequence[str], name: str, draw: Draw) -> str:  # noqa: C901, PLR0912 - one table of names
    """A text for the field `name`, whose words are `parts`."""
    has = set(parts)
    last = parts[-1]
    if "email" in has or last == "mail":
        return _email(draw)
    if has & {"time", "at", "timestamp", "datetime"} and "date" not in has:
        return _moment(draw).strftime("%H:%M") if last == "time" else _moment(draw).isoformat() + "Z"
    if has & {"date", "day", "deadline", "due", "until", "since", "birthday", "checkin", "checkout"}:
        return _moment(draw).date().isoformat()
    if _PHONE.search(name.lower()):
        return f"+1-555-01{draw.between(10, 99)}"
    if has & {"address", "street"}:
        return f"{draw.between(3, 98)} {draw.pick(_STREETS)} Street, {draw.pick(_CITIES)}"
    if has & {"to", "from"} and has & _JOURNEYS:
        return draw.pick(_CITIES)
    if has & {"city", "origin", "destination", "location", "place", "airport", "town", "region"}:
        return draw.pick(_CITIES)
    if "country" in has:
        return draw.pick(_COUNTRIES)
    if has & {"zip", "postcode", "postal"}:
        return f"{draw.between(10_000, 98_999)}"
    if "currency" in has:
        return draw.pick(("EUR", "USD", "GBP", "CHF"))
    if has & {"language", "locale", "lang"}:
        return draw.pick(("en", "de", "pt", "ja"))
    if "status" in has or last == "state":
        return draw.pick(_STATUSES)
    if "first" in has and "name" in has:
        return draw.pick(_FIRST)
    if has & {"surname", "lastname"} or ("last" in has and "name" in has):
        return draw.pick(_LAST)
    if has & {"customer", "user", "person", "assignee", "owner", "author", "recipient", "contact", "employee", "guest",
              "patient", "passenger", "member", "fullname", "username"} or name in ("full_name", "to"):  # fmt: skip
        first, family = draw.pick(_FIRST), draw.pick(_LAST)
        return f"{first}.{family}".lower() if "username" in has else f"{first} {family}"
    if has & {"url", "link", "website"}:
        return _url(draw)
    if has & {"path", "file", "filename", "folder", "directory"}:
        return f"{draw.pick(_THINGS).lower()}/{draw.pick(_KINDS)}_{draw.between(10, 99)}.txt"
    if has & {"reason", "note", "notes", "comment", "message", "body", "text", "content", "description", "details",
              "feedback", "explanation", "summary"}:  # fmt: skip
        return draw.pick(_SENTENCES)
    if has & {"expression", "formula", "equation"}:
        return f"{draw.between(12, 98)} * {draw.between(3, 19)} + {draw.between(2, 99)}"
    if has & {"sql"}:
        return f"select count(*) from {draw.pick(_KINDS)}s"  # noqa: S608 - a made-up argument, run nowhere
    if last == "id" or has & _NUMBERED:
        return f"{parts[0][:3].upper()}-{draw.between(10_000, 99_999)}"
    return f"{draw.pick(_THINGS)} {draw.pick(_KINDS)}"


def _email(draw: Draw) -> str:
    return f"{draw.pick(_FIRST)}.{draw.pick(_LAST)}@{draw.pick(_THINGS)}mail.example".lower()


def _url(draw: Draw) -> str:
    return f"https://{draw.pick(_THINGS).lower()}.example/{draw.pick(_KINDS)}/{draw.between(100, 999)}"


def _uuid(draw: Draw) -> str:
    digits = f"{draw.below(1 << 62):016x}{draw.below(1 << 62):016x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def _moment(draw: Draw) -> dt.datetime:
    return _EPOCH + dt.timedelta(days=draw.between(0, 500), minutes=15 * draw.between(0, 32))


#: A format of JSON Schema -> a text in it.
FORMATS: dict[str, Callable[[Draw], str]] = {
    "date": lambda draw: _moment(draw).date().isoformat(),
    "date-time": lambda draw: _moment(draw).isoformat() + "Z",
    "time": lambda draw: _moment(draw).strftime("%H:%M:%SZ"),
    "duration": lambda draw: f"PT{draw.between(1, 12)}H",
    "email": _email,
    "uuid": _uuid,
    "uri": _url,
    "ipv4": lambda draw: f"10.{draw.below(250)}.{draw.below(250)}.{draw.between(1, 250)}",
}
