"""Notes on an answer: limits that shaped it, groups that may be missing from it, and numbers that miss a target.

Privacy: notes on the answer as a whole follow from the plan alone, so that they are equal on every database; notes on
single numbers follow from the plan and from the released rows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hedgerow.answer import Note, NoteKind
from hedgerow.answer.plain import on_one_line
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.error_bars.provenance.columns import picks_rows
from hedgerow.execution.request import ErrorTarget
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Column, ColumnId, Expr, Window, describe, written
from hedgerow.expressions.ranges import EVERYTHING
from hedgerow.plan.join_limits import rows_kept
from hedgerow.plan.nodes import AggregateCall, Derived, Grouped, LogicalPlan, Release, Released, Select, inside, rewrite
from hedgerow.privacy.bounding import person_weights
from hedgerow.privacy.distinct import FEW_VALUES, domain_size
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.recently_used import once_per_plan
from hedgerow.release.estimate import fewest_people, rounded

FEW = 1_000
"""Number of rows of one person in one table that a person may well exceed."""

WORTHWHILE = 0.9
"""A threshold that max_groups=1 lowers by less than a tenth is not worth a word."""

ONE_GROUP = "max_groups=1"

LONG = 1e15
"""Whole numbers beyond this are written with an exponent."""

SLACK = 1.1
"""Note for a noisy denominator: the length of the interval is noisy, too, so a group that was promised the
error may show a slightly longer interval.
"""

MEASURED_TOGETHER = (
    "Tables of one batch about the same rows by different keys that have this note were measured together, and add up "
    "with each other. Rows with a value of one of their keys that is not declared are in none of them. A group that is "
    "held back has no number, but its rows are in the totals."
)

MADE_OF_THE_SAME_GROUPS = (
    "Tables of one batch about the same rows by different keys that have this note were measured together, are made "
    "of the same groups, and add up with each other."
)

SUMS_TOGETHER = (
    "Sums in tables of one batch about the same rows by different keys that have this note were measured together, and "
    "add up with each other; those of a group that is held back are in the totals. The numbers of people or rows that "
    "decide whether a group is shown were not, and do not add up."
)


@once_per_plan
def answer_notes(
    logical: LogicalPlan, parts: tuple[PrivatePlan, ...], in_one_group: PrivateStatement | None = None
) -> tuple[Note, ...]:
    """Write the notes on an answer as a whole.

    Args:
        logical: The plan.
        parts: The priced plans of its releases.
        in_one_group: The statement as priced with max_groups=1, to say from which size it would show groups.
    """
    by_release = dict(zip(logical.releases, parts, strict=True))
    selected = [part for part in parts if part.selection is not None and part.keys.rule is KeyRule.SELECTED]
    combined = [by_release[release] for release in _combined(logical) if _may_lack_groups(by_release[release])]
    thresholds = list(_thresholds(parts, in_one_group))
    lowered = max((lower for part, lower in thresholds if part in selected and lower is not None), default=None)
    picks = picks_rows(logical.root)
    notes = [_empty(selected, lowered, picks=picks)] if selected or picks else []
    notes += [_missing_groups(part, lower) for part, lower in thresholds]
    if combined:
        size = _sizes(combined)
        notes.append(
            Note(
                NoteKind.PARTIAL_TOTALS,
                "Totals, shares, ranks and comparisons of rows leave out groups that are held back or not shown, "
                f"usually those of fewer than {size}.",
                f"totals, shares and ranks leave out groups that are not shown, usually those below {size}",
            )
        )
    notes += [_row_limit(part) for part in parts if _limits_rows(part)]
    notes += [note for part in parts for note in _value_bounds(part.release)]
    notes += [note for part in parts for note in _measured_together(part)]
    return tuple(dict.fromkeys((*notes, *_join_limits(logical), *_quantile_weights(parts))))


def _measured_together(part: PrivatePlan) -> list[Note]:
    """Return the note on numbers that add up with those of other tables."""
    if part.made_of is not None:
        return [Note(NoteKind.MEASURED_TOGETHER, MADE_OF_THE_SAME_GROUPS if part.selection else MEASURED_TOGETHER)]
    if part.marginal is None or not part.marginal.adds_up:
        return []
    if part.selection is None:
        return [Note(NoteKind.MEASURED_TOGETHER, MEASURED_TOGETHER)]
    return [Note(NoteKind.SUMS_TOGETHER, SUMS_TOGETHER)]


def _empty(selected: Sequence[PrivatePlan], lowered: float | None, *, picks: bool) -> Note:
    lower = "" if lowered is None else f"; {ONE_GROUP} would lower that to about {rounded(lowered)}"
    remedy = f" (a larger epsilon shows more{lower})"

    def reasons(remedy: str) -> str:
        small = f"groups of fewer than {_sizes(selected)} are usually not shown{remedy}" if selected else ""
        unmet = "no row fulfilled the conditions on the released numbers, and none that is held back does"
        return "; or ".join(filter(None, [small, unmet if picks else ""]))

    return Note(
        NoteKind.EMPTY,
        f"If no row is shown: {reasons(remedy)}.",
        f"No row is shown: {reasons(remedy)}.",
        for_readers=f"No row is shown: {reasons('')}.",
    )


def _thresholds(
    parts: Sequence[PrivatePlan], in_one_group: PrivateStatement | None
) -> Iterator[tuple[PrivatePlan, float | None]]:
    """Yield each plan that tests the size of its groups, with the threshold that max_groups=1 would bring."""
    for index, part in enumerate(parts):
        if part.selection is None:
            continue
        other = None if in_one_group is None else in_one_group.parts[index].selection
        lowered = None if other is None else float(other.threshold)
        is_lower = lowered is not None and lowered < WORTHWHILE * float(part.selection.threshold)
        yield part, lowered if is_lower else None


def _missing_groups(part: PrivatePlan, lowered: float | None) -> Note:
    size, rule = fewest_people(part), part.keys.rule
    threshold = float(part.selection.threshold) if part.selection is not None else 0.0
    test = f"the noisy count of its people reaches {math.ceil(threshold):,} (min_frequency is {part.minimum:,})"
    if part.made_of is not None:
        short = f"groups below {size}, by all keys of the batch's tables, are usually in none of these, nor in totals"
        text = (
            "The tables of a batch about these rows that have this note were measured together, and are made of the "
            f"same groups: those by all of their keys. So they add up. Groups below {size} are usually in none of the "
            f"tables, nor in their totals: a group is in all of them if {test}. Asked alone, with reuse=False, a table "
            "tests its own groups."
        )
        return Note(NoteKind.MISSING_GROUPS, text, short, people=threshold)
    if rule is KeyRule.ONE:
        text = f"The answer is usually held back if fewer than {size} are behind it: it is shown if {test}."
        return Note(NoteKind.MISSING_GROUPS, text.replace("its people", "these people"), people=threshold)
    outcome = "not shown" if rule is KeyRule.SELECTED else "held back"
    short, for_readers = f"groups below {size} are usually {outcome}", None
    text = f"Groups below {size} are usually {outcome}: a group is shown if {test}."
    if lowered is not None:
        for_readers, short = short, f"{short}; {ONE_GROUP} would lower that to {rounded(lowered)}"
        text = (
            f"{text} {ONE_GROUP} would lower that to about {rounded(lowered)}: a person in several groups then "
            "weighs less in each of them, which makes their numbers smaller."
        )
    if rule is not KeyRule.SELECTED:
        return Note(NoteKind.MISSING_GROUPS, text, people=threshold)
    return Note(NoteKind.MISSING_GROUPS, text, short, people=threshold, for_readers=for_readers)


def _limits_rows(part: PrivatePlan) -> bool:
    """Return True if rows of a person may weigh less than others because of a limit."""
    bounding = part.bounding
    follows = bounding.rows == 1 and part.release.limits.inferred
    return bounding.weighted and not follows and (bounding.grouped or not _counts_people(part))


def _counts_people(part: PrivatePlan) -> bool:
    """Return True if each person counts once per group, however many rows they have."""
    return all(call.distinct and not call.arguments for call in part.release.calls)


def _row_limit(part: PrivatePlan) -> Note:
    bounding = part.bounding
    limits = [f"for at most {_number(bounding.rows, 'row')}"]
    if bounding.grouped and bounding.rows_per_group < bounding.rows:
        limits.append(f"{bounding.rows_per_group:,} per group")
    if _counts_people(part):
        limits = ["once per group"]
    if bounding.grouped and (_counts_people(part) or bounding.groups < bounding.rows):
        limits.append(f"in at most {_number(bounding.groups, 'group')}")
    words = ", ".join(limits)
    return Note(
        NoteKind.ROW_LIMIT,
        f"Each person counts {words}. The rows of a person with more are weighted down to that limit; "
        "the effect is not part of ±. In Python, answer.diagnostics() measures it, for a price.",
        f"each person counts {words}; not part of ±",
    )


def _number(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def clipped_values(aggregate: AggregateCall) -> Iterator[Expr]:
    """Yield the arguments of an aggregate that declared bounds may cut."""
    for value in aggregate.arguments:
        known = range_of(value)
        if value.type.is_numeric and known.is_finite and aggregate.function != "COUNT":
            undeclared = rewrite(
                value, lambda part: replace(part, range=EVERYTHING) if isinstance(part, Column) else None
            )
            if range_of(undeclared) != known:
                yield value


def _value_bounds(release: Release) -> Iterator[Note]:
    labels = _labels(release)
    for value in (value for call in release.calls for value in clipped_values(call)):
        known, named = range_of(value), written(_labelled(value, labels))
        limits, shown = f"{_figure(known.lower)} to {_figure(known.upper)}", on_one_line(named)
        yield Note(
            NoteKind.VALUE_BOUNDS,
            f"Values of {shown} are clipped to the declared bounds, {limits}; the effect is not part of ±. "
            "In Python, answer.diagnostics() measures it, for a price.",
            f"{shown} is clipped to the range {limits}; not part of ±",
            of=named,
        )


def _labels(release: Release) -> dict[ColumnId, str]:
    """Describe the columns of the queries in FROM by what they compute."""
    labels: dict[ColumnId, str] = {}
    for node in reversed(list(inside(release.source))):
        if isinstance(node, Derived) and isinstance(node.query, Select):
            labels |= {(node.alias, c.name): written(_labelled(c.expr, labels)) for c in node.query.columns}
        elif isinstance(node, Grouped):
            labels |= {(node.alias, key.name): written(_labelled(key.expr, labels)) for key in node.keys}
            for call in node.calls:
                arguments = ", ".join(written(_labelled(value, labels)) for value in call.arguments)
                labels[node.alias, call.name] = f"{call.function}({arguments or '*'})"
    return labels


def _labelled(value: Expr, labels: Mapping[ColumnId, str]) -> Expr:
    """Return a value, for description, with the labels of its columns in place of names of our own."""

    def label(part: object) -> object | None:
        return replace(part, name=labels[part.id]) if isinstance(part, Column) and part.id in labels else None

    return rewrite(value, label)


def _figure(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) and abs(number) < LONG else f"{number:g}"


def _join_limits(logical: LogicalPlan) -> Iterator[Note]:
    kept = {table: maximum for release in logical.releases for table, maximum in rows_kept(release).items()}
    for table, maximum in sorted(kept.items()):
        if maximum < FEW:
            text = f"Of each person at most {maximum:,} rows of {table!r} take part in the joins."
            yield Note(NoteKind.JOIN_LIMIT, f"{text[:-1]}; the effect is not part of ±.", text[0].lower() + text[1:-1])


def _quantile_weights(parts: Sequence[PrivatePlan]) -> Iterator[Note]:
    weighed = [part.bounding for part in parts if any(bucketing.by_person for bucketing in part.bucketings)]
    for groups in sorted({person_weights(bounding).groups for bounding in weighed}):
        yield Note(
            NoteKind.QUANTILE_WEIGHTS,
            "Medians and other quantiles by group weigh people, not rows: the rows of a person in a group share one "
            f"weight, and a person in more than {_number(groups, 'group')} weighs less in each.",
            "medians and other quantiles by group weigh people, not rows",
        )


def quote_notes(parts: Sequence[PrivatePlan]) -> tuple[str, ...]:
    """Write what a quote says beforehand: the meaning of numbers, and limits that will be of no use."""
    open_counts = {
        describe(count.value): part.bounding.rows_per_group
        for part in parts
        for count in part.distinct
        if not count.whole and domain_size(count.value) is None and part.bounding.rows_per_group > FEW_VALUES
    }
    return (
        *(note.text for note in _quantile_weights(parts)),
        *(
            f"COUNT(DISTINCT {named}) is a lower estimate, and its upper limit will be of no use: one person may hold "
            f"{held:,} values that nobody else has. List the values in the catalog to bound it."
            for named, held in sorted(open_counts.items())
        ),
    )


def _may_lack_groups(part: PrivatePlan) -> bool:
    """Return True if groups may be missing, or their numbers held back."""
    return part.selection is not None and part.keys.rule is not KeyRule.ONE


def _combined(logical: LogicalPlan) -> Iterator[Release]:
    """Yield the releases whose rows are combined by an aggregate or a window."""
    nodes = [node for node in inside(logical.root) if isinstance(node, Grouped | Select)]
    sources = [
        node.source
        for node in nodes
        if isinstance(node, Grouped)
        or any(isinstance(part, Window) for part in inside((node.columns, node.order, node.where)))
    ]
    yield from dict.fromkeys(node.release for node in inside(tuple(sources)) if isinstance(node, Released))


def _sizes(parts: Sequence[PrivatePlan]) -> str:
    sizes = dict.fromkeys(fewest_people(part) for part in parts)
    return " or ".join(size for size in sizes if size is not None)


def flag_missed_target(bars: Sequence[dict[str, Interval]], shown: pa.Table, target: ErrorTarget) -> None:
    """Add a remark to each interval that is too long for the target, wherever the value lies in it."""
    columns = {name: shown.column(name).to_pylist() for name in shown.column_names}
    for row, by_name in enumerate(bars):
        for name, bar in by_name.items():
            if misses(bar, columns[name][row], target):
                by_name[name] = replace(bar.with_remark(f"misses {target}"), missed=str(target))


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
