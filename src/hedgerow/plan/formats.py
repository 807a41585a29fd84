"""Formats of dates: constants, brought from each dialect's letters to the one set that the engine knows."""

import re

from sqlglot import Dialect, exp
from sqlglot.time import format_time

from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.syntax import dialect_of, span_of

LONGEST = 100
WRITTEN = frozenset("aAbBdHIjmMpSuUVGwWyY%") | {f"-{c}" for c in "dHIjmMSy"}
READ = frozenset("bBdHIjmMpSyY%") | {f"-{c}" for c in "dHIjmMSy"}
EXPANDED = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%D": "%m/%d/%y", "%R": "%H:%M"}
AMBIGUOUS = {"postgres": frozenset("uU")}
"""Directives that the parser makes of letters with another meaning."""

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
"""Dialects whose formats are words, and those words that the parser leaves as they are."""

SPELLINGS = {
    "percent": ("%Y", "%m", "%d", "%H", "%M", "%S", "%B", "%A"),
    "postgres": ("YYYY", "MM", "DD", "HH24", "MI", "SS", "TMMonth", "TMDay"),
    "snowflake": ("YYYY", "MM", "DD", "HH24", "MI", "SS", "MMMM", "DY"),
    "spark": ("yyyy", "MM", "dd", "HH", "mm", "ss", "MMMM", "EEEE"),
}
"""How year, month, day, hour, minute, second and the names of months and days are written."""

FOREIGN = re.compile(
    r"(?<![A-Za-z])(?:YYYY|YY|MM|MMMM|DD|HH24|HH12|HH|MI|SS|Mon|MON|yyyy|yy|dd|mm|mi|hh|ss)(?![A-Za-z0-9])"
)
"""Words of other format languages, which a format with percent signs would copy as they are."""

DIRECTIVE = re.compile(r"%(-?.)")


def time_format(written: str, node: exp.Expr, *, reading: bool = False) -> str:
    """The format with the engine's own directives, or the reason why there is none.

    A format without any directive gives the same text for every row, and one with words of another format language
    copies them: both are refused, for the answer would look like what was meant.
    """
    language = _language(node)
    if language == "percent":
        text = written
    else:
        translated = written if _is_translated(node) else _translate(written, language)
        text = _replace_words(translated, language)
    for short, long in EXPANDED.items():
        text = text.replace(short, long)
    allowed = (READ if reading else WRITTEN) - AMBIGUOUS.get(language, frozenset())
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
    """Whose letters the format is written in. TO_CHAR means PostgreSQL's where the dialect itself has none."""
    dialect = dialect_of(node)
    if dialect in LEFT_OVER:
        return dialect
    return "postgres" if isinstance(node, exp.ToChar) else "percent"


def _is_translated(node: exp.Expr) -> bool:
    """Whether the parser has exchanged the dialect's own words; it does not for TO_CHAR, except in PostgreSQL's."""
    return not isinstance(node, exp.ToChar) or dialect_of(node) == "snowflake"


def _translate(written: str, language: str) -> str:
    known = Dialect.get_or_raise(language)
    return format_time(written, known.TIME_MAPPING, known.TIME_TRIE) or written


def _wrong_letters(written: str, language: str, node: exp.Expr) -> UnsupportedSQLError:
    """The refusal of a format in the letters of another function, with the right ones where they can be told."""
    shown = written[:LONGEST]
    if language == "percent":
        right = _replace_words(_translate(written, "postgres"), "postgres")
        told = set(DIRECTIVE.findall(right)) <= WRITTEN and not re.search(r"[A-Za-z]", DIRECTIVE.sub("", right))
        hint = f"Write {right!r}." if told and "%" in right else _parts(language)
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
    """The words that are left, the longest first; what the parser translated already is passed over."""
    text = re.sub(r"(%-?[A-Za-z])strict", r"\1", written)
    words = LEFT_OVER[dialect]
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    flags = re.IGNORECASE if dialect == "snowflake" else 0
    pattern = re.compile("|".join(["%-?.", *longest]), flags)
    return pattern.sub(lambda m: m[0] if m[0].startswith("%") else words.get(m[0]) or words[m[0].upper()], text)
