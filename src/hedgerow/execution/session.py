"""One analyst's access to one dataset: statements are bound, priced, paid for, released, and found again."""

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa

from hedgerow.accounting.budget import Budget, Receipt, RemainingBudget, Spending
from hedgerow.aggregates import NeededSums
from hedgerow.answer import Answer
from hedgerow.backends import Backend
from hedgerow.cancellation import active_cancellation
from hedgerow.catalog import Catalog
from hedgerow.compile import public_tables
from hedgerow.error_bars.provenance.columns import picks_rows, used_together
from hedgerow.errors import BackendError, BudgetError, HedgerowError, InternalError, LedgerError, QueryError, carrying
from hedgerow.execution.build_answer import build_answer, reused_summary
from hedgerow.execution.caches import SINGLE_FLIGHT, AnswerCache, CachedAnswer, PlanCache, PriceCache, Waiters
from hedgerow.execution.price_policy import basic_queries, policy_budget
from hedgerow.execution.public_tables import known_keys, multiplicity, public_table, require_public
from hedgerow.execution.request import Parameters, Question, Request
from hedgerow.execution.run import compile_steps, first_pass, release, require_readable
from hedgerow.ledger import AnsweredQuestion, Ledger, QuestionState, StoredRelease
from hedgerow.ledger.entries import canonical
from hedgerow.owners_log import log as owners_log
from hedgerow.plan.bind import bind
from hedgerow.plan.context import Bounds
from hedgerow.plan.join_limits import within_limits
from hedgerow.plan.nodes import LogicalPlan, Release, scans_of
from hedgerow.plan.repartition import repartitioned
from hedgerow.privacy.keys import Key
from hedgerow.privacy.plan import PrivateStatement, statement_fingerprint
from hedgerow.privacy.price import price, require_laplace_budget
from hedgerow.privacy.statement_sums import ASSUMED_DISTANCE, needed_sums, needs_means
from hedgerow.release import (
    Estimator,
    NoisyTable,
    PostprocessEngine,
    asks_for_all,
    dump_release,
    load_any,
    load_if_sufficient,
    needs_name,
    noisiness,
    parts_of,
)
from hedgerow.schema import Schema

PICKED, AT_ONCE = 20, 1000
"""Factor on the failure probability of an interval that may be shown for a selected row, or with all others."""


def bought_level(logical: LogicalPlan, request: Request) -> float:
    """The failure probability of an interval that is drawn with its number; it depends on the query text alone."""
    beta = 1.0 - request.confidence
    beta = beta / AT_ONCE if request.simultaneous else beta
    beta /= max((used_together(logical, release) for release in logical.releases), default=1)
    return max(beta / PICKED if picks_rows(logical.root) else beta, 1e-15)


@dataclass(frozen=True)
class Session:
    """One analyst's access to one dataset. `dialect` is the one that queries are written in."""

    backend: Backend
    schema: Schema
    catalog: Catalog
    ledger: Ledger
    analyst: str | None
    postprocess: PostprocessEngine
    dialect: str = "duckdb"
    waiters: Waiters = field(default_factory=Waiters)
    multiplicities: dict[tuple[str, frozenset[str]], int] = field(default_factory=dict)
    readable: set[Hashable] = field(default_factory=set, repr=False, compare=False)
    plans: PlanCache = field(default_factory=PlanCache, repr=False, compare=False)
    prices: PriceCache = field(default_factory=PriceCache, repr=False, compare=False)
    answers: AnswerCache = field(default_factory=AnswerCache, repr=False, compare=False)

    def bind(self, tree: Any, params: Parameters = None, bounds: Bounds | None = None) -> LogicalPlan:  # noqa: ANN401 - the parser's own trees
        """Bind a statement, within the owner's limits on joins."""
        binder = partial(bind, tree, self.catalog, self.schema, params=params, bounds=bounds)
        plan = within_limits(binder, self.catalog, self.schema, self._multiplicity)
        if not self.backend.dialect.repartitions:
            return plan
        return repartitioned(plan, self.catalog, self.schema, self._multiplicity)

    def remaining(self) -> RemainingBudget:
        """Return what the ledger has left, for planning."""
        return self.ledger.position(self.analyst).remaining

    def price(
        self,
        logical: LogicalPlan,
        request: Request,
        remaining: RemainingBudget,
        epsilon: float | None = None,
        delta_share: float = 1.0,
        public_keys: Mapping[Release, tuple[Key, ...]] | None = None,
    ) -> PrivateStatement:
        """Price a statement at what it stated, or at another epsilon and a share of its delta.

        `public_keys` lists all keys of releases whose keys are numbers that we chose ourselves.
        """
        budget = self.budget_of(logical, request, epsilon, delta_share)
        options: dict[str, Any] = {
            "min_frequency": request.min_frequency,
            "max_rows": request.max_rows,
            "max_groups": request.max_groups,
            "beta": bought_level(logical, request),
            "equal_noise": request.equal_noise,
            "method": request.distinct,
        }
        at_price = partial(price, budget=budget, remaining=remaining, **options)
        reads = request.reuse and request.within is None
        means = self._earlier_means(logical, at_price) if reads else {}
        domains = {**known_keys(logical, self.backend, self.catalog), **(public_keys or {})}
        return self.prices.price(logical, budget, remaining, domains, means, **options)

    def _earlier_means(
        self, logical: LogicalPlan, at_price: Callable[[LogicalPlan], PrivateStatement]
    ) -> dict[Release, Mapping[NeededSums, float]]:
        """Return the means that are known of the rows of each release that asks for averages alone.

        They come from the latest release of the same averages of the same rows without groups, with the same bounds,
        limits and data version, which is found by its price. A mean that is known too roughly is dropped.

        Privacy: it reads released numbers, never rows.
        """
        known: dict[Release, Mapping[NeededSums, float]] = {}
        for border in logical.releases:
            if not needs_means(needed_sums(border)):
                continue
            whole = at_price(LogicalPlan(logical.root, (replace(border, keys=(), domain=None),), logical.names))
            for stored in self.earlier(whole):
                estimators = None
                with suppress(pa.ArrowException, KeyError, TypeError, ValueError):  # written by another version
                    estimators = load_any(stored.payload, whole)
                if estimators is not None:
                    known[border] = _well_known_means(estimators[0])
                    break
        return known

    def budget_of(
        self, logical: LogicalPlan, request: Request, epsilon: float | None = None, delta_share: float = 1.0
    ) -> Budget:
        """Return the price of a statement: what it stated, or the owner set, or another epsilon."""
        budget = policy_budget(request.budget, self.catalog, self.ledger, logical, self.analyst)
        if epsilon is None:
            return budget
        delta = None if budget.delta is None else budget.delta * delta_share
        return replace(budget, epsilon=epsilon, delta=delta, mu=None)

    def price_in_one_group(
        self, logical: LogicalPlan, request: Request, private: PrivateStatement, remaining: RemainingBudget
    ) -> PrivateStatement | None:
        """Price a statement with max_groups=1, to say what that would change; None if it would change nothing."""
        if not any(part.selection is not None and part.bounding.groups > 1 for part in private.parts):
            return None
        epsilon = None if request.within is None else private.charge.epsilon
        with suppress(QueryError, BudgetError):
            return self.price(logical, replace(request, max_groups=1), remaining, epsilon)
        return None

    def buy(
        self,
        question: Question,
        logical: LogicalPlan,
        private: PrivateStatement,
        remaining: RemainingBudget,
        answered: Sequence[AnsweredQuestion] = (),
    ) -> tuple[list[Estimator], Receipt]:
        """Open the snapshot, pay, then release. `answered` are the questions of a batch, each with parts of its own.

        Everything that can fail without reading a row fails before the charge. Every later exception carries the
        receipt, and the ledger records how the charge ended: with the release, stored before anything is computed from
        it; without one; or without one and without any noise drawn, so that the charge covers the same question again.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        require_laplace_budget(private, remaining)
        steps = compile_steps(private, self.backend)
        declared = [self.schema.tables[name] for name in sorted({scan.table for scan in scans_of(logical.releases)})]
        receipt: Receipt | None = None
        noisy: list[NoisyTable] | None = None
        drawing = False
        try:
            with self.backend.snapshot() as snapshot:
                require_readable(snapshot, self.backend, declared, self.readable)
                active_cancellation().check()
                receipt = self._pay(question, logical, private)
                active_cancellation().check()
                exact = first_pass(steps, private, receipt, snapshot)
                drawing = True
                noisy = release(exact, steps, private, receipt, snapshot)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self.backend.cancel()
            if noisy is None or not isinstance(error, BackendError):
                if receipt is not None:
                    self._fail(error, receipt, noisy, private, answered, repeatable=not drawing)
                raise
        if receipt is None or noisy is None:
            raise InternalError("A snapshot was left without a release.")
        with carrying(receipt):
            self._store(receipt, noisy, private, answered)
            return [Estimator(table, part) for table, part in zip(noisy, private.parts, strict=True)], receipt

    def single_flight(self, request: Request, *question: str) -> AbstractContextManager[None]:
        """Let one thread at a time ask a question at one price; waiting threads find the stored answer."""
        if not request.reuse:
            return nullcontext()
        price = (request.budget, request.within, request.confidence, request.equal_noise, request.distinct)
        return SINGLE_FLIGHT.hold((self.ledger.id, self.catalog.version, price, *question), self.waiters)

    def cancel(self) -> None:
        """Stop the running statements, and those that wait for the same question."""
        SINGLE_FLIGHT.cancel(self.waiters)
        self.backend.cancel()

    def find(
        self, question: Question, private: PrivateStatement, request: Request, *, add_up: bool = False
    ) -> tuple[StoredRelease, list[Estimator]] | None:
        """Return a stored release that answers a statement; None if none is as good, or `reuse` is False.

        With `add_up`, a release of tables that do not add up does not answer one of tables that do.

        Privacy: it depends on the question, the owner's declared version and the noise of stored releases, never on the
        current data.
        """
        if not request.reuse:
            return None
        any_mechanism = request.budget.mechanism == "auto"

        def read(stored: StoredRelease) -> list[Estimator] | None:
            identical = self.was_bought_by(question, private, stored)
            known = load_if_sufficient(stored.payload, private, any_mechanism=any_mechanism, identical=identical)
            return None if add_up and known is not None and _adds_up_less(known, private) else known

        return next(self.preferred(private, read), None)

    def was_bought_by(self, question: Question, private: PrivateStatement, stored: StoredRelease) -> bool:
        """True if a release was bought for the same measures by a question with the same stated price or error."""
        return question.stated is not None and stored.noise == canonical(_noise(question, private))

    def preferred(
        self, private: PrivateStatement, read: Callable[[StoredRelease], list[Estimator] | None]
    ) -> Iterator[tuple[StoredRelease, list[Estimator]]]:
        """Yield the stored releases that `read` can use: first those that answered this question, then by accuracy.

        The first release that answered a question answers it forever: a repeated question must not change its digits
        because of other questions.
        """
        needs, others = needs_name(private), []
        for stored in reversed(self.earlier(private)):
            known = read(stored)
            if known is not None and (needs in stored.answers or asks_for_all(stored.payload, private)):
                yield stored, known
            elif known is not None:
                others.append((stored, known))
        yield from sorted(others, key=lambda pair: noisiness(pair[1], private))

    def answer_stored(
        self,
        question: Question,
        release: tuple[StoredRelease, list[Estimator]],
        logical: LogicalPlan,
        private: PrivateStatement,
        request: Request,
        public: Mapping[str, pa.Table],
        remaining: RemainingBudget,
    ) -> Answer:
        """Answer from a stored release, with its digits. From now on it answers the question.

        The answer is kept for the next repeat if the ledger is still where `remaining` was read from.
        """
        stored, estimators = release
        needs, fingerprint = needs_name(private), statement_fingerprint(private)
        is_known = needs in stored.answers or asks_for_all(stored.payload, private)
        if not is_known:
            with suppress(LedgerError):  # the answer is paid for, whether or not the note can be written
                self.ledger.reuse(stored, needs)
        state = self._question_state(fingerprint)
        plans = [estimator.plan for estimator in estimators]
        summary = reused_summary(question.text, plans, self.ledger.receipt_id(stored.charge), state.position.left)
        in_one_group = self.price_in_one_group(logical, request, private, state.position.remaining)
        answer = build_answer(self.postprocess, logical, estimators, public, request, summary, in_one_group)
        reads_public = public or any(release.domain is not None for release in logical.releases)
        if question.key is None or reads_public or not is_known or remaining.as_of != state.position:
            return answer
        cached = CachedAnswer(answer, logical, request, fingerprint, state)
        self.answers.keep(question.key, cached, cached.weight)
        return copy(answer)

    def repeated(self, key: Hashable | None) -> CachedAnswer | None:
        """Return the answer that was kept for a question, if the ledger still shows the state it was built from."""
        cached = self.answers.get(key)
        return cached if cached is not None and self._question_state(cached.fingerprint) == cached.state else None

    def _question_state(self, fingerprint: str) -> QuestionState:
        return self.ledger.question_state(fingerprint, version=self.catalog.version, analyst=self.analyst)

    def earlier(self, private: PrivateStatement) -> list[StoredRelease]:
        """Return the stored releases about the same rows and keys, the latest first."""
        releases = self.ledger.find(statement_fingerprint(private), version=self.catalog.version)
        return [
            stored if stored.parts is None else replace(stored, payload=parts_of(stored.payload, stored.parts))
            for stored in releases
        ]

    def public_tables(self, logical: LogicalPlan) -> dict[str, pa.Table]:
        """Read the public tables that are joined with released numbers. Nothing is charged yet."""
        names = public_tables(logical)
        require_public(self.catalog, names)
        max_rows = self.catalog.limits.rows
        return {alias: public_table(name, self.backend, self.schema, max_rows) for name, alias in names.items()}

    def close(self) -> None:
        """Close the database. The ledger may be shared, and stays open."""
        self.postprocess.close()
        self.backend.close()

    def _multiplicity(self, table: str, columns: frozenset[str]) -> int:
        """Return the largest number of rows of a public table that agree on some columns, read once per connection."""
        require_public(self.catalog, [table])
        if (table, columns) not in self.multiplicities:
            self.multiplicities[table, columns] = multiplicity(table, columns, self.backend)
        return self.multiplicities[table, columns]

    def _pay(self, question: Question, logical: LogicalPlan, private: PrivateStatement) -> Receipt:
        """Write the charge, with its line in the history and the names under which the release is found again."""
        shown = {
            "text": question.text,
            "fingerprint": statement_fingerprint(private),
            "version": self.catalog.version,
            "noise": _noise(question, private),
            **({} if question.params is None else {"params": question.params}),
            **({} if question.options is None else {"options": dict(question.options)}),
        }
        return self.ledger.charge(
            private.charge, analyst=self.analyst, question=shown, queries=basic_queries(self.catalog, logical)
        )

    def _store(
        self,
        receipt: Receipt,
        noisy: Sequence[NoisyTable],
        private: PrivateStatement,
        answered: Sequence[AnsweredQuestion],
    ) -> None:
        """Store the release. It is paid for, and is returned even if storing fails."""
        try:
            price = Spending(private.charge.epsilon, private.charge.delta) if answered else None
            payload = dump_release(noisy, private.parts, price)
            try:
                self.ledger.finish(receipt, payload, answered=answered)
            except KeyboardInterrupt:
                with suppress(HedgerowError):  # once more, unless it had just been written
                    self.ledger.finish(receipt, payload, answered=answered)
                raise
        except Exception as error:  # noqa: BLE001 - see above
            owners_log.error("A release could not be stored: %s: %s", type(error).__name__, error)
            notice("The answer could not be stored in the ledger; it was charged, and will not be reused.")

    def _fail(
        self,
        error: BaseException,
        receipt: Receipt,
        noisy: Sequence[NoisyTable] | None,
        private: PrivateStatement,
        answered: Sequence[AnsweredQuestion],
        *,
        repeatable: bool,
    ) -> None:
        """Record that a charge ended in `error`, which then carries the receipt; keep what was released."""
        error.receipt = receipt  # type: ignore[attr-defined]
        if noisy is not None:
            self._store(receipt, noisy, private, answered)
            return
        with suppress(LedgerError):
            self.ledger.finish(receipt, None, repeatable=repeatable)
            error.repeatable = repeatable  # type: ignore[attr-defined]


def _adds_up_less(known: Sequence[Estimator], private: PrivateStatement) -> bool:
    """Return True if a table that would add up with others does not add up with them in a stored release."""
    pairs = [(one.plan.marginal, part.marginal) for one, part in zip(known, private.parts, strict=True)]
    return any(old is not None and new is not None and new.adds_up and not old.adds_up for old, new in pairs)


def _well_known_means(estimator: Estimator) -> dict[NeededSums, float]:
    """Return the released means whose interval is short beside the range of their values."""
    means = {}
    for index, need in enumerate(needed_sums(estimator.plan.release)):
        estimate, measured = estimator.estimate(index, beta=0.05), estimator.measured(index)
        width = float(estimate.upper[0] - estimate.lower[0])
        lower, upper = measured.support
        if width <= ASSUMED_DISTANCE * (upper - lower):
            means[need] = float(estimate.values[0])
    return means


def notice(text: str) -> None:
    """Print a message for the user on standard error. It is never about data."""
    sys.stderr.write(f"hedgerow: {text}\n")


def statement_name(private: PrivateStatement) -> str:
    """Return the identity of a statement's question, independent of its price."""
    return f"{statement_fingerprint(private)} {needs_name(private)}"


def _noise(question: Question, private: PrivateStatement) -> dict[str, object]:
    """Return the purpose of a release: its measures, and the price that the question stated."""
    return {"needs": needs_name(private), "stated": None if question.stated is None else list(question.stated)}
