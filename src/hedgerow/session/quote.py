"""Price of a statement before it is asked: cost, noise, predicted errors, survival of small groups. Reads no rows."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from hedgerow.accounting.budget import Cost, RemainingBudget, Spending
from hedgerow.accuracy_target.accuracy_first import SIZES, AccuracyFirst, price_target
from hedgerow.accuracy_target.error_forecast import ErrorForecast
from hedgerow.answer.plot import AnyChart, Errors, plot_curve
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.compile import program
from hedgerow.distributions import Gaussian
from hedgerow.error_bars.propagation import row_bounds
from hedgerow.error_bars.provenance.columns import SingleRow, noisy_columns, single_row, totalled_row
from hedgerow.errors import BudgetError, ConditionNotMet, ParameterError, QueryError
from hedgerow.exchange import decode, encode
from hedgerow.execution.answer_notes import quote_notes
from hedgerow.execution.build_answer import mechanisms
from hedgerow.execution.public_tables import public_statement
from hedgerow.execution.request import Question, Request, real
from hedgerow.execution.session import Session
from hedgerow.expressions.facts import declared_values
from hedgerow.expressions.nodes import Column, describe
from hedgerow.figures import finite
from hedgerow.ledger.limits import how_many
from hedgerow.plan.nodes import LogicalPlan, Named
from hedgerow.privacy.levels import ASSUMED_VALUES
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.predicted_error import level_plan
from hedgerow.privacy.sums import Selection
from hedgerow.release import typical
from hedgerow.session.corridor import BoundStatement
from hedgerow.session.page import GroupKey, QuotedPrice, page_text, quote_html, quote_page

NO_NONCE = "0" * 32
"""Placeholder for the nonce in displayed SQL."""

BOUNDS_FIRST = (
    "Bounds, or how many rows one person counts for, would be found first, for a part of epsilon; errors that depend "
    "on them cannot be predicted."
)

CURVE = tuple(10 ** (step / 8) for step in range(-8, 9))
"""The epsilons of a curve, as multiples of the quoted one."""


@dataclass(frozen=True, repr=False)
class Quote(QuotedPrice):
    """Price of a statement, and its predicted errors.

    Attributes:
        charge: The statement's own guarantee.
        share: The largest of the fractions it would take of the three caps.
        remaining: What would be left afterwards (what is left now, if it does not fit).
        fits: Whether the ledger would admit it now.
        errors: For each noisy column, the half width of its interval in groups of 100, 1 000, 10 000 and 100 000 rows;
            infinite where it cannot be predicted. With ROLLUP, CUBE or GROUPING SETS, those of the finest groups.
        totals: With ROLLUP, CUBE or GROUPING SETS, the same for each coarser level ("total", "total by region").
        survival: The number of people from which a group is shown with 50 % and with 95 % probability.
        repeats: Number of such statements that the remaining budget buys, each anew.
        offer: With `within=`, the cost of the target error; `charge` is then the smallest sufficient one, or, if a size
            estimate would be bought first, the most that both would cost.
        receipt: If the answer is already paid for, the receipt of that charge. `charge` is then zero, and errors and
            noise are those of the stored release.
        anew: If the answer is already paid for, the cost of the question without reuse (`reuse=False`).
        groups: The keys that the people are grouped by, with their declared values.
    """

    _reprice: Callable[[float], Errors] | None = field(default=None, repr=False, compare=False)
    _reached: Callable[[int, bool], float] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return page_text(quote_page(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return quote_html(self)

    def errors_at(self, epsilon: float) -> Errors:
        """Predict the errors at another epsilon. Free; reads no private row. The database must be open."""
        real("epsilon", epsilon, *EPSILONS)
        if self._reprice is None and self.errors:
            raise ConditionNotMet("Only a quote of a database can be priced anew.", condition="quoted by a database")
        return self.errors if self._reprice is None else self._reprice(float(epsilon))

    def reached_error(self, size: int, *, relative: bool = False) -> float:
        """Return the error that the price buys in groups of `size` rows: the inverse of `within=`. Free.

        Args:
            size: The number of rows of a group.
            relative: Return it as a share of the value. Where the value may be zero, no share can be promised, and
                that of a value in the middle of its range is returned.

        Returns:
            The largest error of all columns; infinite where it cannot be predicted before the question is asked.
        """
        return math.inf if self._reached is None else self._reached(size, relative)

    def plot(self) -> AnyChart:
        """Draw an Altair chart of error against epsilon, from a tenth to ten times of the quoted epsilon."""
        if not self.errors:
            raise ParameterError(
                "No column of this question has an error to plot.",
                code="bad-plot",
                hint="Public data is exact, and keys have no error.",
            )
        quoted = (self.anew or self.charge).epsilon
        curve = {quoted: self.errors} if self._reprice is None else self._curve(quoted)
        return plot_curve(curve, quoted, self.confidence)

    def _curve(self, quoted: float) -> dict[float, Errors]:
        """Predict errors around the quoted price, except where the question cannot be asked at all."""
        curve: dict[float, Errors] = {}
        for factor in CURVE:
            epsilon = quoted * factor
            if factor == 1:
                curve[quoted] = self.errors if self.anew is None else self.errors_at(quoted)
            elif EPSILONS[0] <= epsilon <= EPSILONS[1]:
                with suppress(QueryError, BudgetError):
                    curve[epsilon] = self.errors_at(epsilon)
        return curve

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        left = self.remaining
        return {
            "query": self.query,
            "columns": list(self.errors),
            "errors": finite(self.errors),
            **({"totals": finite(self.totals)} if self.totals else {}),
            "confidence": self.confidence,
            "charge": {"epsilon": self.charge.epsilon, "delta": self.charge.delta, "share": self.share},
            "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
            "fits": self.fits,
            "repeats": self.repeats,
            "reused": self.reused,
            "receipt": self.receipt,
            "anew": None if self.anew is None else {"epsilon": self.anew.epsilon, "delta": self.anew.delta},
            **({} if self.offer is None else {"within": self.offer.to_dict()}),
            "survival": self.survival,
            "groups": [{"name": key.name, "values": key.values} for key in self.groups],
            "mechanisms": [mechanism.to_dict() for mechanism in self.mechanisms],
            "sql": list(self.sql),
        }


def dump_quote(quote: Quote) -> dict[str, Any]:
    """Return a quote as plain JSON, from which `load_quote` makes an equal one."""
    return {"quote": encode(quote), "reprices": quote._reprice is not None}  # noqa: SLF001 - of the class above


def load_quote(document: Mapping[str, Any], reprice: Callable[[float], Errors]) -> Quote:
    """Return the quote that `dump_quote` wrote; `reprice` predicts the errors at another epsilon."""
    quote: Quote = decode(Quote, document["quote"])
    return replace(quote, _reprice=reprice) if document["reprices"] else quote


@dataclass(frozen=True)
class PricedStatement:
    """Quote of a statement, with the plan that was priced; `parts` are those of a plan over private rows."""

    quote: Quote
    logical: LogicalPlan
    parts: tuple[PrivatePlan, ...] = ()


def quote_statement(session: Session, statement: BoundStatement) -> Quote:
    """Quote a statement. Free; reads no private row."""
    return price_statement(session, statement).quote


def price_statement(session: Session, statement: BoundStatement) -> PricedStatement:
    """Price a statement before it is asked. Free; reads no private row.

    If its bounds have yet to be found, and were not bought before, the quote covers the whole budget and leaves out the
    errors that depend on them.
    """
    if statement.automatic is None:
        return _priced(session, statement)
    try:
        known = statement.automatic.completed(buy=False)
    except LookupError:
        request, logical = statement.automatic.assumed()
    else:
        return _priced(session, replace(statement, request=known.request, logical=known.logical))
    priced = _priced(session, replace(statement, request=request, logical=logical))
    quote = replace(
        priced.quote,
        charge=Spending(statement.request.budget.epsilon, statement.request.budget.delta or 0.0),
        errors={name: dict.fromkeys(by_size, math.inf) for name, by_size in priced.quote.errors.items()},
        totals={},
        mechanisms=(),
        sql=(),
        repeats=None,
        notes=(*priced.quote.notes, BOUNDS_FIRST),
        _reprice=None,
        _reached=None,
    )
    return replace(priced, quote=quote)


def _priced(session: Session, statement: BoundStatement) -> PricedStatement:
    """Price a statement whose bounds are complete."""
    request, logical, ledger = statement.request, statement.logical, session.ledger
    if not logical.releases:
        sql = public_statement(logical, session.catalog, session.backend.dialect).sql
        free = Quote(statement.text, Spending(0.0, 0.0), 0.0, None, 1.0, (), {}, None, (sql,))
        return PricedStatement(free, logical)
    remaining, question = session.remaining(), Question.of(statement.text, statement.params, request)
    target_price, stored = None, None
    if request.within is not None:
        public = session.public_tables(logical)
        target = AccuracyFirst(session, question, logical, request, request.within, remaining, public)
        target_price, stored = price_target(target), target.reached()
    private = session.price(logical, request, remaining, None if target_price is None else target_price.epsilon)
    if stored is None and (target_price is None or target_price.estimate is None):
        stored = session.find(question, private, request)
    parts = private.parts if stored is None else tuple(estimator.plan for estimator in stored[1])
    left, fits = ledger.preview(private.charge, analyst=session.analyst)
    programs = [program(part, session.backend.dialect, NO_NONCE) for part in private.parts]
    quote = Quote(
        statement.text,
        Spending(private.charge.epsilon, private.charge.delta),
        share_of(private.charge.cost, ledger.caps),
        left,
        request.confidence,
        tuple(mechanism for part in parts for mechanism in mechanisms(part)),
        predicted_errors(logical, replace(private, parts=parts), 1.0 - request.confidence),
        next((survival(part.selection) for part in parts if part.selection is not None), None),
        tuple(text for steps in programs for text in steps.texts()),
        fits and (target_price is None or target_price.fits),
        (*(() if target_price is None else target_price.notes), *quote_notes(parts), *_totals_note(logical)),
        how_many(private.charge, ledger.remaining_cost(session.analyst)),
        target_price,
        totals=predicted_totals(logical, replace(private, parts=parts), 1.0 - request.confidence),
        groups=tuple(GroupKey(_key_name(logical, key), declared_values(key.expr)) for key in logical.releases[0].keys),
        _reprice=partial(_errors_at, session, logical, request, remaining),
        _reached=partial(_reached_error, session, logical, request, replace(private, parts=parts)),
    )
    if stored is not None:
        quote = replace(
            quote,
            charge=Spending(0.0, 0.0),
            share=0.0,
            remaining=ledger.budget(session.analyst).remaining,
            fits=True,
            receipt=ledger.receipt_id(stored[0].charge),
            anew=quote.charge,
        )
    return PricedStatement(quote, logical, private.parts)


def _key_name(logical: LogicalPlan, key: Named) -> str:
    """Return the name that a computed key has in the answer; of a column, and of a key that is not shown, its text."""
    if not isinstance(key.expr, Column) and len(logical.releases) == 1:
        for shown, name in zip(logical.root.columns, logical.names, strict=False):
            if isinstance(shown.expr, Column) and shown.expr.name == key.name:
                return name
    return describe(key.expr)


def _errors_at(
    session: Session, logical: LogicalPlan, request: Request, remaining: RemainingBudget, epsilon: float
) -> Errors:
    """Predict the errors at another epsilon. Free; reads no private row."""
    return predicted_errors(logical, session.price(logical, request, remaining, epsilon), 1.0 - request.confidence)


def _reached_error(
    session: Session,
    logical: LogicalPlan,
    request: Request,
    statement: PrivateStatement,
    size: int,
    relative: bool,  # noqa: FBT001 - passed on
) -> float:
    """Return the smallest target that a priced statement reaches; else the error in groups of typical values."""
    forecast = ErrorForecast(logical, request, session.postprocess, {})
    promised = forecast.promised(statement, size, relative=relative)
    origin = single_row(logical.root)
    if math.isfinite(promised) or origin is None:
        return promised
    errors = forecast.errors(origin, typical(forecast.part(statement, origin), np.array([float(size)])), forecast.beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [float((error / value if relative else error)[0]) for value, error in errors.values()]
    return max((math.inf if math.isnan(share) else share for share in shares), default=math.inf)


def share_of(cost: Cost, caps: Cost) -> float:
    """Return the largest of the fractions that `cost` takes of `caps`."""
    pairs = [(cost.gaussian, caps.gaussian), (cost.pure, caps.pure), (cost.mass, caps.mass)]
    return max(float(part / cap) if cap else (math.inf if part else 0.0) for part, cap in pairs)


def predicted_errors(logical: LogicalPlan, statement: PrivateStatement, beta: float) -> dict[str, dict[int, float]]:
    """Predict half widths for groups of public sizes, by the same code that computes the intervals of an answer.

    Each group is assumed to have its values in the middle of their range, where the count is exact. Numbers that
    combine several groups are not predicted, except for the totals of grouping sets (`predicted_totals`).
    """
    totalled = totalled_row(logical.root)
    origin = single_row(logical.root) if totalled is None else totalled[0]
    if origin is None:
        noisy = zip(logical.names, noisy_columns(logical.root), strict=True)
        return {name: dict.fromkeys(SIZES, math.inf) for name, rests in noisy if rests}
    plan = statement.parts[logical.releases.index(origin.release)]
    if totalled is None:
        return _errors_of(plan, logical, origin, beta)
    finest = max(totalled[1], key=len)
    return _errors_of(level_plan(plan, finest), logical, origin, beta)


def predicted_totals(logical: LogicalPlan, statement: PrivateStatement, beta: float) -> dict[str, Errors]:
    """Predict half widths for the totals of each grouping set but the finest, from the plan alone.

    A key whose values nobody declared is taken to have `ASSUMED_VALUES` of them, which the quote notes.
    """
    totalled = totalled_row(logical.root)
    if totalled is None:
        return {}
    origin, sets = totalled
    plan = statement.parts[logical.releases.index(origin.release)]
    errors: dict[str, Errors] = {}
    for level in dict.fromkeys(sets):
        if level != max(sets, key=len):
            names = ", ".join(describe(plan.release.keys[index].expr) for index in level)
            label = f"total by {names}" if names else "total"
            errors[label] = _errors_of(level_plan(plan, level), logical, origin, beta)
    return errors


def _errors_of(plan: PrivatePlan, logical: LogicalPlan, origin: SingleRow, beta: float) -> dict[str, dict[int, float]]:
    hypothetical = typical(plan, np.array(SIZES, dtype=float))
    keys = {key.name for key in plan.release.keys}
    errors: dict[str, dict[int, float]] = {}
    for name, expr in zip(logical.names, origin.columns, strict=True):
        if isinstance(expr, Column) and expr.name in keys:
            continue
        bounds = row_bounds(expr, hypothetical, beta) if expr.type.is_numeric else None
        if bounds is not None:
            widths = (bounds.upper - bounds.lower) / 2
            errors[name] = {size: float(width) for size, width in zip(SIZES, widths, strict=True)}
    return errors


def _totals_note(logical: LogicalPlan) -> tuple[str, ...]:
    """Return a note if totals are predicted for keys whose number of values is not known."""
    totalled = totalled_row(logical.root)
    if totalled is None or all(declared_values(key.expr) is not None for key in totalled[0].release.keys):
        return ()
    return (f"Errors of totals are for {ASSUMED_VALUES} values of each key whose values nobody declared.",)


def survival(selection: Selection) -> dict[str, float]:
    """Return the number of people from which a group is shown with 50 % and with 95 % probability."""
    threshold = float(selection.threshold)
    margin = (
        selection.noise.sigma * 1.6448536
        if isinstance(selection.noise, Gaussian)
        else selection.noise.scale * math.log(10)
    )
    return {
        "threshold": threshold,
        "50%": max(threshold, float(selection.minimum)),
        "95%": max(threshold + margin, float(selection.minimum)),
    }
