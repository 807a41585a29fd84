"""Syntax that is another spelling of something else."""

from sqlglot import exp

from hedgerow.errors import UnsupportedSQLError
from hedgerow.plan.syntax import span_of


def semi_joins_as_conditions(select: exp.Select) -> exp.Select:
    """SEMI and ANTI joins as EXISTS and NOT EXISTS in WHERE."""
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
    found = exp.Exists(this=inner)
    return exp.Not(this=found) if str(join.args["kind"]).upper() == "ANTI" else found
