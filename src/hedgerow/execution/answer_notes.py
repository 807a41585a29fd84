"""Notes on an answer: groups that may be missing from it and from its totals, and numbers that miss a target.

Privacy: the notes follow from the plan and from the released rows, never from anything else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.provenance.columns import picks_rows
from hedgerow.execution.request import ErrorTarget
from hedgerow.expressions.nodes import Window, describe
from hedgerow.plan.cutting import rows_kept
from hedgerow.plan.nodes import Grouped, LogicalPlan, Release, Released, Select, inside
from hedgerow.privacy.bounding import person_weights
from hedgerow.privacy.distinct import FEW_VALUES, domain_size
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.release import Estimator
from hedgerow.release.held_back import fewest_people

Intervals = Sequence[Mapping[str, Interval]]

FEW = 1_000
"""Number of rows of one person in one table that a person may well exceed."""

SLACK = 1.1
"""Note for a noisy denominator: the length of the interval is noisy, too, so a group that was promised the
error may show a slightly longer interval.
"""


def remarks(logical: LogicalPlan, estimators: Sequence[Estimator], rows: int) -> tuple[str, ...]:
    """Write the notes on the answer as a whole, where `rows` rows are shown."""
    by_release = dict(zip(logical.releases, estimators, strict=True))
    incomplete = [estimator for estimator in estimators if _may_lack_groups(estimator)]
    combined = [by_release[release] for release in _combined(logical)]
    lacking = [estimator for estimator in combined if _may_lack_groups(estimator)]
    notes = []
    if rows == 0:
        notes.append(_empty(incomplete, picks=picks_rows(logical.root)))
    if lacking:
        notes.append(
            "Totals, shares, ranks and comparisons of rows leave out groups that were held back or not shown, "
            f"usually those of fewer than {_sizes(lacking)}."
        )
    kept = {table: maximum for release in logical.releases for table, maximum in rows_kept(release).items()}
    notes += [
        f"Of each person at most {maximum:,} rows of {table!r} take part in the joins."
        for table, maximum in sorted(kept.items())
        if maximum < FEW
    ]
    return (*notes, *plan_notes([estimator.plan for estimator in estimators]))


def plan_notes(parts: Sequence[PrivatePlan]) -> tuple[str, ...]:
    """Write what a quote and its answer say about the meaning of numbers."""
    weighed = [part.bounding for part in parts if any(bucketing.by_person for bucketing in part.bucketings)]
    notes = []
    for groups in sorted({person_weights(bounding).groups for bounding in weighed}):
        several = "1 group" if groups == 1 else f"{groups:,} groups"
        notes.append(
            "Medians and other quantiles by group weigh people, not rows: the rows of a person in a group share one "
            f"weight, and a person in more than {several} weighs less in each."
        )
    return tuple(notes)


def quote_notes(parts: Sequence[PrivatePlan]) -> tuple[str, ...]:
    """Write what a quote says beforehand: the meaning of numbers, and limits that will be of no use."""
    open_counts = {
        describe(count.value): part.bounding.rows_per_group
        for part in parts
        for count in part.distinct
        if not count.whole and domain_size(count.value) is None and part.bounding.rows_per_group > FEW_VALUES
    }
    return (
        *plan_notes(parts),
        *(
            f"COUNT(DISTINCT {named}) is a lower estimate, and its upper limit will be of no use: one person may hold "
            f"{held:,} values that nobody else has. List the values in the catalog to bound it."
            for named, held in sorted(open_counts.items())
        ),
    )


def _may_lack_groups(estimator: Estimator) -> bool:
    """Return True if groups may be missing. Where the keys are public, the rows show whether any is."""
    if estimator.plan.selection is None or estimator.plan.keys.rule is KeyRule.ONE:
        return False
    return estimator.plan.keys.rule is KeyRule.SELECTED or not estimator.noisy.shown.all()


def _combined(logical: LogicalPlan) -> Iterator[Release]:
    """Yield the releases whose rows are combined by an aggregate or a window."""
    nodes = [node for node in inside(logical.root) if isinstance(node, Grouped | Select)]
    sources = [node.source for node in nodes if isinstance(node, Grouped) or _has_window(node)]
    yield from dict.fromkeys(node.release for node in inside(tuple(sources)) if isinstance(node, Released))


def _has_window(select: Select) -> bool:
    return any(isinstance(part, Window) for part in inside((select.columns, select.order, select.where)))


def _empty(incomplete: Sequence[Estimator], *, picks: bool) -> str:
    reasons = []
    if incomplete:
        reasons.append(f"groups of fewer than {_sizes(incomplete)} are usually not shown (a larger epsilon shows more)")
    if picks or not incomplete:
        reasons.append("no row fulfilled the conditions on the released numbers, and none that is held back does")
    return f"No row is shown: {'; or '.join(reasons)}."


def _sizes(estimators: Sequence[Estimator]) -> str:
    sizes = dict.fromkeys(fewest_people(estimator.plan) for estimator in estimators)
    return " or ".join(size for size in sizes if size is not None)


def flag_missed_target(
    intervals: Intervals | Callable[[], Intervals], shown: pa.Table, target: ErrorTarget
) -> Callable[[], list[dict[str, Interval]]]:
    """Add a note to each interval that is too long for the target, wherever the value lies in it."""

    def flagged() -> list[dict[str, Interval]]:
        bars = intervals() if callable(intervals) else intervals
        columns = {name: shown.column(name).to_pylist() for name in shown.column_names}
        return [
            {name: _flagged(bar, columns[name][row], target) for name, bar in by_name.items()}
            for row, by_name in enumerate(bars)
        ]

    return flagged


def misses(bar: Interval, value: float | None, target: ErrorTarget) -> bool:
    """Return True if the error may exceed the target even if the value is as large as its interval allows.

    A value outside its interval (a count below zero, whose interval is clipped to the possible) is off by that
    distance.
    """
    if value is None:
        return False
    beside = max(bar.lower - float(value), float(value) - bar.upper)
    error = max((bar.upper - bar.lower) / 2, beside)
    largest = max(abs(bar.lower), abs(bar.upper))
    return not np.isfinite(error) or error > SLACK * float(target.allowed(np.array([largest]))[0])


def _flagged(bar: Interval, value: float | None, target: ErrorTarget) -> Interval:
    if not misses(bar, value, target):
        return bar
    note = f"misses {target}"
    return replace(bar, note=note if bar.note is None else f"{bar.note}; {note}", missed=str(target))
