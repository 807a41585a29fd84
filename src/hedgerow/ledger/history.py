"""Budgets and history for display, the export, and the proof that nothing in the chain was changed."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import chain
from statistics import median_low
from typing import Any, TypeVar

from hedgerow.accounting import AnyEvent, event_from_dict
from hedgerow.accounting.budget import Charge, Cost, Spending
from hedgerow.answer.plot import AnyChart
from hedgerow.answer.plot.spending import plot_spending
from hedgerow.errors import LedgerError
from hedgerow.exchange import decode, encode
from hedgerow.figures import percent, text_bar
from hedgerow.ledger.entries import (
    ANSWERED,
    BEGINNING,
    CHARGED,
    CONTINUED,
    FAILED,
    REPEATED,
    REUSED,
    Account,
    Entry,
    canonical,
)
from hedgerow.ledger.filters import Filter
from hedgerow.ledger.limits import Units, how_many
from hedgerow.ledger.store import Reader, Store
from hedgerow.markup import element, gauge, grid, joined, panel, paragraph

LATEST = 1000
"""Number of charges whose median says what the next question may cost."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One line of the history: analyst, question, time and price.

    `status` is "answered", "failed", or "charged" if the answer never arrived: the charge stays. The owner's own
    actions are in the history, too, as "opened" and "raised". `params` are the values bound to the question's
    placeholders, and `options` those with which it can be asked again, as plain JSON.
    """

    sequence: int
    time: str
    analyst: str | None
    question: str
    charge: Mapping[str, Any]
    status: str
    params: Any = None
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AnalystView:
    """The part that one analyst has used of the total, or of a cap of their own."""

    limit: Spending | None
    spent: Spending
    remaining: Spending
    used: Mapping[str, float]
    queries: int

    def to_dict(self) -> dict[str, Any]:
        """The view as plain JSON."""
        return {
            "limit": None if self.limit is None else _pair(self.limit),
            "spent": _pair(self.spent),
            "remaining": _pair(self.remaining),
            "used": dict(self.used),
            "queries": self.queries,
        }


@dataclass(frozen=True, slots=True)
class QuestionsLeft:
    """Number of further questions that fit: like the last one, and like the median of the latest ones."""

    last: int
    median: int

    def __str__(self) -> str:
        if self.last == self.median == 0:
            return "no room for another question like the last one"
        noun = "question" if self.last == 1 else "questions"
        other = "" if self.last == self.median else f", {self.median:,} like the median one"
        return f"about {self.last:,} more {noun} like the last one{other}"


@dataclass(frozen=True, slots=True)
class SpendingStep:
    """One charge: its time, its analyst, its share of the budget, and the share that was used once it was paid."""

    time: str
    analyst: str
    share: float
    used: float


@dataclass(frozen=True)
class BudgetView:
    """Limit, spending and remainder of a budget, for display; the filter decides. `print` shows it in three lines.

    `spent` is the guarantee that the amounts spent so far prove: 0 at the start and `limit` when the caps are full;
    `used` are the fractions of the three caps. `history` is read on first access.
    """

    dataset: str
    limit: Spending
    spent: Spending
    remaining: Spending
    used: Mapping[str, float]
    queries: int
    analysts: Mapping[str, AnalystView]
    load: Callable[[], Sequence[HistoryEntry]] = field(repr=False, compare=False)
    caps: Cost = field(default=Cost(), repr=False, compare=False)
    remaining_cost: Callable[[], Cost] | None = field(default=None, repr=False, compare=False)
    number_left: int | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        used = max(self.used.values())
        questions = "1 question" if self.queries == 1 else f"{self.queries:,} questions"
        lines = [
            f"{self.dataset}: {questions} so far, of a budget of epsilon {self.limit.epsilon:g}",
            f"used  {text_bar(used)}  {percent(used)} of the budget",
        ]
        left = self._left()
        return "\n".join(lines if left is None else [*lines, f"left  {left}"])

    @property
    def questions_left(self) -> QuestionsLeft | None:
        """Number of further questions that fit; None before the first charge, and where there is always a next one."""
        latest = [entry for entry in self.history if "events" in entry.charge][-LATEST:]
        if self.remaining_cost is None or not latest:
            return None
        remaining_cost = self.remaining_cost()
        fitting = [number for entry in latest if (number := how_many(_charge(entry), remaining_cost)) is not None]
        if self.number_left is not None:
            fitting = [min(number, max(self.number_left, 0)) for number in fitting]
        return QuestionsLeft(fitting[-1], median_low(fitting)) if fitting else None

    @property
    def steps(self) -> list["SpendingStep"]:
        """Return the charges in order, each with its share of the budget and the share used with it."""
        caps = {name: float(getattr(self.caps, name)) for name in ("gaussian", "pure", "mass")}
        spent, steps = dict.fromkeys(caps, 0.0), []
        for entry in self.history:
            if "events" not in entry.charge:
                continue
            cost = _charge(entry).cost
            paid = {name: float(getattr(cost, name)) for name in caps}
            spent = {name: spent[name] + paid[name] for name in caps}
            share, used = (
                max(part[name] / cap if cap else 0.0 for name, cap in caps.items()) for part in (paid, spent)
            )
            steps.append(SpendingStep(entry.time, entry.analyst or "", share, used))
        return steps

    def plot(self) -> AnyChart:
        """Return an Altair chart of the used share of the budget over time, and by analyst."""
        return plot_spending(self.dataset, [(step.time, step.analyst, step.share) for step in self.steps])

    @property
    def history(self) -> Sequence[HistoryEntry]:
        """Return the charges in order, and what became of each."""
        return self.load()

    def __repr__(self) -> str:
        left = self._left()
        return f"{self.dataset}: {self._used()}" + ("" if left is None else f"; left: {left}")

    def _repr_html_(self) -> str:
        rows = []
        for name, view in self.analysts.items():
            used = joined([gauge(max(view.used.values())), f" {percent(max(view.used.values()))}"])
            rows.append((name, f"{view.queries:,}", used, "–" if view.limit is None else f"{view.limit.epsilon:.3g}"))
        return panel(
            f"Budget of {self.dataset}",
            element("div", gauge(max(self.used.values())), f" {self._used()}"),
            *([] if (left := self._left()) is None else [paragraph(f"left: {left}")]),
            *([grid(("analyst", "questions", "used", "cap on epsilon"), rows)] if rows else []),
        )

    def _used(self) -> str:
        questions = "1 question" if self.queries == 1 else f"{self.queries:,} questions"
        return f"{percent(max(self.used.values()))} of the budget used by {questions}"

    def _left(self) -> QuestionsLeft | None:
        with suppress(LedgerError):  # the ledger may be closed by now
            return self.questions_left
        return None

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return {
            "dataset": self.dataset,
            "limit": _pair(self.limit),
            "spent": _pair(self.spent),
            "remaining": _pair(self.remaining),
            "used": dict(self.used),
            "queries": self.queries,
            "analysts": {name: analyst.to_dict() for name, analyst in self.analysts.items()},
        }


def dump_budget(view: BudgetView) -> dict[str, Any]:
    """Return a budget as plain JSON, from which `load_budget` makes an equal one. The history is left out."""
    left = None if view.remaining_cost is None else encode(view.remaining_cost())
    return {
        **encode({field.name: getattr(view, field.name) for field in fields(view) if field.compare}),
        "caps": encode(view.caps),
        "remaining_cost": left,
        "number_left": view.number_left,
    }


def load_budget(document: Mapping[str, Any], load: Callable[[], Sequence[HistoryEntry]]) -> BudgetView:
    """Return the budget that `dump_budget` wrote; `load` reads its history."""
    remaining_cost = document["remaining_cost"] and decode(Cost, document["remaining_cost"])
    return BudgetView(
        document["dataset"],
        decode(Spending, document["limit"]),
        decode(Spending, document["spent"]),
        decode(Spending, document["remaining"]),
        document["used"],
        document["queries"],
        decode(Mapping[str, AnalystView], document["analysts"]),
        load,
        decode(Cost, document["caps"]),
        None if remaining_cost is None else lambda: remaining_cost,
        document["number_left"],
    )


def analyst_view(of: Filter, queries: int, *, capped: bool) -> AnalystView:
    """View of the filter over one analyst's charges."""
    used = of.caps.fractions(of.spent)
    return AnalystView(of.caps.limit if capped else None, of.spending, of.left, used, queries)


def _pair(spending: Spending) -> dict[str, float]:
    return {"epsilon": spending.epsilon, "delta": spending.delta}


def _charge(entry: HistoryEntry) -> Charge:
    events = tuple(event_from_dict(event) for event in entry.charge["events"])
    return Charge(events, entry.charge["epsilon"], entry.charge["delta"])


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Verification:
    """A verified chain: its length, and the hash at its end.

    Keep `tip` elsewhere: a truncated chain still verifies, but no longer ends there.
    """

    entries: int
    charges: int
    tip: str


def walk(store: Store, read: Callable[[Entry, Reader], T], analyst: str | None = None) -> Iterator[T]:
    """Yield `read(entry, book)` for every entry in order (or for one analyst's charges), a page at a time.

    Entries never change, so the book is released between pages: no writer waits for a reader.
    """
    after = -1
    while True:
        with store.read() as book:
            page = book.page(after, analyst)
            results = [read(entry, book) for entry in page]
        if not page:
            return
        yield from results
        after = page[-1].sequence


class Verifier:
    """Follows the chain from its beginning, and raises at the first entry that does not fit."""

    def __init__(self) -> None:
        self._previous = BEGINNING
        self._length = 0
        self._total: Account | None = None
        self._own: dict[str, Account] = {}

    def check(self, entry: Entry, book: Reader) -> None:
        """Check one more entry: its position, its totals, its release."""
        if entry.sequence != self._length or entry.previous != self._previous:
            raise _broken(self._length, "does not follow the one before it")
        if entry.kind == CHARGED:
            self._check_charge(entry)
        elif self._total is not None and entry.total != self._total:
            raise _broken(entry.sequence, "changes the totals without a charge")
        if entry.kind == ANSWERED:
            # Check that a stored release is the one that was stored with the entry.
            stored = book.release_of(entry.sequence)
            if stored is None or hashlib.sha256(stored.payload).hexdigest() != entry.body["release"]:
                raise _broken(entry.sequence, "has lost its release, or has another one")
        self._previous, self._total, self._length = entry.hash, entry.total, self._length + 1

    def _check_charge(self, entry: Entry) -> None:
        """Check that the totals are those before the entry plus the cost of its events, exactly."""
        units, queries, name = Units.from_dict(entry.body["units"]), entry.body["queries"], entry.analyst or ""
        period = entry.total.period
        total, own = self._total or Account(period), self._own.get(name, Account(period))
        if (
            units != _recomputed(entry)
            or entry.total != total.within(period).plus(units, queries)
            or entry.own != own.within(period).plus(units, queries)
        ):
            raise _broken(entry.sequence, "does not add up")
        self._own[name] = entry.own

    @property
    def result(self) -> Verification:
        """Length, charges and tip of the chain so far."""
        return Verification(self._length, 0 if self._total is None else self._total.charges, self._previous)


def verify(store: Store) -> Verification:
    """Check every hash, every link, every sum and every stored release."""
    store.check()
    verifier = Verifier()
    for _ in walk(store, verifier.check):
        pass
    return verifier.result


def history(store: Store, analyst: str | None = None) -> Sequence[HistoryEntry]:
    """Yield every charge in order (of one analyst), with its outcome, and the owner's own actions."""
    return tuple(line for line in walk(store, _line, analyst) if line is not None)


def export(store: Store) -> Iterator[str]:
    """Yield a line of JSON for each entry, with its hash."""
    return walk(store, lambda entry, _: canonical(entry.to_dict()))


def events(store: Store, analyst: str | None = None) -> Iterator[AnyEvent]:
    """The events of every charge, in order."""
    return chain.from_iterable(walk(store, _events, analyst))


def _events(entry: Entry, _: Reader) -> list[AnyEvent]:
    return [event_from_dict(event) for event in entry.body.get("events", ())]


def _line(entry: Entry, book: Reader) -> HistoryEntry | None:
    """Return one line of the history; None for an entry that is shown with its charge."""
    if entry.kind in {ANSWERED, CONTINUED, FAILED, REPEATED, REUSED}:
        return None
    status = _status(entry, book) if entry.kind == CHARGED else entry.kind
    question = entry.body.get("question", {})
    price = entry.body.get("terms", entry.body)
    charge = {name: price[name] for name in ("epsilon", "delta", "events") if name in price}
    text, params, options = str(question.get("text", "")), question.get("params"), question.get("options")
    return HistoryEntry(entry.sequence, entry.time, entry.analyst, text, charge, status, params, options)


def _status(charged: Entry, book: Reader) -> str:
    """Outcome of a charge, or of the last question that was asked again under it."""
    outcome = book.outcome_of(charged.sequence)
    while outcome is not None and outcome.kind == FAILED:
        again = book.outcome_of(outcome.sequence)
        if again is None:
            break
        outcome = book.outcome_of(again.sequence)
    return CHARGED if outcome is None else outcome.kind


def _recomputed(entry: Entry) -> Units:
    steps = tuple(event_from_dict(event) for event in entry.body["events"])
    return Units.of(Charge(steps, entry.body["epsilon"], entry.body["delta"]))


def _broken(sequence: int, how: str) -> LedgerError:
    return LedgerError(
        f"The ledger's chain breaks at entry {sequence}: it {how}.",
        code="ledger-chain",
        hint="Restore the ledger from a backup that verifies, and count what came after as spent.",
    )
