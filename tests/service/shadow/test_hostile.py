"""An analyst who speaks to the shadow directly finds nothing of others, leaves nothing behind, harms nobody."""

import asyncio

import pytest
from tests.service.shadow.conftest import ALICE, BOB

from hedgerow.service.shadow.relay import ShadowError

DENIED = [
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('postgresql.conf')",
    "SELECT pg_ls_dir('.')",
    "SELECT * FROM pg_ls_logdir()",
    "SELECT pg_stat_file('postgresql.conf')",
    "SELECT pg_current_logfile()",
    "COPY (SELECT 1) TO '/tmp/hedgerow-hostile'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "CREATE TEMP TABLE t (x text)",
    "CREATE TABLE t (x text)",
    "SELECT 1 AS x INTO t",
    "CREATE SCHEMA s",
    "CREATE VIEW v AS SELECT 1",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DO $$ BEGIN PERFORM 1; END $$",
    "CREATE EXTENSION file_fdw",
    "CREATE EXTENSION dblink",
    "LOAD 'plpgsql'",
    "CREATE ROLE mallory SUPERUSER",
    "ALTER ROLE alice SUPERUSER",
    "ALTER ROLE bob PASSWORD 'x'",
    "SET ROLE hedgerow",
    "SET ROLE bob",
    'SET ROLE "hospital analysts"',
    "SET SESSION AUTHORIZATION hedgerow",
    "GRANT SELECT ON pg_authid TO PUBLIC",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM pg_any_database",
    "SELECT any_pg_get_userbyid(10)",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM pg_config",
    "UPDATE pg_settings SET setting = 'on' WHERE name = 'fsync'",
    "ALTER SYSTEM SET fsync = on",
    "SET log_statement = 'all'",
    "SET track_activities = on",
    "SET temp_file_limit = -1",
    "SET allow_system_table_mods = on",
    "SHOW data_directory",
    "SHOW unix_socket_directories",
    "SHOW config_file",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SELECT pg_cancel_backend(1)",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_try_advisory_xact_lock(1, 2)",
    "SELECT pg_notify('channel', 'text')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'text')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/hedgerow-hostile')",
    "SELECT query_to_xml('select * from patients', true, true, '')",
    "SELECT table_to_xml('patients', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT ts_stat('select 1')",
    "SELECT pg_export_snapshot()",
    "SELECT pg_create_logical_replication_slot('x', 'pgoutput')",
    "SELECT pg_create_restore_point('x')",
    "SELECT pg_switch_wal()",
    "SELECT pg_stat_reset()",
    "DROP TABLE patients",
    "TRUNCATE patients",
    "INSERT INTO patients DEFAULT VALUES",
    "ALTER TABLE patients DISABLE ROW LEVEL SECURITY",
    "COMMENT ON TABLE patients IS 'mine'",
    "BEGIN; LOCK TABLE patients IN ACCESS EXCLUSIVE MODE",
    "BEGIN; LOCK TABLE pg_catalog.pg_class IN ACCESS EXCLUSIVE MODE",
    "CHECKPOINT",
    "CREATE DATABASE other",
    "DROP DATABASE hospital",
    "REINDEX DATABASE hospital",
    "SECURITY LABEL ON TABLE patients IS 'x'",
    "CREATE PUBLICATION p",
    "CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p",
    "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()",
    "BEGIN; PREPARE TRANSACTION 'x'",
]
"""Statements that the router would refuse or pass on; the shadow refuses each of them by itself."""


@pytest.mark.parametrize("sql", DENIED)
def test_the_shadow_refuses_by_itself(session, run, sql):
    with pytest.raises(ShadowError) as refused:
        run(session.query(sql))
    assert refused.value.fields["C"] in {"42501", "42883", "25001", "0A000", "55000", "22023", "3F000", "55P02"}
    run(session.query("ROLLBACK"))
    assert run(session.query("SELECT current_user, current_setting('is_superuser')")) == [(b"alice", b"off")]


def test_nothing_of_other_analysts_is_seen(shadow, run):
    async def ask():
        alice = await shadow.session("hospital", ALICE)
        bob = await shadow.session("hospital", BOB, {"application_name": "bobs tool"})
        await bob.query("BEGIN; SELECT 'text of bob', count(*) FROM pg_class; PREPARE bobs AS SELECT 1")
        looks = [
            "SELECT * FROM pg_stat_activity",
            "SELECT * FROM pg_stat_get_activity(NULL)",
            "SELECT pg_stat_get_backend_activity(n) FROM pg_stat_get_backend_idset() n",
            "SELECT * FROM pg_roles",
            "SELECT * FROM pg_user",
            "SELECT * FROM pg_group",
            "SELECT * FROM pg_auth_members",
            "SELECT * FROM pg_database",
            "SELECT * FROM pg_stat_database",
            "SELECT * FROM pg_db_role_setting",
            "SELECT * FROM pg_shdescription",
            "SELECT pg_get_userbyid(n::oid), n::oid::regrole FROM generate_series(16384, 17000) n",
            "SELECT datacl FROM pg_database",
            "SELECT relacl FROM pg_class",
            "SELECT * FROM pg_prepared_statements",
            "SELECT * FROM pg_locks",
            "SELECT * FROM pg_settings",
            "SELECT * FROM information_schema.enabled_roles",
            "SELECT * FROM information_schema.role_table_grants",
        ]
        seen = {look: str(await alice.query(look)) for look in looks}
        await alice.close()
        await bob.close()
        return seen

    for look, rows in run(ask()).items():
        assert "bob" not in rows.lower(), look
        assert "hedgerow-shadow-" not in rows, look  # the folder


def test_a_dataset_that_is_not_ones_own_is_not_named(shadow, run):
    async def ask():
        bob = await shadow.session("hospital", BOB)
        looks = [
            "pg_database",
            "pg_stat_database",
            "pg_stat_database_conflicts",
            "pg_roles",
            "pg_stat_activity",
            "pg_locks",
        ]
        rows = [await bob.query(f"SELECT * FROM {look}") for look in looks]
        await bob.close()
        return str(rows)

    assert "other" not in run(ask())


def test_a_notification_reaches_nobody(shadow, run):
    async def ask():
        alice, bob = await shadow.session("hospital", ALICE), await shadow.session("hospital", BOB)
        await bob.query("LISTEN channel")
        with pytest.raises(ShadowError):
            await alice.query("SELECT pg_notify('channel', 'text')")
        kinds = [kind async for kind, _ in bob.ask(b"Q\0\0\0\x0dSELECT 1\0")]
        await alice.close()
        await bob.close()
        return kinds

    assert b"A" not in run(ask())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('x', 1000000000)",
        "SELECT array_agg(repeat('x', 1000000)) FROM generate_series(1, 100000)",
        "SET work_mem = '1000GB'; SELECT count(*) FROM (SELECT DISTINCT n FROM generate_series(1, 100000000) n) x",
        "SELECT count(*) FROM (SELECT n FROM generate_series(1, 100000000) n ORDER BY n DESC) x",
        "WITH RECURSIVE r AS (SELECT repeat('x', 100000) AS t UNION ALL SELECT t || t FROM r) SELECT count(t) FROM r",
    ],
)
@pytest.mark.slow
def test_memory_and_disk_run_out_for_that_statement_alone(shadow, session, run, sql):
    with pytest.raises(ShadowError) as refused:
        run(session.query(sql))
    assert refused.value.fields["C"] in {"53200", "53400", "54000", "57014", "22P02"}
    assert run(session.query("SELECT 1")) == [(b"1",)]


def test_time_runs_out_although_the_client_lifted_the_limit(session, run):
    async def ask():
        session._timeout = 0.2
        await session.query("SET statement_timeout = 0")
        outcomes = []
        endless = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 1000000) b"
        for sql in ("SELECT pg_sleep(3600)", endless):
            with pytest.raises(ShadowError) as ended:
                await session.query(sql)
            outcomes.append(ended.value.fields["C"])
        return outcomes

    assert run(ask()) == ["57014", "57014"]


def test_one_session_does_not_wait_for_another(shadow, run):
    async def ask():
        alice, bob = await shadow.session("hospital", ALICE), await shadow.session("hospital", BOB)
        sleeping = asyncio.create_task(alice.query("SELECT pg_sleep(3600)"))
        rows = await bob.query("SELECT count(*) FROM pg_class WHERE relname = 'patients'")
        while not sleeping.done():
            await alice.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(sleeping, return_exceptions=True)
        await alice.close()
        await bob.close()
        return rows

    assert run(ask()) == [(b"1",)]
