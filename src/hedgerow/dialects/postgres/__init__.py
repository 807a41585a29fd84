"""PostgreSQL: the allow-list in one file for each kind of function."""

from hedgerow.dialects.postgres.dialect import POSTGRES, PostgresDialect

__all__ = ["POSTGRES", "PostgresDialect"]
