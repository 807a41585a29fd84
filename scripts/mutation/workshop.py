"""A copy of the repository in which faults are tried; the work tree is never touched."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from scripts.mutation.fault import SOURCE, Fault

LEFT_OUT = (".*", "__pycache__", "*.pyc")
MADE = ("build", "dist", "demo")
"""Files at the root of a work tree that can be rebuilt."""

QUIET = ("-q", "--no-header", "--tb=no", "-p", "no:cacheprovider")
OPTIONS = ("-x", *QUIET, "-m", "not slow", "-p", "scripts.mutation.hurry")


@dataclass(frozen=True, slots=True)
class Run:
    """Result of a test run: pytest's exit code (None after a timeout), its output and its duration."""

    code: int | None
    said: str
    seconds: float

    @property
    def failed(self) -> str:
        """The first test that failed, or the last line."""
        lines = [line for line in self.said.splitlines() if line.strip()]
        named = [line.split(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return (named or lines[-1:] or [""])[0]


class Workshop:
    """One copy. Use it from one thread, and close it."""

    def __init__(self, root: Path, *, patience: float) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hedgerow-mutation-", ignore_cleanup_errors=True)
        self.root = Path(self._folder.name) / "copy"
        self._patience = patience
        shutil.copytree(root, self.root, ignore=_left_out(root))
        # By the hash of the source, not its time: two faults of equal length within a second must not look the same.
        compiled = ("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(self.root / SOURCE))
        self._run([sys.executable, *compiled])

    def close(self) -> None:
        """Remove the copy."""
        self._folder.cleanup()

    def imports_itself(self) -> bool:
        """Return whether Python finds the package in this copy, and not where it is installed."""
        imported = self._run([sys.executable, "-c", "import hedgerow; print(hedgerow.__file__)"])
        return Path(imported.said.strip()).is_relative_to(self.root / SOURCE)

    def test(self, targets: Sequence[str]) -> Run:
        """Run tests up to the first that fails."""
        shutil.rmtree(self.root / ".hypothesis", ignore_errors=True)
        return self._run([sys.executable, "-m", "pytest", *OPTIONS, *targets])

    def test_with(self, fault: Fault, targets: Sequence[str]) -> Run:
        """Run tests with a fault in the source."""
        path = self.root / fault.path
        sound = path.read_text(encoding="utf-8")
        path.write_text(fault.applied_to(sound), encoding="utf-8")
        try:
            return self.test(targets)
        finally:
            path.write_text(sound, encoding="utf-8")

    def _run(self, command: Sequence[str]) -> Run:
        begun = monotonic()
        with subprocess.Popen(  # noqa: S603 - our own arguments
            command,
            cwd=self.root,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=self._patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said, _ = process.communicate()
                return Run(None, said, monotonic() - begun)
        return Run(process.returncode, said, monotonic() - begun)

    def _environment(self) -> dict[str, str]:
        """The copy stands before the installed package, also for programs that tests start; nothing is cached."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        folders = os.pathsep.join([str(self.root / "src"), str(self.root)])
        return {**kept, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}


def _left_out(root: Path) -> Callable[[str, list[str]], set[str]]:
    """Return the names that are not copied: hidden and compiled files, and files that can be rebuilt."""
    anywhere = shutil.ignore_patterns(*LEFT_OUT)

    def ignored(folder: str, names: list[str]) -> set[str]:
        return anywhere(folder, names) | (set(MADE) if Path(folder) == root else set())

    return ignored
