"""What the owner says about one column."""

from collections.abc import Mapping

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry, is_storable
from hedgerow.catalog.model import Column, Value
from hedgerow.catalog.read_calibrated import read_calibrated
from hedgerow.catalog.strict import choice, flag, number, text, timezone
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type

LARGEST_BOUND = 1e30
SMALLEST_BOUND = 1e-30
LARGEST_KEY = 2**63 - 1

TYPES = ("boolean", "integer", "decimal", "float", "text", "date", "time", "timestamp", "timestamptz")
INSTANT = "timestamptz"
_OTHER_WORDS = {
    "bool": "boolean",
    "int": "integer",
    "bigint": "integer",
    "numeric": "decimal",
    "number": "float",
    "double": "float",
    "real": "float",
    "string": "text",
    "str": "text",
    "varchar": "text",
    "datetime": "timestamp",
    "timestamp with time zone": "timestamptz",
}


def read_column(entry: Entry) -> Column:
    """One column: bounds, values, an imposed type, or hidden."""
    if entry.is_empty:
        return Column(entry.name)
    found = entry.fields(("lower", "upper", "values", "type", "timezone", "hidden", "calibrated"))
    lower, upper = _read_bounds(entry, found)
    values, source = _read_domain(found["values"]) if "values" in found else (None, None)
    kind = choice(found["type"], TYPES, _OTHER_WORDS) if "type" in found else None
    return Column(
        name=entry.name,
        lower=lower,
        upper=upper,
        values=values,
        type=None if kind is None else Type.TIMESTAMP if kind == INSTANT else Type(kind),
        instant=kind == INSTANT,
        timezone=timezone(found["timezone"]) if "timezone" in found else None,
        hidden=flag(found["hidden"]) if "hidden" in found else False,
        values_from=source,
        calibrated=read_calibrated(found["calibrated"]) if "calibrated" in found else None,
    )


def _read_bounds(entry: Entry, found: Mapping[str, Entry]) -> tuple[float, float] | tuple[None, None]:
    given = [found[name] for name in ("lower", "upper") if name in found]
    if not given:
        return None, None
    lower, upper = (_bound(bound) for bound in given) if len(given) == 2 else (None, None)
    if lower is None or upper is None:
        raise given[0].error(
            f"`{entry.name}` has only one bound, and a value that is open on one side has no largest influence.",
            code=codes.BOUNDS,
            hint=f"Write both: `{entry.name}: {{lower: 0, upper: 100}}`.",
        )
    if lower >= upper:
        raise _unordered(found["lower"], lower, upper)
    return lower, upper


def _bound(entry: Entry) -> float:
    value = number(entry)
    if value != 0 and not SMALLEST_BOUND <= abs(value) <= LARGEST_BOUND:
        raise entry.error(
            f"`{entry.name}` is {entry.written}, which is too large or too close to zero to be a bound.",
            code=codes.BOUNDS,
            hint=f"Write 0, or a number of a size between {SMALLEST_BOUND:g} and {LARGEST_BOUND:g}.",
        )
    if value != float(value):
        raise entry.error(
            f"`{entry.name}` is {entry.written}, which has too many digits to be kept exactly.",
            code=codes.BOUNDS,
            hint="Write a rounder number: up to 9007199254740992 every whole number can be kept.",
        )
    return float(value)


def _unordered(entry: Entry, lower: float, upper: float) -> CatalogError:
    if lower == upper:
        return entry.error(
            "`lower` and `upper` are equal: every value would be cut to the same number, and nothing could be learnt.",
            code=codes.BOUNDS,
            hint="Write the smallest and the largest value that is plausible.",
        )
    return entry.error(
        f"`lower` ({lower:g}) is above `upper` ({upper:g}), so no value lies between them.",
        code=codes.BOUNDS,
        hint=f"Write `{{lower: {upper:g}, upper: {lower:g}}}` if they were exchanged.",
    )


def _read_domain(entry: Entry) -> tuple[tuple[Value, ...] | None, tuple[str, str] | None]:
    """The keys themselves, or the public table and column where they are found."""
    if not entry.is_mapping:
        return _read_values(entry), None
    found = entry.fields(("table", "column"))
    table = text(entry.required(found, "table", "table: public_table"))
    return None, (table, text(entry.required(found, "column", f"column: column_of_{table}")))


def _read_values(entry: Entry) -> tuple[Value, ...]:
    elements = list(entry.elements())
    if not elements:
        raise entry.error(
            "`values` is empty, so every row would fall in no group.",
            code=codes.VALUES,
            hint="List the keys that are public knowledge, or leave `values` out.",
        )
    values = [_value(element) for element in elements]
    _refuse_mixture(elements, values)
    _refuse_repetition(elements, values)
    return tuple(values)


def _value(entry: Entry) -> Value:
    value = entry.scalar()
    if value is None:
        raise entry.error(
            "NULL cannot be a declared value: rows without a value fall in no group.",
            code=codes.VALUES,
            hint="Remove it, or write the word in quotes if it is meant as text.",
        )
    if isinstance(value, str):
        return _key_text(entry, value)
    return value if isinstance(value, bool) else _key_number(entry)


def _key_text(entry: Entry, value: str) -> str:
    if is_storable(value):
        return value
    raise entry.error(
        "A declared value holds a character that no database can store.",
        code=codes.VALUES,
        hint="Remove the zero byte or the half of a surrogate pair.",
    )


def _key_number(entry: Entry) -> int | float:
    value = number(entry)
    if abs(value) <= LARGEST_KEY:
        return value
    raise entry.error(
        f"{entry.written} is too large for a key.",
        code=codes.VALUES,
        hint="Write numbers of at most 18 digits, or put the keys in quotes if the column is text.",
    )


def kind_of(value: Value) -> str:
    """What `values` are called in messages; whole numbers may stand among numbers."""
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else "a number"


def _refuse_mixture(elements: list[Entry], values: list[Value]) -> None:
    first = kind_of(values[0])
    for element, value in zip(elements, values, strict=True):
        if kind_of(value) != first:
            raise element.error(
                f"The first of these values is {first}, and {element.written} is {kind_of(value)}; "
                "a column holds one kind.",
                code=codes.VALUES,
                hint="Put all of them in quotes if the column is text.",
            )


def _refuse_repetition(elements: list[Entry], values: list[Value]) -> None:
    seen: set[Value] = set()
    for element, value in zip(elements, values, strict=True):
        if value in seen:
            raise element.error(
                f"{element.written} is listed twice, and a key has one group.",
                code=codes.VALUES,
                hint="Keep one of the two.",
            )
        seen.add(value)
