"""Limits on the rows that joins produce, from all people and from one person.

Without them, one person with very many rows could make a statement run out of memory or time, and its failure would
reveal that the person is in the data.

Privacy: every decision here depends on the query, the catalog, the schema and public tables, never on private rows.
"""

from collections.abc import Callable, Mapping

from hedgerow.catalog.model import DEFAULT_SIZE, Catalog, DeclaredTable, Through
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import Nested
from hedgerow.plan.context import as_read
from hedgerow.plan.cutting import cut
from hedgerow.plan.nodes import (
    Join,
    LogicalPlan,
    Release,
    inside,
    scans_of,
    with_releases,
)
from hedgerow.plan.owner_paths import whole_paths, without_paths
from hedgerow.plan.volume import Multiplicity, Volumes
from hedgerow.schema import Schema

LINEAR = 1_000
"""Number of public rows that each private row may be joined with before the rows of each person are limited."""

OF_ONE = {"joined_rows": "", "rows_per_person": " for each row of a person"}


def within_limits(
    bound: Callable[..., LogicalPlan], catalog: Catalog, schema: Schema, multiplicity: Multiplicity
) -> LogicalPlan:
    """Limit the rows of each person to the owner's limit, and refuse joins that exceed the limits by themselves.

    `bound` binds the statement; with `keep_paths=True` it joins every table with the whole path to its owner.

    Privacy: it depends on the query, the catalog, the schema and public tables.
    """
    plan = bound()
    if not any(isinstance(node, Join | Nested) for node in inside((plan.root, plan.releases))):
        return plan
    if not plan.releases:
        volumes = Volumes(catalog, schema, multiplicity)
        volumes.query(plan.root)
        for volume in volumes.largest:
            _require(volume.times, catalog.limits.joined_rows, "joined_rows")
        return plan
    cuts = [_Cutting(release, catalog, schema, multiplicity) for release in plan.releases]
    if any(cutting.lacks_paths for cutting in cuts):
        plan = bound(keep_paths=True)
        cuts = [_Cutting(release, catalog, schema, multiplicity) for release in plan.releases]
    return with_releases(plan, {cutting.release: cutting.done() for cutting in cuts})


class _Cutting:
    """The tables of one release whose rows are limited, and the number of rows of each person that they keep."""

    def __init__(self, release: Release, catalog: Catalog, schema: Schema, multiplicity: Multiplicity) -> None:
        self.release, self._catalog, self._schema = release, catalog, schema
        whole = whole_paths(release, catalog)
        tables = {scan.alias: catalog.tables[scan.table] for scan in scans_of(release)}
        self._paths = {a: path for a, path in whole.items() if not is_enforced(tables[a], catalog, schema)}
        limits, volumes = catalog.limits, Volumes(catalog, schema, multiplicity)
        volumes.release(without_paths(release, whole))
        self._rows: dict[str, int] = {}
        for volume in volumes.largest:
            _require(volume.times, limits.max_rows_of_one_person, "rows_per_person")
            if volume.folds > 1 or (volume.folds == 1 and volume.times > LINEAR):
                rows = volume.max_rows_within(limits.max_rows_of_one_person)
                self._rows.update({alias: min(rows, self._rows.get(alias, rows)) for alias in volume.scans})
        size, usual = _size(release, catalog), _usual_rows(release, self._rows, catalog)
        for volume in volumes.largest:
            _require(size * volume.times * usual ** max(0, volume.folds - 1), limits.joined_rows, "joined_rows")

    @property
    def lacks_paths(self) -> bool:
        """True if a limited table has an unenforced path of which the query's own tables replace a part."""
        scans = [scan for scan in scans_of(self.release) if scan.alias in self._rows and scan.alias not in self._paths]
        tables = self._catalog.tables
        return any(not is_enforced(tables[scan.table], self._catalog, self._schema) for scan in scans)

    def done(self) -> Release:
        """Return the release with limited rows."""
        if self.lacks_paths:
            raise InternalError("A path that nothing enforces was shortened.")
        paths = {alias: path for alias, path in self._paths.items() if alias in self._rows}
        return cut(self.release, self._rows, paths, self._catalog, self._schema) if self._rows else self.release


def is_enforced(table: DeclaredTable, catalog: Catalog, schema: Schema) -> bool:
    """Return True if a row has one owner because the database enforces every key on its path."""
    if not isinstance(table.unit, Through):
        return True
    target = catalog.tables[table.unit.table]
    names = [name for _, name in table.unit.on]
    as_stored = all(len(as_read(target, name, schema)) == 1 for name in names)
    unique = schema.tables[target.name].is_unique(frozenset(names))
    return as_stored and unique and is_enforced(target, catalog, schema)


def _size(release: Release, catalog: Catalog) -> int:
    """Return the rows of the largest private table with a declared size."""
    tables = [catalog.tables[scan.table] for scan in scans_of(release)]
    return max((t.size for t in tables if not t.public and t.size != DEFAULT_SIZE), default=1)


def _usual_rows(release: Release, maximum: Mapping[str, int], catalog: Catalog) -> int:
    """Return the declared maximum number of rows of one person in one table."""
    tables = [catalog.tables[scan.table] for scan in scans_of(release) if scan.alias in maximum]
    return max((min(table.max_rows or 1, *maximum.values()) for table in tables), default=1)


def _require(rows: int, maximum: int, limit: str) -> None:
    if rows > maximum:
        raise UnsupportedSQLError(
            f"The joins of this statement could produce {rows:.1e} rows{OF_ONE[limit]}; "
            f"the owner allows {maximum:.1e}.",
            code="too-many-joined-rows",
            hint=f"Join fewer tables, or on equal columns; the owner sets the limit with `limits: {{{limit}: …}}`.",
        )
