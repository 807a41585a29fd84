"""The parts of a MergeTree table: its rows, as long as nobody writes.

A part never changes once it is written: inserts, merges, mutations and deletions make new parts with new names. So the
names and hashes of the active parts identify the rows of a table. ClickHouse has no transactions, and a part that is
inserted and dropped again leaves no trace. So a statement that relies on facts reads exactly the parts for which they
hold (`additional_table_filters`), without changes that are not yet part of them.

Privacy: a table has no identity here while a mutation or a patch waits, or where a row policy or a deleted row makes
the number of rows that this user sees differ from that of the parts. A replicated table has none, because two
statements may be answered by two servers.
"""

import re
from collections.abc import Collection, Hashable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import pyarrow as pa

from hedgerow.dialects import Dialect
from hedgerow.expressions.table_names import full_name

ENGINES = ("MergeTree", "ReplacingMergeTree", "SummingMergeTree", "AggregatingMergeTree", "CollapsingMergeTree")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that need no quotes: a filter of a table whose name is quoted would be ignored."""

MOST_PARTS = 1000
"""Maximum number of parts of the tables of a statement."""


class KnownParts(NamedTuple):
    """An identity of the rows of tables, and the settings by which statements read exactly these rows."""

    state: Hashable
    settings: str


def table_query(dialect: Dialect, table: str) -> str | None:
    """Return the query for the parts of a table and what else decides about its rows; None if it has no plain name.

    Its rows, in any order by `place`, have a text and a number each: the parts with the number of their rows, mutations
    that wait, columns that may be computed when they are read, the definition, and the rows that this user sees.
    """
    name = full_name(table, dialect.namespace)
    if len(name) != len(("database", "table")) or not all(PLAIN.fullmatch(part) for part in name):
        return None
    of_table = "database = {} AND table = {}".format(*map(dialect.string, name))
    columns = ("name", "hash_of_all_files", "toString(rows)", "toString(toUnixTimestamp(modification_time))")
    described = f"arrayStringConcat([{', '.join(columns)}], ' ')"
    kinds = ", ".join(map(dialect.string, ENGINES))
    defined = f"engine IN ({kinds}) AND {of_table.replace('table =', 'name =')}"
    parts = f"arrayStringConcat(arraySort(groupArray({described})), ',') AS text, sum(rows) AS n"
    branches = (
        f"{parts} FROM system.parts WHERE active AND {of_table}",
        f"'' AS text, count() AS n FROM system.mutations WHERE NOT is_done AND {of_table}",
        f"'' AS text, count() AS n FROM system.columns WHERE default_kind <> '' AND {of_table}",
        f"any(create_table_query) AS text, count() AS n FROM system.tables WHERE {defined}",
        f"'' AS text, count() AS n FROM {dialect.table(table)}",
    )
    return " UNION ALL ".join(f"SELECT {i} AS place, {branch}" for i, branch in enumerate(branches))


def known_parts(dialect: Dialect, rows_by_table: Collection[tuple[str, pa.Table]]) -> KnownParts | None:
    """Return the identity of tables from the results of `table_query`; None if one of them has none."""
    filters, described, count = [], [], 0
    for table, rows in rows_by_table:
        texts, numbers = zip(*((row["text"], row["n"]) for row in sorted(rows.to_pylist(), key=_place)), strict=True)
        stored, *waiting, definitions, seen = numbers
        names = [part.partition(" ")[0] for part in texts[0].split(",")]
        if any(waiting) or definitions != 1 or stored != seen or any(name.startswith("patch") for name in names):
            return None
        count += len(names)
        described.append((table, texts))
        condition = dialect.string(f"_part IN ({', '.join(map(dialect.string, names))})")
        filters.append(f"{dialect.string('.'.join(full_name(table, dialect.namespace)))}: {condition}")
    if count > MOST_PARTS:
        return None
    state = sha256(repr(described).encode()).hexdigest()
    exactly = "apply_mutations_on_fly = 0, apply_patch_parts = 0"
    return KnownParts(("parts", state), f"additional_table_filters = {{{', '.join(filters)}}}, {exactly}")


def _place(row: Mapping[str, Any]) -> int:
    return int(row["place"])
