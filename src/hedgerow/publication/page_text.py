"""Methods and limits of a release in plain words, for people who have never heard of differential privacy."""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hedgerow.accounting.budget import Spending
from hedgerow.answer import NoteKind
from hedgerow.answer.plain import number, on_one_line
from hedgerow.publication.contents import ALL, ALL_OR_NONE, NONE, PublishedReport, limits_of

LARGEST_POWER = 300
"""Power of ten up to which a factor is written as a number."""


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """The facts of a release that its page states, from the certificate."""

    epsilon: float
    delta: float
    budget: Spending
    refresh: timedelta | None
    time: str
    program: str
    head: str


_METHODS = """
The database computed each number exactly, over limited data: no person counts for more than a fixed number of rows, and
values beyond fixed bounds count as the bounds. Random noise was then added to every number, and only the noisy numbers
left the database. The size of the noise follows from the limits and from epsilon, never from the data.

The margin of error is about this noise. At a confidence of 0.95, the exact number over the limited data lies within the
interval of 95 in 100 such numbers. An interval that is marked conservative holds at least as often; one that is marked
approximate may hold a little less often.

This is differential privacy. Compare the database with one in which all rows of one person are missing: the probability
of any set of results of this release differs by a factor of at most {factor} (e to the epsilon of {epsilon:g}),
except for a probability of at most {delta:g} (delta). This limits what a reader of these tables, whatever else they
know, can learn about whether a person is in the data, and about what is recorded of them. The smaller epsilon, the
less.

Everything that was {when} released from this dataset together, this release included, stays within epsilon {limit:g}
and delta {limit_delta:g}. The owner's ledger enforces it before a row is read.
"""

_SMALL_GROUPS = """
No group of fewer than {people} people is shown. Other small groups are usually not shown either, because a noisy count
decides; a declared group that is too small is marked as held back.
"""

_LIMITS = """
Each interval holds on its own: among 100 numbers at 0.95 confidence, about five lie outside of theirs.

The margins are about the noise. They say nothing about errors in the data, about values beyond the bounds, about rows
of people beyond the limits, or about people who are not in the data.

{negative}

{totals}

Differences between two numbers that are smaller than their margins may be noise alone.

The guarantee is for one person. For a group of people, such as a family of four, epsilon is that many times as large,
and delta is even larger. It does not hide facts about everybody, which would be the same without any one person.
"""

_APART = """
Totals of the numbers in a table leave out groups that are not shown, and differ from separately released totals by
their noise.
"""

_TOGETHER = """
{names} In the data files, counts and sums of values do so to the last digit; on this page, numbers are rounded.
Averages and other computed numbers do not add up. Totals of the numbers in any other table leave out groups that are
not shown, and differ from separately released totals by their noise.
"""

_NEGATIVE = """
A count can come out below zero. It is left as it is, because correcting it would make every total too large. Read it as
a small number.
"""

_NONNEGATIVE = """
Noise can push a count below zero. Counts and sums were moved to the nearest numbers that are not negative; tables that
were measured together still add up. The note of a number says if it was moved, and its margin of error allows for it.
"""

TOTALS = {
    NONE: (),
    ALL: ("“all” in place of a key: the row is a total over all of its values",),
    ALL_OR_NONE: ("“all or none” in place of a key: the row is a total over all of its values, or has no value",),
}
"""Notes on rows that are totals, by the meaning of a key without a value."""

DICTIONARY = textwrap.dedent("""
Each number has five more columns: both ends of its interval, its margin of error, the kind of the interval and a note.
In the CSV files, a text that a spreadsheet would read as a formula begins with an apostrophe. The same list is in
""").replace("\n", " ")

CERTIFICATE = textwrap.dedent("""
The certificate lists what is guaranteed, the noise of every step, the owner's record of spending up to this release
(without anybody's questions), and digests of all files. It is signed. Anybody can check it, without the database and
without a network:
""").replace("\n", " ")

COMPARE = ". Compare it with one that the owner gave you elsewhere: this page could have been replaced as a whole."


def methods(report: PublishedReport, facts: ReleaseFacts) -> list[str]:
    """Return the paragraphs on how the numbers were made."""
    text = _METHODS.format(
        factor=_factor(facts.epsilon),
        epsilon=facts.epsilon,
        delta=facts.delta,
        when="ever" if facts.refresh is None else f"in the same {facts.refresh.total_seconds() / 86400:g} days",
        limit=facts.budget.epsilon,
        limit_delta=facts.budget.delta,
    )
    small = _SMALL_GROUPS.format(people=report.min_frequency) if report.min_frequency > 1 else ""
    return _paragraphs(text + small)


def limits(report: PublishedReport) -> list[str]:
    """Return what to keep in mind, point by point."""
    notes = (note for table in report.tables for note in table.answer.notes)
    moved = any(note.kind is NoteKind.NONNEGATIVE for note in notes)
    titles = {table.name: on_one_line(table.title) for table in report.tables}
    groups = [", ".join(titles[name] for name in names) for names in report.together]
    names = " ".join(f"These tables were measured together, and add up to each other: {group}." for group in groups)
    totals = _TOGETHER.format(names=names) if groups else _APART
    negative = _NONNEGATIVE if moved else _NEGATIVE
    return _paragraphs(_LIMITS.format(totals=totals.strip(), negative=negative.strip()))


def bounds(report: PublishedReport) -> list[str]:
    """Return the limits of one person and the bounds of values, a sentence for each private table."""
    return [f"{on_one_line(table.name)}: {'; '.join(_limits_in_words(limits_of(table)))}." for table in report.sources]


def _limits_in_words(limits: Mapping[str, Any]) -> list[str]:
    words = [
        f"a person counts for at most {limits[name]:,} {noun if limits[name] != 1 else noun[:-1]}{where}"
        for name, noun, where in (
            ("max_rows", "rows", ""),
            ("max_rows_per_group", "rows", " in a group"),
            ("max_groups", "groups", ""),
        )
        if name in limits
    ]
    for column, ends in limits.get("bounds", {}).items():
        lower, upper = (None if end is None else _bound(end) for end in (ends["lower"], ends["upper"]))
        if lower is not None and upper is not None:
            words.append(f"{on_one_line(column)} is limited to {lower} to {upper}")
        else:
            words.append(
                f"{on_one_line(column)} is limited to {f'{lower} or more' if upper is None else f'{upper} or less'}"
            )
    return words or ["it has no limits of its own"]


def _bound(end: object) -> str:
    value = number(end)
    return on_one_line(str(end)) if value is None else f"{value:,.10g}"


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]


def _factor(epsilon: float) -> str:
    """Return e to the epsilon, as a power of ten where a float cannot hold it.

    Example:
        >>> _factor(2.0), _factor(1000.0)
        ('7.39', '10^435')
    """
    power = epsilon / math.log(10)
    return f"{10.0**power:.3g}" if power < LARGEST_POWER else f"10^{math.ceil(power)}"


def odds(probability: float) -> str:
    """Return a small probability in words.

    Example:
        >>> odds(3e-8), odds(1e-4), odds(0.0)
        ('1 in 33 million', '1 in 10,000', 'none')
    """
    if probability <= 0.0:
        return "none"
    times = 1.0 / probability
    for size, name in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million"), (1.0, "")):
        if times >= size:
            return f"1 in {float(f'{times / size:.2g}'):,.0f}{name}"
    return "1 in 1"
