"""Environments in which the wheel is tried: what a plain install brings, and what each extra adds to that.

`python -m tests.installed.environments` makes them, as `make test` does; they are kept in `.cache` until a dependency
changes. hedgerow itself is in none of them: the tests build its wheel and install it anew each time.
"""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .pages import PAGES, ROOT, needs

CACHE = ROOT / ".cache" / "environments"
CONSTRAINTS = ROOT / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@dataclass(frozen=True)
class Layer:
    """The packages that `pip install` of some words adds to a plain install; without words, the plain install."""

    words: tuple[str, ...] = ()

    @property
    def requirements(self) -> list[str]:
        """The requirements passed to pip, hedgerow itself left out."""
        if not self.words:
            return list(PROJECT["dependencies"])
        extras = {f"hedgerow[{name}]": listed for name, listed in PROJECT["optional-dependencies"].items()}
        return [requirement for word in self.words for requirement in extras.get(word, [word])]

    @property
    def folder(self) -> Path:
        """Return the folder of the environment: another one for other versions."""
        stated = [sys.version, *Layer().requirements, *self.requirements, CONSTRAINTS.read_text(encoding="utf-8")]
        key = hashlib.sha256("\n".join(stated).encode()).hexdigest()[:12]
        return CACHE / "-".join(["".join(filter(str.isalnum, word)) for word in self.words or ("plain",)] + [key])

    @property
    def packages(self) -> Path:
        """The folder of its packages."""
        (actual,) = self.folder.glob("lib/python*/site-packages")
        return actual

    @property
    def complete(self) -> bool:
        """True if it was made to the end."""
        return (self.folder / "complete").exists()

    def make(self) -> None:
        """Install it, unless it is there."""
        if self.complete:
            return
        print(f"Installing what {' '.join(self.words) or 'a plain install'} needs …", flush=True)  # noqa: T201
        empty_environment(self.folder, [Layer()] if self.words else [])
        install(self.folder, "--constraint", str(CONSTRAINTS), *self.requirements)
        (self.folder / "complete").touch()


def empty_environment(folder: Path, layers: Iterable[Layer]) -> None:
    """Make an environment that sees the packages of `layers` and nothing else."""
    run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)])
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "layers.pth").write_text("".join(f"{layer.packages}\n" for layer in layers), encoding="utf-8")


def install(folder: Path, *words: str) -> None:
    """Install something into an environment, from the package index."""
    run([str(ROOT / "scripts" / "install"), str(folder / "bin" / "python"), *words])


def run(command: list[str]) -> None:
    """Run a command that must succeed; show what it said if it does not."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own words
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def layers() -> list[Layer]:
    """The plain install, and one layer for each need that a page states."""
    return [Layer(), *map(Layer, sorted({needs(page) for page in PAGES} - {()}))]


def main() -> None:
    """Make all of them, and remove those of other dependencies."""
    current = layers()
    for layer in current:
        layer.make()
    for folder in set(CACHE.iterdir()) - {layer.folder for layer in current}:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
