"""JDBC, as DBeaver, Tableau and Metabase connect: the driver of Debian in a JVM, over TLS."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.service.wire import jdbc_client
from tests.service.wire.conftest import QUESTION, port_of

REGIONS = ["east", "islands", "north", "south", "west"]
PARAMETERS = """SELECT COUNT(*) AS n FROM visits v JOIN patients p ON p.id = v.patient_id
    WHERE p.age > ? AND v.ward = ? AND v.admitted > ? AND v.cost < ?"""
CANCELLED = "SELECT COUNT(*) FROM patients WHERE age BETWEEN 19 AND 53"
pytestmark = pytest.mark.skipif(
    shutil.which("java") is None or not Path(jdbc_client.JAR).exists(),
    reason="the JDBC driver is not installed (Debian: libpostgresql-jdbc-java, default-jre-headless)",
)


def test_a_java_program_lists_describes_asks_fetches_copies_fails_and_cancels(server, gate):
    queries_before = server.db.budget.queries
    gate.reached.set()  # nothing is held until the last question
    url = (
        f"jdbc:postgresql://localhost:{port_of(server.encrypted)}/hospital?user=ana&password={server.password}"
        f"&sslmode=verify-full&sslrootcert={server.certificate}"
    )
    words = [sys.executable, jdbc_client.__file__, url, QUESTION, PARAMETERS, CANCELLED]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:  # noqa: S603 - our own words

        def step():
            return json.loads(client.stdout.readline() or "null")

        described = step()
        assert {name for [name] in described["tables"]} == {"patients", "visits", "wards", "regions"}
        assert ["nights", "int8"] in [column[:2] for column in described["columns"]]
        assert any("clipped to" in (column[2] or "") for column in described["columns"])
        assert described["keys"] == [["id"]]

        answered = step()
        assert len(answered["answers"]) == 7
        assert all(answer == answered["answers"][0] for answer in answered["answers"])
        assert answered["types"] == ["int8"]
        assert "receipt" in answered["warning"]

        fetched = step()
        assert fetched["parts"] == fetched["whole"]
        assert [row[0] for row in fetched["whole"]] == REGIONS

        copied = csv.reader(step()["copied"].splitlines())
        assert [[region, n or None] for region, n, _ in copied] == fetched["whole"]

        refused = step()
        assert refused["column"][:3] == ["42703", "There is no column 'nonsense' in 'patients'.", 16]
        assert "The columns are" in refused["column"][3]
        assert refused["preview"][0] == "0A000"
        assert "preview" in refused["preview"][3]
        assert server.db.budget.queries <= queries_before + 2

        gate.reached.clear()
        print("ask", file=client.stdin, flush=True)
        assert gate.reached.wait(60)
        print("cancel", file=client.stdin, flush=True)
        assert step() == {"cancelled": True}
        gate.opened.set()
        ended = step()
        assert ended["cancel"][0] == "57014"
        assert "stays charged" in ended["cancel"][1]
        assert ended["again"] == 1
