"""The demo from end to end, as people run it."""

import json
import re
import shlex
import shutil
from collections import Counter

import pytest
from scipy import stats
from typer.testing import CliRunner

import hedgerow as hr
from hedgerow.cli import app
from hedgerow.demo import STORY

FALSE_ALARM = 1e-9


def run(*words, width=80):
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": str(width)})
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "demo"


@pytest.fixture(scope="module")
def summary(folder):
    result = run("demo", "--folder", folder, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def page(folder, summary):
    result = run("demo", "--folder", folder, "--force", width=80)
    assert result.exit_code == 0
    return result.stdout


def test_the_summary_holds_every_question_with_both_answers(summary):
    assert list(summary) == ["files", "rows", "queries", "refused", "error_bars", "budget"]
    assert [query["query"] for query in summary["queries"]] == [chapter.query for chapter in STORY]
    for query in summary["queries"]:
        assert list(query) == ["title", "query", "quote", "answer", "exact", "bounded"]
        assert query["answer"]["columns"]
        assert query["exact"]
        assert query["bounded"]
    assert sum(query["quote"] is not None for query in summary["queries"]) == 1


def test_the_private_count_is_close_to_the_exact_one(summary):
    answer, exact = summary["queries"][0]["answer"]["rows"][0][0], summary["queries"][0]["exact"][0][0]
    assert exact == 60_000
    assert answer == pytest.approx(exact, abs=1000)


def test_a_rare_group_is_missing_and_a_small_one_held_back(summary):
    answer, exact = summary["queries"][2]["answer"], summary["queries"][2]["exact"]
    assert {row[0] for row in exact} - {row[0] for row in answer["rows"]} == {"leprosy"}
    assert summary["queries"][4]["answer"]["rows"] == [[None, None]]


def test_the_refused_question_teaches_and_costs_nothing(summary):
    assert summary["refused"]["error"]["type"] == "UnsupportedSQLError"
    assert summary["refused"]["error"]["hint"]
    charged = [query for query in summary["queries"] if query["answer"]["id"] is not None]
    assert summary["budget"]["queries"] == len(charged) == 6


@pytest.fixture(scope="module")
def wide(folder, summary, tmp_path_factory):
    """The hospital with the limits of its catalog and a budget that lets next to no noise be asked for."""
    catalog = tmp_path_factory.mktemp("wide") / "hospital.yaml"
    database_file = shutil.copy(folder / "hospital.duckdb", catalog.parent)
    text = (folder / "hospital.yaml").read_text()
    budget = "budget: {epsilon: 100000, delta: 0.1}\ndefaults:"
    catalog.write_text(re.sub(r"^budget:.*?^defaults:", budget, text, flags=re.MULTILINE | re.DOTALL))
    with hr.connect(database_file, catalog=catalog) as database:
        yield database


def test_the_bounded_answer_is_what_the_noise_is_added_to(summary, wide):
    """At epsilon 1000 a count is off by 3 rows once in 10^10 times; the limits move it by up to 120."""
    for chapter, query in zip(STORY, summary["queries"], strict=True):
        answer = wide.sql(chapter.query, epsilon=1000, confidence=1 - 1e-11)
        bounded = {tuple(row[: chapter.keys]): row for row in query["bounded"]}
        for row, interval in zip(answer, answer.intervals, strict=True):
            for name, bar in interval.items():
                value = bounded[tuple(row)[: chapter.keys]][answer.columns.index(name)]
                assert row[answer.columns.index(name)] is None or bar.lower <= value <= bar.upper
    moved = summary["queries"][2]
    exact = {row[0]: row[1] for row in moved["exact"]}
    assert max(exact[row[0]] - row[1] for row in moved["bounded"]) > 100


@pytest.mark.slow
def test_each_bar_holds_the_bounded_answer_as_often_as_promised(summary, wide):
    chapter, runs = STORY[2], 300
    bounded = {row[0]: row for row in summary["queries"][2]["bounded"]}
    held = Counter()
    for _ in range(runs):
        answer = wide.sql(chapter.query, epsilon=chapter.epsilon, reuse=False)
        for row, interval in zip(answer, answer.intervals, strict=True):
            for name, bar in interval.items():
                value = bounded[row.diagnosis][answer.columns.index(name)]
                held[row.diagnosis, name] += bar.lower <= value <= bar.upper
    assert len(held) == 24
    assert all(stats.binom.cdf(count, runs, 0.95) > FALSE_ALARM / 24 for count in held.values())


def test_most_error_bars_hold(summary):
    bars = summary["error_bars"]
    assert bars["count"] > 30
    assert bars["held"] > 0.5 * bars["count"]
    assert bars["held_without_limits"] <= bars["count"]


def held(query, keys, truth):
    """Return the number of error bars of a question that hold the numbers of `truth`; an end that is None is open."""
    answer = query["answer"]
    rows = {tuple(row[:keys]): dict(zip(answer["columns"], row, strict=True)) for row in query[truth]}
    return sum(
        (bar["lower"] is None or bar["lower"] <= rows[tuple(row[:keys])][name])
        and (bar["upper"] is None or rows[tuple(row[:keys])][name] <= bar["upper"])
        for row, interval in zip(answer["rows"], answer["intervals"], strict=True)
        for name, bar in interval.items()
        if row[answer["columns"].index(name)] is not None
    )


def test_error_bars_are_compared_with_the_answer_over_bounded_data(summary):
    pairs = [(chapter.keys, query) for chapter, query in zip(STORY, summary["queries"], strict=True)]
    assert summary["error_bars"]["held"] == sum(held(query, keys, "bounded") for keys, query in pairs)
    assert summary["error_bars"]["held_without_limits"] == sum(held(query, keys, "exact") for keys, query in pairs)


def test_a_second_demo_needs_force_and_then_begins_afresh(folder, summary, page):
    refused = run("demo", "--folder", folder)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    actual = json.loads(run("budget", "--catalog", folder / "hospital.yaml", "--json").stdout)
    assert actual["queries"] == 6


def test_the_page_tells_the_whole_story(page):
    for chapter in STORY:
        assert chapter.title in page
    for words in (
        "exact",
        "only the owner could",
        "the quote:",
        "not shown",
        "held back",
        "refused:",
        "^",
        "more questions like the last one",
        "█",
    ):
        assert words in " ".join(page.split())


def test_the_page_fits_eighty_columns_but_for_the_lines_to_copy(page):
    wide = [line for line in page.splitlines() if len(line) > 80]
    assert wide
    assert all(line.startswith(("hedgerow ", "cd ")) for line in wide)


def test_the_lines_at_the_end_run_as_they_stand(page):
    lines = [line for line in page.splitlines() if line.startswith("hedgerow ")]
    assert len(lines) >= 3
    for line in lines:
        result = run(*shlex.split(line)[1:])
        assert result.exit_code == 0, result.output


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("")
    assert run("demo", "--folder", tmp_path / "file" / "demo").exit_code == 2
