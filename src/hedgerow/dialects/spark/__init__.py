"""How Spark SQL writes things down."""

from hedgerow.dialects.spark.dialect import SPARK, SparkDialect

__all__ = ["SPARK", "SparkDialect"]
