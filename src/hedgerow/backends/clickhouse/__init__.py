"""ClickHouse: in this process (chdb), or a server (clickhouse-connect)."""

from hedgerow.backends.clickhouse.backend import ClickHouse
from hedgerow.backends.clickhouse.connect import open_chdb, open_clickhouse, over_chdb, over_client

__all__ = ["ClickHouse", "open_chdb", "open_clickhouse", "over_chdb", "over_client"]
