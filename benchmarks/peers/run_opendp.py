"""OpenDP's Polars context with Laplace noise (`pip install "opendp[polars]"`)."""

import warnings
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import asking
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
warnings.simplefilter("ignore", FutureWarning)
Margin = dp.polars.Margin


class Questions:
    """The queries, each on a compositor of its own that epsilon is spent in whole."""

    def __init__(self, job: asking.Job) -> None:
        self._job = job
        self._customer = pl.scan_parquet(job.table("customer"))
        self._orders = pl.scan_parquet(job.table("orders"))
        self._joined = self._orders.join(self._customer, on="custkey")
        self._lineitem = pl.scan_parquet(job.table("lineitem"))
        self._price = pl.col("o_totalprice").fill_null(0.0).fill_nan(0.0)

    def count(self, epsilon: float) -> asking.Numbers:
        """COUNT."""
        return _one(self._context(self._customer, epsilon, 1).query().select(dp.len()))

    def distinct(self, epsilon: float) -> asking.Numbers:
        """COUNT_DISTINCT."""
        query = self._context(self._customer, epsilon, 1).query()
        return _one(query.select(_private(pl.col("c_nationkey")).n_unique()))

    def total(self, epsilon: float) -> asking.Numbers:
        """SUM."""
        balance = pl.col("c_acctbal").fill_null(0.0).fill_nan(0.0)
        return _one(self._context(self._customer, epsilon, 1).query().select(_private(balance).sum(self._job.acctbal)))

    def mean(self, epsilon: float) -> asking.Numbers:
        """AVG."""
        balance = pl.col("c_acctbal").fill_null(0.0).fill_nan(0.0)
        return _one(self._context(self._customer, epsilon, 1).query().select(_private(balance).mean(self._job.acctbal)))

    def variance(self, epsilon: float) -> asking.Numbers:
        """VAR, from three sums: there is none of its own."""
        balance, (low, high) = pl.col("c_acctbal").fill_null(0.0).fill_nan(0.0), self._job.acctbal
        squares = (balance.clip(low, high) * balance.clip(low, high)).fill_null(0.0).fill_nan(0.0)
        row = _row(
            self._context(self._customer, epsilon, 1)
            .query()
            .select(
                dp.len(),
                _private(balance).sum((low, high)),
                _private(squares.alias("squares")).sum((0.0, max(low * low, high * high))),
            )
        )
        return {None: asking.variance(*row)}

    def deviation(self, epsilon: float) -> asking.Numbers:
        """STDDEV."""
        return {None: self.variance(epsilon)[None] ** 0.5}

    def covariance(self, epsilon: float) -> asking.Numbers:
        """COVAR, from four sums."""
        (low, high), (least, most) = self._job.extendedprice, self._job.discount
        price = pl.col("l_extendedprice").fill_null(0.0).fill_nan(0.0)
        discount = pl.col("l_discount").fill_null(0.0).fill_nan(0.0)
        products = (price.clip(low, high) * discount.clip(least, most)).fill_null(0.0).fill_nan(0.0)
        row = _row(
            self._context(self._lineitem, epsilon, self._job.lines_each)
            .query()
            .select(
                dp.len(),
                _private(price).sum((low, high)),
                _private(discount).sum((least, most)),
                _private(products.alias("products")).sum((0.0, high * most)),
            )
        )
        return {None: asking.covariance(*row)}

    def join(self, epsilon: float) -> asking.Numbers:
        """JOIN, on rows joined and filtered beforehand."""
        rows = self._joined.filter(pl.col("c_mktsegment") == self._job.segment)
        query = self._context(rows, epsilon, self._job.orders_each).query()
        return _one(query.select(_private(self._price).mean(self._job.totalprice)))

    def grouped(self, epsilon: float, *, key: str, groups: int) -> asking.Numbers:
        """GROUPBY and GROUPBY_JOIN, the latter on rows joined beforehand."""
        rows = self._orders if key == "o_orderstatus" else self._joined
        margin = Margin(by=[key], max_groups=groups, max_length=self._job.sizes["orders"])
        bounds = [
            dp.polars.Bound(per_group=self._job.orders_each),
            dp.polars.Bound(by=[key], num_groups=groups, per_group=self._job.orders_each),
        ]
        context = self._context(rows, epsilon, bounds, margin, delta=self._job.delta)
        query = (
            context.query().group_by(key).agg(dp.len(), _private(self._price).sum(self._job.totalprice).alias("total"))
        )
        released = query.release().collect()
        return {row[key]: row["total"] / row["len"] for row in released.to_dicts() if row["len"]}

    def _context(self, rows: pl.LazyFrame, epsilon: float, rows_each: Any, *margins: Any, delta: float = 0.0) -> Any:  # noqa: ANN401 - OpenDP is untyped
        whole = Margin(max_length=self._job.sizes["lineitem"])
        return dp.Context.compositor(
            data=rows,
            privacy_unit=dp.unit_of(contributions=rows_each),
            privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
            split_evenly_over=1,
            margins=[whole, *margins],
        )


def _private(column: pl.Expr) -> Any:  # noqa: ANN401 - likewise
    return column.dp  # type: ignore[attr-defined]  # OpenDP adds it


def _row(query: Any) -> tuple[float, ...]:  # noqa: ANN401 - likewise
    return tuple(float(value) for value in query.release().collect().row(0))


def _one(query: Any) -> asking.Numbers:  # noqa: ANN401 - likewise
    return {None: _row(query)[0]}


def prepare(job: asking.Job) -> Mapping[str, asking.Ask]:
    questions = Questions(job)
    return {
        "COUNT": questions.count,
        "COUNT_DISTINCT": questions.distinct,
        "SUM": questions.total,
        "AVG": questions.mean,
        "VAR": questions.variance,
        "STDDEV": questions.deviation,
        "COVAR": questions.covariance,
        "JOIN": questions.join,
        "GROUPBY": partial(questions.grouped, key="o_orderstatus", groups=job.statuses_each),
        "GROUPBY_JOIN": partial(questions.grouped, key="c_mktsegment", groups=1),
    }


if __name__ == "__main__":
    asking.main("OpenDP", version("opendp"), prepare)
