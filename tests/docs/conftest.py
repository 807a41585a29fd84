"""The hospital of the demo, for examples that are refused."""

from pathlib import Path

import pytest

from hedgerow.demo import HospitalFiles, build


@pytest.fixture(scope="session")
def hospital(tmp_path_factory) -> Path:
    """The folder `demo` as `hedgerow demo` leaves it, before any question."""
    folder = tmp_path_factory.mktemp("book") / "demo"
    build(HospitalFiles.of(folder))
    return folder
