"""The shadow starts, answers as a PostgreSQL with the declared tables, never reads them, and survives a crash."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.service.shadow.conftest import ALICE, BOB
from tests.service.shadow.test_routing import READS

from hedgerow.aggregates import names as aggregate_names
from hedgerow.errors import BackendError
from hedgerow.service.access.model import Identity
from hedgerow.service.shadow.cluster import SETTINGS, OwnServer, Shadow, safe_name
from hedgerow.service.shadow.relay import (
    BOUND,
    DESCRIBED,
    EXECUTED,
    FLUSH,
    PARSED,
    READY,
    SYNC,
    ShadowError,
    frontend,
    row_columns,
    row_values,
    text,
)
from hedgerow.service.shadow.tables import BUDGET_COLUMNS, BUDGET_SETTING, budget_row, literal

UNREADABLE = "rows of a declared table are read by private statements only"


def test_the_session_is_the_analysts_in_the_datasets_database(session, run):
    assert run(session.query("SELECT current_user, session_user, current_database(), current_schema()")) == [
        (b"alice", b"alice", b"hospital", b"public")
    ]
    assert session.parameters["is_superuser"] == "off"
    assert session.parameters["server_version"].startswith("18.")
    assert session.status == "I"


def test_declared_tables_have_columns_types_keys_and_comments(session, run):
    columns = run(
        session.query("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'visits'")
    )
    assert dict(columns) == {
        b"id": b"bigint",
        b"patient_id": b"bigint",
        b"admitted": b"date",
        b"ward": b"text",
        b"diagnosis": b"text",
        b"nights": b"bigint",
        b"cost": b"numeric",
    }
    keys = (
        "SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' ORDER BY 1::text"
    )
    assert (b"patients", b"PRIMARY KEY (id)") in run(session.query(keys))
    assert run(session.query("SELECT col_description('visits'::regclass, 6)")) == [(b"clipped to 0 \xe2\x80\xa6 30",)]


@pytest.mark.parametrize("sql", [sql for sql in READS if "WITH patients" not in sql and "LATERAL patients" not in sql])
def test_the_shadow_itself_reads_no_declared_table(session, run, sql):
    """The second line of defence: the statement reaches the shadow as if the router had let it pass."""

    then = "EXECUTE x (1)" if sql.startswith("PREPARE") else "FETCH c"

    async def ask():
        kinds, error = [], None
        async for kind, payload in session.ask(frontend(b"Q", text(f"BEGIN; {sql}; {then}"))):
            kinds.append(kind)
            error = payload if kind == b"E" else error
        await session.query("ROLLBACK; DEALLOCATE ALL")
        return kinds, error

    kinds, error = run(ask())
    assert b"D" not in kinds
    assert b"d" not in kinds
    assert error is not None
    unknown = (b"C42P01\0", b"C42601\0", b"C42P10\0")  # a name in another spelling, or what PostgreSQL does not parse
    assert b"C0A000\0" in error or any(code in error for code in unknown)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM patients WHERE id = 3",
        "SELECT * FROM patients WHERE false",
        "SELECT 1 FROM pg_class c LEFT JOIN patients p ON false",
        "SELECT exists(SELECT FROM wards)",
        "TABLE visits",
        "SELECT patients FROM patients",
        "SET enable_seqscan = off; SELECT max(id) FROM patients",
        "SET row_security = off; SELECT * FROM patients",
        "COPY patients TO STDOUT",
    ],
)
def test_a_plan_over_a_declared_table_fails_whatever_it_reads(session, run, sql):
    with pytest.raises(ShadowError) as refused:
        run(session.query(sql))
    assert (refused.value.fields["C"], refused.value.fields["M"]) == ("0A000", UNREADABLE)


def test_private_statements_are_described(shadow, run):
    sql = "SELECT region, COUNT(*), AVG(clip(age, 0, 100)), MEDIAN(age) FROM public.patients WHERE age > $1 GROUP BY 1"
    types = run(shadow.describe("hospital", sql))
    assert types.parameters == (20,)
    assert [(column.name, column.type_id) for column in types.columns] == [
        ("region", 25), ("count", 20), ("avg", 1700), ("median", 701)
    ]  # fmt: skip
    assert run(shadow.describe("hospital", sql)) is types
    for _ in range(2):
        with pytest.raises(ShadowError, match="does not exist"):
            run(shadow.describe("hospital", "SELECT nothing FROM patients"))
    assert run(shadow.describe("hospital", "BEGIN")).columns is None


def test_every_aggregate_and_own_function_is_known_and_none_answers(session, run):
    known = {name.decode() for (name,) in run(session.query("SELECT proname FROM pg_proc"))}
    assert {name.lower() for name in aggregate_names()} <= known
    assert run(session.query("SELECT clip(5, 0, 3), clip(-5.5, 0, 3), clip(NULL::float8, 0, 3)")) == [
        (b"3", b"0", None)
    ]
    for sql in (
        "SELECT median(n) FROM generate_series(1, 3) n",
        "SELECT median(n) FROM generate_series(1, 0) n",
        "SELECT year(now()::timestamp)",
    ):
        with pytest.raises(ShadowError, match="questions about declared tables only"):
            run(session.query(sql))


def test_the_budget_is_a_view_over_what_the_session_was_given(session, hospital, run):
    row = budget_row(hospital.budget, "alice")
    assert list(row) == list(BUDGET_COLUMNS)
    run(session.query(f"SELECT set_config('{BUDGET_SETTING}', {literal(json.dumps([row]))}, false)"))
    shown = run(
        session.query(
            "SELECT dataset, analyst, epsilon, queries, questions_left FROM hedgerow.budget WHERE epsilon > 1"
        )
    )
    assert shown == [(b"hospital", b"alice", b"3", b"0", None)]


def test_the_extended_protocol_is_relayed_step_by_step(session, run):
    async def ask():
        kinds = []

        async def step(*messages, until):
            async for kind, payload in session.ask(*messages, until=until):
                kinds.append(kind)
                last = payload
            return last

        parse = frontend(b"P", text("s") + text("SELECT n, $1::int FROM generate_series(1, 3) n") + b"\0\0")
        await step(parse, FLUSH, until=PARSED)
        described = await step(frontend(b"D", b"S" + text("s")), FLUSH, until=DESCRIBED)
        await step(frontend(b"B", text("p") + text("s") + b"\0\0\0\x01\0\0\0\x017\0\0"), FLUSH, until=BOUND)
        await step(frontend(b"E", text("p") + b"\0\0\0\x02"), FLUSH, until=EXECUTED)
        await step(frontend(b"E", text("p") + b"\0\0\0\0"), FLUSH, until=EXECUTED)
        await step(frontend(b"B", text("p2") + text("nowhere") + b"\0\0\0\0\0\0"), FLUSH, until=BOUND)
        await step(SYNC, until=READY)
        return kinds, described

    kinds, described = run(ask())
    assert b"".join(kinds) == b"1tT2DDsDCEZ"
    assert [column.type_id for column in row_columns(described)] == [23, 23]


def test_copy_out_is_relayed_and_copy_in_is_declined(session, run):
    async def ask(sql):
        return [message async for message in session.ask(frontend(b"Q", text(sql)))]

    copied = run(ask("COPY (VALUES (1), (2)) TO STDOUT"))
    assert [kind for kind, _ in copied] == [b"H", b"d", b"d", b"c", b"C", b"Z"]
    declined = run(ask("COPY hedgerow.budget FROM STDIN"))
    assert [kind for kind, _ in declined] == [b"E", b"Z"]


def test_notices_and_parameters_pass_through(session, run):
    async def ask():
        return [
            message async for message in session.ask(frontend(b"Q", text("COMMIT; SET application_name = 'x'; BEGIN")))
        ]

    messages = run(ask())
    assert {b"N", b"S"} <= {kind for kind, _ in messages}
    assert session.parameters["application_name"] == "x"
    assert session.status == "T"
    run(session.query("ROLLBACK"))


def test_a_statement_is_cancelled_by_request(session, run):
    async def ask():
        running = asyncio.create_task(session.query("SELECT pg_sleep(1000)"))
        while not running.done():
            await asyncio.sleep(0.01)
            await session.cancel()
        return running.exception()

    assert run(ask()).fields["C"] == "57014"
    assert run(session.query("SELECT 1")) == [(b"1",)]


def test_a_client_cannot_lift_the_time_limit(hospital, shadow, run):
    limited = Shadow(timeout=0.3)
    limited._server, limited._datasets, limited._password = shadow._server, shadow._datasets, shadow._password

    async def ask():
        session = await limited.session("hospital", ALICE)
        try:
            await session.query("SET statement_timeout = 0")
            await session.query("SELECT pg_sleep(1000)")
        finally:
            await session.close()

    with pytest.raises(ShadowError) as cancelled:
        run(ask())
    assert cancelled.value.fields["C"] == "57014"


def test_strings_stay_as_the_router_reads_them(shadow, run):
    async def ask():
        session = await shadow.session("hospital", ALICE)
        await session.query("SELECT set_config('standard_conforming_strings', 'off', false)")

    with pytest.raises(BackendError, match="must stay on"):
        run(ask())


def test_startup_settings_reach_the_session_and_cannot_change_who_it_is(shadow, run):
    async def ask():
        settings = {
            "application_name": "tool",
            "options": "-c hedgerow.epsilon=0.5",
            "user": "hedgerow",
            "replication": "1",
        }
        session = await shadow.session("hospital", ALICE, settings)
        rows = await session.query(
            "SELECT current_user, current_setting('application_name'), current_setting('hedgerow.epsilon')"
        )
        await session.close()
        await session.close()
        return rows, session.closed

    assert run(ask()) == ([(b"alice", b"tool", b"0.5")], True)


@pytest.mark.parametrize(
    "name", ["a\"b'c\\", "hedgerow", "postgres", "pg_monitor", "é" * 200, "public", "a b\nc", "x~000000000000"]
)
def test_any_name_has_a_role_and_sessions_in_any_dataset(shadow, run, name):
    async def ask():
        session = await shadow.session('the "other" one', Identity(name))
        rows = await session.query(
            "SELECT current_user, current_database(), rolsuper FROM pg_roles WHERE rolname = current_user"
        )
        await session.close()
        return rows

    assert run(ask()) == [(safe_name(name).encode(), b'the "other" one', b"f")]


@settings(max_examples=50)
@given(st.text(max_size=100), st.text(max_size=100))
def test_safe_names_are_short_and_different(first, second):
    assert (safe_name(first) == safe_name(second)) == (first == second)
    assert 0 < len(safe_name(first).encode()) <= 63


def test_a_dataset_that_is_not_ones_own_cannot_be_opened(shadow, run):
    with pytest.raises(BackendError):
        run(shadow.session('the "other" one', BOB))
    with pytest.raises(BackendError):
        run(shadow.session("nowhere", ALICE))
    run(shadow._ensure_role(BOB))
    with pytest.raises(ShadowError) as refused:
        run(shadow._connect("bob", 'the "other" one', {}))
    assert refused.value.fields["C"] == "42501"


ODD = [
    'CREATE TABLE "an ""odd"" name" (id BIGINT PRIMARY KEY, "Mixed Case" VARCHAR, xmin INTEGER, "é" DATE)',
    'CREATE SCHEMA sales; CREATE TABLE sales.orders (id BIGINT PRIMARY KEY, "when" TIMESTAMPTZ, of TIME)',
    "CREATE SCHEMA hedgerow; CREATE TABLE hedgerow.orders (id BIGINT, price DOUBLE)",
    f"CREATE TABLE {'n' * 70} (id BIGINT); CREATE TABLE {'n' * 71} (id BIGINT)",
    "CREATE TABLE lines (order_id BIGINT, amount DOUBLE)",
]
ODD_TABLES = f"""
'"an ""odd"" name"': {{unit: id, unit_unique: true, comment: "it's \\\\ odd; DROP"}}
sales.orders: {{unit: id, unit_unique: true}}
hedgerow.orders: {{unit: id}}
{"n" * 70}: {{unit: id}}
{"n" * 71}: {{unit: id}}
lines: {{unit: {{through: sales.orders, on: {{order_id: id}}}}}}
"""
"""Tables whose names and columns PostgreSQL cannot all have."""

ODD_COLUMNS = """
SELECT attrelid::regclass, string_agg(attname || ' ' || format_type(atttypid, -1), ', ' ORDER BY attnum),
    obj_description(attrelid) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relkind = 'r' AND pg_class.oid >= 16384 AND attnum > 0 GROUP BY attrelid ORDER BY attrelid::regclass::text
"""


def test_changed_catalogs_are_taken_over_by_open_sessions(hospital, build, run):
    odd = build(ODD, ODD_TABLES)
    changed = build(["CREATE TABLE people AS SELECT 1 AS id, 'x' AS name"], "people: {unit: id, comment: members}")

    async def ask():
        shadow = Shadow()
        try:
            await shadow.start({"hospital": hospital, "gone": hospital})
            session = await shadow.session("hospital", ALICE)
            await session.query("BEGIN; PREPARE x AS SELECT 1 FROM wards")
            blocked = await shadow.session("hospital", ALICE)
            await blocked.query("BEGIN")
            async for _ in blocked.ask(
                frontend(b"P", b"\0" + text("SELECT 1 FROM wards") + b"\0\0"), FLUSH, until=PARSED
            ):
                pass
            await session.query("ROLLBACK")
            await shadow.refresh({"hospital": changed, "odd": odd})
            other = await shadow.session("hospital", ALICE)
            tables = await other.query(
                "SELECT relname, obj_description(oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            )
            databases = await other.query("SELECT datname FROM pg_database ORDER BY 1")
            with pytest.raises(ShadowError, match=UNREADABLE):
                await other.query("SELECT COUNT(*) FROM people")
            strange = await shadow.session("odd", ALICE)
            columns = await strange.query(ODD_COLUMNS)
            keys = await strange.query("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'")
            for opened in (session, blocked, other, strange):
                await opened.close()
            return tables, databases, columns, keys
        finally:
            await shadow.stop()
            await shadow.stop()

    tables, databases, columns, keys = run(ask())
    assert (tables, databases) == ([(b"people", b"members")], [(b"hospital",), (b"odd",)])
    assert columns == [
        (b'"an ""odd"" name"', "id bigint, Mixed Case text, é date".encode(), b"it's \\ odd; DROP"),
        (b"lines", b"order_id bigint, amount double precision", None),
        (b"n" * 63, b"id bigint", None),
        (b"orders", b"id bigint, price double precision", None),
        (b"sales.orders", b"id bigint, when timestamp without time zone, of time without time zone", None),
    ]
    assert keys == [(b"FOREIGN KEY (order_id) REFERENCES sales.orders(id)",)]


def test_a_crashed_server_is_started_again_for_the_next_session(hospital, run, testrun_uid):
    folder = Path(tempfile.gettempdir()) / f"hedgerow-{testrun_uid}-{os.getpid()}-{'long' * 30}"

    async def lose(session):
        while True:
            await session.query("SELECT 1")

    async def ask():
        shadow = Shadow(folder)
        try:
            await shadow.start({"hospital": hospital})
            session = await shadow.session("hospital", ALICE)
            (started,) = folder.glob("*/data/postmaster.pid")
            os.kill(int(started.read_text().split()[0]), signal.SIGKILL)
            with pytest.raises(BackendError) as lost:
                await lose(session)
            assert lost.value.code == "shadow-unavailable"
            await session.close()
            assert (await shadow.describe("hospital", "SELECT age FROM patients")).columns[0].type_id == 20
            session = await shadow.session("hospital", ALICE)
            rows = await session.query("SELECT COUNT(*) FROM pg_class WHERE relname = 'patients'")
            await session.close()
            return rows
        finally:
            await shadow.stop()
            folder.rmdir()

    assert run(ask()) == [(b"1",)]


KILLED = """
import asyncio, os, signal, sys
from hedgerow.service.shadow.cluster import Shadow
async def main():
    shadow = Shadow()
    await shadow.start({})
    print(shadow._server.address.path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


@pytest.mark.slow
def test_the_server_ends_and_its_folder_goes_with_the_process_that_started_it(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False, timeout=100)  # noqa: S603 - our own text
    assert done.returncode == -signal.SIGKILL
    folder = Path(done.stdout.strip()).parent
    until_gone = 'for i in $(seq 500); do [ -e "$0" ] || exit 0; sleep 0.1; done; exit 1'
    waited = subprocess.run(["/bin/sh", "-c", until_gone, str(folder)], check=False)  # noqa: S603 - our own text
    assert waited.returncode == 0


def test_the_folder_is_closed_to_others(shadow):
    folder = Path(shadow._server.address.path).parent
    assert folder.stat().st_mode & 0o077 == 0


def test_row_values_tell_null_from_empty(session, run):
    async def ask():
        return [
            row_values(payload)
            async for kind, payload in session.ask(frontend(b"Q", text("SELECT NULL, ''")))
            if kind == b"D"
        ]

    assert run(ask()) == [(None, b"")]


def test_a_url_must_name_a_superuser(shadow, hospital, run):
    run(shadow._ensure_role(BOB))
    folder = Path(shadow._server.address.path).parent
    with pytest.raises(BackendError) as error:
        run(Shadow(url=f"postgresql://bob@/hospital?host={folder}").start({"hospital": hospital}))
    assert error.value.code == "shadow-rights"


ACCESS = """
local all all trust
host all all 127.0.0.1/32 scram-sha-256
"""


@pytest.mark.slow
def test_a_server_of_the_owners_is_used_with_passwords_and_taken_over_again(hospital, run, testrun_uid):
    access = Path(tempfile.gettempdir()) / f"hedgerow-{testrun_uid}-{os.getpid()}.conf"
    access.write_text(ACCESS)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    server = OwnServer(None, {**SETTINGS, "listen_addresses": "127.0.0.1", "port": str(port), "hba_file": str(access)})

    async def ask():
        local = Shadow(url=f"postgresql://hedgerow@:{port}/?host={Path(server.address.path).parent}")
        await local.start({"hospital": hospital, "gone": hospital})
        async with local._administer("postgres") as admin:
            await admin.query("ALTER ROLE hedgerow PASSWORD 'not a s%cret'")
        await local.stop()
        shadow = Shadow(url=f"postgresql://hedgerow:not%20a%20s%25cret@127.0.0.1:{port}/")
        await shadow.start({"hospital": hospital})
        session = await shadow.session("hospital", ALICE)
        rows = await session.query("SELECT current_user, array_agg(datname) FROM pg_database")
        await session.close()
        await shadow.stop()
        with pytest.raises(BackendError) as refused:
            await Shadow(url=f"postgresql://hedgerow:wrong@127.0.0.1:{port}/").start({})
        return rows, refused.value.code

    try:
        assert run(ask()) == ([(b"alice", b"{hospital}")], "shadow-rights")
    finally:
        server.stop()
        access.unlink()
