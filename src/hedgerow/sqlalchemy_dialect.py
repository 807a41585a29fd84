"""SQLAlchemy: `create_engine("hedgerow:///path/to/hedgerow.toml")`, for pandas, polars, JupySQL and Superset.

The URL names a project file, or the folder of one; without a path it is looked for in the current folder and above.
Options of questions follow as parameters: `hedgerow:///shop/hedgerow.toml?analyst=ann&epsilon=0.5&intervals=1`.
"""

# ruff: noqa: ARG002 - the signatures are SQLAlchemy's

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlalchemy import types
from sqlalchemy.engine import URL, Connection, default
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.sql import compiler

from hedgerow import dbapi
from hedgerow.errors import UnknownNameError
from hedgerow.session.project import FILE
from hedgerow.session.tables import TableInfo, TableList

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import (  # not in SQLAlchemy 1.4, which Superset needs
        ReflectedColumn,
        ReflectedForeignKeyConstraint,
        ReflectedIndex,
        ReflectedPrimaryKeyConstraint,
        ReflectedTableComment,
    )

TYPES: Mapping[str, "types.TypeEngine[Any]"] = {
    "boolean": types.Boolean(),
    "integer": types.BigInteger(),
    "decimal": types.Numeric(),
    "float": types.Float(),
    "text": types.String(),
    "date": types.Date(),
    "time": types.Time(),
    "timestamp": types.DateTime(),
}
NUMBERS = ("epsilon", "delta", "confidence")


class HedgerowCompiler(compiler.SQLCompiler):
    """Writes LIMIT and OFFSET as numbers: a plan depends on them."""

    def limit_clause(self, select: Any, **words: Any) -> str:  # noqa: ANN401 - SQLAlchemy's own signature
        """The clause, with its numbers written out."""
        return str(super().limit_clause(select, **{**words, "literal_binds": True}))  # type: ignore[no-untyped-call]


class HedgerowDialect(default.DefaultDialect):
    """Read-only: tables of the catalog, statements of DuckDB's dialect, no transactions."""

    name = "hedgerow"
    driver = "hedgerow"
    default_paramstyle = "named"
    statement_compiler = HedgerowCompiler
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_alter = False
    supports_sane_rowcount = False
    max_identifier_length = 255

    @classmethod
    def dbapi(cls) -> ModuleType:  # type: ignore[override]
        """The module `hedgerow.dbapi`, under the name of SQLAlchemy 1.4."""
        return dbapi

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module `hedgerow.dbapi`."""
        return dbapi

    def create_connect_args(self, url: URL) -> Any:  # noqa: ANN401 - a source is no text where there is none
        """Source and options from a URL."""
        path = Path(url.database) if url.database else None
        source = None if path is None else str(path / FILE if path.is_dir() else path)
        options: dict[str, object] = dict(url.query)
        for name in NUMBERS:
            if name in options:
                options[name] = float(str(options[name]))
        if "intervals" in options:
            options["intervals"] = str(options["intervals"]).lower() in {"1", "true", "on", "yes"}
        return [source], options

    def do_ping(self, dbapi_connection: Any) -> bool:  # noqa: ANN401 - SQLAlchemy's own signature
        """True while the connection is open."""
        return dbapi_connection.database is not None

    def get_schema_names(self, connection: Connection, **_: object) -> list[str]:
        """Return the one schema, which has no name."""
        return ["main"]

    def get_table_names(self, connection: Connection, schema: str | None = None, **_: object) -> list[str]:
        """The tables of the catalog."""
        return [table.name for table in _tables(connection)]

    def get_view_names(self, connection: Connection, schema: str | None = None, **_: object) -> list[str]:
        """None: a view that the catalog declares is a table."""
        return []

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **_: object) -> bool:
        """True if the catalog declares it."""
        return any(table.name.lower() == table_name.lower() for table in _tables(connection))

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> "list[ReflectedColumn]":
        """The columns that may be asked about."""
        return [
            {
                "name": column.name,
                "type": TYPES.get(column.type, types.NullType()),
                "nullable": True,
                "default": None,
                "comment": column.comment,
            }
            for column in _table(connection, table_name).columns
        ]

    def get_table_comment(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> "ReflectedTableComment":
        """Comment of the owner on a table."""
        return {"text": _table(connection, table_name).comment}

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> "ReflectedPrimaryKeyConstraint":
        """Return no key: keys of tables are not shown."""
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> "list[ReflectedForeignKeyConstraint]":
        """Return an empty list: they are not shown."""
        return []

    def get_indexes(
        self, connection: Connection, table_name: str, schema: str | None = None, **_: object
    ) -> "list[ReflectedIndex]":
        """Return an empty list: they are not shown."""
        return []


def _tables(connection: Connection) -> TableList:
    opened: dbapi.Connection = connection.connection.dbapi_connection  # type: ignore[assignment]
    return opened.database.tables


def _table(connection: Connection, name: str) -> TableInfo:
    try:
        return _tables(connection)[name]
    except UnknownNameError:
        raise NoSuchTableError(name) from None
