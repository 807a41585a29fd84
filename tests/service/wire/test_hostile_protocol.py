"""Clients that break the protocol: whatever one of them sends, the next one is served and no memory is lost."""

import gc
import os
import random
import socket
import struct
import time

import psutil
import psycopg
import pytest
from tests.service.wire.conftest import QUESTION, message, port_of
from tests.service.wire.raw_client import RawClient, fields, sasl_first

from hedgerow.service.shadow.relay import ScramProof

SYNC = message(b"S")
FEW, MANY = 100, 3000
"""Number of broken sessions in the default and in the slow test."""


def bind(portal, statement, *values):
    counted = struct.pack("!h", len(values)) + b"".join(struct.pack("!i", len(value)) + value for value in values)
    return message(b"B", portal, statement, struct.pack("!h", 0), counted, struct.pack("!hh", 1, 0))


def session_messages():
    """Messages of a client that uses most of the protocol, ours and the shadow's statements in turns."""
    return [
        message(b"Q", "SELECT 1"),
        message(b"Q", QUESTION),
        message(b"Q", "SET hedgerow.intervals = on; SHOW hedgerow.budget"),
        message(b"Q", f"COPY ({QUESTION}) TO STDOUT (FORMAT binary)"),
        message(b"Q", "SELECT nonsense FROM patients"),
        message(b"P", "mine", "SELECT COUNT(*) FROM patients WHERE age > $1", struct.pack("!hI", 1, 23)),
        message(b"D", b"S", "mine"),
        bind("p", "mine", b"40"),
        message(b"D", b"P", "p"),
        message(b"E", "p", struct.pack("!i", 1)),
        message(b"C", b"P", "p"),
        SYNC,
        message(b"P", "theirs", "SELECT relname FROM pg_class WHERE oid > $1", struct.pack("!h", 0)),
        bind("", "theirs", b"1"),
        message(b"E", "", struct.pack("!i", 2)),
        message(b"C", b"S", "theirs"),
        message(b"H"),
        SYNC,
        message(b"Q", "BEGIN"),
        message(b"Q", f"DECLARE c CURSOR FOR {QUESTION}"),
        message(b"Q", "FETCH 2 FROM c"),
        message(b"Q", "ROLLBACK"),
        message(b"F", struct.pack("!Ihhh", 1, 0, 0, 0)),
        message(b"d", b"data"),
        message(b"c"),
    ]


def broken(draw):
    """The messages of a session with something wrong in them."""
    chosen = [bytearray(draw.choice(session_messages())) for _ in range(draw.randint(1, 6))]
    for part in chosen:
        kind = draw.randrange(8)
        if kind == 0 and len(part) > 5:
            part[draw.randrange(5, len(part))] = draw.randrange(256)
        elif kind == 1:
            part[0] = draw.randrange(256)
        elif kind == 2:
            part[1:5] = struct.pack("!I", draw.choice([0, 1, 3, 4, 5, 2**31 - 1, 2**31, 2**32 - 1, 10**6, len(part)]))
        elif kind == 3:
            del part[draw.randrange(len(part)) :]
        elif kind == 4:
            place = draw.randrange(len(part))
            part[place:place] = draw.randbytes(draw.randrange(1, 20))
        elif kind == 5 and len(part) > 7:
            place = draw.randrange(5, len(part) - 1)
            part[place : place + 2] = draw.choice([b"\xff\xff", b"\x7f\xff", b"\0\0", b"\x80\0"])
    return b"".join(chosen)


@pytest.fixture
def no_stray_errors(server):
    """Nothing that a client does may end in an exception that nobody handles."""
    stray = []
    server.loop.call_soon_threadsafe(server.loop.set_exception_handler, lambda _, context: stray.append(context))
    yield
    gc.collect()
    server.run(_pause())
    server.loop.call_soon_threadsafe(server.loop.set_exception_handler, None)
    assert not stray, stray


async def _pause():
    """Let the loop run what is due."""


def served(server):
    with psycopg.connect(server.url, autocommit=True, connect_timeout=20) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def fuzz(server, number):
    """Send broken sessions; each is answered or closed, none is left hanging."""
    seed = int.from_bytes(os.urandom(8), "big")
    draw = random.Random(seed)
    for index in range(number):
        sent = broken(draw)
        with RawClient(server.port) as client:
            assert client.log_in(server.password)[0] == b"Z"
            try:
                client.send(sent, SYNC, message(b"X"))
                client.socket.shutdown(socket.SHUT_WR)
            except OSError:
                continue  # it was closed before all was sent
            try:
                client.until()
            except TimeoutError:
                pytest.fail(f"no answer to session {index} of seed {seed}: {sent!r}")


@pytest.mark.usefixtures("no_stray_errors")
def test_the_next_client_is_served_after_broken_sessions(server):
    fuzz(server, FEW)
    assert served(server)


@pytest.mark.slow
@pytest.mark.usefixtures("no_stray_errors")
def test_memory_is_flat_over_thousands_of_broken_sessions(server):
    process = psutil.Process()
    fuzz(server, MANY // 3)
    gc.collect()
    before = process.memory_info().rss
    fuzz(server, MANY)
    gc.collect()
    assert process.memory_info().rss - before < 40 * 2**20
    assert served(server)
    assert process.num_fds() < 200


@pytest.mark.usefixtures("no_stray_errors")
def test_a_session_may_end_after_any_byte(server):
    whole = b"".join(session_messages()[5:12])
    for length in range(0, len(whole), 7):
        with RawClient(server.port) as client:
            assert client.log_in(server.password)[0] == b"Z"
            client.send(whole[:length])
    assert served(server)


@pytest.mark.usefixtures("no_stray_errors")
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\0",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS without asking for it
        struct.pack("!II", 0, 196608),
        struct.pack("!II", 7, 196608),
        struct.pack("!II", 2**32 - 1, 196608),
        struct.pack("!II", 10_001, 196608),
        struct.pack("!II", 8, 196608),
        struct.pack("!II", 9, 196608) + b"\0",
        struct.pack("!II", 8, 131072),
        struct.pack("!II", 8, 0xFFFFFFFF),
        struct.pack("!II", 22, 196608) + b"user\0ana\0data",
        struct.pack("!II", 20, 196608) + b"user\0\xff\xfe\xfd\0\0\0",
        struct.pack("!II", 8, 80877103) * 9,
        struct.pack("!II", 8, 80877104) * 9,
        struct.pack("!II", 8, 80877102),
        struct.pack("!III", 12, 80877102, 7),
        struct.pack("!II", 9_000, 80877102) + bytes(8_992),
        os.urandom(4096),
    ],
)
def test_a_broken_start_is_refused_and_the_connection_ends(server, sent):
    with RawClient(server.port) as client:
        client.send(sent)
        client.socket.shutdown(socket.SHUT_WR)
        try:
            while client.socket.recv(4096):
                pass
        except ConnectionResetError:
            pass  # it was closed before all was read
    assert served(server)


def test_a_broken_length_after_login_ends_the_connection_at_once(server):
    for kind, length in ((b"Q", 2**31 - 1), (b"Q", 3), (b"S", 2**20), (b"P", 2**32 - 1), (b"?", 4)):
        with RawClient(server.port) as client:
            assert client.log_in(server.password)[0] == b"Z"
            client.send(kind + struct.pack("!I", length))
            said = fields(client.until(b"E"))
            assert (said["S"], said["C"]) == ("FATAL", "08P01")
            assert client.receive() is None


@pytest.mark.usefixtures("no_stray_errors")
def test_logins_are_refused_in_the_same_words_whatever_is_wrong(server):
    said = set()
    for user, password in (("ana", "wrong"), ("nobody at all", "wrong"), ("rita", server.password)):
        with RawClient(server.port) as client:
            refused = fields(client.log_in(password, user))
            said.add((refused["C"], refused["M"].replace(user, "…")))
    firsts = (b"", b"n,,", b"p=tls-server-end-point,,n=,r=x", b"n,,n=,r=", b"\xff", b"n,,n=ana,r=a,b=c" * 500)
    for index, first in enumerate(firsts):
        with RawClient(server.port) as client:
            client.start(f"somebody {index}")  # one name alone would have to wait soon
            assert client.receive()[0] == b"R"
            client.send(sasl_first(first))
            reply = client.until(b"E", b"R")
            if reply[0] == b"R":
                client.send(message(b"p", b"c=biws,r=x,p=AAAA"))
                reply = client.until(b"E")
            refused = fields(reply)
            said.add((refused["C"], refused["M"].replace(f"somebody {index}", "…")))
    assert said == {("28P01", 'password authentication failed for user "…"')}
    for mechanism in ("SCRAM-SHA-256-PLUS", "MD5", "", "SCRAM-SHA-1"):
        with RawClient(server.port) as client:
            client.start(f"with {mechanism}")
            assert client.receive()[0] == b"R"
            client.send(sasl_first(b"n,,n=,r=abc", mechanism))
            assert fields(client.until(b"E"))["C"] == "28P01"


def test_a_password_in_clear_text_is_not_taken(server):
    with RawClient(server.port) as client:
        client.start("mallory")
        assert client.receive()[0] == b"R"
        client.send(message(b"p", server.password))
        assert fields(client.until(b"E"))["C"] == "28P01"
    for early in (message(b"Q", "SELECT 1"), message(b"p", b"")):
        with RawClient(server.port) as client:
            client.start("mallory again")
            client.send(early)
            assert client.until(b"E", b"D")[0] == b"E"


def test_a_recorded_login_cannot_be_replayed(server):
    proof = ScramProof(server.password)
    with RawClient(server.port) as client:
        client.start()
        client.receive()
        client.send(sasl_first(proof.first()))
        final = proof.final(client.receive()[1][4:])
        client.send(message(b"p", final))
        assert client.until(b"Z", b"E")[0] == b"Z"
    with RawClient(server.port) as client:
        client.start()
        client.receive()
        client.send(sasl_first(proof.first()))
        client.receive()
        client.send(message(b"p", final))
        assert fields(client.until(b"Z", b"E"))["C"] == "28P01"
    assert served(server)


def test_without_tls_nobody_logs_in_where_tls_is_required(server):
    with RawClient(port_of(server.encrypted)) as client:
        said = fields(client.log_in(server.password))
    assert (said["S"], said["C"], said["M"]) == ("FATAL", "28000", "this server requires TLS")
    assert b"R" not in {kind for kind, _ in client.seen}, "no password is asked for"


def test_what_follows_a_request_for_tls_in_clear_text_is_not_taken(server):
    start = b"user\0ana\0database\0hospital\0\0"
    with RawClient(port_of(server.encrypted)) as client:
        client.send(struct.pack("!II", 8, 80877103) + struct.pack("!II", len(start) + 8, 196608) + start)
        answers = b""
        while part := client.socket.recv(4096):
            answers += part
    assert b"unencrypted data" in answers


def test_guessed_cancel_keys_stop_nothing(server, gate):
    with psycopg.connect(server.url, autocommit=True) as connection:
        number = connection.info.backend_pid
        waiting = server.run(_submit(server))
        assert gate.reached.wait(60)
        for _ in range(300):
            with RawClient(server.port) as client:
                client.send(struct.pack("!III", 16, 80877102, number), os.urandom(4))
        with RawClient(server.port) as client:
            client.send(struct.pack("!III", 12 + 256, 80877102, number), bytes(256))
        gate.opened.set()
        assert server.run(waiting.answer()).receipt is not None
        assert connection.execute(QUESTION).fetchone() is not None


async def _submit(server):
    return server.gateway.submit(
        server.access.account("ana").identity,
        "hospital",
        "SELECT COUNT(*) FROM visits WHERE nights > 17",
        interface="wire",
    )


def test_logins_that_never_end_keep_nobody_out(server):
    """More connections than the server takes, all silent: who logs in is served all the same."""
    listener = server.run(server.listen(connections=20))
    silent = [socket.create_connection(("127.0.0.1", port_of(listener))) for _ in range(60)]
    try:
        started = time.monotonic()
        url = server.url.replace(f":{server.port}/", f":{port_of(listener)}/")
        with psycopg.connect(url, autocommit=True, connect_timeout=20) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert time.monotonic() - started < 15
    finally:
        for one in silent:
            one.close()
        server.run(listener.stop(5))


def test_a_client_that_does_not_read_is_let_go(server):
    listener = server.run(server.listen(write_seconds=1.0))
    try:
        with RawClient(port_of(listener)) as client:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            assert client.log_in(server.password)[0] == b"Z"
            client.send(message(b"Q", "SELECT repeat('x', 1000) FROM generate_series(1, 100000)"))
            deadline = time.monotonic() + 30
            while listener._connections and time.monotonic() < deadline:
                assert served(server)
            assert not listener._connections
    finally:
        server.run(listener.stop(5))
