"""The files of a release: harmless, complete, the same each time, and written as a whole or not at all."""

import csv
import io
import json
import math
import os
import shutil
import stat
import xml.etree.ElementTree as ET
from datetime import UTC, date, datetime, timedelta, timezone
from html.parser import HTMLParser

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.publication.conftest import QUERIES

import hedgerow as hr
from hedgerow.answer import NoteKind, notes
from hedgerow.backends.connect import connect_backend
from hedgerow.errors import ParameterError, UnsupportedSQLError
from hedgerow.publication.charts import LETTER, WIDTH, _place
from hedgerow.publication.data import data_table, harmless
from hedgerow.publication.folder import write_folder
from hedgerow.publication.keys import new_key, public_file, read_key, read_public_key
from hedgerow.publication.page import STYLE
from hedgerow.publication.verification import verify_folder


def rows_of(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_every_number_has_its_interval_margin_and_kind(release, town):
    answer = town.report().tables[0].answer
    head, *rows = rows_of(release / "data" / "by-street.csv")
    assert head[:7] == ["'=street", "n", "n_lower", "n_upper", "n_margin", "n_kind", "n_note"]
    for row, value, bars in zip(rows, answer["n"], answer.intervals, strict=True):
        if value is None:
            assert row[1:5] == ["", "", "", ""]
            continue
        lower, upper, margin = map(float, row[2:5])
        assert (int(row[1]), row[5]) == (value, bars["n"].kind)
        assert lower <= bars["n"].lower
        assert upper >= bars["n"].upper
        assert margin == max(upper - value, value - lower)


def test_parquet_and_csv_hold_the_same(release):
    for path in (release / "data").glob("*.csv"):
        table = pq.read_table(path.with_suffix(".parquet"))
        head, *rows = rows_of(path)
        assert [harmless(name) for name in table.column_names] == head
        for name, column in zip(table.column_names, zip(*rows, strict=True), strict=True):
            expected = ["" if value is None else value for value in table[name].to_pylist()]
            shown = [harmless(e) if isinstance(e, str) else e for e in expected]
            assert [str(value) if isinstance(value, str) else float(value) for value in shown] == [
                text if isinstance(value, str) else float(text) for text, value in zip(column, shown, strict=True)
            ]


def test_a_held_back_group_and_an_open_end_are_empty(town):
    report = town.report({"by_street": "SELECT street, AVG(age) AS a FROM people GROUP BY street"})
    table = data_table(report.tables[0].answer).values
    held = dict(zip(table["street"].to_pylist(), table.to_pylist(), strict=True))["nobody"]
    assert (held["a"], held["a_margin"], held["a_kind"]) == (None, None, "none")
    assert held["a_note"]


def test_statistics_that_compare_people_have_their_interval_and_p_value(town):
    query = "SELECT RELATIVE_RISK(age > 45, street = 'elm') AS risk FROM people"
    folder = town.publish("compared", town.report({"risk": query}))
    head, row = rows_of(folder / "data" / "risk.csv")
    shown = dict(zip(head, row, strict=True))
    assert float(shown["risk_population_lower"]) <= float(shown["risk"]) <= float(shown["risk_population_upper"])
    assert 0 <= float(shown["risk_p_value"]) <= 1
    assert "risk (population)" in (folder / "index.html").read_text(encoding="utf-8")


def test_no_cell_of_a_csv_file_begins_like_a_formula(release):
    for path in release.rglob("*.csv"):
        for row in rows_of(path):
            for cell in row:
                assert not cell.startswith(("=", "@", "\t", "\r"))
                if cell.startswith(("+", "-")):
                    float(cell)


def test_an_escaped_text_can_be_read_back():
    for text in ("=1", "'=1", "''", "-x", "plain", ""):
        escaped = harmless(text)
        assert (escaped.removeprefix("'")) == text


@pytest.mark.parametrize("text", [" =1", "\t@x", "\x0b=1", "\ufeff=1", "\uff1d1", "\uff0bx", "\n-1", "\r\n+1"])
def test_a_formula_after_white_space_or_in_full_width_letters_is_escaped(text):
    assert harmless(text) == f"'{text}"


def test_every_table_of_a_release_that_must_add_up_adds_up_exactly(town):
    queries = {
        "street": "SELECT street, COUNT(*) AS n FROM people GROUP BY street",
        "score": "SELECT score, COUNT(*) AS n FROM people GROUP BY score",
        "all": "SELECT COUNT(*) AS n FROM people",
    }
    release = town.db.publish(queries, town.folder / "sums", epsilon=2, add_up=True)
    assert (release.together, release.apart) == (("street", "score", "all"), ())
    totals = {
        name: [int(row[-6]) for row in rows_of(release.folder / "data" / f"{name}.csv")[1:] if row[-6]]
        for name in queries
    }
    assert len(totals["street"]) == len(totals["score"]) == 4
    assert sum(totals["street"]) == sum(totals["score"]) == totals["all"][0]
    page = (release.folder / "index.html").read_text(encoding="utf-8")
    assert "These tables were measured together, and add up to each other: Street, Score, All." in page
    assert verify_folder(release.folder).holds


def test_sums_of_values_in_the_data_files_add_up_to_the_last_bit(town):
    keys = {"street": "street", "score": "score", "both": "street, score", "all": ""}
    queries = {
        name: f"SELECT {by}{', ' if by else ''}SUM(age / 7) AS years FROM people{' GROUP BY ' + by if by else ''}"
        for name, by in keys.items()
    }
    folder = town.db.publish(queries, town.folder / "values", epsilon=2, add_up=True).folder / "data"
    with duckdb.connect() as engine:
        for form in ("csv", "parquet"):
            sums = [f"SELECT SUM(years) FROM '{folder / name}.{form}'" for name in keys]
            assert len({engine.execute(text).fetchone() for text in sums}) == 1
            by_street = engine.execute(
                f"SELECT COUNT(*), COUNT_IF(whole.years = added) FROM '{folder}/street.{form}' AS whole JOIN "
                f"(SELECT street, SUM(years) AS added FROM '{folder}/both.{form}' GROUP BY street) USING (street) "
                "WHERE whole.years IS NOT NULL"
            ).fetchall()
            assert by_street == [(4, 4)]
    numbers = {}
    for name in keys:
        head, *rows = rows_of(folder / f"{name}.csv")
        numbers[name] = [float(row[head.index("years")]) for row in rows if row[head.index("years")]]
    [whole] = numbers["all"]
    assert all(sum(values) == sum(reversed(values)) == math.fsum(values) == whole for values in numbers.values())


def test_only_tables_about_the_same_rows_are_said_to_be_apart(town):
    queries = {
        "street": "SELECT street, COUNT(*) AS n FROM people GROUP BY street",
        "moved": "SELECT moved, score, COUNT(*) AS n FROM people GROUP BY moved, score",
        "young": "SELECT COUNT(*) AS n FROM people WHERE age < 46",
        "again": "SELECT street, AVG(age) AS age FROM people GROUP BY street",
        "old": "SELECT street, AVG(age) AS age FROM people WHERE age > 46 GROUP BY street",
    }
    release = town.db.publish(queries, town.folder / "rows", epsilon=0.5)
    assert (release.together, release.apart) == ((), ("street", "moved", "again"))


def test_a_refusal_names_the_query_and_its_line(town):
    report = hr.Report.parse("-- name: all\nSELECT COUNT(*) FROM people;\n-- name: everybody\nSELECT * FROM people;\n")
    with pytest.raises(UnsupportedSQLError) as refused:
        town.db.publish(report, town.folder / "refused")
    assert refused.value.message.startswith("everybody (line 4): ")
    assert refused.value.span.line == 4
    assert not (town.folder / "refused").exists()


def test_the_page_does_not_say_that_tables_add_up_whose_groups_were_tested_apart(town):
    """Sums of both tables are measured together here, but not the counts that decide which groups are shown."""
    queries = {
        "street": "SELECT street, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY street",
        "all": "SELECT COUNT(*) AS n, AVG(age) AS age FROM people",
    }
    batch = town.db.batch(queries, epsilon=1.5)
    kinds = {note.kind for answer in batch for note in answer.notes}
    assert NoteKind.SUMS_TOGETHER in kinds
    assert NoteKind.MEASURED_TOGETHER not in kinds
    folder = town.publish("apart", town.report({"all": QUERIES["all"]}))
    assert "measured together" not in (folder / "index.html").read_text(encoding="utf-8")


def test_readers_are_told_the_limits_and_are_not_advised_to_ask_for_more(town):
    folder = town.publish("told", town.report({"by_street": QUERIES["by_street"]}))
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "people: a person counts for at most 1 row; age is limited to 0 to 100." in page
    assert "held back: fewer than" in page
    assert "larger epsilon" not in page + (folder / "data" / "by-street.csv").read_text(encoding="utf-8")


def test_notes_on_an_empty_table_lose_their_advice_and_stay_sentences(town):
    sql = "SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING COUNT(*) > 1000000"
    answer = town.db.sql(sql, epsilon=0.5)
    shown = notes(answer, for_readers=True)
    assert len(answer) == 0
    assert shown[0].startswith("No row is shown: groups of fewer than")
    assert all("epsilon" not in note and note.count("(") == note.count(")") for note in shown)


def test_totals_of_rollup_are_named_in_table_chart_and_dictionary(town):
    """Streets are declared; nobody declared ages, so that a key without a value may be a group, too."""
    queries = {
        "streets": "SELECT street, COUNT(*) AS n FROM people GROUP BY ROLLUP (street)",
        "ages": "SELECT age, COUNT(*) AS n FROM people GROUP BY ROLLUP (age)",
        "plain": "SELECT street, COUNT(*) AS n FROM people GROUP BY street",
    }
    folder = town.db.publish(queries, town.folder / "totals", epsilon=2).folder
    page = (folder / "index.html").read_text(encoding="utf-8")
    for name, key, said in (("streets", "all", 1), ("ages", "all or none", 1), ("plain", "all", 0)):
        part = page.split(f'id="{name}"')[1].split("</section>")[0]
        assert part.count(f">{key}</th>") == said
        assert part.count(f"“{key}” in place of a key: the row is a total over all of its values") == said
        chart = (folder / "charts" / f"{name}-n.svg").read_text(encoding="utf-8")
        assert chart.count(f"({key})") == said
    dictionary = {(row[0], row[2]): row[5] for row in rows_of(folder / "dictionary.csv")[1:]}
    assert dictionary["streets", "street"] == "Group, or a public value. Empty in a total over all of its values."
    assert dictionary["ages", "age"].endswith("over all of its values, or where there is no value.")
    assert dictionary["plain", "street"] == "Group, or a public value."


def test_an_interval_that_is_long_in_writing_is_not_cut_off(town):
    """Numbers stand to the right of the marks, and end within the picture."""
    folder = town.publish("long", town.report({"n": "SELECT COUNT(*) / 3e-13 AS n FROM people"}))
    chart = ET.parse(folder / "charts" / "n-n.svg").getroot()  # noqa: S314 - our own file
    ends = [float(part.attrib["x"]) + LETTER * len(part.text) for part in chart.iter() if part.tag.endswith("text")]
    assert len(ends) > 3
    assert max(ends) <= WIDTH


def test_the_first_and_the_last_moment_can_be_drawn():
    """Also before the first year of other time zones; and alike in every time zone of the publisher."""
    east = timezone(timedelta(hours=9))
    places = [
        _place(moment)
        for moment in (
            datetime(1, 1, 1, tzinfo=east),
            datetime(1, 1, 1),  # noqa: DTZ001 - as a database has it
            date(1, 1, 2),
            datetime(2026, 3, 29, 12, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59),  # noqa: DTZ001 - likewise
        )
    ]
    assert places == [1 - 9 / 24, 1, 2, date(2026, 3, 29).toordinal() + 0.5, pytest.approx(3652060)]


class Tags(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        self.texts.append(data)


def test_names_titles_and_keys_are_text_on_the_page_and_nothing_is_loaded(release):
    page = Tags()
    page.feed((release / "index.html").read_text(encoding="utf-8"))
    assert not {"script", "i", "u", "b", "img", "link", "iframe", "object", "base", "form"} & set(page.tags)
    assert {"<script>alert(1)</script>", "The town & its <i>people</i>", "Streets <u>"} <= set(page.texts)
    loaded = [value for _, name, value in page.attributes if name in {"src", "href", "srcset", "action"}]
    assert all(value.startswith("#") or (release / value).is_file() for value in loaded)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_the_page_names_what_screen_readers_need(release):
    page = Tags()
    page.feed((release / "index.html").read_text(encoding="utf-8"))
    assert ("html", "lang", "en") in page.attributes
    assert page.tags.count("h1") == page.tags.count("main") == page.tags.count("title") - page.tags.count("svg") == 1
    assert page.tags.count("table") == page.tags.count("caption")
    labels = [value for tag, name, value in page.attributes if tag == "svg" and name == "aria-label"]
    assert len(labels) == page.tags.count("svg") > 0
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_charts_are_well_formed_and_have_a_mark_for_each_number(release, town):
    answer = town.report().tables[0].answer
    chart = ET.parse(release / "charts" / "by-street-n.svg").getroot()  # noqa: S314 - our own file
    dots = [part for part in chart.iter() if part.attrib.get("class") == "dot"]
    assert len(dots) == sum(value is not None for value in answer["n"])
    assert "<script>" not in (release / "charts" / "by-street-n.svg").read_text(encoding="utf-8")


def luminance(colour):
    digits = colour * 2 if len(colour) == 3 else colour
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_enough_contrast_in_light_and_in_dark():
    schemes = [line for line in STYLE.splitlines() if "--ink:" in line]
    assert len(schemes) == 3
    for scheme in schemes:
        colours = dict(pair.strip().removeprefix(":root { ").split(": #") for pair in scheme.split(";") if "#" in pair)
        for text in ("--ink", "--soft", "--link"):
            for ground in ("--paper", "--tint"):
                lighter, darker = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
                assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (text, ground, scheme)


def test_publishing_again_is_free_and_gives_the_same_bytes(town, release):
    spent = town.db.budget.queries
    again = town.publish("again")
    assert town.db.budget.queries == spent
    assert {p.relative_to(again): p.read_bytes() for p in again.rglob("*") if p.is_file()} == {
        p.relative_to(release): p.read_bytes() for p in release.rglob("*") if p.is_file()
    }


def test_a_release_replaces_an_earlier_one_and_leaves_nothing_beside_it(town):
    folder = town.publish("replaced", town.report({"n": "SELECT COUNT(*) AS n FROM people WHERE age > 41"}))
    before = (folder / "certificate.json").read_bytes()
    assert town.publish("replaced", town.report({"m": "SELECT COUNT(*) AS n FROM people WHERE age > 42"})) == folder
    assert (folder / "certificate.json").read_bytes() != before
    assert (folder / "data" / "m.csv").exists()
    assert not (folder / "data" / "n.csv").exists()
    assert verify_folder(folder).holds
    assert not [path for path in town.folder.iterdir() if path.name.startswith(".replaced")]


def add_file(folder):
    (folder / "mine.txt").write_text("keep me", encoding="utf-8")


def break_certificate(folder):
    (folder / "certificate.json").write_text("{}", encoding="utf-8")


@pytest.mark.parametrize("change", [add_file, break_certificate])
def test_a_folder_that_is_not_a_release_of_ours_is_left_alone(town, change):
    folder = town.publish("left")
    change(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ParameterError) as refused:
        town.publish("left")
    assert refused.value.code == "folder-not-ours"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    for path in before:
        path.unlink()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_failure_in_the_middle_leaves_the_earlier_release(town, monkeypatch):
    folder = town.publish("durable")
    before = (folder / "certificate.json").read_bytes()
    ledger = town.session.ledger.id
    with pytest.raises(ParameterError) as refused:
        write_folder(folder, {"one.txt": b"1", "one.txt/two.txt": b"2", "certificate.json": b""}, ledger)
    assert refused.value.code == "output-unwritable"
    assert (folder / "certificate.json").read_bytes() == before
    assert verify_folder(folder).holds
    assert not [path for path in town.folder.iterdir() if path.name.startswith(".durable")]


def test_public_data_alone_needs_no_certificate(town):
    answer = town.db.sql("SELECT 1 AS one")
    report = town.report({})
    from dataclasses import replace  # noqa: PLC0415

    from hedgerow.publication.contents import PublishedTable  # noqa: PLC0415

    table = PublishedTable("one", "One", "", "SELECT 1", "one", answer)
    with pytest.raises(ParameterError) as refused:
        town.publish("public", replace(report, tables=(table,)))
    assert refused.value.code == "nothing-private"


def test_a_key_is_the_owner_s_alone_and_never_overwritten(tmp_path):
    path = tmp_path / "k.key"
    key = new_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_public_key(str(public_file(path))) == read_key(path).public == key.public
    with pytest.raises(ParameterError) as refused:
        new_key(path)
    assert refused.value.code == "key-exists"
    path.chmod(0o640)
    with pytest.raises(ParameterError) as refused:
        read_key(path)
    assert refused.value.code == "key-open"
    with pytest.raises(ParameterError) as refused:
        read_key(tmp_path / "none.key")
    assert refused.value.code == "key-missing"


def test_the_dictionary_and_the_package_name_every_column(release):
    package = json.loads((release / "datapackage.json").read_text(encoding="utf-8"))
    listed = {(row[1], row[2]) for row in rows_of(release / "dictionary.csv")[1:]}
    for resource in package["resources"]:
        if resource["path"].startswith("data/") and resource["format"] == "csv":
            names = [field["name"] for field in resource["schema"]["fields"]]
            assert names == rows_of(release / resource["path"])[0]
            assert {(resource["path"], harmless(name)) for name in names} >= set()
            assert {column for file, column in listed if file == resource["path"]} == set(names)


def test_a_release_among_the_files_of_a_dataset_is_no_table_of_it(release, tmp_path):
    (tmp_path / "people.csv").write_text("id,age\n1,40\n", encoding="utf-8")
    shutil.copytree(release, tmp_path / "release")
    assert set(connect_backend(tmp_path).schema().tables) == {"people"}
