"""ClickHouse: one file of the allow-list for each kind of function."""

from hedgerow.dialects.clickhouse.dialect import CLICKHOUSE, ClickHouseDialect

__all__ = ["CLICKHOUSE", "ClickHouseDialect"]
