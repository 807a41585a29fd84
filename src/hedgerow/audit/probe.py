"""What made-up people add to the exact sums of a query, seen by running its own SQL over them.

The rows are made up, so nothing is private about them, and no noise is needed to look.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import duckdb

from hedgerow.audit.blueprint import Blueprint
from hedgerow.audit.layout import Sheet
from hedgerow.audit.people import Crowd, Person
from hedgerow.compiled import ALL_KEYS, SELECTED, UNITS

SUM = re.compile(r"s\d+")

Group = tuple[int, tuple[str, ...]]
"""The number of a statement of the query, and a key."""

Footprint = Mapping[Group, tuple[int, ...]]
"""For each group, the integers that the database returns for it."""


@dataclass(frozen=True)
class Probe:
    """A database to look at people in, a few at a time."""

    blueprint: Blueprint
    sheets: tuple[Sheet, ...]
    texts: tuple[str, ...]
    connection: duckdb.DuckDBPyConnection

    def footprint(self, *people: Person) -> Footprint:
        """What these people add all by themselves."""
        crowd = Crowd(self.sheets)
        crowd.add(*people)
        return self.of(crowd)

    def of(self, crowd: Crowd) -> Footprint:
        """What a whole crowd adds up to."""
        self.connection.execute("BEGIN TRANSACTION")
        try:
            crowd.settle(self.blueprint, self.connection)
            return self._looked()
        finally:
            self.connection.execute("ROLLBACK")

    def _looked(self) -> Footprint:
        found: dict[Group, tuple[int, ...]] = {}
        for place, text in enumerate(self.texts):
            result = self.connection.execute(text)
            names = [column[0] for column in result.description or ()]
            for row in result.fetchall():
                key, numbers = _parted(names, row)
                if key or any(numbers):
                    before = found.get((place, key), (0,) * len(numbers))
                    found[place, key] = tuple(a + b for a, b in zip(before, numbers, strict=True))
        return found


def survey_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Those statements of a query that need no released keys."""
    return tuple(text for text in texts if SELECTED not in text)


def _parted(names: Sequence[str], row: Sequence[object]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """A row as its key, in words, and its integers."""
    pairs = [(name, value) for name, value in zip(names, row, strict=True) if name != ALL_KEYS]
    counted = [name == UNITS or SUM.fullmatch(name) is not None or name.startswith("hedgerow_") for name, _ in pairs]
    key = tuple(str(value) for (_, value), number in zip(pairs, counted, strict=True) if not number)
    numbers = (value for (_, value), number in zip(pairs, counted, strict=True) if number)
    return key, tuple(int(value) if isinstance(value, int | Decimal) else 0 for value in numbers)
