"""Ways to do without the path to the owner, over rows that cannot change.

    strays         a row, if some row of FROM does not lead to exactly one owner along its path. If there is none, the
                   path is not followed where nothing but the owner is read at its end.
    owner column   the owner of each row of a table, in the order in which the engine reads it, beside the columns
                   that the path starts from. The statement joins it by position.

Privacy: a join by position compares nothing, and a row with the wrong owner would void the limits. So the owner of a
row is read only if the columns of the row equal those that are kept with the owner; otherwise the statement fails, and
runs again along the path (`execution.run`). These columns determine the owner: the column is used only if it has as
many rows as the table, so that no row leads to two owners. Whatever the order of rows, each has its own owner.

DuckDB estimates that a join by position returns no rows, and would build a hash table of all of them to join them with
anything. So these statements look up the owners beyond a limit without a join, and count people without codes.
"""

from dataclasses import dataclass, replace

import pyarrow as pa

from hedgerow.compile.queries import BesideOwners, from_text
from hedgerow.compile.scalars import condition, render, scalar
from hedgerow.compiled import OWNERS, ROW, OwnerColumn, Query
from hedgerow.dialects import Dialect
from hedgerow.expressions.nodes import Call, Column, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.facts import conjuncts
from hedgerow.plan.nodes import From, Join, Release, Scan, inside
from hedgerow.privacy.plan import PrivatePlan

OTHER_ORDER = "The rows have another order than the owners."


def strays(release: Release, base: From, dialect: Dialect) -> Query:
    """Return the query for a row, if some row of `base` leads to no owner, or to several of them.

    Where no table of the path has a key twice, a row of `base` meets at most one row of the whole path, and each of
    them meets one if there are as many rows with the path as without.
    """
    along = f"FROM {from_text(release.source, dialect)} WHERE {scalar(release.owner, dialect)} IS NOT NULL"
    counts = [f"(SELECT {dialect.count()} {rows})" for rows in (f"FROM {from_text(base, dialect)}", along)]
    conditions = [f"{counts[0]} <> {counts[1]}"]
    for scan, columns in path_of(release.source):
        named = [scalar(column, dialect) for column in columns]
        repeated = f"SELECT {', '.join(named)} FROM {from_text(scan, dialect)}{dialect.group_by(named)}"
        conditions.append(f"EXISTS ({repeated} HAVING {dialect.count()} > 1)")
    return Query(f"SELECT 1 AS o WHERE {' OR '.join(conditions)}", ("o",), (), (pa.int64(),))


def path_of(source: From) -> list[tuple[Scan, list[Column]]]:
    """Return the tables that were added to reach the owner, with the columns that they are joined on."""
    steps = []
    while isinstance(source, Join) and isinstance(source.right, Scan) and source.right.added and source.kind == "inner":
        columns = _joined_on(source.condition, source.right.alias)
        if not columns:
            return []
        steps.append((source.right, columns))
        source = source.left
    return steps


def _joined_on(match: Expr | None, alias: str) -> list[Column]:
    """Return the columns of `alias` that equal columns of other tables; none if the condition is of another kind."""
    columns: list[Column] = []
    for part in [] if match is None else conjuncts(match):
        if not isinstance(part, Call) or part.function != "equal":
            return []
        own = [side for side in part.arguments if isinstance(side, Column) and side.table == alias]
        other = [side for side in part.arguments if isinstance(side, Column) and side.table != alias]
        if len(own) != 1 or len(other) != 1:
            return []
        columns += own
    return columns


def without_path(plan: PrivatePlan) -> PrivatePlan | None:
    """Return the plan without the path to the owner, if nothing but the owner is read along it; or None."""
    release = plan.release
    path = path_of(release.source)
    if not path:
        return None
    base: From = release.source
    for _ in path:
        base = base.left if isinstance(base, Join) else base
    added = {scan.alias for scan, _ in path}
    parts = (base, release.where, release.keys, release.calls, plan.sums)
    if any(isinstance(node, Column) and node.table in added for node in inside(parts)):
        return None
    return replace(plan, release=replace(release, source=base, owner=Literal(1, Type.INTEGER)))


# The owner column


@dataclass(frozen=True, slots=True)
class _Checked(Column):
    """The owner of a row, from the owner column: an error where the columns that the path starts from differ."""

    starts: tuple[Column, ...] = ()


@render.register
def _(expr: _Checked, dialect: Dialect) -> str:
    same = (dialect.same(f"{OWNERS}.k{i}", scalar(start, dialect), start.type) for i, start in enumerate(expr.starts))
    return f"CASE WHEN {' AND '.join(same)} THEN {OWNERS}.o ELSE error({dialect.string(OTHER_ORDER)}) END"


def beside_owners(plan: PrivatePlan, dialect: Dialect) -> tuple[PrivatePlan, OwnerColumn] | None:
    """Return the plan that reads the owner column of its table in place of the path, and that column; or None.

    Only whole numbers, whose size is known before they are read.
    """
    release, ownerless = plan.release, without_path(plan)
    base = None if ownerless is None else ownerless.release.source
    if not dialect.joins_by_position or not isinstance(base, Scan) or not isinstance(release.owner, Column):
        return None
    joins: list[Join] = []
    source = release.source
    while isinstance(source, Join):
        joins.insert(0, source)
        source = source.left
    named = [node for join in joins for node in inside(join.condition) if isinstance(node, Column)]
    starts = tuple(dict.fromkeys(column for column in named if column.table == base.alias))
    if any(column.type is not Type.INTEGER for column in (release.owner, *starts)) or not starts:
        return None
    if not isinstance(joins[-1].right, Scan) or release.owner.table != joins[-1].right.alias:
        return None
    owner = _Checked(release.owner.name, Type.INTEGER, starts=starts)
    read = replace(plan, release=replace(release, source=BesideOwners(base.table, base.alias), owner=owner))
    return read, _owner_column(base, starts, joins, release.owner, dialect)


def _owner_column(
    base: Scan, starts: tuple[Column, ...], joins: list[Join], owner: Column, dialect: Dialect
) -> OwnerColumn:
    """Return the queries for the number of rows, and for the owner of each in the order in which they are read.

    With outer joins, a row that leads to nobody stays, without an owner.
    """
    names = [dialect.identifier(start.name) for start in starts]
    table = f"{dialect.table(base.table)} AS {base.alias}"
    numbered = f"SELECT {', '.join(names)}, ROW_NUMBER() OVER () AS {ROW} FROM {table}"
    source = f"({numbered}) AS {base.alias}"
    for join in joins:
        match = None if join.condition is None else condition(join.condition, dialect)
        source = dialect.join(source, "left", from_text(join.right, dialect), match)
    starts_read = [f"CAST({scalar(start, dialect)} AS BIGINT) AS k{i}" for i, start in enumerate(starts)]
    columns = f"{', '.join(starts_read)}, CAST({scalar(owner, dialect)} AS BIGINT) AS o"
    sql = f"SELECT {columns} FROM {source} ORDER BY {base.alias}.{ROW}"
    integers = (*(f"k{i}" for i in range(len(starts))), "o")
    return OwnerColumn(
        rows=Query(f"SELECT {dialect.count()} AS n FROM {table}", (), ("n",)), column=Query(sql, (), integers)
    )
