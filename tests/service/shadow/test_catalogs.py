"""Catalogs look the same through router and shadow as in a plain PostgreSQL with the same tables.

The questions are those of real clients: each client runs against the plain server, whose log says what it asked.
"""

import asyncio
import re
import shutil
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import adbc_driver_postgresql.dbapi as adbc
import asyncpg
import ibis
import pandas as pd
import psycopg
import pyodbc
import pytest
import sqlalchemy
from psycopg.types import TypeInfo
from tests.service.shadow.conftest import ALICE, BOB
from tests.service.tool_environments import environment

from hedgerow.errors import BackendError
from hedgerow.service.shadow.cluster import SETTINGS, OwnServer
from hedgerow.service.shadow.relay import ShadowError, ShadowSession
from hedgerow.service.shadow.routing import Route
from hedgerow.service.shadow.tables import declared_tables, own_functions

BETWEEN = "\x01"
"""Begins every entry of the plain server's log."""

NAMED = """
SELECT oid, 'relation ' || oid::regclass FROM pg_class WHERE oid >= 16384
UNION ALL SELECT oid, 'type ' || oid::regtype FROM pg_type WHERE oid >= 16384
UNION ALL SELECT oid, 'constraint ' || conrelid::regclass || conname FROM pg_constraint WHERE oid >= 16384
UNION ALL SELECT oid, 'namespace ' || nspname FROM pg_namespace WHERE oid >= 16384
UNION ALL SELECT oid, 'database' FROM pg_database WHERE datname = current_database()
UNION ALL SELECT oid, 'role ' || rolname FROM pg_roles WHERE rolname = current_user
"""
"""Numbers of objects that differ between two servers, and names that do not."""

RENAMED = re.compile(
    rb"(?:relation |type )?(?:pg_toast.pg_toast_relation )?_?(pg_database|pg_any_database|any_pg_\w+)(?:\[\])?$"
)
"""The list of databases is a view in the shadow, and some functions are replaced; rows that name them are left out."""


@pytest.fixture(scope="module")
def port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def plain(hospital, run, port):
    """A plain PostgreSQL with the hospital's tables, which logs what it is asked."""
    logged = {"log_statement": "all", "log_min_messages": "log", "log_line_prefix": BETWEEN}
    server = OwnServer(None, {**SETTINGS, **logged, "listen_addresses": "127.0.0.1", "port": str(port)})
    run(_fill(server, hospital, port))
    yield server
    server.stop()


async def _fill(server, hospital, port):
    path = server.address.path.replace("5432", str(port))
    server.address = type(server.address)(path=path)
    while True:
        try:
            session = await ShadowSession.open(server.address, user="hedgerow", database="postgres")
            break
        except BackendError:  # it starts
            await asyncio.sleep(0.05)
    await session.query("CREATE ROLE alice LOGIN")
    await session.query("CREATE DATABASE hospital")
    await session.close()
    session = await ShadowSession.open(server.address, user="hedgerow", database="hospital")
    await session.query(own_functions())
    await session.query(declared_tables(hospital))
    await session.query("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
    await session.close()


@pytest.fixture(scope="module")
def names(plain, shadow, run):
    """Names of the objects of both servers by their numbers."""

    async def ask():
        straight = await ShadowSession.open(plain.address, user="alice", database="hospital")
        shadowed = await _open(shadow)
        read = [
            {int(oid): name.decode() for oid, name in await session.query(NAMED)} for session in (straight, shadowed)
        ]
        await straight.close()
        await shadowed.close()
        for numbered in read:  # the name of a TOAST table has a number in it: that of its table
            for oid, name in numbered.items():
                numbered[oid] = re.sub(r"(?<=pg_toast_)\d+", lambda m, by=numbered: by.get(int(m[0]), m[0]), name)
        return read

    return run(ask())


async def _open(shadow):
    return await shadow.session("hospital", ALICE)


@pytest.fixture
def same(plain, shadow, router, names, run):
    """Runs a client against the plain server; every question it asked gets the same rows through router and shadow."""

    def check(client, fewest):
        position = plain.log.stat().st_size
        client()
        statements = captured(plain.log.read_bytes()[position:].decode())
        assert len(statements) >= fewest, statements
        run(_compare(plain, shadow, router, names, statements))

    return check


def captured(log):
    """The statements of a log, with their parameters put in."""
    statements = []
    for entry in log.replace("\n\t", "\n").split(BETWEEN):
        kind, _, text = entry.rstrip("\n").partition(":  ")
        if kind == "LOG" and text.startswith("statement: "):
            statements.append(text.removeprefix("statement: "))
        elif kind == "LOG" and text.startswith("execute "):
            statements.append(text.partition(": ")[2])
        elif kind == "DETAIL" and text.startswith("Parameters: "):
            values = dict(re.findall(r"(\$\d+) = ('(?:[^']|'')*'|NULL)", text))
            parts = re.split(r"(\$\d+)", statements[-1])
            statements[-1] = "".join(values.get(part, part) for part in parts)
    return statements


async def _compare(plain, shadow, router, names, statements):
    straight = await ShadowSession.open(plain.address, user="alice", database="hospital")
    shadowed = await _open(shadow)
    numbers = {name: oid for oid, name in names[1].items()}
    translate = {str(oid): str(numbers[name]) for oid, name in names[0].items() if name in numbers}
    try:
        for statement in statements:
            for decision in router.decide_all(statement):
                assert decision.route in {Route.SHADOW, Route.CURSOR, Route.PREPARE, Route.EMPTY}, (
                    decision,
                    decision.error,
                )
            expected = await _rows(straight, statement, names[0])
            translated = re.sub(r"\b\d{5,}\b", lambda match: translate.get(match[0], match[0]), statement)
            assert await _rows(shadowed, translated, names[1]) == expected, statement
    finally:
        await straight.close()
        await shadowed.close()


async def _rows(session, statement, names):
    """Rows of a statement as a bag, with names in place of the numbers of objects; an error as its SQLSTATE."""
    try:
        rows = await session.query(statement)
    except ShadowError as error:
        return error.fields["C"]
    known = {str(oid).encode(): name for oid, name in names.items()}
    named = [
        tuple(
            re.sub(rb"\b\d{5,}\b", lambda m: known.get(m[0], m[0].decode()).encode(), value or b"NULL") for value in row
        )
        for row in rows
    ]
    return Counter(row for row in named if not any(RENAMED.match(value) for value in row))


PSQL = r"""\d|\dt|\d patients|\d visits|\d+ visits|\dn|\dn+|\df|\dv|\di|\ds|\dT|\dp|\dp patients|\dd|\da|\do|\dC|\dF|
\dx|\dy|\dP|\ddp|\sf lower(text)|\dg hedgerow"""
"""Commands of psql that ask catalogs."""


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed (Debian: postgresql-client)")
@pytest.mark.parametrize("command", PSQL.replace("\n", "").split("|"))
def test_psql(same, port, command):
    def client():
        url = f"postgresql://alice@127.0.0.1:{port}/hospital"
        subprocess.run([shutil.which("psql"), "-X", url, "-c", command], check=False, capture_output=True, timeout=60)  # noqa: S603 - our own words

    same(client, 1)


INSPECTED = (
    *("columns", "pk_constraint", "foreign_keys", "indexes"),
    *("unique_constraints", "check_constraints", "table_comment"),
)


def test_sqlalchemy_and_pandas(same, port):
    def client():
        engine = sqlalchemy.create_engine(f"postgresql+psycopg://alice@127.0.0.1:{port}/hospital")
        inspector = sqlalchemy.inspect(engine)
        for schema in inspector.get_schema_names():
            inspector.get_table_names(schema)
            inspector.get_view_names(schema)
            inspector.get_materialized_view_names(schema)
        for table in inspector.get_table_names():
            for what in INSPECTED:
                getattr(inspector, f"get_{what}")(table)
        inspector.get_enums()
        sqlalchemy.MetaData().reflect(engine)
        with engine.connect() as connection:
            pd.io.sql.SQLDatabase(connection).has_table("patients")
        engine.dispose()

    same(client, 20)


def test_psycopg_and_asyncpg(same, port):
    async def ask():
        connection = await asyncpg.connect(host="127.0.0.1", port=port, user="alice", database="hospital")
        await connection.fetch("SELECT NULL::information_schema.cardinal_number, NULL::int4range[]")
        await connection.reset()
        await connection.close()

    def client():
        with psycopg.connect(host="127.0.0.1", port=port, user="alice", dbname="hospital") as connection:
            for name in ("patients", "jsonb", "int4range"):
                TypeInfo.fetch(connection, name)
        with asyncio.Runner() as runner:
            runner.run(ask())

    same(client, 6)


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:Warning")
def test_adbc_and_ibis(same, port):
    def client():
        with adbc.connect(f"postgresql://alice@127.0.0.1:{port}/hospital") as connection:
            connection.adbc_get_objects(depth="all", catalog_filter="hospital").read_all()
            connection.adbc_get_table_schema("patients")
            connection.adbc_get_table_types()
        server = ibis.postgres.connect(host="127.0.0.1", port=port, user="alice", database="hospital")
        server.list_tables()
        server.list_databases()
        server.table("visits").schema()
        server.disconnect()

    same(client, 8)


@pytest.mark.skipif(
    "PostgreSQL Unicode" not in pyodbc.drivers(),
    reason="the ODBC driver is not installed (Debian: odbc-postgresql, unixodbc)",
)
def test_odbc(same, port):
    def client():
        where = f"Driver=PostgreSQL Unicode;Server=127.0.0.1;Port={port};Database=hospital;Uid=alice;Pwd=x"
        with pyodbc.connect(where) as connection:
            cursor = connection.cursor()
            for call in (cursor.tables, cursor.procedures):
                call().fetchall()
            cursor.tables(schema="public", tableType="TABLE").fetchall()
            for call in (cursor.columns, cursor.primaryKeys, cursor.foreignKeys, cursor.statistics):
                call(table="visits").fetchall()
            cursor.rowIdColumns(table="patients").fetchall()
            cursor.getTypeInfo().fetchall()

    same(client, 8)


JDBC = """
import sys, jpype
jpype.startJVM(classpath=["/usr/share/java/postgresql.jar"])
url = f"jdbc:postgresql://127.0.0.1:{sys.argv[1]}/hospital?user=alice&password=x"
connection = jpype.JClass("java.sql.DriverManager").getConnection(url)
data = connection.getMetaData()
def read(rows):
    while rows.next():
        pass
read(data.getCatalogs())
read(data.getSchemas())
read(data.getTableTypes())
read(data.getTypeInfo())
read(data.getTables(None, "public", "%", ["TABLE", "VIEW"]))
read(data.getColumns(None, "public", "visits", "%"))
read(data.getPrimaryKeys(None, "public", "visits"))
read(data.getImportedKeys(None, "public", "visits"))
read(data.getExportedKeys(None, "public", "patients"))
read(data.getIndexInfo(None, "public", "visits", False, True))
read(data.getTablePrivileges(None, "public", "visits"))
read(data.getColumnPrivileges(None, "public", "visits", "%"))
read(data.getBestRowIdentifier(None, "public", "visits", 0, True))
read(data.getFunctions(None, "public", "%"))
read(data.getProcedures(None, "public", "%"))
read(data.getUDTs(None, None, "%", None))
connection.setReadOnly(True)
connection.isValid(5)
connection.close()
"""


@pytest.mark.skipif(
    shutil.which("java") is None or not Path("/usr/share/java/postgresql.jar").exists(),
    reason="the JDBC driver is not installed (Debian: libpostgresql-jdbc-java, default-jre-headless)",
)
def test_jdbc(same, port):
    same(lambda: subprocess.run([sys.executable, "-c", JDBC, str(port)], check=True, timeout=100), 15)  # noqa: S603 - our own text


OTHERS = [
    "SELECT table_schema, table_name, table_type FROM information_schema.tables",
    "SELECT * FROM information_schema.columns WHERE table_schema = 'public'",
    "SELECT * FROM information_schema.table_constraints",
    "SELECT * FROM information_schema.key_column_usage",
    "SELECT * FROM information_schema.referential_constraints",
    "SELECT * FROM information_schema.views WHERE table_schema = 'public'",
    "SELECT schema_name FROM information_schema.schemata WHERE schema_name !~ '^(pg_|hedgerow)'",
    "SELECT schemaname, tablename, tableowner FROM pg_tables WHERE schemaname = 'public'",
    "SELECT * FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT viewname FROM pg_views WHERE schemaname = 'public'",
    "SELECT relname, has_any_column_privilege(oid, 'SELECT') FROM pg_class WHERE relkind = 'r'",
    "SELECT relname, has_table_privilege(oid, 'INSERT') FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    "SELECT attname, format_type(atttypid, -1), attnotnull FROM pg_attribute WHERE attrelid = 'visits'::regclass",
    "SELECT col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = 'public.visits'::regclass",
    "SELECT conname, contype, pg_get_constraintdef(oid, true) FROM pg_constraint ORDER BY conname",
    "SELECT reltuples, relpages, relkind, relpersistence, relrowsecurity FROM pg_class WHERE relname = 'patients'",
    "SELECT typname, typtype, typcategory FROM pg_type WHERE typname IN ('patients', '_patients', 'int8')",
    "SELECT nspname, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'public'",
    "SELECT current_schemas(true), current_setting('server_version_num'), current_setting('max_identifier_length')",
    "SELECT name, setting FROM pg_settings WHERE name IN ('server_version', 'standard_conforming_strings', 'TimeZone')",
    "SELECT * FROM pg_stat_user_tables WHERE false",
    "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()",
    "SELECT 'patients'::regclass::text, to_regclass('nowhere'), pg_table_is_visible('visits'::regclass)",
    "SELECT rolname, rolsuper, rolcanlogin FROM pg_roles WHERE rolname = current_user",
    "SELECT usename, usesuper FROM pg_user WHERE usename = current_user",
    """SELECT n.nspname, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d
        ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass ORDER BY nspname""",
    """SELECT c.oid, c.relname, c.relkind, c.relhasindex, c.relchecks, c.reltriggers, d.description FROM (SELECT *, 0 AS
        reltriggers FROM pg_catalog.pg_class) c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND
        d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = 'public'::regnamespace
        AND c.relkind NOT IN ('i', 'I', 'c')""",
    """SELECT c.relname, a.attname, a.attnum, a.atttypmod, a.attidentity, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid,
        true) AS def_value, dsc.description FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON
        (a.attrelid = c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum =
        ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
        WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = 'public.visits'::regclass""",
    """SELECT c.conname, c.contype, t.relname, c.conkey, c.confkey, pg_catalog.pg_get_constraintdef(c.oid) FROM
        pg_catalog.pg_constraint c JOIN pg_catalog.pg_class t ON c.conrelid = t.oid LEFT JOIN pg_catalog.pg_class rt
        ON c.confrelid = rt.oid WHERE t.relnamespace = 'public'::regnamespace""",
    """SELECT i.indkey, i.indisunique, i.indisprimary, am.amname, pg_catalog.pg_get_indexdef(i.indexrelid, 1, true) FROM
        pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am am ON
        c.relam = am.oid WHERE i.indrelid = 'patients'::regclass""",
    """SELECT t.typname, t.typlen, t.typelem, format_type(t.oid, NULL) FROM pg_catalog.pg_type t WHERE t.typname IS NOT
        NULL AND t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b'""",
    "SELECT proname, pg_get_function_identity_arguments(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT extname, extversion FROM pg_extension",
    "SELECT * FROM pg_catalog.pg_policies",
    "SELECT collname, collprovider FROM pg_collation WHERE collname IN ('default', 'C')",
    "SELECT lanname FROM pg_language ORDER BY 1",
    "SELECT schemaname, matviewname FROM pg_matviews",
    "SELECT * FROM information_schema.role_table_grants WHERE table_name = 'patients' AND grantee = 'PUBLIC'",
    """SELECT kcu.column_name, tc.constraint_type FROM information_schema.table_constraints tc JOIN
        information_schema.key_column_usage kcu USING (constraint_schema, constraint_name)
        WHERE tc.table_name = 'patients'""",
    """SELECT table_schema, table_name, column_name, ordinal_position, is_nullable, udt_name, CASE WHEN data_type =
        'ARRAY' THEN 'array' ELSE data_type END FROM information_schema.columns ORDER BY 1, 2, 4 LIMIT 5000""",
    "SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), inet_server_port() IS NULL",
    "SELECT current_catalog, session_user, current_schema(), pg_backend_pid() > 0",
    "SELECT oid::regtype::text, typarray::regtype::text FROM pg_type WHERE typname IN ('int4', 'text', 'timestamptz')",
    "SELECT set_config('search_path', 'public', false), current_setting('search_path')",
    "SHOW max_identifier_length",
    "SHOW transaction_isolation",
    "SHOW server_encoding",
    "BEGIN; SAVEPOINT a; ROLLBACK TO SAVEPOINT a; COMMIT",
    "SET extra_float_digits = 3; SHOW extra_float_digits",
    "DISCARD ALL",
]
"""Questions that tools without a driver of their own here ask: dashboards, modelling tools, database browsers."""


def test_other_tools(plain, shadow, router, names, run):
    run(_compare(plain, shadow, router, names, OTHERS))


SUPERSET = """
import sys, sqlalchemy
engine = sqlalchemy.create_engine(f"postgresql+psycopg2://alice@127.0.0.1:{sys.argv[1]}/hospital")
with engine.connect() as connection:
    inspector = sqlalchemy.inspect(connection)
    for schema in inspector.get_schema_names():
        inspector.get_table_names(schema)
        inspector.get_view_names(schema)
    for table in inspector.get_table_names("public"):
        inspector.get_columns(table, "public")
        inspector.get_pk_constraint(table, "public")
        inspector.get_foreign_keys(table, "public")
        inspector.get_indexes(table, "public")
        inspector.get_unique_constraints(table, "public")
        inspector.get_table_comment(table, "public")
"""
"""Superset looks for tables and columns with the inspector of the SQLAlchemy 1.4 and psycopg 2 that it brings along."""

DBT = ("show", "--inline", "SELECT 1 AS n"), ("docs", "generate", "--no-compile"), ("debug",)


@pytest.mark.slow
def test_superset(same, port):
    python = environment("superset") / "bin" / "python"
    same(lambda: subprocess.run([python, "-c", SUPERSET, str(port)], check=False, timeout=200), 20)  # noqa: S603 - our own text


@pytest.mark.slow
def test_dbt(same, port, tmp_path):
    place = f"type: postgres, host: 127.0.0.1, port: {port}, user: alice, password: x, dbname: hospital, schema: public"
    (tmp_path / "profiles.yml").write_text(f"hospital: {{target: here, outputs: {{here: {{{place}}}}}}}\n")
    (tmp_path / "dbt_project.yml").write_text('name: hospital\nversion: "1.0.0"\nprofile: hospital\n')
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "sources.yml").write_text(
        "sources: [{name: hospital, schema: public, tables: [{name: patients}, {name: visits}]}]\n"
    )

    def client():
        for words in DBT:
            program = environment("dbt") / "bin" / "dbt"
            variables = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
            subprocess.run([program, *words], cwd=tmp_path, env=variables, check=False, timeout=200)  # noqa: S603 - likewise

    same(client, 4)


def test_a_browser_sees_its_own_database_and_role_alone(shadow, run):
    async def ask():
        session = await shadow.session("hospital", BOB)
        databases = await session.query("SELECT datname FROM pg_catalog.pg_database")
        roles = await session.query("SELECT rolname FROM pg_catalog.pg_roles WHERE rolname !~ '^pg_' ORDER BY 1")
        await session.close()
        return databases, roles

    assert run(ask()) == ([(b"hospital",)], [(b"bob",), (b"hedgerow",), (b"hospital analysts",)])


def test_sizes_and_numbers_of_rows_are_not_known(session, run):
    sizes = "pg_table_size(oid), pg_total_relation_size(oid), pg_relation_size('patients'), reltuples"
    assert run(session.query(f"SELECT {sizes} FROM pg_class WHERE relname = 'patients'")) == [(None, None, None, b"-1")]
    assert run(session.query("SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = 'patients'")) == [(None,)]
    assert run(session.query("SELECT pg_database_size(current_database())")) == [(None,)]
