"""One name for one thing: no class name is used twice, no function hides a module, and names say what a value is."""

import ast
import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import hedgerow

SOURCE = Path(hedgerow.__file__).parent

SAME_ROLE = {"InternalError"}
"""Classes that may share a name: PEP 249 requires that a driver's module has an error of this name (`dbapi.py`)."""


VAGUE = {"each", "found", "made"}
"""Names that say where a value comes from instead of what it is."""


def named(tree):
    """Every name that a module gives: to variables, parameters, functions, classes, attributes and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def vague(folder):
    """The modules of a folder that use a vague name, with these names."""
    texts = {path.relative_to(folder): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
    return {
        str(path): sorted(names)
        for path, text in texts.items()
        if VAGUE.intersection(re.findall(r"\w+", text))
        if (names := VAGUE.intersection(named(ast.parse(text))))
    }


def classes(folder):
    """Every class of a folder of modules, with the modules that define one of that name."""
    defined = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for name in re.findall(r"^ *class (\w+)[:(]", path.read_text(encoding="utf-8"), re.MULTILINE):
            defined[name].append(str(path.relative_to(folder)))
    return defined


def hidden(package):
    """The modules of a package, at any depth, that cannot be reached as attributes: something else has their name."""
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    for name in names:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    pairs = [(name, *name.rsplit(".", 1)) for name in names if name in sys.modules]
    return [name for name, parent, last in pairs if not isinstance(getattr(sys.modules[parent], last), ModuleType)]


def test_no_class_name_is_used_twice():
    twice = {name: where for name, where in classes(SOURCE).items() if len(where) > 1 and name not in SAME_ROLE}
    assert twice == {}


def test_no_module_is_hidden_by_a_function_or_a_class():
    assert hidden(hedgerow) == []


def test_names_say_what_a_value_is():
    assert vague(SOURCE) == {}
    assert vague(Path(__file__).parents[1]) == {}
    assert vague(Path(__file__).parents[2] / "scripts") == {}
    assert vague(Path(__file__).parents[2] / "benchmarks") == {}


def test_a_vague_name_is_seen(tmp_path):
    (tmp_path / "one.py").write_text("def row(found): ...\n")
    (tmp_path / "two.py").write_text("class Row:\n    made: int = 0\n")
    (tmp_path / "three.py").write_text("row = founder = 'found'\n")
    assert vague(tmp_path) == {"one.py": ["found"], "two.py": ["made"]}


def test_a_name_that_is_used_twice_is_seen(tmp_path):
    (tmp_path / "one.py").write_text("class Row: ...\nclass Other: ...\n")
    (tmp_path / "two.py").write_text("class Row: ...\n")
    assert {name: where for name, where in classes(tmp_path).items() if len(where) > 1} == {"Row": ["one.py", "two.py"]}


def test_a_module_that_is_hidden_is_seen(tmp_path, monkeypatch):
    (tmp_path / "shadowed").mkdir()
    (tmp_path / "shadowed" / "__init__.py").write_text("from shadowed.measure import measure\n")
    (tmp_path / "shadowed" / "measure.py").write_text("def measure(): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert hidden(importlib.import_module("shadowed")) == ["shadowed.measure"]
