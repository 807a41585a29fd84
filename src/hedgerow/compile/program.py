"""The SQL of a private plan: one statement or two, each of which returns keys and integers only.

    survey   bounded owners per key, and the weighted sums that hold if every key there is gets selected.
    measure  the weighted sums over the selected keys, where some key was not.

Both start from `rows`: the private rows with owner, keys and the integers they add. Where each owner
has one row there is nothing to weigh, and the survey is the plain aggregation.
"""

from hedgerow.compile.queries import from_text
from hedgerow.compile.scalars import bucket_number, key, plain, row_sum, scalar
from hedgerow.compile.values import value_pairs
from hedgerow.compile.weights import bucket_weights, dropped_keys, grouped, row_terms, same, weighing
from hedgerow.compiled import ALL_KEYS, BUCKET, OWNER, PLACE, SELECTED, UNITS, VALUE, WEIGHT, Program, Query
from hedgerow.dialects import Dialect
from hedgerow.expressions.facts import declared_values
from hedgerow.plan.nodes import Scan
from hedgerow.privacy.distinct import Distinct
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import Bucketing

ROWS = "private_rows"
KEPT = "kept_rows"


def program(plan: PrivatePlan, dialect: Dialect, nonce: str) -> Program:
    """The statements for `plan`."""
    buckets = tuple(_buckets(plan, bucketing, dialect) for bucketing in plan.bucketings)
    distinct = tuple(_distinct(plan, each, dialect, nonce) for each in plan.distinct)
    if not plan.bounding.weighted:
        return Program(_short(plan, dialect), None, buckets, distinct)
    if plan.keys.rule is KeyRule.ONE:
        return Program(_scalar(plan, dialect), None, buckets, distinct)
    measure = None if plan.selection is None or not plan.sums else _measure(plan, dialect)
    return Program(_survey(plan, dialect, nonce), measure, buckets, distinct)


def _key_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(named.name for named in plan.release.keys)


def _sum_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(f"s{i}" for i in range(len(plan.sums)))


def _keys(plan: PrivatePlan, dialect: Dialect) -> list[str]:
    return [f"{key(named.expr, dialect)} AS {named.name}" for named in plan.release.keys]


def _short(plan: PrivatePlan, dialect: Dialect) -> Query:
    """One row per owner: the plain aggregation, and the number of owners."""
    names = _key_names(plan)
    sums = [f"{row_sum(total, dialect)} AS s{i}" for i, total in enumerate(plan.sums)]
    columns = [*_keys(plan, dialect), f"COUNT(*) AS {UNITS}", *sums]
    sql = f"SELECT {', '.join(columns)} {_rows_clause(plan, dialect)}{grouped(len(names))}"
    if plan.keys.rule is KeyRule.SELECTED:
        sql += f" HAVING COUNT(*) >= {plan.minimum}"
    return Query(sql, names, (UNITS, *_sum_names(plan)))


def _rows_clause(plan: PrivatePlan, dialect: Dialect) -> str:
    """FROM and WHERE of the private rows: those with an owner, within the declared keys."""
    release = plan.release
    conditions = [f"{scalar(release.owner, dialect)} IS NOT NULL", *(scalar(c, dialect) for c in release.where)]
    for named in release.keys:
        values = declared_values(named.expr)
        if values is not None:
            listed = ", ".join(dialect.constant(value) for value in values)
            conditions.append(f"{key(named.expr, dialect)} IN ({listed})")
    return f"FROM {from_text(release.source, dialect)} WHERE {' AND '.join(conditions)}"


def _rows_step(plan: PrivatePlan, dialect: Dialect) -> str:
    """The private rows as a step; joins are made once, a table is better read again."""
    once = "" if isinstance(plan.release.source, Scan) else "MATERIALIZED "
    return f"{ROWS} AS {once}({_rows(plan, dialect)})"


def _rows(plan: PrivatePlan, dialect: Dialect) -> str:
    """The private rows: keys, owner `o`, and what each adds to the sums."""
    columns = [*_keys(plan, dialect), f"{scalar(plan.release.owner, dialect)} AS o", *row_terms(plan, dialect)]
    return f"SELECT {', '.join(columns)} {_rows_clause(plan, dialect)}"


def _scalar(plan: PrivatePlan, dialect: Dialect) -> Query:
    """No keys: one group, whatever there is."""
    steps = [_rows_step(plan, dialect), *weighing(plan, dialect, ROWS, ())]
    columns = ", ".join([f"owners AS {UNITS}", *_sum_names(plan)])
    return Query(f"WITH {', '.join(steps)} SELECT {columns} FROM weighted", (), (UNITS, *_sum_names(plan)))


def _survey(plan: PrivatePlan, dialect: Dialect, nonce: str) -> Query:
    """Bounded owners per key and the sums over all keys; keys below the minimum never leave the engine."""
    names = _key_names(plan)
    bounded = f"SELECT weighted.*, owners - COALESCE(lost, 0) AS {UNITS}, COUNT(*) OVER () AS {ALL_KEYS}"
    steps = [
        _rows_step(plan, dialect),
        *weighing(plan, dialect, ROWS, names),
        f"dropped AS ({dropped_keys(plan, names, nonce, dialect)})",
        f"bounded AS ({bounded} FROM weighted LEFT JOIN dropped ON {same('weighted', 'dropped', names)})",
    ]
    integers = (UNITS, ALL_KEYS, *_sum_names(plan))
    test = "" if plan.selection is None else f" WHERE {UNITS} >= {plan.minimum}"
    return Query(f"WITH {', '.join(steps)} SELECT {', '.join([*names, *integers])} FROM bounded{test}", names, integers)


def _measure(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Weighted sums over the keys handed back, each named by its place among them."""
    kept = f"SELECT {ROWS}.*, {PLACE} FROM {ROWS} JOIN {SELECTED} ON {same(ROWS, SELECTED, _key_names(plan))}"
    steps = [
        _rows_step(plan, dialect),
        f"{KEPT} AS ({kept})",
        *weighing(plan, dialect, KEPT, (PLACE,)),
    ]
    integers = (PLACE, *_sum_names(plan))
    return Query(f"WITH {', '.join(steps)} SELECT {', '.join(integers)} FROM weighted", (), integers)


def _buckets(plan: PrivatePlan, bucketing: Bucketing, dialect: Dialect) -> Query:
    """The weight of the rows in each bucket of each selected key; only those that there are."""
    steps = [*_placed(plan, f"{bucket_number(bucketing, dialect)} AS {BUCKET}", BUCKET, dialect)]
    steps += bucket_weights(plan, dialect, KEPT)
    names = (PLACE, BUCKET, WEIGHT)
    return Query(f"WITH {', '.join(steps)} SELECT {', '.join(names)} FROM bucketed", (), names)


def _placed(plan: PrivatePlan, column: str, name: str, dialect: Dialect) -> list[str]:
    """The steps to `kept_rows`: owner, the place of the selected key, and one more column."""
    owner = f"{scalar(plan.release.owner, dialect)} AS o"
    rows = f"SELECT {', '.join([*_keys(plan, dialect), owner, column])} {_rows_clause(plan, dialect)}"
    if plan.keys.rule is KeyRule.ONE:
        return [f"{ROWS} AS ({rows})", f"{KEPT} AS (SELECT o, {name}, 0 AS {PLACE} FROM {ROWS})"]
    joined = f"{ROWS} JOIN {SELECTED} ON {same(ROWS, SELECTED, _key_names(plan))}"
    return [f"{ROWS} AS ({rows})", f"{KEPT} AS MATERIALIZED (SELECT o, {name}, {PLACE} FROM {joined})"]


def _distinct(plan: PrivatePlan, counted: Distinct, dialect: Dialect, nonce: str) -> Query:
    """How many different values each selected key has; for a flow, the pairs of person and value by number.

    No value is printed, so those that could not be (the year 10000, infinity) count like any other.
    """
    value = plain(counted.value, dialect)
    if counted.filter is not None:
        value = f"CASE WHEN {scalar(counted.filter, dialect)} THEN {value} END"
    steps = [*_placed(plan, f"{value} AS v", "v", dialect), *value_pairs(plan, counted, dialect, KEPT, nonce)]
    if counted.flow:
        numbers = f"DENSE_RANK() OVER (ORDER BY o) AS {OWNER}, DENSE_RANK() OVER (ORDER BY v) AS {VALUE}"
        sql = f"WITH {', '.join(steps)} SELECT {PLACE}, {numbers} FROM chosen"
        return Query(sql, (), (PLACE, OWNER, VALUE))
    sql = f"WITH {', '.join(steps)} SELECT {PLACE}, COUNT(DISTINCT v) AS {VALUE} FROM chosen GROUP BY 1"
    return Query(sql, (), (PLACE, VALUE))
