"""A copy of the demo's files for each page of the book."""

import shutil
from pathlib import Path

import pytest

from hedgerow.demo import Files, build, tell_story


@pytest.fixture(scope="session")
def hospital(tmp_path_factory) -> Path:
    """The folder `demo` as `make demo` leaves it."""
    folder = tmp_path_factory.mktemp("book") / "demo"
    files = Files.of(folder)
    build(files)
    tell_story(files)
    return folder


@pytest.fixture
def after_demo(hospital, tmp_path, monkeypatch) -> Path:
    """A folder in which `make demo` was just run; the working directory."""
    shutil.copytree(hospital, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    return tmp_path
