"""Clients that mean harm, and failures that must not tell anything."""

import json
import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.internals import session_of

import hedgerow as hr
from hedgerow.service.errors import BusyError
from hedgerow.service.http.guard import MAXIMUM_BODY

pytestmark = pytest.mark.hostile

COUNT = "SELECT COUNT(*) AS n FROM patients"
QUERY = "/v1/datasets/hospital/query"
PRIVATE = "value-of-row-42"


def raw(service, *parts):
    """Send bytes, and return everything that comes back until the service closes the connection."""
    received = []
    with (
        socket.create_connection(("127.0.0.1", service.port)) as client,
        suppress(ConnectionResetError, BrokenPipeError),  # it closes while bytes that it refused are on their way
    ):
        for part in parts:
            client.sendall(part)
        received.extend(iter(lambda: client.recv(65536), b""))
    return b"".join(received)


def head(service, *lines, path=QUERY, method="POST"):
    usual = ["Host: x", "Connection: close", f"Authorization: Bearer {service.tokens['ada']}"]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *usual, *lines, "", ""]).encode()


def test_a_token_opens_its_own_datasets_alone(service):
    for dataset in ("hospital", "nowhere", "elsewhere"):
        refused = service.ask(COUNT, by="eve", dataset=dataset)
        assert (refused.status, refused.content["code"]) == (404, "no-such-dataset")
        assert "hospital" not in refused.content["hint"]
    own = service.ask(COUNT, by="eve", dataset="hospital").content["detail"].replace("hospital", "X")
    unknown = service.ask(COUNT, by="eve", dataset="nowhere").content["detail"].replace("nowhere", "X")
    assert own == unknown


@pytest.mark.parametrize(
    "path",
    [
        "/v1/datasets/../../etc/passwd",
        "/v1/datasets/%2e%2e%2f%2e%2e%2fetc%2fpasswd/tables",
        "/v1/datasets/hospital%00/tables",
        "/v1/datasets/hospital/../hospital/export",
        "/v1/datasets//tables",
        "//evil.example/v1/me",
        "/docs/../v1/analysts",
        "/static/../../../etc/passwd",
    ],
)
def test_a_path_leads_nowhere_else(service, path):
    response = service.call("GET", path)
    assert response.status in {404, 405}
    assert response.headers["Content-Type"] == "application/problem+json"
    assert "root:" not in json.dumps(response.content)


def test_a_huge_body_is_refused_before_it_is_read(service):
    said = raw(service, head(service, "Content-Type: application/json", "Content-Length: 99999999999"))
    assert said.startswith(b"HTTP/1.1 413")
    assert b"body-too-large" in said


def test_a_huge_body_without_a_length_is_refused_while_it_is_read(service):
    chunk = b"a" * 60_000
    chunks = [b"%x\r\n%s\r\n" % (len(chunk), chunk)] * (MAXIMUM_BODY // len(chunk) + 2)
    start = head(service, "Content-Type: application/json", "Transfer-Encoding: chunked")
    said = next(filter(None, (raw(service, start, *chunks) for _ in range(9))))  # the answer may be lost with a reset
    assert said.startswith(b"HTTP/1.1 413")


def test_length_and_chunks_together_are_refused(service):
    lines = "Content-Type: application/json", "Content-Length: 5", "Transfer-Encoding: chunked"
    assert raw(service, head(service, *lines), b"0\r\n\r\n").startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("length", ["-1", "1e3", "0x10", "٣", "9" * 400])
def test_a_strange_length_is_refused(service, length):
    said = raw(service, head(service, "Content-Type: application/json", f"Content-Length: {length}"))
    assert said.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"sql":' * 50_000,
        b'{"sql": "SELECT 1", "params": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b'{"sql": "SELECT 1", "options": {"epsilon": ' + b"9" * 100_000 + b"}}",
        b'{"sql": "SELECT 1", "options": {"epsilon": NaN}}',
        b'{"sql": "SELECT 1", "options": {"epsilon": 1e999}}',
        b"\xff\xfe\x00",
        b"null",
        b"",
        b'{"sql": "\\ud800"}',
        b'{"sql": {"a": 1}}',
        b'{"sql": "SELECT 1", "sqls": 1}',
        b'{"sql": "SELECT 1", "statement_id": "../../x"}',
        b'{"sql": "SELECT 1", "dialect": "no-such-dialect"}',
    ],
    ids=range(14),
)
def test_a_body_that_is_no_statement_is_refused_by_a_problem(service, body):
    response = service.call("POST", QUERY, body, headers={"Content-Type": "application/json"})
    assert response.status in {400, 422}
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.content["code"] != "internal"
    assert len(json.dumps(response.content)) < 5000


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", ""]
)
def test_a_body_of_another_type_is_refused_so_that_no_page_can_send_one(service, kind):
    body = json.dumps({"sql": COUNT}).encode()
    response = service.call("POST", QUERY, body, headers={"Content-Type": kind})
    assert (response.status, response.content["code"]) == (415, "wrong-content-type")


def test_a_page_of_another_origin_gets_no_permission(service):
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for method in ("OPTIONS", "GET"):
        response = service.call(method, "/v1/me", headers=headers)
        assert not [name for name in response.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("path", ["/v1/me", "/nothing", "/docs", "/health", QUERY])
def test_every_response_has_the_headers_that_protect_browsers(service, path):
    headers = service.call("GET", path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Server" not in headers


@pytest.mark.parametrize("name", ["evil\r\nSet-Cookie: a=1", "a\nb", "\x00", "x" * 300, "default", "../olive"])
def test_a_name_cannot_hold_another_header(service, name):
    refused = service.call("POST", "/v1/analysts", {"name": name}, by="olive")
    assert refused.status in {400, 422}
    assert "Set-Cookie" not in refused.headers


def test_a_header_cannot_be_injected_through_a_path_or_an_answer(service):
    said = raw(service, head(service, path="/v1/datasets/x%0d%0aSet-Cookie:%20a=1", method="GET"))
    assert b"\nSet-Cookie" not in said.split(b"\r\n\r\n")[0]


def test_many_headers_are_refused(service):
    assert b"200 OK" not in raw(service, head(service, *(f"X-{number}: {'y' * 500}" for number in range(200))))[:20]


@pytest.fixture(scope="module")
def impatient(open_service):
    with open_service(header_seconds=0.05, body_seconds=0.05) as running:
        yield running


def test_a_client_that_sends_no_head_is_let_go(impatient):
    assert raw(impatient) == b""
    assert raw(impatient, b"GET /v1/me HT") == b""


def test_a_client_that_sends_no_body_is_let_go(impatient):
    said = raw(impatient, head(impatient, "Content-Type: application/json", "Content-Length: 100"), b'{"sql": "')
    assert said.startswith(b"HTTP/1.1 408")
    assert b"slow-request" in said


def test_slow_clients_hold_up_nobody(service):
    lines = head(service, "Content-Type: application/json", "Content-Length: 100")
    slow = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(30)]
    try:
        for client in slow:
            client.sendall(lines)
        assert service.ask(COUNT).status == 200
    finally:
        for client in slow:
            client.close()


def test_what_fails_inside_tells_nothing_of_its_cause(service, monkeypatch, capfd, caplog):
    def fail(*_, **__):
        raise RuntimeError(PRIVATE)

    database = service.databases["hospital"]
    monkeypatch.setattr(session_of(database).ledger, "charge", fail)
    broken = service.ask("SELECT COUNT(*) AS n FROM patients WHERE age < 2")
    monkeypatch.setattr(service.gateway, "tables", fail)
    outside = service.call("GET", "/v1/datasets/hospital/tables")
    monkeypatch.setattr(service.access, "by_token", fail)
    before = service.call("GET", "/v1/me")
    assert (broken.status, broken.content["code"]) == (502, "engine-failed")
    for response in (outside, before):
        assert (response.status, response.content["code"]) == (500, "internal")
    for response in (broken, outside, before):
        assert PRIVATE not in json.dumps(response.content) + str(response.headers)
    assert PRIVATE in database.owners_log.read_text()
    assert PRIVATE not in "".join(capfd.readouterr())
    assert not [record for record in caplog.records if not record.name.startswith("hedgerow.owner")]


def test_a_service_that_is_too_busy_says_when_to_come_back(service, monkeypatch):
    def full(*_):
        raise BusyError("Too many statements are waiting.", hint="Ask again in a moment.")

    monkeypatch.setattr(service.gateway.admission._queue, "_admit", full)
    refused = service.ask(COUNT)
    assert (refused.status, refused.content["code"]) == (429, "too-busy")
    assert int(refused.headers["Retry-After"]) > 0


def test_many_clients_at_once_are_answered_alike(service):
    expected, rows = service.ask(COUNT).content["rows"], []
    threads = [threading.Thread(target=lambda: rows.append(service.ask(COUNT).content["rows"])) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows == [expected] * 12


class Readings:
    """Health and metrics as a server gives them."""

    content_type = "text/plain; version=0.0.4"
    ready = False

    @property
    def parts(self):
        return {"service": "ok", "hospital": "ledger-io"}

    async def readiness(self):
        return self

    def render(self):
        return b"hedgerow_requests_total 1\n"


@pytest.fixture(scope="module")
def watched(open_service, authority):
    with open_service(health=Readings(), metrics=Readings(), tls=authority.context) as running:
        yield running


class Authority:
    """A private authority, with the certificate of a server at 127.0.0.1."""

    def __init__(self, folder):
        now, key = datetime.now(UTC), ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hedgerow test")])
        builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        builder = builder.add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        ).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        certificate = builder.sign(key, hashes.SHA256())
        self.file = folder / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        secret = folder / "key.pem"
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.file, secret)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


def test_the_client_trusts_whom_it_is_told_to_trust_and_nobody_else(watched, authority):
    address, token = f"https://{watched.listener.address}/hospital", watched.tokens["ada"]
    with hr.connect(address, token=token, ca=str(authority.file)) as db:
        assert len(db.sql(COUNT)) == 1
    with pytest.raises(hr.BackendError) as refused:
        hr.connect(address, token=token)
    assert refused.value.code == "service-tls"
    with pytest.raises(hr.ParameterError) as refused:
        hr.connect(address, token=token, ca=str(authority.file.with_name("none.pem")))
    assert refused.value.code == "bad-ca"
    with pytest.raises(hr.HedgerowError) as refused:
        hr.connect(f"http://{watched.listener.address}/hospital", token=token)
    assert refused.value.code == "service-lost"


def secure(watched, authority, path, **headers):
    trusting = ssl.create_default_context(cafile=str(authority.file))
    with (
        socket.create_connection(("127.0.0.1", watched.port)) as plain,
        trusting.wrap_socket(plain, server_hostname="127.0.0.1") as client,
    ):
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        client.sendall("\r\n".join([f"GET {path} HTTP/1.1", "Host: x", "Connection: close", *lines, "", ""]).encode())
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_health_needs_no_token_and_readiness_says_what_fails(watched, authority):
    alive = secure(watched, authority, "/health")
    assert alive.startswith(b"HTTP/1.1 200")
    assert b"strict-transport-security" in alive.lower()
    ready = secure(watched, authority, "/ready")
    assert ready.startswith(b"HTTP/1.1 503")
    assert b'"hospital":"ledger-io"' in ready


def test_metrics_are_for_this_machine_and_for_owners_and_auditors(watched, authority):
    assert b"hedgerow_requests_total 1" in secure(watched, authority, "/metrics")
    for proxied in ("X_Forwarded_For", "Forwarded", "X_Real_IP"):
        assert secure(watched, authority, "/metrics", **{proxied: "10.0.0.1"}).startswith(b"HTTP/1.1 401")
    for name, status in (("ada", b"403"), ("audrey", b"200"), ("olive", b"200")):
        token = f"Bearer {watched.tokens[name]}"
        said = secure(watched, authority, "/metrics", X_Forwarded_For="10.0.0.1", Authorization=token)
        assert said.split(b" ")[1] == status


def test_without_checks_a_service_is_ready_and_has_no_metrics(service):
    assert service.call("GET", "/ready", by=None).content == {"ready": True, "parts": {}}
    assert service.call("GET", "/metrics", by=None).status == 404


def test_a_port_that_is_taken_is_told_so(open_service, service):
    with pytest.raises(OSError, match="in use"), open_service(port=service.port):
        pass
