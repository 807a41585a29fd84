"""Casts, from each type to those that every engine writes alike. Text is not read: engines read it each in its way."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hedgerow.dialects.untested_base.numbers import number
from hedgerow.expressions.nodes import Call
from hedgerow.expressions.types import Type

if TYPE_CHECKING:
    from hedgerow.dialects.untested_base.dialect import UntestedBase, Writer

LOW, HIGH = -(2.0**63), 2.0**63


def rounded(text: str) -> str:
    """A double rounded to a whole one, halves to even: what lies above the floor is exact."""
    floor, rest = f"FLOOR({text})", f"({text} - FLOOR({text}))"
    up = f"({floor} + 1)"
    even = f"{floor} / 2 = FLOOR({floor} / 2)"
    return f"CASE WHEN {rest} < 0.5 THEN {floor} WHEN {rest} > 0.5 THEN {up} WHEN {even} THEN {floor} ELSE {up} END"


def _float_to_whole(dialect: "UntestedBase", call: Call, text: str) -> str:
    value = number(dialect, call.arguments[0], text)
    inside = f"{value} >= {dialect.real(LOW)} AND {value} < {dialect.real(HIGH)}"
    return f"CASE WHEN {inside} THEN CAST({rounded(value)} AS {dialect.whole}) END"


def _decimal_to_whole(dialect: "UntestedBase", _call: Call, text: str) -> str:
    return dialect.rounded_decimal.format(text)


def _whole_to_whole(dialect: "UntestedBase", _call: Call, text: str) -> str:
    return dialect.narrowed(text)


def _to_float(dialect: "UntestedBase", call: Call, text: str) -> str:
    return number(dialect, call.arguments[0], text)


def _flag_to(one: str, zero: str) -> "Cast":
    def write(dialect: "UntestedBase", _call: Call, text: str) -> str:
        held = dialect.condition(text)
        return f"CASE WHEN {held} THEN {one} WHEN NOT {held} THEN {zero} END"

    return write


def _flag_to_float(dialect: "UntestedBase", call: Call, text: str) -> str:
    return _flag_to(dialect.real(1.0), dialect.real(0.0))(dialect, call, text)


def _whole_to_flag(dialect: "UntestedBase", _call: Call, text: str) -> str:
    return dialect.predicate(f"({text} <> 0)")


def _canonical(dialect: "UntestedBase", call: Call, text: str) -> str:
    return dialect.canonical(text, call.arguments[0].type)


def _as_it_is(_dialect: "UntestedBase", _call: Call, text: str) -> str:
    return text


def _to_midnight(dialect: "UntestedBase", _call: Call, text: str) -> str:
    return dialect.midnight.format(text)


def _to_date(_dialect: "UntestedBase", _call: Call, text: str) -> str:
    return f"CAST({text} AS DATE)"


def _text_to_text(dialect: "UntestedBase", _call: Call, text: str) -> str:
    return dialect.letters(text)


Cast = Callable[["UntestedBase", Call, str], str]

CASTS: Mapping[tuple[Type, Type], Cast] = {
    (Type.FLOAT, Type.INTEGER): _float_to_whole,
    (Type.DECIMAL, Type.INTEGER): _decimal_to_whole,
    (Type.INTEGER, Type.INTEGER): _whole_to_whole,
    (Type.BOOLEAN, Type.INTEGER): _flag_to("1", "0"),
    (Type.FLOAT, Type.FLOAT): _to_float,
    (Type.DECIMAL, Type.FLOAT): _to_float,
    (Type.INTEGER, Type.FLOAT): _to_float,
    (Type.BOOLEAN, Type.FLOAT): _flag_to_float,
    (Type.INTEGER, Type.BOOLEAN): _whole_to_flag,
    (Type.BOOLEAN, Type.BOOLEAN): _as_it_is,
    (Type.TEXT, Type.TEXT): _text_to_text,
    (Type.INTEGER, Type.TEXT): _canonical,
    (Type.DATE, Type.TEXT): _canonical,
    (Type.BOOLEAN, Type.TEXT): _flag_to("'true'", "'false'"),
    (Type.DATE, Type.DATE): _as_it_is,
    (Type.TIMESTAMP, Type.DATE): _to_date,
    (Type.DATE, Type.TIMESTAMP): _to_midnight,
    (Type.TIMESTAMP, Type.TIMESTAMP): _as_it_is,
    (Type.TIME, Type.TIME): _as_it_is,
}


def _cast(dialect: "UntestedBase", expr: Call, texts: Sequence[str]) -> str:
    source, target = expr.arguments[0].type, expr.type
    if source is Type.NULL:
        return f"CAST(NULL AS {dialect.types[target]})"
    if (source, target) not in CASTS:
        raise dialect.lacks(f"a cast from {source.value} to {target.value}")
    return CASTS[source, target](dialect, expr, texts[0])


TARGETS = (Type.BOOLEAN, Type.INTEGER, Type.FLOAT, Type.TEXT, Type.DATE, Type.TIME, Type.TIMESTAMP)
CONVERSIONS: Mapping[str, "Writer"] = {f"{who}_{kind.value}": _cast for who in ("cast", "imposed") for kind in TARGETS}
