"""The time zone of a session on a server changes nothing."""

import datetime as dt

import pytest

from hedgerow.compile.scalars import scalar
from hedgerow.compiled import Query, arrow_type
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type

from ...conformance.engines import mariadb, postgres

BERLIN = dt.datetime(2024, 7, 1, 14, 30, 0, 250_000)  # noqa: DTZ001 - there


def shown(backend):
    """The one point in time of the table, at UTC and in Berlin."""
    column = backend.schema().tables["visits"].columns["seen"]
    assert column.instant
    stored = Column("seen", Type.TIMESTAMP, native=column.native)
    zones = [tuple(Literal(name, Type.TEXT) for name in ("UTC", zone)) for zone in ("UTC", "Europe/Berlin")]
    exprs = [Call("in_zone", (stored, *pair), Type.TIMESTAMP) for pair in zones]
    texts = ", ".join(f"{scalar(expr, backend.dialect)} AS c{at}" for at, expr in enumerate(exprs))
    query = Query(f"SELECT {texts} FROM visits", ("c0", "c1"), (), tuple(map(arrow_type, exprs)))
    return list(backend.public(query).to_pylist()[0].values())


def test_postgresql():
    if postgres.why_not() is not None:
        pytest.skip(f"NOT TESTED: {postgres.why_not()}")
    import psycopg  # noqa: PLC0415 - it may be missing

    from hedgerow.backends.postgres import Postgres  # noqa: PLC0415 - likewise

    with postgres.running() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'Asia/Kolkata'")
        connection.execute("CREATE TABLE visits AS SELECT TIMESTAMPTZ '2024-07-01 12:30:00.25+00' AS seen")
        assert shown(Postgres(connection, handed_in=True)) == [BERLIN - dt.timedelta(hours=2), BERLIN]


def test_mariadb():
    if mariadb.why_not() is not None:
        pytest.skip(f"NOT TESTED: {mariadb.why_not()}")
    import MySQLdb  # noqa: PLC0415 - it may be missing

    from hedgerow.backends.ibis import Ibis  # noqa: PLC0415 - likewise

    with mariadb.running() as socket:
        owner = MySQLdb.connect(unix_socket=socket, user="root", charset="utf8mb4", autocommit=True)
        statements = (
            "CREATE DATABASE test",
            "USE test",
            "SET time_zone = '+00:00'",
            "CREATE TABLE visits (seen TIMESTAMP(6) NULL)",
            "INSERT INTO visits VALUES ('2024-07-01 12:30:00.25')",
        )
        for statement in (*mariadb.UTC, *statements):
            owner.cursor().execute(statement)
        connection = mariadb.connected(socket, autocommit=True, init_command="SET time_zone = '-05:00'")
        assert shown(Ibis(mariadb.ibis_over(connection))) == [BERLIN - dt.timedelta(hours=2), BERLIN]
        connection.close()
        owner.close()
