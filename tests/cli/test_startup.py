"""Starting is cheap: libraries are loaded when something needs them."""

import subprocess
import sys

import pytest
import typer

import hedgerow
from hedgerow.cli import app
from hedgerow.cli.commands import SUMMARIES

SELDOM = {
    *("altair", "chdb", "clickhouse_connect", "dp_accounting", "ibis", "opendp", "openpyxl", "polars", "psycopg"),
    *("pyspark", "scipy.fft", "scipy.optimize", "scipy.sparse", "scipy.stats", "sqlalchemy"),
}
"""Libraries that a count with Gaussian noise does not need. pyarrow imports pandas by itself, where it is installed."""

LIBRARIES = {"duckdb", "flint", "numpy", "opendp", "pandas", "polars", "pyarrow", "rich", "ruamel", "scipy", "sqlglot"}
MODULES = "import sys; print(*sys.modules, file=sys.stderr)"


def loaded(code):
    """Names of the modules in a new process after it has run some code."""
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", f"{code}\n{MODULES}"], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stderr.split())


def libraries(modules):
    return {name.split(".", maxsplit=1)[0] for name in modules} & LIBRARIES


def test_importing_the_package_loads_no_library_and_no_module_of_its_own():
    modules = loaded("import hedgerow")
    assert not libraries(modules)
    assert {name for name in modules if name.startswith("hedgerow")} == {"hedgerow"}


@pytest.mark.parametrize(("word", "needed"), [("--version", set()), ("--help", {"rich"})])
def test_the_version_and_the_help_load_no_command_and_no_library_that_they_do_not_need(word, needed):
    modules = loaded(f"import hedgerow.cli\ntry: hedgerow.cli.app([{word!r}])\nexcept SystemExit: pass")
    assert libraries(modules) == needed
    assert not {f"hedgerow.cli.{name}" for name in SUMMARIES} & modules


def test_a_first_count_loads_no_library_that_it_does_not_need(shop):
    code = f"""
import hedgerow
with hedgerow.connect({str(shop.database)!r}, catalog={str(shop.catalog)!r}) as db:
    db.sql("SELECT COUNT(*) FROM customers", mechanism="gaussian", delta=1e-7)
"""
    assert not SELDOM & loaded(code)


def test_every_public_name_is_loaded_on_first_use():
    code = "import hedgerow; assert all(getattr(hedgerow, name).__name__ == name for name in hedgerow.__all__)"
    assert "hedgerow.session.connection" in loaded(code)


def test_dir_lists_the_public_names_before_they_are_loaded():
    loaded("import hedgerow; assert set(hedgerow.__all__) <= set(dir(hedgerow))")


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'sqll'"):
        _ = hedgerow.sqll


@pytest.mark.parametrize(("name", "command"), typer.main.get_command(app).commands.items(), ids=list(SUMMARIES))
def test_the_help_lists_each_command_with_the_first_paragraph_of_its_own_help(name, command):
    assert command.name == name
    assert " ".join(command.help.split("\n\n")[0].split()) == SUMMARIES[name]
