"""The metadata are what they claim to be: Frictionless validates them, data included."""

import csv
import json
import re
import shutil
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

NAMES = ["dictionary", "methods", "n", "n-parquet", "n-title", "n_parquet"]
VALIDATE = """
import json, sys
from frictionless import Package
reports = [Package("datapackage.json", basepath=folder).validate().to_descriptor() for folder in sys.argv[1:]]
print(json.dumps(reports))
"""


def typed_keys(town):
    queries = {
        name: f"SELECT {key} AS key, COUNT(*) AS n FROM people GROUP BY {key}"
        for name, key in (("time", "moved"), ("day", "CAST(moved AS DATE)"), ("score", "score"), ("old", "age > 45"))
    }
    return town.publish("types", town.report(queries))


def named_like_parts(town):
    return town.publish("named", town.report(dict.fromkeys(NAMES, "SELECT COUNT(*) AS n FROM people")))


def with_gaps(town):
    """A count by a declared street where nobody lives, at a price at which the group is held back."""
    query = "SELECT street, COUNT(*) AS n FROM people GROUP BY ROLLUP(street)"
    return town.publish("gaps", town.report({"streets": query}))


def tampered(town, old, new):
    copy = shutil.copytree(town.folder / "kept", town.folder / f"tampered {len(new)}")
    path = copy / "data" / "by-street.csv"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    return copy


@pytest.fixture(scope="module")
def folders(town, release):
    """All folders that Frictionless reads in these tests."""
    return {
        "release": release,
        "types": typed_keys(town),
        "named": named_like_parts(town),
        "gaps": with_gaps(town),
        "label": tampered(town, b"n_margin", b"n_marginal"),
        "value": tampered(town, b'"elm",', b'"elm",x'),
    }


@pytest.fixture(scope="module")
def problems(folders):
    """Number of resources and findings of Frictionless for each folder, from one process of its own."""
    command = [sys.executable, "-c", VALIDATE, *map(str, folders.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)  # noqa: S603 - our words
    return {
        name: (
            report["stats"]["tasks"],
            [error["type"] for part in (*report["tasks"], report) for error in part["errors"]],
        )
        for name, report in zip(folders, json.loads(done.stdout), strict=True)
    }


def test_frictionless_finds_the_package_valid(problems):
    assert problems["release"] == (7, [])


def test_keys_of_all_types_are_valid_in_both_kinds_of_files(problems, folders):
    folder, names = folders["types"], ("time", "day", "score", "old")
    assert problems["types"] == (9, [])
    described = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))["resources"]
    types = {one["name"]: one["schema"]["fields"][0]["type"] for one in described}
    for suffix in ("", ".parquet"):
        assert [types[name + suffix] for name in names] == ["datetime", "date", "number", "boolean"]
    with (folder / "data" / "score.csv").open(encoding="utf-8", newline="") as stream:
        assert [row[0] for row in csv.reader(stream)] == ["key", "-1.5", "-0.5", "0.5", "1.5"]


def test_no_table_takes_the_name_of_another_part(problems, folders):
    assert problems["named"] == (2 * len(NAMES) + 1, [])
    ids = re.findall(r' id="([^"]*)"', (folders["named"] / "index.html").read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids)) > 2 * len(NAMES)


def test_a_whole_number_that_is_held_back_is_valid_in_both_kinds_of_files(problems, folders):
    gaps = parquet.read_table(folders["gaps"] / "data" / "streets.parquet").column("n")
    assert (gaps.null_count, gaps.type) == (1, pa.int64())
    assert problems["gaps"] == (3, [])


@pytest.mark.parametrize(("name", "kind"), [("label", "incorrect-label"), ("value", "type-error")])
def test_frictionless_would_find_a_file_that_does_not_fit(problems, name, kind):
    assert kind in problems[name][1]
