"""One line of the ledger: what happened, the running totals after it, and the hash that links it to the one before."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hedgerow.errors import InternalError
from hedgerow.ledger.limits import Units

FORMAT = 1
"""Version of the format; a program refuses a ledger of a later version."""

BEGINNING = "0" * 64
"""The hash before the first entry."""

OPENED, CHARGED, ANSWERED, FAILED, RAISED = "opened", "charged", "answered", "failed", "raised"
REPEATED, REUSED = "repeated", "reused"
"""A question repeated under its charge after a failure without noise; a release that answered another question."""


def canonical(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return JSON in a canonical spelling, for hashing; raise an `InternalError` if it is not JSON."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
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

    def plus(self, asked: Units, queries: int) -> "Account":
        """The account after one more charge."""
        return Account(
            self.period, self.current + asked, self.lifetime + asked, self.charges + 1, self.queries + queries
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
class Entry:
    """A line of the ledger. `total` and `own` (of the analyst, in a charge) are the accounts after it.

    `refers` is the sequence number of the entry that it follows from: an answer or a failure from its charge, a
    repetition from the failure. At most one entry follows from each; the store enforces it.
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

    @cached_property
    def state_text(self) -> str:
        """The accounts as they are stored."""
        return canonical({"total": self.total.to_dict(), "own": None if self.own is None else self.own.to_dict()})

    @cached_property
    def body_text(self) -> str:
        """The body as it is stored."""
        return canonical(self.body)

    @cached_property
    def hash(self) -> str:
        """Hash of everything in the entry, including the hash of the one before it."""
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
            "previous": self.previous,
            "hash": self.hash,
        }


def digest(*parts: str | int | None) -> str:
    """Return the SHA-256 of the parts, with unambiguous boundaries."""
    return hashlib.sha256(canonical(parts).encode()).hexdigest()
