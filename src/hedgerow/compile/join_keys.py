"""Joins on computed values, for an engine that uses an index only for joins on columns.

SQLite converts a timestamp with a Python function and would call it for every pair of rows. So each compared value is
computed once for each row of the right side, as an additional column.
"""

from collections.abc import Iterator

from hedgerow.compile.scalars import scalar
from hedgerow.dialects import Dialect
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, columns_of, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.facts import conjuncts
from hedgerow.plan.nodes import Join, rewrite

EQUAL = frozenset({"equal", "is_not_distinct"})
SAME = EQUAL | {"same_text"}
DEAR = frozenset({Type.TIME, Type.TIMESTAMP})
"""Types whose values are worth computing once even where the join is also on a stored column."""


def with_join_keys(join: Join, right: str, dialect: Dialect) -> tuple[str, Expr | None]:
    """Return the right side of a join and its condition, with a column for each computed value in the condition.

    No row is added or dropped, and the same values are compared.
    """
    if join.condition is None or isinstance(join.right, Join) or not dialect.indexes_columns_alone:
        return right, join.condition
    alias = join.right.alias
    sides = [side for part in conjuncts(join.condition) for side in _sides_of(part, alias)]
    computed = [side for side in sides if not dialect.is_stored(side)]
    if len(computed) < len(sides):
        computed = [side for side in computed if side.type in DEAR]
    if not computed:
        return right, join.condition
    names = (name for number in range(2**31) if (name := f"hedgerow_key{number}") not in right)
    keys = {side: Column(next(names), side.type, collated=False, table=alias) for side in dict.fromkeys(computed)}
    listed = [f"{scalar(side, dialect)} AS {dialect.identifier(key.name)}" for side, key in keys.items()]
    written = dialect.computed_once(f"SELECT {', '.join(listed)}, {alias}.* FROM {right}")
    match = rewrite(join.condition, lambda node: keys.get(node) if isinstance(node, Call | Column) else None)
    return f"({written}) AS {alias}", match


def has_equality(join: Join) -> bool:
    """Return True if the condition of a join requires a value of the left side to equal one of the right side."""
    if join.condition is None or isinstance(join.right, Join):
        return False
    parts, alias = conjuncts(join.condition), join.right.alias
    alternatives = any(isinstance(part, Call) and part.function == "or" for part in walk(join.condition))
    return not alternatives and any(True for part in parts for _ in _sides_of(part, alias, SAME))


def _sides_of(condition: Expr, alias: str, equalities: frozenset[str] = EQUAL) -> Iterator[Expr]:
    """Yield the side of an equality that reads only this relation, where the other side does not read it."""
    if not isinstance(condition, Call) or condition.function not in equalities:
        return
    for side, other in (condition.arguments, condition.arguments[::-1]):
        read, read_beside = ({table for table, _ in columns_of(part_read)} for part_read in (side, other))
        is_plain = all(isinstance(part, Column | Literal | Call) for part in walk(side))
        if is_plain and read == {alias} and read_beside and alias not in read_beside:
            yield side
