"""Catalogs that are being written, and answers that are given again without a charge."""

import pytest
from tests.internals import session_of

from hedgerow.errors import BudgetError, CatalogError
from hedgerow.session.draft import check_draft, compare_draft, diagnose_draft, distinct_questions
from hedgerow.session.stored import options_of, stored_answer

STATEMENTS = [
    "CREATE TABLE people AS SELECT i AS id, i % 7 AS x, ['a', 'b'][1 + i % 2] AS k, i AS secret FROM range(900) r(i)",
    "CREATE TABLE others AS SELECT * FROM people",
]
COLUMNS = "{x: {lower: 0, upper: 7}, k: {values: [a, b]}, secret: {hidden: true}}"
TABLES = f"people: {{unit: id, unit_unique: true, columns: {COLUMNS}}}"
COUNT = "SELECT k, COUNT(*) AS n FROM people GROUP BY k"
TOTAL = "SELECT SUM(x) AS total FROM people WHERE k = ?"


@pytest.fixture
def db(build):
    budget = "{epsilon: 10, delta: 1e-6}"
    return build(STATEMENTS, TABLES, budget=budget, min_frequency=5, defaults="epsilon: 0.3, delta: 1e-8")


def catalog(db):
    return session_of(db).catalog.path.read_text()


@pytest.mark.parametrize(
    "options",
    [{}, {"epsilon": 0.1, "max_groups": 1, "confidence": 0.9}, {"within": ("abs", 600)}, {"mechanism": "gaussian"}],
)
def test_a_question_of_the_history_is_answered_again_with_its_options_and_digits_and_without_a_charge(db, options):
    first = db.sql(TOTAL, params=["a"], **options)
    entry = [entry for entry in db.budget.history if entry.question == TOTAL][-1]
    charged = db.budget.queries
    again = stored_answer(db, entry.question, entry.params, options_of(db, entry))
    assert list(again) == list(first)
    assert again.receipt.reused
    assert db.budget.queries == charged


def test_a_question_that_is_not_stored_is_refused_and_costs_nothing(db):
    for options in ({}, {"within": 0.05}):
        with pytest.raises(BudgetError) as refused:
            stored_answer(db, COUNT, None, options)
        assert refused.value.code == "not-stored"
    assert db.budget.queries == 0


def test_what_is_wrong_with_a_draft_stands_beside_its_line(db):
    text = catalog(db)
    assert diagnose_draft(db, text) == []
    lines = text.split("\n")
    at = next(number for number, line in enumerate(lines, 1) if "people" in line and "unit" in line)
    for wrong, words in (
        (("upper: 7", "upper: -7"), "above"),
        (("unit: id", "unit: idd"), "idd"),
        (("k: ", "q: "), "q"),
    ):
        (note,) = diagnose_draft(db, text.replace(*wrong))
        assert (note.line, note.level) == (at, "error")
        assert words in note.message
        assert ".yaml" not in note.message
    (note,) = diagnose_draft(db, text.replace("epsilon: 10", "epsilon: 100"))
    assert note.line < at
    (note,) = diagnose_draft(db, "tables: [")
    assert note.level == "error"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("unit: id, unit_unique: true", "public: true"), "without noise"),
        (("unit: id, unit_unique: true", "unit: x, max_rows: 1"), "somebody else"),
        (("min_frequency: 5", "min_frequency: 2"), "fewer people"),
        (("secret: {hidden: true}", "secret: {}"), "hidden now"),
        ((", secret: {hidden: true}", ""), "hidden now"),
        (("tables:", "tables:\n  others: {unit: id, max_rows: 1}"), "could not be asked about"),
    ],
)
def test_a_draft_that_protects_less_is_refused_whoever_writes_it(db, change, words):
    text = catalog(db)
    assert change[0] in text
    (note,) = diagnose_draft(db, text.replace(*change))
    assert words in note.message
    assert note.level == "error"


def test_a_draft_that_protects_more_is_fine(db):
    text = catalog(db)
    for change in (("min_frequency: 5", "min_frequency: 50"), ("k: {values: [a, b]}", "k: {hidden: true}")):
        assert diagnose_draft(db, text.replace(*change)) == []


def test_findings_of_check_stand_beside_the_tables_that_they_are_about(db):
    text = catalog(db).replace("unit: id, unit_unique: true", "unit: x, unit_unique: true")
    notes = check_draft(db, text)
    (false,) = [note for note in notes if note.level == "error"]
    assert "several rows" in false.message
    assert text.split("\n")[false.line - 1].strip().startswith("people")


def test_a_draft_says_what_it_would_change_about_prices_and_stored_answers(db):
    db.sql(COUNT)
    db.sql(TOTAL, params=["a"])
    same = compare_draft(db, catalog(db))
    assert [change.question for change in same] == [TOTAL, COUNT]
    assert all(change.stored == (True, True) and change.share[0] == change.share[1] for change in same)
    total, count = compare_draft(db, catalog(db).replace("upper: 7", "upper: 14"))
    assert total.error[1] == pytest.approx(2 * total.error[0], rel=0.2)
    assert total.stored == (True, False)
    assert count.stored == (True, True)
    total, count = compare_draft(db, catalog(db).replace("epsilon: 0.3", "epsilon: 0.6"))
    assert count.share[1] > 2 * count.share[0]
    (gone, _) = compare_draft(db, catalog(db).replace("x: {lower: 0, upper: 7}", "x: {hidden: true}"))
    assert gone.refusal
    assert db.budget.queries == 2


def test_a_draft_that_is_wrong_is_not_compared(db):
    with pytest.raises(CatalogError):
        compare_draft(db, "tables: [")


def test_questions_are_listed_once_with_their_number(db):
    for _ in range(2):
        db.sql(COUNT, reuse=False)
    db.batch([COUNT, "SELECT COUNT(*) AS all_of_them FROM people"], reuse=False)  # no question of its own
    ((entry, times),) = distinct_questions(db.budget.history)
    assert (entry.question, times) == (COUNT, 2)
