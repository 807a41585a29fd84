"""Finished queries: the columns that they offer to the outer query, and the names that WITH gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import may_be_null, range_of
from hedgerow.expressions.nodes import Call, Column, Expr
from hedgerow.plan.context import Context
from hedgerow.plan.facts import Facts, shown_as
from hedgerow.plan.nodes import From, Named, Query, Select
from hedgerow.plan.ownership import Ownership, Privacy, Table, is_owner
from hedgerow.plan.syntax import span_of

MAX_QUERIES = 100


@dataclass(frozen=True)
class Environment:
    """The queries that can be named here. A name of WITH hides a table of the same name."""

    tables: Mapping[str, Table] = field(default_factory=dict)

    def find(self, name: str) -> Table | None:
        """The query of that name."""
        return self.tables.get(fold(name))

    def extended(self, with_: exp.With | None, bind: Callable[[exp.Query, "Environment"], Table]) -> "Environment":
        """Return the environment with the queries of a WITH clause; each sees those before it and is bound once."""
        if with_ is None:
            return self
        named = [(cte.alias, table.name) for cte in with_.expressions for table in cte.this.find_all(exp.Table)]
        if with_.args.get("recursive") and any(fold(own) == fold(read) for own, read in named):
            raise UnsupportedSQLError(
                "A recursive query can use a row any number of times.",
                code="recursive",
                hint="Write the steps out, one CTE each, or let the owner prepare a table.",
                span=span_of(with_),
            )
        if len(with_.expressions) > MAX_QUERIES:
            raise UnsupportedSQLError(
                f"WITH can name at most {MAX_QUERIES} queries.",
                code="too-many-queries",
                hint="Ask in several statements.",
                span=span_of(with_.expressions[MAX_QUERIES]),
            )
        here, seen = self, set[str]()
        for cte in with_.expressions:
            name = fold(cte.alias)
            if name in seen:
                raise UnsupportedSQLError(
                    f"WITH names {cte.alias!r} twice.",
                    code="duplicate-table",
                    hint="Give one of them another name.",
                    span=span_of(cte),
                )
            seen.add(name)
            columns = cte.args["alias"].args.get("columns") if cte.args.get("alias") else None
            table = with_names(bind(cte.this, here), [identifier.name for identifier in columns or []], cte)
            here = Environment({**here.tables, name: table})
        return here


def with_names(table: Table, names: list[str], node: exp.Expr) -> Table:
    """The query with its first columns renamed, as in `AS t(a, b)`."""
    if not names:
        return table
    if len(names) > len(table.names):
        raise UnsupportedSQLError(
            f"{len(names)} names are given to {len(table.names)} columns.",
            code="column-aliases",
            hint="Give at most one name for each column.",
            span=span_of(node),
        )
    return replace(table, names=(*names, *table.names[len(names) :]))


OWNER = "o"


def described(name: str, expr: Expr) -> Column:
    """Return the column that an expression becomes."""
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
    """Return all columns of a public relation."""
    named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
    return Table(Select(source, (), named), Privacy.PUBLIC, names, tuple(described(n.name, n.expr) for n in named))


def owned_table(
    query: Query, names: tuple[str, ...], exprs: Sequence[Expr], ownership: Ownership, context: Context
) -> Table:
    """Return rows with owners: their output columns, and which of these are the owner."""
    columns = tuple(described(f"c{i}", expr) for i, expr in enumerate(exprs))
    at = frozenset(i for i, expr in enumerate(exprs) if is_owner(expr, ownership, context))
    named = [*((f"c{i}", expr) for i, expr in enumerate(exprs)), (OWNER, ownership.owner)]
    shown = shown_as("", named)
    return Table(query, Privacy.OWNED, names, columns, ownership, at, ownership.facts.plus(Facts(), shown))


def whole(table: Table, node: exp.Expr) -> Table:
    """Return the table, and refuse it if LIMIT cut off rows of people before their aggregation."""
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
    """Return the names, with a number appended to each repetition, so that every column has a unique name."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        unique.append(name if seen[name] == 0 else f"{name}_{seen[name]}")
    return tuple(unique)
