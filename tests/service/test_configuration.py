"""`[serve]` of hedgerow.toml: defaults, an allow-list, and no secrets."""

import ssl
import subprocess
from contextlib import suppress

import pytest

from hedgerow.errors import CatalogError
from hedgerow.service.access.model import Role
from hedgerow.service.configuration import (
    TlsFiles,
    find_configuration,
    ledger_location,
    read_configuration,
    with_listeners,
)
from hedgerow.service.server import load_certificate, server_context

CATALOG = "dataset: shop\nbudget: {epsilon: 3, delta: 1e-6}\ntables: {people: {unit: id}}\n"
PROJECT = '[project]\ndatabase = "shop.duckdb"\ncatalog = "shop.yaml"\n'
TWO = """
[serve.datasets.one]
database = "one.duckdb"
catalog = "shop.yaml"
ledger = "one.ledger"
[serve.datasets.two]
database = "postgresql://reader@db/two"
catalog = "shop.yaml"
"""


@pytest.fixture
def read(tmp_path):
    (tmp_path / "shop.yaml").write_text(CATALOG)

    def write_and_read(text):
        (tmp_path / "hedgerow.toml").write_text(text)
        return read_configuration(tmp_path / "hedgerow.toml")

    return write_and_read


def refused(read, text):
    with pytest.raises(CatalogError) as error:
        read(text)
    return error.value


def test_a_project_serves_itself_on_this_machine(read, tmp_path):
    configuration = read(PROJECT)
    assert list(configuration.datasets) == ["shop"]
    assert configuration.datasets["shop"].project == tmp_path / "hedgerow.toml"
    assert (configuration.wire.host, configuration.wire.port) == ("127.0.0.1", 5439)
    assert (configuration.http.host, configuration.http.port) == ("127.0.0.1", 8439)
    assert configuration.is_local
    assert configuration.store == str(tmp_path / "shop.access")
    assert (configuration.limits.workers, configuration.limits.queue, configuration.grace) == (8, 64, 10.0)


def test_the_command_line_replaces_addresses_of_the_file(read):
    configuration = read(PROJECT + '[serve.http]\nhost = "::1"\nport = 1234\n')
    changed = with_listeners(configuration, None, 0, None, 8001, console=True)
    assert (changed.wire.port, changed.console.port) == (0, 8001)
    assert changed.http == configuration.http
    moved = with_listeners(configuration, "127.0.0.9", None, None, None, console=False)
    assert {listener.host for listener in moved.listeners.values()} == {"127.0.0.9"}
    assert set(moved.listeners) == {"wire", "http"}
    with pytest.raises(CatalogError) as refused:
        with_listeners(configuration, "10.1.2.3", None, None, None, console=True)
    assert refused.value.code == "serve-exposed"


def test_several_datasets_have_paths_from_the_folder_of_the_file(read, tmp_path):
    configuration = read(TWO)
    one, two = configuration.datasets.values()
    assert (one.database, one.ledger) == (str(tmp_path / "one.duckdb"), str(tmp_path / "one.ledger"))
    assert two.database == "postgresql://reader@db/two"
    assert ledger_location(two) == str(tmp_path / "shop.ledger")
    assert configuration.store == str(tmp_path / "hedgerow.access")


def test_accounts_are_in_the_ledgers_postgresql_where_all_ledgers_are_there(read):
    ledger = 'ledger = "postgresql://l@db/books"\n'
    assert read(f"{PROJECT}{ledger}").store == "postgresql://l@db/books"
    both = TWO.replace('ledger = "one.ledger"\n', ledger) + ledger
    assert read(both).store == "postgresql://l@db/books"
    assert refused(read, TWO + ledger).hint.startswith("Set store")
    assert read('[serve]\nstore = "mine.access"\n' + TWO + ledger).store.endswith("/mine.access")


def test_limits_are_read(read):
    text = "[serve.limits]\nworkers = 2\nstatement_timeout = 1.5\nrequests_per_minute = 9\ngrace = 3\n"
    configuration = read(f"{PROJECT}{text}approval_epsilon = 0.5\n")
    limits = configuration.limits
    assert (limits.workers, limits.statement_timeout, limits.requests_per_minute) == (2, 1.5, 9)
    assert limits.approval_epsilon == {"shop": 0.5}
    assert configuration.grace == 3
    named = read(f"{TWO}[serve.limits]\napproval_epsilon = {{two = 1}}\n")
    assert named.limits.approval_epsilon == {"two": 1.0}


def test_an_identity_provider_is_read(read):
    text = (
        '[serve.oidc]\ndiscovery = "https://login"\naudience = "us"\nroles = {staff = "owner"}\ndatasets = ["shop"]\n'
    )
    assert read(PROJECT + text).oidc == {
        "discovery": "https://login",
        "audience": "us",
        "roles": {"staff": Role.OWNER},
        "datasets": frozenset({"shop"}),
    }


@pytest.mark.parametrize(
    "text",
    [
        "[serve]\nstor = 'x'\n",
        "[serve.wires]\nport = 1\n",
        "[serve.wire]\nports = 1\n",
        "[serve.wire]\nport = 70000\n",
        "[serve.wire]\nport = true\n",
        "[serve.http]\nenabled = 1\n",
        "[serve.http]\nhost = ''\n",
        "[serve.limits]\nworkers = 0\n",
        "[serve.limits]\nworkers = 1.5\n",
        "[serve.limits]\nstatement_timeout = inf\n",
        "[serve.limits]\napproval_epsilon = {nobody = 1}\n",
        "[serve.limits]\nmemory = 1\n",
        "[serve.tls]\ncertificate = 'x.pem'\n",
        "[serve.oidc]\ndiscovery = 'https://x'\n",
        "[serve.oidc]\ndiscovery = 'https://x'\naudience = 'y'\ndefault_role = 'king'\n",
        "[serve.datasets.'a b']\ndatabase = 'x'\ncatalog = 'shop.yaml'\n",
        "[serve.datasets.a]\ndatabase = 'x'\n",
        "[serve.datasets.a]\ndatabase = 'x'\ncatalog = 'shop.yaml'\nformat = 'y'\n",
        "serve = 1\n",
    ],
)
def test_what_is_not_a_setting_is_refused(read, text):
    error = refused(read, text + PROJECT if text.startswith("serve =") else PROJECT + text)
    assert error.code == "serve-setting"


@pytest.mark.parametrize(
    "text",
    [
        "[serve]\npassword = 'x'\n",
        "[serve.http]\ntoken = 'x'\n",
        "[serve.oidc]\nclient_secret = 'x'\n",
        "[serve]\nstore = 'postgresql://me:hunter2@db/books'\n",
        "[serve.shadow]\nurl = 'postgresql://me:hunter2@db/x'\n",
        "[serve.datasets.a]\ndatabase = 'postgresql://me:hunter2@db/a'\ncatalog = 'shop.yaml'\n",
    ],
)
def test_a_secret_is_refused_with_the_reason(read, text):
    error = refused(read, PROJECT + text)
    assert error.code == "serve-secret"
    assert "never in this file" in error.message
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("interface", ["wire", "http"])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "db.example.org"])  # noqa: S104 - refused here
def test_nobody_listens_to_the_network_without_tls(read, interface, host):
    listener = f'[serve.{interface}]\nhost = "{host}"\n'
    assert refused(read, PROJECT + listener).code == "serve-exposed"
    assert read(f"{PROJECT}{listener}enabled = false\n").is_local
    configuration = read(f'{PROJECT}{listener}[serve.tls]\ncertificate = "c.pem"\nkey = "k.pem"\n')
    assert not configuration.is_local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_tls(read, host):
    assert read(f'{PROJECT}[serve.wire]\nhost = "{host}"\n').is_local


def test_a_file_is_looked_for_here_and_above(read, tmp_path, monkeypatch):
    read(PROJECT)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delenv("HEDGEROW_PROJECT", raising=False)
    assert find_configuration(None).path == tmp_path / "hedgerow.toml"
    (tmp_path / "hedgerow.toml").unlink()
    with pytest.raises(CatalogError) as error:
        find_configuration(None)
    assert error.value.code == "no-project"


def test_a_project_without_a_database_names_no_dataset(read):
    assert "does not name a dataset" in refused(read, '[project]\ncatalog = "shop.yaml"\n').message


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with two certificates and their keys."""
    folder = tmp_path_factory.mktemp("tls")
    for name in ("old", "new"):
        subject = [
            "-subj",
            f"/CN={name}",
            "-nodes",
            "-days",
            "2",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ]
        command = ["openssl", "req", "-x509", *subject, "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - our own words
        (folder / f"{name}.key").chmod(0o600)
    return folder


def shown_name(context, authority):
    """The name in the certificate that a client of a server with this context sees."""
    trusting = ssl.create_default_context(cafile=str(authority))
    trusting.check_hostname = False
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client, server):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return dict(pair for (pair,) in client.getpeercert()["subject"])["commonName"]


def test_a_renewed_certificate_is_shown_to_the_next_client(certificates):
    old, new = (
        TlsFiles(str(certificates / f"{name}.pem"), str(certificates / f"{name}.key")) for name in ("old", "new")
    )
    context = server_context(old)
    assert shown_name(context, old.certificate) == "old"
    load_certificate(context, new)
    assert shown_name(context, new.certificate) == "new"
    with pytest.raises(CatalogError):
        load_certificate(context, TlsFiles(old.certificate, new.key))
    assert shown_name(context, new.certificate) == "new"
    assert context.minimum_version.name == "TLSv1_2"


def test_a_key_that_everybody_can_read_is_refused(certificates, tmp_path):
    key = tmp_path / "old.key"
    key.write_bytes((certificates / "old.key").read_bytes())
    key.chmod(0o644)
    with pytest.raises(CatalogError, match="Every user"):
        server_context(TlsFiles(str(certificates / "old.pem"), str(key)))


@pytest.mark.parametrize("key", ["missing.key", "old.pem", "new.key"])
def test_a_key_of_no_or_another_certificate_is_refused(certificates, key):
    with pytest.raises(CatalogError) as error:
        server_context(TlsFiles(str(certificates / "old.pem"), str(certificates / key)))
    assert error.value.code == "serve-tls"
