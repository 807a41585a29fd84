"""The engine itself, with an ear at the one door through which released numbers leave it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hedgerow.accounting.budget import Charge, Receipt
from hedgerow.answer import Answer
from hedgerow.backends import Backend
from hedgerow.catalog import Catalog
from hedgerow.execution.question import Question
from hedgerow.execution.session import Desk
from hedgerow.ledger import Ledger
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement, Room
from hedgerow.release import Estimator
from hedgerow.schema import Schema
from hedgerow.session import Database


@dataclass(frozen=True)
class Purchase:
    """What one charge bought: the released tables with their plans. A statement makes one purchase, or several."""

    logical: LogicalPlan
    private: PrivateStatement
    estimators: tuple[Estimator, ...]
    receipt: Receipt

    @property
    def charge(self) -> Charge:
        """What was paid."""
        return self.receipt.charge


@dataclass(frozen=True)
class WatchedDesk(Desk):
    """A desk that remembers what was bought there."""

    bought: list[Purchase] = field(default_factory=list)

    def buy(
        self, question: Question, logical: LogicalPlan, private: PrivateStatement, room: Room
    ) -> tuple[list[Estimator], Receipt]:
        """Pay and release as ever, and remember."""
        estimators, receipt = super().buy(question, logical, private, room)
        self.bought.append(Purchase(logical, private, tuple(estimators), receipt))
        return estimators, receipt


class WatchedDatabase(Database):
    """A database whose every purchase can be seen. What it answers, and how, is the engine's."""

    def __init__(
        self, backend: Backend, schema: Schema, catalog: Catalog, ledger: Ledger, *, dialect: str = "duckdb"
    ) -> None:
        super().__init__(backend, schema, catalog, ledger, analyst=None, dialect=dialect, owns_ledger=False)
        self._bought: list[Purchase] = []
        desk = self._desk
        self._desk = WatchedDesk(
            desk.backend, desk.schema, desk.catalog, desk.ledger, desk.analyst, desk.after, desk.waiting, self._bought
        )

    def watch(self, query: str, options: dict[str, object]) -> tuple[Answer, Sequence[Purchase]]:
        """The answer, and everything that was released for it."""
        self._bought.clear()
        answer = self.sql(query, **options)  # type: ignore[arg-type]
        return answer, tuple(self._bought)
