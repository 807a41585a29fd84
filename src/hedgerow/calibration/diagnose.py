"""How much the limits of an answer touched, asked privately: shares of values, and shares of people."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hedgerow.answer import Clipped, Diagnostics
from hedgerow.calibration.buckets import number
from hedgerow.calibration.plans import asked, groups_each, rows_each
from hedgerow.calibration.sub_budget import ROUNDING, Purse, require_free_price
from hedgerow.catalog import Catalog
from hedgerow.error_bars.intervals.interval import Interval
from hedgerow.execution.request import Asked
from hedgerow.execution.request import asked as parameters
from hedgerow.execution.session import Desk
from hedgerow.expressions.facts import range_of
from hedgerow.expressions.nodes import Call, Expr, columns_of, describe
from hedgerow.expressions.types import Type
from hedgerow.plan.coerce import call
from hedgerow.plan.nodes import AggregateCall, LogicalPlan, Release
from hedgerow.privacy.bounding import bound
from hedgerow.release import Estimator

DIAGNOSTICS = "diagnostics"
CLIPS = frozenset({"clip", "clip_whole"})


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: what it is about, what it is, and for which rows it took effect (a condition)."""

    of: str
    limit: str
    beyond: Expr
    filter: Expr | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Limits that one look tells about: over the same rows, or over the same people."""

    release: Release
    limits: tuple[Limit, ...]

    @property
    def plan(self) -> LogicalPlan:
        """The share of rows beyond each of them."""
        return asked(self.release, [_share(limit) for limit in self.limits])


def diagnose(
    desk: Desk, logical: LogicalPlan, request: Asked, *, epsilon: float | None, delta: float | None
) -> Diagnostics:
    """The report about one statement.

    Privacy: its questions are averages of conditions, over rows or over people (one row each), with the limits and the
    minimum frequency of the statement, and each is charged like any other. Which ones there are follows from the plan.
    """
    questions = [question for release in logical.releases for question in _questions(release, request)]
    require_free_price(desk.catalog)
    own = _request(desk.catalog, request, epsilon, delta)
    purse = Purse(desk, "clipping report", own, purpose=DIAGNOSTICS)
    beta, share = 1.0 - request.confidence, ROUNDING / max(len(questions), 1)
    purse.require([purse.price(q.plan, share) for q in questions if not purse.known(q.plan, share)])
    found: list[Clipped] = []
    for question in questions:
        (made,) = purse.look(question.plan, share, DIAGNOSTICS)
        found += [_clipped(limit, made, index, beta) for index, limit in enumerate(question.limits)]
    return Diagnostics(tuple(found), request.confidence, purse.spent(), tuple(purse.payments))


def _request(catalog: Catalog, request: Asked, epsilon: float | None, delta: float | None) -> Asked:
    """The parameters of the report: its own price, and all else as in the statement."""
    price = parameters(catalog, epsilon=epsilon, delta=delta, mechanism=request.budget.mechanism).budget
    return replace(request, budget=price, within=None)


def _questions(release: Release, request: Asked) -> Iterator[Question]:
    values = tuple(dict.fromkeys(limit for made in release.calls for limit in _values(made)))
    limits = bound(release.limits, grouped=bool(release.keys), max_rows=request.max_rows, max_groups=request.max_groups)
    if values:
        rows = replace(release.limits, max_rows=limits.rows, max_rows_per_group=None, max_groups=None)
        yield Question(replace(release, limits=rows), values)
    if not limits.weighted:
        return
    people, amount = rows_each(release)
    yield Question(people, (_people("rows", amount, limits.rows),))
    if release.keys and limits.groups < limits.rows:
        people, amount = groups_each(release)
        yield Question(people, (_people("groups", amount, limits.groups),))


def _people(what: str, amount: Expr, most: int) -> Limit:
    return Limit(f"{what} of one person", f"{most}", call("greater", [amount, number(most)]))


def _values(made: AggregateCall) -> Iterator[Limit]:
    """The values of an aggregate that have bounds; a condition that is added up has no others."""
    for value in made.arguments:
        known = range_of(value)
        inner = value.arguments[0] if isinstance(value, Call) and value.function in CLIPS else value
        is_number = inner.type in {Type.INTEGER, Type.DECIMAL, Type.FLOAT} and bool(columns_of(inner))
        if is_number and known.is_finite and made.function != "COUNT":
            double = call("cast_float", [inner])
            below, above = call("less", [double, number(known.lower)]), call("greater", [double, number(known.upper)])
            limit = f"{known.lower:g} to {known.upper:g}"
            yield Limit(describe(inner), limit, call("or", [below, above]), made.filter)


def _share(limit: Limit) -> AggregateCall:
    value = call("indicator", [limit.beyond])
    return AggregateCall("", "AVG", (value,), limit.filter, distinct=False, type=Type.FLOAT)


def _clipped(limit: Limit, made: Estimator, index: int, beta: float) -> Clipped:
    estimate = made.estimate(index, beta)
    value, lower, upper = (float(part[0]) for part in (estimate.values, estimate.lower, estimate.upper))
    held = not bool(made.noisy.shown[0])
    return Clipped(limit.of, limit.limit, None if held else value, Interval.of(lower, upper, estimate.statuses[0]))
