"""PipelineDP with Laplace noise on its local backend (`pip install pipeline-dp duckdb`), on rows joined beforehand."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import asking
import duckdb
import pipeline_dp as pdp  # type: ignore[import-not-found]

ALL = "all"
"""The one public partition of a query without keys."""


class Questions:
    """The queries over lists of (person, key, value)."""

    def __init__(self, job: asking.Job) -> None:
        self._job = job
        with duckdb.connect() as connection:

            def rows(text: str) -> list[tuple[Any, ...]]:
                return connection.execute(text).fetchall()

            customer, orders = (f"read_parquet('{job.table(name)}')" for name in ("customer", "orders"))
            self._customers = rows(f"SELECT custkey, '{ALL}', c_acctbal FROM {customer}")
            self._by_status = rows(f"SELECT custkey, o_orderstatus, o_totalprice FROM {orders}")
            self._by_segment = rows(
                f"SELECT custkey, c_mktsegment, o_totalprice FROM {orders} AS o JOIN {customer} AS c USING (custkey)"
            )
        self._segment = [(person, ALL, value) for person, key, value in self._by_segment if key == job.segment]

    def customers(self, epsilon: float, *, metric: Any) -> asking.Numbers:  # noqa: ANN401 - the library's own type
        """A number about customers."""
        return self._ask(epsilon, self._customers, metric, 1, self._job.acctbal)

    def deviation(self, epsilon: float) -> asking.Numbers:
        """STDDEV."""
        return {None: max(0.0, self.customers(epsilon, metric=pdp.Metrics.VARIANCE)[None]) ** 0.5}

    def join(self, epsilon: float) -> asking.Numbers:
        """JOIN."""
        return self._ask(epsilon, self._segment, pdp.Metrics.MEAN, self._job.orders_each, self._job.totalprice)

    def grouped(self, epsilon: float, *, segments: bool) -> asking.Numbers:
        """GROUPBY and GROUPBY_JOIN, with keys that PipelineDP selects."""
        rows, groups = (self._by_segment, 1) if segments else (self._by_status, self._job.statuses_each)
        return self._ask(epsilon, rows, pdp.Metrics.MEAN, self._job.orders_each, self._job.totalprice, groups)

    def _ask(
        self,
        epsilon: float,
        rows: Sequence[tuple[Any, ...]],
        metric: Any,  # noqa: ANN401 - likewise
        rows_each: int,
        bounds: tuple[float, float],
        groups: int | None = None,
    ) -> asking.Numbers:
        public = [ALL] if groups is None else None
        delta = 1e-15 if public else self._job.delta
        accountant = pdp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
        engine = pdp.DPEngine(accountant, pdp.LocalBackend())
        values = {} if metric == pdp.Metrics.COUNT else {"min_value": bounds[0], "max_value": bounds[1]}
        params = pdp.AggregateParams(
            noise_kind=pdp.NoiseKind.LAPLACE,
            metrics=[metric],
            max_partitions_contributed=groups or 1,
            max_contributions_per_partition=rows_each,
            **values,
        )
        extractors = pdp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        )
        answer = engine.aggregate(rows, params, extractors, public_partitions=public)
        accountant.compute_budgets()
        return {None if public else key: next(iter(metrics)) for key, metrics in answer}


def prepare(job: asking.Job) -> Mapping[str, asking.Ask]:
    questions = Questions(job)
    return {
        "COUNT": partial(questions.customers, metric=pdp.Metrics.COUNT),
        "SUM": partial(questions.customers, metric=pdp.Metrics.SUM),
        "AVG": partial(questions.customers, metric=pdp.Metrics.MEAN),
        "VAR": partial(questions.customers, metric=pdp.Metrics.VARIANCE),
        "STDDEV": questions.deviation,
        "JOIN": questions.join,
        "GROUPBY": partial(questions.grouped, segments=False),
        "GROUPBY_JOIN": partial(questions.grouped, segments=True),
    }


if __name__ == "__main__":
    asking.main("PipelineDP", version("pipeline-dp"), prepare)
