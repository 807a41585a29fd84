"""Names and types resolved against the catalog; anything outside the subset refused."""

from sqlglot import exp

from hedgerow.catalog.model import Catalog
from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.literals import Parameters
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.plan.select import SelectBinder
from hedgerow.plan.sources import Bounds
from hedgerow.plan.syntax import span_of
from hedgerow.schema import Schema


def bind(
    query: exp.Query, catalog: Catalog, schema: Schema, *, params: Parameters = None, bounds: Bounds | None = None
) -> LogicalPlan:
    """The plan that `query` stands for.

    Privacy: only what is bound here can reach a database, and only through our own nodes. Names
    resolve against the catalog alone; syntax that has no node is refused.
    """
    if not isinstance(query, exp.Select):
        raise UnsupportedSQLError(
            f"{type(query).__name__.upper()} is not available yet.",
            code="set-operation",
            hint="Ask the parts one by one.",
            span=span_of(query),
        )
    return SelectBinder(query, catalog, schema, params, bounds or {}).bind()
