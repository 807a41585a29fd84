"""One owner more or less moves groups and measured totals, all together, within what was paid for: exactly."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.privacy.neighbours.conftest import lattice_step
from tests.privacy.neighbours.test_neighbours import CHECKS, a_few, crowd, many_rows

from hedgerow.release.draw import _to_grid

SETS = ["ROLLUP (g)", "ROLLUP (d)", "ROLLUP (g, d)", "CUBE (d, b)", "GROUPING SETS ((g), (d))", "ROLLUP (x, g)"]
MEASURES = [
    "COUNT(*)",
    "COUNT(x)",
    "SUM(x)",
    "AVG(x)",
    "AVG(i)",
    "SUM(x) FILTER (WHERE b)",
    "HISTOGRAM_BIN(i, 0, 0, 2, 5)",
]


@st.composite
def statements(draw):
    """A statement with totals, the limits on one owner, and how it is asked."""
    measures = draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True))
    select = f"SELECT {', '.join(measures)} FROM t GROUP BY {draw(st.sampled_from(SETS))}"
    rows = draw(st.integers(1, 9))
    limits = {
        "rows": rows,
        "per_group": draw(st.one_of(st.none(), st.integers(1, rows))),
        "groups": draw(st.one_of(st.none(), st.integers(1, 6))),
        "unique": draw(st.booleans()),
    }
    return select, limits, draw(st.sampled_from([0.01, 1.0, 30.0]))


def totals(vectors, level, plan):
    """For each noisy sum of a level, the exact total of each cell, on the lattice of its noise, in rows."""
    cells = defaultdict(lambda: [Fraction(0)] * len(level.noisy_sums))
    for key, vector in vectors.items():
        cell = tuple(key[index] for index in level.keys)
        cells[cell] = [total + number for total, number in zip(cells[cell], vector, strict=True)]
    return {
        cell: [
            int(_to_grid(np.array([int(total * (s.denominator << plan.weight_bits))], dtype=object), s.shift)[0])
            / lattice_step(s, plan)
            for total, s in zip(numbers, level.noisy_sums, strict=True)
        ]
        for cell, numbers in cells.items()
    }


def moved_in(level, after, before, plan):
    """Return the distance by which each cell of a level moves, for each noisy sum."""
    old, new = totals(before.vectors, level, plan), totals(after.vectors, level, plan)
    nothing = [Fraction(0)] * len(level.noisy_sums)
    return [
        [a - b for a, b in zip(new.get(cell, nothing), old.get(cell, nothing), strict=True)]
        for cell in new.keys() | old.keys()
    ]


@settings(CHECKS, max_examples=20)
@given(statements(), crowd, st.one_of(a_few, many_rows), st.randoms())
def test_one_owner_more_moves_groups_and_totals_within_the_charge(
    laboratory, limits, row, paid, statement, members, newcomer, random
):
    select, bounds, epsilon = statement
    plan = laboratory.plan(select, limits(**bounds), epsilon=epsilon)
    own = slice(1 if bounds["unique"] else None)
    before = [row(number, *values) for number, rows in enumerate(members) for values in rows[own]]
    after = before + [row(1000, *values) for values in newcomer[own]]
    keys = list(laboratory.measure(after, plan).units)
    selected = [key for key in keys if random.random() < 0.7] if plan.selection is not None else keys
    with_newcomer, without = (laboratory.measure(rows, plan, selected) for rows in (after, before))
    spent, charged = paid(with_newcomer - without, plan)
    for level in plan.levels:
        for moved in moved_in(level, with_newcomer, without, plan):
            for move, s in zip(moved, level.noisy_sums, strict=True):
                spent += move**2 / (Fraction(s.scale) / lattice_step(s, plan)) ** 2
    assert spent <= charged


def test_an_owner_in_more_keys_than_declared_moves_a_total_by_no_more_than_the_cap(laboratory, limits, row):
    """The weights of a plan without totals bound the l2 norm alone, and would not do."""
    plan = laboratory.plan("SELECT COUNT(*) FROM t GROUP BY ROLLUP (g)", limits(6, 1, 6))
    (level,) = plan.levels
    rows = [row(1, f"key {number}") for number in range(60)]
    selected = [(f"key {number}",) for number in range(60)]
    moves = []
    for priced in (plan, replace(plan, levels=())):
        with_owner, without = (laboratory.measure(actual, priced, selected) for actual in (rows, []))
        ((moved,),) = moved_in(level, with_owner, without, priced)
        moves.append(moved)
    assert 0.99 * plan.bounding.l1 < moves[0] <= plan.bounding.l1 < moves[1]


@pytest.mark.parametrize("unique", [True, False])
def test_levels_are_charged_for(laboratory, limits, unique):
    """Groups and levels together cost what the measures of a statement may spend."""
    plain, rolled = (
        laboratory.plan(f"SELECT SUM(x) FROM t GROUP BY {keys}", limits(1, unique=unique))
        for keys in ("g", "ROLLUP (g)")
    )
    assert len(rolled.charge.events) == len(plain.charge.events) + 1
    assert float(rolled.charge.cost.gaussian) == pytest.approx(float(plain.charge.cost.gaussian), rel=1e-6)
