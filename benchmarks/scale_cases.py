"""Cases of `scale.py`: tables of generated rows, and questions that grow along one axis at a time."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "scale"
GROUPS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PEOPLE = (100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (1, 2, 4, 8, 16)
WIDTH, MANY_COLUMNS = 1_000, (10, 100, 400)
PEOPLE_IN_A_GROUP = 10
MEMORY = "6GB"
"""Of DuckDB, for the plain query and for making tables."""

BYTES_A_ROW = 40
"""Of disk, at most; a table is made only where there is ten times as much."""


@dataclass(frozen=True)
class Case:
    """One question: where along which axis it lies, of which table it is asked, and what the catalog says."""

    axis: str
    value: int
    table: str
    rows: int
    unit: str
    text: str
    max_rows: int = 1
    max_groups: int | None = None
    epsilon: float = 1.0

    def catalog(self) -> str:
        """The catalog, with a budget for many questions."""
        unique = "unit_unique: true" if self.unit == "id" else f"max_rows: {self.max_rows}"
        groups = "" if self.max_groups is None or self.unit == "id" else f"\n    max_groups: {self.max_groups}"
        known = {"wide": max(COLUMNS), "wider": WIDTH}.get(self.table, 1)
        columns = "".join(f"\n      x{number}: {{lower: 0, upper: 1000}}" for number in range(known))
        return (
            "dataset: scale\nbudget: {epsilon: 100000, delta: 1e-3}\n"
            f"defaults: {{epsilon: {self.epsilon}, delta: 1e-7, min_frequency: 1}}\n"
            f"tables:\n  t:\n    unit: {self.unit}\n    {unique}{groups}\n    size: {10 * self.rows}\n"
            f"    columns:{columns}\n"
        )


def by_rows(rows: int) -> Case:
    """Ten rows for each person, a hundred groups."""
    text = "SELECT g, COUNT(*) AS n, SUM(x0) AS total FROM t GROUP BY g"
    return Case("rows", rows, f"long-{rows}", rows, "person", text, max_rows=10, max_groups=10)


def by_groups(groups: int) -> Case:
    """Ten million people, one row each as the database enforces, in so many groups; epsilon so that all are shown."""
    text = f"SELECT g{groups}, COUNT(*) AS n, SUM(x0) AS total FROM t GROUP BY g{groups}"
    return Case("groups", groups, "grouped", PEOPLE_IN_A_GROUP * max(GROUPS), "id", text, epsilon=20.0)


def by_people(people: int) -> Case:
    """A million rows of so many people, in a hundred groups."""
    rows = max(PEOPLE)
    text = "SELECT g, COUNT(*) AS n, SUM(x0) AS total FROM t GROUP BY g"
    most = rows // people
    return Case("people", people, "wide", rows, f"p{people}", text, max_rows=most, max_groups=min(100, most))


def by_columns(columns: int) -> Case:
    """Several sums over a million rows of a hundred thousand people."""
    sums = ", ".join(f"SUM(x{number}) AS s{number}" for number in range(columns))
    return Case("columns", columns, "wide", max(PEOPLE), "p100000", f"SELECT g, {sums} FROM t GROUP BY g", 10, 10)


def by_many_columns(columns: int) -> Case:
    """Sums of several of a thousand columns, over a hundred thousand people; a statement may have 400."""
    sums = ", ".join(f"SUM(x{number}) AS s{number}" for number in range(columns))
    return Case("many columns", columns, "wider", 100_000, "id", f"SELECT {sums} FROM t")


def texts(case: Case) -> str:
    """The SELECT that makes the table of a case from numbers i."""
    if case.table == "grouped":
        keys = ", ".join(f"CAST(i % {groups} AS INTEGER) AS g{groups}" for groups in GROUPS)
        return f"SELECT i AS id, {keys}, CAST(hash(i) % 1000 AS INTEGER) AS x0"
    if case.table == "wider":
        values = ", ".join(f"CAST(hash(i + {n}) % 1000 AS INTEGER) AS x{n}" for n in range(WIDTH))
        return f"SELECT i AS id, {values}"
    if case.table == "wide":
        people = ", ".join(f"i % {number} AS p{number}" for number in PEOPLE)
        values = ", ".join(f"CAST(hash(i + {n}) % 1000 AS INTEGER) AS x{n}" for n in range(max(COLUMNS)))
        return f"SELECT {people}, CAST(hash(i) % 100 AS INTEGER) AS g, {values}"
    return (
        f"SELECT i % {case.rows // 10} AS person, CAST(hash(i) % 100 AS INTEGER) AS g, "
        "CAST(hash(i + 1) % 1000 AS INTEGER) AS x0"
    )


def database(case: Case) -> Path | None:
    """The file of a case's table, made if it is not there; None where the disk is too small for it."""
    path = CACHE / f"{case.table}.duckdb"
    if path.exists():
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(CACHE).free < 10 * BYTES_A_ROW * case.rows:
        return None
    print(f"making {case.rows:,} rows …", file=sys.stderr)
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    with duckdb.connect(str(unfinished)) as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        connection.execute(f"CREATE TABLE t AS {texts(case)} FROM range({case.rows}) AS s(i)")
        for column in connection.execute("DESCRIBE t").fetchall():
            connection.execute(f"ALTER TABLE t ALTER {column[0]} SET NOT NULL")
        if case.unit == "id":
            connection.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
    unfinished.rename(path)
    return path
