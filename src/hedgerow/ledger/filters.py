"""Admission of a charge by the filters and by the owner's rules, and the text of the refusal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from hedgerow.accounting import gaussian_epsilon
from hedgerow.accounting.budget import Charge, Cost, Spending
from hedgerow.accounting.protocol import open_share
from hedgerow.arguments import whole
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import BudgetError, CatalogError
from hedgerow.ledger.entries import Account
from hedgerow.ledger.limits import RESERVE, SCALE, Caps, Units, as_cost

MARGIN = 1 - Fraction(1, 10**6)
"""Allowance for the rounding of a mass."""

_NAMES = {
    "gaussian": "budget for Gaussian noise",
    "pure": "budget for Laplace noise (pure_epsilon)",
    "mass": "part of delta kept for thresholds",
}

_OWNERS = {"total": "the", "lifetime": "the lifetime", "analyst": "this analyst's"}


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """A charge that is asked for: in units, rounded up, and in basic queries of the query-budget note."""

    charge: Charge
    units: Units
    queries: int = 1

    @classmethod
    def of(cls, charge: Charge, queries: int = 1) -> Self:
        """A request for `charge`."""
        return cls(charge, Units.of(charge), whole("queries", queries))


@dataclass(frozen=True, slots=True)
class Filter:
    """Three sums that must stay within three caps. `owner` is "total", "lifetime" or "analyst".

    Privacy: the sums of mu squared, of pure epsilon and of mass each decide for themselves, with caps
    fixed in advance, so the filter is valid however questions and prices depend on earlier answers
    (docs/proofs/ledger.md). A joint rule over the three would not be.
    """

    owner: str
    caps: Caps
    spent: Units

    @property
    def remaining(self) -> Units:
        """Return the amount left; below zero if the catalog now allows less than was spent."""
        return self.caps.units - self.spent

    @property
    def spending(self) -> Spending:
        """Return the amount spent, for display."""
        return self.caps.proves(self.spent)

    @property
    def left(self) -> Spending:
        """Return the limit minus what was spent, for display."""
        spent = self.spending
        limit = self.caps.limit
        return Spending(max(0.0, limit.epsilon - spent.epsilon), max(0.0, limit.delta - spent.delta))

    def overrun_by(self, units: Units) -> str | None:
        """Return the coordinate that `units` exceed, if there is one."""
        return self.caps.overrun(self.spent + units)

    def fair_mass(self, cost: Cost) -> Fraction:
        """Return the threshold mass that goes with `cost`, so that mass never runs out first.

        A statement takes the same share of the mass as of the noise: of the Gaussian cap, of the Laplace cap, or the
        mean of both shares if the owner keeps some of each.
        """
        caps, shares = self.caps.cost, []
        if self.caps.deliberate < Fraction(self.caps.limit.epsilon) * SCALE:
            shares.append(cost.gaussian / caps.gaussian)
        if self.caps.deliberate > 0:
            shares.append(cost.pure / caps.pure)
        return min(Fraction(1), sum(shares, Fraction(0)) / len(shares)) * caps.mass * MARGIN

    def after(self, units: Units) -> "Filter":
        """Return the filter after `units` are charged."""
        return Filter(self.owner, self.caps, self.spent + units)


def admit(request: ChargeRequest, filters: Sequence[Filter]) -> None:
    """Refuse a charge that does not fit every filter."""
    for one in filters:
        if coordinate := one.overrun_by(request.units):
            raise _refusal(request, one, coordinate, filters)


def _refusal(request: ChargeRequest, one: Filter, coordinate: str, filters: Sequence[Filter]) -> BudgetError:
    """Refusal with the amount asked for, the amount left and the largest epsilon that would still fit."""
    charge = request.charge
    largest = largest_epsilon(charge, coordinate, [one.remaining for one in filters])
    return BudgetError(
        _shortfall(request.units, one, coordinate),
        code=f"budget-{coordinate}" if one.owner == "total" else f"budget-{one.owner}",
        hint=_hint(charge, coordinate, largest),
        asked={"epsilon": charge.epsilon, "delta": charge.delta, **_amounts(request.units)},
        left={"epsilon": largest, **_amounts(one.remaining)},
    )


def _shortfall(units: Units, one: Filter, coordinate: str) -> str:
    """Return a sentence with the share of the cap that is needed, and the share that is left."""
    caps, spent = one.caps, one.spent
    if coordinate == "pure" and spent.deliberate + units.deliberate > caps.deliberate:
        if caps.deliberate == 0:
            return "This ledger keeps no part of epsilon for Laplace noise (pure_epsilon is 0)."
        needs, has = units.deliberate / caps.deliberate, 1.0 - spent.deliberate / caps.deliberate
    else:
        needs, has = caps.fractions(units)[coordinate], 1.0 - caps.fractions(spent)[coordinate]
    whose = _OWNERS[one.owner]
    return f"This statement needs {_percent(needs)} of {whose} {_NAMES[coordinate]}, and {_percent(has)} is left."


def largest_epsilon(charge: Charge, coordinate: str, remaining: Sequence[Units]) -> float:
    """The largest epsilon that a statement like `charge` could have with the same delta, rounded down."""
    if coordinate == "mass":
        return 0.0
    if coordinate == "pure":
        return _rounded_down(min(min(left.deliberate, left.pure) for left in remaining) / SCALE)
    mu = math.sqrt(max(0, min(left.gaussian for left in remaining)) / SCALE)
    return _rounded_down(gaussian_epsilon(mu, charge.delta)) if 0.0 < charge.delta < 1.0 else 0.0


def _hint(charge: Charge, coordinate: str, largest: float) -> str:
    if coordinate == "mass":
        return "Ask with declared keys, or with a smaller delta, which takes less of it."
    if largest <= 0.0:
        return "It is used up." if coordinate == "gaussian" else "Ask for Gaussian noise instead."
    if coordinate == "pure":
        return f"The largest epsilon that still fits is {largest:g}; or ask for Gaussian noise."
    return f"The largest epsilon that still fits, with delta {charge.delta:g}, is {largest:g}."


def _amounts(units: Units) -> dict[str, float]:
    cost = as_cost(units)
    return {"gaussian": float(cost.gaussian), "pure": float(cost.pure), "mass": float(cost.mass)}


def _percent(part: float) -> str:
    return "more than all" if part > 1.0 else f"{max(part, 0.0):.3%}"


def _rounded_down(epsilon: float) -> float:
    """Return four significant digits, slightly below `epsilon`; 0 if nothing is left."""
    if epsilon <= 0.0:
        return 0.0
    safe = epsilon * (1.0 - 1e-7)
    step = 10.0 ** (math.floor(math.log10(safe)) - 3)
    return float(f"{math.floor(safe / step) * step:.4g}")


SURCHARGE_ROOM = int(RESERVE * SCALE) // 10**6
"""Surcharge that discrete noise may cost in one statement of a schedule."""


def check_rules(request: ChargeRequest, policy: BudgetPolicy, total: Filter, account: Account) -> None:
    """Refuse a charge that `per_query`, `queries` or `schedule` does not allow."""
    _check_size(request.charge, policy)
    if policy.queries is not None:
        _check_number(request, policy.queries, total, account)
    if policy.schedule is not None:
        allowed = allowance(policy.schedule, total, account)
        _require_within(request, allowed, code="budget-schedule", what="what the schedule has released so far")


def _check_size(charge: Charge, policy: BudgetPolicy) -> None:
    limit = policy.per_query
    if limit is None:
        return
    most_delta = 1.0 if limit.delta is None else limit.delta
    if charge.epsilon > limit.epsilon or charge.delta > most_delta:
        raise BudgetError(
            f"One statement may state at most epsilon {limit.epsilon:g}"
            + ("" if limit.delta is None else f" and delta {limit.delta:g}")
            + f"; this one states {charge.epsilon:g} and {charge.delta:g}.",
            code="budget-per-query",
            hint=f"The largest epsilon that fits is {limit.epsilon:g}.",
            asked={"epsilon": charge.epsilon, "delta": charge.delta},
            left={"epsilon": limit.epsilon, "delta": most_delta},
        )


def _check_number(request: ChargeRequest, number: int, total: Filter, account: Account) -> None:
    """Apply the query-budget note: `number` basic queries share the budget evenly; then the dataset is closed."""
    requested, left = request.queries, number - account.queries
    if requested > left:
        raise BudgetError(
            f"The budget was made for {number} basic queries; this one counts as {requested}, and {left} are left.",
            code="budget-queries",
            hint="When none is left, the dataset is closed." if left == 0 else "A COUNT or SUM counts as one.",
            asked={"queries": requested},
            left={"queries": left},
        )
    share = replace(total.caps.units, gaussian=total.caps.gaussian * requested // number)
    _require_within(request, share, code="budget-queries", what=f"its even share of {number} basic queries")


def allowance(schedule: str, total: Filter, account: Account) -> Units:
    """Return the most that the next statement may take, so that there is always one after it (docs/proofs/ledger.md).

    Privacy: the filter decides as before; a schedule only refuses earlier.
    """
    if schedule != "open":
        raise CatalogError(
            f"There is no schedule {schedule!r}.", code="catalog-schedule", hint="Write `schedule: open`."
        )
    numerator, denominator = open_share(account.queries + 1)
    caps = total.caps.units
    released = Units(*(cap * numerator // denominator for cap in (caps.gaussian, 0, caps.mass, caps.deliberate)))
    left = released - total.spent
    return replace(left, pure=left.deliberate + SURCHARGE_ROOM)


def _require_within(request: ChargeRequest, allowed: Units, *, code: str, what: str) -> None:
    """Refuse a request that takes more than `allowed` in any coordinate."""
    charge = request.charge
    for coordinate in ("gaussian", "pure", "mass"):
        if getattr(request.units, coordinate) <= getattr(allowed, coordinate):
            continue
        largest = largest_epsilon(charge, coordinate, [allowed])
        raise BudgetError(
            f"The statement would take more than {what}.",
            code=code,
            hint=f"The largest epsilon that fits, with delta {charge.delta:g}, is {largest:g}." if largest else None,
            asked={"epsilon": charge.epsilon, "delta": charge.delta},
            left={"epsilon": largest},
        )
