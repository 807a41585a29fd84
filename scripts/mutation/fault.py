"""One small fault: a text in a file of the source, and what stands there instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path("src") / "hedgerow"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and the tests that are expected to notice it.

    Attributes:
        name: Says what is wrong, in words joined by hyphens.
        file: Below `src/hedgerow`.
        old: A text that occurs exactly once in it.
        new: What stands there instead.
        tests: Files, folders or single tests, below `tests`.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The file, from the root of the repository."""
        return SOURCE / self.file

    @property
    def targets(self) -> list[str]:
        """The tests, from the root of the repository."""
        return [f"tests/{test}" for test in self.tests]

    def problem(self, root: Path) -> str | None:
        """Reason that the fault cannot be tried (the source or the tests have moved on); None if it can."""
        if self.old == self.new:
            return "changes nothing"
        if not (root / self.path).is_file():
            return f"{self.path} is gone"
        times = (root / self.path).read_text(encoding="utf-8").count(self.old)
        if times != 1:
            return f"its text occurs {times} times in {self.path}"
        gone = [target for target in self.targets if not (root / target.split("::", maxsplit=1)[0]).exists()]
        return f"{', '.join(gone)} is gone" if gone else None

    def applied_to(self, text: str) -> str:
        """The text of the file with the fault in it."""
        return text.replace(self.old, self.new)


def problems(faults: Sequence[Fault], root: Path) -> list[str]:
    """Every fault that cannot be tried, and every name that is there twice."""
    names = [fault.name for fault in faults]
    repeated = [
        f"{name}: there are two of this name" for name in sorted({name for name in names if names.count(name) > 1})
    ]
    return repeated + [f"{fault.name}: {said}" for fault in faults if (said := fault.problem(root)) is not None]
