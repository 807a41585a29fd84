"""Which column goes where on a chart."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hedgerow.answer.released import ReleasedTable
from hedgerow.errors import ParameterError

TEMPORAL, QUANTITATIVE, NOMINAL, ALONE = "temporal", "quantitative", "nominal", "alone"

Wanted = tuple[str | None, str | Sequence[str] | None, str | None]
"""The columns that were asked for: along the axis, to draw, to tell apart by colour."""


@dataclass(frozen=True, slots=True)
class PlotChoice:
    """The columns of a chart. Without an `x`, rows are numbered, and a single row stands alone."""

    x: str | None
    y: tuple[str, ...]
    colours: tuple[str, ...]
    axis: str


def choose(answer: ReleasedTable, schema: pa.Schema, wanted: Wanted) -> PlotChoice:
    """Take what was asked for, and for the rest all noisy columns, along a date, else a number, else the first key."""
    x, y, colour = wanted
    kinds = {field.name: _kind(field.type) for field in schema}
    _known([x, colour], kinds)
    drawn = _drawn(answer, kinds, x, colour) if y is None else ((y,) if isinstance(y, str) else tuple(y))
    _numbers(drawn, kinds)
    keys = [name for name in kinds if name not in drawn and name not in answer.noisy]
    if x is None:
        x = _axis([name for name in keys if name != colour], kinds)
    others = tuple(name for name in keys if name != x) if colour is None else (colour,)
    if x is not None:
        return PlotChoice(x, drawn, others, kinds[x])
    return PlotChoice(None, drawn, others, ALONE if len(answer) == 1 else NOMINAL)


def _drawn(answer: ReleasedTable, kinds: dict[str, str], x: str | None, colour: str | None) -> tuple[str, ...]:
    """All columns with error bars; of public data the numbers, but not a first column that can be the axis."""
    if answer.noisy:
        return tuple(name for name in answer.noisy if name not in {x, colour})
    numbers = [name for name, kind in kinds.items() if kind == QUANTITATIVE and name not in {x, colour}]
    plain_axis = x is None and all(name in numbers for name in kinds) and len(numbers) > 1
    return tuple(numbers[1:] if plain_axis else numbers)


def _axis(keys: Sequence[str], kinds: dict[str, str]) -> str | None:
    ranked = sorted(keys, key=lambda name: (TEMPORAL, QUANTITATIVE, NOMINAL).index(kinds[name]))
    return ranked[0] if ranked else None


def _kind(found: pa.DataType) -> str:
    if pa.types.is_date(found) or pa.types.is_timestamp(found):
        return TEMPORAL
    if pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_decimal(found):
        return QUANTITATIVE
    return NOMINAL


def _known(names: Sequence[str | None], kinds: dict[str, str]) -> None:
    for name in names:
        if name is not None and name not in kinds:
            raise ParameterError(
                f"The answer has no column {name!r} to plot.",
                code="bad-plot",
                hint=f"It has: {', '.join(kinds)}.",
            )


def _numbers(names: Sequence[str], kinds: dict[str, str]) -> None:
    _known(names, kinds)
    wrong = [name for name in names if kinds[name] != QUANTITATIVE]
    if wrong or not names:
        found = f"The column {wrong[0]!r} holds no numbers" if wrong else "There is no column of numbers"
        raise ParameterError(
            f"{found}, so it has no height on a chart.",
            code="bad-plot",
            hint="Name columns of numbers as y.",
        )
