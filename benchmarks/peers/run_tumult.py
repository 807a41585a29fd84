"""Tumult Analytics, pure differential privacy, on a local Spark (`pip install tmlt.analytics`; needs Java)."""

import os
import sys
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import asking

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)

from pyspark.sql import SparkSession
from tmlt.analytics import (  # type: ignore[import-not-found]
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)


class Questions:
    """The queries, on one session with more budget than they spend."""

    def __init__(self, job: asking.Job) -> None:
        settings: dict[str, Any] = {
            "spark.sql.shuffle.partitions": "4",
            "spark.driver.memory": "6g",
            "spark.ui.enabled": "false",
        }
        spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        self._job, self._spark = job, spark
        self._pure = self._session(PureDPBudget(float("inf")))
        self._approximate = self._session(ApproxDPBudget(float("inf"), 1))

    def _session(self, budget: Any) -> Any:  # noqa: ANN401 - the library's own type
        builder = Session.Builder().with_privacy_budget(budget).with_id_space("customers")
        for name in ("customer", "orders"):
            rows = self._spark.read.parquet(self._job.table(name))
            builder = builder.with_private_dataframe(name, rows, protected_change=AddRowsWithID("custkey", "customers"))
        return builder.build()

    def one(self, epsilon: float, *, what: str, bounds: tuple[float, float] | None = None) -> asking.Numbers:
        """A number about customers, who have one row each."""
        query = QueryBuilder("customer").enforce(MaxRowsPerID(1))
        if what == "distinct":
            return self._number(query.select(["custkey", "c_nationkey"]).count_distinct(["c_nationkey"]), epsilon)
        asked = query.count() if bounds is None else getattr(query, what)("c_acctbal", *bounds)
        return self._number(asked, epsilon)

    def join(self, epsilon: float) -> asking.Numbers:
        """JOIN, with the join made by Tumult."""
        query = self._joined().filter(f"c_mktsegment = '{self._job.segment}'")
        bounded = query.enforce(MaxRowsPerID(self._job.orders_each))
        return self._number(bounded.average("o_totalprice", *self._job.totalprice), epsilon)

    def grouped(self, epsilon: float, *, key: str, groups: int) -> asking.Numbers:
        """GROUPBY and GROUPBY_JOIN: first the keys, with the part of epsilon that ours get, then the averages."""
        query = QueryBuilder("orders") if key == "o_orderstatus" else self._joined()
        limits = [MaxGroupsPerID(key, groups), MaxRowsPerGroupPerID(key, 1)]
        for_keys = ApproxDPBudget(epsilon * self._job.keys_share, self._job.delta)
        selected = self._approximate.evaluate(
            query.enforce(limits[0]).enforce(limits[1]).get_groups([key]), for_keys
        ).collect()
        keys = self._spark.createDataFrame([(row[key],) for row in selected], [key])
        bounded = query.enforce(MaxRowsPerID(self._job.orders_each))
        asked = bounded.groupby(KeySet.from_dataframe(keys)).average("o_totalprice", *self._job.totalprice)
        for_means = ApproxDPBudget(epsilon * (1 - self._job.keys_share), 0)
        rows = self._approximate.evaluate(asked, for_means).collect()
        return {row[key]: row["o_totalprice_average"] for row in rows}

    def _joined(self) -> Any:  # noqa: ANN401 - likewise
        return QueryBuilder("orders").join_private("customer", join_columns=["custkey"])

    def _number(self, query: Any, epsilon: float) -> asking.Numbers:  # noqa: ANN401 - likewise
        return {None: float(self._pure.evaluate(query, PureDPBudget(epsilon)).collect()[0][0])}


def prepare(job: asking.Job) -> Mapping[str, asking.Ask]:
    questions = Questions(job)
    balance = job.acctbal
    return {
        "COUNT": partial(questions.one, what="count"),
        "COUNT_DISTINCT": partial(questions.one, what="distinct"),
        "SUM": partial(questions.one, what="sum", bounds=balance),
        "AVG": partial(questions.one, what="average", bounds=balance),
        "VAR": partial(questions.one, what="variance", bounds=balance),
        "STDDEV": partial(questions.one, what="stdev", bounds=balance),
        "JOIN": questions.join,
        "GROUPBY": partial(questions.grouped, key="o_orderstatus", groups=job.statuses_each),
        "GROUPBY_JOIN": partial(questions.grouped, key="c_mktsegment", groups=1),
    }


if __name__ == "__main__":
    asking.main("Tumult", version("tmlt.analytics"), prepare)
