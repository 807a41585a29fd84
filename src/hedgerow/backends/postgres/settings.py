"""What holds inside our transactions, and ends with them.

Privacy: a transaction is read-only and sees one state of the data. What the text of a value looks like, and which
functions a name means, does not depend on how the server or the connection was set up.
"""

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

PLANNED = {"jit": "off", "work_mem": "'64MB'"}
"""For statements of several steps: compiling them costs more than it saves, and a hash table of people is large."""

PATIENCE = 900.0
"""Seconds that one statement may take, unless the URL says otherwise."""

IDLE = 600
"""Seconds after which the server lets go of a transaction that we left open."""


def opening(schema: str, patience: float) -> str:
    """The statements that a transaction begins with."""
    quoted = '"' + schema.replace('"', '""') + '"'
    local = {
        "search_path": f"pg_catalog, {quoted}, pg_temp",
        "statement_timeout": str(max(1, round(patience * 1000))),
        "idle_in_transaction_session_timeout": f"'{IDLE}s'",
        **PINNED,
        **PLANNED,
    }
    return "; ".join([READ_ONLY, *(f"SET LOCAL {name} = {value}" for name, value in local.items())])
