"""Accounts, credentials and requests for approval, the store that keeps them, and limits on failed logins.

The ledger knows analysts by name and does not verify the name. The service does: whoever asks is an `Identity`, which
only a store of accounts or an identity provider may make. Passwords and tokens are generated here, shown once, and
stored only in forms that do not reveal them.
"""

import hashlib
import hmac
import secrets
import string
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class Role(StrEnum):
    """Rights of an account.

    An analyst asks, within a cap. An owner also manages accounts and decides about requests. An auditor reads the
    ledger, and asks nothing.
    """

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated caller.

    Attributes:
        name: The name.
        role: The role.
        datasets: Datasets that they may use; None stands for all.
        issued: Version of the account's secrets; None for an identity from an identity provider.
    """

    name: str
    role: Role = Role.ANALYST
    datasets: frozenset[str] | None = None
    issued: bytes | None = field(default=None, compare=False, repr=False)

    def may_use(self, dataset: str) -> bool:
        """Return True if a dataset is among those of this identity."""
        return self.datasets is None or dataset in self.datasets


@dataclass(frozen=True, slots=True)
class ScramVerifier:
    """The part of a password that a server keeps for SCRAM-SHA-256 (RFC 5802): it verifies, and cannot log in."""

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes


@dataclass(frozen=True, slots=True)
class Credentials:
    """Password (PostgreSQL wire) and token (HTTP) of an account. They are shown once and kept nowhere."""

    password: str
    token: str


@dataclass(frozen=True, slots=True)
class UserAccount:
    """One account as the store keeps it."""

    identity: Identity
    created: datetime
    verifier: ScramVerifier | None = None
    token_hashes: frozenset[bytes] = frozenset()


class RequestState(StrEnum):
    """State of a request for approval. A granted request allows one answer and is then used."""

    PENDING = "pending"
    GRANTED = "granted"
    DENIED = "denied"
    USED = "used"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question that needs the owner's approval because of its price, with its quote. Nothing is charged for it yet.

    Attributes:
        id: Random identifier.
        dataset: Name of the dataset.
        analyst: Name of the analyst.
        sql: The text of the question.
        params: Its parameters, as plain JSON.
        options: Its options, as plain JSON.
        quote: Its quote, as plain JSON.
        created: Time at which it was asked.
        state: See `RequestState`.
        decided_by: Name of the owner who granted or denied it.
    """

    id: str
    dataset: str
    analyst: str
    sql: str
    params: Any
    options: Mapping[str, Any]
    quote: Mapping[str, Any]
    created: datetime
    state: RequestState = RequestState.PENDING
    decided_by: str | None = None

    def asks(self, dataset: str, analyst: str, sql: str, params: object, options: Mapping[str, Any]) -> bool:
        """Return True if this request is for exactly that question."""
        mine = self.dataset, self.analyst, self.sql, self.params, dict(self.options)
        return mine == (dataset, analyst, sql, params, dict(options))


class AccessStore(Protocol):
    """Accounts and requests of one service. Safe to use from many threads and, on one store, from many processes."""

    observe_change: Callable[[str, str, str], None]
    """Called after an owner changed something: with the owner, the kind of the change, and its target."""

    def account(self, name: str) -> UserAccount | None:
        """Return the account called `name`, if there is one."""

    def by_token(self, token: str) -> UserAccount | None:
        """Return the account that a token belongs to, if there is one."""

    def accounts(self) -> list[UserAccount]:
        """Return all accounts, by name."""

    def add(self, identity: Identity) -> Credentials:
        """Create an account and return its credentials, which cannot be read again."""

    def rotate(self, name: str) -> Credentials:
        """Replace the credentials of an account; the old ones end at once."""

    def remove(self, name: str) -> None:
        """Remove an account. Its charges stay in the ledger."""

    def create_request(self, request: ApprovalRequest) -> None:
        """Keep a new request."""

    def request(self, identifier: str) -> ApprovalRequest | None:
        """Return one request."""

    def requests(
        self, dataset: str | None = None, state: RequestState | None = None, analyst: str | None = None
    ) -> list[ApprovalRequest]:
        """Return requests, the oldest first."""

    def decide(self, identifier: str, state: RequestState, by: str) -> bool:
        """Grant or deny a pending request; return False if it is not pending any more."""

    def use(self, identifier: str) -> bool:
        """Use up a granted request; return False if it is not granted. Of several that try at once, one succeeds."""

    def restore(self, identifier: str) -> None:
        """Make a request that was used up granted again, because its question was not charged after all."""

    def close(self) -> None:
        """Close the store."""


ITERATIONS = 4096
"""Rounds of SCRAM, PostgreSQL's default. Passwords are generated with 142 bits: no search finds one, however fast."""

TOKENS_BEGIN = "hr_"
"""Prefix of every token, by which secret scanners recognise one."""

TOKEN_BYTES = 32
PASSWORD_LENGTH = 24
SALT_BYTES = 16
ALPHABET = string.ascii_letters + string.digits
"""Letters that need no quoting in shells and URLs, and that SASLprep (RFC 4013) leaves as they are."""


def generate_credentials() -> Credentials:
    """Return a new password and a new token, from the operating system's random source."""
    password = "".join(secrets.choice(ALPHABET) for _ in range(PASSWORD_LENGTH))
    return Credentials(password=password, token=TOKENS_BEGIN + secrets.token_urlsafe(TOKEN_BYTES))


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


FREE_FAILURES = 5
"""Number of failures of one name from one address after which it has to wait."""

LONGEST_WAIT = 60.0
"""Longest wait in seconds between a failure and the next attempt."""

FROM_ONE_ADDRESS = 50
"""Number of failures from one address, of whatever names, after which it has to wait."""

KEPT = 10_000
"""Number of names and addresses that are remembered."""


class Throttle:
    """Remembers failures by address and name. A name that does not exist counts like one that does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[tuple[str, str | None], tuple[int, float]] = {}

    def wait(self, address: str, name: str) -> float:
        """Return the seconds until this name may try again from this address; 0 if it may now."""
        own = self._wait((address, name), FREE_FAILURES)
        return max(own, self._wait((address, None), FROM_ONE_ADDRESS))

    def failed(self, address: str, name: str) -> None:
        """Count a failure."""
        for key in ((address, name), (address, None)):
            count, since = self._failures.pop(key, (0, 0.0))
            fresh = self._clock() - since > LONGEST_WAIT
            self._failures[key] = (1 if fresh else count + 1), self._clock()
        while len(self._failures) > KEPT:
            del self._failures[next(iter(self._failures))]

    def succeeded(self, address: str, name: str) -> None:
        """Forget the failures of a name that has logged in."""
        self._failures.pop((address, name), None)

    def _wait(self, key: tuple[str, str | None], free: int) -> float:
        count, since = self._failures.get(key, (0, 0.0))
        if count < free:
            return 0.0
        pause = min(2.0 ** (count - free), LONGEST_WAIT)
        return max(0.0, since + pause - self._clock())
