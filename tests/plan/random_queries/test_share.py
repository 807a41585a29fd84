"""Refusing everything would keep every promise: at least half of all questions are answered."""

import random
import sys
from collections import Counter

import pytest

from .laboratory import Planned
from .queries import question

QUESTIONS = 300
"""Of 1300 questions three in four were answered. By Hoeffding's inequality less than half of 300 are answered with a
probability below exp(-2 * 300 * 0.23^2) < 1e-13."""


@pytest.mark.slow
def test_at_least_half_of_all_questions_are_answered_and_every_refusal_has_a_code(laboratory):
    tally = Counter()
    for _ in range(QUESTIONS):
        drawn = question(random.SystemRandom().randrange, wild=False)
        schema = laboratory.enter(drawn.world)
        planned = laboratory.plan(drawn.sql, drawn.world, schema)
        tally["answered" if isinstance(planned, Planned) else planned.code] += 1
    lines = [f"{count / QUESTIONS:7.1%}  {code}" for code, count in tally.most_common()]
    sys.stdout.write("\n".join(["", f"{QUESTIONS} questions:", *lines, ""]))
    assert tally["answered"] >= QUESTIONS / 2
    assert all(tally), "a refusal without a code"
    assert "internal" not in tally
