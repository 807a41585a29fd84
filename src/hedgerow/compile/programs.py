"""The SQL of a private plan: one statement or two, which return only keys and integers.

    first_pass  bounded owners per key, and the weighted sums that hold if every key is selected.
    measure  the weighted sums over the selected keys, if some key was not selected.

Both start from `rows`: the private rows with owner, keys and the integers they add. Where each owner has one row, all
weights are one, and the first pass is a plain aggregation. Quantiles need a third statement: the weight of the rows in
each bucket of each selected key (`bucket_weights`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from hedgerow.compile.caps import Names, by_hash, hashed, same, together
from hedgerow.compile.facts import Weigh, Write, counts_people, with_shortcut
from hedgerow.compile.optimistic import with_optimistic
from hedgerow.compile.rows import ROWS, declared_tables, key_columns, narrowed, rows_clause, rows_steps
from hedgerow.compile.scalars import bucket_number, condition, key, plain, row_sum, scalar
from hedgerow.compile.weights import cap_steps, weighing
from hedgerow.compiled import (
    ALL_KEYS,
    BEYOND,
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


def program(
    plan: PrivatePlan, dialect: Dialect, nonce: str, *, shortcuts: bool = False, fixed: bool = False
) -> Program:
    """Return the statements for `plan`; with `shortcuts`, also cheaper ones for rows that cannot change.

    With `fixed`, also short ones that prove their result, for rows that cannot change within a transaction.

    The sums of tables that are measured together are read by all their keys, in one statement; it is the only one for
    the grouping sets of one statement without a test of its groups.
    """
    if plan.marginal is not None and plan.marginal.together is not None:
        if plan.selection is None and plan.release.keys == plan.marginal.together.finest.release.keys:
            return program(plan.marginal.together.finest, dialect, nonce, shortcuts=shortcuts, fixed=fixed)
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
        query = with_shortcut(plan, dialect, write, surveys=surveys) if shortcuts else write(plan, weighing)
        if not fixed:
            return query
        return with_optimistic(query, plan, dialect, write, counted=counts_people(plan, surveys=surveys))

    if plan.keys.rule is KeyRule.ONE:
        return Program(written(partial(_scalar, dialect)), None, buckets, distinct)
    second = plan.selection is not None and bool(plan.sums)
    measure = written(partial(_measure, dialect), surveys=False) if second else None
    return Program(written(partial(_first_pass, dialect, nonce)), measure, buckets, distinct, declared)


def _key_names(plan: PrivatePlan) -> Names:
    return {named.name: named.expr.type for named in plan.release.keys}


def _query(
    statement: StatementParts, plan: PrivatePlan, dialect: Dialect, integers: tuple[str, ...], *, keyed: bool
) -> Query:
    keys = plan.release.keys if keyed else ()
    names, types = tuple(k.name for k in keys), tuple(arrow_type(k.expr) for k in keys)
    return Query(dialect.statement_text(statement), names, integers, types, statement=statement)


def _sum_names(plan: PrivatePlan) -> tuple[str, ...]:
    return tuple(f"s{i}" for i in range(len(plan.sums)))


def _proof(*, proof: bool) -> tuple[str, ...]:
    return (BEYOND,) if proof else ()


def _short(plan: PrivatePlan, dialect: Dialect) -> Query:
    """Return the plain aggregation, for one row per owner, and the number of owners."""
    sums = [f"{row_sum(total, dialect)} AS s{i}" for i, total in enumerate(plan.sums)]
    columns = [*key_columns(plan, dialect), f"{dialect.count()} AS {UNITS}", *sums]
    texts = [key(named.expr, dialect) for named in plan.release.keys]
    sql = f"SELECT {', '.join(columns)} {rows_clause(plan, dialect)}{dialect.group_by(texts)}"
    if plan.keys.rule is KeyRule.SELECTED:
        sql += f" HAVING {dialect.count()} >= {plan.minimum}"
    return _query(StatementParts((), sql), plan, dialect, (UNITS, *_sum_names(plan)), keyed=True)


def _scalar(dialect: Dialect, plan: PrivatePlan, weigh: Weigh, *, proof: bool = False) -> Query:
    """Return the statement without keys: one group, and the number of its owners where they are tested."""
    tested = [UNITS] if plan.selection is not None else []
    integers = (*tested, *_sum_names(plan))
    if not integers:
        return _query(StatementParts((), f"SELECT 0 AS {UNITS}"), plan, dialect, (UNITS,), keyed=False)
    steps = [*rows_steps(plan, dialect), *weigh(plan, dialect, ROWS, {}, None)]
    columns = ", ".join([*(f"owners AS {name}" for name in tested), *_sum_names(plan), *_proof(proof=proof)])
    return _query(dialect.statement(steps, f"SELECT {columns} FROM weighted"), plan, dialect, integers, keyed=False)


def _first_pass(dialect: Dialect, nonce: str, plan: PrivatePlan, weigh: Weigh, *, proof: bool = False) -> Query:
    """Return the bounded owners per key and the sums over all keys; keys below the minimum never leave the engine.

    Where keys are declared and nothing is tested, the bounded owners are not computed.
    """
    names = _key_names(plan)
    if plan.selection is None:
        steps = [*rows_steps(plan, dialect), *weigh(plan, dialect, ROWS, names, None)]
        shown = ", ".join([*names, *_sum_names(plan), *_proof(proof=proof)])
        statement = dialect.statement(steps, f"SELECT {shown} FROM weighted")
        return _query(statement, plan, dialect, _sum_names(plan), keyed=True)
    steps = [
        *rows_steps(plan, dialect),
        *weigh(plan, dialect, ROWS, names, nonce),
        dialect.step(
            "bounded", f"SELECT weighted.*, {dialect.count()} OVER () AS {ALL_KEYS} FROM weighted", once=False
        ),
    ]
    integers = (UNITS, ALL_KEYS, *_sum_names(plan))
    shown = ", ".join([*names, *integers, *_proof(proof=proof)])
    listed = f"SELECT {shown} FROM bounded WHERE {UNITS} >= {plan.minimum}"
    return _query(dialect.statement(steps, listed), plan, dialect, integers, keyed=True)


def _measure(dialect: Dialect, plan: PrivatePlan, weigh: Weigh, *, proof: bool = False) -> Query:
    """Return the weighted sums over the selected keys, identified by their index."""
    selected = f"SELECT {ROWS}.*, {KEY_INDEX} FROM {ROWS} JOIN {SELECTED} ON {_selected(plan, dialect)}"
    steps = [
        *rows_steps(plan, dialect),
        dialect.step(KEPT, selected, once=False),
        *weigh(plan, dialect, KEPT, {KEY_INDEX: Type.INTEGER}, None),
    ]
    integers = (KEY_INDEX, *_sum_names(plan))
    shown = ", ".join([*integers, *_proof(proof=proof)])
    return _query(dialect.statement(steps, f"SELECT {shown} FROM weighted"), plan, dialect, integers, keyed=False)


def _selected(plan: PrivatePlan, dialect: Dialect) -> str:
    """Return the index of the selected key that a row has."""
    return same(ROWS, SELECTED, _key_names(plan), dialect)


def _buckets(plan: PrivatePlan, bucketing: Bucketing, dialect: Dialect) -> Query:
    """Return the weight of the rows in each nonempty bucket of each selected key."""
    steps = [*_placed(plan, f"{bucket_number(bucketing, dialect)} AS {BUCKET}", BUCKET, dialect)]
    steps += bucket_weights(plan, bucketing, dialect, KEPT)
    names = (KEY_INDEX, BUCKET, WEIGHT)
    statement = dialect.statement(steps, f"SELECT {', '.join(names)} FROM bucketed")
    return _query(statement, plan, dialect, names, keyed=False)


def _placed(plan: PrivatePlan, column: str, name: str, dialect: Dialect) -> list[Step]:
    """Return the steps to `kept_rows`: owner, index of the selected key, and one more column."""
    owner = f"{scalar(plan.release.owner, dialect)} AS o"
    rows = f"SELECT {', '.join([*key_columns(plan, dialect), owner, column])} {rows_clause(plan, dialect)}"
    if plan.keys.rule is KeyRule.ONE:
        selected = dialect.step(KEPT, f"SELECT o, {name}, 0 AS {KEY_INDEX} FROM {ROWS}", once=False)
    else:
        joined = f"{ROWS} JOIN {SELECTED} ON {_selected(plan, dialect)}"
        selected = dialect.step(KEPT, f"SELECT o, {name}, {KEY_INDEX} FROM {joined}", once=True)
    return [dialect.step(ROWS, rows, once=False), selected]


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
        return _query(statement, plan, dialect, (KEY_INDEX, OWNER, VALUE), keyed=False)
    count = f"SELECT {KEY_INDEX}, {dialect.count('DISTINCT v')} AS {VALUE} FROM chosen{dialect.group_by([KEY_INDEX])}"
    return _query(dialect.statement(steps, count), plan, dialect, (KEY_INDEX, VALUE), keyed=False)


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


def bucket_weights(plan: PrivatePlan, bucketing: Bucketing, dialect: Dialect, rows: str) -> list[Step]:
    """Return the steps from `rows` (owner, bucket, key index) to `bucketed`: the weight of each bucket of each key.

    The weight of a pair of owner and key is the same in every bucket. Where people are weighed, it is shared by those
    rows of the pair that are in a bucket; elsewhere by all of them.
    """
    plan = replace(plan, bounding=bucketing.limits(plan.bounding))
    not_null_rows = f"FROM {rows} WHERE {BUCKET} IS NOT NULL{dialect.group_by([KEY_INDEX, BUCKET])}"
    if not plan.bounding.weighted:
        return [
            dialect.step(
                "bucketed", f"SELECT {KEY_INDEX}, {BUCKET}, {dialect.count()} AS {WEIGHT} {not_null_rows}", once=False
            )
        ]
    counts = f"SELECT {KEY_INDEX}, {BUCKET}, CAST({dialect.count()} AS {dialect.huge}) AS t {not_null_rows}"
    one = 1 << plan.weight_bits
    names: Names = {KEY_INDEX: Type.INTEGER} if plan.bounding.grouped else {}
    keys = "".join(f"{name}, " for name in names)
    sharing = f"{rows} WHERE {BUCKET} IS NOT NULL" if bucketing.by_person else rows
    parts = f"SELECT {keys}o, {dialect.count()} AS n FROM {sharing}{dialect.group_by([*names, 'o'])}"
    pairs = f"{rows} JOIN light ON {together(rows, 'light', names, dialect)}"
    lost = f"SELECT {rows}.{KEY_INDEX} AS {KEY_INDEX}, {BUCKET}, {dialect.total('gap')} AS m"
    lost += f" FROM {pairs} WHERE {BUCKET} IS NOT NULL"
    left = f"{dialect.weighed('t', one, 'COALESCE(m, 0)')} AS {WEIGHT}"
    joined = f"whole LEFT JOIN surplus ON whole.{KEY_INDEX} = surplus.{KEY_INDEX} AND whole.{BUCKET} = surplus.{BUCKET}"
    return [
        dialect.step("parts", parts, once=True),
        *cap_steps(plan, dialect, names),
        dialect.step("whole", counts, once=False),
        dialect.step("surplus", f"{lost}{dialect.group_by([f'{rows}.{KEY_INDEX}', BUCKET])}", once=False),
        dialect.step(
            "bucketed",
            f"SELECT whole.{KEY_INDEX} AS {KEY_INDEX}, whole.{BUCKET} AS {BUCKET}, {left} FROM {joined}",
            once=False,
        ),
    ]
