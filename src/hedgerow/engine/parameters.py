"""One strict parser for every number that a query may carry.

Booleans, text, NaN, infinities, zero, negative, denormal and absurdly large values are refused here, and
nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hedgerow.catalog.model import Catalog
from hedgerow.errors import ParameterError, PolicyError
from hedgerow.plan.scope import LARGEST_BOUND, check_bounds
from hedgerow.privacy.plan import Budget

EPSILONS = (1e-6, 1e3)
DELTAS = (1e-40, 0.5)
CONFIDENCES = (0.5, 1 - 1e-12)
FREQUENCIES = (1, 10**9)
MECHANISMS = ("auto", "gaussian", "laplace")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parameters of one statement, checked against the owner's catalog."""

    budget: Budget
    confidence: float
    min_frequency: int
    max_rows: int | None
    max_groups: int | None
    bounds: Mapping[str, tuple[float, float]]
    simultaneous: bool
    reuse: bool


def asked(
    catalog: Catalog,
    *,
    epsilon: object = None,
    delta: object = None,
    confidence: object = None,
    mechanism: object = "auto",
    min_frequency: object = None,
    max_rows: object = None,
    max_groups: object = None,
    bounds: object = None,
    simultaneous: object = False,
    reuse: object = True,
) -> Asked:
    """The parameters, with the owner's defaults where the query says nothing."""
    defaults = catalog.defaults
    if mechanism not in MECHANISMS:
        raise ParameterError(
            "mechanism must be one of auto, gaussian, laplace.", code="bad-mechanism", hint='Leave it at "auto".'
        )
    owners_price = catalog.budget.queries is not None or catalog.budget.schedule is not None
    stated = epsilon if epsilon is not None else defaults.epsilon
    if owners_price:
        stated = _no_price_stated(epsilon)
    if stated is None:
        raise ParameterError(
            "Neither the query nor the catalog says how much this statement may cost.",
            code="missing-epsilon",
            hint="Pass epsilon=, or set defaults.epsilon in the catalog.",
        )
    level = delta if delta is not None else defaults.delta
    budget = Budget(
        real("epsilon", stated, *EPSILONS), None if level is None else real("delta", level, *DELTAS), str(mechanism)
    )
    _within_owners_cap(budget, catalog)
    if not isinstance(simultaneous, bool) or not isinstance(reuse, bool):
        raise ParameterError("simultaneous and reuse must be True or False.", code="bad-flag")
    return Asked(
        budget,
        real("confidence", defaults.confidence if confidence is None else confidence, *CONFIDENCES),
        _frequency(min_frequency, defaults.min_frequency),
        None if max_rows is None else whole("max_rows", max_rows, 1, 2**30),
        None if max_groups is None else whole("max_groups", max_groups, 1, 2**30),
        _bounds(bounds),
        simultaneous,
        reuse,
    )


def _no_price_stated(epsilon: object) -> float:
    """Where the owner set the price of a statement, a query may not state one; a stand-in until it is allotted."""
    if epsilon is not None:
        raise PolicyError(
            "The catalog sets the price of a statement, so a query cannot state epsilon.",
            code="price-is-set",
            hint="Leave epsilon out.",
        )
    return 1.0


def real(name: str, value: object, low: float, high: float) -> float:
    """A finite number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        raise ParameterError(f"{name} must be a finite number.", code=f"bad-{_dashed(name)}")
    if not low <= value <= high:
        raise ParameterError(f"{name} must lie between {low:g} and {high:.15g}.", code=f"bad-{_dashed(name)}")
    return float(value)


def whole(name: str, value: object, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParameterError(f"{name} must be a whole number from {low} to {high:,}.", code=f"bad-{_dashed(name)}")
    return value


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _frequency(stated: object, owners: int) -> int:
    if stated is None:
        return owners
    value = whole("min_frequency", stated, *FREQUENCIES)
    if value < owners:
        raise PolicyError(
            f"min_frequency={value} is below the owner's {owners}.",
            code="looser-min-frequency",
            hint="It can only be raised.",
        )
    return value


def _bounds(stated: object) -> dict[str, tuple[float, float]]:
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        raise ParameterError('bounds must be like {"column": (lower, upper)}.', code="bad-bounds")
    return {str(name): _pair(str(name), pair) for name, pair in stated.items()}


def _pair(name: str, pair: object) -> tuple[float, float]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ParameterError(f"The bounds for {name!r} must be a pair (lower, upper).", code="bad-bounds")
    low, high = (real("bounds", end, -LARGEST_BOUND, LARGEST_BOUND) for end in pair)
    check_bounds(low, high, f"The bounds for {name!r}")
    return low, high


def _within_owners_cap(budget: Budget, catalog: Catalog) -> None:
    cap = catalog.budget.per_query
    if cap is not None and budget.epsilon > cap.epsilon:
        raise PolicyError(
            f"epsilon={budget.epsilon:g} is more than the owner allows one statement.",
            code="looser-epsilon",
            hint=f"Ask for {cap.epsilon:g} or less.",
        )
    if cap is not None and cap.delta is not None and budget.delta is not None and budget.delta > cap.delta:
        raise PolicyError(
            f"delta={budget.delta:g} is more than the owner allows one statement.",
            code="looser-delta",
            hint=f"Ask for {cap.delta:g} or less.",
        )
