"""MySQL 8."""

from hedgerow.dialects.mariadb.mysql_family import MySQLFamily


class MySQLDialect(MySQLFamily):
    """MySQL 8: what it shares with MariaDB, and nothing that was tried on MariaDB alone."""

    experimental = True


MYSQL = MySQLDialect()
