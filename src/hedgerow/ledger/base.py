"""The ledger: a charge is checked and written in one durable step, before any data is read."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hedgerow.accounting import AnyEvent
from hedgerow.accounting.budget import Charge, Cost, Receipt, Spending
from hedgerow.catalog.model import BudgetPolicy, Cap
from hedgerow.errors import InternalError, ParameterError
from hedgerow.ledger.entries import (
    ANSWERED,
    CHARGED,
    CONTINUED,
    FAILED,
    FORMAT,
    REPEATED,
    REUSED,
    Account,
    Entry,
    canonical,
    new_salt,
)
from hedgerow.ledger.excerpt import Excerpt, take_excerpt
from hedgerow.ledger.filters import ChargeRequest, Filter, admit, allowance, check_rules
from hedgerow.ledger.history import (
    AnalystView,
    BudgetView,
    HistoryEntry,
    Verification,
    analyst_view,
    events,
    export,
    history,
    verify,
)
from hedgerow.ledger.limits import LedgerTerms, Units
from hedgerow.ledger.position import Position, QuestionState
from hedgerow.ledger.store import AnsweredQuestion, Reader, Store, StoredRelease, Writer

ANONYMOUS = "default"
"""The analyst's name where none is given."""

LONGEST_NAME = 200


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Ledger:
    """Record of what has been spent on one dataset, and of what is left. Safe to use from many threads.

    Args:
        store: The store of the entries.
        policy: The catalog's budget. It must be within the ledger's terms.
        clock: Returns the time; only `refresh` depends on it.

    Privacy: a charge is admitted by fixed caps on three sums (`Filter`), in the same transaction that writes it, and
    the transaction is durable before the receipt exists. No charge is ever taken back.
    """

    def __init__(self, store: Store, policy: BudgetPolicy, *, clock: Callable[[], datetime] = now) -> None:
        self._store = store
        self._policy = policy
        self._terms = LedgerTerms.of(policy)
        self._clock = clock
        with store.read() as book:
            opened = book.first()
        self.id: str = opened.body["ledger"]
        self.dataset: str = opened.body["dataset"]
        self._created = datetime.fromisoformat(opened.time)

    def charge(
        self, charge: Charge, *, analyst: str | None = None, question: Mapping[str, Any], queries: int = 1
    ) -> Receipt:
        """Write `charge` durably, or refuse it and write nothing.

        Args:
            charge: The events of the statement, and its own guarantee.
            analyst: Name of the analyst; not verified.
            question: What the history shows, as plain JSON: the text under "text", and for reuse a "fingerprint" of the
                normalised plan, the owner's data "version" and the "noise".
            queries: Number of basic queries of the query-budget note that it counts as, if the owner set a number.
        """
        name = _name(analyst)
        request = ChargeRequest.of(charge, queries)
        units = request.units
        with self._store.write() as book:
            last = last_sealed(book, self._clock)
            total, own = self._accounts(last, book.last_charge_of(name))
            filters = self._filters(total, own, name)
            if (paid := self._paid(book, request, question, total.period, filters)) is not None:
                failed, charged = paid
                entry = self._next(last, REPEATED, last.total)
                body = {"question": dict(question), "charge": charged.sequence}
                entry = replace(entry, analyst=name, refers=failed.sequence, body=body)
                book.append(entry)
                return self._receipt(entry, charge, units, filters, of=charged.sequence)
            check_rules(request, self._policy, filters[0], total)
            admit(request, sorted(filters, key=lambda one: one.owner != "analyst"))
            entry = self._next(last, CHARGED, total.plus(units, queries))
            body = _charge_body(request, question)
            entry = replace(entry, analyst=name, own=own.plus(units, queries), body=body)
            book.append(entry)
        return self._receipt(entry, charge, units, filters)

    def _paid(
        self, book: Reader, request: ChargeRequest, question: Mapping[str, Any], period: str, filters: Sequence[Filter]
    ) -> tuple[Entry, Entry] | None:
        """Return an unrepeated failure of the same question before any noise was drawn, and its charge.

        Privacy: nothing was released under that charge, and the same question now takes exactly the events that it paid
        for (docs/proofs/ledger.md). The charge must be of the current period, whose guarantee covers the release. If
        the owner lowered the budget below what is spent, the ledger is closed and nothing is repeated.
        """
        fingerprint = str(question.get("fingerprint", ""))
        if not fingerprint or any(one.overrun_by(Units()) for one in filters):
            return None
        notes = book.notes(fingerprint, question.get("version"))
        body = _charge_body(request, question) if notes else {}
        for failed in notes:
            if not failed.body.get("repeatable") or failed.refers is None:
                continue
            if book.outcome_of(failed.sequence) is not None:
                continue
            tried = book.entry(failed.refers)
            charged = book.entry(tried.body["charge"]) if tried is not None and tried.kind == REPEATED else tried
            if charged is not None and charged.total.period == period and _same(charged.body, body):
                return failed, charged
        return None

    def _receipt(
        self, entry: Entry, charge: Charge, units: Units, filters: Sequence[Filter], *, of: int | None = None
    ) -> Receipt:
        """Return the receipt of a charge, or `of` an earlier one that covers it."""
        shown = next((one for one in filters if one.owner == "analyst"), filters[0])
        left = shown.after(units).left if of is None else shown.left
        share = max(filters[0].caps.fractions(units).values())
        identity = self.receipt_id(entry.sequence if of is None else of)
        return Receipt(identity, entry.sequence, charge, share, left, {"time": entry.time})

    def receipt_id(self, charge: int) -> str:
        """The id of the receipt for a charge."""
        return f"{self.id}-{charge}"

    def preview(self, charge: Charge, *, analyst: str | None = None) -> tuple[Spending, bool]:
        """Return what would be left after `charge`, and whether every filter would admit it now. Write nothing."""
        name = _name(analyst)
        with self._store.read() as book:
            filters = self._filters(*self._accounts(book.last(), book.last_charge_of(name)), name)
        units = Units.of(charge)
        fits = not any(one.overrun_by(units) for one in filters)
        shown = next((one for one in filters if one.owner == "analyst"), filters[0])
        return (shown.after(units) if fits else shown).left, fits

    def finish(
        self,
        receipt: Receipt,
        release: bytes | None,
        *,
        repeatable: bool = False,
        answered: Sequence[AnsweredQuestion] = (),
    ) -> None:
        """Record how a charge ended: with a release, stored for reuse, or (None) without one.

        Args:
            receipt: Receipt of the charge.
            release: The whole release.
            repeatable: Without a release: whether no noise was drawn, so that the same question may be repeated under
                this charge.
            answered: With the release of a batch: the questions that parts of it answer, each of which finds it again.
        """
        with self._store.write() as book:
            tried = book.entry(receipt.sequence)
            charge = None if tried is None else _charge_of(tried)
            known = charge is not None and receipt.id == self.receipt_id(charge)
            if tried is None or charge is None or not known or book.outcome_of(tried.sequence) is not None:
                raise InternalError("A charge can be finished once, and only in the ledger that wrote it.")
            last = last_sealed(book, self._clock)
            kind = FAILED if release is None else ANSWERED
            entry = replace(self._next(last, kind, last.total), refers=receipt.sequence)
            if release is not None:
                body = {"release": hashlib.sha256(release).hexdigest()}
                whole = _release(charge, tried.body["question"], release)
                book.append(replace(entry, body=body), whole)
                for question in answered:
                    self._note_part(book, whole, question)
            elif repeatable:
                note = _release(entry.sequence, tried.body["question"], b"")
                book.append(replace(entry, body={"repeatable": True}), note)
            else:
                book.append(entry)

    def find(self, fingerprint: str, *, version: str | None = None) -> list[StoredRelease]:
        """Return the stored releases of one question about one declared version of the data, the latest first.

        They are free for every analyst: reading a release again is post-processing of the total. So the caps of
        analysts limit what each may spend, not what each may see.
        """
        if not fingerprint:
            return []
        with self._store.read() as book:
            return _stored_releases(book, fingerprint, version)

    def question_state(self, fingerprint: str, *, version: str | None, analyst: str | None) -> QuestionState:
        """Return everything that a free repeat of a question depends on, as of one moment."""
        with self._store.read() as book:
            last, charged = book.last(), book.last_charge_of(_name(analyst))
            releases = _stored_releases(book, fingerprint, version)
        return QuestionState(self._position(last, charged, analyst), tuple(releases))

    def reuse(self, release: StoredRelease, answers: str) -> None:
        """Record that a stored release answered another question, so that it answers that one from now on."""
        with self._store.write() as book:
            last = last_sealed(book, self._clock)
            body = {"charge": release.charge, "answers": answers}
            entry = replace(self._next(last, REUSED, last.total), body=body)
            note = replace(release, charge=entry.sequence, noise=canonical(answers), payload=b"", answers=frozenset())
            book.append(entry, note)

    def _note_part(self, book: Writer, release: StoredRelease, question: AnsweredQuestion) -> None:
        """Record that a part of a release answers a question, under the question's own name."""
        last = book.last()
        body = {"charge": release.charge, "answers": question.needs, "parts": list(question.parts)}
        entry = replace(self._next(last, REUSED, last.total), body=body)
        noise = canonical(question.needs)
        book.append(entry, StoredRelease(entry.sequence, question.fingerprint, release.version, noise, payload=b""))

    def budget(self, analyst: str | None = None) -> BudgetView:
        """Return the budget of the dataset, or of one analyst alone."""
        name = _name(analyst)
        with self._store.read() as book:
            names = book.analysts() if analyst is None else []
            analysts = {known: self._analyst(book, known) for known in names}
            account, own = self._accounts(book.last(), book.last_charge_of(name))
        total, *others = self._filters(account, own, name)
        mine = next((one for one in others if one.owner == "analyst"), None)
        if analyst is None or mine is None:
            shown, charges = total, account.charges
        else:
            shown, charges = mine, own.charges
        return BudgetView(
            self.dataset,
            shown.caps.limit,
            shown.spending,
            shown.left,
            shown.caps.fractions(shown.spent),
            charges,
            analysts,
            lambda: self.history(analyst),
            shown.caps.cost,
            None if self._policy.schedule is not None else partial(self.remaining_cost, analyst),
            None if self._policy.queries is None else self._policy.queries - account.queries,
        )

    def history(self, analyst: str | None = None) -> Sequence[HistoryEntry]:
        """Return every charge in order (of one analyst), its outcome, and the owner's own actions."""
        return history(self._store, analyst)

    def position(self, analyst: str | None = None) -> Position:
        """Return the end of the ledger, with what is left for one analyst."""
        with self._store.read() as book:
            last, charged = book.last(), book.last_charge_of(_name(analyst))
        return self._position(last, charged, analyst)

    def remaining_cost(self, analyst: str | None = None) -> Cost:
        """Return what is left of each coordinate under every cap that applies; for `pure`, what statements may ask for.

        It helps to choose a mechanism; `charge` decides whether a charge is admitted.
        """
        return self.position(analyst).remaining_cost

    def fair_mass(self, cost: Cost, analyst: str | None = None) -> Fraction:
        """Return the threshold mass that a statement with this noise should take, under every cap that applies."""
        return self.position(analyst).fair_mass(cost)

    def use_caps(self, caps: Mapping[str, Cap]) -> None:
        """Limit what each analyst may spend by other caps from now on. The limits of the dataset stay as they are."""
        self._policy = replace(self._policy, analysts=dict(caps))

    def is_capped(self, analyst: str) -> bool:
        """Return True if a cap limits what this analyst may spend: one of their own, or that of `default`."""
        return self._cap(analyst) is not None

    def under(self, policy: BudgetPolicy) -> "Ledger":
        """The same ledger under another budget, to look at prices. It may be wider than the ledger admits."""
        return Ledger(self._store, policy, clock=self._clock)

    def require(self, policy: BudgetPolicy) -> None:
        """Refuse a budget beyond the one that the ledger was created for, or raised to."""
        with self._store.read() as book:
            terms = LedgerTerms.from_dict(book.last_terms().body["terms"])
        terms.require(LedgerTerms.of(policy))

    @property
    def path(self) -> Path | None:
        """The ledger's file; None if it is not in a file."""
        return getattr(self._store, "path", None)

    @property
    def caps(self) -> Cost:
        """The three caps of the dataset."""
        return self._terms.caps.cost

    def verify(self) -> Verification:
        """Check every hash, every link, every sum and every stored release; raise where the chain breaks."""
        return verify(self._store)

    def export(self) -> Iterator[str]:
        """Return the whole trail as lines of JSON, without the stored releases."""
        return export(self._store)

    def events(self, analyst: str | None = None) -> Iterator[AnyEvent]:
        """Return every event ever charged (by one analyst), for an accountant to total."""
        return events(self._store, analyst)

    def excerpt(self, charges: Collection[int]) -> Excerpt:
        """Return the chain up to the answers to some charges, for others to check, without anybody's questions."""
        return take_excerpt(self._store, charges)

    def close(self) -> None:
        """Close the ledger."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accounts(self, last: Entry, charged: Entry | None) -> tuple[Account, Account]:
        """Return the accounts of everybody and of one analyst, as of the current period."""
        period = self._period(last.total.period)
        own = Account(period) if charged is None or charged.own is None else charged.own.within(period)
        return last.total.within(period), own

    def _position(self, last: Entry, charged: Entry | None, analyst: str | None) -> Position:
        total, own = self._accounts(last, charged)
        filters = tuple(self._filters(total, own, _name(analyst)))
        shown = filters[0]
        if analyst is not None:
            shown = next((one for one in filters if one.owner == "analyst"), shown)
        schedule = self._policy.schedule
        allowed = None if schedule is None else allowance(schedule, filters[0], total)
        return Position(last, charged, total.period, filters, shown, allowed)

    def _period(self, latest: str) -> str:
        """Return the start of the current period; never before the latest recorded one, whatever the clock says."""
        if self._policy.refresh is None:
            return latest
        elapsed = (self._clock() - self._created) // self._policy.refresh
        return max(latest, timestamp(self._created + elapsed * self._policy.refresh))

    def _filters(self, total: Account, own: Account, analyst: str) -> list[Filter]:
        """Return the dataset's filter, then those for the lifetime and for the analyst, if there are any."""
        refreshed = self._policy.refresh is not None
        filters = [Filter("total", self._terms.caps, total.current if refreshed else total.lifetime)]
        if refreshed and (lifetime := self._terms.lifetime_caps) is not None:
            filters.append(Filter("lifetime", lifetime, total.lifetime))
        if (cap := self._cap(analyst)) is not None:
            filters.append(Filter("analyst", self._terms.part(cap), own.current if refreshed else own.lifetime))
        return filters

    def _cap(self, analyst: str) -> Cap | None:
        caps = self._policy.analysts
        return caps.get(analyst, caps.get(ANONYMOUS))

    def _analyst(self, book: Reader, name: str) -> AnalystView:
        _, own = self._accounts(book.last(), book.last_charge_of(name))
        cap = self._cap(name)
        caps = self._terms.caps if cap is None else self._terms.part(cap)
        spent = own.lifetime if self._policy.refresh is None else own.current
        return analyst_view(Filter("analyst", caps, spent), own.charges, capped=cap is not None)

    def _next(self, last: Entry, kind: str, total: Account) -> Entry:
        """Return the entry after the last one, still without a body."""
        return next_entry(last, kind, timestamp(self._clock()), total, {})


def next_entry(last: Entry, kind: str, time: str, total: Account, body: Mapping[str, Any]) -> Entry:
    """Return the entry that follows the last one."""
    return Entry(last.sequence + 1, kind, time, None, None, total, None, body, last.hash, new_salt())


def last_sealed(book: Writer, clock: Callable[[], datetime]) -> Entry:
    """Return the last entry; in a ledger of format 1, add one that states its terms and totals in the open."""
    last = book.last()
    if last.salt is not None:
        return last
    opened, terms = book.first(), book.last_terms()
    body = {name: opened.body[name] for name in ("ledger", "dataset")} | {
        "format": FORMAT,
        "terms": terms.body["terms"],
    }
    entry = next_entry(last, CONTINUED, timestamp(clock()), last.total, body)
    book.append(entry)
    return entry


def _name(analyst: object) -> str:
    """Return the analyst's name as the history shows it."""
    if analyst is None:
        return ANONYMOUS
    if not isinstance(analyst, str) or not analyst or len(analyst) > LONGEST_NAME or not analyst.isprintable():
        raise ParameterError(
            f"The analyst must have a name of 1 to {LONGEST_NAME} printable characters.", code="parameter-analyst"
        )
    return analyst


def timestamp(time: datetime) -> str:
    """Return a time as text that sorts in time order."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def _stored_releases(book: Reader, fingerprint: str, version: str | None) -> list[StoredRelease]:
    """Return the stored releases of one question, the latest first, each with the other questions it has answered."""
    answers: dict[int, set[str]] = {}
    batches: dict[int, tuple[int, ...]] = {}
    for note in book.notes(fingerprint, version):
        if note.kind == REUSED:
            charge = note.body["charge"]
            answers.setdefault(charge, set()).add(note.body["answers"])
            if "parts" in note.body:
                batches[charge] = tuple(note.body["parts"])
    releases = book.releases(fingerprint, version)
    for charge in sorted(set(batches) - {release.charge for release in releases}):
        if (whole := book.release_under(charge)) is not None:
            releases.append(replace(whole, fingerprint=fingerprint, parts=batches[charge]))
    if any(release.parts for release in releases):
        releases.sort(key=lambda release: release.charge, reverse=True)
    return [replace(release, answers=frozenset(answers.get(release.charge, ()))) for release in releases]


def _charge_body(request: ChargeRequest, question: Mapping[str, Any]) -> dict[str, Any]:
    charge = request.charge
    return {
        "question": dict(question),
        "epsilon": charge.epsilon,
        "delta": charge.delta,
        "events": [event.to_dict() for event in charge.events],
        "units": request.units.to_dict(),
        "queries": request.queries,
    }


def _charge_of(entry: Entry) -> int | None:
    """Return the charge of an attempt: its own, or that of the question it repeats."""
    if entry.kind == REPEATED:
        return int(entry.body["charge"])
    return entry.sequence if entry.kind == CHARGED else None


def _release(charge: int, question: Mapping[str, Any], payload: bytes) -> StoredRelease:
    """Return a release, or a note without payload, for the question that was asked."""
    noise = canonical(question.get("noise"))
    return StoredRelease(charge, str(question.get("fingerprint", "")), question.get("version"), noise, payload)


def _same(paid: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Compare question and price of two charges, event by event."""
    questions = [
        [body["question"].get(name) for name in ("fingerprint", "version", "noise")] for body in (paid, requested)
    ]
    prices = [[body[name] for name in ("epsilon", "delta", "events", "units", "queries")] for body in (paid, requested)]
    return canonical(questions[0]) == canonical(questions[1]) and canonical(prices[0]) == canonical(prices[1])
