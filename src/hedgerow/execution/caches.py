"""Caches of the last statements of a database, and deduplication of concurrent questions.

Plans, prices, and answers that were given again for free are kept. A question that many threads ask at once is paid for
once. Between processes less is guaranteed: two that ask the same question at the same time may both pay, and the first
release answers it from then on.

Privacy: a plan depends on the text, the parameters and the dialect of a statement, on the catalog, the schema and
public tables, never on private rows. A cache belongs to one connection, whose catalog and schema do not change. A
statement that is refused is not kept. A price depends on the plan, the options and the caps of the ledger, never on
rows. The ledger decides about every charge as before.

A free repeat depends on the statement, its parameters, options and dialect, on the analyst, and on the releases and the
remaining budget in the ledger. If public tables take part, it depends on them, too, and is not kept. A kept answer is
given only while the ledger, which is read for each repeat, shows the state that the answer was built from. Only
answers that were built from stored releases are kept. Giving one again is post-processing.
"""

import os
import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from hedgerow.accounting.budget import Budget, Cost, RemainingBudget
from hedgerow.aggregates import NeededSums
from hedgerow.answer import Answer
from hedgerow.cancellation import active_cancellation
from hedgerow.errors import BackendError
from hedgerow.execution.request import Parameters, Request
from hedgerow.ledger import QuestionState
from hedgerow.plan.nodes import LogicalPlan, Release
from hedgerow.privacy.keys import Key
from hedgerow.privacy.plan import PrivateStatement
from hedgerow.privacy.price import price, takes_gaussian_noise
from hedgerow.recently_used import RecentlyUsed

MAXIMUM_PLANS = 200
"""Number of plans that are kept."""

LONGEST_TEXT = 10_000
"""Number of characters up to which a statement is kept."""

PLAIN = frozenset({bool, int, float, str, Decimal, date, datetime, time, type(None)})
"""Types of parameters whose text, together with the type, says everything about them."""


class CachedPlan(NamedTuple):
    """The options that a statement's text states itself, and its plan."""

    options: Mapping[str, Any]
    plan: LogicalPlan


class PlanCache(RecentlyUsed[CachedPlan]):
    """The plans of one database, for all its threads and analysts."""

    def __init__(self) -> None:
        super().__init__(MAXIMUM_PLANS)


def statement_key(text: object, params: Parameters, dialect: str) -> Hashable | None:
    """Return a key that two statements share only if they have the same plan; None for one that is not kept.

    Values are compared by type and text, because 1, 1.0 and True are equal in Python and different in SQL.
    """
    if type(text) is not str or len(text) > LONGEST_TEXT:
        return None
    if params is None:
        return text, dialect
    if type(params) not in {dict, list, tuple}:
        return None
    values = list(params.values() if isinstance(params, dict) else params)
    names = tuple(params) if isinstance(params, dict) else ()
    plain = all(type(name) is str for name in names) and all(type(value) in PLAIN for value in values)
    if not plain or any(getattr(value, "tzinfo", None) is not None for value in values):
        return None
    return text, dialect, type(params), names, tuple((type(value), repr(value)) for value in values)


MAXIMUM_PRICES = 200
"""Number of prices that are kept."""


class CachedPrice(NamedTuple):
    """A price, with all that it took from the ledger: the threshold masses that go with some costs."""

    plan: LogicalPlan
    statement: PrivateStatement
    masses: tuple[tuple[Cost, Fraction], ...]


class PriceCache(RecentlyUsed[CachedPrice]):
    """The prices of one database, for all its threads and analysts."""

    def __init__(self) -> None:
        super().__init__(MAXIMUM_PRICES)

    def price(
        self,
        plan: LogicalPlan,
        budget: Budget,
        remaining: RemainingBudget,
        domains: Mapping[Release, tuple[Key, ...]],
        means: Mapping[Release, Mapping[NeededSums, float]],
        **options: Any,  # noqa: ANN401 - those of `price`
    ) -> PrivateStatement:
        """Price a plan, or return its price where that cannot have changed.

        Statements whose kind of noise depends on the remaining budget, whose keys come from public tables, or that use
        means of earlier releases are priced anew. Plans are compared by identity: they are cached, too.
        """
        gaussian = budget.mu is not None or takes_gaussian_noise(budget, remaining)
        if domains or means or not gaussian:
            return price(plan, budget, remaining, domains=domains, means=means, **options)
        key = (id(plan), budget, *options.items())
        cached = self.get(key)
        if cached is not None and all(remaining.fair_mass(cost) == mass for cost, mass in cached.masses):
            return cached.statement
        masses: list[tuple[Cost, Fraction]] = []

        def fair_mass(cost: Cost) -> Fraction:
            masses.append((cost, remaining.fair_mass(cost)))
            return masses[-1][1]

        statement = price(plan, budget, replace(remaining, fair_mass=fair_mass), **options)
        self.keep(key, CachedPrice(plan, statement, tuple(masses)))
        return statement


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
    given = tuple(sorted((name, repr((type(value), value))) for name, value in options.items()))
    return statement, given, analyst


class SingleFlight:
    """Questions in progress. One object for the process: several databases may share a ledger."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[Hashable] = set()

    @contextmanager
    def hold(self, question: Hashable, waiters: "Waiters") -> Iterator[None]:
        """Hold a question: no other thread asks it meanwhile. Raise an error if cancelled while waiting."""
        cancellation = active_cancellation()
        with cancellation.calling(self._wake), self._changed:
            begun = waiters.cancelled
            while question in self._running:
                if not cancellation.requested:
                    self._changed.wait()
                if waiters.cancelled != begun or cancellation.requested:
                    raise BackendError("The question was cancelled while it waited for its turn.", code="cancelled")
            self._running.add(question)
        try:
            yield
        finally:
            with self._changed:
                self._running.discard(question)
                self._changed.notify_all()

    def cancel(self, waiters: "Waiters") -> None:
        """Wake up the threads that wait in the name of `waiters`."""
        with self._changed:
            waiters.cancelled += 1
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class Waiters:
    """Threads that wait at one database, to be cancelled together."""

    def __init__(self) -> None:
        self.cancelled = 0
        """Number of cancellations."""


SINGLE_FLIGHT = SingleFlight()


def _begin_anew() -> None:
    """Reset the state in a forked process, in which none of its parent's threads run."""
    SINGLE_FLIGHT.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
