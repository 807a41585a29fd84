"""Many statements as one: bound, priced together, paid for with one charge, and answered each by itself.

The order is that of one statement (`corridor`): everything that can fail without reading a row fails before the charge,
and the charge is durable before the first row is read. What statements share is bought once (`privacy.batch`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
from hedgerow.catalog.load_budget import EPSILONS
from hedgerow.errors import BudgetError, ParameterError, QueryError, Span, carrying
from hedgerow.execution.build_answer import build_part, mechanisms
from hedgerow.execution.nonnegative import PooledTable, nonnegative_answers
from hedgerow.execution.public_tables import known_keys, read_public
from hedgerow.execution.request import Options, Question, flag, real, resolve_request
from hedgerow.execution.session import Session, bought_level, statement_name
from hedgerow.ledger import AnsweredQuestion
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.batch import (
    SharedRelease,
    accuracy_ratio,
    beside_each_other,
    best_shares,
    can_join,
    least_costs,
    noise_cost,
    one_set_of_groups,
    same_rows,
    share_releases,
    tests_groups,
)
from hedgerow.privacy.gaussian import ADDED_SHARE, HEADROOM, statement_mu
from hedgerow.privacy.marginals import LARGER, pool_marginals
from hedgerow.privacy.plan import PrivatePlan, PrivateStatement, statement_fingerprint
from hedgerow.privacy.predicted_error import comparable_widths
from hedgerow.privacy.price import price_uses
from hedgerow.privacy.tables import adds_up, has_large_groups, measure_tables
from hedgerow.release import Estimator, coarser_table, needs_name, table_rows
from hedgerow.session.batch_quote import BatchQuote
from hedgerow.session.corridor import BoundStatement, bind_statement
from hedgerow.session.quote import predicted_errors, predicted_totals, share_of, survival
from hedgerow.session.report import WEIGHTS, Queries, Report, ReportQuery

SPARE = 1.001
"""Factor on the cost of a wanted error, because noise is rounded to its lattice."""


ROUNDS = 25
"""Maximum number of rounds in which weights of tables are raised; then the tables are measured apart."""

MOST_RAISED = 10.0
"""Largest ratio of errors for which a weight is raised in a round."""

LEAST_TESTED, MOST_TESTED = 0.01, 0.25
"""Smallest and largest part of a budget that tests groups."""

NO_LARGER = 1.005
"""Largest ratio of a predicted error together to the error apart that counts as "no larger"."""

PRICE_OF_ADDING_UP = 1.15
"""Largest such ratio at which the tables of a publication are made of the same groups, so that they add up."""

REPRICED = 2
"""Number of rounds that price a statement with a group test, to find its cost alone."""

SAME_SIZE = 1e-3
"""Relative difference below which two sizes from which groups are shown count as equal."""

Number = tuple[int, int]
"""A number of a batch: its statement, and its position in it."""

Weights = Sequence[float] | Mapping[str, float] | None
"""Weights of the statements of a batch, in order or by name."""

AddUp = bool | None
"""Tables about the same rows: True to make them add up or refuse the batch; False if no predicted error grows by it;
None, for a publication, if errors grow by little."""


def ask_batch(
    session: Session, queries: Queries, weights: Weights, minimise: str, options: Options, *, add_up: AddUp = False
) -> Batch:
    """Answer all statements for one charge.

    Privacy: the charge is durable before the first row is read, and is never given back.
    """
    asked_batch = _AskedBatch(session, Report.of(queries), weights, minimise, options, add_up=add_up)
    if not asked_batch.lacks_sizes():
        return asked_batch.answer()
    estimate, rest = asked_batch.estimate_sizes()
    with carrying(estimate):
        after = _AskedBatch(session, Report.of(queries), weights, minimise, rest, add_up=add_up, estimated=True)
        return after_estimate(after.answer(), estimate)


def quote_batch(
    session: Session, queries: Queries, weights: Weights, minimise: str, options: Options, *, add_up: AddUp = False
) -> BatchQuote:
    """Return the price of all statements together, and their predicted errors. Free; reads no private row."""
    return _AskedBatch(session, Report.of(queries), weights, minimise, options, add_up=add_up).quote()


def price_batch(session: Session, report: Report, options: Options) -> tuple[Charge, BatchQuote]:
    """Return the charge and the quote of a report on a ledger where nothing is spent. Free; reads no private row."""
    granted = session.ledger.position(session.analyst).granted
    asked_batch = _AskedBatch(session, report, None, "mean", {**options, "reuse": False}, remaining=granted)
    return asked_batch.charge, asked_batch.quote()


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
    """A batch of numbered statements. Those about public tables alone are free."""

    def __init__(
        self,
        session: Session,
        report: Report,
        weights: Weights,
        minimise: str,
        options: Options,
        *,
        add_up: AddUp = False,
        estimated: bool = False,
        remaining: RemainingBudget | None = None,
    ) -> None:
        self._session = session
        self._stated_remaining = remaining
        self._estimated = estimated
        self._report = report
        self._weights = _weights(report, weights)
        self._minimise = minimise
        self._options = options
        self._request = resolve_request(session.catalog, **options)
        self._statements = [self._bound(query) for query in report.queries]
        self._private = [number for number, one in enumerate(self._statements) if one.logical.releases]
        self._add_up = add_up is not None and flag("add_up", {"add_up": add_up}, default=False)
        self._most_larger = math.inf if self._add_up else PRICE_OF_ADDING_UP if add_up is None else NO_LARGER
        if self._add_up:
            self._require_sums()

    def answer(self) -> Batch:
        """Buy what is not stored, and answer every statement."""
        session = self._session
        tables = {number: session.public_tables(self._statements[number].logical) for number in self._private}
        if not self._private:
            return self._batch({}, Summary(None, self._text), None)
        priced = self._priced
        private, question = priced.private, self._question
        with session.single_flight(self._request, statement_name(private)):
            stored = session.find(question, private, self._request, add_up=self._add_up)
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
        stored = session.find(self._question, private, self._request, add_up=self._add_up)
        plans = private.parts if stored is None else tuple(estimator.plan for estimator in stored[1])
        errors, totals, survivals = {}, {}, {}
        for number in self._private:
            logical = self._statements[number].logical
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

    @cached_property
    def _remaining(self) -> RemainingBudget:
        return self._session.remaining() if self._stated_remaining is None else self._stated_remaining

    @cached_property
    def _text(self) -> str:
        """The statements as the history shows them."""
        return "\n".join(f"-- name: {query.name}\n{query.sql};" for query in self._report.queries)

    @property
    def _question(self) -> Question:
        budget = self._request.budget
        targets = "; ".join(str(one.request.within) for one in self._statements)
        chosen = ("add up",) if self._add_up else ()
        return Question(self._text, None, (budget.epsilon, budget.delta, budget.mechanism, targets, *chosen))

    def _bound(self, query: ReportQuery) -> BoundStatement:
        """Bind one statement; its error names it."""
        within = self._options.get("within") if query.within is None else query.within
        options: Options = {**self._options, "within": within}  # type: ignore[typeddict-item]
        with naming(self._report, query):
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
        budget, remaining = self._request.budget, self._remaining
        if budget.mechanism != "auto":
            return budget.mechanism
        if budget.delta is None:
            return "laplace"
        fits = statement_mu(budget.epsilon, budget.delta) ** 2 <= remaining.gaussian_left
        return "gaussian" if fits or remaining.pure_left < budget.epsilon else "laplace"

    @cached_property
    def _own(self) -> dict[int, PrivateStatement]:
        """Every statement alone, for the whole price of the batch."""
        return {number: self._priced_alone(number, self._request.budget.epsilon) for number in self._private}

    def _priced_alone(self, number: int, epsilon: float) -> PrivateStatement:
        statement = self._statements[number]
        budget = replace(self._request.budget, mechanism=self._mechanism)
        request = replace(statement.request, budget=budget, reuse=False, within=None)
        with naming(self._report, self._report.queries[number]):
            return self._session.price(statement.logical, request, self._remaining, epsilon)

    @cached_property
    def _priced(self) -> _Priced:
        """The shared releases, with the shares of the budget that lower the errors most."""
        shared, priced = self._shared, self._split(self._shared)
        if self._add_up:
            apart = priced
            while clusters := [one for one in same_rows(priced.shared) if not _add_up_already(priced, one)]:
                priced = self._same_groups(one_set_of_groups(priced.shared, clusters), apart) or priced
            return priced
        left_out = self._apart(shared)
        left_out |= {index for index, one in enumerate(shared) if one.use.levels or not can_join(one)}
        # Where nothing is tested, `marginals` does better.
        clusters = [members for members in same_rows(shared, left_out) if any(tests_groups(shared[i]) for i in members)]
        if not clusters or self._targets or self._mechanism == "laplace":
            return priced
        return self._same_groups(one_set_of_groups(shared, clusters), priced) or priced

    @cached_property
    def _shared(self) -> list[SharedRelease]:
        """The releases of all statements, each once."""
        shared = share_releases([(self._statements[number].logical, self._own[number]) for number in self._private])
        return [_renumbered(release, self._private) for release in shared]

    def _require_sums(self) -> None:
        """Refuse tables about the same rows that cannot be made of the same groups."""
        shared, independent = self._shared, self._apart(self._shared)
        for members in same_rows(shared):
            tables = [shared[index] for index in members]
            if self._mechanism == "laplace":
                raise self._cannot_add_up(tables, "Laplace noise", 'Ask with mechanism="gaussian" and a delta.')
            if self._targets:
                raise self._cannot_add_up(tables, "wanted errors", "State epsilon and weights instead of within.")
            if any(not can_join(shared[index]) or index in independent for index in members):
                raise self._cannot_add_up(
                    tables,
                    "several sets of groups, or keys of public tables, in one statement",
                    "Ask each table as a plain SELECT with GROUP BY.",
                )

    def _cannot_add_up(self, tables: Sequence[SharedRelease], reason: str, hint: str) -> ParameterError:
        numbers = sorted({member.statement for table in tables for member in table.members})
        names = ", ".join(self._report.queries[number].name for number in numbers)
        return ParameterError(
            f"Tables about the same rows cannot be made to add up with {reason}: {names}.",
            code="cannot-add-up",
            hint=f"{hint} Or leave out add_up: tables that cannot add up are then measured apart.",
        )

    def _split(self, shared: Sequence[SharedRelease], weights: Mapping[Number, float] | None = None) -> _Priced:
        """Return releases with the shares of the budget that lower the errors most.

        `weights` are those of the numbers of tables that are made of the same groups. Tables that are measured together
        have the same sums behind the same number, so that they add up, unless that makes one much less accurate.
        """
        split, apart = self._best_split(shared, weights)
        unequal = _not_adding_up(split.private)
        if self._targets or not unequal:
            return split
        equal, _ = self._best_split(beside_each_other(shared, same_rows(shared, self._apart(shared))), weights)
        marginals = [equal.private.parts[index].marginal for index in unequal]
        add_up = all(marginal is not None and marginal.adds_up for marginal in marginals)
        return equal if add_up and max(self._ratios(equal, apart).values()) <= self._most_larger else split

    def _best_split(
        self, shared: Sequence[SharedRelease], weights: Mapping[Number, float] | None
    ) -> tuple[_Priced, _Priced]:
        """Return releases with the best shares, tables about the same rows measured together, and all of them apart."""
        root = self._statements[self._private[0]].logical.root
        logical = LogicalPlan(root, tuple(release.use.release for release in shared), ())
        even = self._price(shared, logical, None, None, weights)
        needed = self._needed()
        if needed:
            epsilon, shares = self._for_targets(even, shared, needed)
        else:
            epsilon, shares = None, best_shares(even, shared, self._weights, self._minimise)
        private = self._price(shared, logical, epsilon, shares, weights)
        by_release = [math.fsum(self._weights[member.statement] for member in release.members) for release in shared]
        levels = {index: release.use.levels for index, release in enumerate(shared) if release.use.levels}
        together = pool_marginals(private, by_release, self._apart(shared), levels)
        return _Priced(shared, logical, together), _Priced(shared, logical, private)

    def _same_groups(self, joined: Sequence[SharedRelease], apart: _Priced) -> _Priced | None:
        """Return tables that are made of the same shown groups; None if one would be too inaccurate next to `apart`.

        With `add_up` the cost does not matter, and the batch is refused if a number is not a sum over rows. The weights
        of numbers that would be less accurate are raised until none is, or until the largest ratio is smallest. A count
        that is also the test of its groups is cheaper apart, so a batch that adds up may cost more.
        """
        together = self._split(joined)
        others = [release for release, plan in _pairs(joined, together) if release.is_joined and not adds_up(plan)]
        if others and self._add_up:
            members = {member for release in others for member in _numbers_of(release)}
            shared = [table for table in self._shared if _numbers_of(table) <= members]
            tables = [own for table in shared for own in table.of_each_statement()]
            raise self._cannot_add_up(
                [table for table in tables if not self._is_of_sums(table)],
                "numbers that are not sums over rows",
                "Ask for medians, variances and distinct values apart.",
            )
        if others:
            return None
        weights = {number: self._weights[number[0]] for number in self._ratios(together, apart)}
        best, minimum = None, self._most_larger
        for _ in range(ROUNDS):
            together = self._split(joined, weights)
            ratios = self._ratios(together, apart)
            sharper = [self._sharper(release, plan, apart) for release, plan in _pairs(joined, together)]
            if sharper == list(joined) and max(ratios.values()) < minimum:
                best, minimum = together, max(ratios.values())
            if minimum <= LARGER:
                break
            joined = sharper
            weights = {
                number: weight * min(max(ratios[number], 1.0), MOST_RAISED) ** 6 for number, weight in weights.items()
            }
        if self._add_up:
            return best or together
        plans = [] if best is None else [plan for release, plan in _pairs(joined, best) if release.is_joined]
        return best if all(map(has_large_groups, plans)) else None

    def _is_of_sums(self, table: SharedRelease) -> bool:
        """Return True if all numbers of a table are sums over rows."""
        [alone] = self._split(one_set_of_groups([table], [[0]])).private.parts
        return adds_up(alone)

    def _sharper(self, release: SharedRelease, plan: PrivatePlan, apart: _Priced) -> SharedRelease:
        """Return a joined release with the budget share for its test that shows groups of the same size as apart.

        Tables may show groups of different sizes apart: then the largest of these sizes counts.
        """
        if not release.is_joined or plan.selection is None:
            return release
        others = [part for member in release.members for part in apart.parts(member.statement, apart.private.parts)]
        sizes = [float(part.selection.threshold) for part in others if part.selection is not None]
        minimum = max(sizes, default=float(plan.minimum))
        excess = (float(plan.selection.threshold) - plan.minimum) / max(minimum - plan.minimum, 1.0)
        if abs(excess - 1) < SAME_SIZE:
            return release
        share = float(plan.selecting[0].cost.gaussian / plan.charge.cost.gaussian)
        tested = min(max(share * excess**2, LEAST_TESTED), MOST_TESTED)
        return replace(release, use=replace(release.use, test_share=tested))

    def _ratios(self, together: _Priced, apart: _Priced) -> dict[Number, float]:
        """Return, for each number of the batch, the ratio of its error together to its error apart."""
        ratios = {}
        for statement in self._private:
            pairs = [priced.parts(statement, priced.private.parts) for priced in (together, apart)]
            widths = [[width for part in parts for width in comparable_widths(part)] for parts in pairs]
            for index, (new, old) in enumerate(zip(*widths, strict=True)):
                ratios[statement, index] = new / old
        return ratios

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
        weights: Mapping[Number, float] | None = None,
    ) -> PrivateStatement:
        request, session = self._request, self._session
        budget = session.budget_of(logical, request, epsilon)
        levels = [bought_level(self._statements[number].logical, request) for number in self._private]
        priced = price_uses(
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
        if weights is None:
            return priced
        parts = tuple(
            measure_tables(part, release.numbers(weights)) if release.is_joined else part
            for release, part in zip(shared, priced.parts, strict=True)
        )
        events = tuple(event for part in parts for event in part.charge.events)
        return PrivateStatement(parts, replace(priced.charge, events=events))

    def lacks_sizes(self) -> list[int]:
        """Return the statements with a wanted error whose price depends on sizes that nobody knows yet."""
        return [number for number, target in self._targets.items() if target.known_price() is None]

    def estimate_sizes(self) -> tuple[Summary, Options]:
        """Buy a small batch of the statements that lack sizes; return its receipt, and the options for the rest."""
        lacking, maximum = self.lacks_sizes(), min(target.maximum for target in self._targets.values())
        prices = [self._targets[number].estimate_price() for number in lacking]
        epsilon, delta = min(max(prices) * math.sqrt(len(lacking)), maximum / 2), self._request.budget.delta
        queries = {self._report.queries[number].name: self._report.queries[number].sql for number in lacking}
        shared: Options = {**self._options, "within": None, "reuse": False}
        first: Options = {**shared, "epsilon": epsilon, "delta": None if delta is None else delta * DELTA_SHARE}
        bought = _AskedBatch(self._session, Report.of(queries), None, self._minimise, first).answer()
        rest = {
            "epsilon": (maximum - epsilon) * (1 - 1e-9),
            "delta": None if delta is None else delta * (1 - DELTA_SHARE),
        }
        return bought.receipt, {**self._options, **rest}  # type: ignore[typeddict-item]

    @cached_property
    def _targets(self) -> dict[int, AccuracyFirst]:
        """The statements with a wanted error."""
        targets = {}
        for number in self._private:
            statement = self._statements[number]
            if statement.request.within is None:
                continue
            with naming(self._report, self._report.queries[number]):
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
        """Return the statements with a wanted error, each at the price that reaches it alone.

        One whose price is unknown even after an estimate is left out: it gets its share of what the others leave, and
        its numbers say if they miss the error.
        """
        needed = {}
        for number, target in self._targets.items():
            with naming(self._report, self._report.queries[number]):
                known = target.known_price()
                if known is None and self._estimated:
                    continue
                if known is None:
                    wanted, absolute = target.target, "State an absolute error, such as within abs:20@1000."
                    amount = f"abs:{wanted.amount:g}" if wanted.absolute else f"{100 * wanted.amount:g}%"
                    raise ParameterError(
                        f"How much this error costs depends on the {'sizes of' if wanted.size is None else 'sums in'} "
                        "the groups, which nobody knows yet.",
                        code="batch-sizes",
                        hint=f"State a size, too: within {amount}@1000." if wanted.size is None else absolute,
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
        minimum = gaussian_epsilon(math.sqrt(wanted), delta) + 2 * HEADROOM
        maximum = self._request.budget.epsilon
        if minimum > maximum:
            targets = [one.request.within for one in self._statements if one.request.within is not None]
            raise too_dear(targets[0], minimum, maximum)
        if None not in costs:
            return minimum, [cost / wanted for cost in costs if cost is not None]
        whole = math.fsum(noise_cost(part) for part in even.parts)
        rest = whole - wanted
        losses = best_shares(even, shared, self._weights, self._minimise)
        free = math.fsum(loss for loss, cost in zip(losses, costs, strict=True) if cost is None)
        shares = [
            (rest * loss / free if cost is None else cost) / whole for loss, cost in zip(losses, costs, strict=True)
        ]
        return maximum, shares

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
        parts = {}
        for number in self._private:
            statement = self._statements[number]
            plans = self._priced.parts(number, [estimator.plan for estimator in estimators])
            positions = self._priced.positions(number)
            finest = [estimators[position] for position in positions]
            own = [
                coarser_table(one, plan) if self._priced.shared[position].is_joined else Estimator(one.noisy, plan)
                for position, one, plan in zip(positions, finest, plans, strict=True)
            ]
            summary = replace(whole, query=statement.text, mechanisms=_all_mechanisms(plans), alone=alone.get(number))
            part = build_part(
                self._session.postprocess, statement.logical, own, tables[number], statement.request, summary
            )
            if self._request.nonnegative:
                part = replace(part, tables=list(map(self._pooled, positions, plans, finest)))
            parts[number] = part
        adjusted = nonnegative_answers(list(parts.values())) if self._request.nonnegative else None
        answers = adjusted or [part.answer for part in parts.values()]
        statements = [self._statements[number] for number in parts]
        return {
            number: diagnosable(answer, partial(diagnose, self._session, statement.logical, statement.request))
            for number, answer, statement in zip(parts, answers, statements, strict=True)
        }

    def _pooled(self, position: int, plan: PrivatePlan, finest: Estimator) -> PooledTable:
        """Return the tables that a shared release adds up with."""
        if self._priced.shared[position].is_joined:
            measures, (_, rows) = tuple(range(len(plan.noisy_sums))), table_rows(finest, plan)
            return PooledTable(("groups", position), plan.made_of, measures, rows)
        marginal = self._priced.private.parts[position].marginal
        if marginal is None:
            return PooledTable(position)
        return PooledTable(("together", marginal.together), marginal.keys, marginal.measures)

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

        Noise falls like 1 / mu, or like 1 / epsilon; so the ratio of two half-widths says how much more is needed. A
        statement that tests groups spends another part of its budget on that at another price: it is priced anew there.
        """
        prices = {}
        for number in self._private:
            own, together = self._own[number], self._priced.parts(number, self._priced.private.parts)
            spending, cost = _as_accurate(own, together)
            if any(part.selection is not None for part in own.parts):
                for _ in range(REPRICED):
                    if not EPSILONS[0] <= spending.epsilon <= EPSILONS[1]:
                        break
                    with suppress(QueryError, BudgetError):
                        spending, cost = _as_accurate(self._priced_alone(number, spending.epsilon), together)
            prices[number] = spending, cost
        return prices

    def _savings(self, alone: Mapping[int, tuple[Spending, Cost]], charge: Spending, share: float) -> Savings:
        caps, prices = self._session.ledger.caps, [price for price, _ in alone.values()]
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


def _all_mechanisms(parts: Sequence[PrivatePlan]) -> tuple[Mechanism, ...]:
    return tuple(mechanism for part in parts for mechanism in mechanisms(part))


def _pairs(shared: Sequence[SharedRelease], priced: _Priced) -> Iterator[tuple[SharedRelease, PrivatePlan]]:
    return zip(shared, priced.private.parts, strict=True)


def _add_up_already(priced: _Priced, members: Sequence[int]) -> bool:
    """Return True if tables are measured together by their residuals, and no group of them is held back."""
    marginals = [priced.private.parts[index].marginal for index in members]
    pools = {id(None if one is None else one.together) for one in marginals}
    add_up = all(one is not None and one.adds_up for one in marginals)
    return add_up and len(pools) == 1 and not any(tests_groups(priced.shared[index]) for index in members)


def _not_adding_up(private: PrivateStatement) -> list[int]:
    """Return the tables that are measured together with others, but are made of other sums, by position."""
    pools = [None if part.marginal is None else part.marginal.together for part in private.parts]
    return [
        index
        for index, part in enumerate(private.parts)
        if part.marginal is not None and not part.marginal.adds_up and sum(pool is pools[index] for pool in pools) > 1
    ]


def _numbers_of(release: SharedRelease) -> set[tuple[int, int]]:
    """Return the releases of statements that read a shared one."""
    return {(member.statement, member.part) for member in release.members}


def _renumbered(release: SharedRelease, numbers: Sequence[int]) -> SharedRelease:
    """Return the release with the numbers of its statements in the whole batch."""
    members = tuple(replace(member, statement=numbers[member.statement]) for member in release.members)
    return replace(release, members=members)


def _weights(report: Report, weights: Weights) -> list[float]:
    """Return the weight of each query: stated beside the batch, or in the report."""
    names = [query.name for query in report.queries]
    if weights is None:
        return [query.weight for query in report.queries]
    if isinstance(weights, Mapping):
        if unknown := set(weights) - set(names):
            raise ParameterError(
                f"There is no query {min(map(str, unknown))!r} to give a weight to.",
                code="bad-weight",
                hint=f"There are: {', '.join(names)}.",
            )
        return [real("weight", weights.get(query.name, query.weight), *WEIGHTS) for query in report.queries]
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != len(names):
        raise ParameterError(
            "A batch takes a weight for each statement, in order or by name.", code="bad-weight", hint="Leave it out."
        )
    return [real("weight", weight, *WEIGHTS) for weight in weights]


@contextmanager
def naming(report: Report, query: ReportQuery) -> Iterator[None]:
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
