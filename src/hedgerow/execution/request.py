"""Options of a statement, checked against the owner's catalog, and the statement as the ledger's history shows it.

One strict parser for every number that a query may carry: booleans, text, NaN, infinities, zero, negative, denormal
and absurdly large values are refused here, and nowhere else.
"""

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from typing import Any, TypedDict, Unpack, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hedgerow.accounting.budget import Budget
from hedgerow.arguments import python_number
from hedgerow.catalog import Catalog
from hedgerow.catalog.load_budget import CONFIDENCES, DELTAS, EPSILONS
from hedgerow.errors import ParameterError, PolicyError
from hedgerow.plan.scope import LARGEST_BOUND, check_bounds
from hedgerow.privacy.bounding import LARGEST
from hedgerow.sql.privacy_clause import engine_options, require_unit

FREQUENCIES = (1, 10**9)
MECHANISMS = ("auto", "gaussian", "laplace")
AUTOMATIC = "auto"

ERRORS, GROUP_SIZES = (1e-9, 1e15), (1, 10**15)
"""Smallest and largest error, and group size, that `within=` accepts."""

WITHIN_TEXT = re.compile(r"^(?P<abs>abs:)?(?P<amount>[0-9.eE+-]+)(?P<percent>%)?(?:@(?P<size>[0-9][0-9_,]*))?$")

MOST_VALUES, LONGEST_VALUE = 100, 200
"""Number of bound values that the history keeps, and number of characters of each."""

Parameters = Sequence[object] | Mapping[str, object] | None
"""Values for `?` (a sequence) or `:name` (a mapping)."""


@dataclass(frozen=True, slots=True)
class ErrorTarget:
    """An error that is not to be exceeded: a fraction of the value, or an amount of its unit.

    `size` restricts the promise to groups where every count that a number rests on is at least that large.
    """

    amount: float
    absolute: bool = False
    size: int | None = None

    def allowed(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest error of values whose absolute amount is at least `sizes`."""
        return np.full_like(sizes, self.amount) if self.absolute else self.amount * sizes

    def __str__(self) -> str:
        text = f"{self.amount:g}" if self.absolute else f"{100 * self.amount:g} %"
        return text if self.size is None else f"{text} in groups of {self.size:,} or more"


@dataclass(frozen=True, slots=True)
class Request:
    """Options of one statement, complete, and within what the owner allows."""

    budget: Budget
    confidence: float
    min_frequency: int
    max_rows: int | None
    max_groups: int | None
    bounds: Mapping[str, tuple[float, float]]
    simultaneous: bool
    reuse: bool
    within: ErrorTarget | None = None
    equal_noise: bool = False
    distinct: str = "auto"
    automatic: bool = False
    nonnegative: bool = False


class Options(TypedDict, total=False):
    """Options that a caller may give next to the text of a statement.

    Attributes:
        epsilon: The most that this statement may cost, as a guarantee of its own.
        delta: Likewise.
        within: The target error: 0.05 of the value, ("abs", 100) of its unit, (0.05, 1000) for groups of at least 1
            000. The smallest sufficient epsilon is spent, and `epsilon` is then the maximum.
        confidence: Coverage of each interval.
        mechanism: "auto", "gaussian" or "laplace".
        min_frequency: Minimum number of people in a group; it can only raise the owner's.
        max_rows: Maximum number of rows of one person; it can only lower the owner's.
        max_groups: Maximum number of groups of one person; it can only lower the owner's.
        bounds: `{"column": (lower, upper)}`, which can only narrow the owner's; or "auto", which finds missing bounds
            and limits privately, for a part of epsilon.
        simultaneous: Whether all intervals of the table hold at once.
        moments: "lambda", or "bezier" for equal noise on the moments of a variance, for comparison.
        distinct: The bound of COUNT(DISTINCT x): "auto", "flow" or "simple".
        reuse: Whether an answer that was paid for before may be given again, free.
        nonnegative: Whether counts and sums are moved so that none is negative and all add up.
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
    nonnegative: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A statement as the history shows it, and as it is recognised when it is repeated.

    Attributes:
        text: The statement.
        params: The values bound to its placeholders, as plain JSON.
        stated: The price or the error that it stated, as plain JSON; None for an internal question.
        options: The options with which it can be asked again, as plain JSON; None for an internal question.
        key: The name under which its free answer is kept in memory; None if it is not kept.
    """

    text: str
    params: Any = None
    stated: tuple[float | str | None, ...] | None = None
    options: Mapping[str, Any] | None = None
    key: Hashable | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, text: str, params: Parameters, request: Request, key: Hashable | None = None) -> "Question":
        """Return the question that a statement with these parameters and options is."""
        budget, target = request.budget, None if request.within is None else str(request.within)
        stated = (budget.epsilon, budget.delta, budget.mechanism, target)
        return cls(text, plain_params(params), stated, stated_options(request), key)


def stated_options(request: Request) -> dict[str, Any]:
    """Return the options that make this request again, as plain JSON; those that say nothing are left out."""
    target = request.within
    within = None if target is None else [*(["abs"] if target.absolute else []), target.amount]
    given = {
        "epsilon": request.budget.epsilon,
        "delta": request.budget.delta,
        "within": within if target is None or target.size is None else [*(within or []), target.size],
        "confidence": request.confidence,
        "mechanism": None if request.budget.mechanism == "auto" else request.budget.mechanism,
        "min_frequency": request.min_frequency,
        "max_rows": request.max_rows,
        "max_groups": request.max_groups,
        "bounds": {name: list(ends) for name, ends in request.bounds.items()} or None,
        "simultaneous": request.simultaneous or None,
        "moments": "bezier" if request.equal_noise else None,
        "distinct": None if request.distinct == "auto" else request.distinct,
        "nonnegative": request.nonnegative or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def merge_options(inside: Mapping[str, Any], beside: Options, catalog: Catalog) -> Options:
    """Return the options of a statement, completed by those of its DIFFERENTIAL_PRIVACY OPTIONS (…) clause."""
    from_text = engine_options(inside)
    unit = from_text.pop("unit", None)
    if unit is not None:
        require_unit(str(unit), [table.unit for table in catalog.tables.values() if isinstance(table.unit, str)])
    given = {name: value for name, value in beside.items() if value is not None or name not in from_text}
    return cast("Options", {**from_text, **given})


def resolve_request(catalog: Catalog, **options: Unpack[Options]) -> Request:
    """Check the options, and fill in the owner's defaults."""
    require_known(options)
    given: dict[str, object] = {"mechanism": "auto", **options}
    confidence = given.get("confidence")
    return Request(
        _budget(catalog, given),
        real("confidence", catalog.defaults.confidence if confidence is None else confidence, *CONFIDENCES),
        _min_frequency(given.get("min_frequency"), catalog.defaults.min_frequency),
        _limit("max_rows", given),
        _limit("max_groups", given),
        _bounds(given.get("bounds")),
        flag("simultaneous", given, default=False),
        flag("reuse", given, default=True),
        error_target(given.get("within")),
        _one_of("moments", given.get("moments", "lambda"), ("lambda", "bezier")) == "bezier",
        _one_of("distinct", given.get("distinct", "auto"), ("auto", "flow", "simple")),
        given.get("bounds") == AUTOMATIC,
        flag("nonnegative", given, default=False),
    )


def require_known(options: Mapping[str, object]) -> None:
    """Refuse an option that there is not."""
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        known = ", ".join(Options.__annotations__)
        raise ParameterError(
            f"There is no option {min(unknown)!r}.", code="unknown-option", hint=f"There are: {known}."
        )


def real(name: str, value: object, low: float, high: float) -> float:
    """Return a finite number from `low` to `high`."""
    code = f"bad-{name.replace('_', '-')}"
    value = python_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        raise ParameterError(f"{name} must be a finite number.", code=code)
    if not low <= value <= high:
        raise ParameterError(f"{name} must lie between {low:g} and {high:.15g}.", code=code)
    return float(value)


def whole(name: str, value: object, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`."""
    value = python_number(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        code = f"bad-{name.replace('_', '-')}"
        raise ParameterError(f"{name} must be a whole number from {low} to {high:,}.", code=code)
    return value


def error_target(value: object) -> ErrorTarget | None:
    """Return the target that `within=` names: 0.05, ("abs", 100), (0.05, 1000), or the text of the command line.

    Example:
        >>> error_target((0.05, 1000)), error_target("abs:100")
        (ErrorTarget(amount=0.05, absolute=False, size=1000), ErrorTarget(amount=100.0, absolute=True, size=None))
    """
    if value is None or isinstance(value, ErrorTarget):
        return value
    if isinstance(value, str):
        match = WITHIN_TEXT.match(value.strip())
        if match is None or (match["abs"] and match["percent"]):
            raise _bad_target()
        try:
            amount = float(match["amount"]) / (100 if match["percent"] else 1)
        except ValueError:
            raise _bad_target() from None
        size = None if match["size"] is None else int(re.sub("[_,]", "", match["size"]))
        return _checked_target(amount, size, absolute=bool(match["abs"]), percent=bool(match["percent"]))
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    absolute = bool(parts) and isinstance(parts[0], str) and parts[0] == "abs"
    numbers = parts[1:] if absolute else parts
    if len(numbers) not in {1, 2}:
        raise _bad_target()
    return _checked_target(numbers[0], numbers[1] if len(numbers) == 2 else None, absolute=absolute)


def plain_params(params: Parameters) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return bound values as the history keeps them. The analyst wrote them, so they reveal nothing about the data.

    Example:
        >>> plain_params({"day": date(2026, 1, 31), "price": Decimal("1.50"), "none": None})
        {'day': '2026-01-31', 'price': '1.50', 'none': None}
    """
    if params is None:
        return None
    if isinstance(params, Mapping):
        kept = {_shortened(str(name)): _plain_value(value) for name, value in list(params.items())[:MOST_VALUES]}
        return kept if len(params) <= MOST_VALUES else kept | {"…": f"{len(params) - MOST_VALUES} more"}
    values = [_plain_value(value) for value in params[:MOST_VALUES]]
    return values if len(params) <= MOST_VALUES else [*values, f"… {len(params) - MOST_VALUES} more"]


def _budget(catalog: Catalog, given: Mapping[str, object]) -> Budget:
    """Return the price that a statement states, or the owner's default, within the owner's cap on one statement."""
    if given["mechanism"] not in MECHANISMS:
        raise ParameterError(
            "mechanism must be one of auto, gaussian, laplace.", code="bad-mechanism", hint='Leave it at "auto".'
        )
    chosen_delta = catalog.defaults.delta if given.get("delta") is None else given["delta"]
    chosen_epsilon = _epsilon(catalog, given.get("epsilon"), within=given.get("within") is not None)
    epsilon = real("epsilon", chosen_epsilon, *EPSILONS)
    delta = None if chosen_delta is None else real("delta", chosen_delta, *DELTAS)
    cap = catalog.budget.per_query
    if cap is not None and epsilon > cap.epsilon:
        raise PolicyError(
            f"epsilon={epsilon:g} is more than the owner allows one statement.",
            code="looser-epsilon",
            hint=f"Ask for {cap.epsilon:g} or less.",
        )
    if cap is not None and cap.delta is not None and delta is not None and delta > cap.delta:
        raise PolicyError(
            f"delta={delta:g} is more than the owner allows one statement.",
            code="looser-delta",
            hint=f"Ask for {cap.delta:g} or less.",
        )
    return Budget(epsilon, delta, str(given["mechanism"]))


def _epsilon(catalog: Catalog, requested: object, *, within: bool) -> object:
    """Return the stated epsilon, or the owner's default; 1 is a placeholder if the owner sets the price later."""
    if catalog.budget.queries is not None or catalog.budget.schedule is not None:
        if requested is not None or within:
            option = "within" if within else "epsilon"
            raise PolicyError(
                f"The catalog sets the price of a statement, so a query cannot state {option}.",
                code="price-is-set",
                hint=f"Leave {option} out.",
            )
        return 1.0
    if within and requested is None:
        cap = catalog.budget.per_query
        limits = [catalog.defaults.epsilon, None if cap is None else cap.epsilon]
        return min([EPSILONS[1], *(limit for limit in limits if limit is not None)])
    epsilon = catalog.defaults.epsilon if requested is None else requested
    if epsilon is None:
        raise ParameterError(
            "Neither the query nor the catalog says how much this statement may cost.",
            code="missing-epsilon",
            hint="Pass epsilon=, or set defaults.epsilon in the catalog.",
        )
    return epsilon


def flag(name: str, given: Mapping[str, object], *, default: bool) -> bool:
    """Return a stated option that must be True or False."""
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False.", code="bad-flag")
    return value


def _one_of(name: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}.", code="bad-choice", hint="Leave it out.")
    return str(value)


def _limit(name: str, given: Mapping[str, object]) -> int | None:
    return None if given.get(name) is None else whole(name, given[name], 1, LARGEST)


def _min_frequency(requested: object, owners: int) -> int:
    if requested is None:
        return owners
    value = whole("min_frequency", requested, *FREQUENCIES)
    if value < owners:
        raise PolicyError(
            f"min_frequency={value} is below the owner's {owners}.",
            code="looser-min-frequency",
            hint="It can only be raised.",
        )
    return value


def _bounds(value: object) -> dict[str, tuple[float, float]]:
    if value is None or value == AUTOMATIC:
        return {}
    if not isinstance(value, Mapping):
        raise ParameterError('bounds must be "auto", or like {"column": (lower, upper)}.', code="bad-bounds")
    bounds = {}
    for name, pair in value.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ParameterError(f"The bounds for {str(name)!r} must be a pair (lower, upper).", code="bad-bounds")
        low, high = (real("bounds", end, -LARGEST_BOUND, LARGEST_BOUND) for end in pair)
        check_bounds(low, high, f"The bounds for {str(name)!r}")
        bounds[str(name)] = low, high
    return bounds


def _checked_target(amount: object, size: object, *, absolute: bool, percent: bool = False) -> ErrorTarget:
    """Return the target. An error of 100 % or more promises nothing; usually a percent sign is missing."""
    amount, size = python_number(amount), python_number(size)
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not ERRORS[0] <= amount <= ERRORS[1]:
        raise _bad_target()
    if size is not None and (
        isinstance(size, bool) or not isinstance(size, int) or not GROUP_SIZES[0] <= size <= GROUP_SIZES[1]
    ):
        raise _bad_target()
    if not absolute and amount >= 1:
        groups = "" if size is None else f"@{size}"
        meant = [f'"{amount:g}%{groups}"'] if amount < 100 else []
        meant.append(f'"abs:{amount:g}{groups}"')
        raise ParameterError(
            f"within asks for an error of {100 * amount:g} % of the value, which promises nothing.",
            code="bad-within",
            hint="Ask for less than 100 %." if percent else f"Did you mean {' or '.join(meant)}?",
        )
    return ErrorTarget(float(amount), absolute, size)


def _bad_target() -> ParameterError:
    return ParameterError(
        "within must be an error that can be reached.",
        code="bad-within",
        hint='Such as 0.05 or "5%" of the value, ("abs", 100) or "abs:100" of its unit, '
        '(0.05, 1000) or "5%@1000" for groups of at least 1 000.',
    )


def _plain_value(value: object) -> bool | int | float | str | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else _shortened(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return _shortened(f"0x{bytes(value[:LONGEST_VALUE]).hex()}")
    if isinstance(value, str | Decimal | UUID):
        return _shortened(str(value))
    return f"a value of type {type(value).__name__}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
