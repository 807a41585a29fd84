"""Plans of the statements that a database bound last, by text, parameters and dialect.

Privacy: a plan depends on these, on the catalog, the schema and public tables, never on private rows. A cache belongs
to one connection, whose catalog and schema do not change. A statement that is refused is not kept.
"""

from collections.abc import Hashable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

from hedgerow.execution.request import Parameters
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.recently_used import RecentlyUsed

MAXIMUM_PLANS = 200
"""Number of plans that are kept."""

LONGEST_TEXT = 10_000
"""Number of characters up to which a statement is kept."""

PLAIN = frozenset({bool, int, float, str, Decimal, date, datetime, time, type(None)})
"""Types of parameters whose text, together with the type, says everything about them."""


class CachedPlan(NamedTuple):
    """The options that a statement's text states itself, and its plan."""

    options: Mapping[str, Any]
    plan: LogicalPlan


class PlanCache(RecentlyUsed[CachedPlan]):
    """The plans of one database, for all its threads and analysts."""

    def __init__(self) -> None:
        super().__init__(MAXIMUM_PLANS)


def statement_key(text: object, params: Parameters, dialect: str) -> Hashable | None:
    """Return a key that two statements share only if they have the same plan; None for one that is not kept.

    Values are compared by type and text, because 1, 1.0 and True are equal in Python and different in SQL.
    """
    if type(text) is not str or len(text) > LONGEST_TEXT:
        return None
    if params is None:
        return text, dialect
    if type(params) not in {dict, list, tuple}:
        return None
    values = list(params.values() if isinstance(params, dict) else params)
    names = tuple(params) if isinstance(params, dict) else ()
    plain = all(type(name) is str for name in names) and all(type(value) in PLAIN for value in values)
    if not plain or any(getattr(value, "tzinfo", None) is not None for value in values):
        return None
    return text, dialect, type(params), names, tuple((type(value), repr(value)) for value in values)
