"""One server for all tests of the wire: the demo's hospital, with and without TLS, in a thread of its own."""

import asyncio
import datetime as dt
import ssl
import struct
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.internals import session_of

import hedgerow as hr
from hedgerow.demo import HospitalFiles, build
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Identity, Role
from hedgerow.service.gateway import Gateway
from hedgerow.service.shadow.cluster import Shadow
from hedgerow.service.statement_queue import ServiceLimits
from hedgerow.service.wire.listener import WireLimits, WireListener

QUESTION = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY region ORDER BY region"


def self_signed(folder):
    """Write a key and a certificate for localhost, and return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    no_password = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "server.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, no_password))
    return folder / "server.pem", folder / "server.key"


class Server:
    """The running server, and how to reach it."""

    def __init__(self, folder):
        self.folder = folder
        files = HospitalFiles(folder / "hospital.duckdb", folder / "hospital.yaml", folder / "hospital.ledger")
        build(files, people=20_000)
        self.db = hr.connect(files.database, catalog=files.catalog, ledger=files.ledger)
        self.access = open_access(folder / "access.sqlite")
        self.password = self.access.add(Identity("ana")).password
        self.auditor_password = self.access.add(Identity("rita", Role.AUDITOR)).password
        self.stranger_password = self.access.add(Identity("sam", datasets=frozenset({"other"}))).password
        self.certificate, key = self_signed(folder)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.certificate, key)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="wire-server")
        self._thread.start()
        self.run(self._start())

    def run(self, coroutine):
        """The result of a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(120)

    async def _start(self):
        self.gateway = Gateway({"hospital": self.db}, self.access, ServiceLimits(per_analyst=16))
        self.shadow = Shadow()
        await self.shadow.start({"hospital": self.db})
        self.plain = await self.listen(None)
        self.encrypted = await self.listen(self.tls)

    async def listen(self, tls=None, **limits):
        listener = WireListener(
            self.gateway, self.access, self.shadow, "127.0.0.1", 0, tls, WireLimits(**{"idle_seconds": 600, **limits})
        )
        await listener.start()
        return listener

    def stop(self):
        async def stop():
            await self.plain.stop(5)
            await self.encrypted.stop(5)
            await self.gateway.admission.drain(5)
            await self.shadow.stop()

        self.run(stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        self.access.close()
        self.db.close()

    @property
    def port(self):
        return port_of(self.plain)

    @property
    def url(self):
        return f"postgresql://ana:{self.password}@127.0.0.1:{self.port}/hospital"

    @property
    def tls_url(self):
        """The address over TLS, with the server's name verified and channel binding required."""
        port = port_of(self.encrypted)
        return (
            f"postgresql://ana:{self.password}@localhost:{port}/hospital"
            f"?sslmode=verify-full&sslrootcert={self.certificate}"
        )


def port_of(listener):
    return int(listener.address.rpartition(":")[2])


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("wire"))
    yield server
    server.stop()


class Gate:
    """Holds the first statement that was charged until it may go on."""

    def __init__(self):
        self.reached, self.opened = threading.Event(), threading.Event()


@pytest.fixture
def gate(server, monkeypatch):
    """Statements stop at this gate, each right after its charge is durable."""
    gate, ledger = Gate(), session_of(server.db).ledger
    charge = ledger.charge

    def held(*words, **options):
        receipt = charge(*words, **options)
        if not gate.reached.is_set():
            gate.reached.set()
            gate.opened.wait(60)
        return receipt

    monkeypatch.setattr(ledger, "charge", held)
    yield gate
    gate.opened.set()


def message(kind, *parts):
    body = b"".join(part.encode() + b"\0" if isinstance(part, str) else part for part in parts)
    return kind + struct.pack("!I", len(body) + 4) + body
