"""Choice of the columns of a chart, and the rows of an answer as its points."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import pyarrow as pa

from hedgerow.answer.plain import ends, missing, number, shown
from hedgerow.answer.plot.library import Point, harmless
from hedgerow.answer.released import ReleasedTable
from hedgerow.error_bars.intervals.interval import Interval, IntervalKind
from hedgerow.errors import ParameterError

TEMPORAL, QUANTITATIVE, NOMINAL, ALONE = "temporal", "quantitative", "nominal", "alone"

Wanted = tuple[str | None, str | Sequence[str] | None, str | None]
"""The requested columns: along the axis, to draw, and for colours."""


@dataclass(frozen=True, slots=True)
class PlotChoice:
    """The columns of a chart. Without an `x`, rows are numbered, and a single row stands alone."""

    x: str | None
    y: tuple[str, ...]
    colours: tuple[str, ...]
    axis: str


def choose(answer: ReleasedTable, schema: pa.Schema, wanted: Wanted) -> PlotChoice:
    """Use the requested columns; by default draw all noisy columns, along a date, else a number, else the first key."""
    x, y, colour = wanted
    kinds = {field.name: _kind(field.type) for field in schema}
    _known([x, colour], kinds)
    drawn = _drawn_columns(answer, kinds, x, colour) if y is None else ((y,) if isinstance(y, str) else tuple(y))
    _numbers(drawn, kinds)
    keys = [name for name in kinds if name not in drawn and name not in answer.noisy]
    if x is None:
        order = (TEMPORAL, QUANTITATIVE, NOMINAL)
        x = min((name for name in keys if name != colour), key=lambda name: order.index(kinds[name]), default=None)
    others = tuple(name for name in keys if name != x) if colour is None else (colour,)
    if x is not None:
        return PlotChoice(x, drawn, others, kinds[x])
    return PlotChoice(None, drawn, others, ALONE if len(answer) == 1 else NOMINAL)


def _drawn_columns(answer: ReleasedTable, kinds: dict[str, str], x: str | None, colour: str | None) -> tuple[str, ...]:
    """Return all columns with error bars; for public data the numbers, except a first column that can be the axis."""
    if answer.noisy:
        return tuple(name for name in answer.noisy if name not in {x, colour})
    numbers = [name for name, kind in kinds.items() if kind == QUANTITATIVE and name not in {x, colour}]
    plain_axis = x is None and all(name in numbers for name in kinds) and len(numbers) > 1
    return tuple(numbers[1:] if plain_axis else numbers)


def _kind(column: pa.DataType) -> str:
    if pa.types.is_date(column) or pa.types.is_timestamp(column):
        return TEMPORAL
    if pa.types.is_integer(column) or pa.types.is_floating(column) or pa.types.is_decimal(column):
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
        problem = f"The column {wrong[0]!r} holds no numbers" if wrong else "There is no column of numbers"
        raise ParameterError(
            f"{problem}, so it has no height on a chart.",
            code="bad-plot",
            hint="Name columns of numbers as y.",
        )


EXACT, BOUNDED, ASTRAY, OPEN, MISSING = "exact", "bounded", "astray", "open", "missing"
"""States of a point: no interval; a closed interval; zero width despite noise; an open end; no value."""

MOST_BARS, MOST_POINTS = 60, 5_000
"""Maximum number of labels on an axis of words, and of points elsewhere, that stay readable."""


@dataclass
class Labels:
    """Text for values, different for different values: NULL is not the text 'NULL'."""

    _known: dict[Hashable, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def of(self, value: Hashable) -> str:
        """The label of a value; of a tuple, those of its parts."""
        if value not in self._known:
            label = " · ".join(map(_text, value)) if isinstance(value, tuple) else _text(value)
            while label in self._used:
                label += "′"
            self._known[value] = label
            self._used.add(label)
        return self._known[value]

    def all(self) -> list[str]:
        """Return all labels, in the order of first use."""
        return list(self._known.values())


@dataclass(frozen=True)
class Points:
    """Points of one column, and remarks about those that are not drawn."""

    rows: list[Point]
    axis: list[str]
    colours: list[str]
    remarks: list[str]


def points(answer: ReleasedTable, choice: PlotChoice, y: str) -> Points:
    """Return one point for each row, up to the readable number."""
    axis, colours = Labels(), Labels()
    keys = answer[choice.x] if choice.x is not None else list(range(1, len(answer) + 1))
    groups = list(zip(*(answer[name] for name in choice.colours), strict=True)) or [()] * len(answer)
    values = answer[y]
    kept, remarks = _kept(keys, choice.axis)
    rows = []
    for i in kept:
        x = axis.of(keys[i]) if choice.axis == NOMINAL else _position(keys[i], choice.axis)
        if x is not None:
            label = x if choice.axis == NOMINAL else _text(keys[i])
            bar = answer.intervals[i].get(y)
            rows.append({"x": x, "key": label, "group": colours.of(groups[i]), **_drawn(values[i], bar)})
    if len(rows) < len(kept):
        remarks.append(f"not drawn: {len(kept) - len(rows)} with {harmless(choice.x or '')} NULL")
    return Points(rows, axis.all(), colours.all(), remarks)


def _kept(keys: Sequence[Hashable], axis: str) -> tuple[list[int], list[str]]:
    """Return the indices of the rows that are drawn, and a remark if some are not."""
    if axis != NOMINAL:
        remark = f"the first {MOST_POINTS:,} of {len(keys):,} points are drawn"
        return list(range(min(len(keys), MOST_POINTS))), [remark] if len(keys) > MOST_POINTS else []
    different = list(dict.fromkeys(keys))
    drawn = set(different[:MOST_BARS])
    remark = f"the first {MOST_BARS} of {len(different):,} groups are drawn"
    kept = [i for i, key in enumerate(keys) if key in drawn]
    return kept, [remark] if len(different) > MOST_BARS else []


def with_runs(rows: Iterable[Point]) -> list[Point]:
    """Return rows in axis order, numbered by the line that joins them; `lonely` marks a point without neighbours."""
    ordered = sorted(rows, key=lambda row: (row["group"], row["x"]))
    run, before = 0, None
    for row in ordered:
        joined = row["state"] in {EXACT, BOUNDED}
        if not joined or before is None or before != row["group"]:
            run += 1
        row["run"], before = run, row["group"] if joined else None
    lengths = Counter(row["run"] for row in ordered)
    for row in ordered:
        row["lonely"] = lengths[row["run"]] == 1
    return ordered


def in_state(rows: Iterable[Point], *states: str) -> list[Point]:
    """Return the rows in this state."""
    return [row for row in rows if row["state"] in states]


def _drawn(value: object, bar: Interval | None) -> Point:
    height = number(value)
    point: Point = {"state": _state(height, bar), "shown": shown(value, bar) if height is not None else missing(bar)}
    if height is not None:
        point["value"] = height
    if bar is not None:
        error = max(abs(bar.lower), abs(bar.upper)) if bar.lower == bar.upper else bar.upper - bar.lower
        point["interval"] = ends(bar, error / 2 if math.isfinite(error) else _finite_end(bar) / 100)
        for name, end in (("lower", bar.lower), ("upper", bar.upper)):
            if math.isfinite(end):
                point[name] = end
        if bar.note:
            point["note"] = harmless(bar.note)
    return point


def _state(value: float | None, bar: Interval | None) -> str:
    if value is None:
        return MISSING
    if bar is None:
        return EXACT
    if not (math.isfinite(bar.lower) and math.isfinite(bar.upper)):
        return OPEN
    flagged = bar.reason is not None or bar.kind is not IntervalKind.EXACT
    return ASTRAY if bar.lower == bar.upper and flagged else BOUNDED


def _finite_end(bar: Interval) -> float:
    return max((abs(end) for end in (bar.lower, bar.upper) if math.isfinite(end)), default=0.0)


def _position(key: object, axis: str) -> float | str | None:
    """Return the position of a key on an axis of numbers or of time; None if it has no position there."""
    if axis == QUANTITATIVE:
        return number(key)
    if axis == TEMPORAL and isinstance(key, date):
        # Timestamp as a browser reads it without a shift by a time zone.
        if not isinstance(key, datetime):
            return f"{key.isoformat()}T00:00:00Z"
        timestamp = key.astimezone(UTC).replace(tzinfo=None) if key.tzinfo is not None else key
        return f"{timestamp.isoformat(timespec='milliseconds')}Z"
    return 0.0 if axis not in {QUANTITATIVE, TEMPORAL} else None


def _text(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, date):
        return value.isoformat()
    text = harmless(str(value))
    return f"'{text}'" if isinstance(value, str) and text in {"NULL", ""} else text


def notes_of(rows: Sequence[Point]) -> list[str]:
    """Return each note once, after the mark of its points."""
    marks = {MISSING: "× ", OPEN: "○ ", ASTRAY: "○ "}
    return list({f"{marks.get(row['state'], '')}{row['note']}": None for row in rows if "note" in row})
