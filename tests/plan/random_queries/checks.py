"""The two properties of an answered question."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from .laboratory import Measured, Planned, charged, exact, fill, spent

TOLERANCE = 1e-9
"""Values are cut to a grid of 2^-40 of their range; all sums of the grammar lie on it, quotients nearly."""


def within_the_charge(laboratory, question, *, mechanism, epsilon, minimum, mask):
    """Whoever leaves moves every exact integer within what is stated and paid for. The plan, or the refusal.

    What everybody adds up to is the sum of what each alone does: nobody's numbers depend on anybody else. So what
    leaves with a unit is what it has alone; for one of them that is seen to be so.
    """
    world = question.world
    schema = laboratory.enter(world)
    planned = laboratory.plan(question.sql, world, schema, mechanism=mechanism, epsilon=epsilon, min_frequency=minimum)
    if not isinstance(planned, Planned):
        return planned
    laboratory.answered(planned, world, schema)
    parts, units = planned.statement.parts, world.units()
    chosen = [_chosen(list(laboratory.measure(part).units), part, mask) for part in parts]

    def measure(some):
        fill(laboratory.connection, some)
        return [laboratory.measure(part, keys) for part, keys in zip(parts, chosen, strict=True)]

    everybody, alone = measure(world), {unit: measure(world.alone(unit)) for unit in units}
    for place, whole in enumerate(everybody):
        together = reduce(Measured.plus, (own[place] for own in alone.values()), measure(world.alone(None))[place])
        assert whole.minus(together).is_nothing, "somebody's numbers depend on somebody else"
    for unit in units:
        _stays_within(everybody, alone[unit], planned.statement)
    for unit in units[mask % 3 :: 3]:
        rest = measure(world.without(unit))
        pairs = zip(everybody, rest, alone[unit], strict=True)
        assert all(one.minus(other).minus(own).is_nothing for one, other, own in pairs), "more left than one unit has"
    return planned


def _stays_within(everybody, own, statement):
    """One unit's numbers keep to every stated sensitivity; all together cost no more than was charged."""
    total = Fraction(0)
    for part, whole, mine in zip(statement.parts, everybody, own, strict=True):
        _stated(mine, part)
        cost = spent(whole, whole.minus(mine), part)
        assert cost <= charged(part.charge, part.mechanism), "one release costs more than was charged"
        total += cost
    assert total <= charged(statement.charge, statement.parts[0].mechanism), "all releases cost more than was charged"


def _chosen(keys, plan, mask):
    """Some of the keys, where keys are selected."""
    if plan.selection is None or not plan.release.keys:
        return None
    return [key for i, key in enumerate(keys) if mask >> (i % 8) & 1]


def _stated(mine, plan):
    """Each number alone moves within its stated sensitivity, and the units by one in few keys."""
    if plan.selection is not None:
        assert set(mine.units.values()) <= {0, 1}, "a unit counts more than once in a key"
        most = plan.bounding.groups if plan.release.keys else 1
        assert sum(mine.units.values()) <= most, "a unit counts in too many keys"
    if plan.release.keys:
        assert len(mine.sums) <= plan.bounding.keys_touched, "a unit moves cells of more keys than stated"
    for numbers in zip(*exact(mine, plan).values(), strict=True):
        if plan.mechanism == "gaussian":
            assert sum(number**2 for number in numbers) <= plan.bounding.l2_squared, "l2 sensitivity"
        else:
            assert sum(abs(number) for number in numbers) <= plan.bounding.l1, "l1 sensitivity"


def as_plain_sql(laboratory, question, *, mechanism):
    """Without noise and weights, the answer is DuckDB's own. The plan, or the refusal.

    Quantiles are the ends of buckets, and so never quite the plain ones; tests/aggregates looks at them.
    """
    schema = laboratory.enter(question.world)
    planned = laboratory.plan(question.sql, question.world, schema, mechanism=mechanism)
    if not isinstance(planned, Planned) or question.differs:
        return planned
    if any(part.bucketings for part in planned.statement.parts):
        return planned
    actual = laboratory.answer(planned, schema)
    wanted = laboratory.expected(question.sql, question.world)
    assert len(actual) == len(wanted), (actual, wanted)
    left = list(actual)
    for row in wanted:
        place = next((i for i, other in enumerate(left) if _same_row(row, other)), None)
        assert place is not None, (row, actual, wanted)
        assert place == 0 or not question.ordered, (actual, wanted)
        left.pop(place)
    return planned


def _same_row(one, other):
    return len(one) == len(other) and all(map(_same, one, other))


def _same(one, other):
    one, other = _plain(one), _plain(other)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE) or (math.isnan(one) and math.isnan(other))
    return one == other


def _plain(value):
    """Numbers as doubles, days as moments: types differ, values must not."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime.combine(value, dt.time())
    return value
