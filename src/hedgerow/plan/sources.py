"""Declared tables in FROM, their visible columns, and the path to their unit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from hedgerow.catalog.model import DeclaredTable, Through
from hedgerow.catalog.names import fold, tables_named
from hedgerow.errors import HedgerowError, InternalError, PolicyError, UnknownNameError, UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Column, Expr, columns_of
from hedgerow.expressions.ranges import EVERYTHING, Range
from hedgerow.expressions.table_names import parts_of
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.clauses import check_clauses
from hedgerow.plan.context import Bounds, Context, as_read, imposed, zone_of
from hedgerow.plan.facts import Classes, Facts, conjuncts, equalities, equality_of, term
from hedgerow.plan.nodes import ContributionLimits, From, Join, Scan, renamed, rewrite
from hedgerow.plan.ownership import JoinedRows, Ownership, Privacy, PrivateSource, all_of, same_owner
from hedgerow.plan.scope import Item
from hedgerow.plan.syntax import probably_meant, span_of, table_hint, text_of
from hedgerow.plan.time_functions import read_instant
from hedgerow.schema import SchemaColumn, SchemaTable
from hedgerow.sql.remedies import replaced, table_identifier

NAMING = frozenset({"this", "alias", "db", "catalog"})


def declared_table(node: exp.Table, name: str, context: Context) -> JoinedRows:
    """Return the declared table that `node` names: of the current schema, unless the name contains another one.

    A table that the catalog does not declare does not exist.
    """
    extra, declared = [k for k, v in node.args.items() if k not in NAMING and v], context.catalog.tables
    table = None
    if not extra and all(isinstance(part, exp.Identifier) for part in node.parts):
        names = tables_named(context.schema, [part.name for part in node.parts])
        table = next((declared[name] for name in names if name in declared), None)
    if table is None:
        raise _unknown(node, context)
    schema = context.schema.tables[table.name]
    alias = context.alias()
    item = visible(table, schema, alias, name, context)
    facts = Facts((), ((alias, table.name),), frozenset({alias}))
    scan = Scan(table.name, alias)
    if table.public:
        return JoinedRows(scan, Privacy.PUBLIC, (item,), facts, public=((alias, table.name),), node=node)
    return _private(table, scan, item, facts, context, node)


def _private(
    table: DeclaredTable, scan: Scan, item: Item, facts: Facts, context: Context, node: exp.Expr
) -> JoinedRows:
    """Return the rows of a private table, joined along the declared path if the unit is in another table."""
    source: From = scan
    path: list[tuple[str, str]] = []
    here, alias = table, scan.alias
    while isinstance(here.unit, Through):
        target, reached = context.catalog.tables[here.unit.table], context.alias()
        condition = on_path(here, alias, target, reached, context)
        source = Join("inner", source, Scan(target.name, reached, added=True), condition)
        more = Facts((), ((reached, target.name),), frozenset({reached}))
        facts = facts.plus(more, equalities([condition]))
        path.append((reached, target.name))
        here, alias = target, reached
    if here.unit is None:
        raise InternalError("A private table without a unit.")
    owner = read_column(here, here.unit, alias, context)
    private = PrivateSource(
        owner, limits(table, context), item.name, (scan.alias, table.name), tuple(path), facts.aliases
    )
    return JoinedRows(source, Privacy.OWNED, (item,), facts, (owner,), (private,), node=node)


def on_path(here: DeclaredTable, alias: str, target: DeclaredTable, reached: str, context: Context) -> Expr:
    """Return the condition of one step of a path: the columns of `here` equal those they reference."""
    if not isinstance(here.unit, Through):
        raise InternalError("A path that leads nowhere.")
    condition: Expr | None = None
    for own, other in here.unit.on:
        sides = [read_column(here, own, alias, context), read_column(target, other, reached, context)]
        _check_path(here, own, target, other, sides, context)
        equal: Expr = same_owner(*sides)
        condition = equal if condition is None else coerce.call("and", [condition, equal])
    if condition is None:
        raise InternalError("A path without columns.")
    return condition


def _check_path(
    here: DeclaredTable, own: str, target: DeclaredTable, other: str, sides: Sequence[Expr], context: Context
) -> None:
    """Refuse a path whose columns are compared after a conversion.

    Privacy: a key identifies one row as it is stored. After a conversion, two of its values may be equal, and a row
    that references them would have two owners.
    """
    left, right = (context.schema.tables[t.name].columns[n] for t, n in ((here, own), (target, other)))
    alike = left.type is not Type.DECIMAL or left.native == right.native
    as_stored = len(as_read(target, other, context.schema)) == 1
    if as_stored and alike and sides[0].type is sides[1].type and sides[0].type is not Type.FLOAT:
        return
    raise context.catalog.problem(
        f"The path from `{here.name}` to its unit compares `{own}` with `{target.name}.{other}`, which are "
        "stored with different types, so a row could have two owners.",
        "tables",
        here.name,
        "unit",
        code="catalog-type",
        hint="Give both columns the same type in the database, and declare no `type` for the key.",
    )


def read_column(table: DeclaredTable, name: str, alias: str, context: Context) -> Expr:
    """Return a column that a path or a unit needs, even if queries may not see it."""
    declared = context.schema.tables[table.name].columns[name]
    return _typed(_column(declared, table, {}, alias), table, declared)


def limits(table: DeclaredTable, context: Context) -> ContributionLimits:
    """The declared limits on the contribution of one unit to the table."""
    unique = table.unit_unique
    return ContributionLimits(
        1 if unique else table.max_rows,
        1 if unique else table.max_rows_per_group,
        1 if unique else table.max_groups,
        table.size,
        unique and _enforced(table, context),
    )


def _enforced(table: DeclaredTable, context: Context) -> bool:
    """Return True if the database itself enforces one row per unit, by the same comparison of units.

    It compares stored values bytewise; a unit that is read through a cast, or compared by a collation, may have several
    stored values.
    """
    if not isinstance(table.unit, str):
        return False
    declared = context.schema.tables[table.name]
    column = declared.columns[table.unit]
    as_stored = len(as_read(table, table.unit, context.schema)) == 1
    alike = column.type is Type.TEXT and column.collated and column.native.upper().startswith("VARCHAR")
    return as_stored and not alike and declared.is_unique(frozenset({table.unit}))


def visible(table: DeclaredTable, declared: SchemaTable, alias: str, name: str, context: Context) -> Item:
    """Return the usable columns, by folded name, and the names of the others."""
    narrowed = context.narrowed()
    context.bounded |= {fold(column) for column in declared.columns}
    shown: dict[str, Expr] = {}
    hidden: set[str] = set()
    for column_name, column in declared.columns.items():
        declaration = table.columns.get(column_name)
        concealed = declaration.hidden if declaration is not None else table.undeclared_hidden
        if (concealed and column_name != table.unit) or column.type is Type.OTHER:
            hidden.add(fold(column_name))
        else:
            shown[fold(column_name)] = _typed(_column(column, table, narrowed, alias), table, column)
    spelling = {fold(column_name): column_name for column_name in declared.columns if fold(column_name) in shown}
    path = tuple(map(fold, context.schema.full_name(declared.name)))
    return Item(name, shown, frozenset(hidden), spelling, path if fold(name) == path[-1] else ())


def _column(column: SchemaColumn, table: DeclaredTable, narrowed: Bounds, alias: str) -> Column:
    declared = table.columns.get(column.name)
    owners = EVERYTHING
    if declared is not None and declared.lower is not None and declared.upper is not None:
        owners = Range(float(declared.lower), float(declared.upper))
    narrower = narrowed.get(fold(column.name))
    return Column(
        column.name,
        column.type,
        nullable=column.nullable,
        range=owners if narrower is None else _narrow(column.name, owners, narrower),
        values=declared.values if declared is not None else None,
        native=column.native,
        collated=column.collated,
        table=alias,
    )


def _narrow(name: str, owners: Range, narrower: tuple[float, float]) -> Range:
    low, high = narrower
    if low < owners.lower or high > owners.upper:
        raise PolicyError(
            f"The bounds for {name!r} are wider than the owner's.",
            code="looser-bounds",
            hint="Bounds can only be narrowed.",
        )
    return Range(low, high)


def _typed(column: Column, table: DeclaredTable, declared: SchemaColumn) -> Expr:
    """Return the column, read through the type that the catalog declares for it."""
    cast, zone = imposed(table, declared), zone_of(table, declared)
    if zone is None:
        return column if cast is None else coerce.call(cast, [column])
    known = column if not declared.loose else coerce.call(f"imposed_{declared.type.value}", [column])
    instant = read_instant(known, zone)
    return instant if cast is None or cast == "imposed_timestamp" else coerce.call(cast, [instant])


def nullable(columns: Mapping[str, Expr]) -> dict[str, Expr]:
    """The columns of the side of an outer join that may be missing; NULL is then a key besides the declared ones."""
    return {name: _nullable(expr) for name, expr in columns.items()}


def _nullable(expr: Expr) -> Expr:
    if isinstance(expr, Column):
        return replace(expr, nullable=True, values=None)
    if isinstance(expr, Call):
        return replace(expr, arguments=tuple(_nullable(argument) for argument in expr.arguments))
    return expr


def _unknown(node: exp.Table, context: Context) -> HedgerowError:
    check_clauses(node, NAMING)
    if not isinstance(node.this, exp.Identifier):
        return UnsupportedSQLError(
            f"{text_of(node)} is not a table; functions and files cannot be read.",
            code="from-not-a-table",
            hint="Name a table of the catalog.",
            span=span_of(node),
        )
    name = ".".join(part.name for part in node.parts)
    elsewhere = [table for table in context.catalog.tables if fold(parts_of(table)[-1]) == fold(node.name)]
    meant = elsewhere[0] if elsewhere else probably_meant(name, context.catalog.tables)
    return UnknownNameError(
        f"There is no table {name!r}.",
        code="unknown-table",
        hint=table_hint(elsewhere[0] if elsewhere else name, context.catalog.tables),
        span=span_of(node),
        remedy=None if meant is None else replaced(span_of(node.this), table_identifier(meant)),
    )


def without_detours(
    rows: JoinedRows, ownership: Ownership, added: Sequence[Expr], context: Context
) -> tuple[From, Ownership, tuple[Expr, ...]]:
    """Return the tree, owner and added conditions without those added scans for which the query has one of its own.

    A scan of the query can replace an added one if it satisfies the condition of the same step of the path wherever a
    row of the source is present. Paths are shortened from their far end: nearer tables may still be needed to get
    there.

    Privacy: the leaf's row then belongs to the owner that the query's own scan leads to, by the condition that the
    catalog declares. That holds whether or not the key is unique; where it is, the added join neither adds nor drops a
    row.
    """
    source, owner, conditions = rows.source, ownership.owner, tuple(added)
    for private in rows.private_sources:
        instead = _stand_ins(private, source, ownership, context)
        for alias, _ in reversed(private.path):
            owned = {table for table, _ in columns_of(owner)}
            if alias not in instead or (alias in owned and not _always(source, private)):
                break
            source = _replaced(source, alias, instead[alias])
            owner, conditions = renamed((owner, conditions), {alias: instead[alias]})
    kept = tuple(condition for condition in conditions if not _is_same(condition, owner))
    return _tidy(source, owner), replace(ownership, owner=owner), kept


def _always(source: From, private: PrivateSource) -> bool:
    """True if every row contains a row of the source; a missing source has no owner and may not get another's."""
    if isinstance(source, Join) and source.kind in {"inner", "cross"}:
        return _always(source.left, private) or _always(source.right, private)
    if isinstance(source, Join):
        return source.kind == "left" and _always(source.left, private)
    return isinstance(source, Scan) and private.row is not None and source.alias == private.row[0]


def _stand_ins(private: PrivateSource, source: From, ownership: Ownership, context: Context) -> Mapping[str, str]:
    """Return, for each added scan of the leaf, the query's scan that makes the same step, from the leaf outwards."""
    if private.row is None or not private.path:
        return {}
    classes = context.classes(ownership.facts, frozenset({private.row[0]}))
    own = [scan for scan in _scans(source) if not scan.added]
    stand_ins: dict[str, str] = {}
    here, table = [private.row[0]], private.row[1]
    for alias, target in private.path:
        steps = (s.alias for s in own if s.table == target and _makes_step(here, table, s, classes, context))
        other = next(steps, None)
        if other is not None:
            stand_ins[alias] = other
        here, table = [alias, *([other] if other else [])], target
    return stand_ins


def _makes_step(here: Sequence[str], table: str, scan: Scan, classes: Classes, context: Context) -> bool:
    """Return True if the path from `table`, under any of the names in `here`, leads to a row of `scan`."""
    tables = context.catalog.tables

    def holds(condition: Expr) -> bool:
        fact = equality_of(condition)
        return fact is not None and classes.same(fact.left, fact.right) and classes.certain(fact.left)

    conditions = [on_path(tables[table], alias, tables[scan.table], scan.alias, context) for alias in here]
    return any(all(holds(part) for part in conjuncts(condition)) for condition in conditions)


def _scans(source: From) -> list[Scan]:
    if isinstance(source, Join):
        return _scans(source.left) + _scans(source.right)
    return [source] if isinstance(source, Scan) else []


def _replaced(source: From, alias: str, other: str) -> From:
    def swap(node: object) -> object | None:
        if isinstance(node, Join) and isinstance(node.right, Scan) and node.right.added and node.right.alias == alias:
            return rewrite(node.left, swap)
        return None

    return renamed(rewrite(source, swap), {alias: other})


def _is_same(condition: Expr, owner: Expr) -> bool:
    """Return True if a condition says that the owner equals itself, because two scans became one."""
    fact = equality_of(condition)
    return fact is not None and fact.strict and fact.left == fact.right == term(owner)


def _tidy(source: From, owner: Expr) -> From:
    """Return the tree without conditions that are always true; rows without an owner never count."""
    if not isinstance(source, Join):
        return source
    left, right = _tidy(source.left, owner), _tidy(source.right, owner)
    parts = [part for part in conjuncts(source.condition) if not _is_same(part, owner)]
    if not parts:
        return replace(source, left=left, right=right)
    return replace(source, left=left, right=right, condition=all_of(parts))
