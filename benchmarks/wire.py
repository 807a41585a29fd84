"""Free repeats over the wire: requests a second, latency, CPU time and memory, next to a plain PostgreSQL.

`hedgerow serve` runs as a process of its own on the demo's hospital. A question is asked once and then repeated by 1 to
64 clients, which are connections of psycopg in one process. The same clients ask a plain PostgreSQL (that of the
shadow's wheel, with the same table and an index) the same question, and for five rows that are in a table of their own:
the first is what the data costs without privacy, the second what the protocol costs at least. The three run in turns.
`make bench` runs it:

    python benchmarks/wire.py [--seconds 3] [--clients 1 8 64] [--json FILE]

CPU time is that of the server's processes, with its shadow, in steps of 10 ms for each of them; it does not depend on
what else runs on the machine. Memory is that of the service's own process.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import psutil
import psycopg
from rich.console import Console
from rich.table import Table

from hedgerow.demo import HospitalFiles, build
from hedgerow.service.shadow.cluster import SETTINGS, OwnServer

QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY region ORDER BY region"
ROWS = "SELECT region, n, mean_age FROM answer ORDER BY region"
PEOPLE = 60_000
TARGET_RATE, TARGET_LATENCY = 500.0, 0.005
"""Free repeats a second with 8 clients, and the median latency of one client, that we set ourselves."""

SERVE = """\
[project]
database = "hospital.duckdb"
catalog = "hospital.yaml"
ledger = "hospital.ledger"
[serve.wire]
port = 0
[serve.http]
enabled = false
[serve.console]
enabled = false
[serve.limits]
per_analyst = 8
queue = 128
"""


@dataclass(frozen=True)
class Outcome:
    """One turn: requests a second, latencies, CPU seconds of one, and memory in bytes of the first process."""

    server: str
    clients: int
    rate: float
    p50: float
    p99: float
    cpu: float
    memory: int


@contextmanager
def serving(folder: Path) -> Iterator[tuple[list[str], psutil.Process]]:
    """Run the service on a hospital; give the addresses of its two accounts, and its process."""
    build(
        HospitalFiles(folder / "hospital.duckdb", folder / "hospital.yaml", folder / "hospital.ledger"), people=PEOPLE
    )
    (folder / "hedgerow.toml").write_text(SERVE, encoding="utf-8")
    command = [sys.executable, "-m", "hedgerow", "serve", "--json"]
    with (folder / "serve.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)  # noqa: S603 - our own words
        try:
            started = json.loads(process.stdout.readline())  # type: ignore[union-attr]
            logins = [f"{name}:{secrets['password']}" for name, secrets in started["accounts"].items()]
            yield [f"postgresql://{login}@{started['wire']}/hospital" for login in logins], psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def plain_postgres(folder: Path, port: int) -> Iterator[tuple[str, psutil.Process]]:
    """Run a plain PostgreSQL with the hospital's patients; give its address, and its process."""
    server = OwnServer(None, {**SETTINGS, "listen_addresses": "127.0.0.1", "port": str(port), "shared_buffers": "64MB"})
    url = f"postgresql://hedgerow@127.0.0.1:{port}/postgres"
    try:
        for _ in range(100):
            try:
                connection = psycopg.connect(url, autocommit=True)
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        with duckdb.connect(str(folder / "hospital.duckdb"), read_only=True) as source, connection:
            rows = source.execute("SELECT id, region, age FROM patients").fetchall()
            connection.execute("CREATE TABLE patients (id bigint PRIMARY KEY, region text, age bigint)")
            with connection.cursor().copy("COPY patients FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            connection.execute(f"CREATE TABLE answer AS {QUESTION}")
            connection.execute("CREATE INDEX ON patients (region, age)")
            connection.execute("VACUUM ANALYZE")
        yield url, psutil.Process(server._process.pid)  # type: ignore[union-attr]  # noqa: SLF001 - ours
    finally:
        server.stop()


def processes(process: psutil.Process) -> list[psutil.Process]:
    """Return a server's process with all that it has started."""
    return [process, *process.children(recursive=True)]


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds of a server so far. Connections stay open between two looks, so no process is missed."""
    times = [one.cpu_times() for one in processes(process)]
    return sum(one.user + one.system for one in times)


async def turn(name: str, urls: list[str], query: str, server: psutil.Process, clients: int, seconds: float) -> Outcome:
    """Let some clients repeat a query for some seconds."""
    latencies: list[float] = []
    ends = 0.0

    async def client(connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        while time.perf_counter() < ends:
            started = time.perf_counter()
            await (await connection.execute(query)).fetchall()
            latencies.append(time.perf_counter() - started)

    places = [urls[number % len(urls)] for number in range(clients)]  # one account may not have 64 connections
    connections = [await psycopg.AsyncConnection.connect(place, autocommit=True) for place in places]
    try:
        await together(connections, lambda connection: connection.execute(query))
        before, started = cpu_seconds(server), time.perf_counter()
        ends = started + seconds
        await together(connections, client)
        elapsed, spent = time.perf_counter() - started, cpu_seconds(server) - before
    finally:
        await together(connections, lambda connection: connection.close())
    ordered = sorted(latencies)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    rate = len(ordered) / elapsed
    return Outcome(name, clients, rate, statistics.median(ordered), p99, spent / len(ordered), server.memory_info().rss)


Connection = psycopg.AsyncConnection[tuple[object, ...]]


async def together(connections: list[Connection], action: Callable[[Connection], Awaitable[object]]) -> None:
    """Do something on all connections at once."""
    await asyncio.gather(*(action(connection) for connection in connections))


def measure(clients: list[int], seconds: float) -> list[Outcome]:
    """Run each number of clients on each server, in turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(folder) as (served, gateway), plain_postgres(folder, free_port()) as (url, postgres):
            cases = [
                ("hedgerow, a free repeat", served, QUESTION, gateway),
                ("PostgreSQL, the plain query", [url], QUESTION, postgres),
                ("PostgreSQL, five rows", [url], ROWS, postgres),
            ]
            return [asyncio.run(turn(*case, number, seconds)) for number in clients for case in cases]


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def show(outcomes: list[Outcome]) -> None:
    """Print a table, and whether the targets are met."""
    table = Table("server", "clients", "requests/s", "p50 ms", "p99 ms", "CPU ms", "memory MB")
    for one in outcomes:
        numbers = (f"{number:.2f}" for number in (1e3 * one.p50, 1e3 * one.p99, 1e3 * one.cpu))
        held = f"{one.memory / 2**20:.0f}" if one.server.startswith("hedgerow") else ""
        table.add_row(one.server, str(one.clients), f"{one.rate:,.0f}", *numbers, held)
    console = Console(width=110)
    console.print(table)
    console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    ours = {one.clients: one for one in outcomes if one.server.startswith("hedgerow")}
    if 1 in ours:
        console.print(f"one client: p50 {'met' if ours[1].p50 < TARGET_LATENCY else 'missed'} ({TARGET_LATENCY} s)")
    if 8 in ours:
        console.print(f"8 clients: rate {'met' if ours[8].rate >= TARGET_RATE else 'missed'} ({TARGET_RATE:.0f}/s)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 2, 8, 32, 64])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    outcomes = measure(options.clients, options.seconds)
    show(outcomes)
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in outcomes], indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
