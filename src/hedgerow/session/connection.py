"""`connect`: from a source, a catalog and a ledger to a `Database`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hedgerow.backends import connect_backend
from hedgerow.catalog import Catalog, bind_catalog, load_catalog, unenforced_paths
from hedgerow.errors import CatalogError, HedgerowError, ParameterError
from hedgerow.execution.session import Session, notice
from hedgerow.late import late
from hedgerow.ledger import Ledger, file_of, open_ledger
from hedgerow.owners_log import about, beside, keep, let_go
from hedgerow.release import PostprocessEngine
from hedgerow.schema import Schema
from hedgerow.session.database import Database
from hedgerow.session.key_domains import read_domains
from hedgerow.session.project import Project, find_project, read_project

if TYPE_CHECKING:
    from hedgerow.session.remote import connect_service
else:
    connect_service = late("hedgerow.session.remote", "connect_service")

CatalogSource: TypeAlias = str | os.PathLike[str] | Catalog | None
"""A catalog: its file, or a loaded one."""

LedgerSource: TypeAlias = str | os.PathLike[str] | Ledger | None
"""A ledger: its file or URL, or an open one."""


def connect(
    source: object = None,
    *,
    catalog: "CatalogSource" = None,
    ledger: "LedgerSource" = None,
    analyst: str | None = None,
    dialect: str | None = None,
    token: str | None = None,
    ca: str | None = None,
) -> Database:
    """Open a database for private questions, or a dataset of a service.

    Without a source, `hedgerow.toml` in the current folder or above says where everything is; a path of such a file is
    a source, too. What is passed here overrides what the file says.

    Args:
        source: A path, a URL, an open connection, or tables by name: see docs/reference/engines.md. An address like
            https://host:8439/hospital is a dataset of a service, which has its own catalog and ledger.
        catalog: The owner's declarations: a YAML file or a `Catalog`.
        ledger: The record of spending: a file or a `Ledger`; by default next to the catalog, with the suffix `.ledger`.
        analyst: Name of the analyst; not verified.
        dialect: The SQL dialect of the queries; DuckDB's by default.
        token: For a service, the analyst's token; by default that of the environment variable HEDGEROW_TOKEN.
        ca: For a service, a file with the certificates of a private authority.

    Example:
        >>> db = connect("shop.duckdb", catalog="shop.yaml")     # doctest: +SKIP
        >>> db.sql("SELECT COUNT(*) FROM customers", epsilon=1)  # doctest: +SKIP
    """
    project = None if _is_remote(source) else _project(source, catalog)
    if project is not None and _names_project(source) and _is_remote(project.database):
        source, dialect = project.database, dialect or project.dialect
    if isinstance(source, str) and _is_remote(source):
        _require_none(catalog=catalog, ledger=ledger, analyst=analyst)
        return connect_service(source, token=token, ca=ca, dialect=dialect)
    if token is not None or ca is not None:
        raise ParameterError(
            "token= and ca= apply only to a service.", code="remote-option", hint="Connect to https://host:8439/name."
        )
    if project is not None:
        source, catalog = project.database if _names_project(source) else source, catalog or project.catalog
        ledger, analyst, dialect = ledger or project.ledger, analyst or project.analyst, dialect or project.dialect
    if source is None or catalog is None:
        raise _nothing_to_open(source, catalog, project)
    declared = load_catalog(catalog)
    if project is not None:
        declared = project.priced(declared)
    log = _owners_log(declared, ledger)
    keep(log)
    try:
        with about(log):
            return _connected(source, declared, ledger, log, analyst=analyst, dialect=dialect or "duckdb")
    except BaseException:
        let_go(log)
        raise


def _is_remote(source: object) -> bool:
    """Return True if a source is the address of a service."""
    return isinstance(source, str) and source.lower().startswith(("http://", "https://"))


def _require_none(**options: object) -> None:
    """Refuse arguments that do not apply to a service."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                f"A service has its own catalog and ledger, and knows the analyst by the token: {name}= is not for it.",
                code="remote-option",
                hint=f"Leave {name} out.",
            )


def _names_project(source: object) -> bool:
    """Return True if there is no source, or if it is a project file."""
    return source is None or (isinstance(source, str | os.PathLike) and os.fspath(source).endswith(".toml"))


def _project(source: object, catalog: object) -> Project | None:
    """Return the project that supplies missing arguments; None if none is missing."""
    if isinstance(source, str | os.PathLike) and _names_project(source):
        return read_project(source)
    return find_project() if source is None or catalog is None else None


def _nothing_to_open(source: object, catalog: object, project: Project | None) -> CatalogError:
    missing = [name for name, value in (("database", source), ("catalog", catalog)) if value is None]
    where = "there is no hedgerow.toml here or above" if project is None else f"{project.path.name} does not name it"
    return CatalogError(
        f"No {' and no '.join(missing)} was named: {where}.",
        code="no-project",
        hint='Run `hedgerow init`, or pass both: connect("shop.duckdb", catalog="shop.yaml").',
    )


def _connected(
    source: object,
    declared: Catalog,
    ledger: LedgerSource,
    log: Path | None,
    *,
    analyst: str | None,
    dialect: str,
) -> Database:
    backend = connect_backend(source, declared.limits, declared.tables)
    try:
        schema = backend.schema()
        bound = read_domains(bind_catalog(declared, schema), schema, backend)
        book = (
            ledger
            if isinstance(ledger, Ledger)
            else open_ledger(ledger_path(bound, ledger), dataset=bound.dataset, policy=bound.budget, notice=notice)
        )
        _warn_of_unenforced_paths(bound, schema)
    except HedgerowError:
        backend.close()
        raise
    owns = book is not ledger
    session = Session(backend, schema, bound, book, analyst, PostprocessEngine(bound.limits), dialect)
    return Database(session, owns_ledger=owns, owners_log=log)


def _owners_log(catalog: Catalog, ledger: LedgerSource) -> Path | None:
    """Return the file of the owner's log: next to the ledger, if that is a file."""
    if isinstance(ledger, Ledger):
        return beside(ledger.path)
    known = ledger is not None or catalog.path is not None
    return beside(file_of(ledger_path(catalog, ledger)) if known else None)


def _warn_of_unenforced_paths(catalog: Catalog, schema: Schema) -> None:
    """Name the tables whose rows have one owner only by the catalog's declaration. No row is read."""
    for table, key in unenforced_paths(catalog, schema):
        notice(
            f"Nothing enforces that {key} is unique: the owners of the rows of `{table}` are as the catalog says. A "
            "row that leads to several people counts for each of them. `hedgerow check` says what is enforced."
        )


def ledger_path(catalog: Catalog, ledger: str | os.PathLike[str] | None) -> Path | str:
    """Return the place of a ledger: the caller's, or next to the catalog."""
    if ledger is not None:
        return os.fspath(ledger)
    if catalog.path is None:
        raise CatalogError(
            "A catalog without a file has no default location for its ledger.",
            code="no-ledger-path",
            hint="Pass ledger=.",
        )
    return catalog.path.with_suffix(".ledger")
