"""Dates and times of one time zone in another one, and points in time that are written down.

Points in time are kept at UTC. Every dialect writes the offsets of a zone into the text (`Dialect.in_zone`); zones are
constants.
"""

from hedgerow.expressions.functions.registry import TEXTS, Function, register, takes
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import DEFAULT

OFFSET = r"^(.*[0-9]:[0-9]{2}(?:\.[0-9]*)?)(?:Z|([+-])([0-9]{2})(?::?([0-9]{2}))?)$"
"""ISO 8601: date and time, then Z or a sign, hours and perhaps minutes."""

register(
    Function(
        "in_zone",
        takes(frozenset({Type.TIMESTAMP}), TEXTS, TEXTS, gives=Type.TIMESTAMP),
        "({0} AT TIME ZONE {1}) AT TIME ZONE {2}",
        partial=False,
        arity=(3, 3),
    )
)
register(
    Function(
        "read_instant",
        takes(TEXTS, TEXTS, gives=Type.TIMESTAMP),
        "CAST({0} AS TIMESTAMP WITH TIME ZONE)",
        arity=(2, 2),
    )
)


def spelled_out(expr: Call) -> Expr:
    """`read_instant` in terms of other functions: a point in time at UTC from ISO 8601.

    Text without an offset is a date and time in the zone that the call names.
    """
    written, zone = expr.arguments
    moment, sign, hours, minutes = (
        Call("regexp_extract", (written, _text(OFFSET), _whole(group)), Type.TEXT) for group in range(1, 5)
    )
    seconds = Call("add_whole", (_times(hours, 3600), _times(minutes, 60)), Type.INTEGER)
    behind = Call("equal", (sign, _text("-")), Type.BOOLEAN)
    added = Call("case", (behind, seconds, Call("negate_whole", (seconds,), Type.INTEGER)), Type.INTEGER)
    at_utc = Call("shift_second", (_moment(moment), added), Type.TIMESTAMP)
    here = Call("in_zone", (_moment(written), zone, _text(DEFAULT)), Type.TIMESTAMP)
    return Call("case", (Call("equal", (moment, _text("")), Type.BOOLEAN), here, at_utc), Type.TIMESTAMP)


def _moment(value: Expr) -> Call:
    return Call("imposed_timestamp", (value,), Type.TIMESTAMP)


def _times(value: Expr, factor: int) -> Call:
    number = Call("coalesce", (Call("cast_integer", (value,), Type.INTEGER), _whole(0)), Type.INTEGER)
    return Call("multiply_whole", (number, _whole(factor)), Type.INTEGER)


def _text(value: str) -> Literal:
    return Literal(value, Type.TEXT)


def _whole(value: int) -> Literal:
    return Literal(value, Type.INTEGER)
