"""The SQL of a private plan: one statement or two, each of which returns keys and integers only.

    survey   bounded owners per key, and the weighted sums that hold if every key there is gets selected.
    measure  the weighted sums over the selected keys, where some key was not.

Both start from `parts`: one row per (owner, key) with the number of rows and the partial integer
sums. It never leaves the engine. Where each owner has one row it is not needed, and the survey is
the plain aggregation.
"""

from hedgerow.compile.relations import owner_column, rows_clause
from hedgerow.compile.scalars import key, row_sum, scalar
from hedgerow.compile.weights import (
    dropped_keys,
    heavy_owners,
    owner_size,
    weighted_sums,
)
from hedgerow.compiled import ALL_KEYS, PARTS, PLACE, SELECTED, UNITS, Program, Query
from hedgerow.dialects import Dialect
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import SumKind


def program(plan: PrivatePlan, dialect: Dialect, nonce: str) -> Program:
    """The statements for `plan`."""
    if not plan.bounding.weighted:
        return Program(_short(plan, dialect), None)
    if plan.keys.rule is KeyRule.ONE:
        return Program(_scalar(plan, dialect), None)
    measure = None if plan.selection is None or not plan.sums else _measure(plan, dialect)
    return Program(_survey(plan, dialect, nonce), measure)


def _key_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(named.name for named in plan.release.keys)


def _sum_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(f"s{i}" for i in range(len(plan.sums)))


def _keys(plan: PrivatePlan, dialect: Dialect) -> list[str]:
    return [f"{key(named.expr, dialect)} AS {named.name}" for named in plan.release.keys]


def _grouped(count: int) -> str:
    return f" GROUP BY {', '.join(str(i + 1) for i in range(count))}" if count else ""


def _same(left: str, right: str, names: tuple[str, ...]) -> str:
    """Equality of keys, in which NULL equals NULL."""
    return " AND ".join(f"{left}.{name} IS NOT DISTINCT FROM {right}.{name}" for name in names)


def _short(plan: PrivatePlan, dialect: Dialect) -> Query:
    """One row per owner: the plain aggregation, and the number of owners."""
    names = _key_names(plan)
    sums = [f"{row_sum(total, dialect)} AS s{i}" for i, total in enumerate(plan.sums)]
    columns = [*_keys(plan, dialect), f"COUNT(*) AS {UNITS}", *sums]
    sql = f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)}{_grouped(len(names))}"
    if plan.keys.rule is KeyRule.SELECTED:
        sql += f" HAVING COUNT(*) >= {plan.minimum}"
    return Query(sql, names, (UNITS, *_sum_names(plan)))


def _parts(plan: PrivatePlan, dialect: Dialect) -> str:
    """One row per (owner, key). `n` counts all rows there, whatever the measures read of them."""
    owner = scalar(owner_column(plan), dialect)
    sums = [f"{row_sum(t, dialect)} AS s{i}" for i, t in enumerate(plan.sums) if t.kind is not SumKind.UNITS]
    columns = [*_keys(plan, dialect), f"{owner} AS o", "COUNT(*) AS n", *sums]
    return f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)}{_grouped(len(plan.release.keys) + 1)}"


def _scalar(plan: PrivatePlan, dialect: Dialect) -> Query:
    """No keys: one pass, in which an owner with more than R rows is scaled down to R."""
    one = 1 << plan.weight_bits
    sums = weighted_sums(plan, dialect, weight=f"{one} * LEAST(n, {plan.bounding.rows}) // n", cap=str(one))
    columns = ", ".join([f"COUNT(*) AS {UNITS}", *sums])
    return Query(f"SELECT {columns} FROM ({_parts(plan, dialect)}) AS parts", (), (UNITS, *_sum_names(plan)))


def _survey(plan: PrivatePlan, dialect: Dialect, nonce: str) -> Query:
    """Bounded owners per key and the sums over all keys; keys below the minimum never leave the engine."""
    names = _key_names(plan)
    summed = f"SELECT {', '.join(names)}, COUNT(*) AS owners{_weighted(plan, dialect)}"
    counted = f"SELECT per_key.*, owners - COALESCE(lost, 0) AS {UNITS}"
    steps = [
        f"{PARTS} AS MATERIALIZED ({_parts(plan, dialect)})",
        f"sized AS (SELECT o, COUNT(*) AS touched, SUM({owner_size(plan)}) AS q FROM {PARTS} GROUP BY o)",
        f"heavy AS MATERIALIZED ({heavy_owners(plan, dialect, 'sized')})",
        f"dropped AS ({dropped_keys(plan, names, nonce, dialect)})",
        f"per_key AS MATERIALIZED ({summed} FROM {PARTS} LEFT JOIN heavy USING (o){_grouped(len(names))})",
        f"counted AS ({counted} FROM per_key LEFT JOIN dropped ON {_same('per_key', 'dropped', names)})",
    ]
    integers = (UNITS, ALL_KEYS, *_sum_names(plan))
    columns = ", ".join([*names, UNITS, f"(SELECT COUNT(*) FROM per_key) AS {ALL_KEYS}", *_sum_names(plan)])
    test = "" if plan.selection is None else f" WHERE {UNITS} >= {plan.minimum}"
    return Query(f"WITH {', '.join(steps)} SELECT {columns} FROM counted{test}", names, integers)


def _measure(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Weighted sums over the keys handed back, each named by its place among them."""
    same = _same(PARTS, SELECTED, _key_names(plan))
    steps = [
        f"{PARTS} AS ({_parts(plan, dialect)})",
        f"kept AS MATERIALIZED (SELECT {PARTS}.*, {PLACE} FROM {PARTS} JOIN {SELECTED} ON {same})",
        f"sized AS (SELECT o, COUNT(*) AS touched, SUM({owner_size(plan)}) AS q FROM kept GROUP BY o)",
        f"heavy AS MATERIALIZED ({heavy_owners(plan, dialect, 'sized')})",
    ]
    sql = (
        f"WITH {', '.join(steps)} SELECT {PLACE}{_weighted(plan, dialect)} "
        f"FROM kept LEFT JOIN heavy USING (o) GROUP BY {PLACE}"
    )
    return Query(sql, (), (PLACE, *_sum_names(plan)))


def _weighted(plan: PrivatePlan, dialect: Dialect) -> str:
    """The weighted sums, for owners joined with the heavy ones; all others have the full weight."""
    cap = f"COALESCE(u, {1 << plan.weight_bits})"
    weight = f"{cap} * LEAST(n, {plan.bounding.rows_per_group}) // n"
    sums = weighted_sums(plan, dialect, weight=weight, cap=f"CAST({cap} AS {dialect.huge})")
    return "".join(f", {text}" for text in sums)
