"""Paths from a table to its owner, as joins that were added to a release; and tables that stand for a whole path."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from hedgerow.catalog.model import Catalog, Through
from hedgerow.expressions.nodes import Column
from hedgerow.plan.nodes import From, Join, Release, Scan, columns_used, inside, rewrite, scans_of

OWNER = "owner"

Path = tuple[str, ...]
"""The aliases of the tables that were added to reach the owner, from the nearest to the one with the unit column."""


def whole_paths(release: Release, catalog: Catalog) -> dict[str, Path]:
    """Return, by alias, the path of each table that is joined with its whole path."""
    longest: dict[str, Path] = {}
    for node in inside(release):
        scan, path = _path(node)
        if scan is not None and path:
            longest[scan.alias] = max(path, longest.get(scan.alias, ()), key=len)
    return {alias: path for alias, path in longest.items() if len(path) == _steps(alias, release, catalog)}


def _path(node: object) -> tuple[Scan | None, Path]:
    if isinstance(node, Scan):
        return (None, ()) if node.added else (node, ())
    if isinstance(node, Join) and isinstance(node.right, Scan) and node.right.added:
        scan, path = _path(node.left)
        return scan, (*path, node.right.alias)
    return None, ()


def _steps(alias: str, release: Release, catalog: Catalog) -> int:
    table = next(catalog.tables[scan.table] for scan in scans_of(release) if scan.alias == alias)
    steps = 0
    while isinstance(table.unit, Through):
        table, steps = catalog.tables[table.unit.table], steps + 1
    return steps


def without_paths(release: Release, paths: Mapping[str, Path]) -> Release:
    """Return the release as if the tables in `paths` had an owner column of their own."""
    return with_owners(release, paths, lambda scan, _: scan)


def with_owners(release: Release, paths: Mapping[str, Path], instead: Callable[[Scan, str], From]) -> Release:
    """Replace tables and their paths by other relations, each with the owner as a column of the given name."""
    owners = {path[-1]: alias for alias, path in paths.items()}
    names = {alias: free_name(columns_used(release).get(alias, {}), OWNER) for alias in paths}

    def swap(node: object) -> object | None:
        scan, path = _path(node)
        if scan is not None and path and paths.get(scan.alias) == path:
            return instead(scan, names[scan.alias])
        if isinstance(node, Column) and node.table in owners:
            alias = owners[node.table]
            return replace(node, name=names[alias], table=alias)
        return None

    return rewrite(release, swap)


def free_name(taken: Iterable[str], name: str) -> str:
    """Return a name that no column of the table has."""
    names = {column.lower() for column in taken}
    while name in names:
        name += "_"
    return name
