"""`%%hedgerow` in IPython's own shell."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import hedgerow as hr

STATEMENTS = ["CREATE TABLE people AS SELECT i AS id, i % 90 AS age FROM range(900) r(i)"]
TABLES = "people: {unit: id, unit_unique: true}"


@pytest.fixture(scope="module")
def db(build_once):
    return build_once(STATEMENTS, TABLES)


@pytest.fixture(scope="module")
def ipython():
    """One shell, without a history in the user's home."""
    return InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))


@pytest.fixture
def shell(ipython, db):
    """A notebook in which the magic was just loaded, beside variables."""
    ipython.user_ns |= {"db": db, "age": 60, "other": "not asked for"}
    ipython.run_line_magic("reload_ext", "hedgerow")
    return ipython


def test_a_cell_is_asked_paid_for_and_assigned(shell, db):
    before = db.budget.queries
    answer = shell.run_cell_magic("hedgerow", "--db db --epsilon 0.5 -o old", "SELECT COUNT(*) AS n FROM people;")
    assert shell.user_ns["old"] is answer
    assert answer.receipt.charge.epsilon == 0.5
    assert db.budget.queries == before + 1


def test_a_line_is_asked_of_the_database_that_was_named_last(shell):
    shell.run_line_magic("hedgerow", "--db db")
    answer = shell.run_line_magic("hedgerow", "--confidence 0.9 SELECT COUNT(*) AS n FROM people WHERE age > 5")
    assert answer.confidence == 0.9


def test_a_quote_is_free(shell, db):
    before = db.budget.queries
    quote = shell.run_cell_magic("hedgerow", "--db=db --quote --within '5%@1000'", "SELECT COUNT(*) FROM people")
    assert isinstance(quote, hr.Quote)
    assert db.budget.queries == before


def test_variables_are_passed_as_parameters_and_no_others_reach_the_history(shell, db):
    shell.run_cell_magic("hedgerow", "--db db", "SELECT COUNT(*) AS n FROM people WHERE age >= :age AND age < 88")
    assert db.budget.history[-1].params == {"age": 60}


def test_a_variable_that_does_not_exist_is_refused_with_its_place(shell):
    with pytest.raises(hr.HedgerowError) as caught:
        shell.run_cell_magic("hedgerow", "--db db", "SELECT COUNT(*) FROM people WHERE age > :nothing")
    assert caught.value.span is not None


def test_the_project_in_the_folder_is_asked_without_a_name(shell, db, monkeypatch):
    (db.place / "hedgerow.toml").write_text('[project]\ndatabase = "data.duckdb"\ncatalog = "data.yaml"\n')
    monkeypatch.chdir(db.place)
    opened = shell.run_line_magic("hedgerow", "")
    assert [table.name for table in opened.tables] == ["people"]
    opened.close()


def test_a_database_is_opened_by_its_path(shell, db):
    opened = shell.run_line_magic("hedgerow", f"--db {db.place / 'data.duckdb'} --catalog {db.place / 'data.yaml'}")
    assert opened is not db
    assert len(opened.tables) == 1
    opened.close()


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("--oops", "SELECT 1", "There is no option --oops."),
        ("--epsilon", "SELECT 1", "The option --epsilon has no value."),
        ("--db db --epsilon much", "SELECT 1", "--epsilon takes a number, not 'much'."),
        ("--db db SELECT 2", "SELECT 1", "'SELECT 2' is not an option; the statement belongs in the lines below."),
        ("--db nothing", "SELECT 1", "No variable 'nothing' holds a database."),
    ],
)
def test_a_mistake_in_the_options_is_told_in_words(shell, line, cell, said):
    with pytest.raises(hr.ParameterError) as caught:
        shell.run_cell_magic("hedgerow", line, cell)
    assert (caught.value.code, caught.value.message) == ("bad-magic", said)


def test_a_refusal_in_a_cell_is_a_box(shell, capsys):
    shell.run_cell("%%hedgerow --db db\nSELECT name FROM people")
    printed = capsys.readouterr().out
    assert "unknown-column" in printed
    assert "1 | SELECT name FROM people" in printed
    assert "Traceback" not in printed
    assert len(printed.splitlines()) < 10


def test_the_help_of_the_magic_lists_every_option(shell):
    from hedgerow import magic  # noqa: PLC0415 - the module under test, by name

    for option in (*magic.OPTIONS, "db", "catalog", "quote"):
        assert f"--{option.replace('_', '-')}" in magic.HedgerowMagic.hedgerow.__doc__
