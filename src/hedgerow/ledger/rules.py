"""What the owner's catalog asks of a charge beside the filters: size of one statement, number, schedule."""

from dataclasses import replace

from hedgerow.accounting.budget import Charge
from hedgerow.accounting.protocol import open_share
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import BudgetError, CatalogError
from hedgerow.ledger.caps import RESERVE, SCALE, Units
from hedgerow.ledger.entries import Account
from hedgerow.ledger.filters import ChargeRequest, Filter, largest_epsilon

SURCHARGE_ROOM = int(RESERVE * SCALE) // 10**6
"""What discrete noise may owe in one statement of a schedule."""


def check_rules(request: ChargeRequest, policy: BudgetPolicy, total: Filter, account: Account) -> None:
    """Refuse what `per_query`, `queries` or `schedule` do not allow."""
    _check_size(request.charge, policy)
    if policy.queries is not None:
        _check_number(request, policy.queries, total, account)
    if policy.schedule is not None:
        allowed = allowance(policy.schedule, total, account)
        _require_within(request, allowed, code="budget-schedule", what="what the schedule has released so far")


def _check_size(charge: Charge, policy: BudgetPolicy) -> None:
    most = policy.per_query
    if most is None:
        return
    most_delta = 1.0 if most.delta is None else most.delta
    if charge.epsilon > most.epsilon or charge.delta > most_delta:
        raise BudgetError(
            f"One statement may state at most epsilon {most.epsilon:g}"
            + ("" if most.delta is None else f" and delta {most.delta:g}")
            + f"; this one states {charge.epsilon:g} and {charge.delta:g}.",
            code="budget-per-query",
            hint=f"The largest epsilon that fits is {most.epsilon:g}.",
            asked={"epsilon": charge.epsilon, "delta": charge.delta},
            left={"epsilon": most.epsilon, "delta": most_delta},
        )


def _check_number(request: ChargeRequest, number: int, total: Filter, account: Account) -> None:
    """Protocol of the query-budget note: `number` basic queries share the budget evenly; then the dataset is closed."""
    asked, left = request.queries, number - account.queries
    if asked > left:
        raise BudgetError(
            f"The budget was made for {number} basic queries; this one counts as {asked}, and {left} are left.",
            code="budget-queries",
            hint="When none is left, the dataset is closed." if left == 0 else "A COUNT or SUM counts as one.",
            asked={"queries": asked},
            left={"queries": left},
        )
    share = replace(total.caps.units, gaussian=total.caps.gaussian * asked // number)
    _require_within(request, share, code="budget-queries", what=f"its even share of {number} basic queries")


def allowance(schedule: str, total: Filter, account: Account) -> Units:
    """The most that the next statement may take, so that there is always one after it (docs/proofs/ledger.md).

    Privacy: the filter decides as ever; a schedule only makes it refuse earlier.
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
