"""Spark SQL: a folder of Parquet files, a session that is handed in, or a server of Spark Connect."""

from hedgerow.backends.spark.backend import Spark
from hedgerow.backends.spark.connect import open_spark
from hedgerow.backends.spark.driver import is_session

__all__ = ["Spark", "is_session", "open_spark"]
