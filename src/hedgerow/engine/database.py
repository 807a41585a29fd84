"""sql, quote, budget: the corridor, nothing clever."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self, Unpack

import pyarrow as pa

from hedgerow.answer import Answer, Summary
from hedgerow.answer.plot import Errors
from hedgerow.backends import Backend
from hedgerow.budget import Charge, Receipt
from hedgerow.catalog import Catalog
from hedgerow.compile import program, public_tables, query_text
from hedgerow.compiled import PUBLIC
from hedgerow.engine.allotment import allot, counted, sets_price
from hedgerow.engine.forecast import Forecast, forecast
from hedgerow.engine.notices import notice
from hedgerow.engine.parameters import Asked, Options, asked
from hedgerow.engine.public import known_keys, ordered, public_table, require_public
from hedgerow.engine.quote import Quote, predict, predicted_errors
from hedgerow.engine.run import compile_steps, release
from hedgerow.engine.stated import stated
from hedgerow.engine.summary import reused, summary
from hedgerow.engine.telling import tell
from hedgerow.errors import BackendError, LedgerError, ParseError, pointing_into
from hedgerow.ledger import BudgetView, Ledger
from hedgerow.parse import parse
from hedgerow.plan.bind import bind
from hedgerow.plan.nodes import LogicalPlan, scans_of
from hedgerow.privacy.fingerprint import statement_fingerprint
from hedgerow.privacy.plan import PrivateStatement, Room
from hedgerow.privacy.price import price, require_room
from hedgerow.release import AfterEngine, Estimator, recall, remember
from hedgerow.schema import Schema, SchemaTable

NO_NONCE = "0" * 32
"""Stands for the nonce in SQL that is only shown."""

Parameters = Sequence[object] | Mapping[str, object] | None


class Database:
    """A database that answers privately. Safe to use from many threads."""

    def __init__(
        self,
        backend: Backend,
        schema: Schema,
        catalog: Catalog,
        ledger: Ledger,
        *,
        analyst: str | None,
        dialect: str,
        owns_ledger: bool,
    ) -> None:
        self._backend = backend
        self._catalog = catalog
        self._schema = schema
        self._ledger = ledger
        self._owns_ledger = owns_ledger
        self._analyst = analyst
        self._dialect = dialect
        self._after = AfterEngine()

    def sql(self, query: str, *, params: Parameters = None, **options: Unpack[Options]) -> Answer:
        """Ask a question, pay for it, and get numbers with error bars.

        Args:
            query: A SELECT statement.
            params: Values for `?` (a sequence) or `:name` (a mapping).
            **options: See `Options`. What the owner set can only be tightened.

        Privacy: the charge is durable before the first row is read, and is never given back.
        """
        request, logical = self._understand(query, params, options)
        if not logical.releases:
            return self._public(query, logical, request)
        public = self._public_tables(logical)
        room = self._room()
        private = self._price(logical, request, room)
        if request.reuse and (known := self._recall(query, logical, private, request, public)) is not None:
            return known
        require_room(private, room)
        steps = compile_steps(private, self._backend)
        receipt = self._ledger.charge(
            private.charge,
            analyst=self._analyst,
            question=self._question(query, private),
            queries=counted(self._catalog, logical),
        )
        try:
            noisy = release(steps, private, receipt, self._backend, self._declared(logical))
        except BackendError as error:
            error.receipt = receipt
            self._finish(receipt, None)
            raise
        estimators = [Estimator(table, part) for table, part in zip(noisy, private.parts, strict=True)]
        self._finish(receipt, estimators)
        try:
            return tell(self._after, logical, estimators, public, request, summary(query, private, receipt))
        except BackendError as error:
            error.receipt = receipt
            raise

    def quote(self, query: str, *, params: Parameters = None, **options: Unpack[Options]) -> Quote:
        """What the question would cost and how wrong its answers would be. Free; reads no private row."""
        request, logical = self._understand(query, params, options)
        if not logical.releases:
            return Quote.public(query, self._public_text(logical))
        room = self._room()
        private = self._price(logical, request, room)
        programs = [program(part, self._backend.dialect, NO_NONCE) for part in private.parts]
        texts = [text for steps in programs for text in steps.texts()]
        left, fits = self._ledger.preview(private.charge, analyst=self._analyst)
        offer = predict(query, logical, private, request.confidence, texts, self._ledger.caps, left, fits=fits)
        return replace(offer, _reprice=partial(self._errors_at, logical, request, room))

    def forecast(self, queries: Sequence[str], **options: Unpack[Options]) -> Forecast:
        """What a list of queries, fixed before any answer is seen, would prove together. Free; reads no private row."""
        asked(self._catalog, **options)
        charges = []
        for query in queries:
            request, logical = self._understand(query, None, options)
            if logical.releases:
                charges.append(self._price(logical, request, self._room()).charge)
            else:
                charges.append(Charge((), 0.0, 0.0))
        left = None if sets_price(self._catalog) else self._ledger.remaining_cost(self._analyst)
        return forecast(queries, charges, self._catalog.budget.delta, left)

    @property
    def budget(self) -> BudgetView:
        """What is spent and what remains, of this analyst's cap where there is one."""
        return self._ledger.budget(self._analyst)

    def close(self) -> None:
        """Let go of database and ledger."""
        self._after.close()
        self._backend.close()
        if self._owns_ledger:
            self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _understand(self, query: str, params: Parameters, options: Options) -> tuple[Asked, LogicalPlan]:
        """The plan of a statement, and the parameters given beside it or inside it."""
        with pointing_into(query):
            statement = parse(query, self._dialect)
            request = asked(self._catalog, **stated(statement.options, options, self._catalog))
            try:
                plan = bind(statement.query, self._catalog, self._schema, params=params, bounds=request.bounds)
            except RecursionError:
                raise ParseError("The statement is nested too deeply.", code="too-deep") from None
            return request, plan

    def _declared(self, logical: LogicalPlan) -> list[SchemaTable]:
        """What was known, when the plan was made, of the tables that it reads."""
        return [self._schema.tables[name] for name in sorted({scan.table for scan in scans_of(logical.releases)})]

    def _public_tables(self, logical: LogicalPlan) -> dict[str, pa.Table]:
        """The public tables that the after part joins with, as they are. Read before anything is charged."""
        names = public_tables(logical)
        require_public(self._catalog, names)
        return {PUBLIC + name: public_table(name, self._backend, self._schema) for name in names}

    def _room(self) -> Room:
        left = self._ledger.remaining_cost(self._analyst)
        return Room(left.gaussian, left.pure, lambda cost: self._ledger.fair_mass(cost, self._analyst))

    def _question(self, query: str, private: PrivateStatement) -> dict[str, object]:
        """What the history shows, and under which name the release is found again."""
        return {"text": query, "fingerprint": statement_fingerprint(private), "version": self._catalog.version}

    def _recall(
        self,
        query: str,
        logical: LogicalPlan,
        private: PrivateStatement,
        request: Asked,
        public: Mapping[str, pa.Table],
    ) -> Answer | None:
        """An answer that was paid for before, with the same digits; None where there is none as good.

        Privacy: it depends on the question, the owner's declared version and the noise of stored releases,
        never on what the data holds now.
        """
        for stored in self._ledger.find(statement_fingerprint(private), version=self._catalog.version):
            anyone = request.budget.mechanism == "auto"
            found = recall(stored.payload, private, any_mechanism=anyone)
            if found is not None:
                identity = f"{self._ledger.id}-{stored.charge}"
                left = self._ledger.budget(self._analyst).remaining
                told = reused(query, [estimator.plan for estimator in found], identity, left)
                return tell(self._after, logical, found, public, request, told)
        return None

    def _finish(self, receipt: Receipt, estimators: Sequence[Estimator] | None) -> None:
        """Store what was released. The charge stands whether or not that succeeds."""
        try:
            self._ledger.finish(receipt, None if estimators is None else remember(estimators))
        except LedgerError:
            notice("The answer could not be stored in the ledger; it was charged, and will not be reused.")

    def _errors_at(self, logical: LogicalPlan, request: Asked, room: Room, epsilon: float) -> Errors:
        """What would be wrong at another epsilon. Free; reads no private row."""
        return predicted_errors(logical, self._price(logical, request, room, epsilon), 1.0 - request.confidence)

    def _price(
        self, logical: LogicalPlan, request: Asked, room: Room, epsilon: float | None = None
    ) -> PrivateStatement:
        """The statement at what it stated, or, where it is only looked at, at another epsilon."""
        budget = allot(request.budget, self._catalog, self._ledger, logical, self._analyst)
        return price(
            logical,
            budget if epsilon is None else replace(budget, epsilon=epsilon, mu=None),
            room,
            min_frequency=request.min_frequency,
            max_rows=request.max_rows,
            max_groups=request.max_groups,
            domains=known_keys(logical, self._backend, self._catalog),
        )

    def _public(self, query: str, logical: LogicalPlan, request: Asked) -> Answer:
        table = self._backend.public(self._public_text(logical)).rename_columns(list(logical.names))
        return Answer(table, [{}] * table.num_rows, request.confidence, Summary(None, query))

    def _public_text(self, logical: LogicalPlan) -> str:
        require_public(self._catalog, [scan.table for scan in scans_of(logical.root)])
        return query_text(ordered(logical.root), self._backend.dialect)
