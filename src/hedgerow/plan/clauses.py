"""Which clauses of a SELECT are understood, and what to say about the others."""

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.nodes import Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.scalar import ScalarBinder
from hedgerow.plan.syntax import arguments_of, span_of

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
    "sample": ("sample", "Sampling is not available.", "Every row is weighted already; ask for all of them."),
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
    """Whether parentheses around a query hold nothing but the query."""
    return not any(value for name, value in query.args.items() if name != "this")


def whole_number(select: exp.Expr, clause: str, binder: ScalarBinder) -> int | None:
    """The number of LIMIT or OFFSET."""
    node = select.args.get(clause)
    if node is None:
        return None
    name = "count" if isinstance(node, exp.Fetch) else "expression"
    options = node.args.get("limit_options")
    known = isinstance(node, exp.Limit | exp.Offset | exp.Fetch) and (
        arguments_of(node, (name, "direction", "limit_options"), ordered=False) is not None
        and not (options is not None and (options.args.get("percent") or options.args.get("with_ties")))
    )
    bound = binder.bind(node.args[name]) if known and node.args.get(name) is not None else None
    if not isinstance(bound, Literal) or bound.type is not Type.INTEGER or int(bound.value) < 0:  # type: ignore[arg-type]
        raise UnsupportedSQLError(
            f"{clause.upper()} needs a whole number.",
            code="bad-limit",
            hint=f"For instance {clause.upper()} 10.",
            span=span_of(node),
        )
    return int(bound.value)  # type: ignore[arg-type]
