"""Where the after part uses an aggregate: on its own, or in arithmetic with others."""

from hedgerow.expressions.nodes import Expr, columns_of
from hedgerow.plan.nodes import Filter, Limit, LogicalPlan, Project, Relation, Sort


def expressions(relation: Relation) -> list[Expr]:
    """All expressions of the after part."""
    found: list[Expr] = []
    while isinstance(relation, Project | Filter | Sort | Limit):
        if isinstance(relation, Project):
            found += [column.expr for column in relation.columns]
        elif isinstance(relation, Filter):
            found.append(relation.predicate)
        elif isinstance(relation, Sort):
            found += [term.expr for term in relation.terms]
        relation = relation.source
    return found


def shown_alone(plan: LogicalPlan) -> list[bool]:
    """For each aggregate, whether no expression mixes it with another one."""
    if plan.release is None:
        return []
    names = {call.name for call in plan.release.calls}
    mixed = [used for used in (columns_of(e) & names for e in expressions(plan.root)) if len(used) > 1]
    return [all(call.name not in used for used in mixed) for call in plan.release.calls]
