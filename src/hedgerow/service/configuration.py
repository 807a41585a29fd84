"""`[serve]` of `hedgerow.toml`: the datasets that are served, listeners, certificates, limits and logs. No secrets."""

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from hedgerow.catalog import load_catalog
from hedgerow.errors import CatalogError
from hedgerow.ledger.postgres_connection import is_address
from hedgerow.service.access.model import Role
from hedgerow.service.statement_queue import ServiceLimits
from hedgerow.session.connection import ledger_path
from hedgerow.session.project import FILE, URL, Project, read_project

T = TypeVar("T")

SECTIONS = ("wire", "http", "console", "tls", "limits", "oidc", "shadow", "logs")

WIRE_PORT = 5439
HTTP_PORT = 8439
CONSOLE_PORT = 8440
LOOPBACK = "127.0.0.1"
GRACE = 10.0
"""Seconds that running statements have to end when the service stops, unless the file says otherwise."""

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,62}")
SECRET = re.compile(r"passw|passphrase|token|secret|credential|api_?key", re.IGNORECASE)
URL_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/@]*:[^/@]+@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DatasetSettings:
    """One dataset to serve. `project` is the project file, where the dataset is the project itself."""

    name: str
    database: str
    catalog: str
    ledger: str | None = None
    dialect: str | None = None
    project: Path | None = None


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """Address of a listener. Port 0 stands for any free port."""

    host: str
    port: int
    enabled: bool = True

    @property
    def is_loopback(self) -> bool:
        """Return True if only programs on this machine can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files of the certificate (with its chain) and of its private key."""

    certificate: str
    key: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings of one service. Paths are absolute.

    Attributes:
        path: The file.
        datasets: Datasets by name, in the order of the file.
        store: Place of the accounts: a file or the URL of a PostgreSQL database.
        wire: Address for PostgreSQL's clients.
        http: Address for HTTP.
        console: Address of the pages for browsers.
        tls: Certificate and key; None for unencrypted connections, which are allowed on loopback alone.
        limits: Limits on statements.
        grace: Seconds that running statements have to end when the service stops.
        oidc: Settings of an identity provider, by name; None for none.
        shadow_url: URL of the owner's PostgreSQL without rows; None to start one.
        log_file: File of the log; None for standard error.
    """

    path: Path
    datasets: Mapping[str, DatasetSettings]
    store: str
    wire: ListenerSettings = ListenerSettings(LOOPBACK, WIRE_PORT)
    http: ListenerSettings = ListenerSettings(LOOPBACK, HTTP_PORT)
    console: ListenerSettings = ListenerSettings(LOOPBACK, CONSOLE_PORT)
    tls: TlsFiles | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    grace: float = GRACE
    oidc: Mapping[str, Any] | None = None
    shadow_url: str | None = None
    log_file: str | None = None

    @property
    def is_local(self) -> bool:
        """Return True if only programs on this machine can connect."""
        return all(listener.is_loopback for listener in self.listeners.values())

    @property
    def listeners(self) -> dict[str, ListenerSettings]:
        """The listeners that are enabled."""
        listeners = {"wire": self.wire, "http": self.http, "console": self.console}
        return {interface: listener for interface, listener in listeners.items() if listener.enabled}

    @property
    def scheme(self) -> str:
        """The scheme of addresses over HTTP."""
        return "http" if self.tls is None else "https"


def read_configuration(path: str | os.PathLike[str]) -> Configuration:
    """Read the settings of a service from a project file. Sections and settings are an allow-list."""
    project = read_project(path)
    file = project.path
    serve = Section(file, "serve", tomllib.loads(file.read_text(encoding="utf-8")).get("serve", {}))
    sections = {name: serve.section(name) for name in SECTIONS}
    datasets = _datasets(project, serve.section("datasets"))
    store = serve.take("store", _place)
    limits, grace = _limits(sections["limits"], datasets)
    tls = sections["tls"]
    configuration = Configuration(
        path=file,
        datasets=datasets,
        store=store or _default_store(file, datasets),
        wire=_listener(sections["wire"], WIRE_PORT),
        http=_listener(sections["http"], HTTP_PORT),
        console=_listener(sections["console"], CONSOLE_PORT),
        tls=TlsFiles(tls.require("certificate", _place), tls.require("key", _place)) if tls.settings else None,
        limits=limits,
        grace=grace,
        oidc=_oidc(sections["oidc"], datasets),
        shadow_url=sections["shadow"].take("url", _url),
        log_file=sections["logs"].take("file", _place),
    )
    for section in (serve, *sections.values()):
        section.finish()
    _refuse_exposed(configuration)
    return configuration


def with_listeners(
    configuration: Configuration,
    host: str | None,
    wire_port: int | None,
    http_port: int | None,
    console_port: int | None,
    *,
    console: bool,
) -> Configuration:
    """Return the settings with the addresses of the command line in place of the file's."""

    def listener(settings: ListenerSettings, port: int | None) -> ListenerSettings:
        return replace(settings, host=host or settings.host, port=settings.port if port is None else port)

    pages = listener(configuration.console, console_port)
    changed = replace(
        configuration,
        wire=listener(configuration.wire, wire_port),
        http=listener(configuration.http, http_port),
        console=replace(pages, enabled=pages.enabled and console),
    )
    _refuse_exposed(changed)
    return changed


class Section:
    """One section of the file. Each known setting is taken out; a setting that remains is unknown."""

    def __init__(self, file: Path, name: str, settings: object) -> None:
        self.file = file
        self.name = name
        if not isinstance(settings, dict):
            raise self.error(f"must write [{name}] as a section")
        self.settings = settings
        self._known: list[str] = []
        for key in settings:
            if SECRET.search(key):
                raise CatalogError(
                    f"{file.name} must not set {key} in [{name}]: secrets are never in this file, which is copied, "
                    "shared and kept under version control.",
                    code="serve-secret",
                    hint="Accounts have secrets of their own (hedgerow analyst add). Passwords of databases come from "
                    "the environment (PGPASSWORD) or a password file.",
                )

    def __contains__(self, key: str) -> bool:
        return key in self.settings

    def section(self, key: str) -> "Section":
        """Return a section below this one; an empty one where the file has none."""
        self._known.append(key)
        return Section(self.file, f"{self.name}.{key}", self.settings.get(key, {}))

    def take(self, key: str, convert: "Callable[[Section, str, Any], T]") -> T | None:
        """Return a setting, converted; None where the file has none."""
        self._known.append(key)
        return convert(self, key, self.settings[key]) if key in self.settings else None

    def require(self, key: str, convert: "Callable[[Section, str, Any], T]") -> T:
        """Return a setting that must be there, converted."""
        value = self.take(key, convert)
        if value is None:
            raise self.error(f"must set {key} in [{self.name}]")
        return value

    def finish(self) -> None:
        """Refuse unknown settings."""
        for key in self.settings:
            if key not in self._known:
                known = f"[{self.name}] has {', '.join(self._known)}."
                raise self.error(f"has a setting {key} in [{self.name}] that hedgerow does not know", known)

    def error(self, problem: str, hint: str | None = None) -> CatalogError:
        """Return an error about the file."""
        return CatalogError(f"{self.file.name} {problem}.", code="serve-setting", hint=hint)


def _datasets(project: Project, section: Section) -> dict[str, DatasetSettings]:
    """Return the datasets that the file lists, or the project itself."""
    if not section.settings:
        if project.database is None or project.catalog is None:
            raise section.error(
                "does not name a dataset to serve",
                "Set database and catalog in [project], or write a section for each dataset, such as "
                '[serve.datasets.shop] with database = "shop.duckdb" and catalog = "shop.yaml".',
            )
        name = load_catalog(project.catalog).dataset
        places = project.database, project.catalog, project.ledger, project.dialect
        return {name: DatasetSettings(name, *places, project=project.path)}
    datasets = {}
    for name in section.settings:
        if not NAME.fullmatch(name):
            raise section.error(
                f"has a dataset {name} in [serve.datasets]", "Name it with letters, digits, - and _, as clients do."
            )
        part = section.section(name)
        datasets[name] = DatasetSettings(
            name,
            part.require("database", _place),
            part.require("catalog", _place),
            part.take("ledger", _place),
            part.take("dialect", _text),
        )
        part.finish()
    return datasets


def ledger_location(dataset: DatasetSettings) -> str:
    """Return the place of a dataset's ledger: a file, or the URL of a PostgreSQL database."""
    return os.fspath(ledger_path(load_catalog(dataset.catalog), dataset.ledger))


def _default_store(file: Path, datasets: Mapping[str, DatasetSettings]) -> str:
    """Return the place of the accounts: next to the only ledger, or in the PostgreSQL schema of all ledgers."""
    ledgers = {ledger_location(dataset) for dataset in datasets.values()}
    on_servers = [ledger for ledger in ledgers if is_address(ledger)]
    if len(ledgers) == 1:
        (ledger,) = ledgers
        return ledger if on_servers else str(Path(ledger.removeprefix("sqlite:///")).with_suffix(".access"))
    if on_servers:
        raise CatalogError(
            f"{file.name} serves datasets with ledgers in several places, and does not say where the accounts are.",
            code="serve-setting",
            hint="Set store in [serve] to the URL of a PostgreSQL database that all servers reach, or to a file.",
        )
    return str(file.with_name("hedgerow.access"))


def _listener(section: Section, port: int) -> ListenerSettings:
    host, chosen, enabled = section.take("host", _text), section.take("port", _port), section.take("enabled", _switch)
    return ListenerSettings(host or LOOPBACK, port if chosen is None else chosen, enabled is not False)


def _limits(section: Section, datasets: Mapping[str, DatasetSettings]) -> tuple[ServiceLimits, float]:
    """Return the limits of the gateway, and the seconds that statements have to end."""
    approval = section.take("approval_epsilon", lambda part, key, value: _by_dataset(part, key, value, datasets))
    limits: dict[str, Any] = {
        "workers": section.take("workers", _count),
        "queue": section.take("queue", _count),
        "per_analyst": section.take("per_analyst", _count),
        "statement_timeout": section.take("statement_timeout", _positive),
        "requests_per_minute": section.take("requests_per_minute", _count),
        "approval_epsilon": approval,
    }
    grace = section.take("grace", _positive)
    given = {name: value for name, value in limits.items() if value is not None}
    return ServiceLimits(**given), GRACE if grace is None else grace


def _by_dataset(
    section: Section, key: str, value: object, datasets: Mapping[str, DatasetSettings]
) -> Mapping[str, float]:
    """Return a number for each dataset: one for all, or one for each that is named."""
    if not isinstance(value, dict):
        return dict.fromkeys(datasets, _positive(section, key, value))
    unknown = [name for name in value if name not in datasets]
    if unknown:
        raise section.error(
            f"sets {key} for {unknown[0]}, which is not a dataset", f"There are: {', '.join(datasets)}."
        )
    return {name: _positive(section, f"{key}.{name}", number) for name, number in value.items()}


def _oidc(section: Section, datasets: Mapping[str, DatasetSettings]) -> Mapping[str, Any] | None:
    """Return the settings of an identity provider by the names that the HTTP listener gives them."""
    if not section.settings:
        return None

    def roles(part: Section, key: str, value: object) -> Mapping[str, Role]:
        if not isinstance(value, dict):
            raise part.error(f"must write {key} in [{part.name}] as a table of roles by group")
        return {group: _role(part, f"{key}.{group}", role) for group, role in value.items()}

    def names(part: Section, key: str, value: object) -> frozenset[str]:
        if not isinstance(value, list) or not all(name in datasets for name in value):
            raise part.error(
                f"must set {key} in [{part.name}] to a list of datasets", f"There are: {', '.join(datasets)}."
            )
        return frozenset(value)

    settings: dict[str, Any] = {
        "discovery": section.require("discovery", _text),
        "audience": section.require("audience", _text),
        "name_claim": section.take("name_claim", _text),
        "role_claim": section.take("role_claim", _text),
        "roles": section.take("roles", roles),
        "default_role": section.take("default_role", _role),
        "datasets": section.take("datasets", names),
        "ca": section.take("ca", _place),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _refuse_exposed(configuration: Configuration) -> None:
    """Refuse to let others on the network connect without encryption."""
    if configuration.tls is not None:
        return
    for name, listener in configuration.listeners.items():
        if not listener.is_loopback:
            raise CatalogError(
                f"[serve.{name}] would listen on {listener.host}, where others on the network could read tokens and "
                f"answers: {configuration.path.name} names no certificate.",
                code="serve-exposed",
                hint="Write [serve.tls] with certificate and key, or listen on 127.0.0.1 behind a program that speaks "
                "TLS.",
            )


def find_configuration(config: str | None) -> Configuration:
    """Read the file that is named, or the project file of this folder or the nearest one above it."""
    if config is not None:
        return read_configuration(config)
    from_environment = os.environ.get("HEDGEROW_PROJECT")
    if from_environment:
        return read_configuration(from_environment)
    folder = Path.cwd()
    for candidate in (folder, *folder.parents):
        if (candidate / FILE).is_file():
            return read_configuration(candidate / FILE)
    raise CatalogError(
        f"There is no {FILE} in this folder or above.",
        code="no-project",
        hint="Serve the folder of `hedgerow demo`, write a file with `hedgerow init DATABASE`, or pass --config FILE.",
    )


def _text(section: Section, key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise section.error(f"must set {key} in [{section.name}] to a text in quotes")
    return value


def _url(section: Section, key: str, value: object) -> str:
    text = _text(section, key, value)
    if URL_PASSWORD.match(text):
        raise CatalogError(
            f"{section.file.name} has a password in {key} of [{section.name}]: secrets are never in this file.",
            code="serve-secret",
            hint="Leave it out of the URL, and set PGPASSWORD, or name a password file with PGPASSFILE.",
        )
    return text


def _place(section: Section, key: str, value: object) -> str:
    """A URL as it is; a path from the folder of the file."""
    text = _url(section, key, value)
    return text if URL.match(text) else str((section.file.parent / Path(text).expanduser()).resolve())


def _port(section: Section, key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 65535:
        raise section.error(f"must set {key} in [{section.name}] to a port from 0 to 65535")
    return value


def _switch(section: Section, key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise section.error(f"must set {key} in [{section.name}] to true or false")
    return value


def _count(section: Section, key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise section.error(f"must set {key} in [{section.name}] to a whole number of at least 1")
    return value


def _positive(section: Section, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise section.error(f"must set {key} in [{section.name}] to a number above 0")
    return float(value)


def _role(section: Section, key: str, value: object) -> Role:
    if value not in list(Role):
        raise section.error(f"must set {key} in [{section.name}] to a role", f"There are: {', '.join(Role)}.")
    return Role(str(value))
