"""Small and capital letters, the same on every server.

What `lower` does in PostgreSQL depends on the locale of the database. So it is asked for ASCII alone, and all other
letters are exchanged one by one, as DuckDB does.
"""

from functools import lru_cache

import duckdb

LAST = 0x10FFFF


@lru_cache(maxsize=2)
def pairs(function: str) -> tuple[str, str]:
    """The letters beyond ASCII that `lower` or `upper` changes, and what they become. DuckDB is asked once."""
    with duckdb.connect(":memory:", config={"enable_external_access": "false", "threads": "1"}) as connection:
        point = "CASE WHEN i NOT BETWEEN 55296 AND 57343 THEN CAST(i AS INTEGER) END"
        letters = f"SELECT chr({point}) AS c FROM range(128, {LAST + 1}) AS t(i)"
        found = connection.execute(f"SELECT c, {function}(c) FROM ({letters}) WHERE {function}(c) <> c").fetchall()
    return "".join(one for one, _ in found), "".join(other for _, other in found)


def changed(function: str, text: str) -> str:
    """A template of `lower` or `upper` of `{0}`; texts of ASCII letters alone are the quick way."""
    one, other = pairs(function)
    ascii_only = f'{function}({text} COLLATE "C")'
    exchanged = f"translate({ascii_only}, '{one}', '{other}')"
    return f"CASE WHEN octet_length({text}) = length({text}) THEN {ascii_only} ELSE {exchanged} END"
