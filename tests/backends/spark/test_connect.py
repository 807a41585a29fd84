"""Spark Connect. Statements are interpreted here: compiling them is tested on classic sessions."""

import socket

import pytest

from hedgerow.backends import connect_backend

from ...conformance.conftest import Pair
from ...conformance.engines.spark import why_not
from ...conformance.test_queries import agree
from .conftest import JOINED, MEDIANS, SECRET, interpreting, kept, nothing_left, refused, views

if why_not() is not None:
    pytest.skip(f"NOT TESTED: {why_not()}", allow_module_level=True)


@pytest.mark.parametrize("text", [MEDIANS, JOINED])
def test_a_server_gives_the_same_integers(owner, server, duckdb_side, text):
    backend = connect_backend(f"sc://{server}")
    try:
        assert not backend.handed_in
        pair = Pair("spark", backend, *duckdb_side)
        assert pair.schema  # read before: Spark cannot list tables while it interprets
        with interpreting(backend._session):
            assert agree(pair, text)
        assert not views(backend._session)
        assert kept(owner) == 0
    finally:
        backend.close()


@pytest.mark.parametrize("text", [MEDIANS, JOINED])
def test_a_session_of_a_client_gives_the_same_integers_and_stays_open(owner, client, duckdb_side, text):
    backend = connect_backend(client)
    assert backend.handed_in
    pair = Pair("spark", backend, *duckdb_side)
    assert pair.schema  # likewise
    with nothing_left(owner, client), interpreting(client):
        assert agree(pair, text)
    backend.close()
    assert client.sql("SELECT 1 AS n").count() == 1


def test_a_server_that_is_not_there_is_said_without_the_token(capfd):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        said = refused("no-server", f"sc://127.0.0.1:{port}/;token={SECRET};use_ssl=false")
    assert SECRET not in said
    assert SECRET not in "".join(capfd.readouterr())
