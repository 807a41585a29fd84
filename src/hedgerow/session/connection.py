"""`connect`: from a source, a catalog and a ledger to a `Database`."""

import os
from pathlib import Path
from typing import TypeAlias

from hedgerow.backends import connect_backend
from hedgerow.catalog import Catalog, bind_catalog, load_catalog, unenforced_paths
from hedgerow.errors import CatalogError, HedgerowError, ParameterError
from hedgerow.execution.session import Session, notice
from hedgerow.ledger import Ledger, file_of, open_ledger
from hedgerow.owners_log import about, beside, keep, let_go
from hedgerow.release import PostprocessEngine
from hedgerow.schema import Schema
from hedgerow.session.database import Database
from hedgerow.session.key_domains import read_domains
from hedgerow.session.project import Project, find_project, read_project
from hedgerow.session.remote import connect_service, is_remote

CatalogSource: TypeAlias = str | os.PathLike[str] | Catalog | None
"""A catalog: its file, or one that was loaded before."""

LedgerSource: TypeAlias = str | os.PathLike[str] | Ledger | None
"""A ledger: its file or URL, or one that was opened before."""


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
    project = None if is_remote(source) else _project(source, catalog)
    if project is not None and _names_project(source) and is_remote(project.database):
        source, dialect = project.database, dialect or project.dialect
    if isinstance(source, str) and is_remote(source):
        _require_none(catalog=catalog, ledger=ledger, analyst=analyst)
        return connect_service(source, token=token, ca=ca, dialect=dialect)
    if token is not None or ca is not None:
        raise ParameterError(
            "Tokens and authorities are for a service.", code="remote-option", hint="Connect to https://host:8439/name."
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


def _require_none(**options: object) -> None:
    """Refuse what a service decides by itself."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                f"A service has its own catalog and ledger, and knows the analyst by the token: {name}= is not for it.",
                code="remote-option",
                hint=f"Leave {name} out.",
            )


def _names_project(source: object) -> bool:
    """Return whether a source is none, or a project file."""
    return source is None or (isinstance(source, str | os.PathLike) and os.fspath(source).endswith(".toml"))


def _project(source: object, catalog: object) -> Project | None:
    """Return the project that completes what was passed; None where everything was."""
    if isinstance(source, str | os.PathLike) and _names_project(source):
        return read_project(source)
    return find_project() if source is None or catalog is None else None


def _nothing_to_open(source: object, catalog: object, project: Project | None) -> CatalogError:
    missing = [name for name, value in (("database", source), ("catalog", catalog)) if value is None]
    where = "no hedgerow.toml is here or above" if project is None else f"{project.path.name} does not say"
    return CatalogError(
        f"Nothing says which {' and '.join(missing)} to open: {where}.",
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
        book = ledger if isinstance(ledger, Ledger) else _open_ledger(ledger, bound)
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
            f"Nothing enforces that {key} is unique, so whose the rows of `{table}` are is the catalog's word. A row "
            "that leads to several people counts for each of them. `hedgerow check` says what is enforced."
        )


def ledger_path(catalog: Catalog, ledger: str | os.PathLike[str] | None) -> Path | str:
    """Return the place of a ledger: the caller's, or next to the catalog."""
    if ledger is not None:
        return os.fspath(ledger)
    if catalog.path is None:
        raise CatalogError(
            "A catalog that does not come from a file has no place for a ledger beside it.",
            code="no-ledger-path",
            hint="Pass ledger=.",
        )
    return catalog.path.with_suffix(".ledger")


def _open_ledger(ledger: str | os.PathLike[str] | None, catalog: Catalog) -> Ledger:
    return open_ledger(ledger_path(catalog, ledger), dataset=catalog.dataset, policy=catalog.budget, notice=notice)
