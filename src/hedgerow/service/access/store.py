"""The store of accounts and approval requests, in SQL that SQLite and PostgreSQL both run, and its errors.

Messages name accounts, requests and places, never a password or a token.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.ledger.base import ANONYMOUS
from hedgerow.service.access.model import (
    ApprovalRequest,
    Credentials,
    Identity,
    RequestState,
    Role,
    ScramVerifier,
    UserAccount,
    generate_credentials,
    hash_token,
    same_secret,
    scram_verifier,
)

FORMAT = 2
"""Version of the tables. A newer program may add to them; an older one refuses what it does not know."""

LONGEST_NAME = 63
"""Longest name of an account: PostgreSQL's clients cut longer ones."""

NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@+-]{{0,{LONGEST_NAME - 1}}}")

Execute = Callable[..., list[tuple[Any, ...]]]
"""Runs one statement of a transaction with its values, and returns its rows."""

ACCOUNT = "a.name, a.role, a.datasets, a.created, a.iterations, a.salt, a.stored_key, a.server_key, t.hash"
REQUEST = "id, dataset, analyst, sql, params, options, quote, state, created, decided_by"


def definitions(prefix: str, binary: str) -> tuple[str, ...]:
    """Return the statements that create the tables, each with `prefix`, where they are missing."""
    accounts = f"""
        name TEXT PRIMARY KEY, role TEXT NOT NULL, datasets TEXT, created TEXT NOT NULL, iterations INTEGER NOT NULL,
        salt {binary} NOT NULL, stored_key {binary} NOT NULL, server_key {binary} NOT NULL"""
    tokens = f"hash {binary} PRIMARY KEY, name TEXT NOT NULL"
    requests = """
        id TEXT PRIMARY KEY, dataset TEXT NOT NULL, analyst TEXT NOT NULL, sql TEXT NOT NULL, params TEXT NOT NULL,
        options TEXT NOT NULL, quote TEXT NOT NULL, state TEXT NOT NULL, created TEXT NOT NULL, decided_by TEXT"""
    answers = """
        id TEXT PRIMARY KEY, dataset TEXT NOT NULL, analyst TEXT NOT NULL, sql TEXT NOT NULL, params TEXT NOT NULL,
        options TEXT NOT NULL, created TEXT NOT NULL, document TEXT NOT NULL"""
    dashboards = """
        id TEXT PRIMARY KEY, dataset TEXT NOT NULL, owner TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
        shared INTEGER NOT NULL, tiles TEXT NOT NULL, changed TEXT NOT NULL"""
    tables = {
        "accounts": accounts,
        "tokens": tokens,
        "requests": requests,
        "answers": answers,
        "dashboards": dashboards,
    }
    return tuple(f"CREATE TABLE IF NOT EXISTS {prefix}{name} ({columns})" for name, columns in tables.items())


class AccessStoreError(HedgerowError):
    """The accounts or the approval requests could not be read or written."""

    code = "access-store"


def store_unreachable(place: object) -> AccessStoreError:
    """Error: the file or the server cannot be opened."""
    return AccessStoreError(
        f"The accounts in {place} cannot be read or written.",
        hint="Check the folder, its permissions and the disk."
        if isinstance(place, Path)
        else "Check that the server runs, and that this user may create and change tables in the schema.",
    )


def store_foreign(place: object) -> AccessStoreError:
    """Error: the file or the tables belong to another program."""
    return AccessStoreError(
        f"{place} is not a store of accounts.",
        code="access-store-foreign",
        hint="Name another place as `store` in [serve] of hedgerow.toml; this one was not changed.",
    )


def store_newer(place: object) -> AccessStoreError:
    """Error: a later version of the program wrote the store."""
    return AccessStoreError(
        f"The accounts in {place} were written by a newer version of hedgerow.",
        code="access-store-newer",
        hint="Upgrade hedgerow on this machine.",
    )


def store_closed() -> AccessStoreError:
    """Error: the store was closed before."""
    return AccessStoreError("The store of accounts is closed.")


class SqlAccessStore(ABC):
    """Accounts and approval requests in a database; safe to use from many threads and processes.

    Passwords are stored as SCRAM verifiers and tokens as hashes: who reads the store can log in with neither.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.observe_change: Callable[[str, str, str], None] = lambda _by, _kind, _target: None
        """Called after an owner changed something; see `AccessStore`."""
        self._accounts, self._tokens, self._requests = map(self.table, ("accounts", "tokens", "requests"))

    def table(self, name: str) -> str:
        """Return the name of one of the tables in SQL."""
        return f"{self._prefix}{name}"

    @abstractmethod
    def transaction(self, *, writing: bool) -> AbstractContextManager[Execute]:
        """One transaction: committed durably at the end, rolled back by an exception."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def account(self, name: str) -> UserAccount | None:
        """Return the account of a name; None if there is none."""
        return next(iter(self._select("a.name = ?", name)), None)

    def by_token(self, token: str) -> UserAccount | None:
        """Return the account that a token belongs to; None if there is none."""
        digest = hash_token(token)
        owner = f"a.name = (SELECT name FROM {self._tokens} WHERE hash = ?)"
        account = next(iter(self._select(owner, digest)), None)
        if account is None or not any(same_secret(digest, known) for known in account.token_hashes):
            return None
        return account

    def accounts(self) -> list[UserAccount]:
        """Return all accounts, by name."""
        return self._select("true")

    def add(self, identity: Identity) -> Credentials:
        """Create an account, and return its password and token, which are not stored."""
        if not NAME.fullmatch(identity.name) or identity.name == ANONYMOUS:
            raise AccessStoreError(
                f"An account needs a name of 1 to {LONGEST_NAME} letters, digits and . _ @ + - that opens with a "
                "letter or a digit; the name `default` belongs to questions without a name.",
                code="account-name",
                hint="Use a short name or an e-mail address, such as ann or ann@example.org.",
            )
        datasets = None if identity.datasets is None else json.dumps(sorted(identity.datasets))
        created = datetime.now(UTC).isoformat(timespec="microseconds")
        with self.transaction(writing=True) as execute:
            values = (identity.name, identity.role.value, datasets, created)
            taken = execute(
                f"INSERT INTO {self._accounts} VALUES (?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name",
                *values,
                *(b"", b"", b""),
            )
            if not taken:
                raise AccessStoreError(
                    f"There is already an account {identity.name}.",
                    code="account-exists",
                    hint=f"Choose another name, or give it new secrets: hedgerow analyst rotate {identity.name}",
                )
            return self._set_secrets(execute, identity.name)

    def rotate(self, name: str) -> Credentials:
        """Replace the password and all tokens of an account; the old ones are refused from now on."""
        with self.transaction(writing=True) as execute:
            return self._set_secrets(execute, name)

    def remove(self, name: str) -> None:
        """Remove an account. What it has spent stays in the ledger."""
        with self.transaction(writing=True) as execute:
            if not execute(f"DELETE FROM {self._accounts} WHERE name = ? RETURNING name", name):
                raise _no_account(name)
            execute(f"DELETE FROM {self._tokens} WHERE name = ?", name)

    def create_request(self, request: ApprovalRequest) -> None:
        """Store a request."""
        texts = (request.id, request.dataset, request.analyst, request.sql)
        parts = [json.dumps(part) for part in (request.params, dict(request.options), dict(request.quote))]
        created = request.created.astimezone(UTC).isoformat(timespec="microseconds")
        with self.transaction(writing=True) as execute:
            execute(
                f"INSERT INTO {self._requests} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(*texts, *parts, str(request.state), created, request.decided_by),
            )

    def request(self, identifier: str) -> ApprovalRequest | None:
        """Return the request of an id; None if there is none."""
        with self.transaction(writing=False) as execute:
            rows = execute(f"SELECT {REQUEST} FROM {self._requests} WHERE id = ?", identifier)
        return _to_request(rows[0]) if rows else None

    def requests(
        self, dataset: str | None = None, state: RequestState | None = None, analyst: str | None = None
    ) -> list[ApprovalRequest]:
        """Return requests, the oldest first: all, or those of one dataset, one analyst or in one state."""
        chosen = {"dataset": dataset, "state": state, "analyst": analyst}
        values = {name: str(value) for name, value in chosen.items() if value is not None}
        where = " AND ".join(f"{name} = ?" for name in values) or "true"
        with self.transaction(writing=False) as execute:
            rows = execute(
                f"SELECT {REQUEST} FROM {self._requests} WHERE {where} ORDER BY created, id", *values.values()
            )
        return [_to_request(row) for row in rows]

    def decide(self, identifier: str, state: RequestState, by: str) -> bool:
        """Grant or deny a pending request; return False if it is not pending any more."""
        decision = f"UPDATE {self._requests} SET state = ?, decided_by = ? WHERE id = ? AND state = 'pending'"
        with self.transaction(writing=True) as execute:
            return bool(execute(f"{decision} RETURNING id", str(state), by, identifier))

    def use(self, identifier: str) -> bool:
        """Use up a granted request. True for one caller only, whichever process or server it is in."""
        used = f"UPDATE {self._requests} SET state = 'used' WHERE id = ? AND state = 'granted' RETURNING id"
        with self.transaction(writing=True) as execute:
            return bool(execute(used, identifier))

    def restore(self, identifier: str) -> None:
        """Make a request that was used up granted again, because its question was not charged after all."""
        restored = f"UPDATE {self._requests} SET state = 'granted' WHERE id = ? AND state = 'used'"
        with self.transaction(writing=True) as execute:
            execute(restored, identifier)

    def _select(self, where: str, *values: Any) -> list[UserAccount]:  # noqa: ANN401 - values of the database
        join = f"{self._accounts} a LEFT JOIN {self._tokens} t ON t.name = a.name"
        with self.transaction(writing=False) as execute:
            return _to_accounts(execute(f"SELECT {ACCOUNT} FROM {join} WHERE {where} ORDER BY a.name", *values))

    def _set_secrets(self, execute: Execute, name: str) -> Credentials:
        """Replace the password and all tokens of an account inside a transaction."""
        credentials = generate_credentials()
        verifier = scram_verifier(credentials.password)
        keys = "iterations = ?, salt = ?, stored_key = ?, server_key = ?"
        parts = (verifier.iterations, verifier.salt, verifier.stored_key, verifier.server_key)
        if not execute(f"UPDATE {self._accounts} SET {keys} WHERE name = ? RETURNING name", *parts, name):
            raise _no_account(name)
        execute(f"DELETE FROM {self._tokens} WHERE name = ?", name)
        execute(f"INSERT INTO {self._tokens} VALUES (?, ?)", hash_token(credentials.token), name)
        return credentials


def _no_account(name: str) -> AccessStoreError:
    return AccessStoreError(
        f"There is no account {name}.", code="no-such-account", hint="List them: hedgerow analyst list"
    )


def _to_accounts(rows: Iterable[Sequence[Any]]) -> list[UserAccount]:
    """Return accounts from rows that repeat an account for each of its tokens."""
    grouped: dict[str, list[Sequence[Any]]] = {}
    for row in rows:
        grouped.setdefault(row[0], []).append(row)
    return [
        UserAccount(
            Identity(
                name, Role(first[1]), None if first[2] is None else frozenset(json.loads(first[2])), bytes(first[5])
            ),
            datetime.fromisoformat(first[3]),
            ScramVerifier(first[4], *(bytes(part) for part in first[5:8])),
            frozenset(bytes(row[8]) for row in same if row[8] is not None),
        )
        for name, same in grouped.items()
        for first in same[:1]
    ]


def _to_request(row: Sequence[Any]) -> ApprovalRequest:
    identifier, dataset, analyst, sql, *parts, state, created, decided_by = row
    params, options, quote = (json.loads(part) for part in parts)
    timestamp = datetime.fromisoformat(created)
    return ApprovalRequest(
        identifier, dataset, analyst, sql, params, options, quote, timestamp, RequestState(state), decided_by
    )
