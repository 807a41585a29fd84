"""Verification of a published folder: from its files alone, without database, ledger or network.

Every check recomputes what it checks. Nothing here uses the code that plans, prices or draws noise: amounts and
guarantees follow from the events in the certificate, by the accountants, and from the terms of the ledger.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from hedgerow.accounting import event_from_dict
from hedgerow.accounting.budget import Charge
from hedgerow.answer.plain import on_one_line
from hedgerow.errors import HedgerowError, ParameterError
from hedgerow.ledger.entries import CHARGED, OPENED, RAISED, Link
from hedgerow.ledger.excerpt import OpenedCharge, load_links
from hedgerow.ledger.limits import LedgerTerms, Units
from hedgerow.publication.certificate import (
    CHAIN,
    FILE,
    NEIGHBOURS,
    Certificate,
    NoCertificate,
    proved,
    read_certificate,
    rounded_up,
    terms_of,
)
from hedgerow.publication.keys import PublicKey, read_public_key

MOST_BYTES = 2**30
"""Size of the largest certificate or chain that is read: about two million charges."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what it says about the folder, and everything that does not hold."""

    name: str
    says: str
    problems: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if nothing was found."""
        return not self.problems


@dataclass(frozen=True)
class FolderVerification:
    """All checks of one folder; `holds` is True if nothing was found.

    `pinned` says that the key is one that the reader trusts, and not only the folder's own.
    """

    folder: Path
    checks: tuple[Check, ...]
    key: PublicKey | None = None
    pinned: bool = False
    content: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def holds(self) -> bool:
        """True if every check holds."""
        return all(check.holds for check in self.checks)

    def __str__(self) -> str:
        """Return one line for each check."""
        lines = [f"{on_one_line(str(self.folder))}: {'everything holds' if self.holds else 'NOT as it was signed'}"]
        for check in self.checks:
            broken = [f"  ✗ {check.name}: {problem}" for problem in check.problems]
            lines += broken or [f"  ✓ {check.name}: {check.says}"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        key = None if self.key is None else {"public": str(self.key), "fingerprint": self.key.fingerprint}
        return {
            "folder": str(self.folder),
            "ok": self.holds,
            "key": key and {**key, "pinned": self.pinned},
            "checks": [
                {"check": check.name, "ok": check.holds, "says": check.says, "problems": list(check.problems)}
                for check in self.checks
            ],
            "guarantee": self.content.get("guarantee"),
            "ledger": self.content.get("ledger"),
        }


def verify(folder: str | os.PathLike[str], *, key: str | None = None) -> FolderVerification:
    """Check a published folder, without database or network. `print` shows every check.

    Args:
        folder: The folder that `hedgerow publish` or `db.publish` wrote.
        key: The owner's public key, `ed25519:…`, or the file that holds it. Without it, the folder's own key is used.
    """
    return verify_folder(Path(folder), None if key is None else read_public_key(key))


class _Problem(Exception):  # noqa: N818 - a finding, caught in this module
    """Something that does not hold."""


def verify_folder(folder: Path, key: PublicKey | None = None) -> FolderVerification:
    """Check a published folder.

    Args:
        folder: The folder that `hedgerow publish` wrote.
        key: The owner's public key, if the reader has it from elsewhere. Without it, the folder's own key is used: it
            shows that nobody changed the folder since it was signed, but not who signed it.
    """
    if not folder.is_dir():
        raise ParameterError(f"There is no folder {folder}.", code="folder-missing", hint="Name a published folder.")
    try:
        certificate = read_certificate(_content(folder / FILE))
    except (OSError, MemoryError):
        return FolderVerification(folder, (Check("certificate", "", (f"There is no readable {FILE}.",)),))
    except NoCertificate as error:
        return FolderVerification(folder, (Check("certificate", "", (f"{FILE}: {error}",)),))
    checks = [
        Check("certificate", _about(certificate)),
        _run("signature", lambda: _signature(certificate, key)),
        _run("files", lambda: _files(folder, certificate)),
    ]
    links: list[Link] = []
    checks.append(_run("chain", lambda: _chain(folder, certificate, links)))
    if links:
        checks += [
            _run("budget", lambda: _budget(certificate, links)),
            _run("charges", lambda: _charges(certificate, links)),
            _run("guarantee", lambda: _guarantee(certificate)),
        ]
    return FolderVerification(folder, tuple(checks), certificate.key, key is not None, dict(certificate.content))


def _run(name: str, check: Callable[[], str]) -> Check:
    """Run one check. A certificate of any content leads to a finding, never to a failure."""
    try:
        return Check(name, check())
    except _Problem as problem:
        return Check(name, "", tuple(problem.args))
    except HedgerowError as error:
        return Check(name, "", (error.message,))
    except OSError:
        return Check(name, "", ("A file or a folder cannot be read.",))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError, MemoryError):
        return Check(name, "", ("The certificate does not have the parts that this check needs.",))


def _content(path: Path) -> bytes:
    """Return the bytes of a file; raise `OSError` for a link, a pipe, or a file that is too large."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        raise OSError
    return path.read_bytes()


def _about(certificate: Certificate) -> str:
    """Describe the release: the folder could hold another one that is signed correctly, too."""
    dataset, content = certificate.content["dataset"], certificate.content
    version = f" ({dataset['version']})" if dataset["version"] else ""
    return on_one_line(f"format {content['version']}; a release of {dataset['name']}{version}, {content['time'][:10]}")


def _signature(certificate: Certificate, pinned: PublicKey | None) -> str:
    if not certificate.is_signed:
        raise _Problem("The signature does not fit the certificate: it was changed, or not signed with this key.")
    if pinned is not None and pinned != certificate.key:
        raise _Problem(f"It is signed with another key: {certificate.key}, not {pinned}.")
    whose = "the key that you named" if pinned is not None else "the key in the folder itself"
    return f"signed with {whose}, {certificate.key.fingerprint}"


def _files(folder: Path, certificate: Certificate) -> str:
    """Compare every file of the folder with its digest; nothing may be missing or added."""
    listed, problems, present = certificate.files, [], set()
    for name, path in _walk(folder):
        if name == FILE:
            continue
        present.add(name)
        if name not in listed:
            problems.append(f"{on_one_line(name)} is not in the certificate.")
        elif not stat.S_ISREG((status := path.lstat()).st_mode):
            problems.append(f"{on_one_line(name)} is not a file.")
        elif status.st_size != listed[name]["bytes"] or _digest(path) != listed[name]["sha256"]:
            problems.append(f"{on_one_line(name)} was changed.")
    problems += [f"{on_one_line(name)} is missing." for name in sorted(set(listed) - present)]
    if problems:
        raise _Problem(*problems)
    return f"{len(listed)} files, unchanged; none is missing or added"


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield everything in a folder that is not a folder with something in it; links are not followed."""
    for path in sorted(folder.iterdir()):
        inside = list(_walk(path)) if path.is_dir() and not path.is_symlink() else []
        if inside:
            yield from ((f"{path.name}/{name}", deeper) for name, deeper in inside)
        else:
            yield path.name, path


def _chain(folder: Path, certificate: Certificate, links: list[Link]) -> str:
    """Recompute the hash at the end of the chain from its links."""
    ledger = certificate.content["ledger"]
    try:
        loaded = load_links(_content(folder / CHAIN).decode("ascii"))
    except (OSError, RecursionError):
        raise _Problem(f"There is no readable {CHAIN}.") from None
    except ValueError as error:
        raise _Problem(f"{CHAIN} is not a chain: {error}.") from None
    links += loaded
    first, last = loaded[0], loaded[-1]
    numbers = (CHAIN, last.sequence + 1, first.sequence)
    if last.hash != ledger["head"] or numbers != (ledger["file"], ledger["entries"], ledger["sealed_from"]):
        raise _Problem("The links do not lead to the hash that the certificate states.")
    if first.public["ledger"] != ledger["id"] or first.public["dataset"] != certificate.content["dataset"]["name"]:
        raise _Problem("The chain is that of another ledger.")
    before = (
        f"; {first.sequence} older entries are not shown, their totals are taken as stated" if first.sequence else ""
    )
    return f"{len(loaded)} entries of the ledger lead to the hash {last.hash}{before}"


def _budget(certificate: Certificate, links: Sequence[Link]) -> str:
    """Check after every charge that the sums are within the caps of the terms that were then in force.

    Terms can only be raised: otherwise those that the certificate states need not hold for what was charged before.
    """
    terms = terms_of(links[:1])
    _require_no_refund(links)
    for before, link in pairwise((links[0], *links)):
        _require_whole_period(terms, before, link)
        if link.kind == RAISED:
            _require_no_less(terms, link)
            terms = terms_of([link])
        if link.kind in {CHARGED, RAISED} or link is links[0]:
            _require_within(terms, link)
    guarantee = certificate.content["guarantee"]
    if terms.to_dict() != guarantee["budget"]:
        raise _Problem("The certificate states another budget than the ledger's chain.")
    total = links[-1].total
    spent = terms.caps.proves(total.lifetime if terms.refresh is None else total.current)
    for name, amount in (("epsilon", spent.epsilon), ("delta", spent.delta)):
        if rounded_up(amount) > guarantee["spent"][name] * (1 + 1e-9):
            raise _Problem(f"More {name} is spent than the certificate states: {amount:.6g}.")
    used = max(terms.caps.fractions(total.lifetime if terms.refresh is None else total.current).values())
    charges = "1 charge stays" if total.charges == 1 else f"{total.charges:,} charges stay"
    return f"{charges} within epsilon {terms.epsilon:g}, delta {terms.delta:g}; {used:.2%} is used"


def _require_no_refund(links: Sequence[Link]) -> None:
    """Refuse a chain whose first totals are not zero, or in which a charge has a negative amount."""
    first, none = links[0], Units()
    opened = first.kind != OPENED or first.total.lifetime == first.total.current == none
    amounts = [first.total.lifetime, first.total.current]
    amounts += [link.total.lifetime - before.total.lifetime for before, link in pairwise(links)]
    queries = [first.total.queries, *(link.public["queries"] for link in links if link.kind == CHARGED)]
    gifts = any(min(one.gaussian, one.pure, one.mass, one.deliberate) < 0 for one in amounts) or min(queries) < 0
    if not opened or gifts:
        raise _Problem("The record of spending has an amount that no charge can have.")


def _require_whole_period(terms: LedgerTerms, before: Link, link: Link) -> None:
    """Refuse a new period that begins before the last one is over: its budget would be granted too early."""
    if link.total.period == before.total.period:
        return
    if terms.refresh is None:
        raise _Problem(f"Entry {link.sequence} begins a new period, but the budget is for all time.")
    start, end = (datetime.fromisoformat(one.total.period) for one in (before, link))
    if end - start < terms.refresh:
        raise _Problem(f"Entry {link.sequence} begins a new period before the last one is over.")


def _require_no_less(terms: LedgerTerms, link: Link) -> None:
    """Refuse terms that allow less than the ones before: what earlier periods spent may be beyond them."""
    stated = terms_of([link])
    longer = stated.refresh is not None and terms.refresh is not None and stated.refresh > terms.refresh
    if stated.caps.overrun(terms.caps.units) or (longer and link.total.current != link.total.lifetime):
        raise _Problem(f"Entry {link.sequence} states a smaller budget than the one that was in force before it.")


def _require_within(terms: LedgerTerms, link: Link) -> None:
    period = link.total.lifetime if terms.refresh is None else link.total.current
    lifetime = terms.lifetime_caps if terms.refresh is not None else None
    if terms.caps.overrun(period) or (lifetime is not None and lifetime.overrun(link.total.lifetime)):
        raise _Problem(f"The charges up to entry {link.sequence} exceed the budget of the ledger.")


def _charges(certificate: Certificate, links: Sequence[Link]) -> str:
    """Check that the charges of the release are in the chain, with these events, and that each table has one."""
    by_number = {link.sequence: link for link in links}
    charges = certificate.charges
    for charge in charges:
        link = by_number.get(charge.entry)
        if link is None or link.kind != CHARGED or link.sealed != charge.sealed:
            raise _Problem(f"The charge in entry {charge.entry} is not the one in the ledger's chain.")
        if _amount(charge) != Units.from_dict(link.public["units"]):
            raise _Problem(f"The events of the charge in entry {charge.entry} cost another amount than was charged.")
    known = {charge.entry for charge in charges}
    if not known:
        raise _Problem("The certificate has no charge.")
    for table in certificate.content["tables"]:
        if not set(table["charges"]) <= known or bool(table["mechanisms"]) != bool(table["charges"]):
            raise _Problem(f"The table {on_one_line(table['name'])} has no charge in the certificate.")
    number = sum(len(charge.price["events"]) for charge in charges)
    return f"{number} events of {len(charges)} {'charge' if len(charges) == 1 else 'charges'}, as the ledger has them"


def _amount(charge: OpenedCharge) -> Units:
    events = tuple(event_from_dict(event) for event in charge.price["events"])
    return Units.of(Charge(events, charge.price["epsilon"], charge.price["delta"]))


def _guarantee(certificate: Certificate) -> str:
    """Recompute the guarantee of the release from its events; compare the smallest groups with those of the tables."""
    guarantee, tables = certificate.content["guarantee"], certificate.content["tables"]
    if guarantee["neighbours"] != NEIGHBOURS:
        raise _Problem("The certificate defines neighbours differently from its format.")
    if guarantee["min_frequency"] > min(table["min_frequency"] for table in tables if table["charges"]):
        raise _Problem("A table has a smaller minimum frequency than the certificate states for all.")
    released, recomputed = guarantee["release"], proved(certificate.charges)
    for name in ("epsilon", "delta"):
        if not recomputed[name] <= released[name] * (1 + 1e-9):
            raise _Problem(f"The events prove {name} {recomputed[name]:g}; the certificate states {released[name]:g}.")
    return f"the events prove epsilon {recomputed['epsilon']:g} at delta {recomputed['delta']:g}"


def compare_chains(folders: Sequence[FolderVerification]) -> Check:
    """Check that releases of one ledger tell one history: the shorter chain is the beginning of the longer one."""
    chains: dict[str, list[tuple[Path, list[Link]]]] = {}
    for one in folders:
        ledger = one.content["ledger"]["id"]
        chains.setdefault(ledger, []).append((one.folder, load_links((one.folder / CHAIN).read_text(encoding="ascii"))))
    problems = []
    for listed in chains.values():
        longest = max(listed, key=lambda pair: len(pair[1]))
        known = {link.sequence: link.hash for link in longest[1]}
        problems += [
            f"{folder} and {longest[0]} show two histories of one ledger."
            for folder, links in listed
            if any(known.get(link.sequence) != link.hash for link in links)
        ]
    return Check(
        "history", f"the releases show one history of {'each' if len(chains) > 1 else 'the'} ledger", tuple(problems)
    )
