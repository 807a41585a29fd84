"""Errors of private answers, by equations 2 and 3 of Matsumoto et al. (2026).

A statement is priced, charged and run once on a ledger; its noise is then drawn as often as there are trials, over the
same exact integers, by the code that draws it for an answer.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from tpch_queries import DELTA, FEW, QUERIES, Facts, Query, catalog, few_budget, many_budget

import hedgerow as hr
from hedgerow.execution.request import Question
from hedgerow.execution.run import compile_steps, first_pass, release
from hedgerow.release import Estimator
from hedgerow.session.corridor import bind_statement

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
    mu_squared: float = 0.0

    @property
    def lost(self) -> int:
        """Number of cells that were lost in all trials."""
        return sum(self.lost_each)

    @property
    def cells(self) -> int:
        """Number of cells in all trials."""
        return self.cells_each * len(self.errors)

    def first(self, count: int) -> "Trials":
        """The first so many trials."""
        return replace(self, errors=self.errors[:count], lost_each=self.lost_each[:count])

    @property
    def mean(self) -> float:
        """The mean relative error, in percent."""
        return statistics.fmean(self.errors)

    @property
    def deviation(self) -> float:
        """The standard error of the mean."""
        return statistics.stdev(self.errors) / math.sqrt(len(self.errors)) if len(self.errors) > 1 else math.inf


def truths(path: Path) -> dict[str, Truth]:
    """Exact answers of the plain queries."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return {query.name: truth_of(query, connection.execute(query.text).fetchall()) for query in QUERIES}


def truth_of(query: Query, rows: Sequence[Sequence[object]]) -> Truth:
    """Rows of an answer as numbers by key."""
    return {str(row[0]) if query.keyed else None: float(str(row[-1])) for row in rows if row[-1] is not None}


def relative_error(truth: Truth, answer: Mapping[str | None, float]) -> tuple[float, int]:
    """One trial's part of equation 2, in percent, and how many cells are lost. A lost cell counts as 100 %."""
    errors = [abs(answer[key] - exact) / abs(exact) * 100 if key in answer else LOST for key, exact in truth.items()]
    return statistics.fmean(errors), sum(key not in answer for key in truth)


def trials_of(truth: Truth, answers: Sequence[Mapping[str | None, float]]) -> Trials:
    """Many answers to one query."""
    errors = [relative_error(truth, answer) for answer in answers]
    return Trials(tuple(error for error, _ in errors), tuple(lost for _, lost in errors), len(truth))


@contextmanager
def asking(path: Path, table_facts: Facts, folder: Path, *, ledger: str, epsilon: float) -> Iterator[hr.Database]:
    """The database, on a ledger for a few statements of `epsilon`, or for many."""
    place = folder / f"{ledger}-{epsilon:g}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    place.write_text(catalog(table_facts, few_budget(epsilon, 3 * len(QUERIES)) if ledger == FEW else many_budget()))
    with hr.connect(path, catalog=place) as db:
        yield db


class ReadOnce:
    """A snapshot that runs each statement once and then repeats what it read."""

    def __init__(self, snapshot: Any) -> None:  # noqa: ANN401 - a backend's own
        self._snapshot = snapshot
        self._read: dict[str, Any] = {}

    def run(self, query: Any) -> Any:  # noqa: ANN401 - sealed
        """The exact table of a statement."""
        if query.sql not in self._read:
            self._read[query.sql] = self._snapshot.run(query)
        return self._read[query.sql]

    def load(self, name: str, keys: Any) -> None:  # noqa: ANN401 - an Arrow table
        """Load the selected keys; what was read for others is forgotten."""
        self._read.clear()
        self._snapshot.load(name, keys)


def ask(db: hr.Database, query: Query, truth: Truth, *, epsilon: float, trials: int) -> Trials:
    """Ask one query, with `mechanism` left alone, and draw its noise as often as there are trials."""
    session = db._session  # noqa: SLF001 - the exact integers are read once
    statement = bind_statement(session, query.text, None, {"epsilon": epsilon, "delta": DELTA, **query.options})
    private = session.price(statement.logical, statement.request, session.remaining())
    steps, (part,), answers = compile_steps(private, session.backend), private.parts, []
    with session.backend.snapshot() as snapshot:
        question = Question.of(query.text, None, statement.request)
        receipt = session._pay(question, statement.logical, private)  # noqa: SLF001
        read_once: Any = ReadOnce(snapshot)
        exact = first_pass(steps, private, receipt, read_once)
        for _ in range(trials):
            (noisy,) = release(exact, steps, private, receipt, read_once)
            columns = Estimator(noisy, part).table().to_pylist()
            names = [*(key.name for key in part.release.keys), part.release.calls[0].name]
            answers.append(truth_of(query, [[row[name] for name in names] for row in columns]))
    done = trials_of(truth, answers)
    return replace(done, mechanisms=(part.mechanism,), mu_squared=float(private.charge.cost.gaussian))
