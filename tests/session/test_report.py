"""The report file: names, wanted errors, weights, titles and texts; and errors that name their line."""

import pytest

import hedgerow as hr
from hedgerow.execution.request import ErrorTarget

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
