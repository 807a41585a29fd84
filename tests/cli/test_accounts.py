"""`hedgerow analyst` and `hedgerow requests`: accounts, caps and approvals, without a running service."""

from contextlib import closing
from datetime import UTC, datetime

import pytest

from hedgerow.catalog import load_catalog
from hedgerow.service.access import open_access
from hedgerow.service.access.model import ApprovalRequest, RequestState, Role, password_matches


@pytest.fixture
def service(shop, monkeypatch):
    (shop.folder / "hedgerow.toml").write_text('[project]\ndatabase = "shop.duckdb"\ncatalog = "shop.yaml"\n')
    monkeypatch.chdir(shop.folder)
    return shop


@pytest.fixture
def access(service):
    with closing(open_access(service.folder / "shop.access")) as store:
        yield store


def test_an_account_is_added_with_secrets_that_work(run_json, access):
    added = run_json("analyst", "add", "ann")
    account = access.by_token(added["token"])
    assert (account.identity.name, account.identity.role) == ("ann", Role.ANALYST)
    assert password_matches(added["password"], account.verifier)


def test_secrets_are_printed_for_people_once(run, access):
    result = run("analyst", "add", "olga", "--role", "owner")
    password, token = (line.split()[1] for line in result.stdout.splitlines())
    assert access.by_token(token).identity.role is Role.OWNER
    assert password_matches(password, access.account("olga").verifier)
    listed = run("analyst", "list").stdout
    assert "olga" in listed
    assert token not in listed


def test_a_cap_is_written_into_the_catalog_whose_comments_stay(run, run_json, service, access):
    service.rewrite("budget: {", "# ours\nbudget: {")
    assert run_json("analyst", "add", "ann", "--dataset", "shop", "--epsilon", "0.5")["epsilon"] == 0.5
    assert load_catalog(service.catalog).budget.analysts["ann"].epsilon == 0.5
    assert "# ours" in service.catalog.read_text()
    result = run("analyst", "cap", "ann", "0.25")
    assert "from its next statement on" in result.stderr
    assert "no account" not in result.stderr
    assert "no account bob" in run("analyst", "cap", "bob", "0.5").stderr
    assert load_catalog(service.catalog).budget.analysts["ann"].epsilon == 0.25
    (listed,) = run_json("analyst", "list")["accounts"]
    assert (listed["name"], listed["datasets"], listed["caps"]) == ("ann", ["shop"], {"shop": 0.25})
    assert sorted(path.name for path in service.folder.glob(".*")) == []


def test_an_analyst_without_a_cap_has_that_of_the_default(run_json, service):
    service.rewrite("delta: 1e-6}", "delta: 1e-6, analysts: {default: {epsilon: 0.125}}}")
    run_json("analyst", "add", "ann")
    (listed,) = run_json("analyst", "list")["accounts"]
    assert listed["caps"] == {"shop": 0.125}


def test_a_missing_cap_is_told(run, service):
    assert "no cap" in run("analyst", "add", "ann").stderr
    assert "no cap" not in run("analyst", "add", "olga", "--role", "owner").stderr


def test_rotation_and_removal_end_the_old_secrets(run_json, access):
    old = run_json("analyst", "add", "ann")["token"]
    new = run_json("analyst", "rotate", "ann")["token"]
    assert access.by_token(old) is None
    assert access.by_token(new) is not None
    assert run_json("analyst", "remove", "ann") == {"removed": "ann"}
    assert access.by_token(new) is None
    assert run_json("analyst", "list") == {"accounts": []}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add", "default"), "account-name"),
        (("add", "ann", "--dataset", "bank"), "no-such-dataset"),
        (("add", "ann", "--epsilon", "-1"), "usage"),
        (("add", "ann", "--role", "king"), "usage"),
        (("remove", "bob"), "no-such-account"),
        (("rotate", "bob"), "no-such-account"),
        (("cap", "ann", "nan"), "usage"),
    ],
)
def test_mistakes_change_nothing(run, service, access, words, code):
    before = service.catalog.read_text()
    result = run("analyst", *words)
    assert result.exit_code != 0
    assert f"[{code}]" in result.stderr
    assert service.catalog.read_text() == before
    assert access.accounts() == []


def test_the_cap_of_an_existing_account_is_not_changed_by_adding_it_again(run, run_json, service):
    run_json("analyst", "add", "ann", "--epsilon", "0.5")
    assert "[account-exists]" in run("analyst", "add", "ann", "--epsilon", "2").stderr
    assert load_catalog(service.catalog).budget.analysts["ann"].epsilon == 0.5


@pytest.fixture
def waiting(access):
    quote = {"charge": {"epsilon": 2.0}}
    sql = "SELECT COUNT(*) AS n\nFROM customers"
    access.create_request(ApprovalRequest("r1", "shop", "ann", sql, None, {}, quote, datetime.now(UTC)))
    return access


def test_a_request_is_listed_and_granted_once(run, run_json, waiting):
    assert "SELECT COUNT(*) AS n FROM customers" in run("requests", "list").stdout
    (listed,) = run_json("requests", "list")["requests"]
    assert (listed["id"], listed["epsilon"], listed["state"]) == ("r1", 2.0, "pending")
    assert run_json("requests", "grant", "r1")["state"] == "granted"
    assert waiting.request("r1").state is RequestState.GRANTED
    assert "[request-decided]" in run("requests", "deny", "r1").stderr
    assert run_json("requests", "list") == {"requests": []}
    assert len(run_json("requests", "list", "--all", "--dataset", "shop")["requests"]) == 1


def test_a_request_is_denied(run, run_json, waiting):
    assert run("requests", "deny", "r1").stdout == "r1 is denied.\n"
    assert waiting.request("r1").decided_by
    assert "[no-such-request]" in run("requests", "grant", "r2").stderr
    assert "No request waits" in run("requests", "list").stderr


def test_settings_are_checked_without_a_ledger(run, run_json, service):
    assert run_json("serve", "--check") == {
        "ok": True,
        "datasets": ["shop"],
        "store": str(service.folder / "shop.access"),
    }
    assert not service.ledger.exists()
    service.rewrite("income:", "incom:")
    assert "[catalog-unknown-column]" in run("serve", "--check").stderr
    (service.folder / "hedgerow.toml").write_text("[serve]\npassword = 'x'\n")
    assert "[serve-secret]" in run("serve", "--check").stderr


def test_without_a_file_there_is_nothing_to_serve(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "[no-project]" in run("serve").stderr
