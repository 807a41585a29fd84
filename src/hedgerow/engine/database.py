"""sql, quote, budget: the corridor, nothing clever."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self, Unpack

from hedgerow.answer import Answer, Summary
from hedgerow.backends import Backend
from hedgerow.budget import Charge, Receipt
from hedgerow.catalog import Catalog
from hedgerow.compile import program, select
from hedgerow.engine.allotment import allot, counted, sets_price
from hedgerow.engine.forecast import Forecast, forecast
from hedgerow.engine.notices import notice
from hedgerow.engine.parameters import Asked, Options, asked
from hedgerow.engine.quote import Quote, predict
from hedgerow.engine.run import compile_steps, release
from hedgerow.engine.summary import reused, summary
from hedgerow.engine.telling import tell
from hedgerow.errors import BackendError, InternalError, LedgerError, ParseError
from hedgerow.ledger import BudgetView, Ledger
from hedgerow.parse import parse
from hedgerow.plan.bind import bind
from hedgerow.plan.nodes import LogicalPlan, scan_of
from hedgerow.privacy.fingerprint import fingerprint
from hedgerow.privacy.plan import PrivatePlan, Room
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
        request = asked(self._catalog, **options)
        logical = self._bind(query, params, request)
        if logical.release is None:
            return self._public(query, logical, request)
        room = self._room()
        private = self._price(logical, request, room)
        if request.reuse and (known := self._recall(query, logical, private, request)) is not None:
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
        estimator = Estimator(noisy, private)
        self._finish(receipt, estimator)
        try:
            return tell(self._after, logical, estimator, request, summary(query, private, receipt))
        except BackendError as error:
            error.receipt = receipt
            raise

    def quote(self, query: str, *, params: Parameters = None, **options: Unpack[Options]) -> Quote:
        """What the question would cost and how wrong its answers would be. Free; reads no private row."""
        request = asked(self._catalog, **options)
        logical = self._bind(query, params, request)
        if logical.release is None:
            return Quote.public(query, select(logical.root, self._backend.dialect))
        private = self._price(logical, request, self._room())
        texts = program(private, self._backend.dialect, NO_NONCE).texts()
        left, fits = self._ledger.preview(private.charge, analyst=self._analyst)
        return predict(query, logical, private, request.confidence, texts, self._ledger.caps, left, fits=fits)

    def forecast(self, queries: Sequence[str], **options: Unpack[Options]) -> Forecast:
        """What a list of queries, fixed before any answer is seen, would prove together. Free; reads no private row."""
        request = asked(self._catalog, **options)
        charges = []
        for query in queries:
            logical = self._bind(query, None, request)
            if logical.release is not None:
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

    def _bind(self, query: str, params: Parameters, request: Asked) -> LogicalPlan:
        syntax = parse(query, self._dialect)
        try:
            return bind(syntax, self._catalog, self._schema, params=params, bounds=request.bounds)
        except RecursionError:
            raise ParseError("The statement is nested too deeply.", code="too-deep") from None

    def _declared(self, logical: LogicalPlan) -> SchemaTable:
        scan = scan_of(logical.release.source) if logical.release is not None else None
        if scan is None:
            raise InternalError("A private plan without a table.")
        return self._schema.tables[scan.table]

    def _room(self) -> Room:
        left = self._ledger.remaining_cost(self._analyst)
        return Room(left.gaussian, left.pure, lambda cost: self._ledger.fair_mass(cost, self._analyst))

    def _question(self, query: str, private: PrivatePlan) -> dict[str, object]:
        """What the history shows, and under which name the release is found again."""
        return {"text": query, "fingerprint": fingerprint(private), "version": self._catalog.version}

    def _recall(self, query: str, logical: LogicalPlan, private: PrivatePlan, request: Asked) -> Answer | None:
        """An answer that was paid for before, with the same digits; None where there is none as good.

        Privacy: it depends on the question, the owner's declared version and the noise of stored releases,
        never on what the data holds now.
        """
        for stored in self._ledger.find(fingerprint(private), version=self._catalog.version):
            anyone = request.budget.mechanism == "auto"
            estimator = recall(stored.payload, private, any_mechanism=anyone)
            if estimator is not None:
                identity = f"{self._ledger.id}-{stored.charge}"
                left = self._ledger.budget(self._analyst).remaining
                return tell(self._after, logical, estimator, request, reused(query, estimator.plan, identity, left))
        return None

    def _finish(self, receipt: Receipt, estimator: Estimator | None) -> None:
        """Store what was released. The charge stands whether or not that succeeds."""
        try:
            self._ledger.finish(receipt, None if estimator is None else remember(estimator))
        except LedgerError:
            notice("The answer could not be stored in the ledger; it was charged, and will not be reused.")

    def _price(self, logical: LogicalPlan, request: Asked, room: Room) -> PrivatePlan:
        return price(
            logical,
            allot(request.budget, self._catalog, self._ledger, logical, self._analyst),
            room,
            min_frequency=request.min_frequency,
            max_rows=request.max_rows,
            max_groups=request.max_groups,
        )

    def _public(self, query: str, logical: LogicalPlan, request: Asked) -> Answer:
        table = self._backend.public(select(logical.root, self._backend.dialect)).rename_columns(list(logical.names))
        return Answer(table, [{}] * table.num_rows, request.confidence, Summary(None, query))
