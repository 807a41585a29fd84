"""Each part of a statement is charged for what one owner does to it, by definition and not by what was budgeted."""

from fractions import Fraction

import pytest

from hedgerow.accounting.events import SLOPE_SQUARED
from hedgerow.aggregates import Rank
from hedgerow.errors import ParameterError
from hedgerow.expressions.nodes import Column
from hedgerow.expressions.ranges import Range
from hedgerow.expressions.types import Type
from hedgerow.privacy.assemble import Assembly
from hedgerow.privacy.bounding import Bounding
from hedgerow.privacy.distinct import DistinctLevel, gaussian_distinct, laplace_distinct
from hedgerow.privacy.laplace import block
from hedgerow.privacy.precision import Precision, centred, plain
from hedgerow.privacy.ranks import gaussian_column, laplace_column
from hedgerow.privacy.statement_sums import StatementSums
from hedgerow.privacy.sums import ExactSum, SumKind
from hedgerow.statistics.quantiles import Buckets

pytestmark = pytest.mark.mutation

LIMITS = Bounding(rows=6, rows_per_group=2, groups=3, weighted=True, size=10**6)
"""An owner of three groups, two rows in each: T squared is 12, A is 6."""

VALUE = Column("x", Type.INTEGER)
MEDIAN = Rank(Fraction(1, 2))
LARGEST = Rank(Fraction(1), extreme=True)


def test_an_owner_adds_two_values_in_three_groups_to_a_distinct_count():
    built, event = gaussian_distinct(VALUE, None, DistinctLevel(2, 3), 0.25, LIMITS, "simple")
    assert float(event.cost.gaussian) == pytest.approx(2**2 * 3 / built.noise.sigma**2, rel=1e-9)
    assert float(event.cost.gaussian) == pytest.approx(0.25, rel=1e-6)
    assert event.moved == 3


def test_an_owner_adds_six_values_in_all_to_a_distinct_count():
    built, event = laplace_distinct(VALUE, None, DistinctLevel(2, 3), 0.25, LIMITS, "simple")
    assert float(event.cost.pure) == pytest.approx(2 * 3 / built.noise.scale, rel=1e-12)
    assert float(event.cost.pure) == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("scale", [0.001, 1.0, 1e8])
def test_the_noise_of_sums_is_charged_for_all_rows_of_an_owner(scale):
    """A is six: the charge is six times what a row pays for the noise that is drawn."""
    (built,), event = block([("a sum", ((0, 1),))], 1 << 10, scale, LIMITS, 30)
    step = (1 << 10 << 30) * 2.0**built.shift  # what a row of full weight moves the sum by, as it is drawn
    assert built.noise.scale == pytest.approx(built.scale / step)
    assert float(event.cost.pure) >= LIMITS.l1 * step / built.scale * (1 - 1e-12)


@pytest.mark.parametrize("rank", [MEDIAN, LARGEST])
def test_a_quantile_and_its_limits_are_charged_over_all_groups_of_an_owner(rank):
    """Three groups at full weight: three times the squared range of one, and the sums that give limits in all three."""
    column = gaussian_column(0, Buckets(0, 99, 1), [rank], 0.25, LIMITS, 30, 0.05)
    drawn, sums = column.events
    assert drawn.cost.gaussian == SLOPE_SQUARED * column.draws[0].epsilon ** 2 * 3
    assert float(sums.cost.gaussian) == pytest.approx(
        LIMITS.l2_squared / column.cumulative.sum.noise.sigma**2, rel=1e-6
    )
    assert float(drawn.cost.gaussian + sums.cost.gaussian) == pytest.approx(0.25, rel=1e-3)
    column = laplace_column(0, Buckets(0, 99, 1), [rank], 0.25, LIMITS, 30, 0.05)
    drawn, sums = column.events
    assert drawn.cost.pure == column.draws[0].epsilon * 3 == Fraction(1, 8)
    assert float(sums.cost.pure) == pytest.approx(LIMITS.l1 / column.cumulative.sum.noise.scale, rel=1e-6)
    assert float(drawn.cost.pure + sums.cost.pure) == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize(("lower", "upper"), [(-8, 2), (-9, -1), (2, 8), (0, 5), (-3, 3)])
@pytest.mark.parametrize("make", [centred, plain])
def test_no_value_is_further_from_zero_than_the_reach_of_its_grid(make, lower, upper):
    for whole in (True, False):
        grid = make(Range(lower, upper), whole=whole, bits=20)
        assert grid.reach >= max(abs(grid.low), abs(grid.high))
        ends = [abs(round((end - grid.offset) / grid.step)) for end in (lower, upper)]
        assert max(ends) <= grid.reach <= max(ends) + 1


def test_a_sum_that_could_overflow_is_refused_when_it_is_priced():
    """Rows of weight 2^30 and values of 2^40 leave 54 bits for their number."""
    grid = plain(Range(0, 2**40), whole=True, bits=41)
    wanted = ExactSum(SumKind.VALUES, VALUE, None, grid)
    for size, fits in ((2**50, True), (2**60, False)):
        limits = Bounding(6, 2, 3, weighted=True, size=size)
        built = Assembly(StatementSums(), limits, Precision(41, 30, 30), 1.0)
        if fits:
            assert built.sum(wanted) == 0
        else:
            with pytest.raises(ParameterError, match="could overflow"):
                built.sum(wanted)
