"""SQL for the weight of the rows in each bucket of each selected key."""

from dataclasses import replace

from hedgerow.compile.caps import Names, together
from hedgerow.compile.weights import cap_steps
from hedgerow.compiled import BUCKET, KEY_INDEX, WEIGHT
from hedgerow.dialects import Dialect
from hedgerow.dialects.statement import Step
from hedgerow.expressions.types import Type
from hedgerow.privacy.plan import PrivatePlan
from hedgerow.privacy.ranks import Bucketing


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
