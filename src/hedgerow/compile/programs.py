"""The SQL of a private plan: one statement or two, which return only keys and integers.

    first_pass  bounded owners per key, and the weighted sums that hold if every key is selected.
    measure  the weighted sums over the selected keys, if some key was not selected.

Both start from `rows`: the private rows with owner, keys and the integers they add. Where each owner has one row, all
weights are one, and the first pass is a plain aggregation.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from hedgerow.compile.buckets import bucket_weights
from hedgerow.compile.caps import Names, by_hash, hashed, same
from hedgerow.compile.declared import declared_tables
from hedgerow.compile.facts import Weigh, Write, with_shortcut
from hedgerow.compile.rows import ROWS, key_columns, narrowed, rows_clause, rows_steps
from hedgerow.compile.scalars import bucket_number, condition, key, plain, row_sum, scalar
from hedgerow.compile.weights import weighing
from hedgerow.compiled import (
    ALL_KEYS,
    BUCKET,
    KEY_INDEX,
    OWNER,
    SELECTED,
    UNITS,
    VALUE,
    WEIGHT,
    Program,
    Query,
    arrow_type,
)
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import StatementParts, Step
from hedgerow.expressions.types import Type
from hedgerow.privacy.distinct import MOST_PAIRS, Distinct
from hedgerow.privacy.keys import KeyRule
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import Bucketing

KEPT = "kept_rows"


def program(plan: PrivatePlan, dialect: Dialect, nonce: str, *, shortcuts: bool = False) -> Program:
    """Return the statements for `plan`; with `shortcuts`, also cheaper ones for rows that cannot change.

    The sums of tables that are measured together are read by all their keys, in one statement.
    """
    if plan.marginal is not None and plan.marginal.together is not None:
        tested = program(replace(plan, sums=(), noisy_sums=(), marginal=None), dialect, nonce)
        whole = program(plan.marginal.together.finest, dialect, nonce)
        return replace(tested, measure=whole.first_pass, declared=(*tested.declared, *whole.declared))
    buckets = tuple(_buckets(plan, bucketing, dialect) for bucketing in plan.bucketings)
    distinct = tuple(_distinct(plan, counted, dialect, nonce) for counted in plan.distinct)
    declared = declared_tables(plan.release)
    plan = narrowed(plan)
    if not plan.bounding.weighted:
        return Program(_short(plan, dialect), None, buckets, distinct, declared)

    def written(write: Write, *, surveys: bool = True) -> Query:
        return with_shortcut(plan, dialect, write, surveys=surveys) if shortcuts else write(plan, weighing)

    if plan.keys.rule is KeyRule.ONE:
        return Program(written(partial(_scalar, dialect)), None, buckets, distinct)
    second = plan.selection is not None and bool(plan.sums)
    measure = written(partial(_measure, dialect), surveys=False) if second else None
    return Program(written(partial(_survey, dialect, nonce)), measure, buckets, distinct, declared)


def _key_names(plan: PrivatePlan) -> Names:
    return {named.name: named.expr.type for named in plan.release.keys}


def _made(
    statement: StatementParts, plan: PrivatePlan, dialect: Dialect, integers: tuple[str, ...], *, keyed: bool
) -> Query:
    keys = plan.release.keys if keyed else ()
    names, types = tuple(k.name for k in keys), tuple(arrow_type(k.expr) for k in keys)
    return Query(dialect.statement_text(statement), names, integers, types, statement=statement)


def _sum_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(f"s{i}" for i in range(len(plan.sums)))


def _short(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Return the plain aggregation, for one row per owner, and the number of owners."""
    sums = [f"{row_sum(total, dialect)} AS s{i}" for i, total in enumerate(plan.sums)]
    columns = [*key_columns(plan, dialect), f"{dialect.count()} AS {UNITS}", *sums]
    texts = [key(named.expr, dialect) for named in plan.release.keys]
    sql = f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)}{dialect.group_by(texts)}"
    if plan.keys.rule is KeyRule.SELECTED:
        sql += f" HAVING {dialect.count()} >= {plan.minimum}"
    return _made(StatementParts((), sql), plan, dialect, (UNITS, *_sum_names(plan)), keyed=True)


def _scalar(dialect: Dialect, plan: PrivatePlan, weigh: Weigh) -> Query:
    """Return the statement without keys: one group, and the number of its owners where they are tested."""
    tested = [UNITS] if plan.selection is not None else []
    integers = (*tested, *_sum_names(plan))
    if not integers:
        return _made(StatementParts((), f"SELECT 0 AS {UNITS}"), plan, dialect, (UNITS,), keyed=False)
    steps = [*rows_steps(plan, dialect), *weigh(plan, dialect, ROWS, {}, None)]
    columns = ", ".join([*(f"owners AS {name}" for name in tested), *_sum_names(plan)])
    return _made(dialect.statement(steps, f"SELECT {columns} FROM weighted"), plan, dialect, integers, keyed=False)


def _survey(dialect: Dialect, nonce: str, plan: PrivatePlan, weigh: Weigh) -> Query:
    """Return the bounded owners per key and the sums over all keys; keys below the minimum never leave the engine.

    Where keys are declared and nothing is tested, the bounded owners are not computed.
    """
    names = _key_names(plan)
    if plan.selection is None:
        steps = [*rows_steps(plan, dialect), *weigh(plan, dialect, ROWS, names, None)]
        statement = dialect.statement(steps, f"SELECT {', '.join([*names, *_sum_names(plan)])} FROM weighted")
        return _made(statement, plan, dialect, _sum_names(plan), keyed=True)
    steps = [
        *rows_steps(plan, dialect),
        *weigh(plan, dialect, ROWS, names, nonce),
        dialect.step(
            "bounded", f"SELECT weighted.*, {dialect.count()} OVER () AS {ALL_KEYS} FROM weighted", once=False
        ),
    ]
    integers = (UNITS, ALL_KEYS, *_sum_names(plan))
    listed = f"SELECT {', '.join([*names, *integers])} FROM bounded WHERE {UNITS} >= {plan.minimum}"
    return _made(dialect.statement(steps, listed), plan, dialect, integers, keyed=True)


def _measure(dialect: Dialect, plan: PrivatePlan, weigh: Weigh) -> Query:
    """Return the weighted sums over the selected keys, identified by their index."""
    kept = f"SELECT {ROWS}.*, {KEY_INDEX} FROM {ROWS} JOIN {SELECTED} ON {_selected(plan, dialect)}"
    steps = [
        *rows_steps(plan, dialect),
        dialect.step(KEPT, kept, once=False),
        *weigh(plan, dialect, KEPT, {KEY_INDEX: Type.INTEGER}, None),
    ]
    integers = (KEY_INDEX, *_sum_names(plan))
    statement = dialect.statement(steps, f"SELECT {', '.join(integers)} FROM weighted")
    return _made(statement, plan, dialect, integers, keyed=False)


def _selected(plan: PrivatePlan, dialect: Dialect) -> str:
    """Return the index of the selected key that a row has."""
    return same(ROWS, SELECTED, _key_names(plan), dialect)


def _buckets(plan: PrivatePlan, bucketing: Bucketing, dialect: Dialect) -> Query:
    """Return the weight of the rows in each nonempty bucket of each selected key."""
    steps = [*_placed(plan, f"{bucket_number(bucketing, dialect)} AS {BUCKET}", BUCKET, dialect)]
    steps += bucket_weights(plan, bucketing, dialect, KEPT)
    names = (KEY_INDEX, BUCKET, WEIGHT)
    statement = dialect.statement(steps, f"SELECT {', '.join(names)} FROM bucketed")
    return _made(statement, plan, dialect, names, keyed=False)


def _placed(plan: PrivatePlan, column: str, name: str, dialect: Dialect) -> list[Step]:
    """Return the steps to `kept_rows`: owner, index of the selected key, and one more column."""
    owner = f"{scalar(plan.release.owner, dialect)} AS o"
    rows = f"SELECT {', '.join([*key_columns(plan, dialect), owner, column])} {rows_clause(plan, dialect)}"
    if plan.keys.rule is KeyRule.ONE:
        kept = dialect.step(KEPT, f"SELECT o, {name}, 0 AS {KEY_INDEX} FROM {ROWS}", once=False)
    else:
        joined = f"{ROWS} JOIN {SELECTED} ON {_selected(plan, dialect)}"
        kept = dialect.step(KEPT, f"SELECT o, {name}, {KEY_INDEX} FROM {joined}", once=True)
    return [dialect.step(ROWS, rows, once=False), kept]


def _distinct(plan: PrivatePlan, counted: Distinct, dialect: Dialect, nonce: str) -> Query:
    """Count the distinct values of each selected key; for a flow, return pairs of person and value as numbers.

    No value is printed, so values that cannot be printed (the year 10000, infinity) count like any other.
    """
    value = plain(counted.value, dialect)
    if counted.filter is not None:
        value = f"CASE WHEN {condition(counted.filter, dialect)} THEN {value} END"
    steps = [*_placed(plan, f"{value} AS v", "v", dialect), *_value_pairs(plan, counted, dialect, KEPT, nonce)]
    if counted.flow:
        numbers = f"DENSE_RANK() OVER (ORDER BY o) AS {OWNER}, DENSE_RANK() OVER (ORDER BY v) AS {VALUE}"
        statement = dialect.statement(steps, f"SELECT {KEY_INDEX}, {numbers} FROM chosen")
        return _made(statement, plan, dialect, (KEY_INDEX, OWNER, VALUE), keyed=False)
    count = f"SELECT {KEY_INDEX}, {dialect.count('DISTINCT v')} AS {VALUE} FROM chosen{dialect.group_by([KEY_INDEX])}"
    return _made(dialect.statement(steps, count), plan, dialect, (KEY_INDEX, VALUE), keyed=False)


def _value_pairs(plan: PrivatePlan, counted: Distinct, dialect: Dialect, rows: str, nonce: str) -> list[Step]:
    """Steps from `rows` (owner, value, key index) to `chosen`: at most C keys of an owner, and d values in each.

    Privacy: the keys and values of an owner that count depend on that owner's own rows alone.
    """
    kinds = {"o": plan.release.owner.type, KEY_INDEX: Type.INTEGER, "v": counted.value.type}
    if not plan.bounding.weighted:  # an owner has one row, so no pair occurs twice
        return [dialect.step("chosen", f"SELECT o, {KEY_INDEX}, v FROM {rows} WHERE v IS NOT NULL", once=False)]
    pairs = dialect.step("pairs", f"SELECT DISTINCT o, {KEY_INDEX}, v FROM {rows} WHERE v IS NOT NULL", once=True)
    maximum = MOST_PAIRS if counted.flow else counted.level.per_owner
    order = by_hash(hashed(nonce, kinds, dialect), ["v"], dialect)
    if not plan.bounding.grouped:
        return [
            pairs,
            dialect.step("chosen", _first(maximum, "pairs", tuple(kinds), ("o", KEY_INDEX), order), once=False),
        ]
    touched = f"(SELECT DISTINCT o, {KEY_INDEX} FROM pairs) AS touched"
    where = by_hash(hashed(nonce, {"o": kinds["o"], KEY_INDEX: Type.INTEGER}, dialect), [KEY_INDEX], dialect)
    placed_pairs = f"pairs JOIN places ON pairs.o = places.o AND pairs.{KEY_INDEX} = places.{KEY_INDEX}"
    within = f"(SELECT pairs.o AS o, pairs.{KEY_INDEX} AS {KEY_INDEX}, v FROM {placed_pairs}) AS inside"
    return [
        pairs,
        dialect.step("places", _first(counted.level.groups, touched, ("o", KEY_INDEX), ("o",), where), once=False),
        dialect.step("chosen", _first(maximum, within, tuple(kinds), ("o", KEY_INDEX), order), once=False),
    ]


def _first(maximum: int, rows: str, names: Sequence[str], within: Sequence[str], order: str) -> str:
    """Return the first rows, in an order, of those that agree on `within`."""
    listed = ", ".join(names)
    turn = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(within)} ORDER BY {order}) AS turn"
    return f"SELECT {listed} FROM (SELECT {listed}, {turn} FROM {rows}) AS turns WHERE turn <= {maximum}"
