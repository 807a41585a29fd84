"""FROM: the one declared table that a query reads, with its columns as the catalog lets them be seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from hedgerow.catalog.model import Catalog, Table, Through
from hedgerow.errors import PolicyError, UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Column, Expr
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Limits, Scan
from hedgerow.plan.scope import RowScope, fold
from hedgerow.plan.syntax import span_of
from hedgerow.schema import Schema, SchemaColumn, SchemaTable

Bounds = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Source:
    """A table of the query: its scan, and the scope of its rows."""

    scan: Scan
    scope: RowScope


def bind_source(node: exp.Expr, catalog: Catalog, schema: Schema, bounds: Bounds) -> Source:
    """The declared table that `node` names. A table that the catalog does not declare does not exist."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise UnsupportedSQLError(
            "FROM can only name a declared table.",
            code="from-not-a-table",
            hint="Write FROM table.",
            span=span_of(node),
        )
    extra = [k for k, v in node.args.items() if k not in {"this", "alias"} and v]
    table = None if extra else catalog.table(node.name)
    if table is None:
        raise _unknown(node, catalog)
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise UnsupportedSQLError("A table cannot rename its columns here.", code="column-aliases", span=span_of(node))
    columns, hidden = visible_columns(table, schema.tables[table.name], bounds)
    return Source(scan(table, schema.tables[table.name]), RowScope(alias.name if alias else node.name, columns, hidden))


def scan(table: Table, declared: SchemaTable) -> Scan:
    """The scan of `table`, with the unit's column and the limits the owner declared."""
    if table.public:
        return Scan(table.name, None, None)
    if isinstance(table.unit, Through) or table.unit is None:
        raise UnsupportedSQLError(
            f"The unit of {table.name!r} is reached through another table; joins are not available yet.",
            code="through-table",
            hint="Ask about a table that has the unit itself.",
        )
    unique = table.unit_unique
    limits = Limits(
        1 if unique else table.max_rows,
        1 if unique else table.max_rows_per_group,
        1 if unique else table.max_groups,
        table.size,
        unique and declared.is_unique(frozenset({table.unit})),
    )
    return Scan(table.name, _column(declared.columns[table.unit], table, {}), limits)


def visible_columns(table: Table, declared: SchemaTable, bounds: Bounds) -> tuple[dict[str, Expr], frozenset[str]]:
    """The columns that may be used, by folded name, and the names of those that may not."""
    narrowed = {fold(name): pair for name, pair in bounds.items()}
    unknown = set(narrowed) - {fold(name) for name in declared.columns}
    if unknown:
        raise UnknownNameError(
            f"bounds= names {min(unknown)!r}, which is no column here.",
            code="unknown-column",
            hint="Name columns of the table in FROM.",
        )
    shown: dict[str, Expr] = {}
    hidden: set[str] = set()
    for name, column in declared.columns.items():
        said = table.columns.get(name)
        concealed = said.hidden if said is not None else table.undeclared_hidden
        if (concealed and name != table.unit) or column.type is Type.OTHER:
            hidden.add(fold(name))
        else:
            shown[fold(name)] = _typed(_column(column, table, narrowed), table)
    return shown, frozenset(hidden)


def _column(column: SchemaColumn, table: Table, narrowed: Bounds) -> Column:
    said = table.columns.get(column.name)
    owners = EVERYTHING
    if said is not None and said.lower is not None and said.upper is not None:
        owners = Range(float(said.lower), float(said.upper))
    asked = narrowed.get(fold(column.name))
    return Column(
        column.name,
        column.type,
        nullable=column.nullable,
        range=owners if asked is None else _narrow(column.name, owners, asked),
        values=said.values if said is not None else None,
        native=column.native,
        collated=column.collated,
    )


def _narrow(name: str, owners: Range, asked: tuple[float, float]) -> Range:
    low, high = asked
    if low < owners.lower or high > owners.upper:
        raise PolicyError(
            f"The bounds for {name!r} are wider than the owner's.",
            code="looser-bounds",
            hint="Bounds can only be narrowed.",
        )
    return Range(low, high)


def _typed(column: Column, table: Table) -> Expr:
    """The column, read through the type that the owner imposed on it."""
    said = table.columns.get(column.name)
    wanted = said.type if said is not None else None
    if wanted is None and _needs_cast(column.native):
        wanted = column.type
    elif wanted is None or wanted is column.type:
        return column
    return Call(f"imposed_{wanted.value}", (column,), wanted)


def _needs_cast(native: str) -> bool:
    """Types that an engine would convert by itself next to others of their kind, which can fail on a row."""
    return native.upper().startswith(("ENUM", "UUID", "TIMESTAMP_"))


def _unknown(node: exp.Table, catalog: Catalog) -> UnknownNameError:
    close = get_close_matches(node.name, catalog.tables, n=1)
    return UnknownNameError(
        f"There is no table {node.name!r}.",
        code="unknown-table",
        hint=f"Did you mean {close[0]!r}?" if close else "The catalog says which tables there are.",
        span=span_of(node),
    )
