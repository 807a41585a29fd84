"""Settings of our transactions, which end with them.

Privacy: a transaction is read-only and sees one state of the data. What the text of a value looks like, and which
functions a name means, does not depend on how the server or the connection was set up.
"""

from hedgerow.limits import StatementLimits

READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
PINNED = {
    "client_encoding": "'UTF8'",
    "standard_conforming_strings": "on",
    "array_nulls": "on",
    "transform_null_equals": "off",
    "extra_float_digits": "1",
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "TimeZone": "'UTC'",
    "xmloption": "'content'",
}
"""How values are written and read."""

PLANNED = {"jit": "off"}
"""Compiling statements of several steps costs more than it saves."""

MOST_WORK = 64 << 20
"""Bytes for one sort or hash table, unless the limit on memory is small: a hash table of people is large."""

PATIENCE = 900.0
"""Seconds that one statement may take, unless the URL says otherwise."""

IDLE = 600
"""Seconds after which the server lets go of a transaction that we left open."""

LARGEST_SETTING = 2**31 - 1
"""PostgreSQL keeps limits in 32 bits."""

PARAMETERS_ARE_GRANTED = 150_000
"""The version from which a user may be granted the right to set a parameter."""


def opening(schema: str, limits: StatementLimits, version: int) -> str:
    """The statements that a transaction begins with, on a server of a version such as 150004."""
    quoted = '"' + schema.replace('"', '""') + '"'
    local = {
        "search_path": f"pg_catalog, {quoted}, pg_temp",
        "work_mem": f"'{min(MOST_WORK, limits.memory // 16) >> 10}kB'",
        **PINNED,
        **PLANNED,
    }
    allowed = "current_setting('is_superuser') = 'on'"
    if version >= PARAMETERS_ARE_GRANTED:
        allowed = "has_parameter_privilege('temp_file_limit', 'SET')"
    return "; ".join(
        [
            READ_ONLY,
            *(f"SET LOCAL {name} = {value}" for name, value in local.items()),
            _tightened("statement_timeout", min(max(1, round(limits.seconds * 1000)), LARGEST_SETTING), "TRUE"),
            _tightened("idle_in_transaction_session_timeout", IDLE * 1000, "TRUE"),
            _tightened("temp_file_limit", min(limits.temporary >> 10, LARGEST_SETTING), allowed),
        ]
    )


def _tightened(name: str, most: int, condition: str) -> str:
    """Set a limit, unless the server, the role or the connection has a tighter one (0 and -1 are none)."""
    value = f"CASE WHEN setting::bigint BETWEEN 1 AND {most} THEN setting ELSE '{most}' END"
    return f"SELECT set_config(name, {value}, TRUE) FROM pg_settings WHERE name = '{name}' AND {condition}"
