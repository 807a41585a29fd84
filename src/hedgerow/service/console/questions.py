"""Questions made from the catalog, as examples and by the builder; and a question as code to take along."""

import itertools
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as quoted

from sqlglot import Dialect, TokenType
from sqlglot.errors import SqlglotError

from hedgerow.errors import HedgerowError
from hedgerow.session.tables import ColumnInfo, TableInfo, TableList
from hedgerow.sql.parse import number_placeholders
from hedgerow.sql.remedies import identifier, table_identifier

NUMBERS = frozenset({"integer", "float", "decimal"})
TIMES = frozenset({"date", "timestamp"})
GROUPS_OF_TEXT = frozenset({"text", "boolean"})


@dataclass(frozen=True)
class Choice:
    """One thing that can be chosen, in words, the SQL that it stands for, and the name that it has in an answer."""

    words: str
    sql: str
    name: str = ""

    @property
    def shown(self) -> str:
        """The SQL of the column in SELECT."""
        name = identifier(self.name)
        return self.sql if not self.name or self.sql == name else f"{self.sql} AS {name}"


def measures_of(table: TableInfo) -> list[Choice]:
    """Return the measures of a table: the number of rows or people, and figures of its bounded numbers."""
    people = next((column for column in table.columns if column.person), None)
    measures = [Choice("number of rows", "COUNT(*)", "n")]
    if people is not None:
        measures.append(Choice("number of people", f"COUNT(DISTINCT {identifier(people.name)})", "people"))
    for column in table.columns:
        if is_bounded(column):
            name = identifier(column.name)
            measures.append(Choice(f"average of {column.name}", f"AVG({name})", f"average_{column.name}"))
            measures.append(Choice(f"total of {column.name}", f"SUM({name})", f"total_{column.name}"))
            measures.append(Choice(f"median of {column.name}", f"MEDIAN({name})", f"median_{column.name}"))
    return measures


def keys_of(table: TableInfo) -> list[Choice]:
    """Return what to group by: declared columns first, then words, dates by year and month, and numbers by steps."""
    declared = [column for column in table.columns if column.values is not None]
    others = [column for column in table.columns if column.values is None and not column.person]
    keys = [Choice(column.name, identifier(column.name), column.name) for column in declared]
    words = [column for column in others if column.type in GROUPS_OF_TEXT]
    keys += [Choice(column.name, identifier(column.name), column.name) for column in words]
    for column in others:
        name = identifier(column.name)
        if column.type in TIMES:
            keys.append(Choice(f"{column.name}, by year", f"EXTRACT(year FROM {name})", "year"))
            keys.append(Choice(f"{column.name}, by month", f"DATE_TRUNC('month', {name})", "month"))
        elif is_bounded(column):
            step = f"{_step(column):g}"
            if step == "1" and column.type == "integer":
                keys.append(Choice(column.name, name, column.name))
                continue
            keys.append(Choice(f"{column.name}, in steps of {step}", f"FLOOR({name} / {step}) * {step}", column.name))
    return keys


def _step(column: ColumnInfo) -> float:
    """Return the width of about ten steps: 1, 2 or 5 times a power of ten."""
    width = ((column.upper or 0.0) - (column.lower or 0.0)) / 10
    for power in range(-6, 13):
        for digit in (1, 2, 5):
            if digit * 10.0**power >= width:
                return max(digit * 10.0**power, 1.0)
    return width


def is_bounded(column: ColumnInfo) -> bool:
    """Return True for a number that can be averaged: one with bounds, that is not the person."""
    return column.type in NUMBERS and column.lower is not None and column.upper is not None and not column.person


def literal(value: object) -> str:
    """Return a value as SQL.

    Example:
        >>> literal("it's"), literal(3), literal(True)
        ("'it''s'", '3', 'TRUE')
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


def build_sql(table: TableInfo, measure: Choice, key: Choice | None, conditions: tuple[str, ...] = ()) -> str:
    """Return the SQL of a measure, by a key or over everybody, where conditions hold."""
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    source = f"FROM {table_identifier(table.name)}{where}"
    if key is None:
        return f"SELECT {measure.shown}\n{source}"
    return f"SELECT {key.shown}, {measure.shown}\n{source}\nGROUP BY 1\nORDER BY 1"


def example_questions(tables: TableList) -> dict[str, str]:
    """Return questions that a dataset answers, by their words; at most four."""
    return dict(list(_examples(tables))[:4])


def _examples(tables: TableList) -> Iterator[tuple[str, str]]:
    for table in tables:
        if table.public:
            continue
        keys = keys_of(table)
        first = keys[0] if keys else None
        counted = measures_of(table)[0]
        yield f"{table.name}{f' by {first.words}' if first else ''}", build_sql(table, counted, first)
        averages = [measure for measure in measures_of(table) if measure.words.startswith("average")][:1]
        own = {measure.name.removeprefix("average_") for measure in averages}
        others = [key for key in [*keys[1:], *keys[:1]] if key.name not in own]
        for measure, key in zip(averages, others, strict=False):
            yield f"{measure.words} by {key.words}", build_sql(table, measure, key)


def as_python(address: str, dataset: str, sql: str, params: object, options: Mapping[str, Any]) -> str:
    """Return a question as Python, for the client of the HTTP API."""
    named = dict(options) if params is None else {"params": params, **options}
    words = "".join(f", {name}={value!r}" for name, value in named.items())
    text = f'"""{sql}"""' if "\n" in sql and '"' not in sql and "\\" not in sql else repr(sql)
    service = f"{address}/{quoted(dataset, safe='')}"
    return (
        "import hedgerow as hr\n\n"
        f'with hr.connect("{service}") as db:  # the token is in HEDGEROW_TOKEN\n'
        f"    print(db.sql({text}{words}))\n"
    )


def as_curl(address: str, dataset: str, sql: str, params: object, options: Mapping[str, Any]) -> str:
    """Return a question as a command of a terminal."""
    named = {"sql": sql, "params": params, "options": dict(options)}
    body = shlex.quote(json.dumps({name: value for name, value in named.items() if value}))
    return (
        f"curl {address}/v1/datasets/{quoted(dataset, safe='')}/query "
        f"-H \"Authorization: Bearer $HEDGEROW_TOKEN\" -H 'Content-Type: application/json' -d {body}"
    )


def with_values(sql: str, params: object, dialect: str) -> str:
    """Return a question with its parameters as literals, for the editor, which has no fields for them.

    A placeholder whose value is not known, and a text that cannot be read, stay as they are.

    Example:
        >>> with_values("SELECT COUNT(*) FROM t WHERE a > ? AND b = ?", [7, "it's"], "duckdb")
        "SELECT COUNT(*) FROM t WHERE a > 7 AND b = 'it''s'"
    """
    if isinstance(params, list):
        values = {str(index): value for index, value in enumerate(params, 1)}
    elif isinstance(params, Mapping):
        values = dict(params)
    else:
        return sql
    try:
        tokens = number_placeholders(Dialect.get_or_raise(dialect).tokenize(sql))
    except (SqlglotError, HedgerowError):
        return sql
    written, end = "", 0
    for sign, name in itertools.pairwise(tokens):
        if sign.token_type is TokenType.PARAMETER and sign.text == "$" and name.text in values:
            value = values[name.text]
            written += sql[end : sign.start] + ("NULL" if value is None else literal(value))
            end = name.end + 1
    return written + sql[end:]
