"""A ledger's book in memory, begun again before every run: each statement is priced as the first one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from hedgerow.catalog import BudgetPolicy
from hedgerow.ledger import StoredRelease
from hedgerow.ledger.base import now, timestamp
from hedgerow.ledger.entries import BEGINNING, CHARGED, FORMAT, OPENED, Account, Entry
from hedgerow.ledger.terms import LedgerTerms

NAME = "audit"
"""The id of the ledger: receipts of an audit are no receipts of the owner's ledger."""


class Book:
    """What a `Ledger` asks of its store, in lists. Nothing of it is durable, and nothing was asked of real data."""

    def __init__(self, dataset: str, policy: BudgetPolicy) -> None:
        opened = timestamp(now())
        body = {"ledger": NAME, "dataset": dataset, "format": FORMAT, "terms": LedgerTerms.of(policy).to_dict()}
        self._entries = [Entry(0, OPENED, opened, None, None, Account(opened), None, body, BEGINNING)]
        self._releases: dict[int, StoredRelease] = {}

    def begin_again(self) -> None:
        """Forget every charge."""
        del self._entries[1:]
        self._releases.clear()

    @contextmanager
    def read(self) -> Iterator[Self]:
        """Look at the book."""
        yield self

    @contextmanager
    def write(self) -> Iterator[Self]:
        """Write to the book; undone if it raises."""
        written = len(self._entries)
        try:
            yield self
        except BaseException:
            del self._entries[written:]
            raise

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""
        self._entries.append(entry)
        if release is not None:
            self._releases[entry.sequence] = release

    def first(self) -> Entry:
        """The entry that opened it."""
        return self._entries[0]

    def last(self) -> Entry:
        """The latest entry."""
        return self._entries[-1]

    def last_terms(self) -> Entry:
        """The entry that states terms: they are never raised here."""
        return self._entries[0]

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""
        return self._entries[sequence] if 0 <= sequence < len(self._entries) else None

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge."""
        return next((each for each in reversed(self._charges()) if each.analyst == analyst), None)

    def outcome_of(self, sequence: int) -> Entry | None:
        """The entry that follows from this one, if there is one."""
        return next((each for each in self._entries if each.refers == sequence), None)

    def analysts(self) -> list[str]:
        """Everybody who was charged since the book was begun."""
        return sorted({each.analyst for each in self._charges() if each.analyst is not None})

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """All entries (or charges of one analyst) behind `after`."""
        found = self._entries if analyst is None else [each for each in self._charges() if each.analyst == analyst]
        return [each for each in found if each.sequence > after]

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question, the latest first."""
        found = [self._releases[number] for number in self._about(fingerprint, version)]
        return [each for each in found if each.payload]

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries about that question without a release of their own, the latest first."""
        return [self._entries[n] for n in self._about(fingerprint, version) if not self._releases[n].payload]

    def _about(self, fingerprint: str, version: str | None) -> list[int]:
        asked = (fingerprint, version)
        return [n for n, each in reversed(self._releases.items()) if (each.fingerprint, each.version) == asked]

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""
        return self._releases.get(sequence)

    def check(self) -> None:
        """There is nothing below the level of entries that could be damaged."""

    def close(self) -> None:
        """There is nothing to let go of."""

    def _charges(self) -> list[Entry]:
        return [each for each in self._entries if each.kind == CHARGED]
