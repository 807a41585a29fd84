"""Names of tables with their schema and database, as one text: `orders`, `sales.orders`, `"my schema"."odd.name"`.

A part in double quotes may hold dots; a double quote in it is written twice, as in SQL.
"""

import re
from collections.abc import Sequence

NAME = re.compile(r'(?:"(?:[^"]|"")+"|[^".]+)(?:\.(?:"(?:[^"]|"")+"|[^".]+))*')
PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a name, outermost first; malformed text is a single part.

    >>> parts_of('sales.orders'), parts_of('"odd.name"'), parts_of('a"b')
    (('sales', 'orders'), ('odd.name',), ('a"b',))
    """
    if NAME.fullmatch(name) is None:
        return (name,)
    return tuple(quoted.replace('""', '"') or plain for quoted, plain in PART.findall(name))


def table_name(*parts: str) -> str:
    """Return the name that has these parts, in quotes where it must.

    >>> table_name("sales", "orders"), table_name("odd.name")
    ('sales.orders', '"odd.name"')
    """
    if len(parts) == 1 and parts_of(parts[0]) == parts:
        return parts[0]
    return ".".join(
        part if PART.fullmatch(part) and '"' not in part else ('"' + part.replace('"', '""') + '"') for part in parts
    )


def full_name(name: str, namespace: Sequence[str]) -> tuple[str, ...]:
    """Return all parts of a name in an engine whose current database and schema are `namespace`.

    >>> full_name("orders", ("shop", "main")), full_name("sales.orders", ("shop", "main"))
    (('shop', 'main', 'orders'), ('shop', 'sales', 'orders'))
    """
    parts = parts_of(name)
    return (*namespace[: max(0, len(namespace) + 1 - len(parts))], *parts)


def short_name(full: Sequence[str], namespace: Sequence[str]) -> str:
    """Return the shortest name that means the table with the parts `full`.

    >>> short_name(("shop", "sales", "orders"), ("shop", "main"))
    'sales.orders'
    """
    around = next(
        n for n in range(len(full) - 1, -1, -1) if tuple(full[:n]) == tuple(namespace[:n]) and len(namespace) >= n
    )
    return table_name(*full[around:])
