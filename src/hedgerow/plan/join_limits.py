"""Limits on the rows that joins produce, from all people and from one person.

Without them, one person with very many rows could make a statement run out of memory or time, and its failure would
reveal that the person is in the data. Where joins could produce too many rows of one person, the tables that they read
keep at most N rows of each person (`cut`).

Privacy: every decision here depends on the query, the catalog, the schema and public tables, never on private rows. The
rows of a person that are kept depend on that person's own rows alone, and rows keep their owner. The result is the same
statement over a database in which every person has at most N rows in these tables; the weights count the rows that were
kept (docs/proofs/weights.md).

A row whose owner is found along a path belongs to one person if the database enforces the keys of the path. If it does
not, one row may lead to several people. What is counted and kept there are pairs of a row and a way along the path: a
pair has one owner. The statement then reads the owner of the pair and does not follow the path again.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from hedgerow.catalog.model import DEFAULT_SIZE, Catalog, DeclaredTable, Through
from hedgerow.errors import InternalError, UnsupportedSQLError
from hedgerow.expressions.nodes import NO_FRAME, Call, Column, Expr, Literal, Nested, Order, Window, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.context import Context, as_read
from hedgerow.plan.facts import conjuncts
from hedgerow.plan.nodes import (
    AggregateCall,
    Derived,
    From,
    Grouped,
    Join,
    LogicalPlan,
    Named,
    Release,
    Scan,
    Select,
    SetOperation,
    columns_used,
    first_free,
    inside,
    rewrite,
    scans_of,
    with_releases,
)
from hedgerow.plan.ownership import same_owner
from hedgerow.plan.sources import on_path, read_column
from hedgerow.plan.volume import Multiplicity, Volumes
from hedgerow.schema import Schema

LINEAR = 1_000
"""Number of public rows that each private row may be joined with before the rows of each person are limited."""

OF_ONE = {"joined_rows": "", "rows_per_person": " for each row of a person"}


ROW_NUMBER = "turn"
"""Name of the column with the number of a row among those of its owner."""

OWNER = "owner"

Path = tuple[str, ...]
"""The aliases of the tables that were added to reach the owner, from the nearest to the one with the unit column."""


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
        sizes = [table.size for table in tables.values() if not table.public and table.size != DEFAULT_SIZE]
        cut_tables = [table for alias, table in tables.items() if alias in self._rows]
        usual = max((min(table.max_rows or 1, *self._rows.values()) for table in cut_tables), default=1)
        size = max(sizes, default=1)
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


def _require(rows: int, maximum: int, limit: str) -> None:
    if rows > maximum:
        raise UnsupportedSQLError(
            f"The joins of this statement could produce {rows:.1e} rows{OF_ONE[limit]}; "
            f"the owner allows {maximum:.1e}.",
            code="too-many-joined-rows",
            hint=f"Join fewer tables, or on equal columns; the owner sets the limit with `limits: {{{limit}: …}}`.",
        )


def rows_kept(release: Release) -> dict[str, int]:
    """Return, by table, the maximum number of rows of each person in joins, where it was limited here."""
    kept: dict[str, int] = {}
    for node in inside(release):
        if isinstance(node, Derived) and isinstance(node.query, SetOperation) and isinstance(node.query.right, Select):
            last = [_row_limit(condition) for condition in node.query.right.where]
            if len(last) == 1 and last[0] is not None:
                kept.update({scan.table: last[0] for scan in scans_of(node) if scan.alias == node.alias})
    return kept


def _row_limit(condition: Expr) -> int | None:
    """Return the number in a condition on the row number."""
    if not isinstance(condition, Call) or len(condition.arguments) != 2:
        return None
    column, last = condition.arguments
    is_row_number = isinstance(column, Column) and column.name.rstrip("_") == ROW_NUMBER
    return int(str(last.value)) if is_row_number and isinstance(last, Literal) else None


def cut(
    release: Release, rows: Mapping[str, int], paths: Mapping[str, Path], catalog: Catalog, schema: Schema
) -> Release:
    """Return the release in which the tables with the aliases in `rows` keep that many rows of each person.

    Tables in `paths` are replaced together with their path.
    """
    context = Context(catalog, schema, None, {})
    context._numbers = itertools.count(first_free(release, context.prefix))  # noqa: SLF001 - aliases of its own
    used, filters = columns_used(release), _filters(release)
    together: dict[str, dict[str, Column]] = {}
    for scan in (node for node in inside(release) if isinstance(node, Scan) and node.alias in rows):
        together.setdefault(scan.table, {}).update(used.get(scan.alias, {}))

    def kept(scan: Scan, owner: str | None) -> Derived:
        order = sorted(together[scan.table].values(), key=lambda column: column.name)
        shown = sorted(used.get(scan.alias, {}).values(), key=lambda column: column.name)
        return _cut(scan, shown, order, filters.get(scan.alias, ()), rows[scan.alias], owner, context)

    def swap(node: object) -> object | None:
        is_cut = isinstance(node, Scan) and node.alias in rows and node.alias not in paths
        return kept(node, None) if is_cut and isinstance(node, Scan) else None

    return with_owners(rewrite(release, swap), paths, kept)


def _cut(
    scan: Scan,
    shown: Sequence[Column],
    order: Sequence[Column],
    where: tuple[Expr, ...],
    maximum: int,
    owner_name: str | None,
    context: Context,
) -> Derived:
    """Return all rows of people with few rows, and the first rows of people with many.

    Only people with more than `maximum` rows are sorted. The order is that of all columns that the statement reads of
    the table, so that tied rows are the same rows to it. The owner is an output column if it has a name.
    """
    source, owner = _with_owner(scan, context)
    counted, heavy, numbered_alias = context.alias(), context.alias(), context.alias()
    people = Grouped(
        source,
        (*where, Call("not", (Call("is_null", (owner,), Type.BOOLEAN),), Type.BOOLEAN)),
        (Named("k0", owner),),
        (AggregateCall("a0", "COUNT", (), None, distinct=False, type=Type.INTEGER),),
        counted,
    )
    rows = Column("a0", Type.INTEGER, nullable=False, table=counted)
    beyond = Call("greater", (rows, Literal(maximum, Type.INTEGER)), Type.BOOLEAN)
    person = _like(owner, "k0", counted)
    many = Derived(Select(people, (beyond,), (Named("c0", person),)), heavy)
    heavy_owner = _like(owner, "c0", heavy)
    same = same_owner(owner, heavy_owner)
    stored = {column.name: replace(column, table=scan.alias) for column in shown}
    if owner_name is not None:
        (stored[owner_name],) = {part for part in walk(owner) if isinstance(part, Column)}
    columns = tuple(Named(name, column) for name, column in stored.items())
    row_number_name = free_name(stored, ROW_NUMBER)
    missing = Call("is_null", (heavy_owner,), Type.BOOLEAN)
    few = Select(Join("left", source, many, same), (*where, missing), columns)
    terms = tuple(Order(replace(c, table=scan.alias), descending=False, nulls_first=False) for c in order)
    row_number = Window("ROW_NUMBER", (), (owner,), terms, NO_FRAME, None, distinct=False, type=Type.INTEGER)
    numbered = Select(Join("inner", source, many, same), where, (*columns, Named(row_number_name, row_number)))
    first = Call(
        "less_or_equal",
        (Column(row_number_name, Type.INTEGER, nullable=False, table=numbered_alias), Literal(maximum, Type.INTEGER)),
        Type.BOOLEAN,
    )
    again = tuple(
        Named(n.name, replace(n.expr, name=n.name, table=numbered_alias)) for n in columns if isinstance(n.expr, Column)
    )
    limited = Select(Derived(numbered, numbered_alias), (first,), again)
    return Derived(SetOperation("UNION", every=True, left=few, right=limited), scan.alias)


def _like(owner: Expr, name: str, table: str) -> Column:
    """Return the owner as a column of a query; its text was grouped bytewise."""
    native = owner.native if isinstance(owner, Column) else ""
    return Column(name, owner.type, nullable=True, native=native, collated=False, table=table)


def _with_owner(scan: Scan, context: Context) -> tuple[From, Expr]:
    """Return the table, joined along the declared path to the table with the unit column, and the owner."""
    source: From = scan
    here, alias = context.catalog.tables[scan.table], scan.alias
    while isinstance(here.unit, Through):
        target, reached = context.catalog.tables[here.unit.table], context.alias()
        condition = on_path(here, alias, target, reached, context)
        source = Join("inner", source, Scan(target.name, reached, added=True), condition)
        here, alias = target, reached
    if here.unit is None:
        raise InternalError("A private table without a unit.")
    return source, read_column(here, here.unit, alias, context)


def _filters(release: Release) -> dict[str, tuple[Expr, ...]]:
    """Return, by alias, conditions on the columns of that table alone that every counted row satisfies."""
    filters: dict[str, tuple[Expr, ...]] = {}
    for node in inside(release):
        if isinstance(node, Release | Grouped | Select) and node.source is not None:
            kept, conditions = _always(node.source)
            parts = [part for condition in (*node.where, *conditions) for part in conjuncts(condition)]
            for alias in kept:
                here = [part for part in parts if _is_about(part, alias)]
                filters[alias] = tuple(part for part in here if alias not in filters or part in filters[alias])
    return filters


def _always(source: From) -> tuple[list[str], list[Expr]]:
    """Return the tables that are present in every row of a FROM, and the conditions of its inner joins."""
    if isinstance(source, Scan):
        return [source.alias], []
    if not isinstance(source, Join) or source.kind not in {"inner", "cross", "left"}:
        return [], []
    left, conditions = _always(source.left)
    if source.kind == "left":
        return left, conditions
    right, more = _always(source.right)
    return left + right, [*conditions, *more, *([] if source.condition is None else [source.condition])]


def _is_about(expr: Expr, alias: str) -> bool:
    parts = list(walk(expr))
    tables = {part.table for part in parts if isinstance(part, Column)}
    return tables == {alias} and not any(isinstance(part, Nested | Window) for part in parts)


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
