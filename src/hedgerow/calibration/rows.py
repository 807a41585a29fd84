"""How much one person has: rows, and groups. Chosen privately, from one row for each person."""

from collections.abc import Mapping

from hedgerow.calibration.buckets import fine_magnitude, magnitude, whole_below
from hedgerow.calibration.clipping_search import leader
from hedgerow.calibration.heavy_buckets import Shared
from hedgerow.calibration.plans import histogram, rows_each
from hedgerow.calibration.sub_budget import Purse
from hedgerow.error_bars.intervals import half_width
from hedgerow.expressions.nodes import Column
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.release import Estimator

BETA = 0.05
EXCEEDING = 0.01
"""How many people may have more than a limit that is found."""


def cap_plan(release: Release) -> LogicalPlan:
    """How many people have how many rows of a release, by powers of two: the fewer buckets, the more people in each."""
    people, rows = rows_each(release)
    return histogram(people, magnitude(rows), (), 1)


def find_cap(purse: Purse, release: Release, share: float) -> int | None:
    """How many rows of one person should count; None where too few people are there to tell."""
    (made,) = purse.look(cap_plan(release), share, "rows of one person")
    shared = Shared.of([made])
    return cap_of(shared, _margin(made, share)) if shared.counts else None


def cap_of(shared: Shared, margin: float) -> int:
    """The winner of a race between caps: that with the largest lower limit of the number of rows it lets count.

    A sum of which a person may add c has a margin of c times `margin`, and loses what people have beyond c. The sums of
    all caps are those that a released histogram of rows says, so that none of them has to be released itself.

    Example:
        >>> cap_of(Shared({0: 500.0, 1: 9000.0, 2: 40.0}, 20.0), 10.0)
        7
        >>> cap_of(Shared({0: 500.0, 1: 9000.0, 2: 40.0}, 20.0), 50.0)
        3
    """
    counts = {**shared.counts, **shared.tail()}
    caps = {power: (1 << max(power + 1, 0)) - 1 for power in sorted(counts)}
    sums = [sum(people * min(caps[b], cap) for b, people in counts.items()) for cap in caps.values()]
    return list(caps.values())[leader(sums, [margin * cap for cap in caps.values()])]


def _margin(made: Estimator, share: float) -> float:
    """About what the noise of the answer exceeds for each row that a person may count for, once in twenty times.

    Noise is inverse to what is paid: that of a look which cost a share is 1 / share times that of the whole.
    """
    chosen = made.plan.selection
    return 0.0 if chosen is None else half_width([(1.0, chosen.noise)], 2 * BETA) * share


def amounts_plan(people: Release, amount: Column) -> LogicalPlan:
    """How many people have amounts of each fine order of magnitude."""
    return histogram(people, fine_magnitude(amount), (), 1)


def find_limit(purse: Purse, people: Release, amount: Column, share: float, subject: str) -> int | None:
    """The smallest limit that about one in a hundred people exceeds, by released counts; None where none is shared."""
    return limit_of(Shared.of(purse.look(amounts_plan(people, amount), share, subject)).counts)


def limit_of(counts: Mapping[int, float]) -> int | None:
    """The limit that a histogram of amounts suggests.

    Example:
        >>> limit_of({0: 500.0, 4: 480.0, 8: 15.0, 12: 5.0})
        4
    """
    allowed, beyond = EXCEEDING * sum(counts.values()), 0.0
    for bucket in sorted(counts, reverse=True):
        beyond += counts[bucket]
        if beyond > allowed:
            return whole_below(bucket)
    return None
