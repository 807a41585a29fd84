"""Look for imports that a plain install does not have. It runs where the wheel is installed, of the standard library.

Its argument is the folder of a package. Each module of it is imported. Then its text is read: whatever it imports
anywhere must be there, except for what an extra brings (the arguments after the folder); and where it takes one module
out of another, a fresh interpreter that imports the other alone must find it there. `import pyarrow as pa` does not
bring `pa.compute`: that works only where something else has imported `pyarrow.compute`.
"""

import ast
import importlib
import pkgutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

FRESH = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
print(*(name for name in sys.argv[2:] if not hasattr(module, name)))
"""


def main() -> None:
    """Print what is wrong, one finding on a line."""
    folder, extras = Path(sys.argv[1]), set(sys.argv[2:])
    sys.path.insert(0, str(folder.parent))
    findings = [*_modules(folder, extras), *_imports(folder, extras)]
    print(*findings, sep="\n", end="")  # noqa: T201 - the test reads it


def _modules(folder: Path, extras: set[str]) -> Iterator[str]:
    for actual in pkgutil.walk_packages([str(folder)], f"{folder.name}.", onerror=lambda _: None):
        if not actual.name.endswith("__main__"):
            try:
                importlib.import_module(actual.name)
            except ModuleNotFoundError as error:
                if str(error.name).split(".", maxsplit=1)[0] not in extras:
                    yield f"{actual.name}: {type(error).__name__}: {error}"
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                yield f"{actual.name}: {type(error).__name__}: {error}"


def _imports(folder: Path, extras: set[str]) -> Iterator[str]:
    used: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(folder.rglob("*.py")):
        for module, attribute in _uses(ast.parse(path.read_text(encoding="utf-8"))):
            if module.split(".")[0] not in {folder.name, *extras}:
                used[module].setdefault(attribute, str(path.relative_to(folder.parent)))
    for module, attributes in used.items():
        first = next(iter(attributes.values()))
        try:
            importlib.import_module(module)
        except ImportError:
            yield f"{first}: {module} is not there"
            continue
        parts = [attribute for attribute in attributes if attribute and _is_module(f"{module}.{attribute}")]
        command = [sys.executable, "-c", FRESH, module, *parts]
        done = subprocess.run(command, check=True, capture_output=True, text=True) if parts else None  # noqa: S603
        for attribute in done.stdout.split() if done else []:
            yield f"{attributes[attribute]}: {module} has no {attribute} until something else imports it"


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the module has no parts
        return False


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Every module that is imported, and every attribute that is taken from one, as (module, attribute or nothing)."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ""
                if alias.asname or "." not in alias.name:
                    bound[alias.asname or alias.name] = alias.name
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            yield bound[node.value.id], node.attr


main()
