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

from hedgerow.audit.blueprint import Blueprint, Place, Pool
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


MOST_LOOKS = 300
PATIENCE = 40
"""How many people are looked at in vain, once somebody counts, before the search is content."""

ROWS = (1, 1, 3)
"""How many rows of a kind people have in turn: a query may ask for people with several."""

KINDS_OF_ROWS = (1, 1, 1, 2, 1, 1, 3)
"""And how many different kinds: a query may compare rows of one person."""


@dataclass(frozen=True)
class Found:
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
        more = ({**self.examples[0], **each} for each in cells)
        return Person((*self.examples[1:], *more), self.copies)


class Search:
    """Looks for people who count in different groups. What it tries is the same each time: it makes rows, not noise."""

    def __init__(self, probe: Probe, pools: Mapping[Place, Pool], used: Sequence[Place]) -> None:
        self._probe = probe
        self._pools = pools
        self._used = tuple(place for place in used if place in pools)
        self._random = Random(0)  # noqa: S311 - rows that are made up are no secret

    def people(self, wanted: int) -> list[Found]:
        """People in up to `wanted` different groups, one for each; none where nobody was found who counts."""
        found: dict[frozenset[Group], Found] = {}
        vain = 0
        for look in range(MOST_LOOKS):
            if len(found) >= wanted or (found and vain > PATIENCE):
                break
            examples = self._varied(list(found.values())) if found and look % 2 else self._fresh(look)
            copies = ROWS[look % len(ROWS)]
            footprint = self._probe.footprint(Person(examples, copies))
            new = bool(footprint) and not any(set(footprint) & groups for groups in found)
            vain = 0 if new else vain + 1
            if new:
                found[frozenset(footprint)] = Found(examples, copies, footprint)
        return list(found.values())

    def _fresh(self, look: int) -> tuple[Example, ...]:
        """Somebody new: with one row of every table; later also with different rows, or with none of some table."""
        examples = tuple(self._example() for _ in range(KINDS_OF_ROWS[look % len(KINDS_OF_ROWS)]))
        if look % 5 != 4:
            return examples
        absent = self._random.choice(self._probe.sheets).name
        return tuple({**example, (absent, ABSENT): ABSENT} for example in examples)

    def _example(self) -> Example:
        example: dict[Place, str | None] = {place: pool.usual[0] for place, pool in self._pools.items()}
        return {**example, **{place: self._choice(place) for place in self._used}}

    def _varied(self, found: Sequence[Found]) -> tuple[Example, ...]:
        """Somebody who counts, but for one or two cells."""
        chosen = self._random.choice(found).examples
        places = self._random.sample(self._used, min(len(self._used), self._random.choice((1, 1, 2))))
        cells = {place: self._choice(place) for place in places}
        return tuple({**example, **cells} for example in chosen)

    def _choice(self, place: Place) -> str | None:
        """A value; every other time one of the first, where the constants of the query are."""
        usual = self._pools[place].usual
        return self._random.choice(usual[:4] if self._random.random() < 0.5 else usual)


def extremes(probe: Probe, pools: Mapping[Place, Pool], main: Found) -> dict[str, Example]:
    """Cells that make somebody in the group of `main` add as much as possible, and as little: "high" and "low".

    Every column of numbers is set to its end, and further and further beyond; what keeps the person in the group
    and moves the sums the furthest is taken, the furthest value among equals.
    """
    found: dict[str, Example] = {}
    for name, sign in (("high", 1), ("low", -1)):
        best = _size(main.footprint, main.groups)
        for overrides in _overrides(pools, name):
            kept, size = _kept(probe, main, overrides)
            if kept and sign * (size - best) >= 0:
                best, found[name] = size, kept
    return found


def others(probe: Probe, pools: Mapping[Place, Pool], main: Found) -> dict[Place, list[str | None]]:
    """By column, the values that leave somebody in the group of `main`, and in no other."""
    found: dict[Place, list[str | None]] = {}
    for place, pool in pools.items():
        texts = [text for text in pool.usual if text != main.examples[0][place]]
        person = main.with_rows([{place: text} for text in texts])
        if texts and frozenset(probe.footprint(person)) == main.groups:
            found[place] = texts
    return found


def _overrides(pools: Mapping[Place, Pool], name: str) -> list[Example]:
    """All columns of numbers at the same step outwards; those with fewer steps stay at their last."""
    ends = {place: getattr(pool, name) for place, pool in pools.items() if getattr(pool, name)}
    most = max((len(texts) for texts in ends.values()), default=0)
    return [{place: texts[min(step, len(texts) - 1)] for place, texts in ends.items()} for step in range(most)]


def _kept(probe: Probe, main: Found, overrides: Example) -> tuple[Example, int]:
    """As many of the overrides as leave the person in the group, and what the person then adds there."""
    size = _stays(probe, main, overrides)
    if size is not None:
        return overrides, size
    kept: dict[Place, str | None] = {}
    best = 0
    for place, text in overrides.items() if len(overrides) > 1 else ():
        size = _stays(probe, main, {**kept, place: text})
        if size is not None:
            kept[place], best = text, size
    return kept, best


def _stays(probe: Probe, main: Found, overrides: Example) -> int | None:
    """Return what the person adds in the group, None where they leave it."""
    footprint = probe.footprint(main.person(overrides))
    return _size(footprint, main.groups) if main.groups <= frozenset(footprint) else None


def _size(footprint: Footprint, groups: frozenset[Group]) -> int:
    return sum(sum(numbers) for group, numbers in footprint.items() if group in groups)
