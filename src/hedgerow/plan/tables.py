"""What a finished query offers to the query around it."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import may_be_null, range_of
from hedgerow.expressions.nodes import Call, Column, Expr
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Facts, shown_as
from hedgerow.plan.nodes import From, Named, Query, Select
from hedgerow.plan.ownership import is_owner
from hedgerow.plan.rows import Owned, Standing, Table
from hedgerow.plan.syntax import span_of

OWNER = "o"


def described(name: str, expr: Expr) -> Column:
    """The column that an expression becomes."""
    inner = expr.arguments[0] if isinstance(expr, Call) and expr.function.startswith("imposed_") else expr
    base = inner if isinstance(inner, Column) else None
    return Column(
        name,
        expr.type,
        nullable=may_be_null(expr),
        range=range_of(expr),
        values=base.values if base is not None else None,
        native=base.native if base is not None and base is expr else "",
        collated=base.collated if base is not None else True,
    )


def plain_table(source: From, columns: Sequence[Column], names: tuple[str, ...]) -> Table:
    """All columns of a public relation, as they are."""
    named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
    return Table(Select(source, (), named), Standing.PUBLIC, names, tuple(described(n.name, n.expr) for n in named))


def owned_table(query: Query, names: tuple[str, ...], exprs: Sequence[Expr], owned: Owned, context: Context) -> Table:
    """Rows with owners: what is shown of them, and which of it is the owner."""
    columns = tuple(described(f"c{i}", expr) for i, expr in enumerate(exprs))
    at = frozenset(i for i, expr in enumerate(exprs) if is_owner(expr, owned, context))
    named = [*((f"c{i}", expr) for i, expr in enumerate(exprs)), (OWNER, owned.owner)]
    shown = shown_as("", named)
    return Table(query, Standing.OWNED, names, columns, owned, at, owned.facts.plus(Facts(), shown))


def whole(table: Table, node: exp.Expr) -> Table:
    """The table, refused where LIMIT has cut rows of people off before they are aggregated."""
    if table.cut_off:
        raise UnsupportedSQLError(
            "LIMIT before the aggregation would choose among people.",
            code="limit-on-rows",
            hint="Aggregate first, and use LIMIT on the result; or number each person's rows: "
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY unit …) <= 10.",
            span=span_of(node),
        )
    return table


def with_owner(select: Select, owner: Expr) -> Select:
    """The query with the owner as one more column."""
    return replace(select, columns=(*select.columns, Named(OWNER, owner)))


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names with a number behind each repetition, so that every column can be asked for."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        unique.append(name if seen[name] == 0 else f"{name}_{seen[name]}")
    return tuple(unique)
