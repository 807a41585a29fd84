"""Accounts of the first start, and the lines that say how to connect."""

import re
import subprocess
import sys
import urllib.request
from contextlib import closing

import pytest
from typer.testing import CliRunner

from hedgerow.cli import app
from hedgerow.cli.serve import _first_accounts, connection_lines
from hedgerow.service.access import open_access
from hedgerow.service.access.model import Role, password_matches
from hedgerow.service.configuration import read_configuration

from .serving import CATALOG

ADDRESSES = {"wire": "127.0.0.1:5439", "http": "127.0.0.1:8439", "console": "127.0.0.1:8440"}
TLS = '[serve.http]\nhost = "0.0.0.0"\n[serve.tls]\ncertificate = "cert.pem"\nkey = "key.pem"\n'


@pytest.fixture
def configured(tmp_path, monkeypatch):
    for name in ("NOTIFY_SOCKET", "INVOCATION_ID"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "people.yaml").write_text(CATALOG)

    def configure(settings=""):
        project = '[project]\ndatabase = "people.duckdb"\ncatalog = "people.yaml"\n'
        (tmp_path / "hedgerow.toml").write_text(project + settings)
        return read_configuration(tmp_path / "hedgerow.toml")

    return configure


def test_the_first_start_on_this_machine_makes_an_owner_and_an_analyst_and_shows_their_secrets_once(configured):
    configuration = configured()
    accounts = _first_accounts(configuration)
    text = "\n".join(connection_lines(configuration, ADDRESSES, accounts))
    with closing(open_access(configuration.store)) as access:
        roles = {account.identity.name: account.identity.role for account in access.accounts()}
        assert roles == {"owner": Role.OWNER, "analyst": Role.ANALYST}
        name, password = re.search(r'psql "postgresql://(\w+):(\w+)@127.0.0.1:5439/people"', text).groups()
        assert password_matches(password, access.account(name).verifier)
        curl, python = re.search(r"Bearer (\S+)\"", text)[1], re.search(r'token="(\S+)"', text)[1]
        assert access.by_token(curl).identity.name == access.by_token(python).identity.name == "analyst"
        assert access.by_token(re.search(r"token +(\S+)", text)[1]).identity.role is Role.OWNER
    assert _first_accounts(configuration) == {}
    again = "\n".join(connection_lines(configuration, ADDRESSES, {}))
    assert not any(secret in again for secret in (password, curl))


@pytest.mark.parametrize("settings", ["", TLS], ids=["started by systemd", "others can connect"])
def test_where_a_journal_or_others_could_read_them_no_accounts_are_made(configured, monkeypatch, settings):
    configuration = configured(settings)
    if not settings:
        monkeypatch.setenv("INVOCATION_ID", "1")
    assert _first_accounts(configuration) is None
    with closing(open_access(configuration.store)) as access:
        assert access.accounts() == []
    assert "no accounts yet" in connection_lines(configuration, ADDRESSES, None)[-1]


def test_the_demo_is_served_in_an_empty_folder_and_says_when_it_is_ready(tmp_path):
    command = [
        sys.executable,
        "-m",
        "hedgerow",
        "serve",
        "--demo",
        "--pg-port",
        "0",
        "--http-port",
        "0",
        "--no-console",
    ]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own words
        try:
            line = server.stdout.readline()
            wire, http = re.fullmatch(r"ready: PostgreSQL (postgresql://\S+), HTTP (http://\S+)\n", line).groups()
            assert not wire.endswith(":0")
            with urllib.request.urlopen(f"{http}/readyz", timeout=60) as response:  # noqa: S310 - our own server
                assert response.status == 200
        finally:
            server.terminate()
    assert (tmp_path / "demo" / "hospital.duckdb").is_file()


def test_the_demo_and_a_project_are_not_served_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["serve", "--demo", "--config", "hedgerow.toml"])
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
