"""The audit of one statement: its pairs of neighbours, the runs on them, and the report."""

import os
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

from hedgerow.audit.blueprint import Blueprint, columns_read, draw_up, pools, tables_read
from hedgerow.audit.events import blur, furthest
from hedgerow.audit.pairs import KINDS, ODD, CrowdLimits, Material, Pair, pairs
from hedgerow.audit.people import Probe, Search, extremes, others, sheets, survey_texts
from hedgerow.audit.record import Record
from hedgerow.audit.repetition import AuditQuestion, Repeated, WatchedPurchase, asking
from hedgerow.audit.report import AuditReport, claim_of, judge
from hedgerow.backends import connect_backend
from hedgerow.catalog import Catalog, load_catalog
from hedgerow.compiled import Program
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.execution.run import compile_steps

MOST_GROUPS = 24
AGAIN_AS_MANY = 3
"""Factor by which the person in too many groups exceeds the limit."""


@dataclass(frozen=True)
class AuditPlan:
    """The pairs to audit, and the kinds of pairs whose newcomer changes no measured number."""

    pairs: tuple[Pair, ...]
    left_out: tuple[str, ...]


def plan(blueprint: Blueprint, question: AuditQuestion, bought: WatchedPurchase, kinds: Collection[str]) -> AuditPlan:
    """Generate people who match the statement, and combine them into pairs."""
    steps = _exact_steps(blueprint, question)
    limits = CrowdLimits.of(bought.private.parts)
    used = tuple(sorted(columns_read(bought.logical)))
    drawn = sheets(blueprint, tables_read(bought.logical), used)
    cells = pools(blueprint, bought.logical)
    free = tuple((sheet.name, name) for sheet in drawn for name in sheet.free)
    cells = {column: cells[column] for column in free}
    used = tuple(column for column in used if column in cells)
    with closing(blueprint.build()) as connection:
        for name, table in (loaded for step in steps for loaded in step.declared):
            connection.register(name, table)
        texts = survey_texts([text for step in steps for text in step.texts()])
        probe = Probe(blueprint, drawn, texts, connection)
        groups = 1  # the number of different groups to search for people in
        if any(part.release.keys for part in bought.private.parts):
            groups = min(MOST_GROUPS, max(4, AGAIN_AS_MANY * limits.groups)) if limits.several else 2
        people = Search(probe, cells, used).people(groups)
        if not people:
            raise ConditionNotMet(
                "The auditor could not generate a person who matches the query's filters.",
                condition="a person who matches the query's filters",
                hint="Audit it with simpler conditions in WHERE.",
            )
        read = {column: cells[column] for column in used}
        ends, more = extremes(probe, read, people[0]), others(probe, read, people[0])
        pairs_made = pairs(Material(drawn, tuple(people), ends, more, cells, used, limits), kinds)
        revealing = [pair for pair in pairs_made if pair.kind == ODD or _can_reveal(probe, pair)]
    if not revealing:
        raise ConditionNotMet(
            f"No newcomer of the chosen kinds changes a number of this statement: {', '.join(sorted(kinds))}.",
            condition="a newcomer who changes a number",
            hint="Let more kinds be tried: leave out --only.",
        )
    return AuditPlan(tuple(revealing), tuple(pair.kind for pair in pairs_made if pair not in revealing))


def _exact_steps(blueprint: Blueprint, question: AuditQuestion) -> list[Program]:
    """Compile the statement for groups of any size."""
    defaults = replace(blueprint.catalog.defaults, min_frequency=1)
    anybody = replace(question, options={**question.options, "min_frequency": 1})
    with asking(blueprint, replace(blueprint.catalog, defaults=defaults), anybody) as asker:
        (bought,) = asker.ask()
        return compile_steps(bought.private, asker.backend)


def _can_reveal(probe: Probe, pair: Pair) -> bool:
    """Return True if the newcomer changes any exact number."""
    without, joined = pair.sides()
    return probe.of(without) != probe.of(joined)


ProgressReport = Callable[[str, int, int], None]
"""Called with the kind of the current pair, the number of finished runs, and the number of all runs."""

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
    """Search for a leak: run a statement on pairs of neighbouring databases, and bound its epsilon from below.

    The databases are generated, with the owner's schema. Only the schema and public tables of `source` are read, and no
    private row. Nothing is spent: the ledger is in memory.

    Args:
        query: A SELECT statement.
        source: The owner's database, as for `connect`; one with empty tables is enough.
        catalog: The owner's declarations: a YAML file or a `Catalog`.
        runs: Number of runs on each database of each pair. Half of the runs choose the event that distinguishes the two
            best, the other half judge it.
        confidence: Probability that no bound of a correct statement exceeds its claim, all pairs together.
        depth: "engine" runs everything each time; "release" reads the exact integers once and repeats only key
            selection and noise, which is many times faster.
        only: The kinds of newcomers to try; by default all of `KINDS`.
        progress: Called after every run.
        dialect: The SQL dialect of the query.
        epsilon: The most that the statement may cost, as for `Database.sql`; so are the parameters that follow.
        delta: Likewise.
        mechanism: Likewise.
        min_frequency: Likewise.
        max_rows: Likewise.
        max_groups: Likewise.
        bounds: Likewise.

    Privacy: it protects nothing. It searches for what the proofs exclude.
    """
    _check(runs, confidence, depth, only)
    options: dict[str, object] = {
        "epsilon": epsilon,
        "delta": delta,
        "mechanism": mechanism,
        "min_frequency": min_frequency,
        "max_rows": max_rows,
        "max_groups": max_groups,
        "bounds": bounds,
    }
    given = {name: value for name, value in options.items() if value is not None}
    question = AuditQuestion(query, {**given, "reuse": False}, dialect)
    declared = load_catalog(catalog)
    backend = connect_backend(source, declared=declared.tables)
    try:
        blueprint = draw_up(declared, backend)
    finally:
        backend.close()
    return _Audit(blueprint, question, runs, confidence, depth, progress).report(only)


@dataclass
class _Audit:
    """One audit in progress."""

    blueprint: Blueprint
    question: AuditQuestion
    runs: int
    confidence: float
    depth: str
    progress: ProgressReport
    done: int = 0
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
        """Return the purchase of the statement on an empty database: price and plan do not depend on rows."""
        with asking(self.blueprint, self.blueprint.catalog, self.question) as asker:
            bought = asker.ask()
        if not bought:
            raise ConditionNotMet(
                "The query reads only public tables, which protect nobody.", condition="a private table in the query"
            )
        return bought[0]

    def _records(self, pair: Pair, bought: WatchedPurchase) -> tuple[Record, Record]:
        """Return the runs without the newcomer, and with."""
        repeated, records = None, []
        for crowd in pair.sides():
            with asking(self.blueprint, self.blueprint.catalog, self.question, crowd) as asker:
                if self.depth == "release" and repeated is None:
                    repeated = Repeated.of(bought, asker.backend)
                records.append(asker.record(self.runs, repeated, lambda: self._tick(pair.kind)))
        return records[0], records[1]

    def _tick(self, kind: str) -> None:
        self.done += 1
        self.progress(kind, self.done, self.planned)


def _check(runs: object, confidence: object, depth: object, only: Collection[str]) -> None:
    if isinstance(runs, bool) or not isinstance(runs, int) or not LEAST_RUNS <= runs <= MOST_RUNS:
        raise ParameterError(f"runs must be a whole number from {LEAST_RUNS} to {MOST_RUNS:,}.")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence < 1.0:
        raise ParameterError("confidence must be at least 0.5 and below 1.")
    if depth not in DEPTHS:
        raise ParameterError(f"depth must be one of {', '.join(DEPTHS)}.")
    if isinstance(only, str) or not only or set(only) - set(KINDS):
        raise ParameterError(f"The kinds of newcomers are: {', '.join(KINDS)}.")
