"""Spark SQL: one file of the allow-list for each kind of function."""

from hedgerow.dialects.spark.dialect import KEPT, SPARK, VIEW, SparkDialect

__all__ = ["KEPT", "SPARK", "VIEW", "SparkDialect"]
