"""What a ledger asks of the place where it is kept. SQLite is one; another is one more file."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from hedgerow.ledger.entries import Entry


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release that was paid for, as its maker wrote it, and what it may be reused for.

    `noise` says what was asked for, as plain JSON; two releases are compared by their noise, never by their values.
    `answers` names what else it has answered since, by the same names as `noise`.
    """

    charge: int
    fingerprint: str
    version: str | None
    noise: str
    payload: bytes
    answers: frozenset[str] = frozenset()


class Reader(Protocol):
    """Looking at one consistent state of the book."""

    def first(self) -> Entry:
        """The entry that opened it."""

    def last(self) -> Entry:
        """The latest entry, with the running totals."""

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge, with that analyst's running totals."""

    def last_terms(self) -> Entry:
        """The latest entry that states terms: the opening one, or a raise."""

    def outcome_of(self, sequence: int) -> Entry | None:
        """The entry that follows from this one: how a charge ended, or None while nobody said."""

    def analysts(self) -> list[str]:
        """Everybody who was ever charged."""

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """Some entries (or charges of one analyst) in order, from the first one behind `after`; none at the end."""

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question about one version of the data, the latest first."""

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries that say something about that question without a release of their own, the latest first."""

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""


class Writer(Reader, Protocol):
    """The same, alone with the book: nobody else writes until this is durable or undone."""

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""


class Store(Protocol):
    """A durable, append-only book of entries."""

    def read(self) -> AbstractContextManager[Reader]:
        """Look at the book."""

    def write(self) -> AbstractContextManager[Writer]:
        """Write to the book: durable when the block ends, undone if it raises."""

    def check(self) -> None:
        """Look for damage below the level of entries, however long it takes."""

    def close(self) -> None:
        """Let go of it."""
