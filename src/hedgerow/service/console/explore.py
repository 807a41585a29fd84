"""The page of tables and columns, with a builder of questions for people who do not write SQL."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as quoted

from nicegui import ui

from hedgerow.service.access.model import Role
from hedgerow.service.console.ask import QuestionPanel
from hedgerow.service.console.parts import box, button, card, choice, empty_state, field, icon_button, text
from hedgerow.service.console.questions import GROUPS_OF_TEXT, NUMBERS, Choice, build_sql, keys_of, literal, measures_of
from hedgerow.service.console.visit import Visit
from hedgerow.session.tables import ColumnInfo, TableInfo, TableList
from hedgerow.sql.remedies import identifier

EVERYBODY = "everybody together"
NO_VALUE = "…"
COMPARISONS = {"is": "=", "is not": "<>", "is at least": ">=", "is at most": "<="}
MOST_VALUES = 40
"""Number of declared values of a column that the page lists."""


async def explore_page(visit: Visit) -> None:
    """Draw the page."""
    tables = visit.gateway.tables(visit.identity, visit.dataset)
    private = [table for table in tables if not table.public]
    if private and visit.identity.role is not Role.AUDITOR:  # an auditor asks nothing
        await QuestionBuilder(visit, {table.name: table for table in private}).draw()
    elif not private:
        empty_state("table_view", "This dataset has no private table.", "Public tables are shown exactly: ask in SQL.")
    show_tables(tables)


@dataclass
class RowFilter:
    """One condition of a question: a column, a comparison, and a value."""

    column: ColumnInfo
    comparison: str = "is"
    value: str = ""

    @property
    def sql(self) -> str | None:
        """The SQL of the condition; None while there is no value."""
        if self.value in {"", NO_VALUE}:
            return None
        name = identifier(self.column.name)
        if self.column.type == "boolean":
            return f"{name} {COMPARISONS[self.comparison]} {self.value.upper()}"
        if self.column.type in NUMBERS:
            return f"{name} {COMPARISONS[self.comparison]} {_number(self.value)}"
        return f"{name} {COMPARISONS[self.comparison]} {literal(self.value)}"


class QuestionBuilder:
    """A measure of a table, by a key, where conditions hold: choices, the SQL that they make, its price, its answer."""

    def __init__(self, visit: Visit, tables: dict[str, TableInfo]) -> None:
        self._visit = visit
        self._tables = tables
        self._table = next(iter(tables.values()))
        self._conditions: list[RowFilter] = []
        self._choose_first()
        self._panel = QuestionPanel(visit, lambda: self.sql, lambda _: None, self._open)

    def _choose_first(self) -> None:
        keys = keys_of(self._table)
        self._measure: Choice = measures_of(self._table)[0]
        self._key: Choice | None = keys[0] if keys else None
        self._conditions = []

    @property
    def sql(self) -> str:
        """The question that the choices make."""
        conditions = tuple(condition.sql for condition in self._conditions if condition.sql is not None)
        return build_sql(self._table, self._measure, self._key, conditions)

    async def draw(self) -> None:
        """Draw the builder."""
        with box("div", "hr-ask") as whole:
            with card("Build a question", "No SQL needed. Looking at prices is free."):
                with box("div", "hr-stack"):
                    self._draw_choices()
                with box("div", "hr-stack").style("gap:.3rem"):
                    with box("div", "hr-row"):
                        text("span", "The same in SQL", "hr-quiet hr-small hr-grow")
                        button("Edit as SQL", lambda: self._open(self.sql), icon="edit_note", kind="plain")
                    self._shown_sql = text("pre", self.sql, "hr-code").props('tabindex=0 aria-label="SQL"')
                await self._panel.draw_price()
            self._panel.draw_answer("Chart")
            self._panel.ask_by_key(whole)
        ui.timer(0, self._panel.look_up_price, once=True)

    def _draw_choices(self) -> None:
        """Draw the choices. A control that somebody uses stays while others change, so that it keeps the focus."""
        with box("div", "hr-builder"):
            choice("From", list(self._tables), self._table.name, self._table_chosen)
            self._measures = box("div", "hr-contents")
        self._draw_measures()
        self._filters = box("div", "hr-stack")
        with box("div", "hr-row"):
            self._add = button("Add a filter", self._add_condition, icon="filter_alt", kind="plain")

    def _draw_measures(self) -> None:
        measures = {measure.words: measure for measure in measures_of(self._table)}
        keys = {key.words: key for key in keys_of(self._table)}
        with self._measures:
            choice("Show", list(measures), self._measure.words, lambda words: self._chosen(_measure=measures[words]))
            by = EVERYBODY if self._key is None else self._key.words
            choice("By", [EVERYBODY, *keys], by, lambda words: self._chosen(_key=keys.get(words)))

    def _draw_condition(self, condition: RowFilter) -> None:
        columns = {column.name: column for column in _filters(self._table)}

        def set_column(name: str) -> None:
            condition.column, condition.comparison, condition.value = columns[name], "is", ""
            compared.clear()
            with compared:
                self._draw_comparison(condition)
            self._changed()

        def remove() -> None:
            self._conditions.remove(condition)
            row.delete()
            self._add.client.run_javascript(f"getHtmlElement({self._add.id}).focus()")
            self._changed()

        with box("div", "hr-builder hr-condition") as row:
            choice("Where", list(columns), condition.column.name, set_column)
            with box("div", "hr-contents") as compared:
                self._draw_comparison(condition)
            icon_button("close", "Remove this filter", remove)

    def _draw_comparison(self, condition: RowFilter) -> None:
        def changer(name: str) -> Callable[[str], None]:
            def change(value: str) -> None:
                setattr(condition, name, value)
                self._changed()

            return change

        numeric = condition.column.type in NUMBERS or condition.column.type == "date"
        comparisons = list(COMPARISONS) if numeric else list(COMPARISONS)[:2]
        choice("Comparison", comparisons, condition.comparison, changer("comparison"))
        values = _known_values(condition.column)
        if values:
            choice("Value", [NO_VALUE, *values], condition.value or NO_VALUE, changer("value"))
        else:
            kind = "number" if condition.column.type in NUMBERS else "date" if numeric else "text"
            field("Value", condition.value, changer("value"), kind=kind)

    def _chosen(self, **chosen: Any) -> None:  # noqa: ANN401 - a choice, by its attribute
        for name, value in chosen.items():
            setattr(self, name, value)
        self._changed()

    def _table_chosen(self, name: str) -> None:
        self._table = self._tables[name]
        self._choose_first()
        self._measures.clear()
        self._filters.clear()
        self._draw_measures()
        self._changed()

    def _add_condition(self) -> None:
        columns = _filters(self._table)
        if columns:
            self._conditions.append(RowFilter(columns[0]))
            with self._filters:
                self._draw_condition(self._conditions[-1])
            self._changed()

    def _changed(self) -> None:
        self._shown_sql.set_text(self.sql)
        self._panel.changed()

    def _open(self, sql: str) -> None:
        ui.navigate.to(f"/?dataset={quoted(self._visit.dataset)}&sql={quoted(sql)}")


def _filters(table: TableInfo) -> list[ColumnInfo]:
    """Return the columns that a filter can compare; never the one that names a person."""
    kinds = GROUPS_OF_TEXT | NUMBERS | {"date"}
    return [column for column in table.columns if not column.person and column.type in kinds]


def _known_values(column: ColumnInfo) -> list[str]:
    if column.type == "boolean":
        return ["true", "false"]
    return [] if column.values is None or column.type in NUMBERS else [str(value) for value in column.values]


def _number(typed: str) -> str:
    """Return a typed number as SQL; what is none stays text, which the binder then refuses with a reason."""
    try:
        number = float(typed)
    except ValueError:
        return literal(typed)
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)


def show_tables(tables: TableList) -> None:
    """Show what may be asked about: tables and columns with what the owner says of them."""
    text("h2", "Tables", "hr-section")
    with box("div", "hr-tables"):
        for table in tables:
            _show_table(table)


def _show_table(table: TableInfo) -> None:
    with card() as section:
        section.props["aria-label"] = f"Table {table.name}"
        with box("div", "hr-head"):
            text("h3", table.name, "hr-mono")
            kind = "public: exact and free" if table.public else "private: answers have error bars"
            text("span", kind, "hr-chip")
        if table.comment:
            text("p", table.comment, "hr-quiet")
        _show_columns(table)


def _show_columns(table: TableInfo) -> None:
    commented = any(column.comment for column in table.columns)
    declared = any(column.person or column.lower is not None or column.values is not None for column in table.columns)
    with box("div", "hr-scroll").props("tabindex=0 role=region") as whole, box("table", "hr-table hr-columns"):
        with box("thead"), box("tr"):
            for name in ("Column", "Type", *(["Declared"] * declared), *(["Comment"] * commented)):
                text("th", name).props("scope=col")
        with box("tbody"):
            for column in table.columns:
                with box("tr"):
                    text("td", column.name, "hr-mono hr-nowrap")
                    text("td", column.type, "hr-quiet")
                    if declared:
                        with box("td"):
                            _show_declared(column)
                    if commented:
                        text("td", column.comment or "", "hr-quiet")
    whole.props["aria-label"] = f"Columns of {table.name}"


def _show_declared(column: ColumnInfo) -> None:
    if column.person:
        text("span", "names the protected person", "hr-chip")
    if column.lower is not None and column.upper is not None:
        text("span", f"{column.lower:,g} to {column.upper:,g}", "hr-number")
    if column.values is not None:
        with box("div", "hr-chips"):
            for value in column.values[:MOST_VALUES]:
                text("span", str(value), "hr-chip")
            if len(column.values) > MOST_VALUES:
                text("span", f"and {len(column.values) - MOST_VALUES:,} more", "hr-quiet hr-small")
