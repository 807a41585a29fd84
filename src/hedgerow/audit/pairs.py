"""Pairs of neighbouring databases: a crowd, and the same crowd with a worst-case newcomer."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from hedgerow.audit.blueprint import ColumnRef, Pool
from hedgerow.audit.people import Crowd, Example, Match, Person, Sheet, crowd
from hedgerow.distributions import Gaussian, Noise
from hedgerow.privacy.plan import PrivatePlan

FEW = 3
"""Number of people in a group that certainly passes every threshold."""


@dataclass(frozen=True)
class CrowdLimits:
    """Limits that decide the size of a crowd, from the priced plans of the statement: the widest of each.

    Attributes:
        rows: Maximum number of rows of one person, in all and in one group.
        groups: Maximum number of groups that one person counts in for selection.
        several: Whether a person may have several rows at all.
        minimum: Minimum number of people in a group that is shown; 1 means no rule.
        shown: Number of people from which a group is shown almost always; None if no group is withheld.
        threshold: Number of people at which a group is shown about half of the time.
    """

    rows: int
    groups: int
    several: bool
    minimum: int
    shown: int | None
    threshold: int | None

    @classmethod
    def of(cls, plans: Sequence[PrivatePlan]) -> "CrowdLimits":
        """Return the limits of a statement."""
        tests = [plan.selection for plan in plans if plan.selection is not None]
        reaches = [float(test.threshold) + _reach(test.noise) for test in tests]
        return cls(
            max(plan.bounding.rows for plan in plans),
            max(plan.bounding.groups for plan in plans),
            any(plan.bounding.weighted for plan in plans),
            max(plan.minimum for plan in plans),
            math.ceil(max(reaches)) + 1 if tests else None,
            math.ceil(max(float(test.threshold) for test in tests)) if tests else None,
        )

    @property
    def settled(self) -> int:
        """Number of people in a group that is always shown."""
        return FEW if self.shown is None else self.shown


def _reach(noise: Noise) -> float:
    """Return a bound that the noise falls below at most once in a thousand times."""
    return 4 * noise.sigma if isinstance(noise, Gaussian) else 7 * noise.scale


MOST_PEOPLE = 6_000
MOST_ROWS = 2_000
TOO_MANY = 20
"""Factor by which the person with too many rows exceeds the limit."""

ODD = "odd rows"
"""The pair that always runs: its newcomer may change nothing, and the statement must not fail."""


@dataclass(frozen=True)
class Pair:
    """Two neighbours: a crowd, and a newcomer. `kind` is a short name; `words` describe the newcomer and the group."""

    kind: str
    words: str
    crowd: Crowd
    newcomer: Person

    def sides(self) -> tuple[Crowd, Crowd]:
        """Return the database without the newcomer, and with."""
        joined = self.crowd.copy()
        joined.add(self.newcomer)
        return self.crowd, joined


@dataclass(frozen=True)
class Material:
    """Everything that pairs are built from.

    Attributes:
        sheets: The private tables.
        matches: People who count, one for each group.
        ends: Cells that maximise and minimise the contribution of the first of them: "high" and "low".
        others: By column, other values that leave the first of them in the group.
        pools: The values of the cells of each column.
        used: The columns that the query reads.
        limits: The limits of one person, and the number of people from which groups are shown.
    """

    sheets: tuple[Sheet, ...]
    matches: tuple[Match, ...]
    ends: Mapping[str, Example]
    others: Mapping[ColumnRef, Sequence[str | None]]
    pools: Mapping[ColumnRef, Pool]
    used: tuple[ColumnRef, ...]
    limits: CrowdLimits

    @property
    def main(self) -> Match:
        """The first person who counts."""
        return self.matches[0]

    def everywhere(self, people: int) -> Sequence[Match]:
        """Return as many groups as possible with this many people in each."""
        return self.matches[: max(1, MOST_PEOPLE // max(1, people))]

    def newcomer(self, matches: Sequence[Match], copies: int, end: str = "high") -> Person:
        """A person with rows in all these groups, at one end of the values, within the maximum number of rows."""
        people = [match.person(self.ends.get(end)) for match in matches]
        examples = tuple(example for person in people for example in person.examples)
        rows = max(1, min(copies, MOST_ROWS // len(examples)))
        return Person(examples, max(rows, *(person.copies for person in people)))

    def varied(self, cells: Sequence[Example]) -> Person:
        """Return a person in the first group with a row for each of these cells."""
        return self.main.with_rows(cells[: MOST_ROWS // self.main.copies])

    def gathered(self, matches: Sequence[Match], people: int) -> Crowd:
        """Return a crowd with this many people in each of these groups."""
        return crowd(self.sheets, [(people, match.person()) for match in matches])

    def settled(self) -> Crowd:
        """Return the first group, with enough people that it is always shown."""
        return self.gathered([self.main], self.limits.settled)


PairParts = tuple[str, Crowd, Person] | None
"""Description, crowd and newcomer; None if the pair does not apply."""


def pairs(material: Material, kinds: Collection[str]) -> list[Pair]:
    """Return every pair of these kinds that applies to the statement."""
    parts_of = {kind: make(material) for kind, make in MAKERS.items() if kind in kinds}
    return [Pair(kind, *parts) for kind, parts in parts_of.items() if parts is not None]


def _extreme(material: Material, end: str, said: str) -> PairParts:
    limits = material.limits
    newcomer = material.newcomer([material.main], limits.rows if limits.several else 1, end)
    values = f" of the {said} values, far beyond any bounds," if end in material.ends else ""
    words = f"a person with {_rows(newcomer)}{values} joins a group of {limits.settled}"
    return words, material.settled(), newcomer


def _high(material: Material) -> PairParts:
    return _extreme(material, "high", "largest")


def _low(material: Material) -> PairParts:
    return _extreme(material, "low", "smallest") if "low" in material.ends else None


def _other_values(material: Material) -> PairParts:
    """Add rows that nobody else has: one for each value of each column that leaves the person in the group."""
    cells: list[Example] = [{column: text} for column, texts in material.others.items() for text in texts]
    if not cells:
        return None
    newcomer = material.varied(cells if material.limits.several else cells[-1:])
    words = f"a person with {_rows(newcomer)} of values that nobody else has joins a group of {material.limits.settled}"
    return words, material.settled(), newcomer


def _many_rows(material: Material) -> PairParts:
    limits = material.limits
    if not limits.several:
        return None
    newcomer = material.newcomer([material.main], TOO_MANY * limits.rows)
    words = f"a person with {_rows(newcomer)}, of which {limits.rows} count, joins a group of {limits.settled}"
    return words, material.settled(), newcomer


def _many_groups(material: Material) -> PairParts:
    limits, matches = material.limits, material.everywhere(material.limits.settled)
    if not limits.several or len(matches) < 2:
        return None
    words = f"a person joins {len(matches)} groups of {limits.settled}; max_groups is {limits.groups}"
    return words, material.gathered(matches, limits.settled), material.newcomer(matches, limits.rows)


def _pivotal(material: Material) -> PairParts:
    limits = material.limits
    if limits.shown is None:
        return None
    words = f"a person joins a group of {limits.minimum - 1}, which then has the least number to be shown at all"
    base = material.gathered([material.main], limits.minimum - 1)
    return words, base, material.newcomer([material.main], 1)


def _pivotal_everywhere(material: Material) -> PairParts:
    limits, matches = material.limits, material.everywhere(material.limits.minimum)
    if limits.shown is None or not limits.several or len(matches) < 2:
        return None
    words = (
        f"a person joins {len(matches)} groups of {limits.minimum - 1}, which then have the least number to be shown"
    )
    return words, material.gathered(matches, limits.minimum - 1), material.newcomer(matches, 1)


def _at_threshold(material: Material) -> PairParts:
    people = material.limits.threshold
    if people is None:
        return None
    words = f"a person joins a group of {people - 1}, which is shown about every other time"
    return words, material.gathered([material.main], people - 1), material.newcomer([material.main], 1)


def _odd_rows(material: Material) -> PairParts:
    """Add rows with NULL, NaN, infinity and the limits of types: all columns at once, and then one by one."""
    wild = {column: material.pools[column].wild for column in material.used if material.pools[column].wild}
    longest = max((len(texts) for texts in wild.values()), default=0)
    joint: list[Example] = [{p: texts[step % len(texts)] for p, texts in wild.items()} for step in range(longest)]
    single: list[Example] = [{column: text} for column, texts in wild.items() for text in texts]
    if not joint:
        return None
    newcomer = material.varied([*joint, *single] if material.limits.several else joint[:1])
    said = f"{_rows(newcomer)} of NULL, NaN, infinity and the ends of types"
    return f"a person with {said} joins a group of {material.limits.settled}", material.settled(), newcomer


def _alone(material: Material) -> PairParts:
    if material.limits.shown is not None:
        return None
    newcomer = material.newcomer([material.main], material.limits.rows)
    return f"a person with {_rows(newcomer)} is the first of all", Crowd(material.sheets), newcomer


def _rows(person: Person) -> str:
    rows = len(person.examples) * person.copies
    return "1 row" if rows == 1 else f"{rows:,} rows"


MAKERS: Mapping[str, Callable[[Material], PairParts]] = {
    "high values": _high,
    "low values": _low,
    "other values": _other_values,
    "many rows": _many_rows,
    "many groups": _many_groups,
    "pivotal person": _pivotal,
    "pivotal everywhere": _pivotal_everywhere,
    "at the threshold": _at_threshold,
    ODD: _odd_rows,
    "alone": _alone,
}
KINDS = tuple(MAKERS)
"""The kinds of newcomers."""
