"""Time of private answers next to the plain queries, in turns, in one process, on one connection."""

import dataclasses
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tpch_queries import QUERIES, Query

import hedgerow as hr

FIXED_MS = 10.0
ALLOWED = 3.0
"""Over the ten queries together: this many times the plain queries, and FIXED_MS for each."""

TOGETHER_MS = 450.0
"""Likewise, whatever the plain queries take."""


@dataclass(frozen=True)
class Timing:
    """Medians, with the least and the most, in milliseconds; `joined` is the plain text that joins to the person."""

    name: str
    plain: float
    private: float
    plain_range: tuple[float, float]
    private_range: tuple[float, float]
    joined: float | None = None

    @property
    def ratio(self) -> float:
        """Time as a multiple of the plain query."""
        return self.private / self.plain

    @property
    def joined_ratio(self) -> float | None:
        """Time as a multiple of the plain query that joins to the person as well."""
        return None if self.joined is None else self.private / self.joined


@dataclass(frozen=True)
class Times:
    """All ten, and how busy the machine was meanwhile."""

    queries: tuple[Timing, ...]
    load: tuple[float, float]
    cores: int

    @property
    def plain(self) -> float:
        """All plain queries together."""
        return sum(query.plain for query in self.queries)

    @property
    def private(self) -> float:
        """All private answers together."""
        return sum(query.private for query in self.queries)

    @property
    def limit(self) -> float:
        """Limit of their total time."""
        return ALLOWED * self.plain + FIXED_MS * len(self.queries)

    @property
    def geometric_mean(self) -> float:
        """Of the ten ratios."""
        return statistics.geometric_mean([query.ratio for query in self.queries])


def measure(db: hr.Database, *, epsilon: float, runs: int, progress: Callable[[str], object]) -> Times:
    """Every query, plain and private in turns; the first turn is not counted."""
    connection = db._session.backend._connection  # type: ignore[attr-defined]  # noqa: SLF001 - the same settings

    def plain(text: str) -> float:
        return _milliseconds(lambda: connection.cursor().execute(text).fetchall())

    def private(query: Query) -> float:
        return _milliseconds(lambda: db.sql(query.text, epsilon=epsilon, reuse=False, **query.options))

    before, timings = os.getloadavg()[0], []
    for query in QUERIES:
        progress(query.name)
        turns = [
            (plain(query.text), private(query), plain(query.joined) if query.joined else None) for _ in range(runs + 1)
        ][1:]
        timings.append(_timing(query.name, *zip(*turns, strict=True)))
    return Times(tuple(timings), (before, os.getloadavg()[0]), os.cpu_count() or 1)


def read(path: Path) -> Times:
    """The times that a run left in its JSON."""
    stored = json.loads(path.read_text())
    names = [field.name for field in dataclasses.fields(Timing)]
    queries = tuple(Timing(*(row[name] for name in names)) for row in stored["times"])
    together = stored["times_together"]
    return Times(queries, tuple(together["load"]), together.get("cores", 2))


def _timing(
    name: str, plain: tuple[float, ...], private: tuple[float, ...], joined: tuple[float | None, ...]
) -> Timing:
    known = [milliseconds for milliseconds in joined if milliseconds is not None]
    return Timing(
        name,
        statistics.median(plain),
        statistics.median(private),
        (min(plain), max(plain)),
        (min(private), max(private)),
        statistics.median(known) if known else None,
    )


def _milliseconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3
