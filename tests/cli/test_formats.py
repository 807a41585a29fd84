"""Answers in the formats of other programs, with their intervals; statements from files, with parameters."""

import csv
import io
import json

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from hedgerow.answer import Answer, Summary
from hedgerow.cli.query import FORMATS
from hedgerow.error_bars.intervals.interval import Interval

BY_REGION = "SELECT region, COUNT(*) AS n FROM customers GROUP BY region ORDER BY region"
COLUMNS = ["region", "n", "n_lower", "n_upper", "n_note"]


def ask(run, shop, *words):
    return run("query", BY_REGION, *shop.options, "--epsilon", "1", *words)


def test_the_ending_of_a_file_names_its_format(run, shop, tmp_path):
    for ending in ("txt", "json", "csv", "parquet", "arrow", "feather", "md", "html", "xlsx"):
        assert ask(run, shop, "-o", str(tmp_path / f"answer.{ending}")).exit_code == 0
    rows = list(csv.reader(io.StringIO((tmp_path / "answer.csv").read_text())))
    assert rows[0] == COLUMNS
    assert [row[0] for row in rows[1:]] == ["mars", "north", "south"]
    assert parquet.read_table(tmp_path / "answer.parquet").column_names == COLUMNS
    for name in ("answer.arrow", "answer.feather"):
        with pa.memory_map(str(tmp_path / name)) as source:
            assert ipc.open_file(source).read_all().column_names == COLUMNS
    assert (tmp_path / "answer.md").read_text().startswith("| region | n | n_lower | n_upper | n_note |\n| --- |")
    assert "<table " in (tmp_path / "answer.html").read_text()
    sheet = openpyxl.load_workbook(tmp_path / "answer.xlsx").active
    assert [cell.value for cell in next(sheet.iter_rows())] == COLUMNS
    assert json.loads((tmp_path / "answer.json").read_text())["columns"] == ["region", "n"]
    assert "± at 0.95 confidence" in (tmp_path / "answer.txt").read_text()


def test_a_format_is_written_to_standard_output(run, shop):
    assert ask(run, shop, "--format", "csv").stdout.startswith('"region","n","n_lower"')
    assert ask(run, shop, "--format", "json").stdout == ask(run, shop, "--json").stdout
    assert ask(run, shop, "--format", "markdown").stdout.startswith("| region |")


@pytest.mark.parametrize(
    "words",
    [
        ("--format", "pdf"),
        ("-o", "answer.pdf"),
        ("-o", "answer"),
        ("-o", "nowhere/answer.csv"),
        ("--json", "--format", "csv"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_charged(run, run_json, shop, words):
    assert ask(run, shop, *words).exit_code == 2
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0


def test_a_text_is_no_formula_in_a_workbook_and_no_column_in_markdown(build_answer):
    answer = build_answer(["=1+1", "a|b", "<b>"])
    sheet = openpyxl.load_workbook(io.BytesIO(FORMATS["xlsx"](answer))).active
    assert [(cell.value, cell.data_type) for cell in next(sheet.iter_cols())][1] == ("=1+1", "s")
    lines = FORMATS["markdown"](answer).decode().splitlines()
    assert lines[3] == "| a\\|b |"
    assert lines[4] == "| &lt;b&gt; |"


@pytest.fixture
def build_answer():
    def build(keys):
        return Answer(pa.table({"key": keys}), [{}] * len(keys), 0.95, Summary(None, "SELECT key"))

    return build


def test_the_statements_of_a_file_are_asked_one_by_one(run, shop, tmp_path):
    file = tmp_path / "report.sql"
    file.write_text(f"{BY_REGION}; -- the next\nSELECT COUNT(*) AS people FROM customers;")
    result = run("query", "-f", str(file), *shop.options, "--epsilon", "0.5", "--format", "json")
    assert [json.loads(line)["columns"] for line in result.stdout.splitlines()] == [["region", "n"], ["people"]]
    assert run("query", "-f", str(file), *shop.options, "-o", str(tmp_path / "x.csv")).exit_code == 2
    assert run("query", BY_REGION, "-f", str(file), *shop.options).exit_code == 2
    assert run("query", *shop.options).exit_code == 2
    assert run("query", "-f", str(tmp_path / "missing.sql"), *shop.options).exit_code == 2


def test_parameters_are_given_by_name(run, run_json, shop):
    question = "SELECT COUNT(*) AS n FROM customers WHERE income > :low AND region = :region"
    words = ("--param", "low=1000", "--param", "region=north")
    assert run_json("query", question, *shop.options, *words)["columns"] == ["n"]
    assert run("quote", question, *shop.options, *words).exit_code == 0
    assert run("query", question, *shop.options, "--param", "low").exit_code == 2


@pytest.mark.parametrize("name", ["csv", "markdown", "json", "table"])
def test_a_count_is_a_whole_number_in_every_text(name):
    table = pa.table({"n": pa.array([12], pa.int64()), "mean": [2.5]})
    bars = [{"n": Interval(8.7, 15.3), "mean": Interval(2.25, 2.75)}]
    text = FORMATS[name](Answer(table, bars, 0.95, Summary("abc-1", "SELECT …"))).decode()
    expected = {
        "csv": "12,8,16,,2.5,2.25,2.75,",
        "markdown": "| 12 | 8 | 16 |  | 2.5 | 2.25 | 2.75 |  |",
        "json": '{"n": {"lower": 8.0, "upper": 16.0,',
        "table": "12 ± 4",
    }
    assert expected[name] in text
