"""Steps that a question leaves out because their outcome is known: reading nothing of a table, and copying columns."""

import os
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from hedgerow.backends import connect_backend
from hedgerow.compile import postprocess
from hedgerow.dialects import DUCKDB
from hedgerow.errors import BackendError
from hedgerow.execution.build_answer import UNCHANGED
from hedgerow.execution.run import require_readable
from hedgerow.release import PostprocessEngine

from ..internals import plan_of, session_of

COUNT = "SELECT COUNT(*) AS n FROM people"
GROUPED = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"


def steps_of(db, text):
    return postprocess(plan_of(db, text), DUCKDB)


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        (COUNT, ["a0"]),
        ("SELECT COUNT(*) AS n, COUNT(*) AS again FROM people", ["a0", "a0"]),
        (GROUPED, ["k0", "a0", "a1"]),
        ("SELECT AVG(cost) AS mean, ward FROM visits GROUP BY ward", ["a0", "k0"]),
        ("SELECT 2 * COUNT(*) AS n FROM people", None),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n", None),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 1", None),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward OFFSET 1", None),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 1", None),
        ("SELECT DISTINCT COUNT(*) AS n FROM visits GROUP BY ward", None),
        ("SELECT 1 AS one, COUNT(*) AS n FROM people", None),
        ("SELECT (SELECT COUNT(*) FROM people) AS n", None),
    ],
)
def test_only_released_columns_in_their_order_are_copied(town, text, picked):
    steps = steps_of(town(), text)
    assert (steps.picked and [released for _, released in steps.picked[:-1]]) == picked


@pytest.mark.parametrize(
    "text", [COUNT, GROUPED, "SELECT AVG(cost) AS mean, ward, ward AS w FROM visits GROUP BY ward"]
)
def test_copied_columns_are_those_that_sql_returns(town, monkeypatch, text):
    db = town()
    copied = db.sql(text).arrow()
    session_of(db).answers.clear()
    monkeypatch.setattr("hedgerow.execution.build_answer._pick", lambda *_: None)
    assert db.sql(text).arrow().equals(copied, check_metadata=True)


VALUES = {
    pa.bool_(): [True, None, False],
    pa.int8(): [-128, None, 127],
    pa.int16(): [-(2**15), None, 2**15 - 1],
    pa.int32(): [-(2**31), None, 2**31 - 1],
    pa.int64(): [-(2**63), None, 2**63 - 1],
    pa.float64(): [-0.0, None, 1e308],
    pa.string(): ["", None, "ü\n"],
    pa.date32(): [date(1, 1, 1), None, date(9999, 12, 31)],
    pa.time64("us"): [time(0), None, time(23, 59, 59, 999999)],
    pa.timestamp("us"): [datetime(1, 1, 1), None, datetime(9999, 12, 31, 23, 59, 59, 999999)],  # noqa: DTZ001 - without a zone, as SQL's
}


def test_the_engine_returns_every_type_that_is_copied_as_it_is():
    assert set(VALUES) == UNCHANGED
    table = pa.table({f"c{i}": pa.array(values, kind) for i, (kind, values) in enumerate(VALUES.items())})
    engine = PostprocessEngine()
    assert engine.run("SELECT * FROM released", {"released": table}).equals(table, check_metadata=True)
    engine.close()


def test_a_decimal_is_left_to_the_engine():
    assert pa.array([Decimal("1.5")], pa.decimal128(38, 1)).type not in UNCHANGED


def test_a_table_of_a_file_is_looked_at_once_in_each_state(town_file, tmp_path):
    file = Path(shutil.copy(town_file, tmp_path))
    backend = connect_backend(file)
    people = backend.schema().tables["people"]
    lost = replace(people, columns={**people.columns, "gone": replace(people.columns["income"], name="gone")})
    known = set()
    with backend.snapshot() as snapshot:
        require_readable(snapshot, backend, [people], known)
        assert len(known) == 1
        require_readable(snapshot, backend, [lost], known)
    times = file.stat()
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 10**9))
    for _ in range(2):
        with pytest.raises(BackendError), backend.snapshot() as snapshot:
            require_readable(snapshot, backend, [lost], known)
    with backend.snapshot() as snapshot:  # of a file that is not the one it opened
        require_readable(snapshot, backend, [people], known)
    assert len(known) == 1
    backend.close()
    with closing(connect_backend(file)) as backend:
        people = backend.schema().tables["people"]
        with backend.snapshot() as snapshot:
            require_readable(snapshot, backend, [people], known)
    assert len(known) == 2


def test_a_table_that_may_change_is_looked_at_each_time(tmp_path):
    import duckdb  # noqa: PLC0415 - this test alone hands in a connection

    connection = duckdb.connect(str(tmp_path / "open.duckdb"))
    connection.execute("CREATE TABLE people (id INTEGER)")
    backend = connect_backend(connection)
    people, known = backend.schema().tables["people"], set()
    with backend.snapshot() as snapshot:
        require_readable(snapshot, backend, [people], known)
    assert known == set()
    connection.execute("ALTER TABLE people RENAME id TO number")
    with pytest.raises(BackendError), backend.snapshot() as snapshot:
        require_readable(snapshot, backend, [people], known)
