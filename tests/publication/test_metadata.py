"""The metadata are what they claim to be: Frictionless validates them, data included."""

import json
import shutil
import subprocess
import sys

import pytest


def problems(folder):
    """Findings of Frictionless, in a process of its own, about a package and its data."""
    command = [sys.executable, "-m", "frictionless", "validate", "datapackage.json", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - our words
    report = json.loads(done.stdout)
    errors = [error["type"] for task in report["tasks"] for error in task["errors"]]
    return report["stats"]["tasks"], errors + [error["type"] for error in report["errors"]]


def test_frictionless_finds_the_package_valid(release):
    assert problems(release) == (7, [])


@pytest.mark.parametrize(
    ("old", "new", "kind"), [(b"n_margin", b"n_marginal", "incorrect-label"), (b'"elm",', b'"elm",x', "type-error")]
)
def test_frictionless_would_find_a_file_that_does_not_fit(release, tmp_path, old, new, kind):
    copy = shutil.copytree(release, tmp_path / "copy")
    path = copy / "data" / "by-street.csv"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    assert kind in problems(copy)[1]
