"""Which clauses of a SELECT are understood, and what to say about the others."""

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.syntax import span_of

UNDERSTOOD = frozenset({"expressions", "from_", "where", "group", "having", "order", "limit", "offset"})

REFUSED = {
    "joins": ("join", "Joins are not available yet.", "Ask about one table at a time."),
    "with_": ("cte", "WITH is not available yet.", "Write one SELECT over a table."),
    "distinct": ("distinct", "SELECT DISTINCT is not available.", "GROUP BY the columns instead."),
    "qualify": ("qualify", "QUALIFY is not available yet.", "Use HAVING."),
    "windows": ("window", "WINDOW is not available yet.", None),
    "laterals": ("lateral", "LATERAL is not available.", None),
    "pivots": ("pivot", "PIVOT is not available.", "GROUP BY the columns instead."),
    "sample": ("sample", "Sampling is not available.", "Every row is weighted already; ask for all of them."),
    "locks": ("lock", "FOR UPDATE makes no sense here: nothing is ever written.", None),
    "into": ("into", "SELECT INTO would write; only reading is possible.", None),
}


def check_clauses(select: exp.Select) -> None:
    """Refuse every clause that is not on the list."""
    for name, value in select.args.items():
        if name in UNDERSTOOD or not value:
            continue
        code, message, hint = REFUSED.get(
            name, ("clause", f"The clause {name.strip('_').upper()} is not available.", None)
        )
        node = value[0] if isinstance(value, list) else value
        raise UnsupportedSQLError(
            message, code=code, hint=hint, span=span_of(node) if isinstance(node, exp.Expr) else None
        )


def check_group(group: exp.Group | None) -> None:
    """GROUP BY takes expressions; grouping sets come later."""
    if group is None:
        return
    for node in group.expressions:
        if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
            raise UnsupportedSQLError(
                f"GROUP BY {type(node).__name__.upper()} is not available yet.",
                code="grouping-sets",
                hint="GROUP BY plain expressions.",
                span=span_of(node),
            )
    for name, value in group.args.items():
        if name != "expressions" and value:
            raise UnsupportedSQLError(
                f"GROUP BY {name.strip('_').replace('_', ' ').upper()} is not available yet.",
                code="grouping-sets",
                hint="GROUP BY plain expressions.",
                span=span_of(group),
            )
