"""Whatever is asked: without noise, and with nobody beyond a limit, the answer is the one that DuckDB itself gives."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .checks import as_plain_sql
from .queries import questions

CALM = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
CHECKS = settings(deadline=None, suppress_health_check=CALM)
asking = given(questions(wild=False), st.sampled_from(["gaussian", "laplace"]))


@settings(CHECKS, max_examples=40)
@asking
def test_the_answer_is_that_of_plain_sql(laboratory, question, mechanism):
    as_plain_sql(laboratory, question, mechanism=mechanism)


@pytest.mark.slow
@settings(CHECKS, max_examples=6000)
@asking
def test_the_answer_is_that_of_plain_sql_at_length(laboratory, question, mechanism):
    as_plain_sql(laboratory, question, mechanism=mechanism)
