"""Excerpt of a ledger for others: the links of its chain up to some charges, and the prices of those charges.

It holds no question, no name and no time. A link has the amounts of a charge, or the terms, and a seal over the rest.
Anybody can recompute the running totals and the hash at its end.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from hedgerow.errors import InternalError, LedgerError
from hedgerow.ledger.entries import (
    ANSWERED,
    BEGINNING,
    CHARGED,
    CONTINUED,
    KINDS,
    OPEN,
    OPENED,
    Account,
    Entry,
    Link,
    canonical,
    leaf,
    seal,
)
from hedgerow.ledger.history import walk
from hedgerow.ledger.limits import Units
from hedgerow.ledger.store import Reader, Store

PRICE = "price"
"""The leaf of an entry that an excerpt opens."""


@dataclass(frozen=True, slots=True)
class OpenedCharge:
    """The price of a charge (`epsilon`, `delta`, `events`), with what proves that it is the one in the chain.

    `salt` opens the leaf of the price. `others` are the digests of the leaves that stay sealed.
    """

    entry: int
    price: Mapping[str, Any]
    salt: str
    others: Mapping[str, str]

    @classmethod
    def of(cls, entry: Entry) -> "OpenedCharge":
        """Open the price of an entry, and nothing else."""
        salt, price = entry.leaves[PRICE]
        others = {name: leaf(*salted) for name, salted in entry.leaves.items() if name != PRICE}
        return cls(entry.sequence, price, salt, others)

    @property
    def sealed(self) -> str:
        """The seal of the entry that has this price."""
        return seal({**self.others, PRICE: leaf(self.salt, self.price)})


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The links up to the answers to some charges, and those charges, opened. `time` is that of the last link."""

    links: tuple[Link, ...]
    charges: tuple[OpenedCharge, ...]
    time: str


def take_excerpt(store: Store, charges: Collection[int]) -> Excerpt:
    """Return the chain up to the answers to `charges`, and their prices."""
    with store.read() as book:
        opened = [_charge(book, sequence) for sequence in sorted(set(charges))]
        end = max(_last_of(book, entry).sequence for entry in opened)
    entries = list(takewhile(lambda entry: entry.sequence <= end, walk(store, lambda entry, _: entry)))
    links = tuple(entry.link for entry in entries if entry.salt is not None)
    return Excerpt(links, tuple(map(OpenedCharge.of, opened)), entries[-1].time)


def _charge(book: Reader, sequence: int) -> Entry:
    """Return a charge, if its price can be shown without its question."""
    entry = book.entry(sequence)
    if entry is None or entry.kind != CHARGED:
        raise InternalError("An answer refers to a charge that the ledger does not have.")
    if entry.salt is None:
        raise LedgerError(
            "An answer was bought by an earlier version of hedgerow, whose record of the price cannot be shown without "
            "the question and the analyst's name.",
            code="ledger-unsealed",
            hint="Ask at another epsilon, so that the answer is bought again.",
        )
    return entry


def _last_of(book: Reader, charged: Entry) -> Entry:
    """Return the entry of the answer to a charge, also after failures without noise; the latest entry if none is."""
    entry: Entry = charged
    while (following := book.outcome_of(entry.sequence)) is not None:
        entry = following
        if entry.kind == ANSWERED:
            break
    return entry


def dump_links(links: Iterable[Link]) -> str:
    """Return links as lines of JSON. Numbers, hashes and totals that follow from earlier lines are left out."""
    lines, total = [], None
    for link in links:
        line: dict[str, Any] = {"kind": link.kind, "public": dict(link.public), "sealed": link.sealed}
        if link.refers is not None:
            line["refers"] = link.refers
        if total is None:
            line |= {"sequence": link.sequence, "previous": link.previous, "total": link.total.to_dict()}
        elif link.total.period != total.period:
            line["period"] = link.total.period
        total = link.total
        lines.append(canonical(line) + "\n")
    return "".join(lines)


def load_links(text: str) -> list[Link]:
    """Return the links that `dump_links` wrote, with totals added up again; raise `ValueError` if they are no chain.

    Every character counts: a text that `dump_links` would spell in another way, or with fewer fields, is refused.
    """
    links: list[Link] = []
    for number, written in enumerate(text.splitlines()):
        try:
            links.append(_link(json.loads(written), links[-1] if links else None))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError(f"line {number + 1} is not a link of a chain") from None
    if not links:
        raise ValueError("there are no links")
    if dump_links(links) != text:
        raise ValueError("it is not spelled as hedgerow writes it")
    return links


def _link(line: Mapping[str, Any], before: Link | None) -> Link:
    kind, public, refers, sealed = line["kind"], line["public"], line.get("refers"), line["sealed"]
    if kind not in KINDS or public.keys() != {name for name in OPEN.get(kind, ()) if name in public}:
        raise ValueError("An entry of another kind could be a charge that nobody adds up.")
    if before is None:
        is_first = (kind, line["sequence"], line["previous"]) == (OPENED, 0, BEGINNING)
        if not is_first and kind != CONTINUED:
            raise ValueError("A chain begins with its terms.")
        return Link(line["sequence"], kind, refers, Account.from_dict(line["total"]), public, sealed, line["previous"])
    if kind in {OPENED, CONTINUED}:
        raise ValueError("A chain begins once.")
    if refers is not None and not 0 <= refers <= before.sequence:
        raise ValueError("An entry follows from an earlier one.")
    total = before.total.within(line.get("period", before.total.period))
    if kind == CHARGED:
        total = total.plus(Units.from_dict(public["units"]), public["queries"])
    return Link(before.sequence + 1, kind, refers, total, public, sealed, before.hash)
