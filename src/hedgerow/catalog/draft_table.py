"""One table of a first catalog."""

from collections.abc import Iterator

from hedgerow.catalog.guess import Reference, is_key, names_person, references, single_keys, unit_candidates
from hedgerow.catalog.quote import quote
from hedgerow.catalog.remark import remark
from hedgerow.catalog.source import FILL_IN
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

_NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})


def draft_table(table: SchemaTable, schema: Schema) -> Iterator[str]:
    """The lines for `table`, private, with its unit guessed or left open."""
    candidates = unit_candidates(table)
    unit = candidates[0] if len(candidates) == 1 else None
    yield f"  {quote(table.name)}:"
    links = [link for link in references(table, schema) if link.column != unit]
    yield from _guessed_unit(table, unit) if unit else _open_unit(candidates or ([] if links else single_keys(table)))
    yield from _suggestions(links)
    yield from _columns([column for name, column in table.columns.items() if name != unit])
    if all(column.type is Type.TEXT for column in table.columns.values()):
        yield "      # All columns are text, as in every CSV file. Give numbers and dates a type, for instance"
        yield "      # age: {type: integer, lower: 0, upper: 120}   or   day: {type: date}"


def _guessed_unit(table: SchemaTable, unit: str) -> Iterator[str]:
    yield remark(f"    unit: {quote(unit)}", "a guess from the names: the person each row is about. Is it?")
    if unit in single_keys(table):
        yield remark("    unit_unique: true", "one row for each unit; the database enforces it")
    else:
        yield _max_rows()


def _open_unit(candidates: list[str]) -> Iterator[str]:
    yield remark(f"    unit: {FILL_IN}", "FILL IN the column that names the person each row is about")
    for name in candidates:
        reason = "by its name" if names_person(name) else "if each row is about another person"
        yield remark(f"    # unit: {quote(name)}", f"perhaps this one, {reason}")
    yield remark("    # public: true", "instead of a unit, if the rows are about nobody (a list of countries)")
    yield _max_rows()


def _max_rows() -> str:
    return remark("    # max_rows: 10", "rows of one unit that count in full; without it every query must say")


def _suggestions(links: list[Reference]) -> Iterator[str]:
    for link in links:
        path = f"{{through: {quote(link.table)}, on: {{{quote(link.column)}: {quote(link.key)}}}}}"
        yield f"    # If {quote(link.table)} knows the person, by way of {quote(link.column)}, write instead:"
        yield f"    # unit: {path}"


def _columns(columns: list[SchemaColumn]) -> Iterator[str]:
    yield remark("    columns:", "remove the # of those you fill in; {hidden: true} forbids any use of a column")
    measured = [column for column in columns if _is_measure(column)]
    listed = [column for column in columns if column.type is Type.TEXT and not names_person(column.name)]
    for column in measured:
        yield remark(f"      # {quote(column.name)}: {{lower: {FILL_IN}, upper: {FILL_IN}}}", column.type.value)
    for column in listed:
        yield remark(f"      # {quote(column.name)}: {{values: [{FILL_IN}]}}", "only if the list is public knowledge")
    yield from _rest([column for column in columns if column not in measured and column not in listed])


def _is_measure(column: SchemaColumn) -> bool:
    return column.type in _NUMBERS and not is_key(column.name)


def _rest(columns: list[SchemaColumn]) -> Iterator[str]:
    usable = [quote(column.name) for column in columns if column.type is not Type.OTHER]
    useless = [quote(column.name) for column in columns if column.type is Type.OTHER]
    if usable:
        yield f"      # Private values too, to filter and group by: {', '.join(usable)}"
    if useless:
        yield f"      # Of a type that queries cannot use: {', '.join(useless)}"
