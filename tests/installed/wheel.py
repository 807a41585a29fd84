"""Fixtures of the wheel: built once for all processes of a run, and installed into environments of their own."""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .environments import Layer, empty_environment, run
from .pages import ROOT


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Callable:
    """Resources of all processes of a run: `with once(name) as (folder, made)` makes it in the first of them."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "installed"
    shared.mkdir(exist_ok=True)

    @contextmanager
    def sharing(name: str) -> Iterator[tuple[Path, bool]]:
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = shared / f"{name}.made"
            yield shared / name, built.exists()
            built.touch()

    return sharing


@pytest.fixture(scope="session")
def wheel(once) -> Path:
    """The wheel, built from the source as it is now."""
    with once("wheel") as (folder, built):
        if not built:
            run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)])
    (actual,) = folder.glob("hedgerow-*.whl")
    return actual


@pytest.fixture(scope="session")
def environment(once, wheel) -> Callable[..., Path]:
    """An environment with the wheel and, beside its dependencies, only what the words after `pip install` bring.

    pip sees no index here, so that a dependency that the wheel does not name, or an extra does not bring, is missing.
    """

    def made_of(*words: str) -> Path:
        layers = [Layer(), *([Layer(words)] if words else [])]
        if missing := [" ".join(layer.words) or "a plain install" for layer in layers if not layer.complete]:
            pytest.skip(f"the environment of {missing[0]} is missing: `make environments` makes it")
        with once(f"with-{layers[-1].folder.name}") as (folder, built):
            if not built:
                empty_environment(folder, layers)
                python, extras = str(folder / "bin" / "python"), [word.removeprefix("hedgerow") for word in words]
                stated = [f"{wheel}{extra}" for extra in extras if extra.startswith("[")] or [str(wheel)]
                run([sys.executable, "-m", "pip", "--isolated", "--python", python, "install", "--no-index", *stated])
        return folder

    return made_of
