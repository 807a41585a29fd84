"""connect, sql, quote: the corridor, nothing clever."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

from hedgerow.answer import Answer, Summary
from hedgerow.backends import Backend, connect_backend
from hedgerow.budget import Charge, Receipt
from hedgerow.catalog import Catalog, bind_catalog, load_catalog
from hedgerow.compile import after, program, select
from hedgerow.compiled import ROW
from hedgerow.dialects import DUCKDB
from hedgerow.engine.allotment import allot, counted
from hedgerow.engine.forecast import Forecast, forecast
from hedgerow.engine.parameters import Asked, asked
from hedgerow.engine.quote import Quote, predict
from hedgerow.engine.run import compile_steps, release
from hedgerow.engine.summary import reused, summary
from hedgerow.errors import BackendError, CatalogError, HedgerowError, InternalError, LedgerError, ParseError
from hedgerow.interval import Interval
from hedgerow.ledger import BudgetView, Ledger, open_ledger
from hedgerow.parse import parse
from hedgerow.plan.bind import bind
from hedgerow.plan.nodes import Filter, Limit, LogicalPlan, Sort, scan_of
from hedgerow.privacy.fingerprint import fingerprint
from hedgerow.privacy.plan import PrivatePlan, Room
from hedgerow.privacy.price import price, require_room
from hedgerow.release import AfterEngine, Estimator, bounds_of, recall, remember
from hedgerow.schema import SchemaTable

NO_NONCE = "0" * 32
"""Stands for the nonce in SQL that is only shown."""

Parameters = Sequence[object] | Mapping[str, object] | None


def connect(
    source: object,
    *,
    catalog: str | os.PathLike[str] | Catalog,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    analyst: str | None = None,
    dialect: str | None = None,
) -> "Database":
    """Open a database for private questions.

    Args:
        source: The path of a DuckDB file, a `duckdb:///` URL, or an open DuckDB connection.
        catalog: What is protected: a YAML file or a `Catalog`.
        ledger: What has been spent: a file or a `Ledger`; by default beside the catalog, with the ending `.ledger`.
        analyst: Who asks; taken on trust.
        dialect: The SQL dialect that queries are written in; DuckDB's by default.

    Example:
        >>> db = connect("shop.duckdb", catalog="shop.yaml")     # doctest: +SKIP
        >>> db.sql("SELECT COUNT(*) FROM customers", epsilon=1)  # doctest: +SKIP
    """
    declared = load_catalog(catalog)
    backend = connect_backend(source)
    try:
        schema = backend.schema()
        bound = bind_catalog(declared, schema)
        book = ledger if isinstance(ledger, Ledger) else _open_ledger(ledger, bound)
    except HedgerowError:
        backend.close()
        raise
    return Database(backend, bound, book, analyst=analyst, dialect=dialect or "duckdb", owns_ledger=book is not ledger)


def ledger_path(catalog: Catalog, ledger: str | os.PathLike[str] | None) -> Path | str:
    """Where the ledger of a catalog is: where the caller says, or beside the catalog."""
    if ledger is not None:
        return os.fspath(ledger)
    if catalog.path is None:
        raise CatalogError(
            "A catalog that does not come from a file has no place for a ledger beside it.",
            code="no-ledger-path",
            hint="Pass ledger=.",
        )
    return catalog.path.with_suffix(".ledger")


def _open_ledger(ledger: str | os.PathLike[str] | None, catalog: Catalog) -> Ledger:
    place = ledger_path(catalog, ledger)
    return open_ledger(place, dataset=catalog.dataset, policy=catalog.budget, notice=_notice)


def _notice(text: str) -> None:
    sys.stderr.write(f"hedgerow: {text}\n")


class Database:
    """A database that answers privately. Safe to use from many threads."""

    def __init__(
        self,
        backend: Backend,
        catalog: Catalog,
        ledger: Ledger,
        *,
        analyst: str | None,
        dialect: str,
        owns_ledger: bool,
    ) -> None:
        self._backend = backend
        self._catalog = catalog
        self._schema = backend.schema()
        self._ledger = ledger
        self._owns_ledger = owns_ledger
        self._analyst = analyst
        self._dialect = dialect
        self._after = AfterEngine()

    def sql(self, query: str, *, params: Parameters = None, **options: object) -> Answer:
        """Ask a question, pay for it, and get numbers with error bars.

        Args:
            query: A SELECT statement.
            params: Values for `?` (a sequence) or `:name` (a mapping).
            **options: epsilon, delta, confidence, mechanism, min_frequency, max_rows, max_groups, bounds,
                simultaneous, reuse; see the reference. What the owner set can only be tightened.

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
        return self._answer(logical, estimator, request, summary(query, private, receipt), receipt)

    def quote(self, query: str, *, params: Parameters = None, **options: object) -> Quote:
        """What the question would cost and how wrong its answers would be. Free; reads no private row."""
        request = asked(self._catalog, **options)
        logical = self._bind(query, params, request)
        if logical.release is None:
            return Quote.public(query, select(logical.root, self._backend.dialect))
        private = self._price(logical, request, self._room())
        texts = program(private, self._backend.dialect, NO_NONCE).texts()
        left, fits = self._ledger.preview(private.charge, analyst=self._analyst)
        return predict(query, logical, private, request.confidence, texts, self._ledger.caps, left, fits=fits)

    def forecast(self, queries: Sequence[str], *, delta: float | None = None, **options: object) -> Forecast:
        """What a list of queries, fixed before any answer is seen, would prove together. Free; reads no private row."""
        request = asked(self._catalog, delta=delta, **options)
        charges = []
        for query in queries:
            logical = self._bind(query, None, request)
            if logical.release is not None:
                charges.append(self._price(logical, request, self._room()).charge)
            else:
                charges.append(Charge((), 0.0, 0.0))
        return forecast(queries, charges, self._catalog.budget.delta, self._ledger.remaining_cost(self._analyst))

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
                return self._answer(logical, estimator, request, reused(query, estimator.plan, identity, left), None)
        return None

    def _finish(self, receipt: Receipt, estimator: Estimator | None) -> None:
        """Store what was released. The charge stands whether or not that succeeds."""
        try:
            self._ledger.finish(receipt, None if estimator is None else remember(estimator))
        except LedgerError:
            _notice("The answer could not be stored in the ledger; it was charged, and will not be reused.")

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

    def _answer(
        self, logical: LogicalPlan, estimator: Estimator, request: Asked, told: Summary, receipt: Receipt | None
    ) -> Answer:
        released = estimator.table()
        keys = tuple(key.name for key in estimator.plan.release.keys)
        try:
            table = self._after.run(after(logical.root, keys, DUCKDB), released)
        except BackendError as error:
            error.receipt = receipt
            raise
        rows = table.column(ROW).to_numpy()
        beta = _failure(logical, request, shown=len(rows), of=released.num_rows)
        intervals = _intervals(logical, estimator, released, rows, beta)
        shown = table.drop_columns([ROW]).rename_columns(list(logical.names))
        return Answer(shown, intervals, request.confidence, told)


def _intervals(
    logical: LogicalPlan, estimator: Estimator, released: pa.Table, rows: np.ndarray, beta: float
) -> list[dict[str, Interval]]:
    """The error bars of the rows that are shown, by column."""
    found: list[dict[str, Interval]] = [{} for _ in rows]
    for name, column in zip(logical.names, logical.root.columns, strict=True):
        bounds = bounds_of(column.expr, estimator, released, beta)
        if bounds is None:
            continue
        for place, row in enumerate(rows.tolist()):
            found[place][name] = Interval(float(bounds.lower[row]), float(bounds.upper[row]), bounds.notes[row])
    return found


def _failure(logical: LogicalPlan, request: Asked, *, shown: int, of: int) -> float:
    """How often one interval may fail.

    Being picked by HAVING or LIMIT is information: with R of G rows shown, R/G of the failure probability
    keeps the expected share of wrong intervals among those shown (mechanisms.md 6.7). With
    `simultaneous` every number of the table holds at once.
    """
    beta = 1.0 - request.confidence
    if picks_rows(logical) and 0 < shown < of:
        beta *= shown / of
    if request.simultaneous:
        beta /= max(1, of * len(logical.names))
    return beta


def picks_rows(logical: LogicalPlan) -> bool:
    """Whether rows are chosen by their noisy values."""
    node = logical.root.source
    while isinstance(node, Sort):
        node = node.source
    return isinstance(node, Filter | Limit)
