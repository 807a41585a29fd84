"""CAST, from every type to every type. Text that DuckDB cannot parse becomes NULL.

Text is parsed by regular expressions with a group for every part; no match is NULL.
"""

from collections.abc import Sequence

from hedgerow.dialects.clickhouse import timestamps
from hedgerow.dialects.clickhouse.spelling import SPACE, Writer, digits_of, double, let, number_of, quoted
from hedgerow.dialects.clickhouse.timestamps import DAY, MICRO, date_or_null, from_micros
from hedgerow.expressions.nodes import Call, Expr
from hedgerow.expressions.types import Type

DIGITS = r"[0-9]+(?:_[0-9]+)*"
FLOAT = rf"^{SPACE}\+?(-?(?:{DIGITS}\.?(?:{DIGITS})?|\.{DIGITS})(?:[eE][+-]?{DIGITS})?){SPACE}$"
UNUSUAL = rf"(?i)^{SPACE}\+?(-?)(inf|infinity|nan(?:\([a-z0-9_]*\))?){SPACE}$"
WHOLE = rf"^{SPACE}(-?)\+?({DIGITS})?(\.?)({DIGITS})?(?:[eE]([+-]?{DIGITS}))?{SPACE}$"
BASED = rf"^{SPACE}0(?:[xX]([0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|[bB]([01]+(?:_[01]+)*))$"
TRUE, FALSE = (r"(?i)^(?:true|t|yes|y|1)$", r"(?i)^(?:false|f|no|n|0)$")
DATE_PART = r"0*([0-9]{1,4})([-/ \\])([0-9]{1,2})([-/ \\])([0-9]{1,2})"
TIME_PART = r"0*([0-9]{1,2}):(?:([0-9]{1,2})(?::(?:([0-9]{1,2})(?:\.([0-9]*))?)?)?)?"
ZONE = rf"(?:Z|[+-][0-9][0-9](?::?[0-9][0-9](?::?[0-9][0-9])?)?)?(?:[ \t\n\v\f\r]+[A-Za-z0-9_/+-]*)?{SPACE}"
TIMESTAMP = rf"^{SPACE}{DATE_PART}(?:(?:T|[ \t\n\v\f\r]){SPACE}{TIME_PART}{ZONE})?$"
ONLY_DATE = rf"^{SPACE}{DATE_PART}{SPACE}$"
ONLY_TIME = rf"^{SPACE}0*([0-9]{{1,2}}):(?:([0-9]{{1,2}})(?::(?:([0-9]{{1,2}})(?:\.([0-9]*))?(?s:.*))?)?)?$"
EPOCH = rf"(?i)^{SPACE}epoch{SPACE}$"
LONGEST_POWER = 400


def _groups(body: str, pattern: str, text: str) -> str:
    """`body` over the array `g` of groups; NULL if nothing matches."""
    inner = let(f"if(empty(g), NULL, {body})", g=f"extractGroups(assumeNotNull(s), {quoted(pattern)})")
    return let(f"if(isNull(s), NULL, {inner})", s=text)


def read_double(text: str) -> str:
    """Read a double."""
    usual = _groups("toFloat64OrNull(replaceAll(g[1], '_', ''))", FLOAT, "t")
    signed = "if(g[1] = '-', -inf, inf)"
    unusual = _groups(f"if(startsWith(lower(g[2]), 'nan'), nan, {signed})", UNUSUAL, "t")
    return let(f"coalesce({usual}, {unusual})", t=text)


def read_integer(text: str) -> str:
    """Read an integer, rounded by the first digit that is dropped."""
    return let(f"coalesce({_read_decimal('t')}, {_read_radix('t')})", t=text)


def _read_decimal(text: str) -> str:
    """Read decimal digits, shifted by an exponent."""
    parts = {
        "a": "replaceAll(g[2], '_', '')",
        "b": "replaceAll(g[4], '_', '')",
        "e": f"greatest(least(ifNull(toInt64OrNull(replaceAll(g[5], '_', '')), 0), {LONGEST_POWER}), -{LONGEST_POWER})",
    }
    digits = f"concat(repeat('0', {LONGEST_POWER}), a, b, repeat('0', {LONGEST_POWER}))"
    kept_digits = f"({LONGEST_POWER} + length(a) + e)"
    size = "toInt64OrNull(concat(g1, if(empty(z), '0', z)))"
    kept = {"z": "replaceRegexpOne(substring(d, 1, p), '^0+', '')", "r": "toInt64(substring(d, p + 1, 1) >= '5')"}
    rounded = f"accurateCastOrNull(toInt128({size}) + if(g1 = '-', -r, r), 'Int64')"
    shifted = let(let(rounded, g1="g1", **kept), g1="g1", d=digits, p=kept_digits)
    fits = "isNotNull(toInt64OrNull(concat(g1, if(empty(a), '0', a))))"
    has_digits = "NOT (empty(a) AND empty(b))"
    body = let(f"if({has_digits} AND {fits}, {shifted}, NULL)", g1="g[1]", **parts)
    return _groups(body, WHOLE, text)


def _read_radix(text: str) -> str:
    """Read a hexadecimal or binary integer."""
    six = "replaceRegexpOne(replaceAll(g[1], '_', ''), '^0+', '')"
    two = "replaceRegexpOne(replaceAll(g[2], '_', ''), '^0+', '')"
    hexadecimal = "if(length(h) <= 16, reinterpretAsUInt64(reverse(unhex(leftPad(h, 16, '0')))), NULL)"
    binary = "if(length(b) <= 64, reinterpretAsUInt64(reverse(unbin(leftPad(b, 64, '0')))), NULL)"
    body = let(f"accurateCastOrNull(if(empty(b), {hexadecimal}, {binary}), 'Int64')", h=six, b=two)
    return _groups(body, BASED, text)


def read_boolean(text: str) -> str:
    """Read TRUE or FALSE."""
    return let(f"multiIf(match(s, {quoted(TRUE)}), TRUE, match(s, {quoted(FALSE)}), FALSE, NULL)", s=text)


def _days_of_groups(first: int) -> str:
    """Days since 1970, from five groups: year, separator, month, separator, day."""
    year, month, day = (number_of(f"g[{first + step}]") for step in (0, 2, 4))
    date = let(date_or_null("y", "m", "d"), y=year, m=month, d=day)
    return f"if(g[{first + 1}] = g[{first + 3}], toInt64({date}), NULL)"


def _micros_of_groups(first: int) -> str:
    """Microseconds since midnight, from four groups; midnight can be 24:00."""
    parts = {name: number_of(f"g[{first + at}]") for at, name in enumerate("hmi")}
    parts["f"] = f"toInt64OrZero(rightPad(substring(g[{first + 3}], 1, 6), 6, '0'))"
    inside = "(h < 24 AND m < 60 AND i < 60) OR (h = 24 AND m = 0 AND i = 0 AND f = 0)"
    total = f"h * {MICRO['hour']} + m * {MICRO['minute']} + i * {MICRO['second']} + f"
    return let(f"if({inside}, {total}, NULL)", **parts)


def read_timestamp(text: str) -> str:
    """Read a timestamp; a time zone is ignored."""
    read = _groups(from_micros(f"{_days_of_groups(1)} * {DAY} + {_micros_of_groups(6)}"), TIMESTAMP, "t")
    return let(f"if(match(t, {quoted(EPOCH)}), {from_micros('toInt64(0)')}, {read})", t=text)


def read_date(text: str) -> str:
    """Read a date, or that of a timestamp."""
    read = _groups(f"toDate32(toInt32({_days_of_groups(1)}))", ONLY_DATE, "t")
    late = _groups(f"if(isNull({_micros_of_groups(6)}), NULL, toDate32(toInt32({_days_of_groups(1)})))", TIMESTAMP, "t")
    return let(f"coalesce({read}, {late}, if(match(t, {quoted(EPOCH)}), toDate32(toInt32(0)), NULL))", t=text)


def read_time_of_day(text: str) -> str:
    """Read a time of day, or that of a timestamp."""
    read = _groups(_time_of_micros(_micros_of_groups(1)), ONLY_TIME, "t")
    late = let(_time_of_micros(f"toInt64(positiveModulo(toUnixTimestamp64Micro(u), {DAY}))"), u=read_timestamp("t"))
    return let(f"coalesce({read}, {late})", t=text)


def _time_of_micros(number: str) -> str:
    """A time of day from microseconds since midnight."""
    return f"CAST(toDecimal64({number}, 6) / 1000000 AS Nullable(Time64(6)))"


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
"""Strips trailing zeros after the point."""


def _to(kind: Type) -> Writer:
    def write(expr: Call, texts: Sequence[str]) -> str:
        value = CASTS[kind](texts[0], expr.arguments[0])
        return f"CAST(NULL AS Nullable({NATIVE[kind]}))" if value is None else value

    return write


def _boolean(text: str, expr: Expr) -> str | None:
    if expr.type in NUMBERS:
        return f"CAST({text} <> 0 AS Bool)"
    return read_boolean(text) if expr.type is Type.TEXT else _same(text, expr, Type.BOOLEAN)


def _same(text: str, expr: Expr, kind: Type) -> str | None:
    return text if expr.type is kind else None


def _integer(text: str, expr: Expr) -> str | None:
    if expr.type in {Type.INTEGER, Type.BOOLEAN}:
        return f"toInt64({text})"
    if expr.type is Type.FLOAT:
        return f"accurateCastOrNull(roundBankers(toFloat64({text})), 'Int64')"
    if expr.type is Type.DECIMAL:
        return _from_decimal(text, expr)
    return read_integer(text) if expr.type is Type.TEXT else None


def _from_decimal(text: str, expr: Expr) -> str:
    """Round a decimal to an integer, halves away from zero."""
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
    return read_double(text) if expr.type is Type.TEXT else None


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
    """Shortest digits of a double that round-trip, with an exponent below 1e-4 and from 1e16 on."""
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
    """Digits in scientific notation, with a point after the first."""
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
    return read_date(text) if expr.type is Type.TEXT else None


def _timestamp(text: str, expr: Expr) -> str | None:
    if expr.type in {Type.DATE, Type.TIMESTAMP}:
        return timestamps.timestamp(text)
    return read_timestamp(text) if expr.type is Type.TEXT else None


def _time(text: str, expr: Expr) -> str | None:
    if expr.type is Type.TIMESTAMP:
        return _time_of_micros(f"toInt64(positiveModulo({timestamps.micros(text, expr)}, {timestamps.DAY}))")
    return read_time_of_day(text) if expr.type is Type.TEXT else _same(text, expr, Type.TIME)


CASTS = {
    Type.BOOLEAN: _boolean,
    Type.INTEGER: _integer,
    Type.FLOAT: _float,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.TIME: _time,
    Type.TIMESTAMP: _timestamp,
}
WRITERS: dict[str, Writer] = {f"{prefix}_{kind.value}": _to(kind) for kind in CASTS for prefix in ("cast", "imposed")}
