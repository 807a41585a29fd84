"""Where statements are priced, paid for, released and found again: everything between a plan and noisy tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace

import pyarrow as pa

from hedgerow.accounting.budget import Receipt
from hedgerow.answer import Answer
from hedgerow.backends import Backend
from hedgerow.catalog import Catalog
from hedgerow.compile import public_tables
from hedgerow.error_bars.provenance.noisy_columns import picks_rows
from hedgerow.errors import BackendError, HedgerowError, InternalError, LedgerError, carrying
from hedgerow.execution.build_answer import tell
from hedgerow.execution.notices import notice
from hedgerow.execution.price_policy import allot, counted
from hedgerow.execution.public_tables import known_keys, public_table, require_public
from hedgerow.execution.question import Question
from hedgerow.execution.request import Asked
from hedgerow.execution.run import compile_steps, release, require_readable, survey
from hedgerow.execution.single_flight import TURNS, Waiting
from hedgerow.execution.summary import reused
from hedgerow.ledger import Ledger, StoredRelease
from hedgerow.ledger.entries import canonical
from hedgerow.owners_log import log as owners_log
from hedgerow.plan.nodes import LogicalPlan, scans_of
from hedgerow.privacy.fingerprint import statement_fingerprint
from hedgerow.privacy.plan import PrivateStatement, Room
from hedgerow.privacy.price import price, require_room
from hedgerow.privacy.uses import used_together
from hedgerow.release import (
    AfterEngine,
    Estimator,
    NoisyTable,
    asks_for_all,
    needs_name,
    noisiness,
    recall,
    remember,
)
from hedgerow.schema import Schema, SchemaTable

PICKED, AT_ONCE = 20, 1000
"""By how much surer an interval is bought that may be shown for a picked row, or together with all others."""


def bought_level(logical: LogicalPlan, request: Asked) -> float:
    """How often an interval may fail that is bought with its number: by the text of the query alone."""
    beta = 1.0 - request.confidence
    beta = beta / AT_ONCE if request.simultaneous else beta
    beta /= max((used_together(logical, release) for release in logical.releases), default=1)
    return max(beta / PICKED if picks_rows(logical.root) else beta, 1e-15)


@dataclass(frozen=True)
class Desk:
    """One analyst's access to one dataset."""

    backend: Backend
    schema: Schema
    catalog: Catalog
    ledger: Ledger
    analyst: str | None
    after: AfterEngine
    waiting: Waiting = field(default_factory=Waiting)

    def room(self) -> Room:
        """What the ledger has left, to steer by."""
        left = self.ledger.remaining_cost(self.analyst)
        return Room(left.gaussian, left.pure, lambda cost: self.ledger.fair_mass(cost, self.analyst))

    def price(
        self, logical: LogicalPlan, request: Asked, room: Room, epsilon: float | None = None, delta_share: float = 1.0
    ) -> PrivateStatement:
        """The statement at what it stated, or at another epsilon and a share of its delta."""
        budget = allot(request.budget, self.catalog, self.ledger, logical, self.analyst)
        if epsilon is not None:
            delta = None if budget.delta is None else budget.delta * delta_share
            budget = replace(budget, epsilon=epsilon, delta=delta, mu=None)
        return price(
            logical,
            budget,
            room,
            min_frequency=request.min_frequency,
            max_rows=request.max_rows,
            max_groups=request.max_groups,
            domains=known_keys(logical, self.backend, self.catalog),
            beta=bought_level(logical, request),
            equal_noise=request.equal_noise,
            method=request.distinct,
        )

    def buy(
        self, question: Question, logical: LogicalPlan, private: PrivateStatement, room: Room
    ) -> tuple[list[Estimator], Receipt]:
        """Open the snapshot, pay, then release.

        Whatever can fail without a row being read fails before the charge. Whatever is raised after it carries the
        receipt, and the ledger says how the charge ended: with the release, stored before anything is made of it;
        without one; or without one and without any noise drawn, so that the same question is covered by the charge.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        require_room(private, room)
        steps = compile_steps(private, self.backend)
        receipt: Receipt | None = None
        noisy: list[NoisyTable] | None = None
        drawing = False
        try:
            with self.backend.snapshot() as snapshot:
                require_readable(snapshot, self.backend, self._declared(logical))
                receipt = self._pay(question, logical, private)
                exact = survey(steps, private, receipt, snapshot)
                drawing = True
                noisy = release(exact, steps, private, receipt, snapshot)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self.backend.cancel()
            if noisy is None or not isinstance(error, BackendError):
                if receipt is not None:
                    self._fail(error, receipt, noisy, private, repeatable=not drawing)
                raise
        if receipt is None or noisy is None:
            raise InternalError("A snapshot was left without a release.")
        with carrying(receipt):
            self._store(receipt, noisy, private)
            return [Estimator(table, part) for table, part in zip(noisy, private.parts, strict=True)], receipt

    def turn(self, request: Asked, *question: str) -> AbstractContextManager[None]:
        """Alone with one question at one price: whoever asks the same meanwhile waits, and finds the answer stored."""
        if not request.reuse:
            return nullcontext()
        price = (request.budget, request.within, request.confidence, request.equal_noise, request.distinct)
        return TURNS.turn((self.ledger.id, self.catalog.version, price, *question), self.waiting)

    def cancel(self) -> None:
        """Stop what runs and what waits for its turn."""
        TURNS.cancel(self.waiting)
        self.backend.cancel()

    def find(
        self, question: Question, private: PrivateStatement, request: Asked
    ) -> tuple[StoredRelease, list[Estimator]] | None:
        """The release that was paid for and answers a statement; None where there is none as good.

        Privacy: it depends on the question, the owner's declared version and the noise of stored releases,
        never on what the data holds now.
        """
        anyone = request.budget.mechanism == "auto"

        def read(stored: StoredRelease) -> list[Estimator] | None:
            identical = self.was_bought_by(question, private, stored)
            return recall(stored.payload, private, any_mechanism=anyone, identical=identical)

        return next(self.preferred(private, read), None)

    def was_bought_by(self, question: Question, private: PrivateStatement, stored: StoredRelease) -> bool:
        """Whether a release was bought for the same measures by a question that stated the same."""
        return question.stated is not None and stored.noise == canonical(_noise(question, private))

    def preferred(
        self, private: PrivateStatement, read: Callable[[StoredRelease], list[Estimator] | None]
    ) -> Iterator[tuple[StoredRelease, list[Estimator]]]:
        """The stored releases that `read` can use: those that answered this question before, then the most accurate.

        The first that answered a question answers it for ever: a repeated question must not change its digits because
        others were asked since.
        """
        needs, others = needs_name(private), []
        for stored in reversed(self.earlier(private)):
            known = read(stored)
            if known is not None and (needs in stored.answers or asks_for_all(stored.payload, private)):
                yield stored, known
            elif known is not None:
                others.append((stored, known))
        yield from sorted(others, key=lambda pair: noisiness(pair[1], private))

    def retell(
        self,
        question: Question,
        found: tuple[StoredRelease, list[Estimator]],
        logical: LogicalPlan,
        private: PrivateStatement,
        request: Asked,
        public: Mapping[str, pa.Table],
    ) -> Answer:
        """The answer that a stored release gives, with the digits that it has. From now on it answers the question."""
        stored, known = found
        needs = needs_name(private)
        if needs not in stored.answers and not asks_for_all(stored.payload, private):
            with suppress(LedgerError):  # the answer is paid for, whether or not the note can be written
                self.ledger.reuse(stored, needs)
        left = self.ledger.budget(self.analyst).remaining
        plans = [estimator.plan for estimator in known]
        told = reused(question.text, plans, self.ledger.receipt_id(stored.charge), left)
        return tell(self.after, logical, known, public, request, told)

    def earlier(self, private: PrivateStatement) -> list[StoredRelease]:
        """What was released before about the same rows and keys, the latest first."""
        return self.ledger.find(statement_fingerprint(private), version=self.catalog.version)

    def public_tables(self, logical: LogicalPlan) -> dict[str, pa.Table]:
        """The public tables that the after part joins with, as they are. Read before anything is charged."""
        names = public_tables(logical)
        require_public(self.catalog, names)
        most = self.catalog.limits.rows
        return {there: public_table(name, self.backend, self.schema, most) for name, there in names.items()}

    def _declared(self, logical: LogicalPlan) -> list[SchemaTable]:
        """What was known, when the plan was made, of the tables that it reads."""
        return [self.schema.tables[name] for name in sorted({scan.table for scan in scans_of(logical.releases)})]

    def _pay(self, question: Question, logical: LogicalPlan, private: PrivateStatement) -> Receipt:
        """Write the charge, with what the history shows and the names under which the release is found again."""
        shown = {
            "text": question.text,
            "fingerprint": statement_fingerprint(private),
            "version": self.catalog.version,
            "noise": _noise(question, private),
            **({} if question.params is None else {"params": question.params}),
        }
        return self.ledger.charge(
            private.charge, analyst=self.analyst, question=shown, queries=counted(self.catalog, logical)
        )

    def _store(self, receipt: Receipt, noisy: Sequence[NoisyTable], private: PrivateStatement) -> None:
        """Store what was released. It is paid for, and given whether or not that succeeds."""
        try:
            payload = remember(noisy, private.parts)
            try:
                self.ledger.finish(receipt, payload)
            except KeyboardInterrupt:
                with suppress(HedgerowError):  # once more, unless it had just been written
                    self.ledger.finish(receipt, payload)
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
        *,
        repeatable: bool,
    ) -> None:
        """Note that a charge ended in `error`, which then carries the receipt; keep what was released all the same."""
        error.receipt = receipt  # type: ignore[attr-defined]
        if noisy is not None:
            self._store(receipt, noisy, private)
            return
        with suppress(LedgerError):
            self.ledger.finish(receipt, None, repeatable=repeatable)
            error.repeatable = repeatable  # type: ignore[attr-defined]


def statement_name(private: PrivateStatement) -> str:
    """A name for what a statement asks of the rows, at whatever price."""
    return f"{statement_fingerprint(private)} {needs_name(private)}"


def _noise(question: Question, private: PrivateStatement) -> dict[str, object]:
    """What a release was bought for: its measures, and the price that the question stated."""
    return {"needs": needs_name(private), "stated": None if question.stated is None else list(question.stated)}
