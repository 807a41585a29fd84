"""AVG_DIFFERENCE and AVG_LIFT in SQL: one block for both arms, shared sums, free repeats, refusals, several metrics."""

import pytest

import hedgerow as hr
from hedgerow.errors import UnsupportedSQLError
from hedgerow.ratio import experiment_sql

both = pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])


def moments(answer):
    return [release for release in answer.receipt.mechanisms if release.measure.startswith("moments of")]


@pytest.fixture
def users(tmp_path):
    """Ten thousand people in two arms; the second spends a fifth more."""
    import duckdb  # noqa: PLC0415 - the owner's

    path = tmp_path / "users.duckdb"
    with duckdb.connect(str(path)) as owner:
        owner.execute("CREATE TABLE users (id BIGINT PRIMARY KEY, arm VARCHAR, spent DOUBLE, bought BOOLEAN)")
        owner.execute(
            "INSERT INTO users SELECT i, CASE WHEN i % 2 = 0 THEN 'A' ELSE 'B' END, "
            "(i * 7919 % 100) * (1 + 0.2 * (i % 2)), i % 10 = 0 FROM range(10000) AS t(i)"
        )
    (tmp_path / "users.yaml").write_text(
        "dataset: users\nbudget: {epsilon: 100, delta: 1e-6, pure_epsilon: 50}\n"
        "defaults: {epsilon: 1, delta: 1e-8}\ntables:\n  users:\n    unit: id\n    unit_unique: true\n"
        "    columns: {spent: {lower: 0, upper: 120}}\n"
    )
    with hr.connect(str(path), catalog=str(tmp_path / "users.yaml")) as db:
        yield db


@both
def test_both_arms_have_the_noise_of_one(users, mechanism):
    compared = users.sql("SELECT AVG_LIFT(spent, arm = 'B') AS l FROM users", mechanism=mechanism)
    alone = users.sql("SELECT VAR_POP(spent) AS v FROM users", mechanism=mechanism)
    assert len(moments(compared)) == 2 * len(moments(alone))
    (scale,), (one,) = ({release.scale for release in moments(answer)} for answer in (compared, alone))
    assert scale == pytest.approx(one, rel=1e-9)


def test_a_difference_and_a_lift_share_their_sums_and_their_p_value(users):
    several = users.sql("SELECT AVG_DIFFERENCE(spent, arm = 'B') AS d, AVG_LIFT(spent, arm = 'B') AS l FROM users")
    assert len(moments(several)) == 6
    difference, lift = (several.intervals[0][name] for name in ("d", "l"))
    assert difference.p_value == pytest.approx(lift.p_value, abs=1e-5)
    assert difference.p_adjusted is None
    assert lift.population[0] <= 0.2 <= lift.population[1]


def test_a_repeat_is_free_and_keeps_its_digits(users):
    text = "SELECT AVG_LIFT(spent, arm = 'B') AS l FROM users"
    first, again = users.sql(text), users.sql(text + " ")
    assert again.receipt.reused
    assert again["l"] == first["l"]
    assert again.intervals[0]["l"] == first.intervals[0]["l"]


def test_several_metrics_are_one_question_with_adjusted_p_values(users):
    text = experiment_sql("users", "arm = 'B'", rates={"bought": "bought"}, averages={"spent": "spent"})
    answer = users.sql(text)
    assert all(answer.intervals[0][name].p_adjusted >= answer.intervals[0][name].p_value for name in answer.columns)
    assert "p adjusted" in repr(answer)
    assert "spent_p_adjusted" in answer.arrow(intervals=True).column_names
    assert "p_adjusted" in answer.to_dict()["intervals"][0]["spent"]


def test_values_that_may_be_negative_have_no_lift(users):
    with pytest.raises(UnsupportedSQLError) as refused:
        users.sql("SELECT AVG_LIFT(spent - 50, arm = 'B') AS l FROM users")
    assert refused.value.code == "negative-values"
    assert users.sql("SELECT AVG_DIFFERENCE(spent - 50, arm = 'B') AS d FROM users")["d"]
