"""One line of the ledger: what happened, the running totals after it, and the hash that links it to the one before.

The hash of an entry is that of its `Link`: the totals, the amounts and the terms, in the open, and one seal over the
rest (price, question, person and time). So the chain and its sums can be checked by somebody who sees no question.
Entries of format 1 are hashed as a whole, and stay as they are.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hedgerow.errors import InternalError
from hedgerow.ledger.limits import Units

FORMAT = 2
"""Version of the format; a program refuses a ledger of a later version."""

BEGINNING = "0" * 64
"""The hash before the first entry."""

OPENED, CHARGED, ANSWERED, FAILED, RAISED = "opened", "charged", "answered", "failed", "raised"
REPEATED, REUSED = "repeated", "reused"
"""A question repeated under its charge after a failure without noise; a release that answered another question."""

CONTINUED = "continued"
"""The first entry of format 2 in a ledger of format 1: it states its terms and totals again, to be read in the open."""

KINDS = frozenset({OPENED, CHARGED, ANSWERED, FAILED, RAISED, REPEATED, REUSED, CONTINUED})
"""All kinds of entries. Amounts are charged by `CHARGED` alone."""

OPEN = {
    CHARGED: ("units", "queries"),
    OPENED: ("ledger", "dataset", "format", "terms"),
    CONTINUED: ("ledger", "dataset", "format", "terms"),
    RAISED: ("terms", "from"),
}
"""The parts of a body that are hashed in the open, by kind of entry."""

PRICE = ("epsilon", "delta", "events")
"""The parts of a body that say what a charge paid for, and what it guarantees."""


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return JSON in a canonical spelling, for hashing; raise an `InternalError` if it is not JSON."""
    try:
        return _CANONICAL.encode(value)
    except (TypeError, ValueError):
        raise InternalError("What is written to the ledger must be plain JSON.") from None


@dataclass(frozen=True, slots=True)
class Account:
    """Amounts charged: in the current period, in all, and the number of charges.

    `period` is the start of the current one (ISO text, UTC). `queries` counts in the units of the query-budget note.
    """

    period: str
    current: Units = field(default_factory=Units)
    lifetime: Units = field(default_factory=Units)
    charges: int = 0
    queries: int = 0

    def plus(self, units: Units, queries: int) -> "Account":
        """The account after one more charge."""
        return Account(
            self.period, self.current + units, self.lifetime + units, self.charges + 1, self.queries + queries
        )

    def within(self, period: str) -> "Account":
        """Return the account at the start of `period`; unchanged if it is no later than the account's own."""
        return self if period <= self.period else Account(period, Units(), self.lifetime, self.charges, 0)

    def to_dict(self) -> dict[str, Any]:
        """The account as plain JSON."""
        return {
            "period": self.period,
            "current": self.current.to_dict(),
            "lifetime": self.lifetime.to_dict(),
            "charges": self.charges,
            "queries": self.queries,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Account":
        """Read what `to_dict` wrote."""
        current, lifetime = Units.from_dict(stored["current"]), Units.from_dict(stored["lifetime"])
        return cls(stored["period"], current, lifetime, stored["charges"], stored["queries"])


@dataclass(frozen=True)
class Link:
    """The open part of an entry: what its hash is made of. `sealed` is the seal over the rest.

    `total` is the account after the entry. It and `public` can be checked against the links before, by anybody.
    """

    sequence: int
    kind: str
    refers: int | None
    total: Account
    public: Mapping[str, Any]
    sealed: str
    previous: str

    @cached_property
    def hash(self) -> str:
        """Hash of the link, including the hash of the one before it."""
        account, public = canonical(self.total.to_dict()), canonical(self.public)
        return digest(FORMAT, self.sequence, self.kind, self.refers, account, public, self.sealed, self.previous)


def seal(leaves: Mapping[str, str]) -> str:
    """Return the seal over the leaves of an entry, from the digest of each."""
    return digest(*(leaves[name] for name in sorted(leaves)))


def leaf(salt: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return the digest of one leaf. Nobody who lacks the salt can try values until one fits."""
    return digest(salt, canonical(value))


def new_salt() -> str:
    """Return a new random salt for an entry."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Entry:
    """A line of the ledger. `total` and `own` (of the analyst, in a charge) are the accounts after it.

    `refers` is the sequence number of the entry that it follows from: an answer or a failure from its charge, a
    repetition from the failure. At most one entry follows from each; the store enforces it. `salt` keeps the sealed
    part secret; entries of format 1 have none.
    """

    sequence: int
    kind: str
    time: str
    analyst: str | None
    refers: int | None
    total: Account
    own: Account | None
    body: Mapping[str, Any]
    previous: str
    salt: str | None = None

    @cached_property
    def state_text(self) -> str:
        """The accounts as they are stored."""
        return canonical({"total": self.total.to_dict(), "own": None if self.own is None else self.own.to_dict()})

    @cached_property
    def body_text(self) -> str:
        """The body as it is stored, with the salt."""
        return canonical(self.body if self.salt is None else {**self.body, "salt": self.salt})

    @cached_property
    def leaves(self) -> dict[str, tuple[str, Any]]:
        """The sealed part: salt and value of each leaf, which can be shown or withheld one by one."""
        if self.salt is None:
            raise InternalError("An entry of format 1 has no leaves.")
        named = {*OPEN.get(self.kind, ()), *PRICE}
        values = {
            "price": {name: self.body[name] for name in PRICE if name in self.body},
            "question": {name: value for name, value in self.body.items() if name not in named},
            "who": {
                "time": self.time,
                "analyst": self.analyst,
                "own": None if self.own is None else self.own.to_dict(),
            },
        }
        return {name: (digest(self.salt, name), value) for name, value in values.items()}

    @cached_property
    def link(self) -> Link:
        """The open part of the entry."""
        public = {name: self.body[name] for name in OPEN.get(self.kind, ()) if name in self.body}
        sealed = seal({name: leaf(salt, value) for name, (salt, value) in self.leaves.items()})
        return Link(self.sequence, self.kind, self.refers, self.total, public, sealed, self.previous)

    @cached_property
    def hash(self) -> str:
        """Hash of everything in the entry, including the hash of the one before it."""
        if self.salt is not None:
            return self.link.hash
        return digest(
            self.sequence,
            self.kind,
            self.time,
            self.analyst,
            self.refers,
            self.state_text,
            self.body_text,
            self.previous,
        )

    def copy(self) -> "Entry":
        """Return an equal entry with a body of its own, and with the hash of this one."""
        body = json.loads(self.body_text)
        body.pop("salt", None)
        other = replace(self, body=body)
        other.__dict__["hash"] = self.hash  # a cached property of a frozen class
        return other

    def to_dict(self) -> dict[str, Any]:
        """The entry as one object of the exported trail."""
        return {
            "sequence": self.sequence,
            "kind": self.kind,
            "time": self.time,
            "analyst": self.analyst,
            "refers": self.refers,
            "total": self.total.to_dict(),
            "own": None if self.own is None else self.own.to_dict(),
            "body": dict(self.body),
            "salt": self.salt,
            "previous": self.previous,
            "hash": self.hash,
        }


def digest(*parts: str | int | None) -> str:
    """Return the SHA-256 of the parts, with unambiguous boundaries."""
    return hashlib.sha256(canonical(parts).encode()).hexdigest()
