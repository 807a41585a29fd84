"""From released numbers to an `Answer`: the after part, and the error bars of what it shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.answer import Answer, Summary
from hedgerow.compile import After, after
from hedgerow.compiled import RELEASED, ROW
from hedgerow.dialects import DUCKDB
from hedgerow.error_bars.intervals.interval import Interval, Status
from hedgerow.error_bars.propagation import Follower, Frame, bounds_of
from hedgerow.error_bars.propagation.missing_numbers import Reasons, explain_missing
from hedgerow.error_bars.propagation.simulation import Simulation
from hedgerow.error_bars.provenance.noisy_columns import Traced, noisy_columns, picks_rows, trace
from hedgerow.error_bars.provenance.origins import Known, Origin, Untraced
from hedgerow.errors import BackendError
from hedgerow.execution.answer_notes import remarks
from hedgerow.execution.missed_target import flag_missed_target
from hedgerow.execution.request import Request
from hedgerow.expressions.nodes import Column
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.release import AfterEngine, Estimator, Population


def build_answer(
    engine: AfterEngine,
    logical: LogicalPlan,
    estimators: Sequence[Estimator],
    public: Mapping[str, pa.Table],
    request: Request,
    summary: Summary,
) -> Answer:
    """Run the after part over the released tables, and put an interval to every number that rests on noise."""
    tables = {f"{RELEASED}{i}": _in_order(estimator) for i, estimator in enumerate(estimators)}
    steps, shown = _run(engine, logical, {**tables, **public})
    noisy = _noisy(logical)
    origin = trace(logical.root) if steps.origins is None else None
    simulation = Simulation(engine, logical, estimators, [_order(e) for e in estimators], public)
    traced_rows = shown

    def made() -> list[dict[str, Interval]]:
        """The error bars, when they are first looked at."""
        if origin is None:
            bars, beta, reasons = _followed(steps.origins or (), logical, estimators, traced_rows, request)
        else:
            bars, beta, reasons = _traced(origin, logical, estimators, traced_rows, request)
        return explain_missing(simulation.complete(bars, traced_rows, beta), shown, reasons)

    intervals: Callable[[], list[dict[str, Interval]]] = made
    shown = shown.select([column.name for column in logical.root.columns]).rename_columns(list(logical.names))
    if request.within is not None:
        intervals = flag_missed_target(intervals, shown, request.within)
    return Answer(shown, intervals, request.confidence, summary, noisy, remarks(logical, estimators, shown.num_rows))


def rows_shown(
    engine: AfterEngine,
    logical: LogicalPlan,
    estimators: Sequence[Estimator],
    public: Mapping[str, pa.Table],
    place: int,
) -> NDArray[np.int64]:
    """The groups of release number `place` that an answer shows, where every row of it comes from one of them."""
    tables = {f"{RELEASED}{i}": _in_order(estimator) for i, estimator in enumerate(estimators)}
    shown = engine.run(after(logical, DUCKDB, follow=False).sql, {**tables, **public})
    return _order(estimators[place])[np.asarray(shown.column(ROW).to_numpy(), dtype=np.int64)]


def _run(engine: AfterEngine, logical: LogicalPlan, tables: Mapping[str, pa.Table]) -> tuple[After, pa.Table]:
    """The after part, within the owner's limit on rows."""
    steps, shown = _computed(engine, logical, tables, engine.most_rows + 1)
    if shown.num_rows > engine.most_rows:
        raise BackendError(
            f"The answer has more than {engine.most_rows:,} rows, the most that the owner allows.",
            code="too-many-rows",
            hint="What was released is kept: ask again with LIMIT or GROUP BY around it, and the release is reused.",
        )
    return steps, shown


def _computed(
    engine: AfterEngine, logical: LogicalPlan, tables: Mapping[str, pa.Table], most: int
) -> tuple[After, pa.Table]:
    """The after part; where telling origins is more than the engine can do, without them."""
    steps = after(logical, DUCKDB, most=most)
    if steps.origins is None:
        return steps, engine.run(steps.sql, tables)
    try:
        return steps, engine.run(steps.sql, tables)
    except BackendError:
        plain = after(logical, DUCKDB, follow=False, most=most)
        rests = zip(logical.root.columns, noisy_columns(logical.root), strict=True)
        unknown = replace(plain, origins=tuple(Untraced() if noisy else Known(c.expr) for c, noisy in rests))
        return unknown, engine.run(plain.sql, tables)


def _order(estimator: Estimator) -> NDArray[np.int64]:
    """The released rows in the order of their keys."""
    keys = estimator.noisy.keys
    if not keys.column_names:
        return np.arange(len(estimator.noisy.shown))
    ordered = pc.sort_indices(keys, sort_keys=[(name, "ascending", "at_end") for name in keys.column_names])
    return np.asarray(ordered.to_numpy(), dtype=np.int64)


def _in_order(estimator: Estimator) -> pa.Table:
    """The released table in the order of its keys, each row with its number."""
    table = estimator.table().take(pa.array(_order(estimator)))
    place = table.column_names.index(ROW)
    return table.set_column(place, ROW, pa.array(np.arange(table.num_rows)))


def _traced(
    origin: Traced, logical: LogicalPlan, estimators: Sequence[Estimator], shown: pa.Table, request: Request
) -> tuple[list[dict[str, Interval]], float, Reasons]:
    """The error bars of rows that each come from one released row, how often one may fail, and why values miss."""
    estimator = estimators[logical.releases.index(origin.release)]
    rows = _order(estimator)[np.asarray(shown.column(ROW).to_numpy(), dtype=np.int64)]
    beta = _level(request, logical, of=len(estimator.noisy.shown), shown=len(rows))
    released = estimator.table()
    found: list[dict[str, Interval]] = [{} for _ in rows]
    for name, expr in zip(logical.names, origin.columns, strict=True):
        bounds = bounds_of(expr, estimator, released, beta) if expr.type.is_numeric else None
        if bounds is None:
            continue
        for place, row in enumerate(rows.tolist()):
            found[place][name] = Interval.of(float(bounds.lower[row]), float(bounds.upper[row]), bounds.statuses[row])
        if isinstance(expr, Column) and not expr.table:
            _of_population(found, name, estimator.about_population(expr.name, beta), rows)
    held = estimator.held_back
    missing = [None if estimator.noisy.shown[row] else held for row in rows.tolist()]
    return found, beta, dict.fromkeys(logical.names, missing)


def _of_population(
    found: list[dict[str, Interval]], name: str, about: Sequence[Population] | None, rows: NDArray[np.int64]
) -> None:
    """What the statistics that compare people say about a population, beside their own intervals."""
    for place, row in enumerate(rows.tolist() if about is not None else []):
        ends, p_value = about[row]  # type: ignore[index]
        found[place][name] = replace(found[place][name], population=ends, p_value=p_value)


def _followed(
    origins: Sequence[Origin],
    logical: LogicalPlan,
    estimators: Sequence[Estimator],
    shown: pa.Table,
    request: Request,
) -> tuple[list[dict[str, Interval]], float, Reasons]:
    """The error bars of numbers made of several released rows, how often one may fail, and why values miss."""
    follower = Follower(estimators, [_order(estimator) for estimator in estimators])
    columns = {name: shown.column(name).combine_chunks() for name in shown.column_names}
    frame = Frame(columns, shown.num_rows)
    beta = _level(request, logical, of=max(len(e.noisy.shown) for e in estimators), shown=shown.num_rows)
    found: list[dict[str, Interval]] = [{} for _ in range(shown.num_rows)]
    reasons: dict[str, list[Status | None]] = {}
    for name, column, origin in zip(logical.names, logical.root.columns, origins, strict=True):
        bounds = follower.bounds(origin, frame, beta) if column.expr.type.is_numeric else None
        for place, interval in enumerate(bounds.intervals() if bounds is not None else []):
            found[place][name] = interval
        if bounds is not None:
            reasons[name] = follower.reasons(origin, frame)
    return found, beta, reasons


def _noisy(logical: LogicalPlan) -> list[str]:
    """The columns that have error bars: numbers that rest on noise."""
    shown = zip(logical.names, logical.root.columns, noisy_columns(logical.root), strict=True)
    return [name for name, column, rests in shown if rests and column.expr.type.is_numeric]


def _level(request: Request, logical: LogicalPlan, *, of: int, shown: int) -> float:
    """How often one interval may fail.

    Being picked by HAVING or LIMIT is information: with R of G rows shown, R/G of the failure probability
    keeps the expected share of wrong intervals among those shown (docs/explanation/error-bars.md). With
    `simultaneous` every number of the table holds at once.
    """
    beta = 1.0 - request.confidence
    if picks_rows(logical.root) and 0 < shown < of:
        beta *= shown / of
    if request.simultaneous:
        beta /= max(1, max(of, shown) * len(logical.names))
    return beta
