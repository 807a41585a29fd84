"""Repeat answers that are paid for already; refuse a question that would cost something."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn, cast

from hedgerow.accounting.budget import RemainingBudget
from hedgerow.answer import Answer
from hedgerow.errors import BudgetError
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.request import Options, Parameters, Question
from hedgerow.execution.session import Session
from hedgerow.ledger import AnsweredQuestion, HistoryEntry
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.session.corridor import ask
from hedgerow.session.database import Database


@dataclass(frozen=True)
class UnpaidSession(Session):
    """A session that buys nothing.

    Privacy: a charge is written by `buy` alone, which here refuses before anything is written or read. So this
    session answers from stored releases alone.
    """

    def buy(
        self,
        question: Question,
        logical: LogicalPlan,
        private: PrivateStatement,
        remaining: RemainingBudget,
        answered: Sequence[AnsweredQuestion] = (),
    ) -> NoReturn:
        """Refuse."""
        del question, logical, private, remaining, answered
        raise BudgetError(
            "No stored release answers this question any more, so it would have to be paid for.",
            code="not-stored",
            hint="Ask it anew; its price is shown first.",
        )


def stored_answer(database: Database, sql: str, params: Parameters, options: Mapping[str, Any]) -> Answer:
    """Answer a question from the stored releases, with their digits; refuse it if that is not possible. Free."""
    session = database._session  # noqa: SLF001 - of a database that is ours
    unpaid = UnpaidSession(**{part.name: getattr(session, part.name) for part in fields(Session)})
    return ask(unpaid, sql, params, cast("Options", options))  # `resolve_request` checks them


def options_of(database: Database, entry: HistoryEntry) -> dict[str, Any]:
    """Return the options with which a question of the history is asked again.

    Entries of earlier versions have their price alone.
    """
    if sets_price(database._session.catalog):  # noqa: SLF001 - likewise
        return {}
    if entry.options is None:
        return {name: entry.charge[name] for name in ("epsilon",) if name in entry.charge}
    ends = {name: tuple(pair) for name, pair in entry.options.get("bounds", {}).items()}
    within = {"within": tuple(entry.options["within"])} if "within" in entry.options else {}
    return {**entry.options, **within, **({"bounds": ends} if ends else {})}
