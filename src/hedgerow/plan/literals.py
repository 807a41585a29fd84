"""Constants of the query text, read strictly and held as values. They are re-rendered by us, never passed through."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from math import isfinite

from sqlglot import exp

from hedgerow.errors import ParameterError, ParseError
from hedgerow.expressions import zones
from hedgerow.expressions.nodes import Literal
from hedgerow.expressions.types import Type

MAX_DIGITS = 40
MAX_TEXT = 10_000
WHOLE = 2**63
MOST_DECIMALS = 18
OPERATIONS = {"add": Decimal.__add__, "subtract": Decimal.__sub__, "multiply": Decimal.__mul__}

Parameters = Sequence[object] | Mapping[str, object] | None


def number(text: str) -> Literal:
    """A numeric literal: whole, decimal, or (with an exponent, or too long) a double."""
    if len(text) > MAX_DIGITS:
        raise ParseError(
            f"A number has more than {MAX_DIGITS} digits.", code="huge-literal", hint="Write it with fewer, or as 1e50."
        )
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ParseError("A number cannot be read.", code="syntax") from None
    if text.isdigit() and value < WHOLE:
        return Literal(int(value), Type.INTEGER)
    if "e" in text.lower() or len(text) > MOST_DECIMALS or text.isdigit():
        return real(float(value))
    return Literal(value, Type.DECIMAL)


def signed(text: str) -> Literal:
    """A numeric literal that may have a minus before it."""
    positive = number(text.removeprefix("-"))
    if not text.startswith("-") or not isinstance(positive.value, int | float | Decimal):
        return positive
    return Literal(-positive.value, positive.type)


def real(value: float) -> Literal:
    """A finite double."""
    if not isfinite(value):
        raise ParameterError(
            "NaN and infinity cannot be used as constants.", code="not-finite", hint="Write a finite number."
        )
    return Literal(value, Type.FLOAT)


def folded(name: str, left: Literal, right: Literal) -> Literal | None:
    """Exact arithmetic of two whole or decimal constants; None for other operands or a result that is too long."""
    one, two = left.value, right.value
    exact = all(isinstance(v, int | Decimal) and not isinstance(v, bool) for v in (one, two))
    if not exact or Type.DECIMAL not in {left.type, right.type} or name not in OPERATIONS:
        return None
    value = OPERATIONS[name](Decimal(str(one)), Decimal(str(two)))
    return Literal(value, Type.DECIMAL) if len(f"{value:f}") <= MOST_DECIMALS else None


def text(value: str) -> Literal:
    """A piece of text."""
    if len(value) > MAX_TEXT or "\x00" in value:
        raise ParseError(
            f"A text constant is longer than {MAX_TEXT:,} characters or holds NUL.",
            code="huge-literal",
            hint="Shorten it.",
        )
    return Literal(value, Type.TEXT)


def timestamp(value: str, kind: Type, zone: str | None = None) -> Literal:
    """Return a DATE or TIMESTAMP constant from ISO text. One with an offset is a point in time, displayed in `zone`."""
    try:
        parsed = date.fromisoformat(value) if kind is Type.DATE else datetime.fromisoformat(value)
    except ValueError:
        raise ParseError(
            f"{value!r} is not a {kind.value}.",
            code="bad-date",
            hint="Write it like 2026-01-31 or 2026-01-31 12:00:00.",
        ) from None
    if not isinstance(parsed, datetime) or parsed.tzinfo is None:
        return Literal(parsed, kind)
    if zone is None:
        raise ParseError(
            f"{value!r} has an offset from UTC, but the value that it is compared with has no time zone.",
            code="offset",
            hint=f"Leave the offset out, or write TIMESTAMPTZ '{value}', which is shown in the catalog's zone.",
        )
    return instant(parsed, zone)


def instant(value: datetime, zone: str) -> Literal:
    """Return a point in time as date and time of a zone."""
    try:
        at_utc = value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ParameterError(
            "A point in time lies before the year 1 or after 9999.", code="bad-date", hint="Write it without an offset."
        ) from None
    shift = zones.shift(zones.DEFAULT, zone)
    return Literal(at_utc if shift is None else shift.of(at_utc), Type.TIMESTAMP)


def clock(value: str) -> Literal:
    """A TIME constant from ISO text."""
    try:
        parsed = time.fromisoformat(value)
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is not None or ":" not in value:
        raise ParseError(f"{value!r} is not a time of day.", code="bad-date", hint="Write it like 13:45 or 13:45:30.")
    return Literal(parsed, Type.TIME)


def constant(value: object, zone: str = zones.DEFAULT) -> Literal:
    """Return a Python value that is passed as a parameter; a point in time is displayed in `zone`."""
    if value is None:
        return Literal(None, Type.NULL)
    if isinstance(value, bool):
        return Literal(value, Type.BOOLEAN)
    if isinstance(value, int) and abs(value) < WHOLE:
        return Literal(value, Type.INTEGER)
    if isinstance(value, float):
        return real(value)
    if isinstance(value, Decimal) and value.is_finite() and len(str(value)) <= MOST_DECIMALS:
        return Literal(value, Type.DECIMAL)
    if isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value):
        return text(value)
    if isinstance(value, datetime):
        return Literal(value, Type.TIMESTAMP) if value.tzinfo is None else instant(value, zone)
    if isinstance(value, time) and value.tzinfo is None:
        return Literal(value, Type.TIME)
    if isinstance(value, date):
        return Literal(value, Type.DATE)
    raise ParameterError(
        f"A parameter of type {type(value).__name__} cannot be used.",
        code="bad-parameter",
        hint="Pass text, numbers, booleans, dates or None.",
    )


def placeholder(node: exp.Placeholder | exp.Parameter, values: Parameters, zone: str) -> Literal:
    """Return the constant for `?` (numbered by `parse` in the order of the text) or `:name`."""
    name = node.name
    if name.isdigit():
        return _positional(int(name), values, zone)
    if not isinstance(values, Mapping) or name not in values:
        raise ParameterError(
            f"The query uses :{name}, but no value is given for it.",
            code="missing-parameter",
            hint=f'Write the value itself, or pass params={{"{name}": …}}.',
        )
    return constant(values[name], zone)


def _positional(number: int, values: Parameters, zone: str) -> Literal:
    if isinstance(values, str | Mapping) or values is None or not 0 < number <= len(values):
        raise ParameterError(
            f"The query uses placeholder number {number}, but no value is given for it.",
            code="missing-parameter",
            hint="Write the value itself, or pass params=[…] with one value for each ?.",
        )
    return constant(values[number - 1], zone)
