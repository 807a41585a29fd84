"""Which names WITH has given to queries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.rows import Table
from hedgerow.plan.scope import fold
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
        """With the queries of a WITH clause, each of which sees those before it. Each is bound once."""
        if with_ is None:
            return self
        if with_.args.get("recursive") and any(_names_itself(cte) for cte in with_.expressions):
            raise UnsupportedSQLError(
                "A recursive query has no bound on how often a row is used.",
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
            here = Environment({**here.tables, name: _renamed(bind(cte.this, here), cte)})
        return here


def _renamed(table: Table, cte: exp.CTE) -> Table:
    columns = cte.args["alias"].args.get("columns") if cte.args.get("alias") else None
    return with_names(table, [identifier.name for identifier in columns or []], cte)


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


def _names_itself(cte: exp.CTE) -> bool:
    return any(fold(found.name) == fold(cte.alias) for found in cte.this.find_all(exp.Table))
