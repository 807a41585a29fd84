"""SQL of the shadow's databases: the declared tables without rows, hedgerow's functions, and the rights it revokes.

`hardening` runs once in `template1`, from which the database of each dataset is copied. It revokes all rights that
reach beyond an analyst's own session: afterwards an analyst sees the roles, databases, sessions and locks that are
their own, cannot leave anything behind (large objects, notifications, advisory locks), and is told nothing about sizes
and numbers of rows, which the shadow does not know.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hedgerow.catalog.model import DeclaredTable, Through
from hedgerow.catalog.names import lookup
from hedgerow.expressions.table_names import parts_of
from hedgerow.ledger import BudgetView
from hedgerow.service.shadow.lexing import cut_name, fold_name
from hedgerow.service.shadow.routing import RUNS_TEXT
from hedgerow.session.database import Database
from hedgerow.session.tables import ColumnInfo, TableInfo

TYPES: Final[Mapping[str, str]] = {
    "integer": "bigint",
    "float": "double precision",
    "decimal": "numeric",
    "text": "text",
    "boolean": "boolean",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "other": "text",
}

DEFAULT_SCHEMA: Final = "public"
RESERVED_SCHEMAS: Final = frozenset({"hedgerow", "information_schema"})
SYSTEM_COLUMNS: Final = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})
MAXIMUM_COLUMNS: Final = 1600
MAXIMUM_KEY: Final = 32
"""Limits of PostgreSQL. Columns beyond them, or with such names, are asked about but not listed."""

BUDGET_COLUMNS: Final[Mapping[str, str]] = {
    "dataset": "text",
    "analyst": "text",
    "epsilon": "double precision",
    "delta": "double precision",
    "spent_epsilon": "double precision",
    "spent_delta": "double precision",
    "remaining_epsilon": "double precision",
    "remaining_delta": "double precision",
    "used": "double precision",
    "queries": "bigint",
    "questions_left": "bigint",
}
"""Columns of the view `hedgerow.budget`; `used` is the used share of the budget."""

BUDGET_SETTING: Final = "hedgerow.budget_rows"
"""Setting of a session that holds the rows of `hedgerow.budget`, as JSON."""

OWN_SCHEMA: Final = f"""
CREATE SCHEMA hedgerow;
CREATE FUNCTION hedgerow.only_in_questions() RETURNS boolean STABLE LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION 'this function works in questions about declared tables only'
        USING ERRCODE = 'feature_not_supported';
END $body$;
CREATE VIEW hedgerow.budget AS SELECT * FROM json_to_recordset(
    coalesce(nullif(current_setting('{BUDGET_SETTING}', true), ''), '[]')::json)
    AS budget({", ".join(f"{name} {kind}" for name, kind in BUDGET_COLUMNS.items())});
COMMENT ON VIEW hedgerow.budget IS 'Spent and remaining privacy budget of this dataset';
GRANT USAGE ON SCHEMA hedgerow TO PUBLIC;
GRANT SELECT ON hedgerow.budget TO PUBLIC;
"""

PERIODS: Final = [
    "year",
    "quarter",
    "month",
    "week",
    "weekofyear",
    "day",
    "dayofmonth",
    "dayofweek",
    "isodow",
    "dayofyear",
    "hour",
    "minute",
    "second",
]

FUNCTIONS: Final[tuple[tuple[str, str, str], ...]] = (
    *((period, "timestamp", "bigint") for period in PERIODS),
    ("monthname", "timestamp", "text"),
    ("dayname", "timestamp", "text"),
    ("last_day", "timestamp", "date"),
    ("date_diff", "text, timestamp, timestamp", "bigint"),
    ("date_sub", "text, timestamp, timestamp", "bigint"),
    ("time_bucket", "interval, timestamp", "timestamp"),
    ("contains", "text, text", "boolean"),
    ("ends_with", "text, text", "boolean"),
    ("prefix", "text, text", "boolean"),
    ("suffix", "text, text", "boolean"),
    ("regexp_full_match", "text, text", "boolean"),
    ("regexp_extract", "text, text", "text"),
    ("regexp_extract", "text, text, integer", "text"),
    ("instr", "text, text", "bigint"),
    ("locate", "text, text", "bigint"),
    ("locate", "text, text, bigint", "bigint"),
    ("isnan", "double precision", "boolean"),
    ("isinf", "double precision", "boolean"),
    ("isfinite", "double precision", "boolean"),
    ("log2", "double precision", "double precision"),
    ("safe_divide", "double precision, double precision", "double precision"),
    ("ifnull", "anycompatible, anycompatible", "anycompatible"),
    ("xor", "bigint, bigint", "bigint"),
)
"""Functions that PostgreSQL lacks: name, arguments, result. They raise an error where the shadow would run them."""

AGGREGATES: Final[tuple[tuple[str, str, str], ...]] = (
    ("median", "double precision", "double precision"),
    ("quantile", "double precision, double precision", "double precision"),
    ("quantile_cont", "double precision, double precision", "double precision"),
    ("quantile_disc", "double precision, double precision", "double precision"),
    ("approx_quantile", "double precision, double precision", "double precision"),
    ("relative_risk", "boolean, boolean", "double precision"),
    ("risk_difference", "boolean, boolean", "double precision"),
    ("odds_ratio", "boolean, boolean", "double precision"),
    ("lift", "boolean, boolean", "double precision"),
    ("avg_difference", "double precision, boolean", "double precision"),
    ("avg_lift", "double precision, boolean", "double precision"),
    ("ratio", "double precision, double precision", "double precision"),
    ("histogram_bin", "double precision, integer, VARIADIC double precision[]", "bigint"),
    ("value_bin", "text, integer, VARIADIC text[]", "bigint"),
    ("value_bin", "double precision, integer, VARIADIC double precision[]", "bigint"),
)
"""Aggregates that PostgreSQL lacks, likewise."""


STUB: Final = "STABLE LANGUAGE plpgsql AS $body$ BEGIN PERFORM hedgerow.only_in_questions(); END $body$"


def quoted(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Return a text as a constant."""
    return "'" + value.replace("'", "''") + "'"


def own_functions() -> str:
    """Return the statements that create hedgerow's schema, view and functions.

    The functions are in `pg_catalog`, where every search path finds them and lists of functions do not show them.
    """
    lines = [
        "SET allow_system_table_mods = on",
        OWN_SCHEMA,
        *(f"CREATE FUNCTION pg_catalog.{name}({given}) RETURNS {result} {STUB}" for name, given, result in FUNCTIONS),
        *(
            f"CREATE FUNCTION pg_catalog.clip({kind}, {kind}, {kind}) RETURNS {kind} IMMUTABLE LANGUAGE sql "
            "AS 'SELECT CASE WHEN $1 IS NOT NULL THEN LEAST(GREATEST($1, $2), $3) END'"
            for kind in ("bigint", "numeric", "double precision")
        ),
        *(line for aggregate in AGGREGATES for line in _aggregate(*aggregate)),
        "RESET allow_system_table_mods",
    ]
    return ";\n".join(lines)


def _aggregate(name: str, arguments: str, result: str) -> Iterator[str]:
    suffix = "".join(letter if letter.isalnum() else "_" for letter in f"{name}_{arguments}").lower()
    yield f"CREATE FUNCTION hedgerow.step_{suffix}(boolean, {arguments}) RETURNS boolean {STUB}"
    yield f"CREATE FUNCTION hedgerow.result_{suffix}(boolean) RETURNS {result} {STUB}"
    yield (
        f"CREATE AGGREGATE pg_catalog.{name}({arguments}) "
        f"(SFUNC = hedgerow.step_{suffix}, STYPE = boolean, FINALFUNC = hedgerow.result_{suffix})"
    )


def declared_tables(database: Database) -> str:
    """Return the statements that create the declared tables of a dataset, as its analysts may see them."""
    tables = _shadow_tables(database)
    schemas = sorted({table.schema for table in tables} - {DEFAULT_SCHEMA})
    lines = [f"CREATE SCHEMA {quoted(schema)}; GRANT USAGE ON SCHEMA {quoted(schema)} TO PUBLIC" for schema in schemas]
    lines += [line for table in tables for line in table.statements()]
    lines += [line for table in tables for line in table.references(tables)]
    return ";\n".join(lines)


def _shadow_tables(database: Database) -> "list[_ShadowTable]":
    """Return one table for each name in PostgreSQL. Further tables of that name are not listed, but can be queried."""
    tables = [_ShadowTable(database, table) for table in database.tables]
    return list({table.full_name: table for table in reversed(tables)}.values())[::-1]


class _ShadowTable:
    """One declared table: what catalog and schema say about it, and PostgreSQL can show."""

    def __init__(self, database: Database, table: TableInfo) -> None:
        session = database._session  # noqa: SLF001 - catalog and schema, from which `db.tables` comes
        self._declared: DeclaredTable = session.catalog.tables[table.name]
        self._schema = lookup(session.schema.tables, table.name)
        self.info = table
        *around, self.name = map(cut_name, parts_of(table.name))
        own = bool(around) and not around[-1].lower().startswith("pg_") and around[-1] not in RESERVED_SCHEMAS
        self.schema = around[-1] if own else DEFAULT_SCHEMA
        self.full_name = f"{quoted(self.schema)}.{quoted(self.name)}"
        columns = {cut_name(column.name): column for column in table.columns}
        shown = [name for name in columns if name not in SYSTEM_COLUMNS][:MAXIMUM_COLUMNS]
        self.columns = {name: columns[name] for name in shown}
        self.types = {name: TYPES.get(column.type, "text") for name, column in self.columns.items()}
        self.key = self._key()

    def _key(self) -> tuple[str, ...]:
        """Return the columns of the primary key: the person if there is one row of each, else a key of the database."""
        person = [name for name, column in self.columns.items() if column.person]
        if person and self._declared.unit_unique:
            return tuple(person)
        if self._schema is None:
            return ()
        nullable = {name for name, column in self._schema.columns.items() if column.nullable}
        usable = (key for key in self._schema.unique if key <= self.columns.keys() and not key & nullable)
        keys = sorted((len(key), sorted(key)) for key in usable)
        return tuple(keys[0][1][:MAXIMUM_KEY]) if keys else ()

    def statements(self) -> Iterator[str]:
        """Yield the statements that create the table and its comments."""
        columns = [f"{quoted(name)} {kind}" for name, kind in self.types.items()]
        if self.key:
            columns.append(f"PRIMARY KEY ({', '.join(map(quoted, self.key))})")
        yield f"CREATE TABLE {self.full_name} ({', '.join(columns)})"
        if self.info.comment:
            yield f"COMMENT ON TABLE {self.full_name} IS {literal(self.info.comment)}"
        for name, column in self.columns.items():
            comment = _comment(column)
            if comment:
                yield f"COMMENT ON COLUMN {self.full_name}.{quoted(name)} IS {literal(comment)}"

    def references(self, tables: Iterable["_ShadowTable"]) -> Iterator[str]:
        """Yield the foreign key along which the catalog finds the person, if the other table has that key."""
        unit = self._declared.unit
        if not isinstance(unit, Through):
            return
        other = next((table for table in tables if fold_name(table.info.name) == fold_name(unit.table)), None)
        own, key = tuple(pair[0] for pair in unit.on), tuple(pair[1] for pair in unit.on)
        if other is None or set(key) != set(other.key):
            return
        if [self.types.get(name) for name in own] == [other.types[name] for name in key]:
            yield (
                f"ALTER TABLE {self.full_name} ADD FOREIGN KEY ({', '.join(map(quoted, own))}) "
                f"REFERENCES {other.full_name} ({', '.join(map(quoted, key))})"
            )


def _comment(column: ColumnInfo) -> str:
    """Return the owner's comment, and what is declared about the values."""
    facts = [column.comment] if column.comment else []
    if column.person:
        facts.append("identifies the protected person")
    if column.lower is not None and column.upper is not None:
        facts.append(f"clipped to {column.lower:g} … {column.upper:g}")
    return "; ".join(facts)


def sealed_tables(database: Database) -> str:
    """Return the statements that make the declared tables unreadable, and then visible to analysts."""
    names = [table.full_name for table in _shadow_tables(database)]
    relations = ", ".join(f"{literal(name)}::regclass" for name in names)
    listed = f"SELECT unnest(ARRAY[{relations}]::oid[])"
    return f"""
UPDATE pg_catalog.pg_class SET relfilenode = (4294967295 - oid::bigint)::oid WHERE oid IN (
    {listed} UNION SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid IN ({listed}));
{";".join(f"GRANT SELECT ON {name} TO PUBLIC" for name in names)}"""


def drop_declared(schemas: Iterable[str]) -> str:
    """Return the statements that remove the declared tables: everything in schema `public` and in `schemas`."""
    lines = [f"DROP SCHEMA {quoted(schema)} CASCADE" for schema in schemas if schema != DEFAULT_SCHEMA]
    return ";\n".join([*lines, "DROP SCHEMA public CASCADE", *PUBLIC_SCHEMA])


PUBLIC_SCHEMA: Final = (
    "CREATE SCHEMA public AUTHORIZATION pg_database_owner",
    "COMMENT ON SCHEMA public IS 'standard public schema'",
    "GRANT USAGE ON SCHEMA public TO PUBLIC",
)


def budget_row(view: BudgetView, analyst: str) -> dict[str, Any]:
    """Return the row of `hedgerow.budget` for one dataset."""
    left = view.questions_left
    return {
        "dataset": view.dataset,
        "analyst": analyst,
        "epsilon": float(view.limit.epsilon),
        "delta": float(view.limit.delta),
        "spent_epsilon": float(view.spent.epsilon),
        "spent_delta": float(view.spent.delta),
        "remaining_epsilon": float(view.remaining.epsilon),
        "remaining_delta": float(view.remaining.delta),
        "used": max(view.used.values()),
        "queries": view.queries,
        "questions_left": None if left is None else left.last,
    }


FIRST_ROLE: Final = 16384
"""Object ids from here on are of roles that were created later; those of PostgreSQL itself are below."""

REVOKED: Final = (
    *sorted(RUNS_TEXT),
    "pg_notify",
    "pg_cancel_backend",
    "pg_terminate_backend",
    "pg_export_snapshot",
    "pg_blocking_pids",
    "loread",
    "lowrite",
)
"""Functions that analysts may not run; also those for large objects and advisory locks."""

OWN_ROWS: Final = {
    "pg_roles": f"whole.oid < {FIRST_ROLE} OR pg_has_role(whole.oid, 'MEMBER')",
    "pg_user": f"whole.usesysid < {FIRST_ROLE} OR pg_has_role(whole.usesysid, 'MEMBER')",
    "pg_group": f"whole.grosysid < {FIRST_ROLE} OR pg_has_role(whole.grosysid, 'MEMBER')",
    "pg_stat_database": "whole.datid <> 0 AND has_database_privilege(whole.datid, 'CONNECT')",
    "pg_stat_database_conflicts": "has_database_privilege(whole.datid, 'CONNECT')",
    "pg_locks": "whole.pid = pg_backend_pid()",
}
"""Views of the system, and the condition on the rows that an analyst sees."""

UNKNOWN_NUMBERS: Final = {
    "pg_relation_size": ("regclass", "regclass, text"),
    "pg_table_size": ("regclass",),
    "pg_indexes_size": ("regclass",),
    "pg_total_relation_size": ("regclass",),
    "pg_stat_get_live_tuples": ("oid",),
    "pg_database_size": ("oid", "name"),
}
"""Functions about sizes, with their arguments: they return NULL, because the shadow does not know."""

REVOKE_FUNCTIONS: Final = f"""
DO $harden$
DECLARE routine regprocedure;
BEGIN
    FOR routine IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND (
        proname IN ({", ".join(f"'{name}'" for name in REVOKED)}) OR proname ~ '^lo_'
        OR proname ~ '^pg_(try_)?advisory_' AND proname <> 'pg_advisory_unlock_all')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', routine);
    END LOOP;
END $harden$
"""

RENAMED_USER: Final = """
ALTER FUNCTION pg_catalog.pg_get_userbyid(oid) RENAME TO any_pg_get_userbyid;
REVOKE EXECUTE ON FUNCTION pg_catalog.any_pg_get_userbyid(oid) FROM PUBLIC;
CREATE FUNCTION pg_catalog.pg_get_userbyid(oid) RETURNS name STABLE STRICT PARALLEL SAFE LANGUAGE sql AS $body$
    SELECT coalesce((SELECT rolname FROM pg_catalog.pg_roles WHERE oid = $1), ('unknown (OID=' || $1 || ')')::name)
$body$;
UPDATE pg_catalog.pg_type SET typoutput = 'oidout'::regproc WHERE oid = 'regrole'::regtype
"""
"""Names of roles by their number: only of those that the analyst sees. `regrole` shows numbers."""

OWN_SESSIONS: Final = """
DO $harden$
DECLARE arguments text := pg_get_function_arguments('pg_catalog.pg_stat_get_activity(integer)'::regprocedure);
BEGIN
    ALTER FUNCTION pg_catalog.pg_stat_get_activity(integer) RENAME TO any_pg_stat_get_activity;
    REVOKE EXECUTE ON FUNCTION pg_catalog.any_pg_stat_get_activity(integer) FROM PUBLIC;
    EXECUTE format($create$
        CREATE FUNCTION pg_catalog.pg_stat_get_activity(%s) RETURNS SETOF record STABLE SECURITY DEFINER LANGUAGE sql
        SET search_path = pg_catalog AS $body$
            SELECT * FROM any_pg_stat_get_activity($1) whole
            WHERE whole.usesysid = (SELECT oid FROM pg_authid WHERE rolname = session_user)
        $body$ $create$, arguments);
END $harden$
"""
"""Sessions: only those of the analyst. Others show their user and the name of their program otherwise."""

RENAMED_DATABASES: Final = """
ALTER TABLE pg_catalog.pg_database RENAME TO pg_any_database;
REVOKE ALL ON pg_catalog.pg_any_database FROM PUBLIC;
CREATE VIEW pg_catalog.pg_database AS
    SELECT * FROM pg_catalog.pg_any_database whole WHERE has_database_privilege(whole.oid, 'CONNECT');
GRANT SELECT ON pg_catalog.pg_database TO PUBLIC
"""

REPLACED_USES: Final = """
DO $harden$
DECLARE
    name text;
    definition text;
BEGIN
    FOR name, definition IN SELECT format('%I.%I', schemaname, viewname), pg_views.definition FROM pg_catalog.pg_views
        WHERE pg_views.definition ~ '\\many_pg_'
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %s AS %s', name, replace(definition, 'any_pg_', 'pg_'));
    END LOOP;
    FOR definition IN SELECT pg_get_functiondef(oid) FROM pg_catalog.pg_proc
        WHERE prosqlbody IS NOT NULL AND pg_get_functiondef(oid) ~ '\\mpg_any_database'
    LOOP
        EXECUTE replace(definition, 'pg_any_database', 'pg_database');
    END LOOP;
END $harden$
"""
"""System views and functions that used a renamed object use its replacement."""


def hardening() -> str:
    """Return the statements, to be run by a superuser in `template1`."""
    lines = ["SET allow_system_table_mods = on", "REVOKE ALL ON LANGUAGE plpgsql FROM PUBLIC", REVOKE_FUNCTIONS]
    lines += [_own_rows(view, condition) for view, condition in OWN_ROWS.items()]
    lines += [RENAMED_USER, OWN_SESSIONS, RENAMED_DATABASES]
    for name, signatures in UNKNOWN_NUMBERS.items():
        lines += [_unknown(name, arguments) for arguments in signatures]
    return ";\n".join([*lines, REPLACED_USES, "RESET allow_system_table_mods"])


def _own_rows(view: str, condition: str) -> str:
    return f"""
DO $harden$
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.{view} AS SELECT * FROM (%s) whole WHERE %s',
        rtrim(pg_get_viewdef('pg_catalog.{view}'::regclass), ';'), $condition${condition}$condition$);
END $harden$"""


def _unknown(name: str, arguments: str) -> str:
    return f"""
ALTER FUNCTION pg_catalog.{name}({arguments}) RENAME TO any_{name};
REVOKE EXECUTE ON FUNCTION pg_catalog.any_{name}({arguments}) FROM PUBLIC;
CREATE FUNCTION pg_catalog.{name}({arguments}) RETURNS bigint STABLE STRICT PARALLEL SAFE LANGUAGE sql
    AS 'SELECT NULL::bigint'"""
