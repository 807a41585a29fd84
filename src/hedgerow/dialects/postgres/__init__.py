"""PostgreSQL: one file of the allow-list for each kind of function."""

from hedgerow.dialects.postgres.dialect import POSTGRES, PostgresDialect

__all__ = ["POSTGRES", "PostgresDialect"]
