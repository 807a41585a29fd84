"""A data set of a package as four sources: a DuckDB file, a folder of Parquet, an SQLite file and pandas frames."""

import datetime as dt
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import hedgerow as hr

SOURCES = ("duckdb", "parquet", "sqlite", "pandas")


@dataclass(frozen=True)
class Table:
    """A frame; the column that the database declares as its primary key; the SELECT that bounds it as "
    "the catalog does."""

    frame: pd.DataFrame
    key: str | None = None
    bounded: str = "FROM source"

    @cached_property
    def arrow(self):
        """The same rows. NaN of pandas is a missing value."""
        return pa.Table.from_pandas(self.frame, preserve_index=False)


@dataclass(frozen=True)
class Question:
    """A question of an analyst, and how its exact answer is computed.

    The exact answer is that of the same text over the bounded tables, unless `exact` says it otherwise. The first
    `keys` columns name a group. Groups of few people are held back: `least` says how many are surely shown, and without
    it all are. No interval is wider than `within` times the largest exact value of its column.
    """

    text: str
    exact: str | None = None
    keys: int = 0
    least: int | None = None
    within: float = 0.2
    options: dict = field(default_factory=dict)

    def __str__(self):
        return " ".join(self.text.split())[:100]


@dataclass(frozen=True)
class Dataset:
    """Tables by name, what their owner says of them (the part `tables:` of a catalog), and questions."""

    name: str
    load: Callable[[], dict]
    catalog: str
    questions: list

    def catalog_text(self):
        """The whole catalog. Epsilon is the largest there is: intervals are then short enough to show what is wrong."""
        lines = "\n".join(f"  {line}" for line in self.catalog.strip("\n").splitlines())
        return (
            f"dataset: {self.name}\nbudget: {{epsilon: 1000000, delta: 0.1, pure_epsilon: 500000}}\n"
            f"defaults: {{epsilon: 1000, delta: 1e-6, min_frequency: 10}}\ntables:\n{lines}\n"
        )


class Sources:
    """One data set, written once in each form; connections are opened when they are first asked for."""

    def __init__(self, dataset, folder):
        self.dataset, self.folder, self._opened, self._exact = dataset, Path(folder), {}, {}
        self.tables = dataset.load()
        self.catalog = self.folder / "catalog.yaml"
        self.catalog.write_text(dataset.catalog_text())
        self.bounded = duckdb.connect(":memory:")
        self.bounded.execute("CREATE SCHEMA raw")
        (self.folder / "parquet").mkdir()
        with duckdb.connect(str(self.folder / "data.duckdb")) as large:
            small = sqlite3.connect(self.folder / "data.sqlite")
            for name, table in self.tables.items():
                pq.write_table(table.arrow, self.folder / "parquet" / f"{name}.parquet")
                self.bounded.register("source", table.arrow)
                self.bounded.execute(f'CREATE TABLE raw."{name}" AS FROM source')
                self.bounded.execute(f'CREATE TABLE "{name}" AS {table.bounded}')
                _copy(name, table, large, small)
            small.commit()
            small.close()

    def source(self, kind):
        """The source for `hr.connect`."""
        places = {"duckdb": "data.duckdb", "parquet": "parquet", "sqlite": "data.sqlite"}
        frames = {name: table.frame for name, table in self.tables.items()}
        return frames if kind == "pandas" else self.folder / places[kind]

    def __getitem__(self, kind):
        if kind not in self._opened:
            ledger = self.folder / f"{kind}.ledger"
            self._opened[kind] = hr.connect(self.source(kind), catalog=self.catalog, ledger=ledger)
        return self._opened[kind]

    def exact(self, question):
        """Return the rows of the exact answer, computed once for all sources."""
        text = question.exact or question.text
        if text not in self._exact:
            self._exact[text] = self.bounded.execute(text).fetchall()
        return self._exact[text]

    def close(self):
        for db in self._opened.values():
            db.close()
        self.bounded.close()


def _copy(name, table, large, small):
    """One table in DuckDB and in SQLite, with the same definition. SQLite keeps dates as text, as its users do."""
    large.register("source", table.arrow)
    columns = [(column, kind) for column, kind, *_ in large.execute("DESCRIBE source").fetchall()]
    shape = [f'"{column}" {kind}' for column, kind in columns]
    key = [f'PRIMARY KEY ("{table.key}")'] if table.key else []
    definition = f'CREATE TABLE "{name}" ({", ".join(shape + key)})'
    large.execute(definition)
    large.execute(f'INSERT INTO "{name}" FROM source')
    small.execute(definition)
    rows = zip(*(map(_stored, column.to_pylist()) for column in table.arrow.columns), strict=True)
    small.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', rows)


def _stored(value):
    if isinstance(value, dt.date | dt.time):
        return str(value)
    return float(value) if isinstance(value, Decimal) else value
