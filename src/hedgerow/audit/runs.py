"""Asking the same question of a database again and again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import duckdb

from hedgerow.answer import Answer
from hedgerow.audit.blueprint import Blueprint
from hedgerow.audit.book import Book
from hedgerow.audit.people import Crowd
from hedgerow.audit.record import Record
from hedgerow.audit.repeat import Repeated, Repeater
from hedgerow.audit.watch import WatchedDatabase, WatchedPurchase
from hedgerow.backends import Backend, connect_backend
from hedgerow.catalog import Catalog
from hedgerow.errors import HedgerowError
from hedgerow.ledger import Ledger
from hedgerow.release import Estimator


@dataclass(frozen=True)
class AuditQuestion:
    """What is asked, and how."""

    query: str
    options: dict[str, object]
    dialect: str


@dataclass(frozen=True)
class Asker:
    """A made-up database, ready to be asked."""

    question: AuditQuestion
    database: WatchedDatabase
    backend: Backend
    book: Book

    def ask(self) -> Sequence[WatchedPurchase]:
        """Ask once; what was bought: one purchase, or none where only public tables are read. Refusals are raised."""
        self.book.begin_again()
        return self.database.watch(self.question.query, self.question.options)[1]

    def record(self, runs: int, repeated: Repeated | None, progress: Callable[[], None]) -> Record:
        """Ask so many times: of the whole engine, or of the release alone, for what was bought elsewhere."""
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
        """The whole engine: parse, price, charge, compile, read, select, add noise, answer."""
        self.book.begin_again()
        answer, bought = self.database.watch(self.question.query, self.question.options)
        return _all(bought), answer


def _all(purchases: Sequence[WatchedPurchase]) -> list[Estimator]:
    return [estimator for purchase in purchases for estimator in purchase.estimators]


@contextmanager
def asking(
    blueprint: Blueprint, catalog: Catalog, question: AuditQuestion, crowd: Crowd | None = None
) -> Iterator[Asker]:
    """A database with these people in it (None: nobody), and a ledger that forgets."""
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
