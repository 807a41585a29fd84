"""SQL that revokes, in every database of the shadow, all rights that reach beyond an analyst's own session.

It runs once in `template1`, from which the database of each dataset is copied. Afterwards an analyst sees the roles,
databases, sessions and locks that are their own, cannot leave anything behind (large objects, notifications, advisory
locks), and is told nothing about sizes and numbers of rows, which the shadow does not know.
"""

from typing import Final

from hedgerow.service.shadow.routing import RUNS_TEXT

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
