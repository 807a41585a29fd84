"""The shell, from standard input and on a terminal."""

import json
import os
import stat
import subprocess
import sys

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import hedgerow as hr
from hedgerow.cli.errors import INTERRUPTED
from hedgerow.cli.prompt import FUNCTIONS, PromptTerminal, ShellCompleter, complete_sql, history_file, open_history
from hedgerow.cli.shell import converse
from hedgerow.cli.shell_session import COMMANDS, SETTINGS, ShellSession, inputs

COUNT = "SELECT COUNT(*) AS n FROM customers"


@pytest.fixture
def ask(run, shop):
    """Runs the shell with a text on standard input."""
    return lambda text, *words: run("shell", *shop.options, *words, stdin=text)


@pytest.fixture
def database(shop):
    with hr.connect(str(shop.database), catalog=shop.catalog) as opened:
        yield opened


@pytest.fixture
def session(database, shop):
    return ShellSession(database, str(shop.catalog))


def type_in(session, text, tmp_path):
    """Types a text into the shell's terminal, up to its end."""
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text(text)
        converse(session, PromptTerminal(session.database.tables, open_history(tmp_path / "state" / "history")))


def test_statements_and_commands_of_standard_input_run_one_after_the_other(ask):
    result = ask(f".tables\n{COUNT};\n.mode csv\nSELECT region, COUNT(*) AS n\nFROM customers\nGROUP BY region; .help")
    assert result.exit_code != 0
    assert result.stdout.startswith("customers\norders\ncountries (public)\n")
    assert "± at 0.95 confidence" in result.stdout
    assert '"region","n","n_lower","n_upper","n_note"' in result.stdout


def test_the_last_statement_of_standard_input_needs_no_semicolon(ask):
    result = ask(COUNT, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["columns"] == ["n"]


def test_a_text_of_the_command_line_runs_in_place_of_standard_input(ask):
    result = ask(COUNT, "-c", ".tables\n.mode")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:3] == ["customers", "orders", "countries (public)"]
    assert "±" not in result.stdout


def test_a_failure_is_shown_with_its_caret_and_the_next_statement_runs(ask):
    result = ask(f"SELECT nothing\nFROM customers;\n{COUNT};\n")
    assert result.exit_code == 2
    assert "  1 | SELECT nothing\n    |        ^^^^^^^" in result.stderr
    assert "± at" in result.stdout


def test_only_the_listed_commands_exist(ask):
    result = ask(".shell ls\n.help\n")
    assert result.exit_code == 2
    assert "There is no command .shell." in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()[: len(COMMANDS)]] == list(COMMANDS)


def test_a_misspelt_command_is_told_the_right_one(ask):
    assert "hint: Did you mean .tables?" in ask(".tabels\n").stderr


def test_hints_name_the_settings_of_the_shell(ask):
    """Options of the command line cannot be written here."""
    result = ask(f"SELECT AVG(number) FROM orders;\n{COUNT};\n.export answer.foo\n")
    assert "Write .set bounds auto, or write CLIP" in result.stderr
    assert "Choose an extension such as .csv" in result.stderr
    assert "--format" not in result.stderr
    assert "--bounds" not in result.stderr


def test_schema_shows_types_bounds_and_keys_of_one_table(ask):
    result = ask(".schema customers\n.schema nowhere")
    shown = result.stdout
    assert "0 to 100000" in shown
    assert "north, south, mars" in shown
    assert "orders" not in shown
    assert "There is no table 'nowhere'." in result.stderr


def test_quote_is_free_and_takes_the_last_statement_by_default(ask, run_json, shop):
    result = ask(f".quote\n.quote {COUNT};\n.quote\n")
    assert result.stdout.count("price      epsilon 0.5") == 2
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0
    assert "There is no statement to quote yet." in result.stderr


def test_budget_and_history_show_what_was_charged(ask):
    result = ask(f".history\n{COUNT};\n.budget\n.history\n")
    assert result.stdout.startswith("Nothing was charged yet.\n")
    assert "epsilon 0.5" in result.stdout
    assert COUNT in result.stdout.splitlines()[-1]


def test_settings_hold_for_the_statements_after_them(ask):
    result = ask(f".set epsilon 0.25\n.set\n{COUNT};\n.set epsilon default\nSELECT COUNT(*) FROM orders;")
    assert "epsilon 0.25, delta 1e-08" in result.stdout
    assert "epsilon 0.5, delta 1e-08" in result.stdout
    shown = [line.split()[0] for line in result.stdout.splitlines() if line.partition(" ")[0] in SETTINGS]
    assert shown == list(SETTINGS)


def test_a_setting_that_cannot_be_is_refused(ask):
    words = ["nothing 1", "nothing", "epsilon much", "max_rows 1.5", "confirm 7"]
    result = ask("".join(f".set {setting}\n" for setting in words))
    assert result.exit_code == 2
    assert result.stderr.count("error [usage]") == len(words)


def test_binary_formats_are_for_files(ask, tmp_path):
    file = tmp_path / "answer.json"
    result = ask(f".mode parquet\n.mode nothing\n.export\n.export {file}\n.mode\n{COUNT};\n.export {file}\n")
    assert result.stderr.count("error [usage]") == 4
    assert result.stdout.startswith("table (of table, json")
    assert json.loads(file.read_text())["columns"] == ["n"]


def test_read_runs_a_file_and_a_file_that_reads_itself_ends(ask, tmp_path):
    file = tmp_path / "file.sql"
    file.write_text(f"{COUNT};\n.read {file}\n")
    result = ask(f".read {file}\n.read nowhere.sql\n.read\n")
    assert result.stdout.count("free: answered before") == 9
    assert "read each other too deeply" in result.stderr
    assert "nowhere.sql cannot be read" in result.stderr
    assert "Name a file of statements." in result.stderr


def test_nothing_runs_after_quit(ask):
    assert ask(f".quit\n{COUNT};").stdout == ""


def test_the_price_is_shown_where_nobody_can_be_asked(ask):
    result = ask(f".set confirm on\n{COUNT};\n{COUNT};")
    assert result.stderr.count("price epsilon 0.5, delta 1e-08") == 1
    assert result.stdout.count("± at") == 2


def test_the_project_sets_price_and_confirmation(ask, shop, monkeypatch):
    (shop.folder / "hedgerow.toml").write_text("[defaults]\nepsilon = 0.125\n[shell]\nconfirm = true\n")
    monkeypatch.chdir(shop.folder)
    result = ask(f"{COUNT};")
    assert "price epsilon 0.125" in result.stderr
    (shop.folder / "hedgerow.toml").write_text("[shell]\nconfirm = 1\n")
    assert ask(COUNT).exit_code == 2


def test_a_semicolon_ends_a_statement_on_a_terminal_and_so_does_an_empty_line(session, tmp_path, capsys):
    type_in(session, "SELECT COUNT(*) AS n\nFROM customers;\nSELECT COUNT(*) AS m\nFROM orders\n\n.quit\n", tmp_path)
    shown = capsys.readouterr().out
    assert "┃" in shown
    assert session.statement == "SELECT COUNT(*) AS m\nFROM orders"
    assert session.database.budget.queries == 2


def test_the_price_is_asked_for_on_a_terminal(session, tmp_path):
    type_in(session, f".set confirm on\n{COUNT};\nn\n{COUNT};\n\x04\x04", tmp_path)
    assert session.database.budget.queries == 0
    assert session.status == 0
    type_in(session, f"{COUNT};\ny\n{COUNT};\n\x04", tmp_path)
    assert session.database.budget.queries == 1
    assert session.answer is not None


def test_control_c_clears_the_line_and_control_d_leaves(session, tmp_path):
    type_in(session, f"SELECT nothing\x03{COUNT};\n\x04", tmp_path)
    assert session.database.budget.queries == 1
    assert session.status == 0


@pytest.mark.usefixtures("interrupted")
def test_control_c_stops_the_running_statement_and_keeps_the_shell(session, tmp_path, capsys):
    type_in(session, f"{COUNT};\n.mode csv\n{COUNT};\n\x04", tmp_path)
    assert session.status == INTERRUPTED
    shown = capsys.readouterr()
    assert "Stopped. The question had been charged" in shown.err
    assert shown.out.startswith('"n","n_lower"')
    assert session.database.budget.queries == 1


def test_the_history_keeps_what_was_typed_for_its_user_alone(session, tmp_path):
    type_in(session, f"{COUNT};\n\x04", tmp_path)
    file = tmp_path / "state" / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    assert lines == [f"+{COUNT};"]


def test_the_history_is_in_the_state_folder_or_in_memory(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "hedgerow" / "shell_history"
    (tmp_path / "file").write_text("")
    assert type(open_history(tmp_path / "file" / "history")).__name__ == "InMemoryHistory"


def completions(database, text):
    return [candidate.text for candidate in complete_sql(text, text, database.tables)]


def test_tables_columns_keys_and_functions_are_completed(database):
    assert completions(database, "SELECT COUNT(*) FROM cu") == ["customers"]
    assert completions(database, "SELECT COUNT(*) FROM ") == ["customers", "orders", "countries"]
    assert completions(database, "SELECT COUNT(*) FROM customers AS c WHERE c.") == ["id", "region", "income"]
    assert completions(database, "SELECT COUNT(*) FROM customers AS c WHERE c.r") == ["region"]
    assert completions(database, "SELECT COUNT(*) FROM customers WHERE region = '") == ["north'", "south'", "mars'"]
    assert completions(database, "SELECT COUNT(*) FROM customers WHERE region IN ('mars', 'n") == ["north'"]
    assert completions(database, "SELECT COUNT(*) FROM orders WHERE city = '") == []
    assert completions(database, "SELECT COUNT(*) FROM customers WHERE region = 'south' AND inc") == ["income"]
    assert completions(database, "SELECT quantil") == ["QUANTILE(", "QUANTILE_CONT(", "QUANTILE_DISC("]
    assert completions(database, "sel") == ["SELECT"]


def test_commands_and_their_arguments_are_completed(database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.sql").write_text("")
    completer = ShellCompleter(database.tables)

    def typed(text):
        return [completion.text for completion in completer.get_completions(Document(text), CompleteEvent())]

    assert typed(".sch") == [".schema"]
    assert typed(".schema o") == ["orders"]
    assert typed(".mode mark") == ["markdown"]
    assert typed(".set conf") == ["confidence", "confirm"]
    assert typed(".set confirm o") == ["on", "off"]
    assert typed(".set epsilon ") == ["default"]
    assert typed(".quote SELECT COUNT(*) FROM ord") == ["orders"]
    assert typed(".read fi") == ["le.sql"]
    assert typed("SELECT COUNT(*) FROM ord") == ["orders"]


def test_completed_functions_are_on_the_page(request):
    page = (request.config.rootpath / "docs" / "reference" / "sql.md").read_text(encoding="utf-8").upper()
    assert [name for name in FUNCTIONS if name not in page] == []


def test_inputs_are_lines_with_a_dot_and_statements():
    text = ".tables\nSELECT ';'\n-- one;\n.5;\n  .mode csv\nSELECT 2"
    assert list(inputs(text.splitlines(keepends=True))) == [
        ".tables\n",
        "SELECT ';'\n-- one;\n.5;\n",
        "  .mode csv\n",
        "SELECT 2",
    ]


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_hedgerow_alone_on_a_terminal_is_the_shell(shop):
    import pty  # noqa: PLC0415 - not on every system

    (shop.folder / "hedgerow.toml").write_text('[project]\ndatabase = "shop.duckdb"\ncatalog = "shop.yaml"\n')
    ours, theirs = pty.openpty()
    environment = {**os.environ, "XDG_STATE_HOME": str(shop.folder), "PROMPT_TOOLKIT_NO_CPR": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "hedgerow"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=shop.folder, env=environment
    ) as process:
        os.close(theirs)
        seen = b""
        while b"hedgerow>" not in seen:
            seen += os.read(ours, 4096)
        os.write(ours, b".tables\r.quit\r")
        while b"countries (public)" not in seen:
            seen += os.read(ours, 4096)
        assert process.wait(60) == 0
    os.close(ours)
    assert b"epsilon 3 of 3 left" in seen
