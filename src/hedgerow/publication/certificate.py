"""Certificate of a release: what is guaranteed, the charges and their events, the ledger's chain, digests, signature.

It is one line of JSON in a canonical spelling (sorted keys, no white space), so that every byte of it means something.
docs/reference/certificate.md describes the format; a later version of it gets another number.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any

from hedgerow.accounting import GDP, AnyEvent, event_from_dict
from hedgerow.answer.released import NoteKind
from hedgerow.ledger.entries import Link, canonical
from hedgerow.ledger.excerpt import Excerpt, OpenedCharge, dump_links
from hedgerow.ledger.limits import LedgerTerms
from hedgerow.publication.contents import PublishedReport, limits_of
from hedgerow.publication.keys import OwnerKey, PublicKey

FORMAT, VERSION = "hedgerow certificate", 1
FILE, CHAIN = "certificate.json", "ledger.jsonl"
DOMAIN = b"hedgerow certificate 1\n"
"""Signed before the certificate, so that the key's signature under another text can never pass for one."""

NUMBER, TEXT, WHOLE = (int, float), (str,), (int,)
_AMOUNTS = {"epsilon": NUMBER, "delta": NUMBER}
_TABLE = {
    "name": TEXT,
    "charges": [WHOLE],
    "confidence": NUMBER,
    "min_frequency": WHOLE,
    "mechanisms": [(dict,)],
    "notes": [TEXT],
}
SHAPE: Mapping[Any, Any] = {
    "format": TEXT,
    "version": WHOLE,
    "program": TEXT,
    "time": TEXT,
    "dataset": {"name": TEXT, "version": (str, NoneType)},
    "guarantee": {
        "neighbours": TEXT,
        "release": _AMOUNTS,
        "budget": {
            **_AMOUNTS,
            "pure_epsilon": NUMBER,
            "refresh": (int, float, NoneType),
            "lifetime": (dict, NoneType),
        },
        "spent": _AMOUNTS,
        "min_frequency": WHOLE,
    },
    "sources": {...: (dict,)},
    "charges": [
        {"entry": WHOLE, "price": {**_AMOUNTS, "events": [(dict,)]}, "salt": TEXT, "others": {...: TEXT}},
    ],
    "tables": [_TABLE],
    "ledger": {"id": TEXT, "file": TEXT, "head": TEXT, "entries": WHOLE, "sealed_from": WHOLE},
    "files": {...: {"bytes": WHOLE, "sha256": TEXT}},
}
"""Fields of a certificate and their types. A certificate has all of them and no other, so that none is a statement that
nobody checks. `...` is any name; in a list, every item has the shape of the first."""

NEIGHBOURS = "Two databases are neighbours if one has all rows of the other and, besides, all rows of one more unit."
ALGORITHM = "Ed25519"


class NoCertificate(ValueError):  # noqa: N818 - it says what a text is not
    """A text is not a certificate; the message says why."""


@dataclass(frozen=True)
class Certificate:
    """A certificate as it was read: its content, and the signature under it."""

    content: Mapping[str, Any]
    key: PublicKey
    signature: bytes

    @property
    def is_signed(self) -> bool:
        """True if the key in the certificate signed its content."""
        return self.key.verifies(self.signature, DOMAIN + canonical(self.content).encode())

    @property
    def files(self) -> Mapping[str, Mapping[str, Any]]:
        """Size and digest of each file."""
        files: Mapping[str, Mapping[str, Any]] = self.content["files"]
        return files

    @property
    def charges(self) -> list[OpenedCharge]:
        """The charges of the release."""
        return [
            OpenedCharge(charge["entry"], charge["price"], charge["salt"], charge["others"])
            for charge in self.content["charges"]
        ]


def events_of(charges: Iterable[OpenedCharge]) -> list[AnyEvent]:
    """Return the events of all charges."""
    return [event_from_dict(event) for charge in charges for event in charge.price["events"]]


def proved(charges: Iterable[OpenedCharge]) -> dict[str, float]:
    """Return the guarantee that the events of all charges prove together, at the sum of their deltas.

    Both are rounded up: the delta of a statement with Laplace noise is the mass of its threshold and no more, and as a
    float it may be a little below that.

    Privacy: Gaussian composition of the events, each with its worst pair of neighbours (`accounting.GDP`). It uses
    nothing of the code that chose the noise.
    """
    listed = list(charges)
    accountant = GDP(events_of(listed))
    delta = rounded_up(math.fsum(float(charge.price["delta"]) for charge in listed))
    if delta <= 0.0:
        return {"epsilon": rounded_up(accountant.epsilon(1e-300)), "delta": 0.0}
    return {"epsilon": rounded_up(accountant.epsilon(delta)), "delta": delta}


def rounded_up(number: float) -> float:
    """Return six significant digits, not below the number.

    Example:
        >>> rounded_up(0.3011771234), rounded_up(0.5), rounded_up(0.0)
        (0.301178, 0.5, 0.0)
    """
    if number <= 0.0 or not math.isfinite(number):
        return number
    step = 10.0 ** (math.floor(math.log10(number)) - 5)
    near = float(f"{number:.6g}")
    return near if near >= number else float(f"{near + step:.6g}")


def terms_of(links: Iterable[Link]) -> LedgerTerms:
    """Return the terms in force at the end of a chain."""
    terms = [link.public["terms"] for link in links if "terms" in link.public]
    return LedgerTerms.from_dict(terms[-1])


def certify(
    report: PublishedReport, excerpt: Excerpt, files: Mapping[str, bytes], key: OwnerKey, program: str
) -> bytes:
    """Return the certificate of a release. The same release, with the same key, has the same certificate."""
    first, last = excerpt.links[0], excerpt.links[-1]
    terms = terms_of(excerpt.links)
    spent = terms.caps.proves(last.total.lifetime if terms.refresh is None else last.total.current)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "program": program,
        "time": excerpt.time,
        "dataset": {"name": report.dataset, "version": report.version},
        "guarantee": {
            "neighbours": NEIGHBOURS,
            "release": proved(excerpt.charges),
            "budget": terms.to_dict(),
            "spent": {"epsilon": rounded_up(spent.epsilon), "delta": rounded_up(spent.delta)},
            "min_frequency": report.min_frequency,
        },
        "sources": {table.name: limits_of(table) for table in report.sources},
        "charges": [
            {"entry": charge.entry, "price": charge.price, "salt": charge.salt, "others": dict(charge.others)}
            for charge in excerpt.charges
        ],
        "tables": [
            {
                "name": table.name,
                "charges": table.charges,
                "confidence": table.answer.confidence,
                "min_frequency": table.answer.receipt.min_frequency,
                "mechanisms": [mechanism.to_dict() for mechanism in table.answer.receipt.mechanisms],
                "notes": [note.text for note in table.answer.notes if note.short and note.kind is not NoteKind.EMPTY],
            }
            for table in report.tables
        ],
        "ledger": {
            "id": first.public["ledger"],
            "file": CHAIN,
            "head": last.hash,
            "entries": last.sequence + 1,
            "sealed_from": first.sequence,
        },
        "files": {
            name: {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()} for name, body in files.items()
        },
    }
    signature = key.sign(DOMAIN + canonical(content).encode())
    signed = {"algorithm": ALGORITHM, "key": str(key.public), "value": signature.hex()}
    return (canonical({"certificate": content, "signature": signed}) + "\n").encode("ascii")


def chain_file(excerpt: Excerpt) -> bytes:
    """Return the file with the links of the chain."""
    return dump_links(excerpt.links).encode("ascii")


def read_certificate(text: bytes) -> Certificate:
    """Read a certificate; raise `NoCertificate` unless every byte is as `certify` writes it."""
    try:
        document = json.loads(text)
        content, signed = document["certificate"], document["signature"]
        key, signature = PublicKey.of(signed["key"]), bytes.fromhex(signed["value"])
        spelled = {"algorithm": ALGORITHM, "key": str(key), "value": signature.hex()}
        expected = (canonical({"certificate": content, "signature": spelled}) + "\n").encode("ascii")
        kind = content["format"], content["version"]
    except Exception:  # noqa: BLE001 - whatever somebody wrote into it
        raise NoCertificate("It is not a certificate of hedgerow.") from None
    if kind[0] != FORMAT or type(kind[1]) is not int or kind[1] < VERSION:
        raise NoCertificate("It is not a certificate of hedgerow.")
    if kind[1] > VERSION:
        raise NoCertificate("It was written by a newer version of hedgerow.")
    if expected != text:
        raise NoCertificate("It is not spelled as hedgerow writes it.")
    if not _has_shape(content, SHAPE):
        raise NoCertificate("It does not have the fields of a certificate.")
    return Certificate(content, key, signature)


def _has_shape(value: Any, shape: Any) -> bool:  # noqa: ANN401 - whatever JSON can hold
    """Return True if a value has the fields and types of `SHAPE`. A truth value is no number."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return False
        if ... in shape:
            return all(_has_shape(part, shape[...]) for part in value.values())
        return value.keys() == shape.keys() and all(_has_shape(value[name], part) for name, part in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and all(_has_shape(item, shape[0]) for item in value)
    return type(value) in shape
