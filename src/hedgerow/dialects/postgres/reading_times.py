"""Reading dates, times and moments from text, as DuckDB reads them: ISO, with some freedom.

Time zones are read over: a moment has none.
"""

LEAP = "({0} % 4 = 0 AND ({0} % 100 <> 0 OR {0} % 400 = 0))"
LEAST_YEAR, LAST_YEAR, LAST_MOMENT_YEAR = -4712, 5_874_896, 294_247
"""Years that PostgreSQL can hold, counted with a year 0."""

LAST_MOMENT = "TIMESTAMP '294247-01-10 04:00:54.775806'"
"""The last one that DuckDB can hold."""

SPACE = "[ \\t\\n\\u000B\\f\\r]"
DAY = f"^{SPACE}*(-?)([0-9]{{1,9}})([-/\\\\ ])([0-9]{{1,2}})\\3([0-9]{{1,2}})( \\([Bb][Cc]\\))?"
CLOCK = "([0-9]{1,9}):(?:([0-9]{1,2})(?::(?:([0-9]{1,2})(?:\\.([0-9]*))?)?)?)?"
OFFSET = "[+-][0-9]{2}(?::[0-9]{2}(?::[0-9]{2})?|[0-9]{2})?"
ZONE = f"(?:Z{SPACE}*|{OFFSET}{SPACE}*| [A-Za-z0-9_/+:-]*{SPACE}*)?"
BEHIND = f"(?:[ T]{SPACE}*|{SPACE}+){CLOCK}{ZONE}"
"""A time behind a date."""

ALONE = f"^{SPACE}*([0-9]{{1,9}}):(?:([0-9]{{1,2}})(?::(?:([0-9]{{1,2}})(?:\\.([0-9]*))?.*)?)?)?$"
"""A time by itself; whatever follows its seconds is read over."""


def valid_day(year: str, month: str, day: str) -> str:
    """Condition that there is such a day; the year is counted with a year 0."""
    february = f"CASE WHEN {LEAP.format(year)} THEN 29 ELSE 28 END"
    days = (
        f"CASE {month} WHEN 2 THEN {february} WHEN 4 THEN 30 WHEN 6 THEN 30 WHEN 9 THEN 30 WHEN 11 THEN 30 ELSE 31 END"
    )
    return f"{year} BETWEEN {LEAST_YEAR} AND {LAST_YEAR} AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {days}"


def made_day(year: str, month: str, day: str) -> str:
    """The day, which is valid; before Christ years are counted from -1."""
    return f"make_date(CASE WHEN {year} > 0 THEN {year} ELSE {year} - 1 END, {month}, {day})"


def _parsed(pattern: str, text: str) -> str:
    """The pieces of a date as numbers: `y`, `m`, `d`; and the rest of the match as an array `r`."""
    year = "CAST(g[2] AS INTEGER)"
    before = f"CASE WHEN g[1] = '' THEN 1 - {year} END"
    signed = f"CASE WHEN g[6] IS NOT NULL THEN {before} WHEN g[1] = '-' THEN -{year} ELSE {year} END"
    found = f"SELECT regexp_match({text}, '{pattern}') AS g OFFSET 0"
    numbers = f"{signed} AS y, CAST(g[4] AS INTEGER) AS m, CAST(g[5] AS INTEGER) AS d, g AS r"
    return f"SELECT {numbers} FROM ({found}) AS g OFFSET 0"


def _special(text: str, kind: str) -> str:
    """Words instead of a date."""
    words = {"infinity": "infinity", "inf": "infinity", "-infinity": "-infinity", "-inf": "-infinity", "epoch": "epoch"}
    shown = f"lower(btrim({text}, E' \\t\\n\\u000B\\f\\r'))"
    listed = " ".join(f"WHEN '{word}' THEN {kind} '{value}'" for word, value in words.items())
    return f"CASE {shown} {listed} END"


def _clock(first: int) -> str:
    """The time of day in microseconds, from the pieces of a match; NULL where there is none."""
    hour, minute, second = (f"CAST('0' || COALESCE(p.r[{first + i}], '') AS BIGINT)" for i in range(3))
    micros = f"CAST(rpad(left(COALESCE(p.r[{first + 3}], ''), 6), 6, '0') AS BIGINT)"
    total = f"(({hour} * 60 + {minute}) * 60 + {second}) * 1000000 + {micros}"
    there = f"p.r[{first}] IS NOT NULL AND {minute} < 60 AND {second} < 60"
    return f"CASE WHEN {there} AND {total} <= 86400000000 THEN {total} END"


def _as_moment(day: str, micros: str) -> str:
    return f"{day} + CAST({micros} AS FLOAT8) * INTERVAL '1 microsecond'"


def read_moment(text: str) -> str:
    """A moment: a date, or a date and a time."""
    pattern = f"{DAY}(?:{BEHIND})?$"
    day = f"CAST({made_day('p.y', 'p.m', 'p.d')} AS TIMESTAMP)"
    valid = f"{valid_day('p.y', 'p.m', 'p.d')} AND p.y <= {LAST_MOMENT_YEAR}"
    made = (
        f"CASE WHEN {valid} THEN CASE WHEN p.r[7] IS NULL THEN {day} ELSE {_as_moment(day, f'({_clock(7)})')} END END"
    )
    held = f"SELECT CASE WHEN s.v <= {LAST_MOMENT} THEN s.v END FROM (SELECT {made} AS v OFFSET 0) AS s"
    return (
        f"(SELECT COALESCE({_special('t.t', 'TIMESTAMP')}, (SELECT ({held}) FROM ({_parsed(pattern, 't.t')}) AS p)) "
        f"FROM (SELECT {text} AS t OFFSET 0) AS t)"
    )


def read_date(text: str) -> str:
    """A date; where a time follows, it must be one."""
    pattern = f"{DAY}(?:{SPACE}*|{BEHIND})$"
    clock = f"(p.r[7] IS NULL OR ({_clock(7)}) IS NOT NULL AND p.y <= {LAST_MOMENT_YEAR})"
    day_made = made_day("p.y", "p.m", "p.d")
    made = f"CASE WHEN {valid_day('p.y', 'p.m', 'p.d')} THEN CASE WHEN {clock} THEN {day_made} END END"
    return (
        f"(SELECT COALESCE({_special('t.t', 'DATE')}, (SELECT {made} FROM ({_parsed(pattern, 't.t')}) AS p)) "
        f"FROM (SELECT {text} AS t OFFSET 0) AS t)"
    )


def read_time(text: str) -> str:
    """A time of day, alone or behind a date."""
    alone = f"SELECT regexp_match({text}, '{ALONE}') AS r OFFSET 0"
    micros = f"(SELECT {_clock(1)} FROM ({alone}) AS p)"
    return (
        f"(SELECT COALESCE(CASE WHEN s.c = 86400000000 THEN TIME '24:00:00' "
        f"ELSE TIME '00:00:00' + CAST(s.c AS FLOAT8) * INTERVAL '1 microsecond' END, "
        f"CASE WHEN s.c IS NULL THEN CAST({read_moment(text)} AS TIME) END) FROM (SELECT {micros} AS c OFFSET 0) AS s)"
    )
