"""Relations as SQL text: whole queries, FROM trees, nested queries and windows.

Some engines use an index only for joins on columns: SQLite converts a timestamp with a Python function and would call
it for every pair of rows. For these, each value that a join compares is computed once for each row of the right side,
as an additional column.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hedgerow.compile.memberships import with_memberships_joined
from hedgerow.compile.scalars import condition, plain, render, render_condition, scalar
from hedgerow.compiled import OWNERS
from hedgerow.dialects import Dialect, ExactAggregateCall, Over
from hedgerow.errors import InternalError
from hedgerow.expressions.nodes import Call, Column, Expr, Literal, Nested, Order, Window, columns_of, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.facts import conjuncts
from hedgerow.plan.nodes import (
    AggregateCall,
    Derived,
    From,
    Grouped,
    Join,
    Named,
    Query,
    Repartitioned,
    Scan,
    Select,
    SetOperation,
    Values,
    inside,
    rewrite,
)

OWNER = "o"


@dataclass(frozen=True, slots=True)
class BesideOwners(Scan):
    """All rows of a table, with the owner of each beside it, by position (`compile.paths`)."""


def query_text(query: Query, dialect: Dialect) -> str:
    """A query as text, nested as the tree is."""
    if isinstance(query, Select) and dialect.out_of_sight:
        query = _with_aggregates_inline(query, dialect)
    if isinstance(query, SetOperation):
        sides = [query_text(side, dialect) for side in (query.left, query.right)]
        return dialect.union(sides[0], f"{query.operator}{' ALL' if query.every else ''}", sides[1])
    written = [_key(c, dialect) if query.distinct else scalar(c.expr, dialect) for c in query.columns]
    named = zip(written, query.columns, strict=True)
    columns = ", ".join(f"{text} AS {dialect.identifier(c.name)}" for text, c in named)
    head = f"SELECT {'DISTINCT ' if query.distinct else ''}{columns or '1'}"
    body, where = head, query.where
    if query.source is not None:
        source, where = with_memberships_joined(query.source, where)
        body = f"{head} FROM {from_text(source, dialect)}"
    tail = dialect.tail(order_terms(query.order, dialect), query.limit, query.offset)
    return f"{body}{where_text(where, dialect)}{tail}"


@dataclass(frozen=True)
class _Inline(Column):
    """Placeholder for a column that is replaced by its aggregate."""

    text: str = ""


@render.register
def _(expr: _Inline, dialect: Dialect) -> str:  # noqa: ARG001 - it is written already
    return expr.text


def _with_aggregates_inline(query: Select, dialect: Dialect) -> Select:
    """Move aggregates over one group into SELECT itself: an engine may hide the outer row from a subquery in FROM."""
    grouped = query.source
    if not isinstance(grouped, Grouped) or grouped.keys or query.where or query.distinct or query.order:
        return query
    texts = {call.name: _call(call, dialect) for call in grouped.calls}

    def swap(node: object) -> object | None:
        if not isinstance(node, Column) or node.table != grouped.alias:
            return None
        return _Inline(node.name, node.type, nullable=node.nullable, native=node.native, text=texts[node.name])

    return replace(query, source=grouped.source, where=grouped.where, columns=rewrite(query.columns, swap))


def from_text(source: From, dialect: Dialect) -> str:
    """A FROM tree as text."""
    if isinstance(source, Derived | Grouped):
        read = {node.table for node in inside(source) if isinstance(node, Column)}
        if read & dialect.out_of_sight:
            raise dialect.lacks("a query in FROM that refers to a row around it")
    if isinstance(source, Scan):
        beside = f" POSITIONAL JOIN {OWNERS}" if isinstance(source, BesideOwners) else ""
        return f"{dialect.table(source.table)} AS {source.alias}{beside}"
    if isinstance(source, Derived):
        text = query_text(source.query, dialect)
        return f"({dialect.repartitioned(text) if isinstance(source, Repartitioned) else text}) AS {source.alias}"
    if isinstance(source, Join):
        return _join(source, dialect)
    if isinstance(source, Grouped):
        return f"({_grouped(source, dialect)}) AS {source.alias}"
    if isinstance(source, Values):
        return dialect.values([[scalar(cell, dialect) for cell in row] for row in source.rows], source.alias)
    raise InternalError("A released table has no place in the database.")


def _join(join: Join, dialect: Dialect) -> str:
    left, right = from_text(join.left, dialect), from_text(join.right, dialect)
    if isinstance(join.right, Join) and not dialect.nests_joins:
        raise dialect.lacks("a join in parentheses")
    if dialect.joins_by_equality and join.kind in {"left", "full"} and not has_equality(join):
        raise dialect.lacks("an outer join without an equality between both sides")
    if isinstance(join.right, Join):
        right = f"({right})"
    right, match = with_join_keys(join, right, dialect)
    return dialect.join(left, join.kind, right, None if match is None else condition(match, dialect))


def _grouped(grouped: Grouped, dialect: Dialect) -> str:
    keys = [f"{_key(k, dialect)} AS {dialect.identifier(k.name)}" for k in grouped.keys]
    calls = [f"{_call(call, dialect)} AS {dialect.identifier(call.name)}" for call in grouped.calls]
    source, where = with_memberships_joined(grouped.source, grouped.where)
    columns = ", ".join([*keys, *calls]) or "1"
    return (
        f"SELECT {columns} FROM {from_text(source, dialect)}{where_text(where, dialect)}{_group_by(grouped, dialect)}"
    )


def _key(named: Named, dialect: Dialect) -> str:
    """Return a key; an owner is written as it is, because the database decides which owners are equal."""
    return scalar(named.expr, dialect) if named.name == OWNER else plain(named.expr, dialect)


def _group_by(grouped: Grouped, dialect: Dialect) -> str:
    if grouped.sets is not None:
        texts = [plain(k.expr, dialect) for k in grouped.keys]
        return dialect.grouping_sets([[texts[i] for i in places] for places in grouped.sets])
    return dialect.group_by([_key(k, dialect) for k in grouped.keys])


def _call(call: AggregateCall, dialect: Dialect) -> str:
    if call.function == "GROUPING":
        return f"GROUPING({', '.join(plain(a, dialect) for a in call.arguments)})"
    return _summary(call, None, dialect)


def _summary(call: AggregateCall | Window, over: Over | None, dialect: Dialect) -> str:
    return dialect.exact_aggregate(
        ExactAggregateCall(
            call.function,
            tuple(scalar(argument, dialect) for argument in call.arguments),
            tuple(argument.type for argument in call.arguments),
            distinct=call.distinct,
            filter=None if call.filter is None else condition(call.filter, dialect),
            over=over,
            arguments=call.arguments,
        )
    )


def where_text(where: Sequence[Expr], dialect: Dialect) -> str:
    """Return WHERE, if there is a condition."""
    return f" WHERE {' AND '.join(condition(c, dialect) for c in where)}" if where else ""


def order_terms(terms: Sequence[Order], dialect: Dialect) -> list[str]:
    """Return the terms of ORDER BY, without duplicates and constants, which some engines take for positions."""
    columns = [term for term in terms if any(not isinstance(part, Literal | Call) for part in walk(term.expr))]
    unique: dict[str, Order] = {}
    for term in columns:
        unique.setdefault(plain(term.expr, dialect), term)
    directions: dict[str, str] = {}
    for text, term in unique.items():
        for expression, direction in dialect.order(
            text, term.expr.type, descending=term.descending, nulls_first=term.nulls_first
        ):
            directions.setdefault(expression, direction)
    return [f"{expression} {direction}" for expression, direction in directions.items()]


def limit_text(query: Select, dialect: Dialect) -> str:
    """LIMIT and OFFSET."""
    return dialect.limit(query.limit, query.offset)


@render.register
def _(expr: Window, dialect: Dialect) -> str:
    partition = [plain(part, dialect) for part in expr.partition]
    return _summary(expr, Over(partition, order_terms(expr.order, dialect), expr.frame), dialect)


@render.register
def _(expr: Nested, dialect: Dialect) -> str:
    if not isinstance(expr.query, Select | SetOperation):
        raise InternalError("A nested query has no statement.")
    if expr.kind == "scalar":
        return dialect.one_value(query_text(expr.query, dialect.inside(expr.outer)), _over_nothing(expr.query, dialect))
    membership = dialect.predicate(_membership(expr, dialect))
    if expr.kind != "in own":
        return membership
    return f"CASE WHEN {scalar(expr.arguments[0], dialect)} IS NOT NULL THEN {membership} END"


@render_condition.register
def _(expr: Nested, dialect: Dialect) -> str:
    if expr.kind in {"exists", "in"}:
        return _membership(expr, dialect)
    return dialect.condition(scalar(expr, dialect))


def _membership(expr: Nested, dialect: Dialect) -> str:
    """Return EXISTS or IN as a condition."""
    if not isinstance(expr.query, Select | SetOperation):
        raise InternalError("A nested query has no statement.")
    text = query_text(expr.query, dialect.inside(expr.outer))
    if expr.kind == "exists":
        return f"EXISTS ({text})"
    return dialect.among(scalar(expr.arguments[0], dialect), text, correlated=bool(expr.outer))


def _over_nothing(query: Query, dialect: Dialect) -> str | None:
    """Return the value of an aggregation without keys over no rows; None where a query over no rows returns no row."""
    if not isinstance(query, Select) or not isinstance(query.source, Grouped) or query.source.keys or query.where:
        return None
    calls = {call.name: call.function for call in query.source.calls}

    def swap(node: object) -> object | None:
        if not isinstance(node, Column) or node.name not in calls:
            return None
        return Literal(0, Type.INTEGER) if calls[node.name] == "COUNT" else Literal(None, Type.NULL)

    return scalar(rewrite(query.columns[0].expr, swap), dialect)


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
