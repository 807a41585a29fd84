"""Building an `Answer` from released numbers: the post-processing, the error bars of its output, and its summary.

The summary (noise, price, remaining budget) follows from the priced plan alone.
"""

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.accounting.budget import Receipt, Spending
from hedgerow.answer import Answer, Mechanism, Payment, Summary
from hedgerow.compile import Postprocess, postprocess
from hedgerow.compiled import ARROW, RELEASED, ROW
from hedgerow.dialects import DUCKDB
from hedgerow.error_bars.intervals.interval import Interval, Status
from hedgerow.error_bars.propagation import (
    Frame,
    Propagation,
    Releases,
    Simulation,
    explain_missing,
    missing_behind,
)
from hedgerow.error_bars.provenance.columns import deciding, noisy_columns, picks_rows
from hedgerow.error_bars.provenance.origins import Cell, Known, Untraced
from hedgerow.errors import BackendError
from hedgerow.execution.answer_notes import answer_notes, flag_missed_target
from hedgerow.execution.nonnegative import AnswerPart, nonnegative_answers, shown_columns
from hedgerow.execution.request import Request
from hedgerow.expressions.nodes import describe
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.ranks import Draw
from hedgerow.release import Estimator, PostprocessEngine
from hedgerow.release.key_selection import in_key_order

UNCHANGED = frozenset({*ARROW.values(), pa.int8(), pa.int16(), pa.int32()})
"""Types of released columns that the engine for post-processing returns as they are."""


def build_answer(
    engine: PostprocessEngine,
    logical: LogicalPlan,
    estimators: Sequence[Estimator],
    public: Mapping[str, pa.Table],
    request: Request,
    summary: Summary,
    in_one_group: PrivateStatement | None = None,
) -> Answer:
    """Run the post-processing over the released tables, and compute an interval for every noisy number.

    `in_one_group` is the statement as priced with max_groups=1, for the note on groups that are not shown.
    """
    part = build_part(engine, logical, estimators, public, request, summary, in_one_group)
    return nonnegative_answers([part])[0] if request.nonnegative else part.answer


def build_part(
    engine: PostprocessEngine,
    logical: LogicalPlan,
    estimators: Sequence[Estimator],
    public: Mapping[str, pa.Table],
    request: Request,
    summary: Summary,
    in_one_group: PrivateStatement | None = None,
) -> AnswerPart:
    """Return the answer with the numbers as they were released, and its columns that can be adjusted if that is asked.

    The arguments are those of `build_answer`.
    """
    orders = [_order(estimator) for estimator in estimators]
    tables = _in_order(estimators, orders)
    steps, rows = _run(engine, logical, {**tables, **public})
    shown = rows.select([column.name for column in logical.root.columns]).rename_columns(list(logical.names))
    releases = Releases(estimators, orders)
    frame = _frame(steps, logical, releases, rows)
    shown = _possible(shown, steps, frame, Propagation(releases))
    simulation = Simulation(engine, logical, releases, public)

    def error_bars() -> list[dict[str, Interval]]:
        """Compute the error bars on first access."""
        bars, beta, missing = _error_bars(steps, logical, releases, rows, request)
        bars = explain_missing(simulation.complete(bars, rows, beta), shown, missing)
        if request.within is not None:
            flag_missed_target(bars, shown, request.within)
        return bars

    notes = answer_notes(logical, tuple(estimator.plan for estimator in estimators), in_one_group)
    described = zip(logical.names, logical.root.columns, noisy_columns(logical.root), strict=True)
    noisy = [name for name, column, is_noisy in described if is_noisy and column.expr.type.is_numeric]
    answer = Answer(shown, error_bars, request.confidence, summary, noisy, notes)
    columns = shown_columns(logical, steps, frame, releases) if request.nonnegative else []
    return AnswerPart(answer, columns, estimators)


def rows_shown(
    engine: PostprocessEngine,
    logical: LogicalPlan,
    estimators: Sequence[Estimator],
    public: Mapping[str, pa.Table],
    index: int,
) -> NDArray[np.int64]:
    """Return the groups of release number `index` that an answer shows, where each of its rows comes from one."""
    orders = [_order(estimator) for estimator in estimators]
    tables = _in_order(estimators, orders)
    shown = engine.run(postprocess(logical, DUCKDB, origins=False).sql, {**tables, **public})
    return orders[index][np.asarray(shown.column(ROW).to_numpy(), dtype=np.int64)]


def _run(
    engine: PostprocessEngine, logical: LogicalPlan, tables: Mapping[str, pa.Table]
) -> tuple[Postprocess, pa.Table]:
    """Run the post-processing within the owner's limit on rows; without provenance if the engine cannot compute it."""
    max_rows = engine.most_rows + 1
    steps = postprocess(logical, DUCKDB, max_rows=max_rows)
    shown = _pick(steps, logical, tables)
    try:
        shown = engine.run(steps.sql, tables) if shown is None else shown
    except BackendError:
        if steps.release is not None:
            raise
        plain = postprocess(logical, DUCKDB, origins=False, max_rows=max_rows)
        rests = zip(logical.root.columns, noisy_columns(logical.root), strict=True)
        steps = replace(plain, origins=tuple(Untraced() if noisy else Known(c.expr) for c, noisy in rests))
        shown = engine.run(plain.sql, tables)
    if shown.num_rows > engine.most_rows:
        raise BackendError(
            f"The answer has more than {engine.most_rows:,} rows, the most that the owner allows.",
            code="too-many-rows",
            hint="What was released is kept: ask again with LIMIT or GROUP BY around it, and the release is reused.",
        )
    return steps, shown


def _pick(steps: Postprocess, logical: LogicalPlan, tables: Mapping[str, pa.Table]) -> pa.Table | None:
    """Return the output if it consists of released columns, which have the types that the engine would return."""
    if steps.picked is None or steps.release is None:
        return None
    table = tables[f"{RELEASED}{logical.releases.index(steps.release)}"]
    columns = {name: table.column(released) for name, released in steps.picked}
    return pa.table(columns) if all(column.type in UNCHANGED for column in columns.values()) else None


def _order(estimator: Estimator) -> NDArray[np.int64]:
    """Return the indices of the released rows in the order of their keys."""
    keys = estimator.noisy.keys
    return in_key_order(keys) if keys.column_names else np.arange(len(estimator.noisy.shown))


def _in_order(estimators: Sequence[Estimator], orders: Sequence[NDArray[np.int64]]) -> dict[str, pa.Table]:
    """Return the released tables by name, each in the order of its keys and each row with its number."""
    tables = {}
    for index, (estimator, order) in enumerate(zip(estimators, orders, strict=True)):
        table, rows = estimator.table(), np.arange(len(order))
        if not np.array_equal(order, rows):
            table = table.take(pa.array(order))
            table = table.set_column(table.column_names.index(ROW), ROW, pa.array(rows))
        tables[f"{RELEASED}{index}"] = table
    return tables


def _error_bars(
    steps: Postprocess, logical: LogicalPlan, releases: Releases, rows: pa.Table, request: Request
) -> tuple[list[dict[str, Interval]], float, dict[str, list[Status | None]]]:
    """Return the error bars of every number, their failure probability, and why numbers behind them are missing.

    Where rows were picked by noise that is not in a column, the intervals of that column hold at the usual level.
    """
    sizes = [len(estimator.noisy.shown) for estimator in releases.estimators]
    release = None if steps.release is None else logical.releases.index(steps.release)
    groups = max(sizes) if release is None else sizes[release]
    beta = failure_level(request, logical, of=groups, shown=rows.num_rows)
    frame, propagation = _frame(steps, logical, releases, rows), Propagation(releases)
    bars: list[dict[str, Interval]] = [{} for _ in range(rows.num_rows)]
    missing: dict[str, list[Status | None]] = {}
    compared: dict[str, Hashable] = {}
    unpicked, picking = failure_level(request, logical, of=groups, shown=groups), deciding(logical.root)
    for name, column, origin in zip(logical.names, logical.root.columns, steps.origins, strict=True):
        is_unpicked = release is not None and propagation.has_other_noise(origin, picking, release)
        level = unpicked if is_unpicked else beta
        bounds = propagation.bounds(origin, frame, level) if column.expr.type.is_numeric else None
        if bounds is None:
            continue
        for row, interval in enumerate(bounds.intervals()):
            bars[row][name] = interval
        population = propagation.population(origin, frame, level)
        if population is not None and isinstance(origin, Cell):
            compared[name] = origin.release, releases.estimators[origin.release].sums_of(origin.call)
            for row, (ends, p_value) in enumerate(population):
                bars[row][name] = replace(bars[row][name], population=ends, p_value=p_value)
        missing[name] = missing_behind(origin, frame, releases)
    adjust_p_values(bars, compared, groups)
    return bars, beta, missing


def _possible(shown: pa.Table, steps: Postprocess, frame: Frame, propagation: Propagation) -> pa.Table:
    """Return the table with quotients of one released row, such as shares, cut to the range that the plan proves."""
    if steps.release is None:
        return shown
    for index, origin in enumerate(steps.origins):
        column = shown.column(index).combine_chunks()
        if pa.types.is_floating(column.type):
            values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
            clipped = propagation.clipped(origin, frame, values)
            if not np.array_equal(clipped, values, equal_nan=True):
                array = pa.array(clipped, column.type, mask=column.is_null().to_numpy(zero_copy_only=False))
                shown = shown.set_column(index, shown.column_names[index], array)
    return shown


def _frame(steps: Postprocess, logical: LogicalPlan, releases: Releases, rows: pa.Table) -> Frame:
    """Return the columns that origins refer to: computed ones, and the keys of the one release behind all rows."""
    columns = {name: rows.column(name).combine_chunks() for name in rows.column_names}
    if steps.release is not None:
        index = logical.releases.index(steps.release)
        order = releases.orders[index][np.asarray(columns[ROW].to_numpy(), dtype=np.int64)]
        keys = releases.estimators[index].noisy.keys
        columns |= {name: keys.column(name).take(pa.array(order)).combine_chunks() for name in keys.column_names}
    return Frame(columns, rows.num_rows)


def failure_level(request: Request, logical: LogicalPlan, *, of: int, shown: int) -> float:
    """Return the failure probability of one interval.

    Selection by HAVING or LIMIT is information: with R of G rows shown, R/G of the failure probability keeps the
    expected share of wrong intervals among those shown (docs/explanation/error-bars.md). With `simultaneous`, all
    intervals of the table hold at once.
    """
    beta = 1.0 - request.confidence
    if picks_rows(logical.root) and 0 < shown < of:
        beta *= shown / of
    if request.simultaneous:
        beta /= max(1, max(of, shown) * len(logical.names))
    return beta


def mechanisms(plan: PrivatePlan) -> tuple[Mechanism, ...]:
    """List every noisy measure of the plan, in the analyst's units."""
    listed = []
    if plan.selection is not None:
        size, threshold = plan.selection.noise.size, float(plan.selection.threshold)
        norm = _norm(plan.mechanism, plan.bounding.groups)
        listed.append(Mechanism("people per group", plan.mechanism, size, norm, threshold))
    listed += [
        Mechanism(c.label, plan.mechanism, c.noise.size * c.unit, c.sensitivity * c.unit)
        for c in (*plan.noisy_sums, *(total for level in plan.levels for total in level.noisy_sums))
        if c.scale
    ]
    listed += [_drawn(plan, draw) for draw in plan.draws]
    for counted in plan.distinct:
        level, named = counted.level, f"different values of {describe(counted.value)}"
        if not counted.whole:
            named += f", {level.per_owner:,} of a person"
        sensitivity = float(level.per_owner * _norm(plan.mechanism, level.groups))
        listed.append(Mechanism(named, plan.mechanism, counted.noise.size, sensitivity))
    return tuple(listed)


def _norm(mechanism: str, groups: int) -> float:
    """Return the change if a person adds one to each of several groups, in the norm of the mechanism."""
    return float(groups if mechanism == "laplace" else groups**0.5)


def _drawn(plan: PrivatePlan, draw: Draw) -> Mechanism:
    """Describe a draw; its scale is that of the rank error, in rows."""
    named = describe(plan.bucketings[draw.bucketing].value)
    share = draw.rank.quantile
    what = ("largest" if share else "smallest") if draw.rank.extreme else f"quantile {float(share):g}"
    scale = 2 * max(share, 1 - share) * draw.reach.rows / draw.epsilon
    return Mechanism(f"{what} of {named}", "exponential", float(scale), float(draw.reach.rows))


def reused_summary(query: str, parts: Sequence[PrivatePlan], identity: str, remaining: Spending) -> Summary:
    """Return the summary of an answer that was paid for before."""
    return Summary(identity, query, _all(parts), parts[0].minimum, remaining=remaining, reused=True)


def paid_summary(query: str, statement: PrivateStatement, receipt: Receipt, estimate: Receipt | None = None) -> Summary:
    """Return the summary of a bought answer; with a size estimate that was bought first, of both charges."""
    minimum, price = statement.parts[0].minimum, Spending(statement.charge.epsilon, statement.charge.delta)
    summary = Summary(receipt.id, query, _all(statement.parts), minimum, price, receipt.share, receipt.remaining)
    if estimate is None:
        return summary
    first, second = _payment("size estimate", estimate), _payment("answer", receipt)
    both = Spending(first.charge.epsilon + second.charge.epsilon, first.charge.delta + second.charge.delta)
    return replace(summary, charge=both, share=first.share + second.share, payments=(first, second))


def _payment(purpose: str, receipt: Receipt) -> Payment:
    return Payment(purpose, receipt.id, Spending(receipt.charge.epsilon, receipt.charge.delta), receipt.share)


def _all(parts: Sequence[PrivatePlan]) -> tuple[Mechanism, ...]:
    return tuple(mechanism for part in parts for mechanism in mechanisms(part))


def adjust_p_values(
    bars: Sequence[MutableMapping[str, Interval]], compared: Mapping[str, Hashable], groups: int
) -> None:
    """Add p-values, adjusted by Holm (1979), to the intervals of an answer that makes several comparisons.

    Where none of m comparisons has a difference, the smallest of their p-values falls below 0.05 far more often than
    one time in twenty. Holm's adjusted p-values do so in at most one answer of twenty, however the comparisons depend
    on each other.

    Statistics of the same sums in the same row, such as a lift and a difference, are one comparison. Groups that are
    not among the rows count, too: LIMIT or HAVING may have kept the rows with the smallest p-values. Their p-values
    are not known, and taking them to be the larger ones makes no adjusted p-value smaller than it should be.

    Args:
        bars: The intervals, by row and column. They are changed.
        compared: The columns that compare people, each with the sums that it compares.
        groups: The number of groups that there are.
    """
    p_values: dict[tuple[int, Hashable], float] = {}
    for row, intervals in enumerate(bars):
        for name, sums in compared.items():
            if name in intervals and (p_value := intervals[name].p_value) is not None:
                p_values[row, sums] = p_value
    family = max(len(p_values), groups * len(set(compared.values())))
    if family < 2:
        return
    adjusted = dict(zip(p_values, holm(list(p_values.values()), family), strict=True))
    for row, intervals in enumerate(bars):
        for name, sums in compared.items():
            if (row, sums) in adjusted and intervals[name].p_value is not None:
                intervals[name] = replace(intervals[name], p_adjusted=adjusted[row, sums])


def holm(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """Return p-values adjusted for `family` comparisons; by default for as many as there are.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    number, largest = family or len(p_values), 0.0
    adjusted = [0.0] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min((number - rank) * p_values[index], 1.0))
        adjusted[index] = largest
    return adjusted
