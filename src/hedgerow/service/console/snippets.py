"""A question as code: to be pasted into a program or a terminal, or written into the editor."""

import itertools
import json
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote as quoted

from sqlglot import Dialect, TokenType
from sqlglot.errors import SqlglotError

from hedgerow.errors import HedgerowError
from hedgerow.service.console.questions import literal
from hedgerow.sql.parse import number_placeholders


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
