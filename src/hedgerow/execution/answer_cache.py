"""Answers that were given again for free, kept for the next repeat of the same statement.

A repeat depends on the statement, its parameters, options and dialect, on the analyst, and on the releases and the
remaining budget in the ledger. If public tables take part, it depends on them, too, and is not kept. A kept answer is
given only while the ledger, which is read for each repeat, shows the state that the answer was built from.

Privacy: only answers that were built from stored releases are kept. Giving one again is post-processing.
"""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from hedgerow.answer import Answer
from hedgerow.execution.plan_cache import PLAIN, statement_key
from hedgerow.execution.request import Parameters, Request
from hedgerow.ledger import QuestionState
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.recently_used import RecentlyUsed

MAXIMUM_BYTES = 64 * 2**20
"""Memory for the answers of one database, by the estimates below."""

CELL, ANSWER = 500, 20_000
"""Estimated bytes of a number with its error bar, and of everything else that an answer refers to."""


class CachedAnswer(NamedTuple):
    """An answer, the state of the ledger that it was built from, and the question's name in the ledger."""

    answer: Answer
    logical: LogicalPlan
    request: Request
    fingerprint: str
    state: QuestionState

    @property
    def weight(self) -> int:
        """Estimated bytes."""
        payloads = sum(len(release.payload) for release in self.state.releases)
        return ANSWER + CELL * len(self.answer) * len(self.answer.columns) + payloads


class AnswerCache(RecentlyUsed[CachedAnswer]):
    """The free answers of one database, for all its threads and analysts."""

    def __init__(self) -> None:
        super().__init__(MAXIMUM_BYTES)


def answer_key(
    text: object, params: Parameters, options: Mapping[str, object], dialect: str, analyst: str | None
) -> Hashable | None:
    """Return a key that two questions share only if they are the same; None for one that is not kept."""
    statement = statement_key(text, params, dialect)
    values = [part for value in options.values() for part in (value if type(value) is tuple else (value,))]
    if statement is None or not all(type(value) in PLAIN for value in (*values, analyst)):
        return None
    stated = tuple(sorted((name, repr((type(value), value))) for name, value in options.items()))
    return statement, stated, analyst
