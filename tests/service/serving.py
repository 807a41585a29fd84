"""`hedgerow serve` as a process of its own, for tests: a folder with a project, and what the process says."""

import json
import queue
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import duckdb
import psycopg

PATIENCE = 120.0
"""Seconds to wait for a line of the log before a test fails."""

CATALOG = """\
dataset: people
budget: {epsilon: 20, delta: 1e-6}
defaults: {epsilon: 0.5, delta: 1e-8, min_frequency: 5}
tables:
  people: {unit: id, unit_unique: true, columns: {x: {lower: 0, upper: 7}, k: {values: [a, b]}}}
  endless: {unit: id, max_rows: 1, columns: {x: {lower: 0, upper: 7}}}
"""
SETTINGS = """
[serve.wire]
port = 0
[serve.http]
port = 0
[serve.console]
port = 0
[serve.limits]
grace = 0.5
"""
QUESTION = "SELECT k, COUNT(*) AS n FROM people GROUP BY k ORDER BY k"
ENDLESS = (
    "SELECT SUM(x) AS endless_sum FROM endless",
    "SELECT AVG(x) AS endless_mean FROM endless WHERE x > 2",
    "SELECT SUM(x) AS endless_sum FROM endless WHERE x > 3",
)
"""Questions over a view that has rows for hours."""


def write_project(folder, *, ledger="people.ledger", settings=SETTINGS):
    """Write a database, a catalog and a project file."""
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 7 AS x, ['a', 'b'][1 + i % 2] AS k FROM range(900) r(i);"
            "CREATE VIEW endless AS SELECT i AS id, i % 7 AS x FROM range(1000000000000) r(i)"
        )
    (folder / "people.yaml").write_text(CATALOG)
    places = f'database = "people.duckdb"\ncatalog = "people.yaml"\nledger = "{ledger}"\n'
    (folder / "hedgerow.toml").write_text(f"[project]\n{places}{settings}")


class Served:
    """One process of `hedgerow serve --json`."""

    def __init__(self, folder):
        self.folder = folder
        command = [sys.executable, "-W", "error", "-m", "hedgerow", "serve", "--json"]
        self.process = subprocess.Popen(  # noqa: S603 - our own words
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines = []
        self._arriving = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.started = json.loads(self.process.stdout.readline() or "null")
        assert self.started, "".join(self.lines)

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            self._arriving.put(line)

    def wait_for(self, event):
        """The next line of the log about an event."""
        while True:
            line = self._arriving.get(timeout=PATIENCE)
            assert line.startswith(("{", "hedgerow: ")), line
            if line.startswith("{") and json.loads(line)["event"] == event:
                return json.loads(line)

    def secrets(self, name):
        return self.started["accounts"][name]

    def connect(self, name, password, dataset="people"):
        host, _, port = self.started["wire"].rpartition(":")
        place = {"host": host, "port": port, "dbname": dataset}
        return psycopg.connect(**place, user=name, password=password, autocommit=True, connect_timeout=60)

    def http(self, path, token=None, body=None):
        """Status and JSON (or text) of a response."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.started['http']}{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:  # noqa: S310 - likewise
                status, kind, text = response.status, response.headers.get_content_type(), response.read()
        except urllib.error.HTTPError as error:
            status, kind, text = error.code, error.headers.get_content_type(), error.read()
        return status, json.loads(text) if kind.endswith("json") else text.decode()

    def stop(self, number=signal.SIGTERM):
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def close(self):
        """End it, however a test ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
