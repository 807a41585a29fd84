"""The clauses of a SELECT: the allowed ones, its list, GROUP BY, LIMIT, and joins that are conditions."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from hedgerow.catalog.names import fold
from hedgerow.errors import UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.scope import Item, RowScope
from hedgerow.plan.syntax import arguments_of, span_of, text_of

UNDERSTOOD = frozenset(
    {
        "expressions",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "qualify",
        "windows",
        "distinct",
        "order",
        "limit",
        "offset",
        "with_",
    }
)

REFUSED = {
    "laterals": ("lateral", "LATERAL is not available.", "Join the tables, or use a subquery."),
    "pivots": ("pivot", "PIVOT is not available.", "Write one aggregate with FILTER (WHERE …) for each column."),
    "sample": ("sample", "Sampling is not available.", "Leave it out, and ask about all rows."),
    "locks": ("lock", "FOR UPDATE makes no sense here: nothing is ever written.", "Leave it out."),
    "into": ("into", "SELECT INTO would write; only reading is possible.", "Leave it out."),
}


def check_clauses(select: exp.Expr, understood: frozenset[str] = UNDERSTOOD) -> None:
    """Refuse every clause that is not on the list."""
    for name, value in select.args.items():
        if name in understood or not value:
            continue
        code, message, hint = REFUSED.get(
            name, ("clause", f"The clause {name.strip('_').upper()} is not available.", "Leave it out.")
        )
        node = value[0] if isinstance(value, list) else value
        raise UnsupportedSQLError(
            message, code=code, hint=hint, span=span_of(node if isinstance(node, exp.Expr) else select)
        )


def is_bare(query: exp.Expr) -> bool:
    """Return True if parentheses around a query hold nothing but the query."""
    return not any(value for name, value in query.args.items() if name != "this")


def whole_number(select: exp.Expr, clause: str, binder: ScalarBinder) -> int | None:
    """Return the number of LIMIT or OFFSET."""
    node = select.args.get(clause)
    if node is None:
        return None
    name = "count" if isinstance(node, exp.Fetch) else "expression"
    options = node.args.get("limit_options")
    known = isinstance(node, exp.Limit | exp.Offset | exp.Fetch) and (
        arguments_of(node, (name, "direction", "limit_options"), ordered=False) is not None
        and not (options is not None and (options.args.get("percent") or options.args.get("with_ties")))
    )
    number = node.args.get(name)
    while isinstance(number, exp.Cast) and number.to.is_type(*exp.DataType.INTEGER_TYPES):
        number = number.this  # SQLAlchemy writes LIMIT $1::INTEGER
    bound = binder.bind(number) if known and number is not None else None
    if not isinstance(bound, Literal) or bound.type is not Type.INTEGER or int(bound.value) < 0:  # type: ignore[arg-type]
        raise UnsupportedSQLError(
            f"{clause.upper()} needs a whole number.",
            code="bad-limit",
            hint=f"For instance {clause.upper()} 10.",
            span=span_of(node),
        )
    return int(bound.value)  # type: ignore[arg-type]


def semi_joins_as_conditions(select: exp.Select) -> exp.Select:
    """Rewrite SEMI and ANTI joins as EXISTS and NOT EXISTS in WHERE."""
    joins = select.args.get("joins") or []
    semi = [join for join in joins if str(join.args.get("kind") or "").upper() in {"SEMI", "ANTI"}]
    if not semi:
        return select
    if any(str(join.args.get("side") or "").upper() in {"RIGHT", "FULL"} for join in joins):
        raise UnsupportedSQLError(
            "SEMI and ANTI joins next to RIGHT or FULL joins are not available.",
            code="bad-join",
            hint="Write WHERE EXISTS (SELECT 1 FROM …).",
            span=span_of(semi[0]),
        )
    plain = select.copy()
    plain.set("joins", [join.copy() for join in joins if join not in semi])
    for join in semi:
        plain = plain.where(_exists(join), copy=False)
    return plain


def _exists(join: exp.Join) -> exp.Expr:
    if join.args.get("on") is None:
        raise UnsupportedSQLError(
            "A SEMI or ANTI join needs ON.", code="bad-join", hint="Write SEMI JOIN b ON …", span=span_of(join)
        )
    inner = exp.select(exp.Literal.number(1)).from_(join.this.copy()).where(join.args["on"].copy())
    exists = exp.Exists(this=inner)
    return exp.Not(this=exists) if str(join.args["kind"]).upper() == "ANTI" else exists


MAX_SETS = 64

Resolve = Callable[[exp.Expr], exp.Expr]
Sets = list[list[exp.Expr]]


def grouping_sets(group: exp.Group | None, resolve: Resolve) -> Sets:
    """Return the sets of expressions in GROUP BY; plain GROUP BY is one set.

    Several parts (`GROUP BY a, ROLLUP (b, c)`) are combined as in SQL: every choice of one set from each.
    """
    if group is None:
        return [[]]
    extra = [name for name, value in group.args.items() if name not in {"expressions", "all", *_KINDS} and value]
    if extra:
        raise UnsupportedSQLError(
            f"GROUP BY {extra[0].upper()} is not available.",
            code="grouping-sets",
            hint="GROUP BY takes expressions, ROLLUP, CUBE, GROUPING SETS and ALL.",
            span=span_of(group),
        )
    nodes = list(group.expressions)
    for kind in _KINDS:
        value = group.args.get(kind)
        nodes += value if isinstance(value, list) else ([value] if isinstance(value, exp.Expr) else [])
    nodes = _with_all(nodes)
    if math.prod(_count(node) for node in nodes) > MAX_SETS:
        raise UnsupportedSQLError(
            f"GROUP BY makes more than {MAX_SETS} grouping sets.",
            code="grouping-sets",
            hint="Name the sets you need: GROUPING SETS ((a, b), (a), ()).",
            span=span_of(group),
        )
    parts: list[Sets] = [_sets(node, resolve) for node in nodes]
    return [[node for part in choice for node in part] for choice in itertools.product(*parts)]


def _count(node: exp.Expr) -> int:
    """Number of grouping sets of one part of GROUP BY."""
    size = len(node.expressions)
    if isinstance(node, exp.Rollup):
        return size + 1
    if isinstance(node, exp.Cube):
        return 1 << min(size, MAX_SETS)
    return sum(_count(part) for part in node.expressions) if isinstance(node, exp.GroupingSets) else 1


_KINDS = ("rollup", "cube", "grouping_sets")


def _with_all(nodes: list[exp.Expr]) -> list[exp.Expr]:
    """Bind GROUP BY a, b WITH ROLLUP (or CUBE), which applies to all expressions of GROUP BY."""
    bare = [node for node in nodes if isinstance(node, exp.Rollup | exp.Cube) and not node.expressions]
    if not bare:
        return nodes
    rest = [node for node in nodes if node is not bare[0]]
    if any(isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets) for node in rest) or not rest:
        raise UnsupportedSQLError(
            "WITH ROLLUP and WITH CUBE cannot be combined with other grouping sets.",
            code="grouping-sets",
            hint="Write GROUP BY ROLLUP (a, b).",
            span=span_of(bare[0]) or span_of(rest[0]) if rest else None,
        )
    return [type(bare[0])(expressions=rest)]


def _sets(node: exp.Expr, resolve: Resolve) -> Sets:
    if isinstance(node, exp.Rollup):
        units = [_unit(part, resolve) for part in node.expressions]
        return [_flat(units[:size]) for size in range(len(units), -1, -1)]
    if isinstance(node, exp.Cube):
        units = [_unit(part, resolve) for part in node.expressions]
        sizes = range(len(units), -1, -1)
        return [_flat(choice) for size in sizes for choice in itertools.combinations(units, size)]
    if isinstance(node, exp.GroupingSets):
        return [inner for part in node.expressions for inner in _sets(part, resolve)]
    return [_unit(node, resolve)]


def _unit(node: exp.Expr, resolve: Resolve) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return [resolve(part) for part in node.expressions]
    return [resolve(node.this if isinstance(node, exp.Paren) else node)]


def _flat(units: Sequence[list[exp.Expr]]) -> list[exp.Expr]:
    return [node for unit in units for node in unit]


@dataclass(frozen=True)
class Shown:
    """One column of a SELECT list: its name and its syntax."""

    name: str
    node: exp.Expr


def shown_columns(select: exp.Select, scope: RowScope) -> list[Shown]:
    """Return name and syntax of every output column; a star stands for all visible columns."""
    shown: list[Shown] = []
    for node in select.expressions:
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Star):
            shown += _star(inner, scope.items, scope)
        elif isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star):
            items = tuple(item for item in scope.items if fold(item.name) == fold(inner.table))
            if not items:
                raise UnknownNameError(
                    f"There is no table {inner.table!r} in this query.",
                    code="unknown-table",
                    hint=f"FROM names {', '.join(item.name for item in scope.items) or 'none'}.",
                    span=span_of(node),
                )
            shown += _star(inner.this, items, None)
        else:
            shown.append(Shown(node.alias or inner.output_name or text_of(inner).lower(), inner))
    return shown


def _star(star: exp.Star, items: tuple[Item, ...], scope: RowScope | None) -> list[Shown]:
    extra = [name for name, value in star.args.items() if name not in {"except_", "except"} and value]
    if extra or not items:
        raise UnsupportedSQLError(
            "This form of * is not available.", code="star", hint="Name the columns.", span=span_of(star)
        )
    left_out = {fold(node.name) for node in star.args.get("except_") or star.args.get("except") or []}
    columns: dict[tuple[str, str], Shown] = {}
    for item in items:
        for name, spelling in item.shown.items():
            merged = scope is not None and name in scope.merged
            if name in left_out or (name not in item.columns):
                continue
            column = exp.column(
                exp.to_identifier(spelling, quoted=True), None if merged else exp.to_identifier(item.name, quoted=True)
            )
            column.this.meta.update(star.meta)
            columns.setdefault(("" if merged else item.name, name), Shown(spelling, column))
    return list(columns.values())
