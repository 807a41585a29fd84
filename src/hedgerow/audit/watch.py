"""The engine itself, with an ear at the one door through which released numbers leave it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hedgerow.accounting.budget import Charge, Receipt, RemainingBudget
from hedgerow.answer import Answer
from hedgerow.backends import Backend
from hedgerow.catalog import Catalog
from hedgerow.execution.request import Question
from hedgerow.execution.session import Session
from hedgerow.ledger import Ledger
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.release import Estimator, PostprocessEngine
from hedgerow.session import Database


@dataclass(frozen=True)
class WatchedPurchase:
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
class WatchedSession(Session):
    """A session that remembers what was bought."""

    bought: list[WatchedPurchase] = field(default_factory=list)

    def buy(
        self, question: Question, logical: LogicalPlan, private: PrivateStatement, remaining: RemainingBudget
    ) -> tuple[list[Estimator], Receipt]:
        """Pay and release as ever, and remember."""
        estimators, receipt = super().buy(question, logical, private, remaining)
        self.bought.append(WatchedPurchase(logical, private, tuple(estimators), receipt))
        return estimators, receipt


class WatchedDatabase(Database):
    """A database whose every purchase can be seen. What it answers, and how, is the engine's."""

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
