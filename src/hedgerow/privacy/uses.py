"""Uses of an aggregate in post-processing: on its own, or in arithmetic with others."""

from hedgerow.error_bars.provenance.columns import single_row
from hedgerow.expressions.nodes import Nested, Window, columns_of, walk
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.recently_used import once_per_plan


def shown_alone(plan: LogicalPlan, release: Release) -> list[bool]:
    """Return, for each aggregate, whether no expression combines it with another one or with other groups."""
    output = single_row(plan.root)
    if output is None or output.release != release:
        return [False] * len(release.calls)
    names = {("", call.name) for call in release.calls}
    mixed = set[tuple[str, str]]()
    for expr in (*output.columns, *output.others):
        used = columns_of(expr) & names
        if len(used) > 1 or any(isinstance(part, Window | Nested) for part in walk(expr)):
            mixed |= used
    return [("", call.name) not in mixed for call in release.calls]


@once_per_plan
def used_together(plan: LogicalPlan, release: Release) -> int:
    """Return the largest number of aggregates in one expression; all of them where that is unknown."""
    output = single_row(plan.root)
    if output is None or output.release != release:
        return max(1, len(release.calls))
    names = {("", call.name) for call in release.calls}
    return max((len(columns_of(expr) & names) for expr in output.columns), default=1) or 1
