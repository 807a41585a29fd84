"""MySQL 8."""

from hedgerow.dialects.mariadb.mysql_family import MySQLFamily


class MySQLDialect(MySQLFamily):
    """MySQL 8: only what it shares with MariaDB."""

    experimental = True


MYSQL = MySQLDialect()
