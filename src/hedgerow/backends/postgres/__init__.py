"""PostgreSQL: a server by its URL, or a connection handed in."""

from hedgerow.backends.postgres.backend import Postgres
from hedgerow.backends.postgres.connect import open_postgres

__all__ = ["Postgres", "open_postgres"]
