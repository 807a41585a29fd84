"""The private rows of a release as SQL, in one of three forms.

    single     one row each: keys, owner `o`, and what the row adds to each exact sum (`x0`, `x1`, …).
    gathered   the same columns, but the sums are grouped by owner and key in the single pass over the rows.
    early      grouped by owner before a join that only adds the keys: keys, `o`, the number of rows (`n`), and the
               partial sums (`p0`, `p1`, …).

All forms give the same integers: sums of integers may be taken in any order, and for an inner join on one column the
sum over pairs of rows is, for each row of one side, the sum over the rows of the other side that have its value.

Few declared keys are listed in the statement; many are loaded as a table before it, because an engine takes seconds to
read a statement of a hundred thousand constants, and milliseconds to read a table.
"""

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from hashlib import sha256

import pyarrow as pa

from hedgerow.compile.memberships import with_memberships_joined
from hedgerow.compile.queries import from_text
from hedgerow.compile.scalars import condition, key, present, scalar, term
from hedgerow.compiled import DECLARED, KEY_INDEX, VALUE
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Computed, Step
from hedgerow.errors import InternalError
from hedgerow.expressions.facts import declared_values
from hedgerow.expressions.nodes import Call, Column, Expr, Nested, Window, walk
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Join, Named, Release, Scan
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import ExactSum, SumKind

ROWS = "private_rows"
EARLY = "early"


class RowForm(Enum):
    """Form of a row of `private_rows`."""

    SINGLE = "single"
    GATHERED = "gathered"
    EARLY = "early"


def form_of(plan: PrivatePlan, dialect: Dialect) -> RowForm:
    """Choose the form of a plan's rows; the choice depends on the plan and the engine, never on the data.

    A join is better computed once; a table is better read twice than grouped, if there is only one group. Where an
    owner has one key, there are no more pairs than owners.
    """
    if plan.release.keys and _split(plan) is not None:
        return RowForm.EARLY
    joined = (plan.release.one_key or not plan.release.keys) and not isinstance(plan.release.source, Scan)
    return RowForm.GATHERED if dialect.gathers or joined else RowForm.SINGLE


def narrowed(plan: PrivatePlan) -> PrivatePlan:
    """Drop rows that fail the filter shared by all sums.

    Only where just the sums are asked for, neither people nor keys.

    Privacy: such rows add to no sum. Without them an owner has fewer rows to share its weight, and the proof of the
    weights holds for the remaining rows as for any others.
    """
    filters = {total.filter for total in plan.sums}
    if plan.selection is not None or len(filters) != 1 or any(total.kind is SumKind.UNITS for total in plan.sums):
        return plan
    (shared,) = filters
    if shared is None:
        return plan
    release = replace(plan.release, where=(*plan.release.where, shared))
    return replace(plan, release=release, sums=tuple(replace(total, filter=None) for total in plan.sums))


def rows_steps(plan: PrivatePlan, dialect: Dialect) -> list[Step]:
    """Return the steps to `private_rows`. For keys, joins of single rows are computed once; a table is read again."""
    form = form_of(plan, dialect)
    if form is RowForm.EARLY:
        return _early(plan, dialect)
    columns = [*key_columns(plan, dialect), f"{scalar(plan.release.owner, dialect)} AS o", *_terms(plan, dialect)]
    rows = f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)}"
    if isinstance(plan.release.source, Scan):
        return [Step(ROWS, rows, Computed.AGAIN)]
    return [dialect.step(ROWS, rows, once=form is RowForm.SINGLE and bool(plan.release.keys))]


def key_columns(plan: PrivatePlan, dialect: Dialect) -> list[str]:
    """The keys in canonical form, by name."""
    return [f"{key(named.expr, dialect)} AS {named.name}" for named in plan.release.keys]


def rows_clause(plan: PrivatePlan, dialect: Dialect) -> str:
    """FROM and WHERE of the private rows: those with an owner, within the declared keys."""
    release = plan.release
    source, where = with_memberships_joined(release.source, release.where)
    conditions = [f"{scalar(release.owner, dialect)} IS NOT NULL", *(condition(c, dialect) for c in where)]
    conditions += among_declared(release, dialect)
    return f"FROM {from_text(source, dialect)} WHERE {' AND '.join(conditions)}"


def _terms(plan: PrivatePlan, dialect: Dialect) -> list[str]:
    """The amounts that each row adds to the exact sums, as columns `x0`, `x1`, …; NULL where it does not count."""
    texts = []
    for i, total in enumerate(plan.sums):
        not_null = present(total, dialect)
        if total.grid is not None:
            value = term(total, dialect)
            texts.append(f"{value if not_null is None else f'CASE WHEN {not_null} THEN {value} END'} AS x{i}")
        elif not_null is not None:
            texts.append(f"CASE WHEN {not_null} THEN 1 END AS x{i}")
    return texts


def summed(plan: PrivatePlan) -> list[tuple[int, ExactSum]]:
    """Return the sums over rows, with their indices; counts of people follow from the weights alone."""
    return [(i, total) for i, total in enumerate(plan.sums) if total.kind is not SumKind.UNITS]


def partial_sums(plan: PrivatePlan, dialect: Dialect) -> str:
    """Return the sums over the rows of one group as additional columns `p0`, `p1`, …."""
    texts = []
    for i, total in summed(plan):
        counted = "*" if present(total, dialect) is None else f"x{i}"
        text = dialect.count(counted) if total.grid is None else dialect.bounded_total(f"x{i}", total.reach)
        texts.append(f", {text} AS p{i}")
    return "".join(texts)


@dataclass(frozen=True)
class _Sides:
    """A join on the owner: one table has the keys, the other everything else."""

    keys: Scan
    rows: Scan
    key_column: Column
    row_column: Column


def _split(plan: PrivatePlan) -> _Sides | None:
    """Return the two sides of a join that can be computed after the sums, if the release is such a join."""
    release = plan.release
    join, on = release.source, release.source.condition if isinstance(release.source, Join) else None
    if not isinstance(join, Join) or join.kind != "inner" or not isinstance(on, Call) or on.function != "equal":
        return None
    if not isinstance(join.left, Scan) or not isinstance(join.right, Scan) or not all(map(_is_number, on.arguments)):
        return None
    for keys, rows in ((join.left, join.right), (join.right, join.left)):
        sides = {part.table: part for part in on.arguments if isinstance(part, Column)}
        if set(sides) == {keys.alias, rows.alias} and release.owner in sides.values() and _apart(plan, keys, rows):
            return _Sides(keys, rows, sides[keys.alias], sides[rows.alias])
    return None


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Column) and expr.type is Type.INTEGER


def _apart(plan: PrivatePlan, keys: Scan, rows: Scan) -> bool:
    """Return True if the keys read only one side, and conditions and sums only the other."""
    release = plan.release
    parts = [*release.where]
    parts += [part for total in plan.sums for part in (total.value, total.other, total.filter) if part is not None]
    return _reads([named.expr for named in release.keys], keys) and _reads(parts, rows)


def _reads(exprs: list[Expr], scan: Scan) -> bool:
    parts = [part for expr in exprs for part in walk(expr)]
    return not any(
        isinstance(part, Nested | Window) or (isinstance(part, Column) and part.table != scan.alias) for part in parts
    )


def _early(plan: PrivatePlan, dialect: Dialect) -> list[Step]:
    """Return the steps `early` and `private_rows`.

    Next to the owner's table, `early` gets the alias of its rows, which no table or column of the owner has
    (`plan.context.free_prefix`): an engine may take `early.o` for a column of a table `early`, whatever its alias.
    """
    sides = _split(plan)
    if sides is None:
        raise InternalError("Rows were to be gathered before a join that is not there.")
    joined = scalar(sides.row_column, dialect)
    where = " AND ".join([f"{joined} IS NOT NULL", *(condition(c, dialect) for c in plan.release.where)])
    columns = ", ".join([f"{joined} AS o", *_terms(plan, dialect)])
    single = f"SELECT {columns} FROM {from_text(sides.rows, dialect)} WHERE {where}"
    sums = f"SELECT o, {dialect.count()} AS n{partial_sums(plan, dialect)} FROM ({single}) AS single"
    carried = ["o", "n", *(f"p{i}" for i, _ in summed(plan))]
    named = [*key_columns(plan, dialect), *(f"{sides.rows.alias}.{name} AS {name}" for name in carried)]
    match = f"{scalar(sides.key_column, dialect)} = {sides.rows.alias}.o"
    source = dialect.join(f"{EARLY} AS {sides.rows.alias}", "inner", from_text(sides.keys, dialect), match)
    within = " AND ".join(among_declared(plan.release, dialect))
    rows = f"SELECT {', '.join(named)} FROM {source}{f' WHERE {within}' if within else ''}"
    return [
        dialect.step(EARLY, f"{sums}{dialect.group_by(['o'])}", once=False),
        dialect.step(ROWS, rows, once=False),
    ]


MAX_LISTED = 200
"""Maximum number of declared values of a column that are written into the statement."""

LOADED = {Type.TEXT: pa.string(), Type.INTEGER: pa.int64(), Type.FLOAT: pa.float64(), Type.DECIMAL: pa.float64()}
"""Arrow types of loaded values, by the type of the key. Decimals are compared with declared numbers as doubles."""

Values = tuple[str | int | float | bool, ...]


def declared_tables(release: Release) -> tuple[tuple[str, pa.Table], ...]:
    """Return the tables to load before the statements of this release, by name: values and their indices."""
    tables = []
    for named in release.keys:
        values = _loaded_values(named)
        if values is not None:
            column = pa.array(values, type=LOADED[named.expr.type])
            index = pa.array(range(len(values)), type=pa.int64())
            tables.append((_table_name(named.expr.type, values), pa.table({VALUE: column, KEY_INDEX: index})))
    return tuple(tables)


def among_declared(release: Release, dialect: Dialect) -> list[str]:
    """Return the conditions that keys are among the declared values. NULL is never among them."""
    conditions = []
    for named in release.keys:
        values, text = _loaded_values(named), key(named.expr, dialect)
        if values is not None:
            compared = dialect.as_double(text, named.expr) if named.expr.type is Type.DECIMAL else text
            table = _table_name(named.expr.type, values)
            conditions.append(f"{compared} IN (SELECT {table}.{VALUE} FROM {table})")
        elif (listed := declared_values(named.expr)) is not None:
            conditions.append(f"{text} IN ({', '.join(dialect.constant(value) for value in listed)})")
    return conditions


def _loaded_values(named: Named) -> Values | None:
    """Return the values of a key that are loaded as a table; None if they are listed, or not declared."""
    values = declared_values(named.expr)
    return values if values is not None and len(values) > MAX_LISTED and named.expr.type in LOADED else None


@lru_cache(maxsize=16)
def _table_name(kind: Type, values: Values) -> str:
    """Return a name that depends on the values: the releases of one statement may have keys of the same name."""
    return f"{DECLARED}{kind.value}_{sha256(repr(values).encode()).hexdigest()[:16]}"
