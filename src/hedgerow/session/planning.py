"""Plan of a year: the budget that a list of reports takes, or the errors that a budget allows.

A plan lists reports and how often each is published. Every time is a purchase of its own, because the data has changed.
All prices follow from plans; nothing is read and nothing is spent.
"""

import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.accounting.budget import Cost, Spending
from hedgerow.answer.plot import Errors
from hedgerow.answer.render import table_text
from hedgerow.catalog.load_budget import DELTAS
from hedgerow.errors import ConditionNotMet, ParameterError, QueryError
from hedgerow.execution.request import Options, real
from hedgerow.execution.session import Session
from hedgerow.figures import figure, finite
from hedgerow.ledger.limits import MASS_SHARE, RESERVE, caps_for
from hedgerow.session.batch import price_batch
from hedgerow.session.quote import share_of
from hedgerow.session.report import Report

if TYPE_CHECKING:
    from rich.table import Table

MOST_TIMES = 100_000
LARGEST_EPSILON = 1e4
HALVINGS = 60
ROUNDS = 12
"""Rounds in which prices are fitted to a budget."""

CLOSE = 0.995
"""Part of a budget that a fitted plan uses at least."""

SIZE = 1_000
"""Rows of the groups whose errors are shown."""


@dataclass(frozen=True, slots=True)
class PlannedReport:
    """A report of a plan.

    Attributes:
        name: Its name.
        report: Its questions, some with wanted errors.
        times: How often it is published within the plan.
        epsilon: The price of each time; None for the catalog's default, or for what the wanted errors take.
    """

    name: str
    report: Report
    times: int = 1
    epsilon: float | None = None


@dataclass(frozen=True, slots=True)
class PricedReport:
    """A planned report at its price: the charge of one time, its part of the budget, and its predicted errors."""

    name: str
    times: int
    charge: Spending
    cost: Cost
    share: float
    errors: Mapping[str, Errors]


@dataclass(frozen=True, repr=False)
class BudgetPlan:
    """Price of a plan.

    Attributes:
        reports: The reports, each with the price of one time and its predicted errors.
        needed: The smallest budget that covers everything.
        pure_epsilon: The part of `needed.epsilon` that must be kept for Laplace noise.
        budget: The budget that the plan is compared with: what the catalog grants, or what was stated.
        share: The part of that budget which the plan takes; above 1 it does not fit.
        fitted: True if prices were chosen so that the plan fits.
        refresh: The time after which the catalog grants its budget anew; None if never.
    """

    reports: tuple[PricedReport, ...]
    needed: Spending
    pure_epsilon: float
    budget: Spending
    share: float
    fitted: bool
    refresh: timedelta | None = None

    @property
    def fits(self) -> bool:
        """True if the budget covers the plan."""
        return self.share <= 1.0

    def __str__(self) -> str:
        return f"{table_text(self.table())}\n{table_text(self.errors_table())}\n{self.caption}"

    __repr__ = __str__

    def table(self) -> "Table":
        """The prices as a Rich table."""
        from rich.table import Table  # noqa: PLC0415 - Rich is loaded when something is printed

        table = Table("report")
        for heading in ("times", "epsilon each", "of the budget each", "of the budget in all"):
            table.add_column(heading, justify="right")
        for one in self.reports:
            per_report, whole = f"{one.share:.2%}", f"{one.share * one.times:.2%}"
            table.add_row(one.name, f"{one.times:,}", f"{one.charge.epsilon:.3g}", per_report, whole)
        return table

    def errors_table(self) -> "Table":
        """The predicted errors as a Rich table."""
        from rich.table import Table  # noqa: PLC0415 - likewise

        table = Table("report", "question", "column")
        table.add_column(f"± in a group of {SIZE:,} rows", justify="right")
        for one in self.reports:
            for question, columns in one.errors.items():
                for column, by_size in columns.items():
                    error = by_size.get(SIZE, math.inf)
                    table.add_row(one.name, question, column, figure(error) if math.isfinite(error) else "?")
        return table

    @property
    def caption(self) -> str:
        """Return a few sentences: the budget that the plan needs, and whether the budget at hand covers it."""
        if self.refresh is None:
            return self._comparison
        days = f"{self.refresh.total_seconds() / 86400:g} days"
        return (
            f"{self._comparison} The catalog grants its budget anew every {days}: this is as if everything fell into "
            f"{days}."
        )

    @property
    def _comparison(self) -> str:
        pure = f", of which pure_epsilon {self.pure_epsilon:.3g}" if self.pure_epsilon else ""
        needs = f"The plan needs a budget of epsilon {self.needed.epsilon:.4g}{pure}, delta {self.needed.delta:.3g}."
        budget = f"epsilon {self.budget.epsilon:g}, delta {self.budget.delta:g}"
        if self.fitted:
            return f"{needs} Prices are fitted to {budget}, of which they take {self.share:.1%}."
        if self.fits:
            return f"{needs} The budget of {budget} covers it: the plan takes {self.share:.1%}."
        return (
            f"{needs} The budget of {budget} does not cover it: the plan would take {self.share:.1%}. Fit prices to it."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        return {
            "reports": [
                {
                    "name": one.name,
                    "times": one.times,
                    "epsilon": one.charge.epsilon,
                    "delta": one.charge.delta,
                    "share": one.share,
                    "errors": finite(one.errors),
                }
                for one in self.reports
            ],
            "needed": {"epsilon": self.needed.epsilon, "delta": self.needed.delta, "pure_epsilon": self.pure_epsilon},
            "budget": {"epsilon": self.budget.epsilon, "delta": self.budget.delta},
            "share": self.share,
            "fits": self.fits,
            "fitted": self.fitted,
            "refresh": None if self.refresh is None else self.refresh.total_seconds(),
        }


def read_plan(path: str | os.PathLike[str], *, times: int = 1, epsilon: float | None = None) -> list[PlannedReport]:
    """Read a plan: TOML with a `[[report]]` for each report (`file` or `sql`, `times`, `epsilon`, `name`).

    A file of SQL is a plan of one report, with the `times` and the `epsilon` that are given here.
    """
    file = Path(path)
    if file.suffix.lower() == ".sql":
        entry = {"file": file.name, "times": times} | ({} if epsilon is None else {"epsilon": epsilon})
        return [_planned(entry, file.parent)]
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(f"The plan {file.name} cannot be read: {type(error).__name__}.") from None
    return parse_plan(text, file.parent)


def parse_plan(text: str, folder: Path | None = None) -> list[PlannedReport]:
    """Return the reports that the text of a plan lists; without a folder, no report may name a file."""
    try:
        listed = tomllib.loads(text).get("report")
    except tomllib.TOMLDecodeError as error:
        raise _wrong(f"The plan is not TOML: {error}.") from None
    if not isinstance(listed, list) or not listed:
        raise _wrong("A plan lists reports.")
    return [_planned(entry, folder) for entry in listed]


def _planned(entry: object, folder: Path | None) -> PlannedReport:
    sources = ("sql",) if folder is None else ("file", "sql")
    named = [word for word in sources if isinstance(entry, dict) and isinstance(entry.get(word), str)]
    if not isinstance(entry, dict) or len(named) != 1:
        raise _wrong(f"A report of a plan has its questions in {' or '.join(sources)}.")
    unknown = set(entry) - {*sources, "times", "epsilon", "name"}
    if unknown:
        raise _wrong(f"{min(unknown)!r} is not a setting of a report.")
    times, name = entry.get("times", 1), entry.get("name", Path(entry["file"]).stem if named == ["file"] else "report")
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise _wrong(f"times must be a whole number from 1 to {MOST_TIMES:,}.")
    epsilon = entry.get("epsilon")
    price = None if epsilon is None else real("epsilon", epsilon, 1e-6, LARGEST_EPSILON)
    report = Report.parse(entry["sql"]) if folder is None or named == ["sql"] else Report.read(folder / entry["file"])
    return PlannedReport(str(name), report, times, price)


def _wrong(message: str) -> ParameterError:
    hint = 'Write [[report]], then file = "monthly.sql" and times = 12, for each report.'
    return ParameterError(message, code="bad-plan", hint=hint)


def plan_reports(
    session: Session,
    reports: Sequence[PlannedReport],
    budget: tuple[float, float] | None,
    options: Options,
    *,
    fit: bool,
) -> BudgetPlan:
    """Price a plan, or fit its prices to a budget.

    Args:
        session: The database; its ledger is not touched.
        reports: The plan.
        budget: Epsilon and delta to compare with; None for the catalog's.
        options: Options of every report.
        fit: Choose prices, in the proportions of the plan, so that the budget is used up. Wanted errors then count no
            more: what is reached is shown.
    """
    policy = session.catalog.budget
    granted = Spending(policy.epsilon, policy.delta) if budget is None else _stated(budget)
    pure = policy.pure_epsilon * (granted.epsilon / policy.epsilon)
    caps = granted_cost(granted, min(pure, granted.epsilon))
    priced = [_price(session, planned, caps, options, 1.0) for planned in reports]
    if fit and any(one.charge.epsilon for one in priced):
        priced = _fitted(session, reports, caps, options, priced)
    total = _total(priced)
    needed, pure_needed = smallest_budget(total, granted.delta)
    return BudgetPlan(tuple(priced), needed, pure_needed, granted, share_of(total, caps), fit, policy.refresh)


def _stated(budget: object) -> Spending:
    if not isinstance(budget, Sequence) or isinstance(budget, str) or len(budget) != 2:
        raise ParameterError(
            "A budget has an epsilon and a delta.", code="parameter-pair", hint="Pass budget=(3.0, 1e-6)."
        )
    return Spending(real("epsilon", budget[0], 1e-6, LARGEST_EPSILON), real("delta", budget[1], *DELTAS))


def granted_cost(budget: Spending, pure_epsilon: float) -> Cost:
    """Return what a budget grants, in the three coordinates of the ledger."""
    return caps_for(budget.epsilon, budget.delta, pure_epsilon).cost


def smallest_budget(total: Cost, delta: float) -> tuple[Spending, float]:
    """Return the smallest budget at `delta` that covers a cost, and its part for Laplace noise.

    Delta is larger where the thresholds of undeclared keys take more than a tenth of it.

    Example:
        >>> from fractions import Fraction
        >>> budget, pure = smallest_budget(Cost(Fraction("0.4159"), Fraction(0), Fraction("1e-8")), 1e-6)
        >>> round(budget.epsilon, 3), budget.delta, pure
        (3.0, 1e-06, 0.0)
    """
    if total == Cost():
        return Spending(0.0, delta), 0.0
    pure = max(float(total.pure - RESERVE), 0.0)
    enough = max(delta, float(total.mass / MASS_SHARE) * (1 + 1e-9))
    low, high = pure, max(2 * pure, 1e-3)
    while not _covers(high, enough, pure, total):
        high *= 2
        if high > LARGEST_EPSILON:
            raise ConditionNotMet(
                "No budget within the allowed range is enough for this plan.",
                condition=f"epsilon <= {LARGEST_EPSILON:g}",
                hint="Ask for less.",
            )
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _covers(middle, enough, pure, total) else (middle, high)
    return Spending(high, enough), pure


def _covers(epsilon: float, delta: float, pure: float, total: Cost) -> bool:
    return epsilon > pure and granted_cost(Spending(epsilon, delta), pure).gaussian >= total.gaussian


def _price(session: Session, planned: PlannedReport, caps: Cost, options: Options, factor: float) -> PricedReport:
    own: Options = {**options}
    if planned.epsilon is not None:
        own["epsilon"] = planned.epsilon * factor
    elif factor != 1.0:
        raise ConditionNotMet("Only stated prices can be fitted.", condition="every report states epsilon")
    try:
        charge, quote = price_batch(session, planned.report, own)
    except QueryError as error:
        error.message = f"{planned.name}: {error.message}"
        raise
    share = share_of(charge.cost, caps)
    return PricedReport(planned.name, planned.times, quote.charge, charge.cost, share, quote.errors)


def _fitted(
    session: Session, reports: Sequence[PlannedReport], caps: Cost, options: Options, priced: Sequence[PricedReport]
) -> list[PricedReport]:
    """Return the plan at prices, in the same proportions, that use up the budget and no more.

    The cost of Gaussian noise grows about like the square of epsilon, that of Laplace noise like epsilon: each round
    changes the prices by the root of what is left over, and a plan that does not fit is never kept.
    """
    free = []
    for planned, one in zip(reports, priced, strict=True):
        untargeted = tuple(replace(query, within=None) for query in planned.report.queries)
        epsilon = one.charge.epsilon or 1.0  # a report about public tables is free at any price
        free.append(replace(planned, report=replace(planned.report, queries=untargeted), epsilon=epsilon))
    factor, best = 1.0, None
    low, high = 0.0, math.inf
    for _ in range(ROUNDS):
        tried = [_price(session, planned, caps, options, factor) for planned in free]
        share = share_of(_total(tried), caps)
        if share <= 1.0:
            best, low = tried, factor
            if share >= CLOSE:
                break
        else:
            high = factor
        factor *= math.sqrt(CLOSE**0.5 / share)
        if not low < factor < high:
            factor = (low + high) / 2 if math.isfinite(high) else 2 * low
    if best is None:
        raise ConditionNotMet(
            "The budget is too small for this plan.", condition="share <= 1", hint="Publish less often."
        )
    return best


def _total(priced: Sequence[PricedReport]) -> Cost:
    costs = [one.cost for one in priced for _ in range(one.times)]
    return sum(costs, Cost())
