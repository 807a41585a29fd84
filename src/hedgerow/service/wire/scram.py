"""SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 7677, 5929): the server's side of a login.

An unknown name goes through the whole exchange with a verifier that nobody has a password for, so that names cannot be
told apart. Its salt depends on the name and on a secret alone: asked twice, it is the same.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import ssl

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

from hedgerow.service.access.model import AccessStore, ScramVerifier

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
