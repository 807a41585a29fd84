"""`db.tables` and `db.describe`: what an analyst may ask about, from catalog and schema. No row is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from sqlglot import exp

from hedgerow.catalog.model import DeclaredColumn
from hedgerow.catalog.names import lookup
from hedgerow.error_bars.provenance.columns import noisy_columns
from hedgerow.errors import UnknownNameError
from hedgerow.execution.request import Options, Parameters
from hedgerow.execution.session import Session
from hedgerow.expressions.types import Type
from hedgerow.markup import Markup, element, grid, joined
from hedgerow.plan.literals import constant
from hedgerow.session.corridor import bind_statement
from hedgerow.session.parameter_types import MAXIMUM, infer_types
from hedgerow.sql.parse import parse


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One column that may be asked about.

    Attributes:
        name: As in the database.
        type: "integer", "float", "decimal", "text", "boolean", "date", "time", "timestamp" or "other".
        comment: What the owner says about it.
        lower: The smallest value that counts as it is; smaller ones count as this.
        upper: The largest value that counts as it is.
        values: The declared keys, all of which a GROUP BY shows.
        person: True for the column that names the protected person.
    """

    name: str
    type: str
    comment: str | None = None
    lower: float | None = None
    upper: float | None = None
    values: tuple[str | int | float | bool, ...] | None = None
    person: bool = False


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One table that may be asked about; a public one is shown exactly."""

    name: str
    columns: tuple[ColumnInfo, ...]
    comment: str | None = None
    public: bool = False

    def __getitem__(self, name: str) -> ColumnInfo:
        """The column called `name`, in any spelling."""
        column = lookup({column.name: column for column in self.columns}, name)
        if column is None:
            raise UnknownNameError(f"Table {self.name} has no column {name!r}.", code="unknown-column")
        return column


class TableList(tuple[TableInfo, ...]):
    """The tables of a database, in the order of the catalog: by number or by name."""

    __slots__ = ()

    @overload  # type: ignore[override]
    def __getitem__(self, name: int | str) -> TableInfo: ...
    @overload
    def __getitem__(self, name: slice) -> tuple[TableInfo, ...]: ...
    def __getitem__(self, name: int | str | slice) -> TableInfo | tuple[TableInfo, ...]:
        if not isinstance(name, str):
            return tuple.__getitem__(self, name)
        table = lookup({table.name: table for table in self}, name)
        if table is None:
            raise UnknownNameError(f"There is no table {name!r}.", code="unknown-table")
        return table

    def __str__(self) -> str:
        lines = []
        for table in self:
            comment = "" if table.comment is None else f": {table.comment}"
            lines.append(f"{table.name}{' (public)' if table.public else ''}{comment}")
            width = max((len(column.name) for column in table.columns), default=0)
            lines += [
                f"  {column.name:{width}}  {'; '.join([column.type, *_facts(column)])}" for column in table.columns
            ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return joined(map(_table_html, self))


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """One column of an answer: its name, its type, and whether it rests on noise."""

    name: str
    type: str
    noisy: bool


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """One parameter of a statement: its name ("1", "2", … for `?`), and the type of its value."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Description:
    """Columns that a statement would answer with, and its parameters."""

    columns: tuple[DescribedColumn, ...]
    parameters: tuple[DescribedParameter, ...]

    def __str__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        lines = [f"{c.name:{width}}  {c.type}{', noisy' if c.noisy else ''}" for c in self.columns]
        return "\n".join(lines + [f":{one.name}  {one.type}" for one in self.parameters])

    def _repr_html_(self) -> str:
        rows = [(column.name, column.type, "noisy" if column.noisy else "") for column in self.columns]
        listed = [(f":{one.name}", one.type, "parameter") for one in self.parameters]
        return grid(("column", "type", ""), [*rows, *listed], left=3)


def list_tables(session: Session) -> TableList:
    """Return what an analyst may ask about."""
    return TableList(tuple(_tables(session)))


def _tables(session: Session) -> Iterator[TableInfo]:
    for declared in session.catalog.tables.values():
        schema = lookup(session.schema.tables, declared.name)
        columns = []
        for name, column in ({} if schema is None else schema.columns).items():
            known = declared.column(name)
            person = isinstance(declared.unit, str) and declared.unit.lower() == name.lower()
            if (known is not None and known.hidden) or (known is None and declared.undeclared_hidden and not person):
                continue
            kind = column.type if known is None or known.type is None else known.type
            known = known or DeclaredColumn(name)
            columns.append(ColumnInfo(name, kind.value, known.comment, known.lower, known.upper, known.values, person))
        yield TableInfo(declared.name, tuple(columns), declared.comment, declared.public)


def _table_html(table: TableInfo) -> Markup:
    rows = [(column.name, column.type, "; ".join(_facts(column))) for column in table.columns]
    title = [
        element("strong", table.name),
        " (public)" if table.public else "",
        f": {table.comment}" if table.comment else "",
    ]
    return element("div", *title, grid(("column", "type", "declared"), rows, left=3), style="margin:.6em 0")


def _facts(column: ColumnInfo) -> list[str]:
    facts = ["the person"] if column.person else []
    if column.lower is not None and column.upper is not None:
        facts.append(f"{column.lower:g} to {column.upper:g}")
    if column.values is not None:
        shown = ", ".join(str(value) for value in column.values[:5])
        facts.append(shown + (f", … ({len(column.values)} keys)" if len(column.values) > 5 else ""))
    if column.comment is not None:
        facts.append(column.comment)
    return facts


def describe_statement(session: Session, text: str, params: Parameters, options: Options) -> Description:
    """Return the columns of a statement's answer, and its parameters; their types are found where no value is given."""
    names = parameters_of(text, session.dialect)
    if params is None and 0 < len(names) <= MAXIMUM:
        query = parse(text, session.dialect).query
        types, samples = infer_types(names, lambda values: session.bind(query, _numbered(values)))
        params = _numbered(samples)
    else:
        types = {name: constant(value).type for name, value in zip(names, _values(names, params), strict=False)}
    logical = bind_statement(session, text, params, options).logical
    kinds = [column.expr.type.value for column in logical.root.columns]
    columns = zip(logical.names, kinds, noisy_columns(logical.root), strict=True)
    return Description(
        tuple(DescribedColumn(*column) for column in columns),
        tuple(DescribedParameter(name, types.get(name, Type.NULL).value) for name in names),
    )


def parameters_of(text: str, dialect: str) -> tuple[str, ...]:
    """Return the names of the placeholders of a statement, in their order."""
    placeholders = parse(text, dialect).query.find_all(exp.Placeholder, exp.Parameter, bfs=False)
    return tuple(dict.fromkeys(str(node.name) for node in placeholders))


def _numbered(values: Mapping[str, object]) -> Parameters:
    """Return values by name as a statement takes them: as a list, if their names are numbers."""
    if not all(name.isdigit() for name in values):
        return dict(values)
    return [values.get(str(number)) for number in range(1, max(map(int, values), default=0) + 1)]


def _values(names: Sequence[str], params: Parameters) -> list[object]:
    """Return the given values in the order of the placeholders; binding refuses what is missing."""
    if isinstance(params, Mapping):
        return [params.get(name) for name in names]
    given = list(params or ())
    return [given[int(name) - 1] for name in names if name.isdigit() and 0 < int(name) <= len(given)]
