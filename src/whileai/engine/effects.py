"""Whether a tool reads, writes or deletes, guessed from the verb in its name."""

from __future__ import annotations

from whileai.engine.nouns import parts_of

EFFECTS = ("read", "write", "delete")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READ = _listed(
    "get list find search read fetch look lookup check query show view describe count retrieve load track verify"
    " validate calculate compute convert translate summarize summarise compare estimate predict browse scan inspect"
    " preview is has exists ask think explain status details info history summary"
)
_DELETE = _listed(
    "delete cancel remove drop destroy revoke void erase purge clear unsubscribe deactivate uninstall discard"
)
_WRITE = _listed(
    "create update set send add write put make save store insert upsert edit modify change rename move reserve buy pay"
    " charge refund issue process submit open close schedule reschedule transfer assign escalate notify reply forward"
    " publish upload apply approve reject confirm grant deny enable disable activate start stop run execute launch"
    " restart reset register subscribe return exchange replace redeem merge split sign lock unlock pause resume invite"
    " share block resolve reopen"
)
#: Verbs that are nouns as often: they count where the name has no other verb, and only as its first word.
_NOUNS_TOO = _listed("order book file email message record report log copy tag flag link post mark ship call rate")


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
