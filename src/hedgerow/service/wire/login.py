"""The start of a connection: TLS, protocol version, start-up parameters, and the login by SCRAM.

SCRAM-SHA-256 and SCRAM-SHA-256-PLUS are in RFC 5802, 7677 and 5929. An unknown name goes through the whole exchange
with a verifier that nobody has a password for, so that names cannot be told apart. Its salt depends on the name and on
a secret alone: asked twice, it is the same.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import secrets
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

from hedgerow.service.access.model import AccessStore, Identity, ScramVerifier, Throttle
from hedgerow.service.wire import messages
from hedgerow.service.wire.messages import (
    CANCEL_CODE,
    GSS_CODE,
    PROTOCOL_MAJOR,
    TLS_CODE,
    MessageBody,
    Outbox,
    ProtocolError,
)

LONGEST_START = 10_000
"""Number of bytes of a message before the login."""

NOT_SETTINGS = frozenset({"user", "database", "options", "replication"})

OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.-]*)=((?:\\.|[^\\\s])*)", re.DOTALL)


class LoginError(Exception):
    """The login is refused; the connection is closed."""

    def __init__(self, message: str, sqlstate: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Cancel:
    """A request to cancel what another connection runs."""

    process_id: int
    secret: bytes


@dataclass(frozen=True, slots=True)
class Start:
    """A start-up message: user, dataset, and settings for the session."""

    user: str
    dataset: str
    settings: Mapping[str, str]


async def read_first(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, outbox: Outbox, tls: ssl.SSLContext | None
) -> Start | Cancel:
    """Answer requests for encryption, and return the message that follows them."""
    for _ in range(3):
        code, body = await messages.read_start(reader, LONGEST_START)
        if code == GSS_CODE:
            writer.write(b"N")
        elif code == TLS_CODE:
            if tls is None or writer.get_extra_info("ssl_object") is not None:
                writer.write(b"N")
            else:
                writer.write(b"S")
                await writer.drain()
                # plain bytes that arrived before must not be treated as encrypted (CVE-2021-23222)
                if reader._buffer:  # type: ignore[attr-defined]  # noqa: SLF001 - no public method tells
                    raise ProtocolError("received unencrypted data after SSL request")
                await writer.start_tls(tls)
        elif code == CANCEL_CODE:
            return Cancel(int.from_bytes(body[:4], "big"), body[4:])
        elif code >> 16 == PROTOCOL_MAJOR:
            return _start(code & 0xFFFF, messages.start_parameters(body), outbox)
        else:
            raise ProtocolError(
                f"unsupported frontend protocol {code >> 16}.{code & 0xFFFF}: server supports 3.0", "0A000"
            )
    raise ProtocolError("too many requests for encryption")


def _start(minor: int, parameters: Mapping[str, str], outbox: Outbox) -> Start:
    options = [name for name in parameters if name.startswith("_pq_.")]
    if minor or options:
        outbox.add(messages.negotiate(options))
    settings = {name: value for name, value in parameters.items() if name not in {*options, *NOT_SETTINGS}}
    if parameters.get("replication", "false").lower() not in {"false", "off", "no", "0"}:
        raise LoginError("replication is not supported", "0A000")
    user = parameters.get("user", "")
    if not user:
        raise LoginError("no PostgreSQL user name specified in startup packet", "28000")
    settings |= read_options(parameters.get("options", ""))
    return Start(user, parameters.get("database") or user, settings)


def read_options(text: str) -> dict[str, str]:
    r"""Return the settings in the start-up parameter `options`.

    Example:
        >>> read_options(r"-c hedgerow.epsilon=1 --search_path=a\ b -cTimeZone=UTC")
        {'hedgerow.epsilon': '1', 'search_path': 'a b', 'TimeZone': 'UTC'}
    """
    settings, rest = {}, OPTION.sub(" ", text)
    if rest.strip():
        raise LoginError("invalid command-line argument for server process", "42601", "Write options as -c name=value.")
    for match in OPTION.finditer(text):
        settings[match[1].replace("-", "_")] = re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL)
    return settings


class Login:
    """Checks names and passwords with SCRAM-SHA-256. No other method is offered. Each refusal calls `report`."""

    def __init__(self, access: AccessStore, throttle: Throttle, report: Callable[[], None]) -> None:
        self._access = access
        self._report = report
        self._verifiers = Verifiers(access)
        self._throttle = throttle

    async def identify(
        self, user: str, reader: asyncio.StreamReader, outbox: Outbox, address: str, tls: ssl.SSLContext | None
    ) -> Identity:
        """Return the identity of `user`, once the client has proved it.

        An unknown name, a wrong password and a broken exchange are refused in the same words.
        """
        wait = self._throttle.wait(address, user)
        if wait > 0:
            raise LoginError("too many failed logins", "28P01", f"Try again in {wait:.0f} seconds.")
        try:
            await self._exchange(user, reader, outbox, None if tls is None else certificate_hash(tls))
        except (ScramError, ProtocolError):
            self._throttle.failed(address, user)
            self._report()
            raise _refused(user) from None
        account = await asyncio.to_thread(self._access.account, user)
        if account is None:  # removed during the login
            raise _refused(user)
        self._throttle.succeeded(address, user)
        outbox.add(messages.authentication(0))
        return account.identity

    async def _exchange(self, user: str, reader: asyncio.StreamReader, outbox: Outbox, binding: bytes | None) -> None:
        mechanisms = [PLAIN] if binding is None else [PLUS, PLAIN]
        outbox.add(messages.authentication(10, b"".join(messages.string(name) for name in mechanisms) + b"\0"))
        await outbox.flush()
        verifier = await asyncio.to_thread(self._verifiers.of, user)
        body = MessageBody(await _password(reader))
        mechanism = body.string()
        if mechanism not in mechanisms:
            raise ScramError("client selected an invalid SASL authentication mechanism")
        exchange = ScramExchange(verifier, mechanism, binding)
        outbox.add(messages.authentication(11, exchange.first(body.value() or b"")))
        await outbox.flush()
        outbox.add(messages.authentication(12, exchange.final(await _password(reader))))


def _refused(user: str) -> LoginError:
    return LoginError(f'password authentication failed for user "{user}"', "28P01")


async def _password(reader: asyncio.StreamReader) -> bytes:
    kind, body = await messages.read_message(reader, LONGEST_START)
    if kind != ord("p"):
        raise ProtocolError("expected SASL response")
    return body


PLAIN, PLUS = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
BINDING = "tls-server-end-point"

ITERATIONS = 4096
"""Iterations of the verifier of an unknown name, where there is no account to take them from."""

FIRST = re.compile(r"(?P<header>(?P<flag>n|y|p=[A-Za-z0-9.-]+),,)(?P<bare>n=[^,]*,r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+))")
FINAL = re.compile(
    r"(?P<unproven>c=(?P<binding>[A-Za-z0-9+/=]+),r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+)),p=(?P<proof>[A-Za-z0-9+/=]+)"
)


class ScramError(Exception):
    """The exchange failed: a wrong password, or messages that break its rules."""


class ScramExchange:
    """One login: `first` answers the client's first message, `final` its second."""

    def __init__(self, verifier: ScramVerifier, mechanism: str, certificate_hash: bytes | None) -> None:
        """Begin an exchange.

        Args:
            verifier: That of the account.
            mechanism: The one that the client chose.
            certificate_hash: Hash of the server's certificate, if channel binding was offered.
        """
        self._verifier = verifier
        self._mechanism = mechanism
        self._certificate_hash = certificate_hash
        self._binding = b""
        self._signed = ""
        self._nonce = ""

    def first(self, message: bytes) -> bytes:
        """Return the challenge: nonce, salt and iterations."""
        match = FIRST.fullmatch(_text(message))
        if match is None:
            raise ScramError("malformed SCRAM message")
        flag, plus = match["flag"], self._mechanism == PLUS
        if plus != flag.startswith("p=") or (plus and flag != f"p={BINDING}"):
            raise ScramError("the channel binding does not fit the mechanism")
        if flag == "y" and self._certificate_hash is not None:
            raise ScramError("channel binding was offered, and somebody hid that from the client")
        self._binding = match["header"].encode() + (self._certificate_hash or b"" if plus else b"")
        self._nonce = match["nonce"] + secrets.token_urlsafe(18)
        salt = base64.b64encode(self._verifier.salt).decode()
        challenge = f"r={self._nonce},s={salt},i={self._verifier.iterations}"
        self._signed = f"{match['bare']},{challenge}"
        return challenge.encode()

    def final(self, message: bytes) -> bytes:
        """Verify the client's proof, and return the server's."""
        match = FINAL.fullmatch(_text(message))
        if match is None:
            raise ScramError("malformed SCRAM message")
        signed = f"{self._signed},{match['unproven']}".encode()
        proof, binding = _base64(match["proof"]), _base64(match["binding"])
        signature = hmac.digest(self._verifier.stored_key, signed, "sha256")
        client_key = bytes(left ^ right for left, right in zip(proof, signature, strict=False))
        knows_password = hmac.compare_digest(hashlib.sha256(client_key).digest(), self._verifier.stored_key)
        same_channel = hmac.compare_digest(binding, self._binding)
        same_nonce = hmac.compare_digest(match["nonce"], self._nonce)
        if not (knows_password and same_channel and same_nonce and len(proof) == len(signature)):
            raise ScramError("wrong password")
        return b"v=" + base64.b64encode(hmac.digest(self._verifier.server_key, signed, "sha256"))


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise ScramError("malformed SCRAM message") from None


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ScramError("malformed SCRAM message") from None


class Verifiers:
    """Verifiers of names, known or not."""

    def __init__(self, access: AccessStore) -> None:
        self._access = access
        self._process_secret = secrets.token_bytes(32)

    def of(self, name: str) -> ScramVerifier:
        """Return the verifier of an account; for a name without one, a verifier that no password fits."""
        account = self._access.account(name)
        mock = self._mock(name)
        return mock if account is None or account.verifier is None else account.verifier

    def _mock(self, name: str) -> ScramVerifier:
        """Return a verifier that looks like others and stays the same: on all nodes, and after a restart.

        Its secret is the server key of the oldest account, which the store alone knows.
        """
        accounts = [(account.created, account.verifier) for account in self._access.accounts() if account.verifier]
        oldest = min(accounts, key=lambda pair: pair[0])[1] if accounts else None
        secret = self._process_secret if oldest is None else oldest.server_key
        salt = hmac.digest(secret, b"salt of " + name.encode(), "sha256")
        length = 16 if oldest is None else len(oldest.salt)
        iterations = ITERATIONS if oldest is None else oldest.iterations
        return ScramVerifier(iterations, salt[:length], secrets.token_bytes(32), secrets.token_bytes(32))


def certificate_hash(context: ssl.SSLContext) -> bytes | None:
    """Return the hash of a server's certificate for channel binding; None if its kind has no such hash.

    A context does not tell its certificate, so this makes a connection to itself in memory.
    """
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname, client_context.verify_mode = False, ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(to_server, to_client, server_side=True)
    client = client_context.wrap_bio(to_client, to_server, server_side=False)
    for _ in range(10):
        client_done, _server_done = _step(client), _step(server)
        if client_done:
            break
    certificate = client.getpeercert(binary_form=True) or b""
    try:
        algorithm = x509.load_der_x509_certificate(certificate).signature_hash_algorithm
    except (UnsupportedAlgorithm, ValueError):
        return None
    if algorithm is None:
        return None
    name = "sha256" if algorithm.name in {"md5", "sha1"} else algorithm.name
    return hashlib.new(name.replace("-", "_") if name.startswith("sha3") else name, certificate).digest()


def _step(side: ssl.SSLObject) -> bool:
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True
