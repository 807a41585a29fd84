"""The SQL of a private plan: at most three statements, each of which returns keys and integers only.

    parts      one row per (owner, key): number of rows, and the partial integer sums. Stays in the engine.
    selection  bounded number of owners per key, at least the minimum frequency.
    measure    weighted integer sums per key, over the keys that were selected or declared.

Where each owner has one row, `parts` is not needed, and one statement does everything.
"""

from hedgerow.compile.relations import owner_column, rows_clause
from hedgerow.compile.scalars import key, row_sum, scalar
from hedgerow.compile.weights import bounded_keys, owner_cap, owner_size, weighted_sums
from hedgerow.compiled import PARTS, PLACE, SELECTED, UNITS, Program, Query
from hedgerow.dialects import Dialect
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.sums import SumKind


def program(plan: PrivatePlan, dialect: Dialect, nonce: str) -> Program:
    """The statements for `plan`. All of them share one nonce, so that both stages choose alike."""
    if not plan.bounding.weighted:
        return Program(None, None, _short(plan, dialect))
    if plan.keys.rule is KeyRule.ONE:
        return Program(None, None, _scalar(plan, dialect))
    chosen = None if plan.selection is None else _selection(plan, dialect, nonce)
    return Program(_parts(plan, dialect), chosen, _measure(plan, dialect) if plan.sums else None)


def _keys(plan: PrivatePlan, dialect: Dialect) -> list[str]:
    return [f"{key(named.expr, dialect)} AS {named.name}" for named in plan.release.keys]


def _key_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(named.name for named in plan.release.keys)


def _sum_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(f"s{i}" for i in range(len(plan.sums)))


def _positions(count: int) -> str:
    return ", ".join(str(i + 1) for i in range(count))


def _grouped(names: tuple[str, ...]) -> str:
    return f" GROUP BY {_positions(len(names))}" if names else ""


def _short(plan: PrivatePlan, dialect: Dialect) -> Query:
    """One row per owner: the plain aggregation, and the number of owners."""
    names = _key_names(plan)
    sums = [f"{row_sum(total, dialect)} AS s{i}" for i, total in enumerate(plan.sums)]
    columns = [*_keys(plan, dialect), f"COUNT(*) AS {UNITS}", *sums]
    sql = f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)}{_grouped(names)}"
    if plan.keys.rule is KeyRule.SELECTED:
        sql += f" HAVING COUNT(*) >= {plan.minimum}"
    return Query(sql, names, (UNITS, *_sum_names(plan)))


def _parts(plan: PrivatePlan, dialect: Dialect) -> str:
    """One row per (owner, key). `n` counts all rows there, whatever the measures read of them."""
    owner = scalar(owner_column(plan), dialect)
    sums = [f"{row_sum(t, dialect)} AS s{i}" for i, t in enumerate(plan.sums) if t.kind is not SumKind.UNITS]
    columns = [*_keys(plan, dialect), f"{owner} AS o", "COUNT(*) AS n", *sums]
    return f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)} GROUP BY {_positions(len(plan.release.keys) + 1)}"


def _scalar(plan: PrivatePlan, dialect: Dialect) -> Query:
    """No keys: one pass, in which an owner with more than R rows is scaled down to R."""
    one = 1 << plan.weight_bits
    sums = weighted_sums(plan, dialect, weight=f"({one} * LEAST(n, {plan.bounding.rows}) // n)", cap=str(one))
    columns = ", ".join([f"COUNT(*) AS {UNITS}", *sums])
    return Query(f"SELECT {columns} FROM ({_parts(plan, dialect)}) AS parts", (), (UNITS, *_sum_names(plan)))


def _selection(plan: PrivatePlan, dialect: Dialect, nonce: str) -> Query:
    """Bounded owners per key; keys below the minimum never leave the engine."""
    names = _key_names(plan)
    inner = bounded_keys(names, plan.bounding.groups, nonce, PARTS, dialect)
    columns = f"{', '.join(names)}, COUNT(*) AS {UNITS}"
    sql = f"SELECT {columns} FROM ({inner}) AS bounded{_grouped(names)} HAVING COUNT(*) >= {plan.minimum}"
    return Query(sql, names, (UNITS,))


def _measure(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Weighted sums over the keys handed back, each named by its place among them."""
    kept = f"({_kept(plan)}) AS kept"
    owners = f"SELECT o, SUM({owner_size(plan)}) AS q FROM {kept} GROUP BY o"
    capped = f"SELECT o, {owner_cap(plan, dialect)} AS u FROM ({owners}) AS sized"
    weight = f"(u * LEAST(n, {plan.bounding.rows_per_group}) // n)"
    sums = ", ".join(weighted_sums(plan, dialect, weight=weight, cap=f"CAST(u AS {dialect.huge})"))
    sql = f"SELECT {PLACE}, {sums} FROM {kept} JOIN ({capped}) AS capped USING (o) GROUP BY {PLACE}"
    return Query(sql, (), (PLACE, *_sum_names(plan)))


def _kept(plan: PrivatePlan) -> str:
    same = " AND ".join(f"{PARTS}.{name} IS NOT DISTINCT FROM {SELECTED}.{name}" for name in _key_names(plan))
    return f"SELECT {PARTS}.*, {SELECTED}.{PLACE} FROM {PARTS} JOIN {SELECTED} ON {same}"
