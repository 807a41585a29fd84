"""The wheel, installed alone; and folders in which `make demo` was just run with it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from .wheel import environment, once, wheel

__all__ = ["environment", "once", "wheel"]

KEPT = {name: os.environ[name] for name in ("PATH", "JAVA_HOME", "TMPDIR") if name in os.environ}
RESIDENT = Path(__file__).parent / "inside" / "resident.py"


class Resident:
    """A process of an environment that has imported hedgerow once and runs each command in a fork of itself.

    Importing takes most of a command's time. Programs that are no command of hedgerow get a process of their own.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [str(environment / "bin" / "python"), str(RESIDENT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**KEPT, "LC_ALL": "C.UTF-8"},
        )

    def __call__(self, words: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess:
        outputs = [self._folder / name for name in ("stdout", "stderr")]
        for output in outputs:
            output.write_bytes(b"")
        command = {"words": words, "folder": str(folder), "env": env, "outputs": [str(output) for output in outputs]}
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(words, code, *(output.read_text(encoding="utf-8") for output in outputs))

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@dataclass(frozen=True)
class Installed:
    """An environment with hedgerow in it, and a folder to work in."""

    environment: Path
    folder: Path
    resident: Resident | None = None

    def __call__(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess:
        """Run a program of the environment, as somebody would who never saw the repository."""
        folder, env = folder or self.folder, {**KEPT, "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        if words[0] == "hedgerow" and self.resident is not None:
            return self.resident(list(words), folder, env)
        return subprocess.run(  # noqa: S603 - the words of our own pages
            [str(self.environment / "bin" / words[0]), *words[1:]],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture(scope="session")
def hospital(once, environment) -> Path:
    """The folder that `hedgerow demo` leaves, which is what `make demo` runs, with the wheel alone."""
    with once("hospital") as (folder, built):
        if not built:
            folder.mkdir()
            done = Installed(environment(), folder)("hedgerow", "demo", "--folder", "demo", "--force")
            assert done.returncode == 0, done.stderr
            assert "Next\n" in done.stdout
    return folder / "demo"


@pytest.fixture(scope="session")
def resident(environment, tmp_path_factory) -> Iterator[Resident]:
    """Commands of a plain install."""
    with closing(Resident(environment(), tmp_path_factory.mktemp("resident"))) as running:
        yield running


@pytest.fixture
def installed(environment, hospital, tmp_path, request) -> Callable[..., Installed]:
    """hedgerow with what some words after `pip install` bring, in a folder in which `make demo` was just run."""

    def made_of(*words: str) -> Installed:
        shutil.copytree(hospital, tmp_path / "demo")
        return Installed(environment(*words), tmp_path, None if words else request.getfixturevalue("resident"))

    return made_of
