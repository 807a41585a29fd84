"""Answers without negative counts: the nearest tables that are possible and add up, with error bars that stay honest.

Privacy: post-processing. It reads released numbers and plans; it draws no noise and costs nothing, and the same
releases always give the same digits.

Error bars: the interval of a released number, cut to what is possible, holds the exact number as often as before,
because the exact number is possible. It is lengthened where the number that is shown would lie outside.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.answer import Answer, Note, NoteKind
from hedgerow.compile import Postprocess
from hedgerow.error_bars.intervals.interval import Interval, IntervalKind, Reason
from hedgerow.error_bars.propagation import Frame, Releases
from hedgerow.error_bars.provenance.origins import Cell, Gathered, Origin
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.types import Type
from hedgerow.late import csr_array
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.release import Estimator
from hedgerow.statistics.nearest_tables import nearest_atoms

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

RAISED = "raised to 0, the smallest possible number"
MOVED = "moved so that the numbers add up and none is negative"

NOTE = Note(
    NoteKind.NONNEGATIVE,
    "Counts, and sums of values that are not negative, are shown as the nearest numbers that are not negative. Totals "
    "of a table, and tables that were measured together, add up; counts and sums of whole numbers are whole. Averages, "
    "shares and other computed numbers, and the order of the rows, come from the numbers as they were released. An "
    "interval is that of the released number, cut to what is possible, and longer where the number shown would lie "
    "outside.",
    "numbers are moved so that none is negative, and totals still add up; ± allows for it",
)


@dataclass(frozen=True)
class PooledTable:
    """The tables that a release adds up with.

    Attributes:
        pool: The name of all of them.
        keys: Its keys, as positions among those of all tables; None if it is alone.
        measures: For each noisy sum, its number among those of all tables; empty if it is alone.
        rows: For each shown group that all tables are made of, its row in this one; None if they are made of cells.
    """

    pool: Hashable
    keys: tuple[int, ...] | None = None
    measures: tuple[int, ...] = ()
    rows: Indices | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ShownColumn:
    """A column of released counts or sums, or of totals of these.

    Attributes:
        name: Its name.
        release: The release, by position.
        form: The noisy sums that a number consists of, and their coefficients.
        values: The released numbers, not rounded; NaN where there is none.
        totals: A row for each number: the groups that it is the sum of.
        lowest: The smallest possible number; minus infinity if there is none.
        whole: True if the exact numbers are whole.
    """

    name: str
    release: int
    form: tuple[tuple[int, float], ...]
    values: Floats
    totals: Any
    lowest: float
    whole: bool


@dataclass(frozen=True)
class AnswerPart:
    """An answer, its columns of released numbers, and the releases behind it."""

    answer: Answer
    columns: Sequence[ShownColumn]
    estimators: Sequence[Estimator]
    tables: Sequence[PooledTable] = field(default=())


def shown_columns(logical: LogicalPlan, steps: Postprocess, frame: Frame, releases: Releases) -> list[ShownColumn]:
    """Return the columns of an answer that can be adjusted."""
    columns = (
        _column(name, origin, frame, releases) for name, origin in zip(logical.names, steps.origins, strict=True)
    )
    return [column for column in columns if column is not None]


def nonnegative_answers(parts: Sequence[AnswerPart]) -> list[Answer]:
    """Return the answers with adjusted numbers; those of one pool add up to each other."""
    alike: dict[Hashable, list[tuple[int, ShownColumn]]] = {}
    for number, part in enumerate(parts):
        for column in part.columns:
            table = _pooled(part, number, column)
            form = tuple((table.measures[i] if table.measures else i, factor) for i, factor in column.form)
            alike.setdefault((table.pool, form), []).append((number, column))
    adjusted: list[dict[str, Floats]] = [{} for _ in parts]
    for columns in alike.values():
        for (number, column), values in zip(columns, _adjusted_values(parts, columns), strict=True):
            adjusted[number][column.name] = values
    return [_with_values(part, values) for part, values in zip(parts, adjusted, strict=True)]


def _pooled(part: AnswerPart, number: int, column: ShownColumn) -> PooledTable:
    return part.tables[column.release] if part.tables else PooledTable((number, column.release))


def _column(name: str, origin: Origin, frame: Frame, releases: Releases) -> ShownColumn | None:
    """Return a column that consists of released numbers, or of sums of these; None for any other."""
    cell, inner, owner = origin, frame, np.arange(frame.rows)
    if isinstance(origin, Gathered) and origin.function == "SUM" and not origin.chosen:
        cell, (inner, owner) = origin.inner, frame.elements(origin.rows)
    if not isinstance(cell, Cell) or cell.chosen:
        return None
    estimator = releases.estimators[cell.release]
    index = estimator.index(cell.call)
    ratio, call = estimator.ratio(index), estimator.plan.release.calls[index]
    if ratio is None or ratio.denominator is not None:
        return None
    groups, has_number = releases.groups_of(cell, inner)
    used = np.flatnonzero(has_number)
    shape = frame.rows, len(estimator.noisy.shown)
    totals = csr_array((np.ones(len(used)), (owner[used], groups[used])), shape=shape)
    some = np.asarray(totals.sum(axis=1)).ravel() > 0
    values = np.where(some, totals @ np.nan_to_num(ratio.numerator.values), np.nan)
    form = tuple((index, float(factor)) for index, factor, _ in ratio.numerator.terms)
    sums = call.arguments if call.function == "SUM" else ()
    possible = ratio.support[0] if not sums else min(float(range_of(value).lower) for value in sums)
    whole = call.type is Type.INTEGER or (bool(sums) and all(value.type is Type.INTEGER for value in sums))
    return ShownColumn(name, cell.release, form, values, totals, 0.0 if possible >= 0 else -np.inf, whole)


def _adjusted_values(parts: Sequence[AnswerPart], columns: Sequence[tuple[int, ShownColumn]]) -> list[Floats]:
    """Return the adjusted numbers of columns that add up to each other."""
    from scipy import sparse  # noqa: PLC0415 - a fifth of a second to load

    tables = [_pooled(parts[number], number, column) for number, column in columns]
    estimators = [parts[number].estimators[column.release] for number, column in columns]
    places = _atoms(estimators, tables)
    members = [(column.totals @ atoms).tocsr() for (_, column), atoms in zip(columns, places, strict=True)]
    known = [np.isfinite(column.values) for _, column in columns]
    released = np.concatenate([column.values[some] for (_, column), some in zip(columns, known, strict=True)])
    every = sparse.vstack([part[some] for part, some in zip(members, known, strict=True)]).tocsr()
    if not every.shape[0]:
        return [column.values for _, column in columns]
    _, first = columns[0]
    atoms = nearest_atoms(every, released, lowest=first.lowest, whole=all(column.whole for _, column in columns))
    return [np.where(some, part @ atoms, np.nan) for part, some in zip(members, known, strict=True)]


def _atoms(estimators: Sequence[Estimator], tables: Sequence[PooledTable]) -> list[Any]:
    """Return, for each release, the atoms of every group.

    They are the groups themselves, the shown groups that all tables are made of, or the cells by all their keys.
    """
    if tables[0].keys is None:
        size = len(estimators[0].noisy.shown)
        return [csr_array((np.ones(size), (np.arange(size), np.arange(size))), shape=(size, size))] * len(tables)
    sizes_and_rows = [(len(one.noisy.shown), table.rows) for one, table in zip(estimators, tables, strict=True)]
    if sizes_and_rows[0][1] is not None:
        return [
            csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(size, len(rows)))
            for size, rows in sizes_and_rows
            if rows is not None
        ]
    values: dict[int, dict[object, int]] = {}
    placed = []
    for estimator, table in zip(estimators, tables, strict=True):
        names = [key.name for key in estimator.plan.release.keys]
        indices = {}
        for key, name in zip(table.keys or (), names, strict=True):
            known = values.setdefault(key, {})
            column = estimator.noisy.keys.column(name).to_pylist()
            indices[key] = np.array([known.setdefault(value, len(known)) for value in column], dtype=np.int64)
        placed.append(indices)
    keys = sorted(values)
    sizes = [len(values[key]) for key in keys]
    count = int(np.prod(sizes))
    cells = dict(zip(keys, np.indices(sizes).reshape(len(sizes), count), strict=True))
    return [
        _cells_of(len(estimator.noisy.shown), indices, cells, {key: len(values[key]) for key in keys}, count)
        for estimator, indices in zip(estimators, placed, strict=True)
    ]


def _cells_of(
    groups: int, indices: Mapping[int, Indices], cells: Mapping[int, Indices], sizes: Mapping[int, int], count: int
) -> Any:  # noqa: ANN401 - SciPy's sparse arrays have no types
    """Return a row for each group of a table: the cells with its values of the table's keys."""
    if not indices:
        return csr_array(np.ones((1, count)))
    shape = [sizes[key] for key in indices]
    group_at = np.full(int(np.prod(shape)), -1)
    group_at[np.ravel_multi_index(list(indices.values()), shape)] = np.arange(groups)
    owner = group_at[np.ravel_multi_index([cells[key] for key in indices], shape)]
    inside = np.flatnonzero(owner >= 0)
    return csr_array((np.ones(len(inside)), (owner[inside], inside)), shape=(groups, count))


def _with_values(part: AnswerPart, adjusted: Mapping[str, Floats]) -> Answer:
    """Return an answer with other numbers in some columns, and error bars that contain them."""
    answer = part.answer
    table = answer.arrow()
    released = {column.name: column for column in part.columns}
    for name, values in adjusted.items():
        position, kind = table.column_names.index(name), table.schema.field(name).type
        missing = ~np.isfinite(values)
        numbers = np.where(missing, 0.0, values)
        whole = numbers.astype(np.int64) if pa.types.is_integer(kind) else numbers
        table = table.set_column(position, name, pa.array(whole, mask=missing).cast(kind))

    def intervals() -> list[dict[str, Interval]]:
        bars = [dict(row) for row in answer.intervals]
        for name, values in adjusted.items():
            column = released[name]
            for row, value in enumerate(values.tolist()):
                if name in bars[row] and np.isfinite(value):
                    bars[row][name] = _containing(bars[row][name], float(column.values[row]), value, column)
        return bars

    notes = (*answer.notes, NOTE) if adjusted else answer.notes
    return Answer(
        table.replace_schema_metadata(None), intervals, answer.confidence, answer.receipt, answer.noisy, notes
    )


def _containing(bar: Interval, released: float, value: float, column: ShownColumn) -> Interval:
    """Return the interval, cut to what is possible, with the number that is shown inside; it says what was changed."""
    lower, upper = max(bar.lower, column.lowest), max(bar.upper, column.lowest)
    longer = value < lower or value > upper
    kind = IntervalKind.CONSERVATIVE if longer and bar.kind is IntervalKind.EXACT else bar.kind
    held = replace(bar, lower=min(lower, value), upper=max(upper, value), kind=kind)
    if abs(value - released) <= (1.0 if column.whole else 1e-9 * max(1.0, abs(released))):
        return held
    note = RAISED if value == 0 and released < 0 else MOVED
    if bar.reason in {None, Reason.OUTSIDE_RANGE}:
        return replace(held, reason=Reason.ADJUSTED, note=note)
    return held.with_remark(note)
