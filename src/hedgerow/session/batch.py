"""Many statements as one: bound, priced together, paid for with one charge, and answered each by itself.

The order is that of one statement (`corridor`): everything that can fail without reading a row fails before the charge,
and the charge is durable before the first row is read.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from hedgerow.accounting import gaussian_epsilon
from hedgerow.accounting.budget import Charge, Cost, Spending
from hedgerow.answer import Batch, Payment, Savings, Summary
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import BudgetError, QueryError, carrying
from hedgerow.execution.request import Options
from hedgerow.execution.session import Session, statement_name
from hedgerow.ledger import AnsweredQuestion
from hedgerow.privacy.batch import accuracy_ratio
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement, statement_fingerprint
from hedgerow.release import needs_name
from hedgerow.session.batch_answers import all_mechanisms, batch_answers, named_answers
from hedgerow.session.batch_pricing import BatchPricing
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.bound_batch import AddUp, BoundBatch, Weights
from hedgerow.session.quote import predicted_errors, predicted_totals, share_of, survival
from hedgerow.session.report import Queries, Report

REPRICED = 2
"""Number of rounds that price a statement with a group test, to find its cost alone."""


def ask_batch(
    session: Session, queries: Queries, weights: Weights, minimise: str, options: Options, *, add_up: AddUp = False
) -> Batch:
    """Answer all statements for one charge; where the price of a wanted error depends on sizes, estimate these first.

    Privacy: the charge is durable before the first row is read, and is never given back.
    """
    report = Report.of(queries)
    batch = _AskedBatch(BoundBatch(session, report, weights, minimise, options, add_up=add_up))
    targets = batch.pricing.targets
    if not targets.lacks_sizes():
        return batch.answer()
    sizes, first, rest = targets.estimate()
    estimate = _AskedBatch(BoundBatch(session, Report.of(sizes), None, minimise, first)).answer().receipt
    with carrying(estimate):
        whole = BoundBatch(session, report, weights, minimise, rest, add_up=add_up)
        return after_estimate(_AskedBatch(whole, estimated=True).answer(), estimate)


def quote_batch(
    session: Session, queries: Queries, weights: Weights, minimise: str, options: Options, *, add_up: AddUp = False
) -> BatchQuote:
    """Return the price of all statements together, and their predicted errors. Free; reads no private row."""
    return _AskedBatch(BoundBatch(session, Report.of(queries), weights, minimise, options, add_up=add_up)).quote()


def price_batch(session: Session, report: Report, options: Options) -> tuple[Charge, BatchQuote]:
    """Return the charge and the quote of a report on a ledger where nothing is spent. Free; reads no private row."""
    granted = session.ledger.position(session.analyst).granted
    batch = _AskedBatch(BoundBatch(session, report, None, "mean", {**options, "reuse": False}, remaining=granted))
    return batch.charge, batch.quote()


class _AskedBatch:
    """A batch at its price. Statements about public tables alone are free."""

    def __init__(self, batch: BoundBatch, *, estimated: bool = False) -> None:
        self.batch = batch
        self.pricing = BatchPricing(batch, estimated=estimated)

    def answer(self) -> Batch:
        """Buy what is not stored, and answer every statement."""
        batch, session = self.batch, self.batch.session
        tables = {number: session.public_tables(batch.statements[number].logical) for number in batch.private}
        if not batch.private:
            return named_answers(batch, {}, Summary(None, batch.text), None)
        priced, private, question = self.pricing.priced, self.pricing.priced.private, batch.question
        with session.single_flight(batch.request, statement_name(private)):
            stored = session.find(question, private, batch.request, add_up=bool(batch.add_up))
            if stored is None:
                estimators, receipt = session.buy(question, priced.logical, private, batch.remaining, self._answered())
        used, minimum = all_mechanisms(private.parts), private.parts[0].minimum
        if stored is not None:
            identity = session.ledger.receipt_id(stored[0].charge)
            left = session.ledger.budget(session.analyst).remaining
            whole = Summary(identity, question.text, used, minimum, remaining=left, reused=True)
            return named_answers(batch, batch_answers(batch, priced, stored[1], tables, whole, {}), whole, None)
        charge = Spending(private.charge.epsilon, private.charge.delta)
        paid = Summary(
            receipt.id,
            question.text,
            used,
            minimum,
            charge,
            receipt.share,
            receipt.remaining,
            together=len(batch.private),
        )
        with carrying(receipt):
            alone = self._alone()
            prices = {number: price for number, (price, _) in alone.items()}
            answers = batch_answers(batch, priced, estimators, tables, paid, prices)
            return named_answers(batch, answers, paid, self._savings(alone, charge, receipt.share))

    @property
    def charge(self) -> Charge:
        """The charge of all statements; nothing if all are about public tables."""
        return self.pricing.priced.private.charge if self.batch.private else Charge((), 0.0, 0.0)

    def quote(self) -> BatchQuote:
        """Return the price and the predicted errors."""
        batch, session, confidence = self.batch, self.batch.session, self.batch.request.confidence
        names = [query.name for query in batch.report.queries]
        if not batch.private:
            return BatchQuote(tuple(names), Spending(0.0, 0.0), 0.0, None, confidence, {}, {}, 0)
        priced, private = self.pricing.priced, self.pricing.priced.private
        stored = session.find(batch.question, private, batch.request, add_up=bool(batch.add_up))
        plans = private.parts if stored is None else tuple(estimator.plan for estimator in stored[1])
        errors, totals, survivals = {}, {}, {}
        for number in batch.private:
            logical = batch.statements[number].logical
            own = PrivateStatement(tuple(priced.parts(number, plans)), private.charge)
            tested = [part.selection for part in own.parts if part.selection is not None]
            if tested:
                survivals[names[number]] = max(map(survival, tested), key=lambda levels: levels["50%"])
            errors[names[number]] = predicted_errors(logical, own, 1.0 - confidence)
            totals[names[number]] = predicted_totals(logical, own, 1.0 - confidence)
        left, fits = session.ledger.preview(private.charge, analyst=session.analyst)
        charge, alone = Spending(private.charge.epsilon, private.charge.delta), self._alone()
        share = share_of(private.charge.cost, session.ledger.caps)
        quoted = BatchQuote(
            tuple(names),
            charge,
            share,
            left,
            confidence,
            errors,
            {names[number]: price[0] for number, price in alone.items()},
            len(private.parts),
            fits,
            {name: by_level for name, by_level in totals.items() if by_level},
            self._savings(alone, charge, share),
            survival=survivals,
        )
        if stored is None:
            return quoted
        free, receipt = Spending(0.0, 0.0), session.ledger.receipt_id(stored[0].charge)
        left = session.ledger.budget(session.analyst).remaining
        return replace(
            quoted, charge=free, share=0.0, remaining=left, fits=True, receipt=receipt, alone={}, savings=None
        )

    def _answered(self) -> list[AnsweredQuestion]:
        """Return the statements as the ledger finds them again, each by itself."""
        return [
            AnsweredQuestion(
                statement_fingerprint(self.batch.own[number]),
                needs_name(self.batch.own[number]),
                tuple(self.pricing.priced.positions(number)),
            )
            for number in self.batch.private
        ]

    def _alone(self) -> dict[int, tuple[Spending, Cost]]:
        """Return, for each statement, what it would cost by itself to be as accurate as in the batch.

        Noise falls like 1 / mu, or like 1 / epsilon; so the ratio of two half-widths says how much more is needed. A
        statement that tests groups spends another part of its budget on that at another price: it is priced anew there.
        """
        priced, prices = self.pricing.priced, {}
        for number in self.batch.private:
            own, together = self.batch.own[number], priced.parts(number, priced.private.parts)
            spending, cost = _as_accurate(own, together)
            if any(part.selection is not None for part in own.parts):
                for _ in range(REPRICED):
                    if not EPSILONS[0] <= spending.epsilon <= EPSILONS[1]:
                        break
                    with suppress(QueryError, BudgetError):
                        spending, cost = _as_accurate(self.batch.priced_alone(number, spending.epsilon), together)
            prices[number] = spending, cost
        return prices

    def _savings(self, alone: Mapping[int, tuple[Spending, Cost]], charge: Spending, share: float) -> Savings:
        caps, prices = self.batch.session.ledger.caps, [price for price, _ in alone.values()]
        apart = Spending(math.fsum(one.epsilon for one in prices), math.fsum(one.delta for one in prices))
        return Savings(charge, apart, share, math.fsum(share_of(cost, caps) for _, cost in alone.values()))


def _as_accurate(own: PrivateStatement, together: Sequence[PrivatePlan]) -> tuple[Spending, Cost]:
    """Return the price at which a statement alone is as accurate as in a batch, scaled from another price."""
    factor, cost, delta = accuracy_ratio(together, own), own.charge.cost, own.charge.delta
    if own.parts[0].mechanism == "laplace":
        epsilon = own.charge.epsilon * factor
    else:
        epsilon = gaussian_epsilon(math.sqrt(float(cost.gaussian)) * factor, delta or 1e-300)
    larger = Fraction(factor)
    return Spending(epsilon, delta), Cost(cost.gaussian * larger**2, cost.pure * larger, cost.mass * larger**2)


def after_estimate(batch: Batch, estimate: Summary) -> Batch:
    """Return the batch with the size estimate on its receipt; it may be the only charge, if it was accurate enough."""
    paid = batch.receipt
    payments = tuple(
        Payment(purpose, str(one.id), one.charge, one.share)
        for purpose, one in (("size estimate", estimate), ("answers", paid))
        if not one.reused
    )
    charge = Spending(paid.charge.epsilon + estimate.charge.epsilon, paid.charge.delta + estimate.charge.delta)
    whole = replace(paid, charge=charge, share=paid.share + estimate.share, payments=payments)
    batch.receipt = replace(whole, reused=False)
    for answer in batch:
        if answer.receipt.id is not None:
            answer.receipt = replace(answer.receipt, charge=charge, share=whole.share, payments=payments, reused=False)
    return batch
