"""Completions of a statement: tables, columns and declared keys, functions and keywords. No row is read."""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hedgerow.session.tables import ColumnInfo, TableInfo, TableList

FUNCTIONS = (
    *("COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "MIN", "MAX", "MODE"),
    *("VARIANCE", "VAR_POP", "VAR_SAMP", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "COVAR_POP", "COVAR_SAMP", "CORR"),
    *("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "HISTOGRAM", "RATIO", "RELATIVE_RISK", "ODDS_RATIO"),
    *("RISK_DIFFERENCE", "CLIP", "ABS", "CEIL", "FLOOR", "ROUND", "SQRT", "EXP", "LN", "POWER", "SIGN", "GREATEST"),
    *("LEAST", "COALESCE", "NULLIF", "CAST", "LOWER", "UPPER", "LENGTH", "SUBSTRING", "TRIM", "REPLACE", "CONCAT"),
    *("STARTS_WITH", "CONTAINS", "EXTRACT", "DATE_TRUNC", "DATE_DIFF", "ROW_NUMBER", "RANK", "LAG", "LEAD"),
)
KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "WITH", "AS", "JOIN", "LEFT JOIN", "ON"),
    *("USING", "UNION ALL", "DISTINCT", "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "IN", "BETWEEN"),
    *("LIKE", "IS NULL", "IS NOT NULL", "FILTER (WHERE", "OVER (", "PARTITION BY", "WITHIN GROUP (", "ASC", "DESC"),
    *("ROLLUP", "CUBE", "DATE", "INTERVAL", "TRUE", "FALSE", "NULL"),
)

WORD_CHARACTERS = f"{string.ascii_letters}{string.digits}_$"
_QUALIFIER = re.compile(r"""(?:"((?:[^"]|"")*)"|([\w$]+))\.\Z""")
_AFTER_FROM = re.compile(r"\b(?:FROM|JOIN)\s+\Z", re.IGNORECASE)
_COMPARED = re.compile(
    r"""(?:"((?:[^"]|"")*)"|([\w$]+))\s*(?:=|<>|!=|\bNOT\s+IN\s*\(|\bIN\s*\()\s*(?:'(?:[^']|'')*'\s*,\s*)*\Z""",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"""\b(?:FROM|JOIN)\s+(?:"((?:[^"]|"")*)"|([\w$.]+))(?:\s+(?:AS\s+)?(?!ON\b|WHERE\b|GROUP\b|JOIN\b|LEFT\b|USING\b)([\w$]+))?""",
    re.IGNORECASE,
)
_TEXTS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_][\w$]*\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One completion: its text, the number of characters before the cursor that it replaces, and its kind."""

    text: str
    replaces: int
    kind: str


def complete_sql(before: str, statement: str, tables: TableList) -> list[Candidate]:
    """Return completions at the cursor of a statement; `before` is its part up to the cursor."""
    code = _TEXTS.sub(lambda match: " " * len(match[0]), before)
    if (start := code.rfind("'")) >= 0:
        return list(_keys(before[:start], before[start + 1 :], statement, tables))
    head = code.rstrip(WORD_CHARACTERS)
    word = code[len(head) :]
    return [
        Candidate(text, len(word), kind)
        for text, kind in _names(head, statement, tables)
        if text.strip('"').lower().startswith(word.lower()) and (word or kind != "keyword")
    ]


def _names(head: str, statement: str, tables: TableList) -> Iterator[tuple[str, str]]:
    """Yield the names that fit after `head`, the most probable first."""
    sources = dict(_sources(statement, tables))
    if qualifier := _QUALIFIER.search(head):
        table = sources.get((qualifier[1] or qualifier[2]).lower())
        yield from ((quoted(column.name), column.type) for column in (() if table is None else table.columns))
        return
    listed = [(quoted(table.name), "public table" if table.public else "table") for table in tables]
    if _AFTER_FROM.search(head):
        yield from listed
        return
    columns = [column for table in (_distinct(sources.values()) or tables) for column in table.columns]
    yield from dict.fromkeys((quoted(column.name), column.type) for column in columns)
    yield from listed
    yield from ((f"{name}(", "function") for name in FUNCTIONS)
    yield from ((name, "keyword") for name in KEYWORDS)


def _sources(statement: str, tables: TableList) -> Iterator[tuple[str, TableInfo]]:
    """Yield the tables that a statement reads, by name and by alias; the names are folded."""
    known = {table.name.lower(): table for table in tables}
    for match in _SOURCE.finditer(_TEXTS.sub(" ", statement)):
        table = known.get((match[1] or match[2]).lower())
        if table is not None:
            yield table.name.lower(), table
            if match[3]:
                yield match[3].lower(), table


def _keys(head: str, begun: str, statement: str, tables: TableList) -> Iterator[Candidate]:
    """Yield the declared keys of the column that is compared with the text at the cursor."""
    compared = _COMPARED.search(head)
    if compared is None:
        return
    name = (compared[1] or compared[2]).lower()
    sources = _distinct(dict(_sources(statement, tables)).values()) or tables
    columns = [column for table in sources for column in table.columns if column.name.lower() == name]
    for key in dict.fromkeys(key for column in columns for key in _texts(column)):
        if key.lower().startswith(begun.lower()):
            escaped = key.replace("'", "''")
            yield Candidate(f"{escaped}'", len(begun), "key")


def _texts(column: ColumnInfo) -> list[str]:
    return [value for value in column.values or () if isinstance(value, str)]


def _distinct(tables: Iterable[TableInfo]) -> list[TableInfo]:
    return list({table.name: table for table in tables}.values())


def quoted(name: str) -> str:
    """Return a name as SQL writes it: in quotes where it is no plain word."""
    escaped = name.replace('"', '""')
    return name if _PLAIN.match(name) else f'"{escaped}"'
