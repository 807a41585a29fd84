"""Answers for programs: Arrow, with what is known of the error bars as metadata or as columns."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from hedgerow.answer.released import ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval, IntervalKind

CONFIDENCE, KIND, PART, OF, RECEIPT = (
    f"hedgerow.{name}" for name in ("confidence", "interval", "part", "of", "receipt")
)


def arrow_table(answer: ReleasedTable, values: pa.Table, *, intervals: bool) -> pa.Table:
    """The values, their columns marked where they rest on noise; with `intervals` three more columns for each.

    Statistics that compare people get three more: the interval about a population, and the p-value.
    """
    fields, columns = [], []
    names = set(answer.columns)
    for field, column in zip(values.schema, values.columns, strict=True):
        noisy = field.name in answer.noisy
        fields.append(field.with_metadata(_said(answer, field.name)) if noisy else field)
        columns.append(column)
        if noisy and intervals:
            for part, values_of_part in _parts([row.get(field.name) for row in answer.intervals]).items():
                name = unique_name(f"{field.name}_{part}", names)
                fields.append(pa.field(name, values_of_part.type, metadata={PART: part, OF: field.name}))
                columns.append(values_of_part)
    identity = answer.receipt.id
    metadata = None if identity is None else {RECEIPT: identity, CONFIDENCE: f"{answer.confidence!r}"}
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=metadata))


def _said(answer: ReleasedTable, name: str) -> Mapping[str, str]:
    bars = (row[name] for row in answer.intervals if name in row)
    kinds = (bar.kind for bar in bars if bar.has_number)
    weakest = max(kinds, key=lambda kind: kind.rank, default=IntervalKind.NONE)
    return {CONFIDENCE: f"{answer.confidence!r}", KIND: weakest}


def _parts(bars: Sequence[Interval | None]) -> dict[str, pa.Array]:
    """Both ends, infinite where they are open, and the note; where there is one, the population's, too."""
    ends = {
        "lower": pa.array((None if bar is None else bar.lower for bar in bars), pa.float64()),
        "upper": pa.array((None if bar is None else bar.upper for bar in bars), pa.float64()),
        "note": pa.array((None if bar is None else bar.note for bar in bars), pa.string()),
    }
    return {**ends, **_of_population(bars)} if any(bar and bar.population for bar in bars) else ends


def _of_population(bars: Sequence[Interval | None]) -> dict[str, pa.Array]:
    pairs = [(None, None) if bar is None or bar.population is None else bar.population for bar in bars]
    adjusted = [None if bar is None else bar.p_adjusted for bar in bars]
    return {
        "population_lower": pa.array((lower for lower, _ in pairs), pa.float64()),
        "population_upper": pa.array((upper for _, upper in pairs), pa.float64()),
        "p_value": pa.array((None if bar is None else bar.p_value for bar in bars), pa.float64()),
        **({} if all(p is None for p in adjusted) else {"p_adjusted": pa.array(adjusted, pa.float64())}),
    }


def unique_name(name: str, taken: set[str]) -> str:
    """Return the name, with underscores appended until it is unique."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
