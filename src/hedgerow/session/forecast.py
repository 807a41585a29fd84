"""Total price of a list of queries, fixed in advance, by every accountant.

All mechanisms and parameters are known before the first answer, so the tightest accountant is valid: privacy loss
distributions hold here, and only here (docs/proofs/ledger.md). It is a report: an interactive ledger admits the same
queries one by one, by its own filter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.accounting import GDP, PLD, RDP, ZCDP, Accountant, AnyEvent, Basic
from hedgerow.accounting.budget import Charge, Cost
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.execution.price_policy import sets_price
from hedgerow.execution.request import AUTOMATIC, Options, resolve_request
from hedgerow.execution.session import Session
from hedgerow.ledger.limits import SCALE, Units
from hedgerow.session.corridor import bind_statement

ACCOUNTANTS: Mapping[str, type[Accountant]] = {"basic": Basic, "zCDP": ZCDP, "RDP": RDP, "PLD": PLD, "GDP": GDP}


@dataclass(frozen=True)
class Forecast:
    """Price of a fixed list of queries.

    Attributes:
        queries: The texts, in order.
        charges: The charge of each query.
        epsilons: The epsilon that each accountant proves for all of them at `delta`; None if it proves none.
        admitted: Number of queries, from the first, that the ledger's filter would admit now; None if the owner sets
            the price of a statement, which then depends on earlier ones.
    """

    queries: tuple[str, ...]
    charges: tuple[Charge, ...]
    delta: float
    epsilons: Mapping[str, float | None]
    admitted: int | None

    @property
    def tightest(self) -> tuple[str, float]:
        """Return the accountant with the smallest epsilon, and that epsilon."""
        known = {name: epsilon for name, epsilon in self.epsilons.items() if epsilon is not None}
        best = min(known, key=lambda name: known[name])
        return best, known[best]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        name, epsilon = self.tightest
        rows = [
            {"query": query, "epsilon": charge.epsilon, "delta": charge.delta}
            for query, charge in zip(self.queries, self.charges, strict=True)
        ]
        return {
            "queries": rows,
            "delta": self.delta,
            "epsilons": dict(self.epsilons),
            "tightest": {"accountant": name, "epsilon": epsilon},
            "admitted": self.admitted,
        }


def total(events: Iterable[AnyEvent], delta: float) -> dict[str, float | None]:
    """Return the epsilon that each accountant proves for `events` at `delta`; None if it proves none.

    An accountant may not support these events: a report should not fail.
    """
    listed = list(events)
    epsilons: dict[str, float | None] = {}
    for name, kind in ACCOUNTANTS.items():
        try:
            epsilons[name] = kind(listed).epsilon(delta)
        except (ConditionNotMet, ArithmeticError, ValueError, MemoryError):
            epsilons[name] = None
    return epsilons


def forecast_statements(session: Session, queries: Sequence[str], options: Options) -> Forecast:
    """Total the charges of a fixed list of queries. Free; reads no private row."""
    if options.get("within") is not None:
        raise ParameterError(
            "A forecast takes the price of each query as given.", code="bad-within", hint="Leave within out."
        )
    if options.get("bounds") == AUTOMATIC:
        options = {**options, "bounds": None}
    resolve_request(session.catalog, **options)
    charges = []
    for query in queries:
        statement = bind_statement(session, query, None, options)
        if statement.logical.releases:
            charges.append(session.price(statement.logical, statement.request, session.remaining()).charge)
        else:
            charges.append(Charge((), 0.0, 0.0))
    events: list[AnyEvent] = [event for charge in charges for event in charge.events]  # type: ignore[misc]
    delta = session.catalog.budget.delta
    admitted = None
    if not sets_price(session.catalog):
        admitted = _admitted(charges, session.ledger.remaining_cost(session.analyst))
    return Forecast(tuple(queries), tuple(charges), delta, total(events, delta), admitted)


def _admitted(charges: Sequence[Charge], left: Cost) -> int:
    """Return the number of charges, from the first, that fit into what is left."""
    spent = Units()
    for number, charge in enumerate(charges):
        spent = spent + Units.of(charge)
        pairs = [(spent.gaussian, left.gaussian), (spent.deliberate, left.pure), (spent.mass, left.mass)]
        if charge.events and any(amount > remaining * SCALE for amount, remaining in pairs):
            return number
    return len(charges)
