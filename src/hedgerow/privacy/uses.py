"""Where the post-processing uses an aggregate: on its own, or in arithmetic with others."""

from hedgerow.error_bars.provenance.columns import single_row
from hedgerow.expressions.nodes import Nested, Window, columns_of, walk
from hedgerow.plan.nodes import LogicalPlan, Release


def shown_alone(plan: LogicalPlan, release: Release) -> list[bool]:
    """For each aggregate, whether no expression mixes it with another one, or with other groups."""
    found = single_row(plan.root)
    if found is None or found.release != release:
        return [False] * len(release.calls)
    names = {("", call.name) for call in release.calls}
    mixed = set[tuple[str, str]]()
    for expr in (*found.columns, *found.others):
        used = columns_of(expr) & names
        if len(used) > 1 or any(isinstance(part, Window | Nested) for part in walk(expr)):
            mixed |= used
    return [("", call.name) not in mixed for call in release.calls]


def used_together(plan: LogicalPlan, release: Release) -> int:
    """The most aggregates that one expression is made of; all there are where that cannot be told."""
    found = single_row(plan.root)
    if found is None or found.release != release:
        return max(1, len(release.calls))
    names = {("", call.name) for call in release.calls}
    return max((len(columns_of(expr) & names) for expr in found.columns), default=1) or 1
