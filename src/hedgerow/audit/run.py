"""The audit of one statement."""

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from hedgerow.audit.blueprint import Blueprint, draw_up
from hedgerow.audit.bounds import blur, furthest
from hedgerow.audit.constants import tables_read
from hedgerow.audit.judge import claim_of, judge
from hedgerow.audit.pairs import KINDS, Pair
from hedgerow.audit.planning import plan
from hedgerow.audit.record import Record
from hedgerow.audit.repeat import Repeated
from hedgerow.audit.report import AuditReport
from hedgerow.audit.runs import AuditQuestion, asking
from hedgerow.audit.watch import WatchedPurchase
from hedgerow.backends import connect_backend
from hedgerow.catalog import Catalog, load_catalog
from hedgerow.errors import ConditionNotMet, ParameterError

ProgressReport = Callable[[str, int, int], None]
"""Told the kind of pair that is run, how many runs were made, and how many there will be."""

RUNS = 500
CONFIDENCE = 0.99
LEAST_RUNS, MOST_RUNS = 20, 10_000_000
DEPTHS = ("engine", "release")


def audit(
    query: str,
    *,
    source: object,
    catalog: str | os.PathLike[str] | Catalog,
    runs: int = RUNS,
    confidence: float = CONFIDENCE,
    depth: str = "engine",
    only: Collection[str] = KINDS,
    progress: ProgressReport = lambda *_: None,
    dialect: str = "duckdb",
    epsilon: float | None = None,
    delta: float | None = None,
    mechanism: str = "auto",
    min_frequency: int | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> AuditReport:
    """Look for a leak: run a statement on pairs of neighbouring databases, and bound its epsilon from below.

    The databases are made up, in the shape of the owner's. Of `source` the schema is read, and public tables; of
    private tables no row is. Nothing is spent: the ledger is one in memory.

    Args:
        query: A SELECT statement.
        source: The owner's database, as for `connect`; one with empty tables will do.
        catalog: What is protected: a YAML file or a `Catalog`.
        runs: How often the statement is run on each database of each pair. Half of the runs choose the event that
            tells the two apart best, the other half judge it.
        confidence: How surely no bound exceeds the claim of a statement that keeps it, all pairs together.
        depth: "engine" runs everything, each time; "release" reads the exact integers once, and repeats key
            selection and noise only, which is many times quicker.
        only: The kinds of newcomers that are tried; by default all of `KINDS`.
        progress: Told how far it is, after every run.
        dialect: The SQL dialect that the query is written in.
        epsilon: The most that the statement may cost, as for `Database.sql`; so are the parameters that follow.
        delta: Likewise.
        mechanism: Likewise.
        min_frequency: Likewise.
        max_rows: Likewise.
        max_groups: Likewise.
        bounds: Likewise.

    Privacy: it protects nothing. It looks for what the proofs should exclude.
    """
    _check(runs, confidence, depth, only)
    stated: dict[str, object] = {
        "epsilon": epsilon,
        "delta": delta,
        "mechanism": mechanism,
        "min_frequency": min_frequency,
        "max_rows": max_rows,
        "max_groups": max_groups,
        "bounds": bounds,
    }
    given = {name: value for name, value in stated.items() if value is not None}
    question = AuditQuestion(query, {**given, "reuse": False}, dialect)
    return _Audit(_blueprint(source, catalog), question, runs, confidence, depth, progress).report(only)


def _blueprint(source: object, catalog: str | os.PathLike[str] | Catalog) -> Blueprint:
    declared = load_catalog(catalog)
    backend = connect_backend(source, declared=declared.tables)
    try:
        return draw_up(declared, backend)
    finally:
        backend.close()


@dataclass
class _Audit:
    """One audit on its way."""

    blueprint: Blueprint
    question: AuditQuestion
    runs: int
    confidence: float
    depth: str
    progress: ProgressReport
    made: int = 0
    planned: int = 0

    def report(self, only: Collection[str]) -> AuditReport:
        """Plan, run and judge."""
        started = time.monotonic()
        bought = self._first()
        self.blueprint = self.blueprint.reading(tables_read(bought.logical))
        planned = plan(self.blueprint, self.question, bought, only)
        claim = claim_of(bought.charge)
        self.planned = 2 * self.runs * len(planned.pairs)
        level = (1.0 - self.confidence) / (2 * max(1, len(planned.pairs)) * (1 if claim.mu is None else 2))
        judging = self.runs - self.runs // 2
        pairs = tuple(judge(pair, self._records(pair, bought), claim, level) for pair in planned.pairs)
        return AuditReport(
            self.question.query,
            claim,
            self.confidence,
            self.runs,
            self.depth,
            pairs,
            planned.left_out,
            furthest(judging, claim.delta, level),
            blur(judging, level),
            time.monotonic() - started,
        )

    def _first(self) -> WatchedPurchase:
        """What the statement buys of an empty database: its price and its plan do not depend on rows."""
        with asking(self.blueprint, self.blueprint.catalog, self.question) as asker:
            bought = asker.ask()
        if not bought:
            raise ConditionNotMet(
                "The query reads public tables only, which are about nobody.", condition="a private table in the query"
            )
        return bought[0]

    def _records(self, pair: Pair, bought: WatchedPurchase) -> tuple[Record, Record]:
        """The runs without the newcomer, and with."""
        repeated, found = None, []
        for crowd in pair.sides():
            with asking(self.blueprint, self.blueprint.catalog, self.question, crowd) as asker:
                if self.depth == "release" and repeated is None:
                    repeated = Repeated.of(bought, asker.backend)
                found.append(asker.record(self.runs, repeated, lambda: self._tick(pair.kind)))
        return found[0], found[1]

    def _tick(self, kind: str) -> None:
        self.made += 1
        self.progress(kind, self.made, self.planned)


def _check(runs: object, confidence: object, depth: object, only: Collection[str]) -> None:
    if isinstance(runs, bool) or not isinstance(runs, int) or not LEAST_RUNS <= runs <= MOST_RUNS:
        raise ParameterError(f"runs must be a whole number from {LEAST_RUNS} to {MOST_RUNS:,}.")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence < 1.0:
        raise ParameterError("confidence must be at least 0.5 and below 1.")
    if depth not in DEPTHS:
        raise ParameterError(f"depth must be one of {', '.join(DEPTHS)}.")
    if isinstance(only, str) or not only or set(only) - set(KINDS):
        raise ParameterError(f"The kinds of newcomers are: {', '.join(KINDS)}.")
