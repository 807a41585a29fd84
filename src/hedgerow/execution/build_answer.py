"""Building an `Answer` from released numbers: the post-processing, and the error bars of its output."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.answer import Answer, Summary
from hedgerow.compile import Postprocess, postprocess
from hedgerow.compiled import ARROW, RELEASED, ROW
from hedgerow.dialects import DUCKDB
from hedgerow.error_bars.intervals.interval import Interval, Status
from hedgerow.error_bars.propagation import (
    Frame,
    Propagation,
    Releases,
    Simulation,
    adjust_p_values,
    explain_missing,
    missing_behind,
)
from hedgerow.error_bars.provenance import Origin, deciding, noisy_columns, picks_rows
from hedgerow.error_bars.provenance.origins import Cell, Known, Untraced
from hedgerow.errors import BackendError
from hedgerow.execution.answer_notes import answer_notes, flag_missed_target
from hedgerow.execution.nonnegative import AnswerPart, nonnegative_answers, shown_columns
from hedgerow.execution.request import Request
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.release import Estimator, PostprocessEngine

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
        return explain_missing(simulation.complete(bars, rows, beta), shown, missing)

    intervals: Callable[[], list[dict[str, Interval]]] = error_bars
    if request.within is not None:
        intervals = flag_missed_target(intervals, shown, request.within)
    notes = answer_notes(logical, tuple(estimator.plan for estimator in estimators), in_one_group)
    answer = Answer(shown, intervals, request.confidence, summary, _noisy(logical), notes)
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
    """Run the post-processing within the owner's limit on rows."""
    steps, shown = _computed(engine, logical, tables, engine.most_rows + 1)
    if shown.num_rows > engine.most_rows:
        raise BackendError(
            f"The answer has more than {engine.most_rows:,} rows, the most that the owner allows.",
            code="too-many-rows",
            hint="What was released is kept: ask again with LIMIT or GROUP BY around it, and the release is reused.",
        )
    return steps, shown


def _computed(
    engine: PostprocessEngine, logical: LogicalPlan, tables: Mapping[str, pa.Table], max_rows: int
) -> tuple[Postprocess, pa.Table]:
    """Run the post-processing, without provenance if the engine cannot compute it."""
    steps = postprocess(logical, DUCKDB, max_rows=max_rows)
    if (picked := _pick(steps, logical, tables)) is not None:
        return steps, picked
    try:
        return steps, engine.run(steps.sql, tables)
    except BackendError:
        if steps.release is not None:
            raise
        plain = postprocess(logical, DUCKDB, origins=False, max_rows=max_rows)
        rests = zip(logical.root.columns, noisy_columns(logical.root), strict=True)
        unknown = replace(plain, origins=tuple(Untraced() if noisy else Known(c.expr) for c, noisy in rests))
        return unknown, engine.run(plain.sql, tables)


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
    if not keys.column_names:
        return np.arange(len(estimator.noisy.shown))
    import pyarrow.compute as pc  # noqa: PLC0415 - a twentieth of a second to load, and not needed without keys

    ordered = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    return np.asarray(ordered.to_numpy(), dtype=np.int64)


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
    """Return the error bars of every number, their failure probability, and why numbers behind them are missing."""
    sizes = [len(estimator.noisy.shown) for estimator in releases.estimators]
    groups = max(sizes) if steps.release is None else sizes[logical.releases.index(steps.release)]
    beta = failure_level(request, logical, of=groups, shown=rows.num_rows)
    frame, propagation = _frame(steps, logical, releases, rows), Propagation(releases)
    bars: list[dict[str, Interval]] = [{} for _ in range(rows.num_rows)]
    missing: dict[str, list[Status | None]] = {}
    compared: dict[str, Hashable] = {}
    unpicked = failure_level(request, logical, of=groups, shown=groups)
    for name, column, origin in zip(logical.names, logical.root.columns, steps.origins, strict=True):
        level = unpicked if _is_unpicked(origin, steps, logical, propagation) else beta
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


def _is_unpicked(origin: Origin, steps: Postprocess, logical: LogicalPlan, propagation: Propagation) -> bool:
    """Return True if rows were picked by noise that is not in this column, so that its intervals hold all the same."""
    if steps.release is None:
        return False
    return propagation.has_other_noise(origin, deciding(logical.root), logical.releases.index(steps.release))


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


def _noisy(logical: LogicalPlan) -> list[str]:
    """List the columns that have error bars: noisy numbers."""
    shown = zip(logical.names, logical.root.columns, noisy_columns(logical.root), strict=True)
    return [name for name, column, rests in shown if rests and column.expr.type.is_numeric]


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
