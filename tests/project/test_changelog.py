"""Fragments of the changelog can be read, and the changelog has a section for the version that is built."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
KINDS = {kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]}
FRAGMENTS = sorted(set((ROOT / "changelog.d").glob("*.md")) - {ROOT / "changelog.d" / "README.md"})


@pytest.fixture
def draft(tmp_path):
    """Draft the next section from a copy of the fragments and further ones."""
    shutil.copytree(ROOT / "changelog.d", tmp_path / "changelog.d")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)

    def build(**fragments):
        for name, text in fragments.items():
            (tmp_path / "changelog.d" / name.replace("__", ".")).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"]
        return subprocess.run(  # noqa: S603 - our own words
            command, cwd=tmp_path, check=False, capture_output=True, text=True
        )

    return build


def test_every_fragment_is_in_the_draft(draft):
    done = draft(topic__fixed__md="A fault is mended: see [the page](../docs/index.md).\n")
    assert done.returncode == 0, done.stderr
    assert "### Fixed" in done.stdout
    assert "- A fault is mended: see [the page](docs/index.md)." in done.stdout
    words = re.sub(r"\s+", " ", done.stdout)
    for fragment in FRAGMENTS:
        text = fragment.read_text(encoding="utf-8").replace("](../", "](").split("\n\n")[0]
        assert re.sub(r"\s+", " ", text).strip() in words, fragment.name


@pytest.mark.parametrize("name", ["topic__mended__md", "topic__md"])
def test_a_fragment_of_no_known_kind_is_an_error(draft, name):
    assert draft(**{name: "A fault is mended.\n"}).returncode != 0


def test_every_fragment_is_named_after_its_topic_and_kind_and_ends_a_sentence():
    for fragment in FRAGMENTS:
        topic, kind, _ = fragment.name.split(".")
        assert re.fullmatch(r"[a-z0-9-]+", topic), fragment.name
        assert kind in KINDS, fragment.name
        assert fragment.read_text(encoding="utf-8").rstrip().endswith((".", ")")), fragment.name


def test_the_kinds_are_those_that_the_readme_of_the_folder_lists():
    text = (ROOT / "changelog.d" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE)) == KINDS


def test_the_changelog_has_a_section_for_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert PROJECT["tool"]["towncrier"]["start_string"] in text
    assert re.search(rf"^## {re.escape(PROJECT['project']['version'])} \(\d{{4}}-\d\d-\d\d\)$", text, re.MULTILINE)
