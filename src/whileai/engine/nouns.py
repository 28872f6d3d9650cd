"""What the name of a tool says: its verb, what that does, the thing it is about, and what that is once it is done."""

from __future__ import annotations

import re
from functools import lru_cache


def listed(words: str) -> tuple[str, ...]:
    """The words of a text; for tables that are easier to read as one."""
    return tuple(words.split())


#: Verbs that a tool's name may start or end with, in the form used after "please".
READ_VERBS = frozenset(
    listed(
        """
    get list find search fetch read view show check lookup look query retrieve describe count track inspect
    verify validate calculate compute translate summarise predict preview scan estimate convert compare
    summarize parse extract print play download browse select load recommend
    """
    )
)
MAKE_VERBS = frozenset(
    listed(
        """
    create add make open book place schedule register submit issue file order reserve start post write insert
    generate upload request log record send reply notify email message invite build compose draft design render
    deploy install prepare produce import export
    """
    )
)
CHANGE_VERBS = frozenset(
    listed(
        """
    update set change edit modify move assign rename reschedule transfer pay charge refund return exchange apply
    approve reject confirm complete resolve mark enable activate extend renew upgrade downgrade escalate put
    patch save replace publish merge lock unlock reset restore ship tag link share subscribe toggle turn adjust
    increase decrease rate vote train format run execute launch buy sign pause resume grant deny redeem split
    reopen block
    """
    )
)
END_VERBS = frozenset(
    listed(
        """
    delete cancel remove close archive revoke drop terminate disable deactivate unsubscribe clear discard void
    stop end purge destroy unassign unlink
    """
    )
)
VERBS = READ_VERBS | MAKE_VERBS | CHANGE_VERBS | END_VERBS
#: Verbs that answer with any number of things.
LIST_VERBS = frozenset(("list", "search", "find", "query", "browse", "count", "recommend", "select"))

_DONE = {
    "send": "sent", "pay": "paid", "put": "put", "make": "made", "set": "set", "reset": "reset", "write": "written",
    "drop": "dropped", "tag": "tagged", "log": "logged", "stop": "stopped", "ship": "shipped", "reply": "replied",
    "apply": "applied", "modify": "modified", "notify": "notified", "cancel": "cancelled", "submit": "submitted",
    "transfer": "transferred", "void": "voided", "end": "ended", "do": "done", "read": "read", "find": "found",
}  # fmt: skip
_IRREGULAR = {"people": "person", "children": "child", "data": "data", "series": "series", "news": "news", "sms": "sms"}
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")
_LINKS = frozenset(("by", "for", "from", "of", "in", "with", "to", "on", "at", "and", "the", "a", "an", "all", "my"))


@lru_cache(maxsize=4096)
def parts_of(name: str) -> tuple[str, ...]:
    """The words of an identifier, lower case: ``getOrder``, ``get-order`` and ``get_order`` alike."""
    return tuple(part.lower() for part in _PARTS.findall(name)) or (name.lower(),)


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """One of the things an English noun names many of."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word.removesuffix("s")


def plural(noun: str) -> str:
    """Many of the things an English noun names."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun if singular(noun) != noun else noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun if noun in ("data", "news", "weather", "information", "inventory") else noun + "s"


@lru_cache(maxsize=4096)
def verb_noun(name: str) -> tuple[str, str, bool]:
    """The verb of a tool's name (empty where it has none), its noun in the singular, and whether it named many.

    ``search_flights`` gives ``("search", "flight", True)``, ``refund`` gives ``("refund", "", False)``.
    """
    words = list(parts_of(name.rpartition("__")[2] or name))  # mcp__files__read_file: the server's name is no noun
    verb, named_many = "", True
    if words[0] in VERBS:
        verb = words.pop(0)
        if verb == "look" and words[:1] == ["up"]:
            words.pop(0)
    elif words[-1] in VERBS and len(words) > 1:
        verb = words.pop()
        named_many = verb in LIST_VERBS  # orders.cancel is about one of the orders
    cut = next((place for place, word in enumerate(words) if word in _LINKS and place), len(words))
    words = [word for word in words[:cut] if word not in _LINKS]
    if not words:
        return verb, "", False
    last = singular(words[-1])
    return verb, " ".join([*words[:-1], last]), named_many and last != words[-1]


def done_word(verb: str) -> str:
    """What a thing is once `verb` is done to it: ``cancel`` -> ``cancelled``, ``update`` -> ``updated``."""
    if not verb:
        return "done"
    if verb in _DONE:
        return _DONE[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def article(noun: str) -> str:
    """``a`` or ``an``."""
    return "an" if noun[:1].lower() in "aeiou" and not noun.lower().startswith(("uni", "use", "one")) else "a"


def words(name: str) -> str:
    """An identifier as words: ``shipping_address`` -> ``shipping address``."""
    return " ".join("ID" if part == "id" else part for part in parts_of(name))


#: What a call does to the world.
EFFECTS = ("read", "write", "delete")


_READ = frozenset(
    listed(
        """
    get list find search read fetch look lookup check query show view describe count retrieve load track
    verify validate calculate compute convert translate summarize summarise compare estimate predict browse
    scan inspect preview is has exists ask think explain status details info history summary
    """
    )
)
_DELETE = frozenset(
    listed(
        """
    delete cancel remove drop destroy revoke void erase purge clear unsubscribe deactivate uninstall discard
    """
    )
)
_WRITE = frozenset(
    listed(
        """
    create update set send add write put make save store insert upsert edit modify change rename move
    reserve buy pay charge refund issue process submit open close schedule reschedule transfer assign
    escalate notify reply forward publish upload apply approve reject confirm grant deny enable disable
    activate start stop run execute launch restart reset register subscribe return exchange replace redeem
    merge split sign lock unlock pause resume invite share block resolve reopen
    """
    )
)
#: Verbs that are nouns as often: they count where the name has no other verb, and only as its first word.
_NOUNS_TOO = frozenset(
    listed(
        """
    order book file email message record report log copy tag flag link post mark ship call rate
    """
    )
)


def verb_of(name: str) -> str:
    """The verb of a tool's name: its first word that is one, else its first word, else nothing."""
    words = parts_of(name)
    known = (word for word in words if word in _READ or word in _WRITE or word in _DELETE)
    return next(known, words[0] if words else "")


def guessed_effect(name: str) -> str:
    """``read``, ``write`` or ``delete``; ``read`` where the name has no verb that is known.

    Examples
    --------
    >>> [guessed_effect(name) for name in ("get_order", "orders.cancel", "bookFlight", "order_status", "weather")]
    ['read', 'delete', 'write', 'read', 'read']
    """
    verb = verb_of(name)
    return "delete" if verb in _DELETE else "write" if verb in _WRITE or verb in _NOUNS_TOO else "read"
