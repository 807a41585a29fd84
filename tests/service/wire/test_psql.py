"""psql, as Debian ships it: lists, describes, asks, shows the caret of a refusal, over TLS."""

import asyncio
import shutil
import signal
import subprocess

import pytest
from tests.service.wire.conftest import QUESTION

PSQL = shutil.which("psql")
pytestmark = pytest.mark.skipif(PSQL is None, reason="psql is not installed (Debian: postgresql-client)")


def psql(url, *commands, **environment):
    words = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(  # noqa: S603 - our own words
        [PSQL, "-X", url, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PGCONNECT_TIMEOUT": "30", "LC_ALL": "C.UTF-8", **environment},
    )
    return done.stdout, done.stderr


def test_it_lists_and_describes_tables(server):
    shown, errors = psql(server.tls_url, r"\conninfo", r"\dt", r"\d patients", r"\du", r"\dn", r"\df hedgerow.*")
    assert errors == ""
    for name in ("patients", "visits", "wards", "regions"):
        assert f" public | {name} " in shown
    assert "TLSv1.3" in shown
    assert '"patients_pkey" PRIMARY KEY, btree (id)' in shown


def test_it_shows_answer_price_and_error_bars(server):
    shown, notices = psql(server.url, "SET hedgerow.intervals = on", QUESTION, r"\gdesc", r"SHOW hedgerow.epsilon")
    header = [name.strip() for name in shown.splitlines()[1].split("|")]
    assert header == ["region", "n", "n_lower", "n_upper", "mean_age", "mean_age_lower", "mean_age_upper"]
    assert "(5 rows)" in shown
    assert "NOTICE:  ± at 0.95 confidence" in notices


def test_a_refusal_points_at_its_word(server):
    _, errors = psql(server.url, "SELECT region,\n  nonsense FROM patients")
    assert errors == (
        "ERROR:  There is no column 'nonsense' in 'patients'.\n"
        "LINE 2:   nonsense FROM patients\n"
        "          ^\n"
        "DETAIL:  code: unknown-column\n"
        "HINT:  The columns are id, region, age, sex, smoker, cover.\n"
    )


def test_a_variable_of_psql_is_put_in(server):
    script = "\\set age 40\nSELECT COUNT(*) AS n FROM patients WHERE age > :age"
    words = [PSQL, "-X", server.tls_url]
    done = subprocess.run(words, input=script, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own words
    assert "(1 row)" in done.stdout, done.stderr


def test_control_c_cancels_the_statement(server, gate):
    question = "SELECT COUNT(*) FROM patients WHERE age BETWEEN 27 AND 61"
    words = [PSQL, "-X", server.tls_url, "-c", question]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:  # noqa: S603 - likewise
        assert gate.reached.wait(60)
        client.send_signal(signal.SIGINT)
        assert server.run(_cancelled(server))
        gate.opened.set()
        _, errors = client.communicate(timeout=60)
    assert "ERROR:  The statement was cancelled" in errors
    assert "stays charged" in errors
    queries_before = server.db.budget.queries
    assert "(1 row)" in psql(server.tls_url, question)[0]
    assert server.db.budget.queries == queries_before, "asked again, it is covered by its charge"


async def _cancelled(server):
    """Wait until a running statement was told to stop."""
    for _ in range(1000):
        if any(statement.requested for statement in server.gateway.admission._running):
            return True
        await asyncio.sleep(0.02)
    return False


def test_results_are_copied(server):
    shown, errors = psql(
        server.url,
        "SET hedgerow.notices = off",
        rf"\copy ({QUESTION}) TO STDOUT WITH CSV HEADER",
    )
    assert errors == ""
    assert shown.splitlines()[1] == "region,n,mean_age"


def test_a_wrong_password_and_a_missing_dataset_are_refused(server):
    assert (
        "password authentication failed for user" in psql(server.url.replace(server.password, "wrong"), "SELECT 1")[1]
    )
    _, errors = psql(server.url.replace("/hospital", "/nothing"), "SELECT 1")
    assert "No dataset 'nothing' is available to you." in errors
    assert "hospital" in errors
    assert "requires TLS" in psql(server.tls_url.replace("verify-full", "disable"), "SELECT 1")[1]
