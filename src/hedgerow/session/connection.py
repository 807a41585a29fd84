"""`connect`: from a source, a catalog and a ledger to a `Database`.

Key domains that the catalog takes from a public table are read here, once.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hedgerow.backends import Backend, connect_backend
from hedgerow.catalog import (
    Catalog,
    DeclaredColumn,
    DeclaredTable,
    Value,
    bind_catalog,
    codes,
    load_catalog,
    unenforced_paths,
)
from hedgerow.catalog.bind import effective_type
from hedgerow.catalog.load import LARGEST_KEY
from hedgerow.catalog.strict_yaml import is_storable
from hedgerow.compile.scalars import key
from hedgerow.compiled import Query, arrow_type
from hedgerow.dialects import Dialect
from hedgerow.errors import CatalogError, HedgerowError, ParameterError
from hedgerow.execution.session import Session, notice
from hedgerow.expressions import nodes
from hedgerow.expressions.types import Type
from hedgerow.late import late
from hedgerow.ledger import Ledger, file_of, open_ledger
from hedgerow.owners_log import about, beside, keep, let_go
from hedgerow.privacy.keys import MAX_DECLARED
from hedgerow.release import PostprocessEngine
from hedgerow.schema import Schema, SchemaColumn
from hedgerow.session.database import Database
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
        for table, unique in unenforced_paths(bound, schema):  # the catalog alone declares one owner of each row
            notice(
                f"Nothing enforces that {unique} is unique: the owners of the rows of `{table}` are as the catalog "
                "says. A row that leads to several people counts for each of them. `hedgerow check` says what is "
                "enforced."
            )
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


def read_domains(catalog: Catalog, schema: Schema, backend: Backend) -> Catalog:
    """Return the catalog with `values` in place of every `values_from`. It is already bound to `schema`.

    Privacy: only tables that the owner calls public are read, so a domain is as public as a list in the catalog. It is
    read before any question and does not change, so no answer depends on the time of the question.
    """
    tables = {}
    for name, table in catalog.tables.items():
        columns = {own: _with_values(catalog, table, column, schema, backend) for own, column in table.columns.items()}
        tables[name] = replace(table, columns=columns)
    return replace(catalog, tables=tables)


def _with_values(
    catalog: Catalog, table: DeclaredTable, column: DeclaredColumn, schema: Schema, backend: Backend
) -> DeclaredColumn:
    if column.values_from is None:
        return column
    source, name = column.values_from
    public, stored = catalog.tables[source], schema.tables[source].columns[name]
    query = _distinct(source, _readable(public.column(name), stored), backend.dialect)
    keys = backend.public(query).column(0).to_pylist()
    values = tuple(float(value) if isinstance(value, Decimal) else value for value in keys)
    if fault := _fault(values):
        raise _unusable(catalog, table, column, *fault)
    return replace(column, values=values, values_from=None)


def _readable(said: DeclaredColumn | None, column: SchemaColumn) -> nodes.Expr:
    """Return the public column as queries see it; decimals become numbers, as they do in declared keys."""
    plain = nodes.Column(column.name, column.type, native=column.native, collated=column.collated)
    kind = effective_type(said, column)
    if kind is column.type and kind is not Type.TEXT:
        return plain
    wanted = Type.FLOAT if kind is Type.DECIMAL else kind
    return nodes.Call(f"imposed_{wanted.value}", (plain,), wanted)


def _distinct(table: str, expr: nodes.Expr, dialect: Dialect) -> Query:
    """Read one key more than allowed, so that too many can be detected."""
    value = key(expr, dialect)
    values = f"SELECT DISTINCT {value} AS k FROM {dialect.table(table)} WHERE {value} IS NOT NULL"
    return Query(f"{values}{dialect.tail(['k'], MAX_DECLARED + 1, 0)}", ("k",), (), (arrow_type(expr),))


def _fault(values: Sequence[Value]) -> tuple[str, str] | None:
    """Return why `values` are not a domain, and a hint; a table may contain only what a list in the catalog may.

    Privacy: a key that is listed twice would release the same rows twice for one charge.
    """
    if not values:
        return "holds no value, so every row would fall in no group", "Fill the table before you connect."
    if len(values) > MAX_DECLARED:
        return f"holds more than {MAX_DECLARED:,} values", "Name a column with fewer, or leave `values` out."
    if not all(map(_is_key, values)):
        reason = "holds a value that cannot be a key (a number that is not finite or too large, text with a zero byte)"
        return reason, "Correct the table, or name a view without such rows."
    if len(set(values)) < len(values):
        return "holds decimals that differ only beyond the 15th digit", "Name a column of text or whole numbers."
    return None


def _is_key(value: Value) -> bool:
    if isinstance(value, str):
        return is_storable(value)
    return math.isfinite(value) and abs(value) <= LARGEST_KEY


def _unusable(catalog: Catalog, table: DeclaredTable, column: DeclaredColumn, reason: str, hint: str) -> CatalogError:
    source, name = column.values_from or ("", "")
    return catalog.problem(
        f"The values of `{column.name}` are those of `{name}` in `{source}`, which {reason}.",
        *("tables", table.name, "columns", column.name, "values"),
        code=codes.VALUES,
        hint=hint,
    )
