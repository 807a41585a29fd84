"""SQL that takes from analysts, in every database of the shadow, what would reach beyond their own session.

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
    "pg_stat_activity": "whole.usesysid = (SELECT oid FROM pg_authid WHERE rolname = current_user)",
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
ALTER FUNCTION pg_catalog.pg_get_userbyid(oid) RENAME TO pg_get_any_userbyid;
REVOKE EXECUTE ON FUNCTION pg_catalog.pg_get_any_userbyid(oid) FROM PUBLIC;
CREATE FUNCTION pg_catalog.pg_get_userbyid(oid) RETURNS name STABLE STRICT PARALLEL SAFE LANGUAGE sql AS $body$
    SELECT coalesce((SELECT rolname FROM pg_catalog.pg_roles WHERE oid = $1), ('unknown (OID=' || $1 || ')')::name)
$body$;
UPDATE pg_catalog.pg_type SET typoutput = 'oidout'::regproc WHERE oid = 'regrole'::regtype
"""
"""Names of roles by their number: only of those that the analyst sees. `regrole` shows numbers."""

RENAMED_DATABASES: Final = """
ALTER TABLE pg_catalog.pg_database RENAME TO pg_any_database;
REVOKE ALL ON pg_catalog.pg_any_database FROM PUBLIC;
CREATE VIEW pg_catalog.pg_database AS
    SELECT * FROM pg_catalog.pg_any_database whole WHERE has_database_privilege(whole.oid, 'CONNECT');
GRANT SELECT ON pg_catalog.pg_database TO PUBLIC
"""


def hardening() -> str:
    """Return the statements, to be run by a superuser in `template1`."""
    lines = ["SET allow_system_table_mods = on", "REVOKE ALL ON LANGUAGE plpgsql FROM PUBLIC", REVOKE_FUNCTIONS]
    lines += [_own_rows(view, condition) for view, condition in OWN_ROWS.items()]
    lines += [RENAMED_USER, RENAMED_DATABASES]
    for name, signatures in UNKNOWN_NUMBERS.items():
        lines += [_unknown(name, arguments) for arguments in signatures]
    return ";\n".join([*lines, "RESET allow_system_table_mods"])


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
