"""Parsing dates and times on MariaDB as DuckDB does: ISO 8601, loosely.

A first pattern extracts the parts of a text and pads them with zeros, a second trims them to their widths, and a third
checks that the day and the time exist. Patterns are for PCRE; no repetition passes over a text more than twice. Years
below 1 or above 9999 and infinite dates, which MariaDB lacks, are NULL.
"""

from collections.abc import Callable

Quote = Callable[[str], str]
AT_ZERO = "TIMESTAMP '1970-01-01 00:00:00'"

SPACE = "[ \\x{9}-\\x{D}]"
DAY = f"{SPACE}*+0*+([1-9][0-9]{{0,3}})([-/\\\\ ])([0-9]{{1,2}})\\2([0-9]{{1,2}})"
HOUR, MINUTE, SECOND, FRACTION = "([0-9]{1,9})", "([0-9]{1,2})", "([0-9]{1,2})", "(?:\\.([0-9]*+))?"
OFFSET = "[+-][0-9]{2}(?::[0-9]{2}(?::[0-9]{2})?|[0-9]{2})?"
ZONE = f"(?:Z{SPACE}*+|{OFFSET}{SPACE}*+| [A-Za-z0-9_/+:-]*+{SPACE}*+)?"
AFTER_DATE = f"(?:[ T]{SPACE}*+|{SPACE}++){HOUR}:(?:{MINUTE}(?::(?:{SECOND}{FRACTION})?)?)?{ZONE}"
"""A time after a date; time zones are ignored."""

TIMESTAMP, DATE = f"\\A{DAY}(?:{AFTER_DATE})?\\z", f"\\A{DAY}(?:{AFTER_DATE}|{SPACE}*+)\\z"
ALONE = f"\\A(?s){SPACE}*+{HOUR}:(?:{MINUTE}(?::(?:{SECOND}{FRACTION}.*+)?)?)?\\z"
"""A time by itself; anything after its seconds is ignored."""

PADDED, PADDED_CLOCK = "000\\1-0\\3-0\\4 00\\5:00\\6:00\\7.\\8000000", "00\\1:00\\2:00\\3.\\4000000"
"""The parts with leading zeros, and trailing ones after a fraction."""

TWO_DIGITS = "0{0,9}([0-9]{2}):0{0,2}([0-9]{2}):0{0,2}([0-9]{2})\\.([0-9]{6})[0-9]*+\\z"
CUT, CUT_CLOCK = f"\\A[0-9]{{0,3}}([0-9]{{4}})-0?([0-9]{{2}})-0?([0-9]{{2}}) {TWO_DIGITS}", f"\\A{TWO_DIGITS}"
WHOLE, WHOLE_CLOCK = "\\1-\\2-\\3 \\4:\\5:\\6.\\7", "\\1:\\2:\\3.\\4"

LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29"
MONTHS = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
)
VALID_DAY = f"\\A(?:{LEAP}|[0-9]{{4}}-(?:{MONTHS}))"
VALID_CLOCK, MIDNIGHT = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{6}\\z", "24:00:00\\.000000\\z"
EITHER_CLOCK = f"(?:{VALID_CLOCK}|{MIDNIGHT})"
CLOCK_ALONE = f"\\A{EITHER_CLOCK}"
EPOCH = f"\\A(?i){SPACE}*+epoch{SPACE}*+\\z"
WITH_OFFSET = "\\A.*[0-9]:[0-9]{2}(?:\\.[0-9]*)?(?:Z|(?:\\+|(-))([0-9]{2})(?::?([0-9]{2}))?)\\z"
PADDED_OFFSET, CUT_OFFSET, WHOLE_OFFSET = "\\1;00\\2:00\\3", "\\A(-?);0*([0-9]{2}):0*([0-9]{2})\\z", "\\1\\2:\\3:00"
"""An offset from UTC after a time: Z, or a sign, hours and optional minutes."""


def read_timestamp(quote: Quote, text: str) -> str:
    """Read a timestamp: a date, or a date and a time; 24:00 is midnight of the next day."""
    parts = _parts(quote, TIMESTAMP, text)
    timestamp = f"CAST({_matched(quote, parts, f'{VALID_DAY} {VALID_CLOCK}')} AS DATETIME(6))"
    day_before = f"CAST({_matched(quote, parts, f'{VALID_DAY}(?= {MIDNIGHT})')} AS DATETIME(6))"
    epoch = f"CASE WHEN {text} REGEXP {quote(EPOCH)} THEN {AT_ZERO} END"
    return f"COALESCE({timestamp}, {day_before} + INTERVAL 1 DAY, {epoch})"


def read_date(quote: Quote, text: str) -> str:
    """Read a date; a time that follows must be valid."""
    day = _matched(quote, _parts(quote, DATE, text), f"{VALID_DAY}(?= {EITHER_CLOCK})")
    return f"COALESCE(CAST({day} AS DATE), CASE WHEN {text} REGEXP {quote(EPOCH)} THEN DATE({AT_ZERO}) END)"


def read_clock(quote: Quote, text: str) -> str:
    """Read a time of day, alone or after a date."""
    padded = f"REGEXP_REPLACE({text}, {quote(ALONE)}, {quote(PADDED_CLOCK)})"
    parts = f"REGEXP_REPLACE({padded}, {quote(CUT_CLOCK)}, {quote(WHOLE_CLOCK)})"
    alone = f"CAST({_matched(quote, parts, CLOCK_ALONE)} AS TIME(6))"
    return f"COALESCE({alone}, CAST({read_timestamp(quote, text)} AS TIME(6)))"


def is_with_offset(quote: Quote, text: str) -> str:
    """Condition that a text ends with a time and its offset from UTC, or Z."""
    return f"{text} REGEXP {quote(WITH_OFFSET)}"


def read_offset(quote: Quote, text: str) -> str:
    """Read the offset at the end of a text that has one, in seconds."""
    padded = f"REGEXP_REPLACE({text}, {quote(WITH_OFFSET)}, {quote(PADDED_OFFSET)})"
    return f"TIME_TO_SEC(CAST(REGEXP_REPLACE({padded}, {quote(CUT_OFFSET)}, {quote(WHOLE_OFFSET)}) AS TIME))"


def _parts(quote: Quote, pattern: str, text: str) -> str:
    """A text as `YYYY-MM-DD hh:mm:ss.ffffff`, valid or not; text of another form stays unlike it."""
    padded = f"REGEXP_REPLACE({text}, {quote(pattern)}, {quote(PADDED)})"
    return f"REGEXP_REPLACE({padded}, {quote(CUT)}, {quote(WHOLE)})"


def _matched(quote: Quote, text: str, pattern: str) -> str:
    """The part of a text that matches a pattern; NULL if none does."""
    return f"NULLIF(REGEXP_SUBSTR({text}, {quote(pattern)}), '')"
