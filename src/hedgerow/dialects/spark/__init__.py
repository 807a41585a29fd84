"""How Spark SQL writes things down."""

from hedgerow.dialects.spark.dialect import KEPT, SPARK, VIEW, SparkDialect

__all__ = ["KEPT", "SPARK", "VIEW", "SparkDialect"]
