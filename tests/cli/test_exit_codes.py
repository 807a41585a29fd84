"""Every exit code of the interface, by people's output and by JSON."""

import json
import re
from pathlib import Path

import pytest

from hedgerow import errors
from hedgerow.cli.errors import guarded
from hedgerow.errors import ConditionNotMet, HedgerowError

ROOT = Path(__file__).parents[2]

COUNT = "SELECT COUNT(*) FROM customers"

CASES = [
    ("UnsupportedSQLError", 1, ["query", "SELECT * FROM customers"]),
    ("UnsupportedSQLError", 1, ["query", "SELECT id, COUNT(*) FROM customers GROUP BY id"]),
    ("UnsupportedSQLError", 1, ["quote", "DROP TABLE customers"]),
    ("PolicyError", 1, ["query", COUNT, "--min-frequency", "2"]),
    ("PolicyError", 1, ["query", "SELECT COUNT(*) FROM orders", "--max-rows", "11"]),
    ("BudgetError", 1, ["query", COUNT, "--epsilon", "50"]),
    ("BudgetError", 1, ["query", COUNT, "--mechanism", "laplace", "--epsilon", "5"]),
    ("ParseError", 2, ["query", "SELECT COUNT(* FROM customers"]),
    ("UnknownNameError", 2, ["query", "SELECT COUNT(*) FROM nowhere"]),
    ("ParameterError", 2, ["query", COUNT, "--epsilon", "0"]),
    ("ParameterError", 2, ["query", COUNT, "--epsilon", "nan"]),
    ("ParameterError", 2, ["query", COUNT, "--delta", "1"]),
    ("ParameterError", 2, ["query", COUNT, "--confidence", "95"]),
    ("ParameterError", 2, ["query", COUNT, "--mechanism", "magic"]),
    ("ParameterError", 2, ["query", COUNT, "--dialect", "klingon"]),
    ("UsageError", 2, ["query", COUNT, "--nonsense"]),
    ("UsageError", 2, ["query", COUNT, "--epsilon", "much"]),
    ("UsageError", 2, ["query"]),
]


@pytest.mark.parametrize(("kind", "code", "words"), CASES)
def test_each_failure_has_its_exit_code_and_its_json(run, shop, kind, code, words):
    result = run(*words, *shop.options, "--json")
    assert result.exit_code == code
    assert list(json.loads(result.stdout)) == ["error"]
    error = json.loads(result.stdout)["error"]
    assert list(error) == ["type", "code", "message", "hint", "span", "rewrite", "charged", "receipt", "repeatable"]
    assert (error["charged"], error["receipt"]) == (False, None)
    assert error["type"] == kind
    assert error["message"]


@pytest.mark.parametrize(("kind", "code", "words"), CASES)
def test_people_get_the_same_code_and_words_on_standard_error(run, shop, kind, code, words):
    result = run(*words, *shop.options)
    assert result.exit_code == code
    assert not result.stdout
    assert result.stderr.count("refused [" if code == 1 else "error [") == 1


def test_a_refused_question_costs_nothing(run, run_json, shop):
    run("query", "SELECT * FROM customers", *shop.options)
    run("query", COUNT, *shop.options, "--epsilon", "50")
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0


def test_a_held_back_answer_is_an_answer(run, shop):
    result = run("query", f"{COUNT} WHERE id = 1", *shop.options)
    assert result.exit_code == 0
    assert "held back" in result.stdout


def test_an_unknown_command_is_wrong_usage(run):
    assert run("frobnicate").exit_code == 2
    assert run().exit_code == 2


def test_a_missing_option_is_wrong_usage(run):
    result = run("query", COUNT, "--json")
    assert result.exit_code == 2
    assert "--db" in json.loads(result.stdout)["error"]["hint"]


def test_a_missing_database_is_a_failure_of_the_database(run, shop):
    shop.database.unlink()
    result = run("query", COUNT, *shop.options, "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["error"]["code"] == "no-database"


def test_an_empty_ledger_is_a_failure_of_the_ledger(run, shop):
    shop.ledger.write_bytes(b"")
    result = run("query", COUNT, *shop.options, "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["error"]["type"] == "LedgerError"


def test_a_catalog_with_a_mistake_is_bad_input(run, shop):
    shop.rewrite("unit: id", "unti: id")
    result = run("query", COUNT, *shop.options, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "catalog-unknown-field"


def test_a_formula_outside_its_precondition_is_bad_input():
    def command():
        raise ConditionNotMet("The count is too small.", condition="count")

    assert guarded(command, as_json=False) == 2


def test_an_exception_that_is_not_ours_becomes_a_sentence_without_its_words(capsys):
    def command():
        raise ValueError("Ada Lovelace, 4711")

    assert guarded(command, as_json=True) == 3
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    assert error["type"] == "InternalError"
    assert "incident" in error["message"]
    assert guarded(command, as_json=False) == 3
    shown = capsys.readouterr()
    assert "incident" in shown.err
    assert "4711" not in shown.out + shown.err
    assert "Lovelace" not in shown.out + shown.err


def test_being_interrupted_is_no_bug(capsys):
    def command():
        raise KeyboardInterrupt

    assert guarded(command, as_json=False) == 130
    assert "Stopped." in capsys.readouterr().err


NEEDED = {ConditionNotMet: {"condition": "count"}, errors.ApprovalError: {"request_id": "1f2e"}}
"""Arguments without which an error cannot be made."""


def test_every_kind_of_error_ends_with_the_code_that_the_reference_states():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (.*) \|$", page, re.MULTILINE)
    stated = {name: int(code) for code, text in rows for name in re.findall(r"`(\w+(?:Error|NotMet))`", text)}
    kinds, by_name = [HedgerowError], {}
    while kinds:
        kind = kinds.pop()
        kinds += [below for below in kind.__subclasses__() if below.__module__ == "hedgerow.errors"]
        if not kind.__subclasses__():
            by_name[kind.__name__] = kind.exit_code
    assert stated.items() >= by_name.items()
    for name, code in stated.items():
        error = getattr(errors, name)

        def command(error=error):
            raise error("It failed.", **NEEDED.get(error, {}))

        assert guarded(command, as_json=True) == code
