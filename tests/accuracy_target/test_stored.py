"""Earlier releases are free: as the answer, and as the size that an answer needs."""

import pytest

import hedgerow as hr

COUNT = "SELECT COUNT(*) AS n FROM t"


@pytest.mark.parametrize("within", [("abs", 100), (0.01, 20000), 0.01])
@pytest.mark.parametrize("query", [COUNT, "SELECT SUM(x) AS n FROM t"])
def test_asking_twice_is_free(world, query, within):
    db = world()
    within = ("abs", 20000) if within == ("abs", 100) and "SUM" in query else within
    first, again = db.sql(query, within=within, epsilon=2), db.sql(query, within=within, epsilon=2)
    assert (first.receipt.reused, again.receipt.reused) == (False, True)
    assert again.receipt.charge.epsilon == 0


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_asking_twice_is_free_however_good_the_size_estimate_was(world, mechanism):
    db = world()
    for least in range(15):
        query = f"SELECT SUM(x) AS n FROM t WHERE x > {least / 15}"
        first = db.sql(query, within=0.05, epsilon=0.05, mechanism=mechanism)
        again = db.sql(query, within=0.05, epsilon=0.05, mechanism=mechanism)
        assert len(first.receipt.payments) == 2
        assert again.receipt.reused


def test_a_better_answer_that_is_stored_is_given_again(world):
    db = world()
    first = db.sql(COUNT, epsilon=1)
    again = db.sql(COUNT, within=0.05)
    assert again.receipt.reused
    assert list(first) == list(again)


def test_fresh_noise_is_paid_for_on_request(world):
    db = world()
    db.sql(COUNT, epsilon=1)
    again = db.sql(COUNT, within=0.05, reuse=False)
    assert not again.receipt.reused
    assert again.receipt.payments == ()
    assert 0 < again.receipt.charge.epsilon < 0.01


def test_an_old_answer_is_free_when_the_budget_is_spent(world):
    db = world(budget="{epsilon: 1, delta: 1e-6}")
    questions = [(COUNT, ("abs", 200)), ("SELECT SUM(x) AS n FROM t", 0.05), ("SELECT AVG(x) AS n FROM t", ("abs", 2))]
    first = [list(db.sql(query, within=within)) for query, within in questions]
    for epsilon in (0.3, 0.03):
        while True:
            try:
                db.sql("SELECT COUNT(*) AS n FROM t WHERE x > 0", epsilon=epsilon, reuse=False)
            except hr.BudgetError:
                break
    assert [list(db.sql(query, within=within)) for query, within in questions] == first


def test_a_stored_answer_that_is_too_noisy_still_tells_the_size(world):
    db = world()
    db.sql("SELECT SUM(x) AS n FROM t", epsilon=0.1)
    answer = db.sql("SELECT SUM(x) AS n FROM t", within=0.0001, epsilon=50)
    assert answer.receipt.payments == ()
    assert answer.receipt.charge.epsilon > 0.1
    assert db.budget.queries == 2


def test_a_stored_count_tells_the_size_for_an_average(world):
    db = world()
    db.sql(COUNT, epsilon=0.5)
    assert db.quote("SELECT AVG(x) AS m FROM t", within=("abs", 1)).offer.basis == "earlier answer"
    answer = db.sql("SELECT AVG(x) AS m FROM t", within=("abs", 1))
    assert answer.receipt.payments == ()
    assert db.budget.queries == 2
    (bars,) = answer.intervals
    assert bars["m"].note is None
    assert (bars["m"].upper - bars["m"].lower) / 2 <= 1.1


def test_a_count_of_all_rows_is_no_size_of_a_column_with_gaps(world):
    db = world()
    db.sql(COUNT, epsilon=0.5)
    assert len(db.sql("SELECT AVG(z) AS m FROM t", within=("abs", 1), epsilon=2).receipt.payments) == 2
    db.sql("SELECT COUNT(z) AS n FROM t WHERE x > 0", epsilon=0.5)
    assert db.sql("SELECT AVG(z) AS m FROM t WHERE x > 0", within=("abs", 1), epsilon=2).receipt.payments == ()


def test_a_count_of_other_rows_is_no_size(world):
    db = world()
    db.sql(COUNT + " WHERE x > 50", epsilon=0.5)
    assert len(db.sql("SELECT AVG(x) AS m FROM t", within=("abs", 1), epsilon=2).receipt.payments) == 2


def test_stored_sizes_of_groups_are_used(world):
    db = world()
    db.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon=1)
    answer = db.sql("SELECT g, AVG(y) AS m FROM t GROUP BY g", within=("abs", 5), epsilon=2)
    assert answer.receipt.payments == ()
    assert [bars["m"].note for bars in answer.intervals] == [None, None, None]


def test_a_target_that_stored_sizes_rule_out_is_refused_unspent(world, refused):
    db = world()
    db.sql("SELECT COUNT(*) AS n FROM t WHERE id < 50", epsilon=1)
    spent = db.budget.queries
    refused(db.sql, "SELECT COUNT(*) AS n FROM t WHERE id < 50", code="within-too-dear", within=0.001, epsilon=1)
    assert db.budget.queries == spent


def test_what_another_version_of_the_data_said_is_not_used(world):
    db = world()
    db.sql(COUNT, epsilon=1)
    catalog = db.place / "data.yaml"
    catalog.write_text("version: two\n" + catalog.read_text())
    with hr.connect(db.place / "data.duckdb", catalog=catalog) as later:
        assert len(later.sql(COUNT, within=0.01, epsilon=1).receipt.payments) == 2
