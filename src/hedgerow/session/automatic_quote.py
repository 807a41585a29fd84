"""The quote of a statement whose bounds have yet to be found: what it would cost in all, and what cannot be said."""

import math
from collections.abc import Callable
from dataclasses import replace

from hedgerow.accounting.budget import Spending
from hedgerow.calibration.automatic import Automatic
from hedgerow.execution.request import Asked
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.session.quote import Quote

FOUND_FIRST = (
    "Bounds, or how many rows one person counts for, would be found first, for a part of epsilon; errors that depend "
    "on them cannot be told before."
)


def quoted(automatic: Automatic, quote: Callable[[Asked, LogicalPlan], Quote]) -> Quote:
    """The quote with the bounds that are known, or one that says what depends on them. Free; reads no private row."""
    try:
        known = automatic.completed(buy=False)
    except LookupError:
        return _without(automatic, quote)
    return quote(known.request, known.logical)


def _without(automatic: Automatic, quote: Callable[[Asked, LogicalPlan], Quote]) -> Quote:
    request, logical = automatic.assumed()
    made = quote(request, logical)
    unknown = {name: dict.fromkeys(sizes, math.inf) for name, sizes in made.errors.items()}
    budget = automatic.request.budget
    whole = Spending(budget.epsilon, budget.delta or 0.0)
    return replace(
        made,
        charge=whole,
        errors=unknown,
        mechanisms=(),
        sql=(),
        repeats=None,
        notes=(*made.notes, FOUND_FIRST),
        _reprice=None,
    )
