"""A ledger that an older version wrote opens, has everything charged, and answers its questions with the same digits.

`written/0.1.0.ledger` was written by that version, with the answers and totals beside it, and `0.1.0-sealed.ledger`
since entries are sealed. No file is ever made anew: a version that changes what a ledger holds adds files of its own.
"""

import json
import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.catalog import load_catalog
from hedgerow.ledger import open_ledger

WRITTEN = Path(__file__).parent / "written"
QUESTIONS = json.loads((WRITTEN / "questions.json").read_text(encoding="utf-8"))
VERSIONS = sorted(path.stem for path in WRITTEN.glob("*.ledger"))


@pytest.fixture(params=VERSIONS)
def written(request, tmp_path):
    """The database as it was, with a copy of the ledger; and what was answered and spent."""
    shutil.copy(WRITTEN / "shop.yaml", tmp_path)
    shutil.copy(WRITTEN / f"{request.param}.ledger", tmp_path / "shop.ledger")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as owner:
        owner.execute((WRITTEN / "shop.sql").read_text(encoding="utf-8"))
    expected = json.loads((WRITTEN / f"{request.param}.json").read_text(encoding="utf-8"))
    with hr.connect(tmp_path / "shop.duckdb", catalog=tmp_path / "shop.yaml") as db:
        yield db, expected


def test_everything_that_was_charged_is_still_charged(written):
    db, expected = written
    assert db.budget.queries == expected["charges"] == len(QUESTIONS)
    assert db.budget.spent.epsilon == pytest.approx(expected["spent"]["epsilon"], rel=1e-12)
    assert db.budget.spent.delta == pytest.approx(expected["spent"]["delta"], rel=1e-12)
    assert dict(db.budget.used) == pytest.approx(expected["used"], rel=1e-12)


def test_every_question_is_answered_again_free_and_with_its_digits(written):
    db, expected = written
    for question, rows in zip(QUESTIONS, expected["answers"], strict=True):
        answer = db.sql(question["text"], **question["options"])
        assert answer.receipt.reused, question["text"]
        assert answer.arrow().to_pylist() == rows, question["text"]
    assert db.budget.queries == expected["charges"]


def test_a_new_question_is_charged_on_top(written):
    db, expected = written
    db.sql("SELECT COUNT(*) AS n FROM customers WHERE age > 70", epsilon=0.5, mechanism="laplace")
    assert db.budget.queries == expected["charges"] + 1
    assert db.budget.used["pure"] > expected["used"]["pure"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_chain_holds_and_the_history_names_every_question(tmp_path, version):
    shutil.copy(WRITTEN / f"{version}.ledger", tmp_path / "shop.ledger")
    policy = load_catalog(WRITTEN / "shop.yaml").budget
    with closing(open_ledger(tmp_path / "shop.ledger", dataset="shop", policy=policy)) as ledger:
        assert ledger.verify().charges == len(QUESTIONS)
        answered = [entry.question for entry in ledger.history() if entry.status == "answered"]
    assert answered == [question["text"] for question in QUESTIONS]
