"""Rules for groups: one group, those the owner declared, or those that enough people share."""

import itertools
import math
from dataclasses import dataclass
from datetime import date, time
from enum import Enum

from hedgerow.errors import UnsupportedSQLError
from hedgerow.expressions.facts import declared_values
from hedgerow.plan.nodes import Named

MAX_DECLARED = 100_000

Key = tuple[str | int | float | bool | date | time | None, ...]


class KeyRule(Enum):
    """Source of the groups of an answer."""

    ONE = "one"
    DECLARED = "declared"
    SELECTED = "selected"


@dataclass(frozen=True, slots=True)
class Keys:
    """The rule, and for declared keys the whole domain in the owner's order."""

    rule: KeyRule
    domain: tuple[Key, ...] = ()


def keys_of(keys: tuple[Named, ...], everything: tuple[Key, ...] | None = None) -> Keys:
    """Return declared keys if every key has declared values or `everything` lists them, and selected keys otherwise."""
    if not keys:
        return Keys(KeyRule.ONE)
    if everything is not None:
        return Keys(KeyRule.DECLARED, everything)
    domains = [declared_values(key.expr) for key in keys]
    known = [domain for domain in domains if domain is not None]
    if len(known) < len(domains):
        return Keys(KeyRule.SELECTED)
    if math.prod(len(domain) for domain in known) > MAX_DECLARED:
        raise UnsupportedSQLError(
            f"The declared values make more than {MAX_DECLARED:,} groups.",
            code="too-many-groups",
            hint="Group by fewer columns.",
        )
    return Keys(KeyRule.DECLARED, tuple(itertools.product(*known)))
