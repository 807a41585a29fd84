"""MariaDB, tested on a server."""

from hedgerow.dialects.mariadb.dialect import MARIADB, MariaDBDialect

__all__ = ["MARIADB", "MariaDBDialect"]
