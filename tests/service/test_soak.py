"""An hour's worth of requests in some minutes: a service takes no more memory at the end than near the start."""

import json
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import app

from .serving import QUESTION, Served, write_project
from .test_serve import ask_model

REQUESTS = int(os.environ.get("HEDGEROW_SOAK_REQUESTS", "20000"))
"""Number of requests; fewer for a look while working."""

CLIENTS = 8
WARM_UP = 0.25
"""Share of the requests after which caches and pools have the size that they keep."""

GROWTH = 0.10
"""Largest share by which the memory may grow after that. A leak of 3 kB for each request would be 45 MB in 320."""

DATASET = "/v1/datasets/people"
MODEL_CALLS = 0.02
CONNECTIONS = 0.05
NEW_QUESTIONS = 0.02


def resident(process):
    """Memory of a process, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


@pytest.mark.slow
def test_memory_stays_flat(tmp_path, capsys):
    write_project(tmp_path)
    words = ["analyst", "add", "model", "--epsilon", "1", "--config", str(tmp_path / "hedgerow.toml"), "--json"]
    model = json.loads(CliRunner().invoke(app, words).stdout)
    served = Served(tmp_path)
    try:
        number = round(REQUESTS * WARM_UP)
        work(served, model, number)
        warm = resident(served.process)
        work(served, model, REQUESTS - number)
        end = resident(served.process)
        with capsys.disabled():
            sys.stdout.write(f"\n{REQUESTS:,} requests: {warm:.0f} MB after {number:,}, {end:.0f} MB at the end\n")
        assert end < warm * (1 + GROWTH)
        assert served.http("/ready")[0] == 200
        assert served.stop() == 0
    finally:
        served.close()


def work(served, model, requests):
    """Ask from several clients at once, each with connections of its own."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        for future in [clients.submit(client, served, model, requests // CLIENTS) for _ in range(CLIENTS)]:
            future.result()


def client(served, model, requests):
    """Ask what dashboards, notebooks, programs and models ask: mostly repeats, some refusals, few new questions."""
    chance = random.SystemRandom()
    token = model["token"]
    calls = [
        (f"{DATASET}/query", {"sql": QUESTION}),
        (f"{DATASET}/query", {"sql": "SELECT * FROM people"}),
        (f"{DATASET}/query", {"sql": "SELECT ("}),
        (f"{DATASET}/quote", {"sql": "SELECT SUM(x) AS s FROM people"}),
        (f"{DATASET}/describe", {"sql": QUESTION}),
        (f"{DATASET}/tables", None),
        (f"{DATASET}/budget", None),
        ("/v1/me", None),
        ("/metrics", None),
        ("/ready", None),
    ]
    with (
        hr.connect(f"http://{served.started['http']}/people", token=token) as db,
        closing(served.connect("model", model["password"])) as wire,
    ):
        for _ in range(requests):
            draw = chance.random()
            if draw < MODEL_CALLS:
                assert ask_model(served, token, QUESTION)["reused"] in {True, False}
            elif draw < CONNECTIONS:
                with closing(served.connect("model", model["password"])) as connection:
                    assert len(connection.execute(QUESTION).fetchall()) == 2
            elif draw < CONNECTIONS + NEW_QUESTIONS:
                where = f"x < {chance.random():.9f}"
                sql = f"SELECT COUNT(*) AS n FROM people WHERE {where}"
                assert served.http(f"{DATASET}/query", token, {"sql": sql})[0] in {200, 402}
            elif draw < 0.3:
                assert len(wire.execute(QUESTION).fetchall()) == 2
            elif draw < 0.5:
                assert len(db.sql(QUESTION)) == 2
            else:
                path, body = chance.choice(calls)
                assert served.http(path, token, body)[0] in {200, 422}
