"""How wrong private answers are: fresh, charged releases, and equations 2 and 3 of Matsumoto et al. (2026)."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from tpch_queries import DELTA, QUERIES, Facts, Query, catalog, one_off_budget, shared_budget

import hedgerow as hr

Truth = dict[str | None, float]
"""The exact numbers of a query by key; a query without keys has one, by None."""

LOST = 100.0
"""Percent of error that a cell counts for which should be in the answer and is not."""


@dataclass(frozen=True)
class Trials:
    """Every trial's mean relative error in percent, how many cells it lost, and how many there are in one."""

    errors: tuple[float, ...]
    lost_each: tuple[int, ...]
    cells_each: int
    mechanisms: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """How many cells were lost in all trials."""
        return sum(self.lost_each)

    @property
    def cells(self) -> int:
        """How many there are in all trials."""
        return self.cells_each * len(self.errors)

    def first(self, count: int) -> "Trials":
        """The first so many trials."""
        return Trials(self.errors[:count], self.lost_each[:count], self.cells_each, self.mechanisms)

    @property
    def mean(self) -> float:
        """The mean relative error, in percent."""
        return statistics.fmean(self.errors)

    @property
    def deviation(self) -> float:
        """The standard error of the mean."""
        return statistics.stdev(self.errors) / math.sqrt(len(self.errors)) if len(self.errors) > 1 else math.inf


def truths(path: Path) -> dict[str, Truth]:
    """What the plain queries say."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return {query.name: truth_of(query, connection.execute(query.text).fetchall()) for query in QUERIES}


def truth_of(query: Query, rows: Sequence[Sequence[object]]) -> Truth:
    """Rows of an answer as numbers by key."""
    return {str(row[0]) if query.keyed else None: float(str(row[-1])) for row in rows if row[-1] is not None}


def relative_error(truth: Truth, answer: Mapping[str | None, float]) -> tuple[float, int]:
    """One trial's part of equation 2, in percent, and how many cells are lost. A lost cell counts as 100 %."""
    errors = [abs(answer[key] - exact) / abs(exact) * 100 if key in answer else LOST for key, exact in truth.items()]
    return statistics.fmean(errors), sum(key not in answer for key in truth)


def trials_of(truth: Truth, answers: Sequence[Mapping[str | None, float]], mechanisms: Sequence[str] = ()) -> Trials:
    """Many answers to one query."""
    found = [relative_error(truth, answer) for answer in answers]
    return Trials(tuple(error for error, _ in found), tuple(lost for _, lost in found), len(truth), tuple(mechanisms))


@contextmanager
def asking(
    path: Path, found: Facts, folder: Path, *, epsilon: float, trials: int, shared: bool
) -> Iterator[hr.Database]:
    """The database, on a ledger made for one query (asked `trials` times), or for many with Gaussian noise."""
    place = folder / f"{'shared' if shared else 'one-off'}-{epsilon:g}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    place.write_text(catalog(found, shared_budget() if shared else one_off_budget(epsilon, trials)))
    with hr.connect(path, catalog=place) as db:
        yield db


def ask(db: hr.Database, query: Query, truth: Truth, *, epsilon: float, trials: int, mechanism: str) -> Trials:
    """Ask one query again and again; every time it is charged and drawn anew."""
    answers, used = [], set[str]()
    for _ in range(trials):
        answer = db.sql(query.text, epsilon=epsilon, delta=DELTA, mechanism=mechanism, reuse=False, **query.options)
        answers.append(truth_of(query, [tuple(row) for row in answer]))
        used |= {each.kind for each in answer.receipt.mechanisms}
    return trials_of(truth, answers, sorted(used))
