"""From released numbers to an `Answer`: the after part, and the error bars of what it shows."""

import numpy as np
import pyarrow as pa

from hedgerow.answer import Answer, Summary
from hedgerow.compile import after
from hedgerow.compiled import ROW
from hedgerow.dialects import DUCKDB
from hedgerow.engine.parameters import Asked
from hedgerow.interval import Interval
from hedgerow.plan.nodes import Filter, Limit, LogicalPlan, Sort
from hedgerow.release import AfterEngine, Estimator, bounds_of


def tell(engine: AfterEngine, logical: LogicalPlan, estimator: Estimator, request: Asked, told: Summary) -> Answer:
    """Run the after part over the released table, and put an interval to every number that rests on noise."""
    released = estimator.table()
    keys = tuple(key.name for key in estimator.plan.release.keys)
    table = engine.run(after(logical.root, keys, DUCKDB), released)
    rows = table.column(ROW).to_numpy()
    beta = _failure(logical, request, shown=len(rows), of=released.num_rows)
    intervals = _intervals(logical, estimator, released, rows, beta)
    shown = table.drop_columns([ROW]).rename_columns(list(logical.names))
    return Answer(shown, intervals, request.confidence, told)


def _intervals(
    logical: LogicalPlan, estimator: Estimator, released: pa.Table, rows: np.ndarray, beta: float
) -> list[dict[str, Interval]]:
    """The error bars of the rows that are shown, by column."""
    found: list[dict[str, Interval]] = [{} for _ in rows]
    for name, column in zip(logical.names, logical.root.columns, strict=True):
        bounds = bounds_of(column.expr, estimator, released, beta)
        if bounds is None:
            continue
        for place, row in enumerate(rows.tolist()):
            found[place][name] = Interval(float(bounds.lower[row]), float(bounds.upper[row]), bounds.notes[row])
    return found


def _failure(logical: LogicalPlan, request: Asked, *, shown: int, of: int) -> float:
    """How often one interval may fail.

    Being picked by HAVING or LIMIT is information: with R of G rows shown, R/G of the failure probability
    keeps the expected share of wrong intervals among those shown (docs/explanation/error-bars.md). With
    `simultaneous` every number of the table holds at once.
    """
    beta = 1.0 - request.confidence
    if _picks_rows(logical) and 0 < shown < of:
        beta *= shown / of
    if request.simultaneous:
        beta /= max(1, of * len(logical.names))
    return beta


def _picks_rows(logical: LogicalPlan) -> bool:
    """Whether rows are chosen by their noisy values."""
    node = logical.root.source
    while isinstance(node, Sort):
        node = node.source
    return isinstance(node, Filter | Limit)
