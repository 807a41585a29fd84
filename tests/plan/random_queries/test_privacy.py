"""Whatever is asked: nobody moves an exact integer by more than what is stated, and paid for."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.limits import UNDECLARED

from .checks import within_the_charge
from .queries import questions

CALM = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
CHECKS = settings(deadline=None, suppress_health_check=CALM)
REFUSED_TOO = 12
"""One wrong form in so many: what is refused costs little time, and what should have been shows here."""

option_sets = st.fixed_dictionaries(
    {
        "mechanism": st.sampled_from(["gaussian", "laplace"]),
        "epsilon": st.sampled_from([0.01, 1.0, 30.0]),
        "minimum": st.sampled_from([1, 3]),
        "mask": st.sampled_from([0b11111111, 0b10110101, 0b01001010]),
    }
)
leaving = given(questions(wild=True, wrong_one_in=REFUSED_TOO), option_sets)


@settings(CHECKS, max_examples=20)
@leaving
def test_whoever_leaves_moves_every_release_within_its_charge(laboratory, question, options):
    within_the_charge(laboratory, question, **options)


@settings(CHECKS, max_examples=20)
@leaving
def test_so_does_whoever_leaves_where_only_a_few_rows_of_each_person_are_joined(laboratory, question, options):
    laboratory.rows_per_person = 8
    try:
        within_the_charge(laboratory, question, **options)
    finally:
        laboratory.rows_per_person = UNDECLARED.rows_per_person


@pytest.mark.slow
@settings(CHECKS, max_examples=4000)
@leaving
def test_whoever_leaves_moves_every_release_within_its_charge_at_length(laboratory, question, options):
    within_the_charge(laboratory, question, **options)
