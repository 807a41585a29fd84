"""Many statements as one: bound, priced together, paid for with one charge, and answered each by itself.

The order is that of one statement (`corridor`): everything that can fail without reading a row fails before the charge,
and the charge is durable before the first row is read. What statements share is bought once (`privacy.batch`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import pyarrow as pa

from hedgerow.accounting import gaussian_epsilon
from hedgerow.accounting.budget import Charge, Cost, RemainingBudget, Spending
from hedgerow.accuracy_target.accuracy_first import AccuracyFirst
from hedgerow.accuracy_target.epsilon_search import DELTA_SHARE, too_dear
from hedgerow.answer import Answer, Batch, Mechanism, Payment, Savings, Summary, diagnosable
from hedgerow.calibration.diagnose import diagnose
from hedgerow.errors import ParameterError, QueryError, Span, carrying
from hedgerow.execution.build_answer import build_answer
from hedgerow.execution.public_tables import known_keys, read_public
from hedgerow.execution.request import Options, Question, real, resolve_request
from hedgerow.execution.session import Session, bought_level, statement_name
from hedgerow.execution.summary import mechanisms
from hedgerow.ledger import AnsweredQuestion
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.batch import (
    SharedRelease,
    accuracy_ratio,
    best_shares,
    least_costs,
    noise_cost,
    share_releases,
)
from hedgerow.privacy.fingerprint import statement_fingerprint
from hedgerow.privacy.gaussian import ADDED_SHARE, HEADROOM, statement_mu
from hedgerow.privacy.marginals import pool_marginals
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement
from hedgerow.privacy.price import price_uses
from hedgerow.release import Estimator, needs_name
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.corridor import BoundStatement, bind_statement
from hedgerow.session.quote import predicted_errors, predicted_totals, share_of
from hedgerow.session.report import WEIGHTS, Queries, Report, ReportQuery

SPARE = 1.001
"""Factor on what a wanted error costs, for the rounding of noise to its lattice."""


Weights = Sequence[float] | Mapping[str, float] | None
"""Weights of the statements of a batch, in order or by name."""


def ask_batch(session: Session, queries: Queries, weights: Weights, minimise: str, options: Options) -> Batch:
    """Answer all statements for one charge.

    Privacy: the charge is durable before the first row is read, and is never given back.
    """
    asked = _AskedBatch(session, Report.of(queries), weights, minimise, options)
    if not asked.lacks_sizes():
        return asked.answer()
    estimate, rest = asked.estimate_sizes()
    with carrying(estimate):
        return after_estimate(_AskedBatch(session, Report.of(queries), weights, minimise, rest).answer(), estimate)


def quote_batch(session: Session, queries: Queries, weights: Weights, minimise: str, options: Options) -> BatchQuote:
    """Return the price of all statements together, and their predicted errors. Free; reads no private row."""
    return _AskedBatch(session, Report.of(queries), weights, minimise, options).quote()


def price_batch(session: Session, report: Report, options: Options) -> tuple[Charge, BatchQuote]:
    """Return the charge and the quote of a report as if nothing of it had been answered. Free; reads no private row."""
    asked = _AskedBatch(session, report, None, "mean", {**options, "reuse": False})
    return asked.charge, asked.quote()


@dataclass(frozen=True)
class _Priced:
    """The shared releases at their price."""

    shared: Sequence[SharedRelease]
    logical: LogicalPlan
    private: PrivateStatement

    def parts(self, number: int, plans: Sequence[PrivatePlan]) -> list[PrivatePlan]:
        """Return the releases of one statement, in its own order, as parts of the shared ones."""
        plans_by_part = {
            member.part: member.inside(plan)
            for release, plan in zip(self.shared, plans, strict=True)
            for member in release.members
            if member.statement == number
        }
        return [plans_by_part[part] for part in sorted(plans_by_part)]

    def positions(self, number: int) -> list[int]:
        """Return the shared releases that the releases of one statement are in, in its own order."""
        positions = {
            member.part: position
            for position, release in enumerate(self.shared)
            for member in release.members
            if member.statement == number
        }
        return [positions[part] for part in sorted(positions)]


class _AskedBatch:
    """A batch that was asked. Its statements are numbered; those about public tables alone are free."""

    def __init__(self, session: Session, report: Report, weights: Weights, minimise: str, options: Options) -> None:
        self._session = session
        self._report = report
        self._weights = _weights(report, weights)
        self._minimise = minimise
        self._options = options
        self._request = resolve_request(session.catalog, **options)
        self._statements = [self._bound(query) for query in report.queries]
        self._private = [number for number, one in enumerate(self._statements) if one.logical.releases]

    def answer(self) -> Batch:
        """Buy what is not stored, and answer every statement."""
        session = self._session
        tables = {number: session.public_tables(self._statements[number].logical) for number in self._private}
        if not self._private:
            return self._batch({}, Summary(None, self._text), None)
        priced = self._priced
        private, question = priced.private, self._question
        with session.single_flight(self._request, statement_name(private)):
            stored = session.find(question, private, self._request)
            if stored is None:
                estimators, receipt = session.buy(question, priced.logical, private, self._remaining, self._answered())
        if stored is not None:
            identity = session.ledger.receipt_id(stored[0].charge)
            left = session.ledger.budget(session.analyst).remaining
            whole = Summary(
                identity,
                question.text,
                _all_mechanisms(private.parts),
                private.parts[0].minimum,
                remaining=left,
                reused=True,
            )
            return self._batch(self._answers(stored[1], tables, whole, {}), whole, None)
        charge = Spending(private.charge.epsilon, private.charge.delta)
        paid = Summary(
            receipt.id,
            question.text,
            _all_mechanisms(private.parts),
            private.parts[0].minimum,
            charge,
            receipt.share,
            receipt.remaining,
            together=len(self._private),
        )
        with carrying(receipt):
            alone = self._alone()
            answers = self._answers(estimators, tables, paid, {number: price[0] for number, price in alone.items()})
            return self._batch(answers, paid, self._savings(alone, charge, receipt.share))

    @property
    def charge(self) -> Charge:
        """The charge of all statements; nothing if all are about public tables."""
        return self._priced.private.charge if self._private else Charge((), 0.0, 0.0)

    def quote(self) -> BatchQuote:
        """Return the price and the predicted errors."""
        session, confidence = self._session, self._request.confidence
        names = [query.name for query in self._report.queries]
        if not self._private:
            return BatchQuote(tuple(names), Spending(0.0, 0.0), 0.0, None, confidence, {}, {}, 0)
        priced, private = self._priced, self._priced.private
        stored = session.find(self._question, private, self._request)
        plans = private.parts if stored is None else tuple(estimator.plan for estimator in stored[1])
        errors, totals = {}, {}
        for number in self._private:
            logical = self._statements[number].logical
            own = PrivateStatement(tuple(priced.parts(number, plans)), private.charge)
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
        )
        if stored is None:
            return quoted
        free, receipt = Spending(0.0, 0.0), session.ledger.receipt_id(stored[0].charge)
        left = session.ledger.budget(session.analyst).remaining
        return replace(
            quoted, charge=free, share=0.0, remaining=left, fits=True, receipt=receipt, alone={}, savings=None
        )

    @cached_property
    def _remaining(self) -> RemainingBudget:
        return self._session.remaining()

    @cached_property
    def _text(self) -> str:
        """The statements as the history shows them."""
        return "\n".join(f"-- name: {query.name}\n{query.sql};" for query in self._report.queries)

    @property
    def _question(self) -> Question:
        stated = self._request.budget
        targets = "; ".join(str(one.request.within) for one in self._statements)
        return Question(self._text, None, (stated.epsilon, stated.delta, stated.mechanism, targets))

    def _bound(self, query: ReportQuery) -> BoundStatement:
        """Bind one statement; its error names it."""
        within = self._options.get("within") if query.within is None else query.within
        options: Options = {**self._options, "within": within}  # type: ignore[typeddict-item]
        with _naming(self._report, query):
            bound = bind_statement(self._session, query.sql, None, options)
            if bound.automatic is not None:
                raise ParameterError(
                    "A batch takes bounds as declared.",
                    code="batch-bounds",
                    hint='Ask this one alone with bounds="auto".',
                )
            return bound

    @cached_property
    def _mechanism(self) -> str:
        """The noise of all statements: Gaussian, which composes best, unless only pure epsilon covers the price."""
        stated, remaining = self._request.budget, self._remaining
        if stated.mechanism != "auto":
            return stated.mechanism
        if stated.delta is None:
            return "laplace"
        fits = statement_mu(stated.epsilon, stated.delta) ** 2 <= remaining.gaussian_left
        return "gaussian" if fits or remaining.pure_left < stated.epsilon else "laplace"

    @cached_property
    def _own(self) -> dict[int, PrivateStatement]:
        """Every statement alone, for the whole price of the batch."""
        return {number: self._priced_alone(number, self._request.budget.epsilon) for number in self._private}

    def _priced_alone(self, number: int, epsilon: float) -> PrivateStatement:
        statement = self._statements[number]
        budget = replace(self._request.budget, mechanism=self._mechanism)
        request = replace(statement.request, budget=budget, reuse=False, within=None)
        with _naming(self._report, self._report.queries[number]):
            return self._session.price(statement.logical, request, self._remaining, epsilon)

    @cached_property
    def _priced(self) -> _Priced:
        """The shared releases, with the shares of the budget that lower the errors most."""
        shared = share_releases([(self._statements[number].logical, self._own[number]) for number in self._private])
        shared = [_renumbered(release, self._private) for release in shared]
        logical = LogicalPlan(
            self._statements[self._private[0]].logical.root, tuple(release.use.release for release in shared), ()
        )
        even = self._price(shared, logical, None, None)
        needed = self._needed()
        if needed:
            epsilon, shares = self._for_targets(even, shared, needed)
        else:
            epsilon, shares = None, best_shares(even, shared, self._weights, self._minimise)
        private = self._price(shared, logical, epsilon, shares)
        weights = [math.fsum(self._weights[member.statement] for member in release.members) for release in shared]
        return _Priced(shared, logical, pool_marginals(private, weights, self._apart(shared)))

    def _apart(self, shared: Sequence[SharedRelease]) -> frozenset[int]:
        """Return the releases of statements with several, whose noise must be independent for their error bars."""
        several = {number for number in self._private if len(self._own[number].parts) > 1}
        return frozenset(
            position
            for position, release in enumerate(shared)
            if any(member.statement in several for member in release.members)
        )

    def _price(
        self,
        shared: Sequence[SharedRelease],
        logical: LogicalPlan,
        epsilon: float | None,
        shares: Sequence[float] | None,
    ) -> PrivateStatement:
        request, session = self._request, self._session
        budget = session.budget_of(logical, request, epsilon)
        levels = [bought_level(self._statements[number].logical, request) for number in self._private]
        return price_uses(
            [release.use for release in shared],
            replace(budget, mechanism=self._mechanism),
            self._remaining,
            min_frequency=request.min_frequency,
            max_rows=request.max_rows,
            max_groups=request.max_groups,
            domains=known_keys(logical, session.backend, session.catalog),
            beta=min(levels),
            equal_noise=request.equal_noise,
            method=request.distinct,
            shares=shares,
        )

    def lacks_sizes(self) -> list[int]:
        """Return the statements with a wanted error whose price depends on sizes that nobody knows yet."""
        return [number for number, target in self._targets.items() if target.known_price() is None]

    def estimate_sizes(self) -> tuple[Summary, Options]:
        """Buy a small batch of the statements that lack sizes; return its receipt, and the options for the rest."""
        lacking, most = self.lacks_sizes(), min(target.most for target in self._targets.values())
        prices = [self._targets[number].estimate_price() for number in lacking]
        epsilon, delta = min(max(prices) * math.sqrt(len(lacking)), most / 2), self._request.budget.delta
        queries = {self._report.queries[number].name: self._report.queries[number].sql for number in lacking}
        shared: Options = {**self._options, "within": None, "reuse": False}
        first: Options = {**shared, "epsilon": epsilon, "delta": None if delta is None else delta * DELTA_SHARE}
        bought = _AskedBatch(self._session, Report.of(queries), None, self._minimise, first).answer()
        rest = {"epsilon": (most - epsilon) * (1 - 1e-9), "delta": None if delta is None else delta * (1 - DELTA_SHARE)}
        return bought.receipt, {**self._options, **rest}  # type: ignore[typeddict-item]

    @cached_property
    def _targets(self) -> dict[int, AccuracyFirst]:
        """The statements with a wanted error."""
        targets = {}
        for number in self._private:
            statement = self._statements[number]
            if statement.request.within is None:
                continue
            with _naming(self._report, self._report.queries[number]):
                budget = replace(statement.request.budget, mechanism=self._mechanism)
                request = replace(statement.request, budget=budget)
                targets[number] = AccuracyFirst(
                    self._session,
                    Question.of(statement.text, None, request),
                    statement.logical,
                    request,
                    statement.request.within,
                    self._remaining,
                    self._session.public_tables(statement.logical),
                )
        return targets

    def _needed(self) -> dict[int, PrivateStatement]:
        """Return the statements with a wanted error, each at the price that reaches it alone."""
        needed = {}
        for number, target in self._targets.items():
            with _naming(self._report, self._report.queries[number]):
                known = target.known_price()
                if known is None:
                    raise ParameterError(
                        "How much this error costs depends on the sizes of the groups, which nobody knows yet.",
                        code="batch-sizes",
                        hint="State a size, such as within 5%@1000, or an absolute error, such as within abs:20.",
                    )
                needed[number] = self._priced_alone(number, known.epsilon)
        return needed

    def _for_targets(
        self, even: PrivateStatement, shared: Sequence[SharedRelease], needed: Mapping[int, PrivateStatement]
    ) -> tuple[float, list[float]]:
        """Return the smallest epsilon at which every wanted error is reached, and the shares.

        Releases of statements without a wanted error get the whole rest of the stated epsilon.
        """
        if self._mechanism == "laplace":
            raise ParameterError("Wanted errors of a batch need Gaussian noise.", code="bad-mechanism")
        costs = [None if cost is None else cost * SPARE for cost in least_costs(even, shared, needed)]
        wanted = math.fsum(cost for cost in costs if cost is not None)
        delta = (self._request.budget.delta or 0.0) * (1.0 if len(shared) == 1 else 1.0 - ADDED_SHARE) * (1 - 1e-6)
        least = gaussian_epsilon(math.sqrt(wanted), delta) + 2 * HEADROOM
        most = self._request.budget.epsilon
        if least > most:
            targets = [one.request.within for one in self._statements if one.request.within is not None]
            raise too_dear(targets[0], least, most)
        if None not in costs:
            return least, [cost / wanted for cost in costs if cost is not None]
        whole = math.fsum(noise_cost(part) for part in even.parts)
        rest = whole - wanted
        losses = best_shares(even, shared, self._weights, self._minimise)
        free = math.fsum(loss for loss, cost in zip(losses, costs, strict=True) if cost is None)
        shares = [
            (rest * loss / free if cost is None else cost) / whole for loss, cost in zip(losses, costs, strict=True)
        ]
        return most, shares

    def _answered(self) -> list[AnsweredQuestion]:
        """Return the statements as the ledger finds them again, each by itself."""
        return [
            AnsweredQuestion(
                statement_fingerprint(self._own[number]),
                needs_name(self._own[number]),
                tuple(self._priced.positions(number)),
            )
            for number in self._private
        ]

    def _answers(
        self,
        estimators: Sequence[Estimator],
        tables: Mapping[int, Mapping[str, pa.Table]],
        whole: Summary,
        alone: Mapping[int, Spending],
    ) -> dict[int, Answer]:
        """Build the answer of every statement from the shared releases."""
        answers = {}
        for number in self._private:
            statement = self._statements[number]
            plans = self._priced.parts(number, [estimator.plan for estimator in estimators])
            noisy = [estimators[position].noisy for position in self._priced.positions(number)]
            own = [Estimator(table, plan) for table, plan in zip(noisy, plans, strict=True)]
            summary = replace(whole, query=statement.text, mechanisms=_all_mechanisms(plans), alone=alone.get(number))
            answer = build_answer(
                self._session.postprocess, statement.logical, own, tables[number], statement.request, summary
            )
            answers[number] = diagnosable(
                answer, partial(diagnose, self._session, statement.logical, statement.request)
            )
        return answers

    def _batch(self, answers: Mapping[int, Answer], whole: Summary, savings: Savings | None) -> Batch:
        named, queries = {}, self._report.queries
        for number, statement in enumerate(self._statements):
            named[queries[number].name] = answers[number] if number in answers else self._public(statement)
        titles, texts = {q.name: q.title for q in queries if q.title}, {q.name: q.text for q in queries if q.text}
        return Batch(named, whole, savings, titles, texts)

    def _public(self, statement: BoundStatement) -> Answer:
        table = read_public(statement.logical, self._session.catalog, self._session.backend)
        return Answer(table, [{}] * table.num_rows, statement.request.confidence, Summary(None, statement.text))

    def _alone(self) -> dict[int, tuple[Spending, Cost]]:
        """Return, for each statement, what it would cost by itself to be as accurate as in the batch.

        Noise falls like 1 / mu, or like 1 / epsilon; so the ratio of two half-widths says how much more is needed.
        """
        prices = {}
        for number in self._private:
            own, together = self._own[number], self._priced.parts(number, self._priced.private.parts)
            factor = accuracy_ratio(together, own)
            cost, delta = own.charge.cost, own.charge.delta
            if own.parts[0].mechanism == "laplace":
                epsilon = own.charge.epsilon * factor
            else:
                epsilon = gaussian_epsilon(math.sqrt(float(cost.gaussian)) * factor, delta or 1e-300)
            larger = Fraction(factor)
            scaled = Cost(cost.gaussian * larger**2, cost.pure * larger, cost.mass * larger**2)
            prices[number] = Spending(epsilon, delta), scaled
        return prices

    def _savings(self, alone: Mapping[int, tuple[Spending, Cost]], charge: Spending, share: float) -> Savings:
        caps, prices = self._session.ledger.caps, [price for price, _ in alone.values()]
        apart = Spending(math.fsum(one.epsilon for one in prices), math.fsum(one.delta for one in prices))
        return Savings(charge, apart, share, math.fsum(share_of(cost, caps) for _, cost in alone.values()))


def after_estimate(batch: Batch, estimate: Summary) -> Batch:
    """Return the batch with the charge for the sizes on its receipt; it may be all, if that was accurate enough."""
    paid = batch.receipt
    payments = tuple(
        Payment(purpose, str(one.id), one.charge, one.share)
        for purpose, one in (("size estimate", estimate), ("answers", paid))
        if not one.reused
    )
    charge = Spending(paid.charge.epsilon + estimate.charge.epsilon, paid.charge.delta + estimate.charge.delta)
    whole = replace(paid, charge=charge, share=paid.share + estimate.share, payments=payments)
    batch.receipt = replace(whole, reused=False)
    return batch


def _all_mechanisms(parts: Sequence[PrivatePlan]) -> tuple[Mechanism, ...]:
    return tuple(mechanism for part in parts for mechanism in mechanisms(part))


def _renumbered(release: SharedRelease, numbers: Sequence[int]) -> SharedRelease:
    """Return the release with the numbers of its statements in the whole batch."""
    members = tuple(replace(member, statement=numbers[member.statement]) for member in release.members)
    return replace(release, members=members)


def _weights(report: Report, stated: Weights) -> list[float]:
    """Return the weight of each query: stated beside the batch, or in the report."""
    names = [query.name for query in report.queries]
    if stated is None:
        return [query.weight for query in report.queries]
    if isinstance(stated, Mapping):
        if unknown := set(stated) - set(names):
            raise ParameterError(
                f"There is no query {min(map(str, unknown))!r} to give a weight to.",
                code="bad-weight",
                hint=f"There are: {', '.join(names)}.",
            )
        return [real("weight", stated.get(query.name, query.weight), *WEIGHTS) for query in report.queries]
    if isinstance(stated, str) or not isinstance(stated, Sequence) or len(stated) != len(names):
        raise ParameterError(
            "A batch takes a weight for each statement, in order or by name.", code="bad-weight", hint="Leave it out."
        )
    return [real("weight", weight, *WEIGHTS) for weight in stated]


@contextmanager
def _naming(report: Report, query: ReportQuery) -> Iterator[None]:
    """Let a refusal inside name its query, and point into the report's file."""
    try:
        yield
    except QueryError as error:
        line = f" (line {query.line})" if report.source else ""
        error.message = f"{query.name}{line}: {error.message}"
        if report.source and error.span is not None:
            start = query.start
            line_number = error.span.line + report.source.count("\n", 0, start)
            error.span = Span(error.span.start + start, error.span.end + start, line_number)
            error.text = report.source
        raise
