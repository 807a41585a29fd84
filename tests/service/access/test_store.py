"""Accounts and approval requests, on each kind of store, with several stores open at once as several servers do."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hedgerow.ledger.postgres_connection import Address
from hedgerow.service.access import open_access
from hedgerow.service.access.model import ApprovalRequest, Identity, RequestState, Role, password_matches
from hedgerow.service.access.postgres import REMEMBERED, PostgresAccessStore
from hedgerow.service.access.store import AccessStoreError

ANN = Identity("ann", Role.ANALYST, frozenset({"shop"}))


def request(identifier="r1", **changes):
    values = {
        "dataset": "shop",
        "analyst": "ann",
        "sql": "SELECT COUNT(*) FROM people WHERE x > :x",
        "params": {"x": 1.5},
        "options": {"epsilon": 2},
        "quote": {"charge": {"epsilon": 2.0}},
        "created": datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    }
    return ApprovalRequest(identifier, **values | changes)


def test_an_account_is_seen_by_every_open_store_at_once(opened):
    one, other = opened(), opened()
    assert other.account("ann") is None
    credentials = one.add(ANN)
    account = other.account("ann")
    assert account.identity == ANN
    assert password_matches(credentials.password, account.verifier)
    assert other.by_token(credentials.token) == account
    assert [known.identity.name for known in other.accounts()] == ["ann"]


def test_an_account_survives_its_store(opened):
    first = opened()
    credentials = first.add(Identity("olga", Role.OWNER))
    first.close()
    account = opened().by_token(credentials.token)
    assert account.identity == Identity("olga", Role.OWNER, None)
    assert account.created.tzinfo is not None


def test_rotation_ends_the_old_secrets(store):
    old = store.add(ANN)
    new = store.rotate("ann")
    assert store.by_token(old.token) is None
    assert store.by_token(new.token).identity == ANN
    assert not password_matches(old.password, store.account("ann").verifier)
    assert password_matches(new.password, store.account("ann").verifier)


def test_a_removed_account_is_gone_with_its_tokens(store):
    credentials = store.add(ANN)
    store.remove("ann")
    assert store.account("ann") is None
    assert store.by_token(credentials.token) is None
    renewed = store.add(ANN)
    assert store.by_token(credentials.token) is None
    assert store.by_token(renewed.token) is not None


@pytest.mark.parametrize("token", ["", "hr_", "hr_nobody", "ann", "é\x00"])
def test_an_unknown_token_belongs_to_nobody(store, token):
    store.add(ANN)
    assert store.by_token(token) is None


@pytest.mark.parametrize("name", ["", "default", "-x", "a b", "a" * 64, "é", "a\n", "x';--", "*"])
def test_a_name_that_logs_or_clients_could_misread_is_refused(store, name):
    with pytest.raises(AccessStoreError) as refused:
        store.add(Identity(name, Role.ANALYST))
    assert refused.value.code == "account-name"


def test_names_are_unique_and_mistakes_are_told(store):
    store.add(ANN)
    mistakes = {
        "account-exists": lambda: store.add(Identity("ann", Role.OWNER)),
        "no-such-account": lambda: store.remove("bob"),
    }
    for code, mistake in mistakes.items():
        with pytest.raises(AccessStoreError) as refused:
            mistake()
        assert refused.value.code == code
    with pytest.raises(AccessStoreError):
        store.rotate("bob")
    assert store.account("ann").identity == ANN


def test_a_request_comes_back_as_it_was(store):
    store.create_request(request())
    assert store.request("r1") == request()
    assert store.request("r2") is None


def test_requests_are_chosen_by_dataset_state_and_analyst(store):
    for number, changes in enumerate([{}, {"dataset": "bank"}, {"analyst": "bob"}]):
        store.create_request(request(f"r{number}", **changes))
    assert store.decide("r2", RequestState.DENIED, "olga")
    assert [known.id for known in store.requests()] == ["r0", "r1", "r2"]
    assert [known.id for known in store.requests("shop")] == ["r0", "r2"]
    assert [known.id for known in store.requests("shop", RequestState.PENDING)] == ["r0"]
    assert [known.id for known in store.requests(analyst="bob")] == ["r2"]


def test_a_decision_is_final(store):
    store.create_request(request())
    assert not store.use("r1")
    assert store.decide("r1", RequestState.GRANTED, "olga")
    assert not store.decide("r1", RequestState.DENIED, "otto")
    assert not store.decide("r2", RequestState.GRANTED, "olga")
    assert (store.request("r1").state, store.request("r1").decided_by) == (RequestState.GRANTED, "olga")


def test_a_granted_request_is_used_once_however_many_servers_try(opened):
    stores = [opened() for _ in range(4)]
    stores[0].create_request(request())
    stores[1].decide("r1", RequestState.GRANTED, "olga")
    with ThreadPoolExecutor(8) as threads:
        uses = list(threads.map(lambda number: stores[number % 4].use("r1"), range(16)))
    assert sum(uses) == 1
    assert stores[3].request("r1").state is RequestState.USED


def test_neither_passwords_nor_tokens_are_stored(store, location):
    credentials = store.add(ANN)
    with store.transaction(writing=False) as execute:
        stored = [execute(f"SELECT * FROM {table}") for table in (store._accounts, store._tokens)]
    written = repr(stored).encode()
    if isinstance(location, Path):
        written += b"".join(path.read_bytes() for path in location.parent.iterdir())
    assert credentials.password.encode() not in written
    assert credentials.token.removeprefix("hr_").encode() not in written


def test_a_failed_change_leaves_nothing(store):
    def change():
        with store.transaction(writing=True) as execute:
            execute(f"INSERT INTO {store._tokens} VALUES (?, ?)", b"x", "ann")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change()
    with store.transaction(writing=False) as execute:
        assert execute(f"SELECT * FROM {store._tokens}") == []


def test_threads_share_a_store(store):
    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(lambda number: store.add(Identity(f"a{number}")), range(16)))
        names = list(threads.map(lambda known: store.by_token(known.token).identity.name, added))
    assert names == [f"a{number}" for number in range(16)]


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(AccessStoreError, match="closed"):
        store.accounts()


def test_another_process_adds_an_account_that_is_seen_at_once(opened, location):
    store = opened()
    program = (
        "import sys; from hedgerow.service.access import open_access;"
        "from hedgerow.service.access.model import Identity;"
        "store = open_access(sys.argv[1]); print(store.add(Identity('ann')).token); store.close()"
    )
    command = [sys.executable, "-c", program, str(location)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own text
    assert store.by_token(done.stdout.strip()).identity.name == "ann"


def test_a_newer_format_is_refused(opened, location):
    store = opened()
    if isinstance(location, Path):
        with closing(sqlite3.connect(location)) as connection:
            connection.execute("PRAGMA user_version = 99")
    else:
        with store.transaction(writing=True) as execute:
            execute(f"UPDATE {Address.of(location).schema}.access_format SET number = 99")
    with pytest.raises(AccessStoreError) as refused:
        opened()
    assert refused.value.code == "access-store-newer"


class TestFile:
    """Properties of a store in a file."""

    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "shop.access"

    def test_only_its_owner_can_read_it(self, path):
        store = open_access(path)
        store.add(ANN)
        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
        store.close()

    def test_a_file_that_others_can_read_is_refused(self, path):
        open_access(path).close()
        path.chmod(0o640)
        with pytest.raises(AccessStoreError) as refused:
            open_access(path)
        assert refused.value.code == "access-store-permissions"

    @pytest.mark.parametrize("content", [b"dataset: shop\n" * 100, None])
    def test_a_file_of_another_program_is_refused_and_kept(self, path, content):
        if content is None:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("CREATE TABLE mine (x)")
        else:
            path.write_bytes(content)
        path.chmod(0o600)
        before = path.read_bytes()
        with pytest.raises(AccessStoreError) as refused:
            open_access(path)
        assert refused.value.code == "access-store-foreign"
        assert path.read_bytes() == before

    def test_a_file_that_was_removed_lets_nobody_in(self, path):
        store = open_access(path)
        token = store.add(ANN).token
        path.unlink()
        with pytest.raises(AccessStoreError, match="removed"):
            store.by_token(token)
        store.close()

    def test_a_folder_that_does_not_exist_is_told(self, tmp_path):
        with pytest.raises(AccessStoreError, match="cannot be read"):
            open_access(tmp_path / "nowhere" / "shop.access")

    def test_a_writer_that_takes_too_long_is_told(self, path):
        store = open_access(path)
        store._connection.execute("PRAGMA busy_timeout = 1")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert store.accounts() == []
            with pytest.raises(AccessStoreError, match="locked"):
                store.add(ANN)
        store.close()


class TestServer:
    """Properties of a store on a server."""

    @pytest.fixture
    def location(self, server, tmp_path):
        return f"{server}&schema=test_{tmp_path.name.replace('-', '_')}"[-200:]

    def test_a_removal_reaches_another_server_within_the_time_that_accounts_are_remembered(self, location):
        time = [0.0]
        one = open_access(location)
        other = PostgresAccessStore(Address.of(location), clock=lambda: time[0])
        token = one.add(ANN).token
        assert other.by_token(token) is not None
        one.remove("ann")
        time[0] = REMEMBERED
        assert other.by_token(token) is None
        assert other.account("ann") is None
        one.close()
        other.close()

    def test_a_lost_connection_is_made_again(self, location):
        store, other = open_access(location), open_access(location)
        store.add(ANN)
        with other.transaction(writing=True) as execute:
            execute("SELECT pg_terminate_backend(?)", store._connection.info.backend_pid)
        assert [account.identity for account in store.accounts()] == [ANN]
        store.close()
        other.close()

    def test_a_server_that_cannot_be_reached_is_told_without_its_password(self):
        with pytest.raises(AccessStoreError) as refused:
            PostgresAccessStore(Address.of("postgresql://me:secret@127.0.0.1:1/x"), patience=2.0)
        assert "secret" not in str(refused.value)
