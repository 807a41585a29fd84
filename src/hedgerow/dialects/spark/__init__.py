"""Spark SQL: one file of the allow-list for each kind of function."""

from hedgerow.dialects.spark.dialect import COMPUTED, KEPT, SPARK, VIEW, SparkDialect

__all__ = ["COMPUTED", "KEPT", "SPARK", "VIEW", "SparkDialect"]
