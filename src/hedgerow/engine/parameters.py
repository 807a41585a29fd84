"""One strict parser for every number that a query may carry.

Booleans, text, NaN, infinities, zero, negative, denormal and absurdly large values are refused here, and
nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, Unpack

from hedgerow.catalog.model import Catalog
from hedgerow.errors import ParameterError, PolicyError
from hedgerow.plan.scope import LARGEST_BOUND, check_bounds
from hedgerow.privacy.bounding import LARGEST
from hedgerow.privacy.plan import Budget

EPSILONS = (1e-6, 1e3)
DELTAS = (1e-15, 0.5)
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


class Options(TypedDict, total=False):
    """What a statement may say beside its text.

    Attributes:
        epsilon: The most that this one statement may cost as a guarantee of its own, whole.
        delta: Likewise.
        confidence: How often each interval holds.
        mechanism: "auto", "gaussian" or "laplace".
        min_frequency: How many people a group rests on at least; only to raise the owner's.
        max_rows: How many rows one person may count for; only to lower the owner's.
        max_groups: In how many groups one person may count; only to lower the owner's.
        bounds: `{"column": (lower, upper)}`; only to narrow the owner's.
        simultaneous: Whether all intervals of the table hold at once.
        reuse: Whether an answer that was paid for before may be given again, free.
    """

    epsilon: float | None
    delta: float | None
    confidence: float | None
    mechanism: str
    min_frequency: int | None
    max_rows: int | None
    max_groups: int | None
    bounds: Mapping[str, tuple[float, float]] | None
    simultaneous: bool
    reuse: bool


def asked(catalog: Catalog, **options: Unpack[Options]) -> Asked:
    """The parameters, with the owner's defaults where the query says nothing."""
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        known = ", ".join(Options.__annotations__)
        raise ParameterError(
            f"There is no option {min(unknown)!r}.", code="unknown-option", hint=f"There are: {known}."
        )
    given: dict[str, object] = {"mechanism": "auto", "simultaneous": False, "reuse": True, **options}
    simultaneous, reuse = given["simultaneous"], given["reuse"]
    if not isinstance(simultaneous, bool) or not isinstance(reuse, bool):
        raise ParameterError("simultaneous and reuse must be True or False.", code="bad-flag")
    level = given.get("confidence")
    return Asked(
        _budget(catalog, given),
        real("confidence", catalog.defaults.confidence if level is None else level, *CONFIDENCES),
        _frequency(given.get("min_frequency"), catalog.defaults.min_frequency),
        _limit("max_rows", given),
        _limit("max_groups", given),
        _bounds(given.get("bounds")),
        simultaneous,
        reuse,
    )


def _budget(catalog: Catalog, given: Mapping[str, object]) -> Budget:
    if given["mechanism"] not in MECHANISMS:
        raise ParameterError(
            "mechanism must be one of auto, gaussian, laplace.", code="bad-mechanism", hint='Leave it at "auto".'
        )
    delta = catalog.defaults.delta if given.get("delta") is None else given["delta"]
    epsilon = _epsilon(catalog, given.get("epsilon"))
    budget = Budget(
        real("epsilon", epsilon, *EPSILONS),
        None if delta is None else real("delta", delta, *DELTAS),
        str(given["mechanism"]),
    )
    _within_owners_cap(budget, catalog)
    return budget


def _epsilon(catalog: Catalog, stated: object) -> object:
    if catalog.budget.queries is not None or catalog.budget.schedule is not None:
        return _no_price_stated(stated)
    found = catalog.defaults.epsilon if stated is None else stated
    if found is None:
        raise ParameterError(
            "Neither the query nor the catalog says how much this statement may cost.",
            code="missing-epsilon",
            hint="Pass epsilon=, or set defaults.epsilon in the catalog.",
        )
    return found


def _limit(name: str, given: Mapping[str, object]) -> int | None:
    return None if given.get(name) is None else whole(name, given[name], 1, LARGEST)


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
