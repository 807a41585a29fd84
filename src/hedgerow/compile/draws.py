"""The post-processing over many draws of the noise at once.

Every released table has the number of its draw as an additional column, and the post-processing is a lateral query
over the table of draws. So every join, window, group and nested query stays within one draw.
"""

from collections.abc import Sequence
from dataclasses import replace

from hedgerow.compile.postprocessing import public_tables
from hedgerow.compile.queries import query_text
from hedgerow.compiled import DRAW, DRAWS, RELEASED
from hedgerow.dialects import Dialect
from hedgerow.expressions.nodes import Call, Column, Window, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Derived, LogicalPlan, Named, Released, Scan, Select, inside, rewrite


def draws_text(plan: LogicalPlan, dialect: Dialect) -> str:
    """The columns of the post-processing for every draw, without HAVING, ORDER BY and LIMIT: a row per key and draw."""
    root = replace(plan.root, order=(), limit=None, offset=0)
    if not any(isinstance(part, Window) for column in root.columns for part in walk(column.expr)):
        root = replace(root, where=())
    body = query_text(_by_draw(root, plan), dialect)
    draw = dialect.identifier(DRAW)
    return f"SELECT {DRAWS}.{draw} AS {draw}, shown.* FROM {DRAWS}, LATERAL ({body}) AS shown"


def quantiles_text(
    plan: LogicalPlan, dialect: Dialect, keys: Sequence[str], numbers: Sequence[str], ends: tuple[float, float]
) -> str:
    """For each key the number of rows and of draws; for each number two quantiles, a count, the minimum, the mean."""
    named = [dialect.identifier(name) for name in keys]
    draw = dialect.identifier(DRAW)
    shown = [*named, "COUNT(*) AS hedgerow_rows", f"SUM({draw}) AS hedgerow_draws_sum"]
    for index, name in enumerate(numbers):
        value = f"CAST({dialect.identifier(name)} AS DOUBLE)"
        shown += [
            f"quantile_cont({value}, [{ends[0]!r}, {ends[1]!r}]) AS hedgerow_q{index}",
            f"COUNT(*) FILTER (WHERE isfinite({value})) AS hedgerow_c{index}",
            f"MIN({value}) AS hedgerow_m{index}",
            f"AVG({value}) FILTER (WHERE isfinite({value})) AS hedgerow_a{index}",
        ]
    grouped = f" GROUP BY {', '.join(named)}" if named else ""
    return f"SELECT {', '.join(shown)} FROM ({draws_text(plan, dialect)}) AS drawn{grouped}"


def _by_draw(query: Select, plan: LogicalPlan) -> Select:
    public = public_tables(plan)

    def swap(node: object) -> object | None:
        if isinstance(node, Released):
            return _one_draw(node, plan)
        if isinstance(node, Scan):
            return Scan(public[node.table], node.alias)
        return None

    return rewrite(query, swap)


def columns_used(plan: LogicalPlan) -> frozenset[str]:
    """Return the names of all columns that the post-processing reads; a table of draws needs no others."""
    shown = (column.expr for column in plan.root.columns)
    return frozenset(part.name for part in (*inside(plan.root), *inside(tuple(shown))) if isinstance(part, Column))


def _one_draw(node: Released, plan: LogicalPlan) -> Derived:
    """Return the rows of a released table that belong to the current draw."""
    index = plan.releases.index(node.release)
    whole = "every_draw"
    names = [(key.name, key.expr.type) for key in node.release.keys] + [(c.name, c.type) for c in node.release.calls]
    read = columns_used(plan)
    columns = tuple(Named(name, Column(name, kind, table=whole)) for name, kind in names if name in read)
    sides = (Column(DRAW, Type.INTEGER, table=whole), Column(DRAW, Type.INTEGER, table=DRAWS))
    here = Call("equal", sides, Type.BOOLEAN)
    return Derived(Select(Scan(f"{RELEASED}{index}", whole), (here,), columns), node.alias)
