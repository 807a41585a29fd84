"""The `budget`, `defaults` and `limits` of a catalog."""

import math
import re
from collections.abc import Mapping
from datetime import timedelta

from hedgerow.catalog import codes
from hedgerow.catalog.model import BudgetPolicy, Cap, Defaults
from hedgerow.catalog.strict_yaml import YamlEntry, choice, fraction, integer, text, within
from hedgerow.errors import CatalogError
from hedgerow.limits import UNDECLARED, StatementLimits

LARGEST_EPSILON = 1e6
SMALLEST_EPSILON = 1e-9
EPSILONS = (1e-6, 1e3)
DELTAS = (1e-15, 0.5)
CONFIDENCES = (0.5, 1 - 1e-12)
"""Limits of the options of a statement. A default beyond them would make every query without its own value fail."""

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


def read_budget(entry: YamlEntry) -> BudgetPolicy:
    """Read the budgets of everybody together and of each analyst."""
    fields = entry.fields(_FIELDS)
    policy = BudgetPolicy(
        epsilon=epsilon(entry.required(fields, "epsilon", "epsilon: 3.0")),
        delta=_read_delta(entry, fields),
        pure_epsilon=within(fields["pure_epsilon"], 0, LARGEST_EPSILON) if "pure_epsilon" in fields else 0.0,
        refresh=read_refresh(fields["refresh"]) if "refresh" in fields else None,
        lifetime=read_cap(fields["lifetime"]) if "lifetime" in fields else None,
        per_query=read_cap(fields["per_query"]) if "per_query" in fields else None,
        queries=integer(fields["queries"], 1, LARGEST_QUERIES) if "queries" in fields else None,
        accounting=choice(fields["accounting"], ("exact", "published")) if "accounting" in fields else None,
        schedule=choice(fields["schedule"], ("open",)) if "schedule" in fields else None,
        analysts=_read_analysts(fields["analysts"]) if "analysts" in fields else {},
        ledger=text(fields["ledger"]) if "ledger" in fields else None,
    )
    _check_budget(policy, fields)
    return policy


def _read_delta(entry: YamlEntry, fields: dict[str, YamlEntry]) -> float:
    """Return the written delta, or the query-budget note's for a public number of rows: 1 / rows^1.5."""
    if "rows" not in fields:
        return fraction(entry.required(fields, "delta", "delta: 1e-6"))
    if "delta" in fields or "queries" not in fields:
        raise _contradiction(
            fields["rows"],
            "`rows` replaces `delta`, and is allowed only with `queries`.",
            "Write `queries` and `rows` without `delta`, or `delta` without `rows`.",
        )
    return math.pow(integer(fields["rows"], 2, LARGEST_ROWS), -1.5)


def epsilon(entry: YamlEntry) -> float:
    """Read an epsilon: above zero, and not so large that it is meaningless."""
    return within(entry, SMALLEST_EPSILON, LARGEST_EPSILON)


def read_cap(entry: YamlEntry) -> Cap:
    """A limit such as `{epsilon: 1.0}`."""
    if not entry.is_mapping:
        raise entry.error(
            f"`{entry.name}` is {'empty' if entry.is_empty else 'no mapping'}, and a limit is expected.",
            code=codes.SHAPE,
            hint=f"Write `{entry.name}: {{epsilon: 1.0}}`.",
        )
    fields = entry.fields(("epsilon", "delta"))
    return Cap(
        epsilon=epsilon(entry.required(fields, "epsilon", "epsilon: 1.0")),
        delta=fraction(fields["delta"]) if "delta" in fields else None,
    )


def read_refresh(entry: YamlEntry) -> timedelta:
    """A period such as `12h`, `30d` or `4w`."""
    match = _REFRESH.fullmatch(str(entry.scalar()))
    if match:
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and a period is expected.",
        code=codes.CHOICE,
        hint="Write a whole number of hours, days or weeks: 12h, 30d or 4w. Leave the line out for never.",
    )


def _read_analysts(entry: YamlEntry) -> Mapping[str, Cap]:
    return {name: read_cap(cap) for name, cap in entry.items("a mapping from names to limits").items()}


def _check_budget(policy: BudgetPolicy, fields: Mapping[str, YamlEntry]) -> None:
    if policy.pure_epsilon > policy.epsilon:
        raise _contradiction(
            fields["pure_epsilon"],
            "`pure_epsilon` is more than `epsilon`, of which it is a part.",
            f"Write a number from 0 to {policy.epsilon:g}.",
        )
    if policy.lifetime and policy.refresh is None:
        raise _contradiction(
            fields["lifetime"],
            "`lifetime` limits all periods together, but without `refresh` there is only one.",
            "Add `refresh: 30d`, or remove `lifetime`.",
        )
    if policy.lifetime and policy.lifetime.epsilon < policy.epsilon:
        raise _contradiction(
            fields["lifetime"],
            "`lifetime` is less than one period's `epsilon`, so no period could be used up.",
            f"Write at least {policy.epsilon:g}, or lower `epsilon`.",
        )
    if policy.accounting and not policy.queries:
        raise _contradiction(
            fields["accounting"],
            "`accounting` says how `queries` are counted, and there are none.",
            "Add `queries: 2000`, or remove `accounting`.",
        )
    if policy.queries and policy.schedule:
        raise _contradiction(
            fields["schedule"],
            "`queries` and `schedule` are two ways to set the price of a statement, and only one can hold.",
            "Keep one of the two.",
        )


def _contradiction(entry: YamlEntry, message: str, hint: str) -> CatalogError:
    return entry.error(message, code=codes.BUDGET, hint=hint)


def read_defaults(entry: YamlEntry) -> Defaults:
    """Read the options of a query that states none."""
    fields = entry.fields(("epsilon", "delta", "min_frequency", "confidence"))
    built_in = Defaults()
    return Defaults(
        epsilon=within(fields["epsilon"], *EPSILONS) if "epsilon" in fields else None,
        delta=_share(fields["delta"], *DELTAS) if "delta" in fields else None,
        min_frequency=(
            integer(fields["min_frequency"], 1, LARGEST_FREQUENCY)
            if "min_frequency" in fields
            else built_in.min_frequency
        ),
        confidence=_share(fields["confidence"], *CONFIDENCES) if "confidence" in fields else built_in.confidence,
    )


def _share(entry: YamlEntry, lowest: float, highest: float) -> float:
    """A number above 0 and below 1 that a statement may state."""
    fraction(entry)
    return within(entry, lowest, highest)


FIELDS = ("seconds", "memory", "rows", "joined_rows", "rows_per_person")
SHORTEST, LONGEST = 0.1, 7 * 86_400.0
LEAST_MEMORY, MOST_MEMORY = 64 * 10**6, 10**15
MOST_ROWS = 10**9
MOST_JOINED = 10**18

_MEMORY = re.compile(r"([1-9][0-9]{0,5}) ?(MB|GB|TB)")
_BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def read_limits(entry: YamlEntry) -> StatementLimits:
    """Read the limits of one statement, with defaults for those that are not written."""
    fields = entry.fields(FIELDS)

    def rows(name: str, maximum: int) -> int:
        return integer(fields[name], 1, maximum) if name in fields else int(getattr(UNDECLARED, name))

    return StatementLimits(
        seconds=within(fields["seconds"], SHORTEST, LONGEST) if "seconds" in fields else UNDECLARED.seconds,
        memory=read_memory(fields["memory"]) if "memory" in fields else UNDECLARED.memory,
        rows=rows("rows", MOST_ROWS),
        joined_rows=rows("joined_rows", MOST_JOINED),
        rows_per_person=rows("rows_per_person", MOST_JOINED),
    )


def read_memory(entry: YamlEntry) -> int:
    """A number of bytes such as `500MB` or `4GB`."""
    match = _MEMORY.fullmatch(str(entry.scalar()))
    value = int(match[1]) * _BYTES[match[2]] if match else 0
    if LEAST_MEMORY <= value <= MOST_MEMORY:
        return value
    raise entry.error(
        f"`{entry.name}` is {entry.written}, and an amount of memory from 64MB to 1000TB is expected.",
        code=codes.CHOICE,
        hint="Write a whole number and its unit: 500MB, 4GB or 1TB.",
    )
