"""Points in time: read in the time zone of the catalog, and from there on timestamps like any other.

A point in time stands in an expression as a call of `in_zone`, whose last argument is the zone that it is shown in. So
the zone can still be exchanged (AT TIME ZONE), and what it is at UTC is still known (EXTRACT(epoch …)). A cast around
the call makes it a date and time and nothing else.
"""

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import Binder, Handlers, constant_text, text
from hedgerow.plan.syntax import span_of, text_of

UTC = zones.DEFAULT


def in_zone(value: Expr, source: str, target: str) -> Expr:
    """A date and time of one zone in another one."""
    return coerce.call("in_zone", [value, text(source), text(target)])


def is_instant(expr: Expr) -> bool:
    """Whether the expression is a point in time, and not merely a date and time."""
    return isinstance(expr, Call) and expr.function == "in_zone"


def shown_in(expr: Call, zone: str) -> Expr:
    """A point in time in another zone."""
    source = expr.arguments[1]
    return Call("in_zone", (expr.arguments[0], source, text(zone)), Type.TIMESTAMP)


def read_instant(column: Expr, zone: str) -> Expr:
    """A column of points in time, in a zone: as the database has them, or as ISO 8601 writes them.

    Text without an offset is a date and time in the zone.
    """
    if column.type is Type.TIMESTAMP:
        return in_zone(column, UTC, zone)
    if column.type not in {Type.TEXT, Type.OTHER}:
        return in_zone(coerce.call("imposed_timestamp", [column]), UTC, zone)
    written = column if column.type is Type.TEXT else coerce.call("imposed_text", [column])
    return in_zone(coerce.call("read_instant", [written, text(zone)]), UTC, zone)


def at_utc(expr: Expr) -> Expr:
    """A point in time at UTC; any other expression as it is."""
    return shown_in(expr, UTC) if isinstance(expr, Call) and is_instant(expr) else expr


def zone_name(node: exp.Expr, binder: Binder) -> str:
    """The zone that AT TIME ZONE names."""
    name = constant_text(binder.bind(node), node, "A time zone")
    if zones.exists(name):
        return name
    raise UnsupportedSQLError(
        f"{name!r} is not the name of a time zone.",
        code="unknown-timezone",
        hint="Write a name of the IANA database, such as 'Europe/Berlin' or 'UTC'.",
        span=span_of(node),
    )


def _at_time_zone(node: exp.AtTimeZone, binder: Binder) -> Expr:
    """A point in time as date and time there; a date and time there as a point in time."""
    value, zone = binder.bind(node.this), zone_name(node.args["zone"], binder)
    if isinstance(value, Call) and is_instant(value):
        return coerce.call("cast_timestamp", [shown_in(value, zone)])
    if _is_local(value):
        return in_zone(value, zone, binder.zone)
    raise UnsupportedSQLError(
        f"{text_of(node.this)} is computed, so it is not known whether it is a point in time or a date and time.",
        code="computed-timezone",
        hint="Apply AT TIME ZONE to a column of a table first, or write CAST(… AS TIMESTAMP) for a date and time.",
        span=span_of(node),
    )


def _is_local(expr: Expr) -> bool:
    """Whether the expression is a date and time: a column of a table without a time zone, a constant or a cast."""
    stored = isinstance(expr, Column) and expr.native != ""
    cast = isinstance(expr, Call) and expr.function in {"cast_timestamp", "imposed_timestamp"}
    return expr.type is Type.TIMESTAMP and (stored or cast or isinstance(expr, Literal))


HANDLERS: Handlers = {exp.AtTimeZone: (("this", "zone"), _at_time_zone)}
