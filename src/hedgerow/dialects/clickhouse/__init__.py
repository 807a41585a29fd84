"""ClickHouse's spelling of everything that `compile` puts together."""

from hedgerow.dialects.clickhouse.dialect import CLICKHOUSE, ClickHouseDialect

__all__ = ["CLICKHOUSE", "ClickHouseDialect"]
