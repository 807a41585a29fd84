"""The page of tables and columns, with a builder of questions for people who do not write SQL."""

from urllib.parse import quote as quoted

from nicegui import ui

from hedgerow.service.console.parts import shown
from hedgerow.service.console.visit import Visit
from hedgerow.session.tables import ColumnInfo, TableInfo

EVERYTHING = "everything"
NUMBERS = frozenset({"integer", "float", "decimal"})


def explore_page(visit: Visit) -> None:
    """Draw the page."""
    tables = visit.gateway.tables(visit.identity, visit.dataset)
    ui.label("Build a question").classes("hr-strong")
    QuestionBuilder(visit, {table.name: table for table in tables if not table.public})
    ui.label("Tables").classes("hr-strong")
    shown(tables)


class QuestionBuilder:
    """A measure of a table, by a column: three choices, and the SQL that they make."""

    def __init__(self, visit: Visit, tables: dict[str, TableInfo]) -> None:
        self._visit = visit
        self._tables = tables
        if not tables:
            ui.label("This dataset has no private table.")
            return
        with ui.row().classes("items-center q-gutter-sm"):
            self._table = ui.select(list(tables), value=next(iter(tables)), label="Table", on_change=self._table_chosen)
            self._measure = ui.select([], label="Measure", on_change=self._show)
            self._by = ui.select([], label="By", on_change=self._show)
        self._sql = ui.code("", language="sql").classes("full-width")
        ui.button("Take it to the editor", on_click=self._open).props("no-caps")
        self._table_chosen()

    def _table_chosen(self) -> None:
        table = self._tables[self._table.value]
        measures, keys = measures_of(table), [EVERYTHING, *keys_of(table)]
        self._measure.set_options(list(measures), value=next(iter(measures)))
        self._by.set_options(keys, value=EVERYTHING)
        self._show()

    def _show(self) -> None:
        self._sql.set_content(self.sql)

    @property
    def sql(self) -> str:
        """The question that the choices make."""
        table = self._tables[self._table.value]
        return build_sql(table, self._measure.value, None if self._by.value == EVERYTHING else self._by.value)

    def _open(self) -> None:
        ui.navigate.to(f"/?dataset={quoted(self._visit.dataset)}&sql={quoted(self.sql)}")


def measures_of(table: TableInfo) -> dict[str, str]:
    """Return measures by their words: SQL of the number of rows, and of totals and averages of bounded numbers."""
    measures = {"number of rows": "COUNT(*) AS n"}
    for column in table.columns:
        if _is_bounded(column):
            name = identifier(column.name)
            measures[f"average of {column.name}"] = f"AVG({name}) AS average"
            measures[f"total of {column.name}"] = f"SUM({name}) AS total"
            measures[f"median of {column.name}"] = f"MEDIAN({name}) AS median"
    return measures


def keys_of(table: TableInfo) -> list[str]:
    """Return the columns to group by: those with declared values first; never the one that names a person."""
    others = [column for column in table.columns if not column.person and not _is_bounded(column)]
    return [column.name for column in sorted(others, key=lambda column: column.values is None)]


def build_sql(table: TableInfo, measure: str, key: str | None) -> str:
    """Return the SQL of a measure, by a column or over all rows."""
    number, source = measures_of(table)[measure], identifier(table.name)
    if key is None:
        return f"SELECT {number}\nFROM {source}"
    return f"SELECT {identifier(key)}, {number}\nFROM {source}\nGROUP BY {identifier(key)}"


def identifier(name: str) -> str:
    """Return a name as SQL: quoted where it needs quotes."""
    return name if name.isidentifier() and name.isascii() and name.islower() else '"' + name.replace('"', '""') + '"'


def _is_bounded(column: ColumnInfo) -> bool:
    return column.type in NUMBERS and column.lower is not None and column.upper is not None and not column.person
