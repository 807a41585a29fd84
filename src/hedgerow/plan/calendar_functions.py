"""Binding of calendars and formats: dates built, formatted, parsed and named."""

import re
from datetime import date

from sqlglot import Dialect, exp
from sqlglot.time import format_time

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, time_functions
from hedgerow.plan.handlers import Binder, Handlers, constant_text, text, unsupported, whole
from hedgerow.plan.syntax import CONSTANT_DATE, dialect_of, function_name, span_of, text_of
from hedgerow.plan.time_arithmetic import shifted
from hedgerow.plan.time_functions import timestamp

LONGEST = 100
WRITTEN = frozenset("aAbBdHIjmMpSuUVGwWyY%") | {f"-{c}" for c in "dHIjmMSy"}
READABLE = frozenset("bBdHIjmMpSyY%") | {f"-{c}" for c in "dHIjmMSy"}
EXPANDED = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%D": "%m/%d/%y", "%R": "%H:%M"}
AMBIGUOUS = {"postgres": frozenset("uU")}
"""Directives that the parser produces from letters with another meaning."""

LEFT_OVER = {
    "postgres": {"Mon": "%b", "Dy": "%a", "HH": "%I", "AM": "%p", "PM": "%p"},
    "spark": {},
    "snowflake": {
        "YYYY": "%Y",
        "MMMM": "%B",
        "HH24": "%H",
        "HH12": "%I",
        "MON": "%b",
        "YY": "%y",
        "MM": "%m",
        "DD": "%d",
        "DY": "%a",
        "MI": "%M",
        "SS": "%S",
        "AM": "%p",
        "PM": "%p",
    },
}
"""Dialects whose formats are words, and the words that the parser leaves unchanged."""

SPELLINGS = {
    "percent": ("%Y", "%m", "%d", "%H", "%M", "%S", "%B", "%A"),
    "postgres": ("YYYY", "MM", "DD", "HH24", "MI", "SS", "TMMonth", "TMDay"),
    "snowflake": ("YYYY", "MM", "DD", "HH24", "MI", "SS", "MMMM", "DY"),
    "spark": ("yyyy", "MM", "dd", "HH", "mm", "ss", "MMMM", "EEEE"),
}
"""The letters for year, month, day, hour, minute, second and the names of months and days."""

FOREIGN = re.compile(
    r"(?<![A-Za-z])(?:YYYY|YY|MM|MMMM|DD|HH24|HH12|HH|MI|SS|Mon|MON|yyyy|yy|dd|mm|mi|hh|ss)(?![A-Za-z0-9])"
)
"""Words of other format languages, which a format with percent signs would copy unchanged."""

DIRECTIVE = re.compile(r"%(-?.)")


def time_format(written: str, node: exp.Expr, *, reading: bool = False) -> str:
    """Return the format with the engine's own directives, or the reason why there is none.

    A format without any directive gives the same text for every row, and a format with words of another format language
    copies those words: both are refused, because the answer would look plausible and be wrong.
    """
    language = _language(node)
    if language == "percent":
        text = written
    else:
        translated = written if _is_translated(node) else _translate(written, language)
        text = _replace_words(translated, language)
    for short, long in EXPANDED.items():
        text = text.replace(short, long)
    allowed = (READABLE if reading else WRITTEN) - AMBIGUOUS.get(language, frozenset())
    rest = DIRECTIVE.sub("", text)
    directives = DIRECTIVE.findall(text)
    if not set(directives) - {"%"} or (language == "percent" and FOREIGN.search(rest)):
        raise _wrong_letters(written, language, node)
    known = all(directive in allowed for directive in directives) and "%" not in rest
    if not known or len(text) > LONGEST or (language != "percent" and re.search(r"[A-Za-z]", rest)):
        raise UnsupportedSQLError(
            f"The date format {written[:LONGEST]!r} has letters that are not understood.",
            code="bad-format",
            hint=_parts(language),
            span=span_of(node),
        )
    return text


def _language(node: exp.Expr) -> str:
    """The dialect whose letters the format uses. TO_CHAR uses PostgreSQL's where the dialect has no own TO_CHAR."""
    dialect = dialect_of(node)
    if dialect in LEFT_OVER:
        return dialect
    return "postgres" if isinstance(node, exp.ToChar) else "percent"


def _is_translated(node: exp.Expr) -> bool:
    """True if the parser has translated the dialect's own words; it does not for TO_CHAR, except in PostgreSQL's."""
    return not isinstance(node, exp.ToChar) or dialect_of(node) == "snowflake"


def _translate(written: str, language: str) -> str:
    known = Dialect.get_or_raise(language)
    return format_time(written, known.TIME_MAPPING, known.TIME_TRIE) or written


def _wrong_letters(written: str, language: str, node: exp.Expr) -> UnsupportedSQLError:
    """The refusal of a format in the letters of another function, with the right letters where they are known."""
    shown = written[:LONGEST]
    if language == "percent":
        right = _replace_words(_translate(written, "postgres"), "postgres")
        translated = set(DIRECTIVE.findall(right)) <= WRITTEN and not re.search(r"[A-Za-z]", DIRECTIVE.sub("", right))
        hint = f"Write {right!r}." if translated and "%" in right else _parts(language)
    else:
        hint = _parts(language)
    return UnsupportedSQLError(
        f"In the date format {shown!r}, letters would be copied as they are, not replaced by parts of the date.",
        code="bad-format",
        hint=hint,
        span=span_of(node),
    )


def _parts(language: str) -> str:
    year, month, day, hour, minute, second, month_name, day_name = SPELLINGS[language]
    return (
        f"Write {year} for the year, {month} for the month ({month_name} for its name), {day} for the day ({day_name} "
        f"for its name), {hour}, {minute} and {second} for hour, minute and second."
    )


def _replace_words(written: str, dialect: str) -> str:
    """Replace the remaining words, the longest first, except those that the parser has translated."""
    text = re.sub(r"(%-?[A-Za-z])strict", r"\1", written)
    words = LEFT_OVER[dialect]
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    flags = re.IGNORECASE if dialect == "snowflake" else 0
    pattern = re.compile("|".join(["%-?.", *longest]), flags)
    return pattern.sub(lambda m: m[0] if m[0].startswith("%") else words.get(m[0]) or words[m[0].upper()], text)


EPOCH = Literal(date(1970, 1, 1), Type.DATE)
MODIFIER = re.compile(r"([+-]?\d{1,7}) (day|hour|minute|second)s?")


def _time(node: exp.Expr, binder: Binder) -> Expr:
    return timestamp(binder.bind(node), dialect_of(node))


def _last_day(node: exp.LastDay, binder: Binder) -> Expr | None:
    unit = node.args.get("unit")
    if unit is not None and unit.name.upper() != "MONTH":
        return None
    return coerce.call("last_day", [_time(node.this, binder)], span_of(node))


def _name(function: str, node: exp.Monthname | exp.Dayname, binder: Binder) -> Expr:
    name = coerce.call(function, [_time(node.this, binder)], span_of(node))
    return coerce.call("left", [name, whole(3)]) if node.args.get("abbreviated") else name


def _write(node: exp.TimeToStr | exp.ToChar, binder: Binder) -> Expr | None:
    value, pattern = node.this, node.args.get("format")
    if pattern is None:
        return None
    if isinstance(value, exp.Literal) and value.is_string and dialect_of(node) == "duckdb":
        value, pattern = pattern, value  # DuckDB takes them in either order
    instant = _time(value, binder)
    if instant.type.is_numeric:
        raise unsupported(node, hint="Only dates have formats here. Write CAST(x AS VARCHAR) for a number as text.")
    written = constant_text(binder.bind(pattern), node, "The format of a date")
    return coerce.call("format_time", [instant, text(time_format(written, node))], span_of(node))


def _read(kind: str, node: exp.Expr, binder: Binder) -> Expr:
    """Bind TO_DATE and similar functions; without a format they are CAST."""
    value = binder.bind(node.this)
    if node.args.get("format") is None or value.type.is_temporal:
        return coerce.call(f"cast_{kind}", [timestamp(value, "spark")], span_of(node))
    written = constant_text(binder.bind(node.args["format"]), node, "The format of a date")
    pattern = text(time_format(written, node, reading=True))
    parsed = coerce.call("read_time", [value, pattern], span_of(node))
    return coerce.call("cast_date", [parsed]) if kind == "date" else parsed


def _as(kind: str, node: exp.Expr, binder: Binder) -> Expr:
    return coerce.call(f"cast_{kind}", [timestamp(binder.bind(node.this), "spark")], span_of(node))


def _date(node: exp.Date, binder: Binder) -> Expr | None:
    return None if node.args.get("zone") is not None or node.expressions else _as("date", node, binder)


def _bind_named(name: str, names: tuple[str, ...], node: exp.Expr, binder: Binder) -> Expr | None:
    given = [node.args.get(n) for n in names]
    return coerce.call(name, [binder.bind(n) for n in given if n is not None], span_of(node)) if all(given) else None


def make_date(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """Bind MAKE_DATE(year, month, day), which the parser does not know."""
    return coerce.call("make_date", [binder.bind(n) for n in node.expressions], span_of(node))


def _since_epoch(node: exp.Expr, binder: Binder) -> Expr:
    return coerce.call("epoch", [time_functions.at_utc(_time(node.this, binder))], span_of(node))


def seconds_of(value: Expr, node: exp.Expr, factor: int = 1) -> Expr:
    """Return whole seconds (or fractions of seconds) since 1970."""
    seconds = coerce.call("epoch", [time_functions.at_utc(value)], span_of(node))
    scaled = seconds if factor == 1 else coerce.call("multiply", [seconds, whole(factor)])
    return coerce.call("cast_integer", [coerce.call("floor", [scaled])])


def _unix_date(node: exp.UnixDate, binder: Binder) -> Expr:
    return coerce.call("days_between", [coerce.call("cast_date", [_time(node.this, binder)]), EPOCH], span_of(node))


def _from_unix(node: exp.UnixToTime, binder: Binder) -> Expr | None:
    at_utc = coerce.call("from_epoch", [binder.bind(node.this)], span_of(node))
    return time_functions.in_zone(at_utc, time_functions.UTC, binder.zone)


def julian_day(value: Expr, node: exp.Expr) -> Expr:
    """SQLite's JULIANDAY."""
    days = coerce.call("divide", [coerce.call("epoch", [value], span_of(node)), whole(86_400)])
    return coerce.call("add", [days, Literal(2440587.5, Type.FLOAT)])


def modified(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """Bind SQLite's DATE and DATETIME with modifiers: the start of a period, and days or less."""
    value = timestamp(binder.bind(node.expressions[0]), "sqlite")
    for written in node.expressions[1:]:
        modifier = constant_text(binder.bind(written), node, "A modifier of a date").strip().lower()
        step = MODIFIER.fullmatch(modifier)
        if modifier in {"start of day", "start of month", "start of year"}:
            value = coerce.call(f"trunc_{modifier.split()[-1]}", [value], span_of(node))
        elif step is not None:
            value = shifted(value, [(whole(int(step[1])), step[2])], node)
        else:
            return None
    return coerce.call("cast_date" if str(node.this).upper() == "DATE" else "cast_timestamp", [value])


def volatile(node: exp.Expr) -> UnsupportedSQLError:
    """Return the refusal of a function whose value changes during the query."""
    return UnsupportedSQLError(
        f"{function_name(node) or text_of(node)} changes from call to call, so an answer could not be reproduced.",
        code="volatile",
        hint="Leave it out." if isinstance(node, RANDOM) else CONSTANT_DATE,
        span=span_of(node),
    )


DATE_PARTS = ("year", "month", "day")
MOMENT_PARTS = ("year", "month", "day", "hour", "min", "sec")
RANDOM = (exp.Rand, exp.Randn, exp.Uuid, exp.CurrentUser)
VOLATILE = (
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime, exp.CurrentTimestampLTZ),
    *(exp.Localtime, exp.Localtimestamp, exp.Systimestamp, exp.UtcDate, exp.UtcTime, exp.UtcTimestamp),
    *RANDOM,
)
VOLATILE_NAMES = frozenset(
    {
        "NOW",
        "CURDATE",
        "GETDATE",
        "TODAY",
        "SYSDATE",
        "RANDOM",
        "GEN_RANDOM_UUID",
        "UUID",
        "GETUTCDATE",
        "GET_CURRENT_TIMESTAMP",
    }
    | {"TRANSACTION_TIMESTAMP", "STATEMENT_TIMESTAMP", "CLOCK_TIMESTAMP", "TIMEOFDAY", "CURRENT_LOCALTIMESTAMP"}
)
READ_ARGUMENTS = ("this", "format", "default_year", "target_type")
HANDLERS: Handlers = {
    exp.LastDay: (("this", "unit"), _last_day),
    exp.Monthname: (("this", "abbreviated"), lambda n, b: _name("month_name", n, b)),
    exp.Dayname: (("this", "abbreviated"), lambda n, b: _name("day_name", n, b)),
    exp.TimeToStr: (("this", "format"), _write),
    exp.ToChar: (("this", "format"), _write),
    exp.StrToDate: (READ_ARGUMENTS, lambda n, b: _read("date", n, b)),
    exp.TsOrDsToDate: (READ_ARGUMENTS, lambda n, b: _read("date", n, b)),
    exp.StrToTime: (READ_ARGUMENTS, lambda n, b: _read("timestamp", n, b)),
    exp.Date: (("this",), _date),
    exp.TsOrDsToTimestamp: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.TsOrDsToDatetime: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.TimeStrToTime: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.Timestamp: (("this", "with_tz"), lambda n, b: _as("timestamp", n, b)),
    exp.Datetime: (("this",), lambda n, b: _as("timestamp", n, b)),
    exp.DateFromParts: (DATE_PARTS, lambda n, b: _bind_named("make_date", DATE_PARTS, n, b)),
    exp.TimestampFromParts: (MOMENT_PARTS, lambda n, b: _bind_named("make_timestamp", MOMENT_PARTS, n, b)),
    exp.TimeToUnix: (("this",), _since_epoch),
    exp.UnixSeconds: (("this",), lambda n, b: seconds_of(_time(n.this, b), n)),
    exp.UnixMillis: (("this",), lambda n, b: seconds_of(_time(n.this, b), n, 1000)),
    exp.StrToUnix: (("this", "format"), lambda n, b: seconds_of(_read("timestamp", n, b), n)),
    exp.UnixDate: (("this",), _unix_date),
    exp.UnixToTime: (("this",), _from_unix),
}
