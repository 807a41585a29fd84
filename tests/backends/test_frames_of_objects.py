"""Columns of Python objects, as pandas reads dates, decimals, times and UUIDs: text, with a type from the catalog."""

import datetime as dt
import enum
import math
import uuid
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.backends.frames import text_of
from hedgerow.catalog import load_catalog
from hedgerow.expressions.types import Type

from ..conformance.test_queries import measured, planned

BERLIN = dt.timezone(dt.timedelta(hours=2))
ID = uuid.UUID("3a2ac7f1-9105-4676-b8d9-6fee107af045")
WRITTEN = [
    ("Ünïcode", "Ünïcode"),
    ("", ""),
    (np.str_("x"), "x"),
    (True, "true"),
    (np.False_, "false"),
    (-7, "-7"),
    (np.int8(3), "3"),
    (2**100, str(2**100)),
    (0.1, "0.1"),
    (np.float32(0.5), "0.5"),
    (-math.inf, "-inf"),
    (Decimal("12.50"), "12.50"),
    (Decimal("1E-7"), "0.0000001"),
    (Decimal("1E+3"), "1000"),
    (Decimal("1E+999999"), "1E+999999"),
    (dt.date(2024, 2, 29), "2024-02-29"),
    (dt.datetime(2024, 2, 29, 23, 59, 59, 5), "2024-02-29 23:59:59.000005"),  # noqa: DTZ001 - without a zone
    (dt.datetime(2024, 3, 1, 1, tzinfo=BERLIN), "2024-02-29 23:00:00+00:00"),
    (pd.Timestamp("2024-02-29 12:00"), "2024-02-29 12:00:00"),
    (dt.time(9, 5, 1), "09:05:01"),
    (dt.time(9, 5, tzinfo=BERLIN), "09:05:00"),
    (ID, str(ID)),
]


class Hostile(str):
    """Text that fails when it is used, as a subclass of anything may."""

    __slots__ = ()

    def encode(self, *_):
        raise RuntimeError


class Word(enum.StrEnum):
    """A kind of text that many programs keep."""

    TEA = "tea"


MISSING = [
    *(None, pd.NA, pd.NaT, math.nan, np.float64("nan"), Decimal("NaN"), Decimal("sNaN"), np.datetime64("NaT")),
    *(b"bytes", [1], {"a": 1}, object(), dt.timedelta(days=1), 1j, 10**5000, "\ud800", Hostile("x")),
    dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5))),
]
COLUMNS = """\
SELECT i AS id, (md5(i::text))::uuid AS u, DATE '2024-01-01' + (i % 90)::integer AS d, (i % 70 / 7)::decimal(9, 2) AS m,
TIME '08:00:00' + to_minutes(i % 600) AS t, CASE WHEN i % 3 > 0 THEN i % 2 = 0 END AS b,
CASE WHEN i % 5 > 0 THEN 'word ' || i % 4 END AS s FROM range(400) AS r(i)"""
CATALOG = """\
dataset: objects
budget: {epsilon: 100000, delta: 0.01}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 1}
tables:
  t:
    unit: u
    max_rows: 2
    columns: {d: {type: date}, m: {type: decimal, lower: 0, upper: 10}, t: {type: time}, b: {type: boolean}}
"""
QUESTIONS = [
    "SELECT COUNT(*) AS n, COUNT(DISTINCT u) AS people, SUM(m) AS s FROM t",
    "SELECT EXTRACT(month FROM d) AS k, SUM(m) AS s FROM t GROUP BY 1",
    "SELECT d AS k, COUNT(*) AS n FROM t GROUP BY 1",
    "SELECT COUNT(*) AS n FROM t WHERE d >= DATE '2024-02-01' AND m > 3",
    "SELECT b AS k, s AS l, COUNT(m) AS n FROM t GROUP BY 1, 2",
    "SELECT COUNT(*) AS n FROM t WHERE t < TIME '12:00:00'",
    "SELECT COUNT(*) AS n FROM t x JOIN t y ON x.u = y.u WHERE y.m > 5",
    f"SELECT COUNT(*) AS n FROM t WHERE u = '{ID}'",
    "SELECT LEFT(v, 1) AS k, COUNT(*) AS n FROM (SELECT u, s AS v FROM t) AS x GROUP BY 1",
]


@pytest.mark.parametrize(("value", "text"), WRITTEN, ids=repr)
def test_an_object_is_written_as_text(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize("value", MISSING, ids=lambda value: type(value).__name__)
def test_what_has_no_text_is_missing(value):
    assert text_of(value) is None


def test_a_kind_of_text_is_its_text():
    assert text_of(Word.TEA) == "tea"


def frames():
    values = [value for value, _ in WRITTEN] + MISSING
    series = pd.Series(values, dtype=object)
    words = pd.Categorical.from_codes([0, 1, 2, -1], pd.Index(["a", 1, dt.date(2024, 1, 1)], dtype=object))
    return {
        "pandas": pd.DataFrame({"x": series, "id": range(len(values))}),
        "polars": pl.DataFrame({"x": pl.Series(values[:6], dtype=pl.Object), "id": range(6)}),
        "categories": pd.DataFrame({"x": words, "id": range(4)}),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "categories"])
def test_a_column_of_objects_is_text_whatever_it_holds(kind):
    backend = connect_backend({"t": frames()[kind]})
    columns = backend.schema().tables["t"].columns
    assert {name: column.type for name, column in columns.items()} == {"x": Type.TEXT, "id": Type.INTEGER}
    actual = [cell for (cell,) in backend._cursor().sql("SELECT x FROM t ORDER BY id").fetchall()]
    wanted = {
        "pandas": [text for _, text in WRITTEN] + [None] * len(MISSING),
        "polars": [text for _, text in WRITTEN[:6]],
        "categories": ["a", "1", "2024-01-01", None],
    }
    assert actual == wanted[kind]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A Parquet file, and catalogs that do and do not repeat its types."""
    folder = tmp_path_factory.mktemp("objects")
    duckdb.sql(COLUMNS).write_parquet(str(folder / "t.parquet"))
    (folder / "t.yaml").write_text(CATALOG)
    return folder


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", ["plain", "pyarrow", "numpy_nullable", "arrow", "duckdb"])
def test_frames_that_pandas_reads_give_the_integers_of_the_file(files, kind, question):
    path = files / "t.parquet"
    read = {
        "plain": lambda: pd.read_parquet(path),
        "pyarrow": lambda: pd.read_parquet(path, dtype_backend="pyarrow"),
        "numpy_nullable": lambda: pd.read_parquet(path, dtype_backend="numpy_nullable"),
        "arrow": lambda: pq.read_table(path),
        "duckdb": lambda: duckdb.read_parquet(str(path)).df(),
    }
    catalog = load_catalog(files / "t.yaml")
    one, other = connect_backend(files), connect_backend({"t": read[kind]()})
    actual = [
        [measured(backend, part) for part in planned(backend.schema(), question, catalog=catalog)]
        for backend in (one, other)
    ]
    assert actual[0] == actual[1]
    assert actual[0]


def test_a_frame_of_objects_is_asked_from_python(files):
    with hr.connect({"t": pd.read_parquet(files / "t.parquet")}, catalog=files / "t.yaml") as db:
        answer = db.sql("SELECT AVG(m) AS m, COUNT(DISTINCT u) AS people FROM t WHERE d >= DATE '2024-01-01'")
    assert abs(answer["people"][0] - 400) < 5
    assert abs(answer["m"][0] - 4.93) < 0.5
