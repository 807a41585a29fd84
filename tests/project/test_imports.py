"""Imports inside functions and for annotations alone: only those that start-up or an optional library needs."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"

LATE = {
    ("cli/commands.py", "hedgerow.cli.options"): "a third of a second to load, and `--version` opens no project",
    ("cli/errors.py", "hedgerow.catalog.strict_yaml"): "likewise, and only an error in a catalog reads it again",
    ("cli/errors.py", "rich"): "a twentieth of a second to load, and `--version` prints plain text",
    ("cli/output.py", "rich"): "a twentieth of a second to load, and `--version` prints plain text",
    ("cli/query.py", "openpyxl"): "an extra",
    ("session/batch_quote.py", "rich"): "a twentieth of a second to load, and only a printed quote needs it",
    ("session/planning.py", "rich"): "likewise: only a printed plan needs it",
    ("__init__.py", "hedgerow.magic"): "for notebooks alone",
    ("answer/table.py", "rich"): "a twentieth of a second to load, and not everything is printed",
    ("answer/render.py", "rich"): "a twentieth of a second to load, and not everything is printed",
    ("session/page.py", "rich"): "a twentieth of a second to load, and not everything is printed",
    ("answer/files.py", "pyarrow"): "pyarrow.compute, a twentieth of a second to load, and for files alone",
    ("error_bars/provenance/origins.py", "pyarrow"): "likewise, and seldom needed",
    ("release/key_selection.py", "pyarrow"): "likewise, and not needed without keys",
    ("answer/plot/library.py", "altair"): "an extra",
    ("service/console/charts.py", "vl_convert"): "slow to load, and not needed before the first chart",
    ("answer/table.py", "pandas"): "an extra",
    ("answer/table.py", "polars"): "an extra",
    ("backends/postgres/pool.py", "psycopg"): "an extra",
    ("ledger/postgres_connection.py", "psycopg"): "an extra",
    ("error_bars/intervals/noise_sums.py", "scipy.fft"): "a tenth of a second to load, and seldom needed",
    ("execution/nonnegative.py", "scipy"): "scipy.sparse, a fifth of a second to load, and for batches alone",
    ("noise/discrete.py", "opendp"): "a quarter of a second to load, and a quote needs no noise",
    ("publication/data.py", "pyarrow"): "its writers take a twentieth of a second to load, and no question needs them",
    ("publication/keys.py", "cryptography"): "a twentieth of a second to load, and no question needs it",
    ("ratio/bias.py", "scipy.stats"): "half a second to load, and seldom needed",
    ("statistics/distinct_bounds.py", "scipy.sparse.csgraph"): "a fifth of a second to load, and seldom needed",
    ("statistics/two_by_two/yardsticks.py", "scipy.stats"): "half a second to load, and seldom needed",
}
"""Every import inside a function: the file, the library, the reason."""

PUBLIC_NAMES = {
    ("__init__.py", f"hedgerow.{module}"): "a second to load, on first use of the name"
    for module in (
        "answer",
        "distributions",
        "error_bars.intervals.interval",
        "errors",
        "publication.verification",
        "session.asynchronous",
        "session.batch_quote",
        "session.connection",
        "session.database",
        "session.explain",
        "session.job",
        "session.planning",
        "session.quote",
        "session.report",
    )
}
"""The modules of the names that `import hedgerow` offers."""

SELDOM = {
    (file, f"hedgerow.{module}"): "a fifth of a second for all of them, and a first answer needs none (`hedgerow.late`)"
    for file, modules in {
        "session/connection.py": ("session.remote",),
        "session/corridor.py": (
            "accuracy_target.accuracy_first",
            "calibration.diagnose",
            "calibration.missing_bounds",
        ),
        "session/database.py": (
            "calibration.calibrate",
            "publication.publication",
            "session.batch",
            "session.batch_quote",
            "session.explain",
            "session.forecast",
            "session.planning",
            "session.publishing",
            "session.quote",
            "session.report",
            "session.tables",
        ),
        "session/missing.py": ("calibration.missing_bounds",),
    }.items()
    for module in modules
}
"""Modules of our own that are imported with the first call of a function of theirs."""

ANNOTATIONS = (
    PUBLIC_NAMES
    | SELDOM
    | {
        ("answer/table.py", "rich"): "imported where it is used",
        ("answer/render.py", "rich"): "imported where it is used",
        ("cli/output.py", "rich"): "imported where it is used",
        ("session/batch_quote.py", "rich"): "imported where it is used",
        ("session/planning.py", "rich"): "imported where it is used",
        ("session/page.py", "rich"): "imported where it is used",
        ("session/database.py", "hedgerow.session.bound_batch"): "the type of an option, and no question needs batches",
        ("answer/table.py", "pandas"): "an extra",
        ("answer/table.py", "polars"): "an extra",
        ("backends/postgres/held.py", "psycopg"): "an extra",
        ("backends/postgres/backend.py", "psycopg"): "an extra",
        ("backends/postgres/pool.py", "psycopg"): "an extra",
        ("backends/postgres/reading.py", "psycopg"): "an extra",
        ("backends/postgres/schema.py", "psycopg"): "an extra",
        ("ledger/errors.py", "psycopg"): "an extra",
        ("ledger/postgres.py", "psycopg"): "an extra",
        ("ledger/postgres_connection.py", "psycopg"): "an extra",
        ("publication/keys.py", "cryptography"): "imported where it is used",
        ("late.py", "scipy.sparse"): "a fifth of a second to load, and most answers need no matrix",
        ("special.py", "scipy.special"): "a seventh of a second to load, and a first answer needs none of it",
        ("sqlalchemy_dialect.py", "sqlalchemy"): "not in SQLAlchemy 1.4",
    }
)
"""Every import under TYPE_CHECKING; a dialect's parts may name the dialect that calls them, see pyproject.toml."""


@cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """The kind ("late", "annotations" or "plain") and library of every import of a file."""

    def walk(node: ast.AST, kind: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom):
                yield kind, child.module or ""
            elif isinstance(child, ast.Import):
                yield from ((kind, alias.name) for alias in child.names)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(child, "late")
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                yield from walk(child, "annotations")
            else:
                yield from walk(child, kind)

    return tuple(walk(ast.parse(path.read_text(encoding="utf-8")), "plain"))


def library(name: str) -> str:
    """The library of a module: its first word, and for what is part of ours or of SciPy the whole."""
    return name if name.startswith(("hedgerow", "scipy")) else name.split(".", maxsplit=1)[0]


def actual(kind: str) -> set[tuple[str, str]]:
    """All imports of one kind, as file and library."""
    return {
        (path.relative_to(SOURCE).as_posix(), library(name))
        for path in SOURCE.rglob("*.py")
        for this, name in imports(path)
        if this == kind
    }


def test_imports_inside_functions_are_those_listed():
    assert actual("late") == set(LATE)


def test_imports_for_annotations_are_those_listed():
    assert actual("annotations") == set(ANNOTATIONS)


def test_late_imports_of_our_own_are_for_the_start_of_the_program_alone():
    files = {file for file, name in LATE | ANNOTATIONS if name.startswith("hedgerow")}
    assert files == {"__init__.py", "cli/commands.py", "cli/errors.py"} | {file for file, _ in SELDOM}
