"""Text read as numbers, truth values, dates and times: what DuckDB can read, and nothing else.

Each is a regular expression with a group for every part; what does not match is NULL.
"""

from hedgerow.dialects.clickhouse.spelling import let, quoted
from hedgerow.dialects.clickhouse.timestamps import DAY, MICRO, made_date, moment

SPACE = r"[ \t\n\v\f\r]*"
DIGITS = r"[0-9]+(?:_[0-9]+)*"
FLOAT = rf"^{SPACE}\+?(-?(?:{DIGITS}\.?(?:{DIGITS})?|\.{DIGITS})(?:[eE][+-]?{DIGITS})?){SPACE}$"
UNUSUAL = rf"(?i)^{SPACE}\+?(-?)(inf|infinity|nan(?:\([a-z0-9_]*\))?){SPACE}$"
WHOLE = rf"^{SPACE}(-?)\+?({DIGITS})?(\.?)({DIGITS})?(?:[eE]([+-]?{DIGITS}))?{SPACE}$"
BASED = rf"^{SPACE}0(?:[xX]([0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|[bB]([01]+(?:_[01]+)*))$"
TRUE, FALSE = (r"(?i)^(?:true|t|yes|y|1)$", r"(?i)^(?:false|f|no|n|0)$")
DATE = r"0*([0-9]{1,4})([-/ \\])([0-9]{1,2})([-/ \\])([0-9]{1,2})"
TIME = r"0*([0-9]{1,2}):(?:([0-9]{1,2})(?::(?:([0-9]{1,2})(?:\.([0-9]*))?)?)?)?"
ZONE = rf"(?:Z|[+-][0-9][0-9](?::?[0-9][0-9](?::?[0-9][0-9])?)?)?(?:[ \t\n\v\f\r]+[A-Za-z0-9_/+-]*)?{SPACE}"
MOMENT = rf"^{SPACE}{DATE}(?:(?:T|[ \t\n\v\f\r]){SPACE}{TIME}{ZONE})?$"
ONLY_DATE = rf"^{SPACE}{DATE}{SPACE}$"
ONLY_TIME = rf"^{SPACE}0*([0-9]{{1,2}}):(?:([0-9]{{1,2}})(?::(?:([0-9]{{1,2}})(?:\.([0-9]*))?(?s:.*))?)?)?$"
EPOCH = rf"(?i)^{SPACE}epoch{SPACE}$"
LONGEST_POWER = 400


def _groups(body: str, pattern: str, text: str, *, found: str = "g") -> str:
    """`body` over the list of groups; NULL where nothing matches."""
    inner = let(f"if(empty({found}), NULL, {body})", **{found: f"extractGroups(assumeNotNull(s), {quoted(pattern)})"})
    return let(f"if(isNull(s), NULL, {inner})", s=text)


def number(group: str) -> str:
    """A group of at most nine digits; 0 where it is empty."""
    return f"toInt64OrZero({group})"


def real(text: str) -> str:
    """A double."""
    usual = _groups("toFloat64OrNull(replaceAll(g[1], '_', ''))", FLOAT, "t")
    signed = "if(g[1] = '-', -inf, inf)"
    unusual = _groups(f"if(startsWith(lower(g[2]), 'nan'), nan, {signed})", UNUSUAL, "t")
    return let(f"coalesce({usual}, {unusual})", t=text)


def whole(text: str) -> str:
    """A whole number, rounded by its first digit that is left out."""
    return let(f"coalesce({_decimal('t')}, {_based('t')})", t=text)


def _decimal(text: str) -> str:
    """Digits before and after the point, shifted by the power of ten."""
    parts = {
        "a": "replaceAll(g[2], '_', '')",
        "b": "replaceAll(g[4], '_', '')",
        "e": f"greatest(least(ifNull(toInt64OrNull(replaceAll(g[5], '_', '')), 0), {LONGEST_POWER}), -{LONGEST_POWER})",
    }
    digits = f"concat(repeat('0', {LONGEST_POWER}), a, b, repeat('0', {LONGEST_POWER}))"
    place = f"({LONGEST_POWER} + length(a) + e)"
    size = "toInt64OrNull(concat(g1, if(empty(z), '0', z)))"
    kept = {"z": "replaceRegexpOne(substring(d, 1, p), '^0+', '')", "r": "toInt64(substring(d, p + 1, 1) >= '5')"}
    rounded = f"accurateCastOrNull(toInt128({size}) + if(g1 = '-', -r, r), 'Int64')"
    shifted = let(let(rounded, g1="g1", **kept), g1="g1", d=digits, p=place)
    fits = "isNotNull(toInt64OrNull(concat(g1, if(empty(a), '0', a))))"
    there = "NOT (empty(a) AND empty(b))"
    body = let(f"if({there} AND {fits}, {shifted}, NULL)", g1="g[1]", **parts)
    return _groups(body, WHOLE, text)


def _based(text: str) -> str:
    """Hexadecimal and binary."""
    six = "replaceRegexpOne(replaceAll(g[1], '_', ''), '^0+', '')"
    two = "replaceRegexpOne(replaceAll(g[2], '_', ''), '^0+', '')"
    hexadecimal = "if(length(h) <= 16, reinterpretAsUInt64(reverse(unhex(leftPad(h, 16, '0')))), NULL)"
    binary = "if(length(b) <= 64, reinterpretAsUInt64(reverse(unbin(leftPad(b, 64, '0')))), NULL)"
    body = let(f"accurateCastOrNull(if(empty(b), {hexadecimal}, {binary}), 'Int64')", h=six, b=two)
    return _groups(body, BASED, text)


def boolean(text: str) -> str:
    """True or false."""
    return let(f"multiIf(match(s, {quoted(TRUE)}), TRUE, match(s, {quoted(FALSE)}), FALSE, NULL)", s=text)


def _day(first: int) -> str:
    """Days since 1970 of five groups: year, sign, month, sign, day."""
    year, month, day = (number(f"g[{first + step}]") for step in (0, 2, 4))
    made = let(made_date("y", "m", "d"), y=year, m=month, d=day)
    return f"if(g[{first + 1}] = g[{first + 3}], toInt64({made}), NULL)"


def _time(first: int) -> str:
    """Microseconds since midnight of four groups; midnight may be 24:00."""
    parts = {name: number(f"g[{first + at}]") for at, name in enumerate("hmi")}
    parts["f"] = f"toInt64OrZero(rightPad(substring(g[{first + 3}], 1, 6), 6, '0'))"
    inside = "(h < 24 AND m < 60 AND i < 60) OR (h = 24 AND m = 0 AND i = 0 AND f = 0)"
    total = f"h * {MICRO['hour']} + m * {MICRO['minute']} + i * {MICRO['second']} + f"
    return let(f"if({inside}, {total}, NULL)", **parts)


def timestamp(text: str) -> str:
    """A timestamp; a time zone is passed over."""
    read = _groups(moment(f"{_day(1)} * {DAY} + {_time(6)}"), MOMENT, "t")
    return let(f"if(match(t, {quoted(EPOCH)}), {moment('toInt64(0)')}, {read})", t=text)


def date(text: str) -> str:
    """A date, or that of a timestamp."""
    read = _groups(f"toDate32(toInt32({_day(1)}))", ONLY_DATE, "t")
    late = _groups(f"if(isNull({_time(6)}), NULL, toDate32(toInt32({_day(1)})))", MOMENT, "t")
    return let(f"coalesce({read}, {late}, if(match(t, {quoted(EPOCH)}), toDate32(toInt32(0)), NULL))", t=text)


def time(text: str) -> str:
    """A time, or that of a timestamp."""
    read = _groups(of_micros(_time(1)), ONLY_TIME, "t")
    late = let(of_micros(f"toInt64(positiveModulo(toUnixTimestamp64Micro(u), {DAY}))"), u=timestamp("t"))
    return let(f"coalesce({read}, {late})", t=text)


def of_micros(number_: str) -> str:
    """A time from microseconds since midnight."""
    return f"CAST(toDecimal64({number_}, 6) / 1000000 AS Nullable(Time64(6)))"
