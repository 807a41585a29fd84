"""The SQL editor: highlighting, completion from the catalog, and the refused part underlined."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.service.console.parts import EDITOR_SCRIPT
from hedgerow.session.tables import TableList
from hedgerow.sql.function_help import AGGREGATES, SCALARS
from hedgerow.sql.remedies import identifier, table_identifier

MOST_WORDS = 5_000
"""Number of completions that are sent to a browser."""

MOST_VALUES = 200
"""Number of declared values of one column among the completions."""


KEYWORDS = (
    "SELECT",
    "DISTINCT",
    "FROM",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "USING",
    "WHERE",
    "GROUP BY",
    "ROLLUP",
    "CUBE",
    "GROUPING SETS",
    "HAVING",
    "QUALIFY",
    "ORDER BY",
    "ASC",
    "DESC",
    "LIMIT",
    "OFFSET",
    "WITH",
    "UNION ALL",
    "AS",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "LIKE",
    "EXISTS",
    "IS NULL",
    "IS NOT NULL",
    "NULL",
    "TRUE",
    "FALSE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "FILTER",
    "OVER",
    "PARTITION BY",
    "INTERVAL",
)
"""Keywords that the editor proposes: those of questions. Its own list has hundreds of others."""


class SqlEditor:
    """An editor for one statement. `on_change` is called after each change, `on_ask` for Ctrl-Enter."""

    def __init__(self, text: str, tables: TableList, on_change: Callable[[], Any], on_ask: Callable[[], Any]) -> None:
        self._marks: list[dict[str, Any]] = []
        self._mirror = ui.codemirror(
            text,
            language="SQL",
            line_wrapping=True,
            indent="  ",
            on_change=lambda _: on_change(),
            keymap={"Mod-Enter": on_ask},
        ).classes("hr-editor")
        words = json.dumps(list(completions(tables))[:MOST_WORDS])
        ui.run_javascript(
            f'import("{EDITOR_SCRIPT}").then((script) => script.prepare({self._mirror.id}, "SQL question", {words}))'
        )

    @property
    def text(self) -> str:
        """The statement."""
        return str(self._mirror.value)

    def write(self, text: str) -> None:
        """Replace the statement."""
        self._mirror.set_value(text)

    def underline(self, error: HedgerowError | None) -> None:
        """Underline the part of the text that an error is about; nothing for None."""
        span = None if error is None else error.span
        length, marks = len(self.text), []
        if span is not None and span.start < length:
            end = min(max(span.end, span.start + 1), length)
            marks = [{"kind": "mark", "from": span.start, "to": end, "class": "hr-refused"}]
        if marks or self._marks:  # the same marks again: those before may have met a text that was changed already
            self._marks = marks
            show_marks(self._mirror, marks)


def show_marks(
    mirror: ui.codemirror, marks: Sequence[Mapping[str, Any]], tooltips: Mapping[int, str] | None = None
) -> None:
    """Show marks in an editor, and words on its lines.

    NiceGUI's own property sends the server's text along with the marks, which would undo what was typed meanwhile.
    """
    content = ", ".join(json.dumps(part) for part in (mirror.value, marks, tooltips or {}))
    mirror.client.run_javascript(f'import("{EDITOR_SCRIPT}").then((script) => script.mark({mirror.id}, {content}))')


def completions(tables: TableList) -> Iterator[dict[str, str]]:
    """Yield what the editor proposes: functions with their arguments, keywords, tables, columns, declared values."""
    for known in (*AGGREGATES, *SCALARS):
        yield {**_word(known.name, "function", known.arguments, known.returns), "apply": f"{known.name}("}
    for keyword in KEYWORDS:
        yield _word(keyword, "keyword", "", None)
    for table in tables:
        yield _word(table_identifier(table.name), "class", "public table" if table.public else "table", table.comment)
        for column in table.columns:
            bounds = "" if column.lower is None or column.upper is None else f", {column.lower:g} to {column.upper:g}"
            detail = f"{table.name}, {column.type}{bounds}"
            yield {**_word(identifier(column.name), "property", detail, column.comment), "table": table.name}
            for value in (column.values or ())[:MOST_VALUES]:
                written = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
                yield _word(written, "constant", column.name, None)


def _word(label: str, kind: str, detail: str, comment: str | None) -> dict[str, str]:
    return {"label": label, "type": kind, "detail": detail, **({} if comment is None else {"info": comment})}
