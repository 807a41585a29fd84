"""The `budget` and `defaults` of a catalog."""

import math
import re
from collections.abc import Mapping
from datetime import timedelta

from hedgerow.catalog import codes
from hedgerow.catalog.entry import Entry
from hedgerow.catalog.model import BudgetPolicy, Cap, Defaults
from hedgerow.catalog.strict import choice, fraction, integer, text, within
from hedgerow.errors import CatalogError

LARGEST_EPSILON = 1e6
SMALLEST_EPSILON = 1e-9
EPSILONS = (1e-6, 1e3)
DELTAS = (1e-15, 0.5)
CONFIDENCES = (0.5, 1 - 1e-12)
"""What one statement may state. A default beyond these would make every query fail that does not say otherwise."""

LARGEST_FREQUENCY = 10**9
LARGEST_QUERIES = 10**12
LARGEST_ROWS = 10**18

_FIELDS = (
    "epsilon",
    "delta",
    "pure_epsilon",
    "refresh",
    "lifetime",
    "per_query",
    "queries",
    "rows",
    "accounting",
    "schedule",
    "analysts",
    "ledger",
)
_REFRESH = re.compile(r"([1-9][0-9]{0,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


def read_budget(entry: Entry) -> BudgetPolicy:
    """How much may be learnt, by everybody together and by each analyst."""
    found = entry.fields(_FIELDS)
    policy = BudgetPolicy(
        epsilon=epsilon(entry.required(found, "epsilon", "epsilon: 3.0")),
        delta=_read_delta(entry, found),
        pure_epsilon=within(found["pure_epsilon"], 0, LARGEST_EPSILON) if "pure_epsilon" in found else 0.0,
        refresh=read_refresh(found["refresh"]) if "refresh" in found else None,
        lifetime=read_cap(found["lifetime"]) if "lifetime" in found else None,
        per_query=read_cap(found["per_query"]) if "per_query" in found else None,
        queries=integer(found["queries"], 1, LARGEST_QUERIES) if "queries" in found else None,
        accounting=choice(found["accounting"], ("exact", "published")) if "accounting" in found else None,
        schedule=choice(found["schedule"], ("open",)) if "schedule" in found else None,
        analysts=_read_analysts(found["analysts"]) if "analysts" in found else {},
        ledger=text(found["ledger"]) if "ledger" in found else None,
    )
    _check_budget(policy, found)
    return policy


def _read_delta(entry: Entry, found: dict[str, Entry]) -> float:
    """The delta that is written, or the query-budget note's for a public number of rows: one over rows^1.5."""
    if "rows" not in found:
        return fraction(entry.required(found, "delta", "delta: 1e-6"))
    if "delta" in found or "queries" not in found:
        raise _contradiction(
            found["rows"],
            "`rows` stands for `delta` where `queries` are counted.",
            "Write `queries` and `rows` without `delta`, or `delta` without `rows`.",
        )
    return math.pow(integer(found["rows"], 2, LARGEST_ROWS), -1.5)


def epsilon(entry: Entry) -> float:
    """An epsilon: above zero, and not so large that it means nothing."""
    return within(entry, SMALLEST_EPSILON, LARGEST_EPSILON)


def read_cap(entry: Entry) -> Cap:
    """A limit such as `{epsilon: 1.0}`."""
    if not entry.is_mapping:
        raise entry.error(
            f"`{entry.name}` is {'empty' if entry.is_empty else 'no mapping'}, and a limit is expected.",
            code=codes.SHAPE,
            hint=f"Write `{entry.name}: {{epsilon: 1.0}}`.",
        )
    found = entry.fields(("epsilon", "delta"))
    return Cap(
        epsilon=epsilon(entry.required(found, "epsilon", "epsilon: 1.0")),
        delta=fraction(found["delta"]) if "delta" in found else None,
    )


def read_refresh(entry: Entry) -> timedelta:
    """A period such as `12h`, `30d` or `4w`."""
    match = _REFRESH.fullmatch(str(entry.scalar()))
    if match:
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a period is expected.",
        code=codes.CHOICE,
        hint="Write a whole number of hours, days or weeks: 12h, 30d or 4w. Leave the line out for never.",
    )


def _read_analysts(entry: Entry) -> Mapping[str, Cap]:
    return {name: read_cap(cap) for name, cap in entry.items("a mapping from names to limits").items()}


def _check_budget(policy: BudgetPolicy, found: Mapping[str, Entry]) -> None:
    if policy.pure_epsilon > policy.epsilon:
        raise _contradiction(
            found["pure_epsilon"],
            "`pure_epsilon` is more than `epsilon`, of which it is a part.",
            f"Write a number from 0 to {policy.epsilon:g}.",
        )
    if policy.lifetime and policy.refresh is None:
        raise _contradiction(
            found["lifetime"],
            "`lifetime` limits all periods together, but without `refresh` there is only one.",
            "Add `refresh: 30d`, or remove `lifetime`.",
        )
    if policy.lifetime and policy.lifetime.epsilon < policy.epsilon:
        raise _contradiction(
            found["lifetime"],
            "`lifetime` is less than one period's `epsilon`, so no period could be used up.",
            f"Write at least {policy.epsilon:g}, or lower `epsilon`.",
        )
    if policy.accounting and not policy.queries:
        raise _contradiction(
            found["accounting"],
            "`accounting` says how `queries` are counted, and there are none.",
            "Add `queries: 2000`, or remove `accounting`.",
        )
    if policy.queries and policy.schedule:
        raise _contradiction(
            found["schedule"],
            "`queries` and `schedule` are two ways to set the price of a statement, and only one can hold.",
            "Keep one of the two.",
        )


def _contradiction(entry: Entry, message: str, hint: str) -> CatalogError:
    return entry.error(message, code=codes.BUDGET, hint=hint)


def read_defaults(entry: Entry) -> Defaults:
    """What holds when a query does not say."""
    found = entry.fields(("epsilon", "delta", "min_frequency", "confidence"))
    built_in = Defaults()
    return Defaults(
        epsilon=within(found["epsilon"], *EPSILONS) if "epsilon" in found else None,
        delta=_share(found["delta"], *DELTAS) if "delta" in found else None,
        min_frequency=(
            integer(found["min_frequency"], 1, LARGEST_FREQUENCY)
            if "min_frequency" in found
            else built_in.min_frequency
        ),
        confidence=_share(found["confidence"], *CONFIDENCES) if "confidence" in found else built_in.confidence,
    )


def _share(entry: Entry, lowest: float, highest: float) -> float:
    """A number above 0 and below 1 that a statement may state."""
    fraction(entry)
    return within(entry, lowest, highest)
