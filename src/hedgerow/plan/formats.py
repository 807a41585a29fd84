"""Formats of dates: constants, brought from each dialect's letters to the one set that the engine knows."""

import re

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.syntax import dialect_of, span_of

LONGEST = 100
WRITTEN = frozenset("aAbBdHIjmMpSuUVGwWyY%") | {f"-{c}" for c in "dHIjmMSy"}
READ = frozenset("bBdHIjmMpSyY%") | {f"-{c}" for c in "dHIjmMSy"}
EXPANDED = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%D": "%m/%d/%y", "%R": "%H:%M"}
AMBIGUOUS = {"postgres": frozenset("uU")}
"""Directives that the parser makes of letters with another meaning."""

LEFT_OVER = {
    "postgres": {"Mon": "%b", "Dy": "%a", "AM": "%p", "PM": "%p"},
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

DIRECTIVE = re.compile(r"%(-?.)")


def time_format(written: str, node: exp.Expr, *, reading: bool = False) -> str:
    """The format with the engine's own directives, or the reason why there is none."""
    dialect = dialect_of(node)
    text = _translated(written, dialect) if dialect in LEFT_OVER else written
    for short, long in EXPANDED.items():
        text = text.replace(short, long)
    allowed = (READ if reading else WRITTEN) - AMBIGUOUS.get(dialect, frozenset())
    rest = DIRECTIVE.sub("", text)
    known = all(directive in allowed for directive in DIRECTIVE.findall(text)) and "%" not in rest
    if not known or len(text) > LONGEST or (dialect in LEFT_OVER and re.search(r"[A-Za-z]", rest)):
        raise UnsupportedSQLError(
            "This format of a date has letters that are not understood.",
            code="bad-format",
            hint="Years, months, days, hours, minutes, seconds, names of months and days, and weeks can be written.",
            span=span_of(node),
        )
    return text


def _translated(written: str, dialect: str) -> str:
    """The words that are left, the longest first; what the parser translated already is passed over."""
    text = re.sub(r"(%-?[A-Za-z])strict", r"\1", written)
    words = LEFT_OVER[dialect]
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    flags = re.IGNORECASE if dialect == "snowflake" else 0
    pattern = re.compile("|".join(["%-?.", *longest]), flags)
    return pattern.sub(lambda m: m[0] if m[0].startswith("%") else words.get(m[0]) or words[m[0].upper()], text)
