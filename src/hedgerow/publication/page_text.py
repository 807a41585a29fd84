"""Methods and limits of a release in plain words, for people who have never heard of differential privacy."""

import math
import textwrap
from dataclasses import dataclass
from datetime import timedelta

from hedgerow.accounting.budget import Spending
from hedgerow.publication.contents import PublishedReport


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
of any set of results of this release differs by a factor of at most {factor:.3g} (e to the epsilon of {epsilon:g}),
except for a probability of at most {delta:g} (delta). So whoever reads these tables, and knows whatever else, learns
little about whether a person is in the data, and about what is recorded of them.

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

A count can come out below zero. It is left as it is, because correcting it would make every total too large. Read it as
a small number.

Totals of the numbers in a table leave out groups that are not shown, and differ from separately released totals by
their noise.

Differences between two numbers that are smaller than their margins may be noise alone.

The guarantee is for one person. For a group of people, such as a family of four, epsilon is that many times as large.
It does not hide facts about everybody, which would be the same without any one person.
"""

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
        factor=math.exp(facts.epsilon),
        epsilon=facts.epsilon,
        delta=facts.delta,
        when="ever" if facts.refresh is None else f"in the same {facts.refresh.total_seconds() / 86400:g} days",
        limit=facts.budget.epsilon,
        limit_delta=facts.budget.delta,
    )
    small = _SMALL_GROUPS.format(people=report.min_frequency) if report.min_frequency > 1 else ""
    return _paragraphs(text + small)


def limits() -> list[str]:
    """Return what to keep in mind, point by point."""
    return _paragraphs(_LIMITS)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]


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
