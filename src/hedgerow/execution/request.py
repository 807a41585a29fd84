"""One strict parser for every number that a query may carry.

Booleans, text, NaN, infinities, zero, negative, denormal and absurdly large values are refused here, and
nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, Unpack

from hedgerow.catalog.load_budget import CONFIDENCES, DELTAS, EPSILONS
from hedgerow.catalog.model import Catalog
from hedgerow.errors import ParameterError, PolicyError
from hedgerow.execution.target import Target, target
from hedgerow.plan.scope import LARGEST_BOUND, check_bounds
from hedgerow.privacy.bounding import LARGEST
from hedgerow.privacy.plan import Budget

FREQUENCIES = (1, 10**9)
MECHANISMS = ("auto", "gaussian", "laplace")
AUTOMATIC = "auto"


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
    within: Target | None = None
    equal_noise: bool = False
    distinct: str = "auto"
    automatic: bool = False


class Options(TypedDict, total=False):
    """What a statement may say beside its text.

    Attributes:
        epsilon: The most that this one statement may cost as a guarantee of its own, whole.
        delta: Likewise.
        within: The error that is asked for: 0.05 of the value, ("abs", 100) of its unit, (0.05, 1000) for groups of
            at least 1 000. The least that reaches it is spent, and `epsilon` is then the most.
        confidence: How often each interval holds.
        mechanism: "auto", "gaussian" or "laplace".
        min_frequency: How many people a group rests on at least; only to raise the owner's.
        max_rows: How many rows one person may count for; only to lower the owner's.
        max_groups: In how many groups one person may count; only to lower the owner's.
        bounds: `{"column": (lower, upper)}`, only to narrow the owner's; or "auto": what has none gets them, and
            what nobody said about rows is chosen, privately, for a part of epsilon.
        simultaneous: Whether all intervals of the table hold at once.
        moments: "lambda", or "bezier" for equal noise on the moments of a variance, to compare.
        distinct: How COUNT(DISTINCT x) is bounded: "auto", "flow" or "simple".
        reuse: Whether an answer that was paid for before may be given again, free.
    """

    epsilon: float | None
    delta: float | None
    within: float | str | tuple[float | str, ...] | None
    confidence: float | None
    mechanism: str
    min_frequency: int | None
    max_rows: int | None
    max_groups: int | None
    bounds: Mapping[str, tuple[float, float]] | str | None
    simultaneous: bool
    moments: str
    distinct: str
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
        target(given.get("within")),
        _one_of("moments", given.get("moments", "lambda"), ("lambda", "bezier")) == "bezier",
        _one_of("distinct", given.get("distinct", "auto"), ("auto", "flow", "simple")),
        given.get("bounds") == AUTOMATIC,
    )


def _one_of(name: str, stated: object, known: tuple[str, ...]) -> str:
    if stated not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}.", code="bad-choice", hint="Leave it out.")
    return str(stated)


def _budget(catalog: Catalog, given: Mapping[str, object]) -> Budget:
    if given["mechanism"] not in MECHANISMS:
        raise ParameterError(
            "mechanism must be one of auto, gaussian, laplace.", code="bad-mechanism", hint='Leave it at "auto".'
        )
    delta = catalog.defaults.delta if given.get("delta") is None else given["delta"]
    epsilon = _epsilon(catalog, given.get("epsilon"), within=given.get("within") is not None)
    budget = Budget(
        real("epsilon", epsilon, *EPSILONS),
        None if delta is None else real("delta", delta, *DELTAS),
        str(given["mechanism"]),
    )
    _within_owners_cap(budget, catalog)
    return budget


def _epsilon(catalog: Catalog, stated: object, *, within: bool) -> object:
    if catalog.budget.queries is not None or catalog.budget.schedule is not None:
        return _no_price_stated(stated, within=within)
    if within and stated is None:
        cap = catalog.budget.per_query
        limits = [catalog.defaults.epsilon, None if cap is None else cap.epsilon]
        return min([EPSILONS[1], *(limit for limit in limits if limit is not None)])
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


def _no_price_stated(epsilon: object, *, within: bool) -> float:
    """Where the owner set the price of a statement, a query may not state one; a stand-in until it is allotted."""
    if epsilon is not None or within:
        named = "within" if within else "epsilon"
        raise PolicyError(
            f"The catalog sets the price of a statement, so a query cannot state {named}.",
            code="price-is-set",
            hint=f"Leave {named} out.",
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
    if stated is None or stated == AUTOMATIC:
        return {}
    if not isinstance(stated, Mapping):
        raise ParameterError('bounds must be "auto", or like {"column": (lower, upper)}.', code="bad-bounds")
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
