"""Passwords and tokens: generated here, shown once, and stored only in forms that do not reveal them."""

import hashlib
import hmac
import secrets
import string

from hedgerow.service.access.model import Credentials, ScramVerifier

ITERATIONS = 4096
"""Rounds of SCRAM, PostgreSQL's default. Passwords are generated with 142 bits: no search finds one, however fast."""

PREFIX = "hr_"
"""Prefix of every token, by which secret scanners recognise one."""

TOKEN_BYTES = 32
PASSWORD_LENGTH = 24
SALT_BYTES = 16
ALPHABET = string.ascii_letters + string.digits
"""Letters that need no quoting in shells and URLs, and that SASLprep (RFC 4013) leaves as they are."""


def generate_credentials() -> Credentials:
    """Return a new password and a new token, from the operating system's random source."""
    password = "".join(secrets.choice(ALPHABET) for _ in range(PASSWORD_LENGTH))
    return Credentials(password=password, token=PREFIX + secrets.token_urlsafe(TOKEN_BYTES))


def hash_token(token: str) -> bytes:
    """Return the SHA-256 hash of a token. A token has 256 random bits, so the hash needs no salt."""
    return hashlib.sha256(token.encode()).digest()


def scram_verifier(password: str, *, salt: bytes | None = None, iterations: int = ITERATIONS) -> ScramVerifier:
    """Return the SCRAM-SHA-256 verifier of a password (RFC 5802, RFC 7677).

    The verifier checks a login without revealing the password; with `server_key` the server proves that it has it.
    """
    if salt is None:
        salt = secrets.token_bytes(SALT_BYTES)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    return ScramVerifier(iterations, salt, hashlib.sha256(client_key).digest(), server_key)


def same_secret(one: bytes, other: bytes) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one, other)


def password_matches(password: str, verifier: ScramVerifier) -> bool:
    """Check a password against its verifier."""
    candidate = scram_verifier(password, salt=verifier.salt, iterations=verifier.iterations)
    return same_secret(candidate.stored_key, verifier.stored_key)
