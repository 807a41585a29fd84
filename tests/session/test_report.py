"""The report file: names, wanted errors, weights, titles and texts; and errors that name their line."""

import pytest

import hedgerow as hr
from hedgerow.execution.request import ErrorTarget
from hedgerow.session.report import ReportQuery

TEXT = """
-- A comment.
-- title: Visits of the year
-- text: All wards,
-- text: all regions.

-- name: visits_by_ward
-- title: Visits by ward
-- weight: 2.5
SELECT ward, COUNT(*) FROM visits -- weighty; a comment
GROUP BY ward;

-- within 5%@1000
-- name: people
-- text: They are
-- text: many.
SELECT COUNT(*) FROM patients;
SELECT ';' AS semicolon
"""


def test_a_report_is_read():
    report = hr.Report.parse(TEXT)
    assert (report.title, report.text) == ("Visits of the year", "All wards, all regions.")
    first, second, third = report.queries
    assert (first.name, first.title, first.weight, first.within, first.line) == (
        "visits_by_ward",
        "Visits by ward",
        2.5,
        None,
        10,
    )
    assert first.sql.endswith("GROUP BY ward")
    assert second.within == ErrorTarget(0.05, size=1000)
    assert (second.name, second.text, second.weight) == ("people", "They are many.", 1.0)
    assert (third.name, third.sql, third.line) == ("query_3", "SELECT ';' AS semicolon", 18)


def test_a_report_is_read_from_a_file(tmp_path):
    path = tmp_path / "report.sql"
    path.write_text("\ufeff" + TEXT, encoding="utf-8")
    assert hr.Report.read(path).queries == hr.Report.parse(TEXT).queries
    with pytest.raises(hr.ParameterError) as refused:
        hr.Report.read(tmp_path / "none.sql")
    assert refused.value.code == "report-unreadable"


def test_a_title_below_the_first_name_is_that_of_the_query():
    report = hr.Report.parse("-- name: one\n-- title: First\nSELECT 1;")
    assert (report.title, report.queries[0].title) == ("", "First")


@pytest.mark.parametrize(
    "text", ["-- within 5%\n-- weight 2\n", "-- within: 5%\r\n-- weight: 2\r\n", "--Within 5%\n--WEIGHT:2\n"]
)
def test_a_colon_and_capitals_make_no_difference(text):
    [query] = hr.Report.parse(f"-- Name: one\n{text}SELECT 1;").queries
    assert (query.name, query.within, query.weight) == ("one", ErrorTarget(0.05), 2.0)


@pytest.mark.parametrize("comment", ["Within the year", "Weight of the patients", "named after", "title of it"])
def test_prose_is_a_comment(comment):
    [query] = hr.Report.parse(f"-- {comment}\nSELECT 1;").queries
    assert (query.name, query.within, query.weight, query.title) == ("query_1", None, 1.0, "")


def test_a_report_can_be_written_and_read_again():
    """A comment at the end of a statement, and line feeds in a text, which a service gets from a client."""
    queries = (
        ReportQuery("one", "SELECT 1 -- the first", ErrorTarget(0.05, size=1000), 2.0, "A\ntitle"),
        ReportQuery("two", "SELECT 2;", text="Nothing\n-- name: three"),
    )
    again = hr.Report.parse(hr.Report(queries, "All").to_text())
    assert (again.title, [query.name for query in again.queries]) == ("All", ["one", "two"])
    assert [query.sql for query in again.queries] == ["SELECT 1", "SELECT 2"]
    assert (again.queries[0].within, again.queries[0].weight) == (queries[0].within, 2.0)
    assert [again.queries[0].title, again.queries[1].text] == ["A title", "Nothing -- name: three"]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("-- nothing", "report-empty", None),
        ("-- name: a b\nSELECT 1", "report-name", 1),
        ("-- name: 1a\nSELECT 1", "report-name", 1),
        ("-- name: a\nSELECT 1;\n-- name: A\nSELECT 2", "report-name", 3),
        ("-- name: query_2\nSELECT 1;\nSELECT 2", "report-name", 3),
        ("-- name:\nSELECT 1", "report-directive", 1),
        ("SELECT 1;\n-- name: a\n-- name: b\nSELECT 2", "report-directive", 3),
        ("SELECT\n-- within 5%\n1", "report-directive", 2),
        ("SELECT 1;\n\n-- weight 2\n", "report-directive", 3),
        ("SELECT 1\n-- within 5%\n;\nSELECT 2", "report-directive", 2),
        ("SELECT 1; -- within 5%\nSELECT 2", "report-directive", 1),
        ("SELECT 1 -- within 5%\n;\nSELECT 2", "report-directive", 1),
        ("SELECT 1;\nSELECT 2 -- name: b", "report-directive", 2),
        ("SELECT 1; -- title: The second\nSELECT 2", "report-directive", 1),
        ("-- within much\nSELECT 1", "bad-within", 1),
        ("-- within 5\nSELECT 1", "bad-within", 1),
        ("\n-- weight heavy\nSELECT 1", "bad-weight", 2),
        ("-- weight -1\nSELECT 1", "bad-weight", 1),
        ("-- weight nan\nSELECT 1", "bad-weight", 1),
    ],
)
def test_an_error_names_its_line(text, code, line):
    with pytest.raises(hr.ParameterError) as refused:
        hr.Report.parse(text)
    assert refused.value.code == code
    if line is not None:
        assert refused.value.span.line == line
        assert refused.value.message.startswith(f"Line {line}: ")
        assert f"{line} | " in str(refused.value)
