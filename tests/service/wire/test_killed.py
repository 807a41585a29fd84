"""A client that dies in the middle of its question: the charge stands, others feel nothing, the next question works."""

import signal
import subprocess
import sys
import time

import pytest
from tests.service.serving import ENDLESS, QUESTION, Served, write_project

CLIENT = """
import sys, psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    print("connected", flush=True)
    connection.execute(sys.argv[2])
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    write_project(folder)
    running = Served(folder)
    yield running
    running.close()


@pytest.mark.parametrize(("number", "question"), list(enumerate(ENDLESS)))
def test_a_killed_client_leaves_its_charge_and_nothing_else(served, number, question):
    secrets = served.secrets("analyst")
    url = f"postgresql://analyst:{secrets['password']}@{served.started['wire']}/people"
    with served.connect("analyst", secrets["password"]) as other:
        first = other.execute(QUESTION).fetchall()
        spent = other.execute("SELECT queries FROM hedgerow.budget").fetchone()[0]
        client = subprocess.Popen(  # noqa: S603 - our own words
            [sys.executable, "-c", CLIENT, url, question], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert client.stdout.readline() == "connected\n"
        while other.execute("SELECT queries FROM hedgerow.budget").fetchone()[0] == spent:
            assert client.poll() is None
        client.send_signal(signal.SIGKILL if number == 0 else signal.SIGTERM)
        client.wait()
        client.stdout.close()
        killed = time.monotonic()
        assert other.execute(QUESTION).fetchall() == first, "another session is served while it ends"
        while (line := served.wait_for("request"))["code"] == "ok":
            pass
        assert line["code"] == "cancelled"
        assert line["interface"] == "wire"
        assert time.monotonic() - killed < 30, "long before the limit of a statement"
        assert other.execute("SELECT queries FROM hedgerow.budget").fetchone()[0] == spent + 1
        assert other.execute(f"SELECT COUNT(*) FROM people WHERE x > {number}").fetchone() is not None
