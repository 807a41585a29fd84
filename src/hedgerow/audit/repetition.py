"""Repetition of one question: with the whole engine, or with the release alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import duckdb
import pyarrow as pa

from hedgerow.accounting.budget import Charge, Receipt, RemainingBudget
from hedgerow.answer import Answer
from hedgerow.audit.blueprint import Blueprint
from hedgerow.audit.people import Crowd
from hedgerow.audit.record import Record
from hedgerow.backends import Backend, Snapshot, connect_backend
from hedgerow.backends.base import failure
from hedgerow.catalog import BudgetPolicy, Catalog
from hedgerow.compiled import Program, Query
from hedgerow.errors import HedgerowError
from hedgerow.execution.request import Question
from hedgerow.execution.run import compile_steps, first_pass, release
from hedgerow.execution.session import Session
from hedgerow.ledger import AnsweredQuestion, Ledger, StoredRelease
from hedgerow.ledger.base import now, timestamp
from hedgerow.ledger.entries import BEGINNING, CHARGED, FORMAT, OPENED, Account, Entry, new_salt
from hedgerow.ledger.limits import LedgerTerms
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.release import Estimator, PostprocessEngine
from hedgerow.schema import SchemaTable
from hedgerow.session.database import Database


@dataclass(frozen=True)
class WatchedPurchase:
    """Purchase of one charge: the released tables with their plans. A statement makes one or several."""

    logical: LogicalPlan
    private: PrivateStatement
    estimators: tuple[Estimator, ...]
    receipt: Receipt

    @property
    def charge(self) -> Charge:
        """The charge that was paid."""
        return self.receipt.charge


@dataclass(frozen=True)
class WatchedSession(Session):
    """A session that records its purchases."""

    bought: list[WatchedPurchase] = field(default_factory=list)

    def buy(
        self,
        question: Question,
        logical: LogicalPlan,
        private: PrivateStatement,
        remaining: RemainingBudget,
        answered: Sequence[AnsweredQuestion] = (),
    ) -> tuple[list[Estimator], Receipt]:
        """Pay and release as usual, and record the purchase."""
        estimators, receipt = super().buy(question, logical, private, remaining, answered)
        self.bought.append(WatchedPurchase(logical, private, tuple(estimators), receipt))
        return estimators, receipt


class WatchedDatabase(Database):
    """A database that records every purchase. Its answers are the engine's."""

    def __init__(self, backend: Backend, catalog: Catalog, ledger: Ledger, *, dialect: str = "duckdb") -> None:
        self._bought: list[WatchedPurchase] = []
        engine = PostprocessEngine(catalog.limits)
        session = WatchedSession(backend, backend.schema(), catalog, ledger, None, engine, dialect, bought=self._bought)
        super().__init__(session, owns_ledger=False)

    def watch(self, query: str, options: dict[str, object]) -> tuple[Answer, Sequence[WatchedPurchase]]:
        """Return the answer, and everything that was released for it."""
        self._bought.clear()
        answer = self.sql(query, **options)  # type: ignore[arg-type]
        return answer, tuple(self._bought)


class Kept:
    """A backend that sends each query to the database once. Its cache stays sealed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.dialect = backend.dialect
        self.handed_in = backend.handed_in
        self._answers: dict[tuple[str, str], Any] = {}
        self._tables: dict[str, SchemaTable | None] = {}

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Return the cached result, or query the database. Errors are those of the backend."""
        try:
            yield _KeptSnapshot(self._backend, self._answers, self._tables)
        except HedgerowError:
            raise
        except Exception as error:  # noqa: BLE001 - as in a backend: it may quote an exact value
            raise failure(error) from None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - everything else is the backend's own
        return getattr(self._backend, name)


class _KeptSnapshot:
    """Cached results by query and by the tables that were passed to it."""

    def __init__(
        self, backend: Backend, answers: dict[tuple[str, str], Any], tables: dict[str, SchemaTable | None]
    ) -> None:
        self._backend = backend
        self._answers = answers
        self._tables = tables
        self._loaded: dict[str, pa.Table] = {}

    def table(self, name: str) -> SchemaTable | None:
        if name not in self._tables:
            with self._backend.snapshot() as snapshot:
                self._tables[name] = snapshot.table(name)
        return self._tables[name]

    def load(self, name: str, table: pa.Table) -> None:
        self._loaded[name] = table

    def run(self, query: Query) -> Any:  # noqa: ANN401 - sealed; only `release` opens it
        question = (query.sql, repr([(name, table.to_pydict()) for name, table in self._loaded.items()]))
        if question not in self._answers:
            with self._backend.snapshot() as snapshot:
                for name, table in self._loaded.items():
                    snapshot.load(name, table)
                self._answers[question] = snapshot.run(query)
        return self._answers[question]


@dataclass(frozen=True)
class Repeated:
    """A release that is repeated, on either database: the purchase, and its statements under one nonce.

    People in many groups choose among them by the nonce. With a nonce for each database, all of them would choose anew,
    and not the newcomer alone.
    """

    purchase: WatchedPurchase
    steps: Sequence[Program]

    @classmethod
    def of(cls, purchase: WatchedPurchase, backend: Backend) -> "Repeated":
        """Return the release with a nonce of its own."""
        return cls(purchase, compile_steps(purchase.private, backend))


class Repeater:
    """Repeats one purchase: same plan, same receipt, same exact integers, new noise."""

    def __init__(self, repeated: Repeated, backend: Backend) -> None:
        self._purchase, self._steps = repeated.purchase, repeated.steps
        self._backend: Any = Kept(backend)

    def again(self) -> tuple[Sequence[Estimator], None]:
        """Release again, without an answer."""
        bought = self._purchase
        with self._backend.snapshot() as snapshot:
            exact = first_pass(self._steps, bought.private, bought.receipt, snapshot)
            noisy = release(exact, self._steps, bought.private, bought.receipt, snapshot)
        return [Estimator(table, part) for table, part in zip(noisy, bought.private.parts, strict=True)], None


NAME = "audit"
"""The id of the audit's ledger: its receipts are not receipts of the owner's ledger."""


class Book:
    """Store of a `Ledger`, in memory. Nothing in it is durable, and no real data was read."""

    def __init__(self, dataset: str, policy: BudgetPolicy) -> None:
        opened = timestamp(now())
        body = {"ledger": NAME, "dataset": dataset, "format": FORMAT, "terms": LedgerTerms.of(policy).to_dict()}
        self._entries = [Entry(0, OPENED, opened, None, None, Account(opened), None, body, BEGINNING, new_salt())]
        self._releases: dict[int, StoredRelease] = {}

    def begin_again(self) -> None:
        """Forget every charge."""
        del self._entries[1:]
        self._releases.clear()

    @contextmanager
    def read(self) -> Iterator[Self]:
        """Look at the book."""
        yield self

    @contextmanager
    def write(self) -> Iterator[Self]:
        """Write to the book; undone if an exception is raised."""
        written = len(self._entries)
        try:
            yield self
        except BaseException:
            del self._entries[written:]
            raise

    def append(self, entry: Entry, release: StoredRelease | None = None) -> None:
        """Add one entry, and the release that it answers with."""
        self._entries.append(entry)
        if release is not None:
            self._releases[entry.sequence] = release

    def first(self) -> Entry:
        """The entry that opened it."""
        return self._entries[0]

    def last(self) -> Entry:
        """The latest entry."""
        return self._entries[-1]

    def last_terms(self) -> Entry:
        """Return the entry that states terms: they are never raised here."""
        return self._entries[0]

    def entry(self, sequence: int) -> Entry | None:
        """One entry."""
        return self._entries[sequence] if 0 <= sequence < len(self._entries) else None

    def last_charge_of(self, analyst: str) -> Entry | None:
        """The analyst's latest charge."""
        return next((entry for entry in reversed(self._charges()) if entry.analyst == analyst), None)

    def outcome_of(self, sequence: int) -> Entry | None:
        """The entry that follows from this one, if there is one."""
        return next((entry for entry in self._entries if entry.refers == sequence), None)

    def analysts(self) -> list[str]:
        """Return everybody who was charged since the start."""
        return sorted({entry.analyst for entry in self._charges() if entry.analyst is not None})

    def page(self, after: int, analyst: str | None = None) -> list[Entry]:
        """Return all entries (or charges of one analyst) after sequence number `after`."""
        entries = self._entries if analyst is None else [entry for entry in self._charges() if entry.analyst == analyst]
        return [entry for entry in entries if entry.sequence > after]

    def releases(self, fingerprint: str, version: str | None) -> list[StoredRelease]:
        """The stored releases of one question, the latest first."""
        releases = [self._releases[number] for number in self._about(fingerprint, version)]
        return [release for release in releases if release.payload]

    def notes(self, fingerprint: str, version: str | None) -> list[Entry]:
        """The entries about that question without a release of their own, the latest first."""
        return [self._entries[n] for n in self._about(fingerprint, version) if not self._releases[n].payload]

    def _about(self, fingerprint: str, version: str | None) -> list[int]:
        key = (fingerprint, version)
        return [n for n, release in reversed(self._releases.items()) if (release.fingerprint, release.version) == key]

    def release_of(self, sequence: int) -> StoredRelease | None:
        """The release that an answer's entry stored."""
        return self._releases.get(sequence)

    def release_under(self, charge: int) -> StoredRelease | None:
        """The release that a charge paid for."""
        return next((release for release in self._releases.values() if release.charge == charge), None)

    def check(self) -> None:
        """Do nothing: there is no storage that could be damaged."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _charges(self) -> list[Entry]:
        return [entry for entry in self._entries if entry.kind == CHARGED]


@dataclass(frozen=True)
class AuditQuestion:
    """Question and its options."""

    query: str
    options: dict[str, object]
    dialect: str


@dataclass(frozen=True)
class Asker:
    """A generated database, ready for questions."""

    question: AuditQuestion
    database: WatchedDatabase
    backend: Backend
    book: Book

    def ask(self) -> Sequence[WatchedPurchase]:
        """Ask once, and return the purchases: one, or none if only public tables are read. Refusals are raised."""
        self.book.begin_again()
        return self.database.watch(self.question.query, self.question.options)[1]

    def record(self, runs: int, repeated: Repeated | None, progress: Callable[[], None]) -> Record:
        """Ask this many times: the whole engine, or only the release of a given purchase."""
        record = Record()
        once = self._answered if repeated is None else Repeater(repeated, self.backend).again
        for _ in range(runs):
            try:
                estimators, answer = once()
            except HedgerowError as error:
                record.add([], fault=error.code)
            else:
                record.add(estimators, answer)
            progress()
        return record

    def _answered(self) -> tuple[Sequence[Estimator], Answer | None]:
        """Run the whole engine: parse, price, charge, compile, read, select, add noise, answer."""
        self.book.begin_again()
        answer, bought = self.database.watch(self.question.query, self.question.options)
        return [estimator for purchase in bought for estimator in purchase.estimators], answer


@contextmanager
def asking(
    blueprint: Blueprint, catalog: Catalog, question: AuditQuestion, crowd: Crowd | None = None
) -> Iterator[Asker]:
    """Yield a database with these people in it (None: nobody), and a ledger in memory."""
    connection = blueprint.build()
    if crowd is not None:
        crowd.settle(blueprint, connection)
    asker = _asker(connection, catalog, question)
    with closing(asker.database):
        yield asker


def _asker(connection: duckdb.DuckDBPyConnection, catalog: Catalog, question: AuditQuestion) -> Asker:
    backend = connect_backend(connection)
    backend.handed_in = False  # nobody but us can change this database: it is read as a file that we opened is
    book = Book(catalog.dataset, catalog.budget)
    ledger = Ledger(book, catalog.budget)
    database = WatchedDatabase(backend, catalog, ledger, dialect=question.dialect)
    return Asker(question, database, backend, book)
