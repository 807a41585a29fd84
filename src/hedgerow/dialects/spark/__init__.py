"""Spark SQL: one file of the allow-list for each kind of function."""

from hedgerow.dialects.spark.dialect import SCRIPT, SPARK, SparkDialect, is_script

__all__ = ["SCRIPT", "SPARK", "SparkDialect", "is_script"]
