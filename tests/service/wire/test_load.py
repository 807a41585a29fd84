"""An hour's worth of requests: ten tiles, reloaded every second by somebody, beside catalogs and new connections."""

import threading

import psutil
import psycopg
import pytest
from tests.service.serving import QUESTION, Served, write_project

TILES = [QUESTION, *(f"SELECT COUNT(*) AS n FROM people WHERE x > {bound}" for bound in range(6))]
CATALOGS = [
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    "SHOW hedgerow.epsilon",
    "SELECT questions_left FROM hedgerow.budget",
]
CLIENTS, REQUESTS, PER_CONNECTION = 8, 36_000, 400
MORE = 24 * 2**20
"""Bytes by which the service may grow over the hour, after a sixth of it."""


@pytest.mark.slow
def test_memory_is_flat_over_an_hours_worth_of_requests(tmp_path):
    write_project(tmp_path)
    served = Served(tmp_path)
    try:
        password = served.secrets("analyst")["password"]
        process = psutil.Process(served.process.pid)
        with served.connect("analyst", password) as connection:
            answers = [connection.execute(tile).fetchall() for tile in TILES]
            queries = connection.execute("SELECT queries FROM hedgerow.budget").fetchone()
        load(served, password, answers, REQUESTS // 6)
        before = process.memory_info().rss, process.num_fds(), process.num_threads()
        load(served, password, answers, REQUESTS)
        after = process.memory_info().rss, process.num_fds(), process.num_threads()
        assert after[0] - before[0] < MORE
        assert after[1] <= before[1] + CLIENTS
        assert after[2] <= before[2] + CLIENTS
        with served.connect("analyst", password) as connection:
            assert connection.execute("SELECT queries FROM hedgerow.budget").fetchone() == queries
    finally:
        served.close()


def load(served, password, answers, requests):
    """Ask from some threads; each answer must be the one it was at first."""
    errors = []

    def client():
        try:
            for _ in range(requests // CLIENTS // PER_CONNECTION):
                with served.connect("analyst", password) as connection:
                    ask(connection, answers)
        except (AssertionError, psycopg.Error) as error:
            errors.append(error)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def ask(connection, answers):
    for number in range(PER_CONNECTION):
        if number % 10 == 9:
            connection.execute(CATALOGS[number // 10 % len(CATALOGS)]).fetchall()
        else:
            tile = number % len(TILES)
            assert connection.execute(TILES[tile]).fetchall() == answers[tile]
