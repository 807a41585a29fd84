"""Private estimates of the share of values and of people that the limits of an answer cut off."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hedgerow.answer import Clipped, Diagnostics
from hedgerow.calibration.buckets import aggregate_plan, groups_each, number, rows_each
from hedgerow.calibration.sub_budget import ROUNDING, SubBudget, require_free_price
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.execution.request import Request, resolve_request
from hedgerow.execution.session import Session
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Call, Expr, columns_of, written
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.nodes import AggregateCall, LogicalPlan, Release
from hedgerow.privacy.bounding import bound
from hedgerow.release import Estimator

DIAGNOSTICS = "diagnostics"
CLIPS = frozenset({"clip", "clip_whole"})


@dataclass(frozen=True, slots=True)
class LimitInForce:
    """One limit: its subject, its value, and the condition on the rows that exceed it."""

    of: str
    limit: str
    beyond: Expr
    filter: Expr | None = None


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """Limits that one question checks together: over the same rows, or over the same people."""

    release: Release
    limits: tuple[LimitInForce, ...]

    @property
    def plan(self) -> LogicalPlan:
        """Plan for the share of rows beyond each of them."""
        return aggregate_plan(self.release, [_share(limit) for limit in self.limits])


def diagnose(
    session: Session, logical: LogicalPlan, request: Request, *, epsilon: float | None, delta: float | None
) -> Diagnostics:
    """Report the shares of values and people that the limits of one statement cut off.

    Privacy: its questions are averages of conditions, over rows or over people (one row each), with the limits and the
    minimum frequency of the statement, and each is charged like any other. The list of questions follows from the plan.
    """
    questions = [question for release in logical.releases for question in _questions(release, request)]
    require_free_price(session.catalog)
    # Options of the report: its own price, and all else as in the statement.
    price = resolve_request(session.catalog, epsilon=epsilon, delta=delta, mechanism=request.budget.mechanism).budget
    own = replace(request, budget=price, within=None)
    sub_budget = SubBudget(session, "clipping report", own, purpose=DIAGNOSTICS)
    beta, share = 1.0 - request.confidence, ROUNDING / max(len(questions), 1)
    sub_budget.require([sub_budget.price(q.plan, share) for q in questions if not sub_budget.known(q.plan, share)])
    clipped: list[Clipped] = []
    for question in questions:
        (estimator,) = sub_budget.ask(question.plan, share, DIAGNOSTICS)
        clipped += [_clipped(limit, estimator, index, beta) for index, limit in enumerate(question.limits)]
    return Diagnostics(tuple(clipped), request.confidence, sub_budget.spent(), tuple(sub_budget.payments))


def _questions(release: Release, request: Request) -> Iterator[LimitCheck]:
    values = tuple(dict.fromkeys(limit for call_ in release.calls for limit in _values(call_)))
    limits = bound(release.limits, grouped=bool(release.keys), max_rows=request.max_rows, max_groups=request.max_groups)
    if values:
        rows = replace(release.limits, max_rows=limits.rows, max_rows_per_group=None, max_groups=None)
        yield LimitCheck(replace(release, limits=rows), values)
    if not limits.weighted:
        return
    people, amount = rows_each(release)
    yield LimitCheck(people, (_people("rows", amount, limits.rows),))
    if release.keys and limits.groups < limits.rows:
        people, amount = groups_each(release)
        yield LimitCheck(people, (_people("groups", amount, limits.groups),))


def _people(what: str, amount: Expr, maximum: int) -> LimitInForce:
    return LimitInForce(f"{what} of one person", f"{maximum}", call("greater", [amount, number(maximum)]))


def _values(aggregate: AggregateCall) -> Iterator[LimitInForce]:
    """Yield the numbers that an aggregate adds up within bounds; a condition needs no bounds."""
    for value in aggregate.arguments:
        known = range_of(value)
        inner = value.arguments[0] if isinstance(value, Call) and value.function in CLIPS else value
        is_number = inner.type in {Type.INTEGER, Type.DECIMAL, Type.FLOAT} and bool(columns_of(inner))
        if is_number and known.is_finite and aggregate.function != "COUNT":
            double = call("cast_float", [inner])
            below, above = call("less", [double, number(known.lower)]), call("greater", [double, number(known.upper)])
            limit = f"{known.lower:g} to {known.upper:g}"
            yield LimitInForce(written(inner), limit, call("or", [below, above]), aggregate.filter)


def _share(limit: LimitInForce) -> AggregateCall:
    value = call("indicator", [limit.beyond])
    return AggregateCall("", "AVG", (value,), limit.filter, distinct=False, type=Type.FLOAT)


def _clipped(limit: LimitInForce, estimator: Estimator, index: int, beta: float) -> Clipped:
    estimate = estimator.estimate(index, beta)
    value, lower, upper = (float(part[0]) for part in (estimate.values, estimate.lower, estimate.upper))
    held = not bool(estimator.noisy.shown[0])
    return Clipped(limit.of, limit.limit, None if held else value, Interval.of(lower, upper, estimate.statuses[0]))
