"""The post-processing: SQL over released numbers, in a database of its own.

Released and public tables have internal names there. Where every output row comes from one released row, the number of
that row is an additional column, for its error bars. Where the output is a released table as it is, no SQL has to run.

For simulated error bars it runs over many draws of the noise at once. Every released table then has the number of its
draw as an additional column, and the post-processing is a lateral query over the table of draws. So every join, window,
group and nested query stays within one draw.

Privacy: the order of rows depends on released values alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hedgerow.compile.queries import limit_text, query_text
from hedgerow.compiled import DRAW, DRAWS, PUBLIC, RELEASED, ROW
from hedgerow.dialects import Dialect
from hedgerow.error_bars.provenance.columns import is_noisy, single_row
from hedgerow.error_bars.provenance.origins import Origin, row_origin
from hedgerow.error_bars.provenance.rewriting import with_provenance
from hedgerow.expressions.nodes import Call, Column, Expr, Nested, Order, Window, columns_of, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import (
    Derived,
    From,
    Join,
    LogicalPlan,
    Named,
    Query,
    Release,
    Released,
    Scan,
    Select,
    inside,
    releases_of,
    rewrite,
    scans_of,
)
from hedgerow.recently_used import once_per_plan


@dataclass(frozen=True)
class Postprocess:
    """The SQL text, and the origin of each number.

    `release` is the one that every row comes from, if any. `picked` is set if the output is the whole released table,
    row by row: the name of each output column, and the released column that it is.
    """

    sql: str
    origins: tuple[Origin, ...] = ()
    release: Release | None = None
    picked: tuple[tuple[str, str], ...] | None = None


@once_per_plan
def postprocess(
    plan: LogicalPlan, dialect: Dialect, *, origins: bool = True, max_rows: int | None = None
) -> Postprocess:
    """Return the post-processing of a plan, limited to `max_rows` rows; without `origins`, only the output columns."""
    whole, traced, release = _with_origins(plan) if origins else (plan.root, (), None)
    numbered = _numbered(whole)
    root = at_most(numbered or whole, max_rows)
    last = [ROW] if numbered else [column.name for column in plan.root.columns]
    if root.order:
        return Postprocess(_ordered_inside(root, plan, last, dialect), traced, release)
    body = query_text(localised(replace(root, limit=None, offset=0), plan), dialect)
    listed = ", ".join(dialect.identifier(column.name) for column in root.columns)
    order = ", ".join(f"{dialect.identifier(name)} NULLS LAST" for name in last)
    text = f"SELECT {listed} FROM ({body}) AS shown ORDER BY {order}{limit_text(root, dialect)}"
    return Postprocess(text, traced, release, None if release is None else _picked(numbered))


def _picked(query: Select | None) -> tuple[tuple[str, str], ...] | None:
    """Return the released column behind each output column; None if anything is computed, dropped or ordered."""
    if query is None or not isinstance(query.source, Released) or query.where or query.offset:
        return None
    if query.order or query.limit is not None:
        return None
    released = [column.expr for column in query.columns if isinstance(column.expr, Column)]
    if len(released) < len(query.columns) or any(column.table != query.source.alias for column in released):
        return None
    return tuple((named.name, column.name) for named, column in zip(query.columns, released, strict=True))


def at_most(query: Select, max_rows: int | None) -> Select:
    """Return the query, limited to `max_rows` rows; None means no limit."""
    limits = [limit for limit in (query.limit, max_rows) if limit is not None]
    return replace(query, limit=min(limits, default=None))


def _with_origins(plan: LogicalPlan) -> tuple[Select, tuple[Origin, ...], Release | None]:
    """Add the columns that the origins refer to; the row number is enough if each row comes from one released row."""
    rows = single_row(plan.root)
    if rows is not None and all(_is_simple(expr, rows.release) for expr in rows.columns):
        index = plan.releases.index(rows.release)
        return plan.root, tuple(row_origin(expr, rows.release, index) for expr in rows.columns), rows.release
    provenance = with_provenance(plan.root, plan.releases)
    return provenance.query if isinstance(provenance.query, Select) else plan.root, provenance.origins, None


def _is_simple(expr: Expr, release: Release) -> bool:
    """Return True if the released numbers of the row are enough to follow the expression.

    Noise-free parts that must be computed, such as a comparison of keys, are left to SQL.
    """
    names = {("", call.name) for call in release.calls}
    parts = list(walk(expr))
    if any(isinstance(part, Window) or (isinstance(part, Nested) and is_noisy(part.query)) for part in parts):
        return False
    if any(isinstance(part, Column) and part.table for part in parts):
        return False
    noise_free = [part for part in parts if isinstance(part, Call) and not columns_of(part) & names]
    return len(noise_free) == 0 or not columns_of(expr) & names


def _ordered_inside(root: Select, plan: LogicalPlan, last: Sequence[str], dialect: Dialect) -> str:
    """Return the query's own ORDER BY, with ties ordered by the output columns."""
    shown = {column.name: column.expr for column in root.columns}
    ties = tuple(Order(shown[name], descending=False, nulls_first=False) for name in last)
    return query_text(localised(replace(root, order=(*root.order, *ties)), plan), dialect)


def localised(query: Select, plan: LogicalPlan) -> Select:
    """Return the query over the tables of the post-processing engine."""
    public = public_tables(plan)

    def swap(node: object) -> object | None:
        if isinstance(node, Released):
            return Scan(f"{RELEASED}{plan.releases.index(node.release)}", node.alias)
        if isinstance(node, Scan):
            return Scan(public[node.table], node.alias)
        return None

    return rewrite(query, swap)


@once_per_plan
def public_tables(plan: LogicalPlan) -> dict[str, str]:
    """Return the public tables that the post-processing reads, each with its name in the post-processing engine.

    That name is a number, because the owner's engine may distinguish names that are equal there (`T`, `t`).
    """

    def swap(node: object) -> object | None:
        return Scan("", "") if isinstance(node, Released) else None

    scans = scans_of(rewrite(plan.root, swap))
    names = sorted({scan.table for scan in scans if scan.table})
    return {name: f"{PUBLIC}{number}" for number, name in enumerate(names)}


def _numbered(query: Query) -> Select | None:
    """The query with the number of the released row as its last column; None where rows have no single origin."""
    if not isinstance(query, Select) or query.distinct or query.source is None:
        return None
    origin = _origin(query.source)
    if origin is None:
        return None
    source, column = origin
    return replace(query, source=source, columns=(*query.columns, Named(ROW, column)))


def _origin(source: From) -> tuple[From, Column] | None:
    if isinstance(source, Released):
        return source, Column(ROW, Type.INTEGER, table=source.alias)
    if isinstance(source, Derived):
        inner = _numbered(source.query)
        return None if inner is None else (Derived(inner, source.alias), Column(ROW, Type.INTEGER, table=source.alias))
    if isinstance(source, Join) and not _releases(source.right):
        left = _origin(source.left) if source.kind in {"inner", "cross", "left"} else None
        return None if left is None else (replace(source, left=left[0]), left[1])
    if isinstance(source, Join) and not _releases(source.left) and source.kind in {"inner", "cross"}:
        right = _origin(source.right)
        return None if right is None else (replace(source, right=right[0]), right[1])
    return None


def _releases(source: From) -> bool:
    return bool(releases_of(Select(source, (), ())))


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
    """Return counts of rows and draws for each key; for each number two quantiles, a count, minimum and mean."""
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
