"""Made-up people that a query reads: found at random, by what they add to its exact sums, and varied.

What made-up people add to the exact sums of a query, seen by running its own SQL over them.

The rows are made up, so nothing is private about them, and no noise is needed to look.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

import duckdb

from hedgerow.audit.blueprint import Blueprint, ColumnRef, Pool
from hedgerow.audit.people import ABSENT, Crowd, Example, Person, Sheet
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
        """Return what these people add all by themselves."""
        crowd = Crowd(self.sheets)
        crowd.add(*people)
        return self.of(crowd)

    def of(self, crowd: Crowd) -> Footprint:
        """Return what a whole crowd adds up to."""
        self.connection.execute("BEGIN TRANSACTION")
        try:
            crowd.settle(self.blueprint, self.connection)
            return self._looked()
        finally:
            self.connection.execute("ROLLBACK")

    def _looked(self) -> Footprint:
        footprint: dict[Group, tuple[int, ...]] = {}
        for index, text in enumerate(self.texts):
            result = self.connection.execute(text)
            names = [column[0] for column in result.description or ()]
            for row in result.fetchall():
                key, numbers = _parted(names, row)
                if key or any(numbers):
                    before = footprint.get((index, key), (0,) * len(numbers))
                    footprint[index, key] = tuple(a + b for a, b in zip(before, numbers, strict=True))
        return footprint


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


MOST_LOOKS = 300
PATIENCE = 40
"""How many people are looked at in vain, once somebody counts, before the search is content."""

ROWS = (1, 1, 3)
"""How many rows of a kind people have in turn: a query may ask for people with several."""

KINDS_OF_ROWS = (1, 1, 1, 2, 1, 1, 3)
"""And how many different kinds: a query may compare rows of one person."""


@dataclass(frozen=True)
class Match:
    """Somebody who counts: what their rows are like, how many there are of each, and what they add."""

    examples: tuple[Example, ...]
    copies: int
    footprint: Footprint

    @property
    def groups(self) -> frozenset[Group]:
        """Where they count."""
        return frozenset(self.footprint)

    def person(self, overrides: Example | None = None) -> Person:
        """Such a person, with some cells replaced."""
        return Person(tuple({**example, **(overrides or {})} for example in self.examples), self.copies)

    def with_rows(self, cells: Sequence[Example]) -> Person:
        """Such a person, with a row more for each of these cells."""
        more = ({**self.examples[0], **changes} for changes in cells)
        return Person((*self.examples[1:], *more), self.copies)


class Search:
    """Looks for people who count in different groups. What it tries is the same each time: it makes rows, not noise."""

    def __init__(self, probe: Probe, pools: Mapping[ColumnRef, Pool], used: Sequence[ColumnRef]) -> None:
        self._probe = probe
        self._pools = pools
        self._used = tuple(column for column in used if column in pools)
        self._random = Random(0)  # noqa: S311 - rows that are made up are no secret

    def people(self, wanted: int) -> list[Match]:
        """People in up to `wanted` different groups, one for each; none where nobody was found who counts."""
        people_by_groups: dict[frozenset[Group], Match] = {}
        vain = 0
        for look in range(MOST_LOOKS):
            if len(people_by_groups) >= wanted or (people_by_groups and vain > PATIENCE):
                break
            examples = (
                self._varied(list(people_by_groups.values())) if people_by_groups and look % 2 else self._fresh(look)
            )
            copies = ROWS[look % len(ROWS)]
            footprint = self._probe.footprint(Person(examples, copies))
            new = bool(footprint) and not any(set(footprint) & groups for groups in people_by_groups)
            vain = 0 if new else vain + 1
            if new:
                people_by_groups[frozenset(footprint)] = Match(examples, copies, footprint)
        return list(people_by_groups.values())

    def _fresh(self, look: int) -> tuple[Example, ...]:
        """Somebody new: with one row of every table; later also with different rows, or with none of some table."""
        examples = tuple(self._example() for _ in range(KINDS_OF_ROWS[look % len(KINDS_OF_ROWS)]))
        if look % 5 != 4:
            return examples
        absent = self._random.choice(self._probe.sheets).name
        return tuple({**example, (absent, ABSENT): ABSENT} for example in examples)

    def _example(self) -> Example:
        example: dict[ColumnRef, str | None] = {column: pool.usual[0] for column, pool in self._pools.items()}
        return {**example, **{column: self._choice(column) for column in self._used}}

    def _varied(self, people: Sequence[Match]) -> tuple[Example, ...]:
        """Somebody who counts, but for one or two cells."""
        chosen = self._random.choice(people).examples
        columns = self._random.sample(self._used, min(len(self._used), self._random.choice((1, 1, 2))))
        cells = {column: self._choice(column) for column in columns}
        return tuple({**example, **cells} for example in chosen)

    def _choice(self, column: ColumnRef) -> str | None:
        """A value; every other time one of the first, where the constants of the query are."""
        usual = self._pools[column].usual
        return self._random.choice(usual[:4] if self._random.random() < 0.5 else usual)


def extremes(probe: Probe, pools: Mapping[ColumnRef, Pool], main: Match) -> dict[str, Example]:
    """Cells that make somebody in the group of `main` add as much as possible, and as little: "high" and "low".

    Every column of numbers is set to its end, and further and further beyond; what keeps the person in the group
    and moves the sums the furthest is taken, the furthest value among equals.
    """
    ends: dict[str, Example] = {}
    for name, sign in (("high", 1), ("low", -1)):
        best = _size(main.footprint, main.groups)
        for overrides in _overrides(pools, name):
            kept, size = _kept(probe, main, overrides)
            if kept and sign * (size - best) >= 0:
                best, ends[name] = size, kept
    return ends


def others(probe: Probe, pools: Mapping[ColumnRef, Pool], main: Match) -> dict[ColumnRef, list[str | None]]:
    """By column, the values that leave somebody in the group of `main`, and in no other."""
    values: dict[ColumnRef, list[str | None]] = {}
    for column, pool in pools.items():
        texts = [text for text in pool.usual if text != main.examples[0][column]]
        person = main.with_rows([{column: text} for text in texts])
        if texts and frozenset(probe.footprint(person)) == main.groups:
            values[column] = texts
    return values


def _overrides(pools: Mapping[ColumnRef, Pool], name: str) -> list[Example]:
    """All columns of numbers at the same step outwards; those with fewer steps stay at their last."""
    ends = {column: getattr(pool, name) for column, pool in pools.items() if getattr(pool, name)}
    longest = max((len(texts) for texts in ends.values()), default=0)
    return [{column: texts[min(step, len(texts) - 1)] for column, texts in ends.items()} for step in range(longest)]


def _kept(probe: Probe, main: Match, overrides: Example) -> tuple[Example, int]:
    """As many of the overrides as leave the person in the group, and what the person then adds there."""
    size = _stays(probe, main, overrides)
    if size is not None:
        return overrides, size
    kept: dict[ColumnRef, str | None] = {}
    best = 0
    for column, text in overrides.items() if len(overrides) > 1 else ():
        size = _stays(probe, main, {**kept, column: text})
        if size is not None:
            kept[column], best = text, size
    return kept, best


def _stays(probe: Probe, main: Match, overrides: Example) -> int | None:
    """Return what the person adds in the group, None where they leave it."""
    footprint = probe.footprint(main.person(overrides))
    return _size(footprint, main.groups) if main.groups <= frozenset(footprint) else None


def _size(footprint: Footprint, groups: frozenset[Group]) -> int:
    return sum(sum(numbers) for group, numbers in footprint.items() if group in groups)
