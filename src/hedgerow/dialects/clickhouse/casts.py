"""CAST, from every type to every type. What DuckDB cannot read is NULL."""

from collections.abc import Sequence

from hedgerow.dialects.clickhouse import reading, timestamps
from hedgerow.dialects.clickhouse.spelling import Writer, digits_of, double, let
from hedgerow.expressions.nodes import Call, Expr
from hedgerow.expressions.types import Type

NATIVE = {
    Type.BOOLEAN: "Bool",
    Type.INTEGER: "Int64",
    Type.FLOAT: "Float64",
    Type.TEXT: "String",
    Type.DATE: "Date32",
    Type.TIME: "Time64(6)",
    Type.TIMESTAMP: "DateTime64(6, 'UTC')",
}
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
ENDING = r"replaceRegexpOne({0}, '\\.?0+$', '')"
"""Without the zeros after the point."""


def _to(kind: Type) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        argument = expr.arguments[0]
        made = CASTS[kind](texts[0], argument)
        return f"CAST(NULL AS Nullable({NATIVE[kind]}))" if made is None else made

    return write


def _boolean(text: str, expr: Expr) -> str | None:
    if expr.type in NUMBERS:
        return f"CAST({text} <> 0 AS Bool)"
    return reading.boolean(text) if expr.type is Type.TEXT else _same(text, expr, Type.BOOLEAN)


def _same(text: str, expr: Expr, kind: Type) -> str | None:
    return text if expr.type is kind else None


def _integer(text: str, expr: Expr) -> str | None:
    if expr.type in {Type.INTEGER, Type.BOOLEAN}:
        return f"toInt64({text})"
    if expr.type is Type.FLOAT:
        return f"accurateCastOrNull(roundBankers(toFloat64({text})), 'Int64')"
    if expr.type is Type.DECIMAL:
        return _from_decimal(text, expr)
    return reading.whole(text) if expr.type is Type.TEXT else None


def _from_decimal(text: str, expr: Expr) -> str:
    """Halves away from zero."""
    precision, scale = digits_of(expr)
    if precision == 0 or scale == 0:
        return (
            f"accurateCastOrNull({text}, 'Int64')"
            if precision == 0
            else f"accurateCastOrNull(toInt128({text}), 'Int64')"
        )
    whole = f"toInt256('{10**scale}')"
    body = f"intDiv(n + if(n < 0, -1, 1) * intDiv({whole}, 2), {whole})"
    raw = f"toInt256(reinterpretAsInt128(CAST({text} AS Decimal(38, {scale}))))"
    return f"accurateCastOrNull({let(body, n=raw)}, 'Int64')"


def _float(text: str, expr: Expr) -> str | None:
    if expr.type in NUMBERS or expr.type is Type.BOOLEAN:
        return double(text, expr)
    return reading.real(text) if expr.type is Type.TEXT else None


def _text(text: str, expr: Expr) -> str | None:
    if expr.type is Type.TEXT:
        return f"CAST({text} AS String)"
    if expr.type is Type.BOOLEAN:
        return f"if({text}, 'true', if({text} IS NULL, NULL, 'false'))"
    if expr.type is Type.FLOAT:
        return _of_double(text)
    if expr.type is Type.DECIMAL and digits_of(expr)[0]:
        return f"toDecimalString({text}, {digits_of(expr)[1]})"
    if expr.type is Type.TIMESTAMP:
        return ENDING.format(f"toString({timestamps.timestamp(text)})")
    return ENDING.format(f"toString({text})") if expr.type is Type.TIME else f"toString({text})"


def _of_double(text: str) -> str:
    """The fewest digits that tell it from its neighbours; with an exponent below 1e-4 and from 1e16."""
    plain = "if(position(t, '.') > 0, t, concat(t, '.0'))"
    large = let(_scientific("d", "toInt64(length(t)) - 1"), d="trimRight(t, '0')", t="t")
    small = let(
        _scientific("d", "toInt64(length(d)) + 1 - toInt64(length(t))"), d="replaceRegexpOne(t, '^0\\\\.0*', '')", t="t"
    )
    given = let(_exponent("p[1]", "toInt64OrZero(p[2])"), p="splitByChar('e', assumeNotNull(t))")
    usual = (
        f"multiIf(a = 0 OR (a >= 1e-4 AND a < 1e16), {plain}, position(t, 'e') > 0, {given}, a > 1, {large}, {small})"
    )
    sign = f"if(reinterpretAsUInt64(toFloat64(x)) >= {2**63}, '-', '')"
    finite = f"concat({sign}, {let(usual, t='t', a='a')})"
    body = f"multiIf(isNaN(x), 'nan', x = inf, 'inf', x = -inf, '-inf', {finite})"
    return let(f"if(isNull(x), NULL, {let(body, x='x', a='a', t='toString(a)')})", x=text, a=f"abs({text})")


def _scientific(digits: str, power: str) -> str:
    """Digits with a point after the first."""
    mantissa = f"if(length({digits}) > 1, concat(substring({digits}, 1, 1), '.', substring({digits}, 2)), {digits})"
    return _exponent(mantissa, power)


def _exponent(mantissa: str, power: str) -> str:
    return let(
        "concat(m, 'e', if(k < 0, '-', '+'), leftPad(toString(abs(k)), greatest(2, length(toString(abs(k)))), '0'))",
        m=mantissa,
        k=power,
    )


def _date(text: str, expr: Expr) -> str | None:
    if expr.type in {Type.DATE, Type.TIMESTAMP}:
        return timestamps.day(text, expr)
    return reading.date(text) if expr.type is Type.TEXT else None


def _timestamp(text: str, expr: Expr) -> str | None:
    if expr.type in {Type.DATE, Type.TIMESTAMP}:
        return timestamps.timestamp(text)
    return reading.timestamp(text) if expr.type is Type.TEXT else None


def _time(text: str, expr: Expr) -> str | None:
    if expr.type is Type.TIMESTAMP:
        return reading.of_micros(f"toInt64(positiveModulo({timestamps.micros(text, expr)}, {timestamps.DAY}))")
    return reading.time(text) if expr.type is Type.TEXT else _same(text, expr, Type.TIME)


CASTS = {
    Type.BOOLEAN: _boolean,
    Type.INTEGER: _integer,
    Type.FLOAT: _float,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.TIME: _time,
    Type.TIMESTAMP: _timestamp,
}
WRITERS: dict[str, Writer] = {f"{who}_{kind.value}": _to(kind) for kind in CASTS for who in ("cast", "imposed")}
