"""Owner columns in place of paths: when they are read and used, and what happens when they cannot be."""

import threading

import duckdb
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.backends import duckdb as backend_module
from hedgerow.backends import facts as facts_module
from hedgerow.backends.facts import BYTES_OF_A_NUMBER, OwnerColumns
from hedgerow.compiled import OwnerColumn, Query
from hedgerow.execution.run import compile_steps, run_cheapest

from ..internals import price_of, session_of
from ..privacy.neighbours.forms import integers

CATALOG = """\
dataset: shop
budget: {epsilon: 1000, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  orders: {unit: person, max_rows: 30}
  line: {unit: {through: orders, on: {l_o: o}}, max_rows: 4, columns: {amount: {lower: 0, upper: 9}}}
"""
QUESTION = "SELECT kind, SUM(amount) AS s, COUNT(*) AS n FROM line WHERE amount > 1 GROUP BY kind"
ROWS = 200


@pytest.fixture
def make(tmp_path):
    """A function that opens a DuckDB file in which one person is beyond the limit, after one more statement."""
    opened = []

    def open_shop(more="SELECT 1"):
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
            connection.execute("CREATE TABLE orders (o BIGINT, person BIGINT)")
            connection.execute("INSERT INTO orders SELECT range, range // 2 FROM range(80)")
            connection.execute("CREATE TABLE line (l_o BIGINT, kind VARCHAR, amount DOUBLE)")
            connection.execute(
                f"INSERT INTO line SELECT range * 7 % 75, ['k', 'm'][1 + range % 2], range % 9 FROM range({ROWS - 20})"
            )
            connection.execute("INSERT INTO line SELECT 3, 'k', range % 9 FROM range(20)")
            connection.execute(more)
        (tmp_path / "shop.yaml").write_text(CATALOG)
        opened.append(hr.connect(tmp_path / "shop.duckdb", catalog=tmp_path / "shop.yaml"))
        return opened[-1]

    yield open_shop
    for db in opened:
        db.close()


def ask(db, times=1):
    """Ask so many times; the integers of the last, those of the ordinary statement, and the texts that were read."""
    backend = session_of(db).backend
    [steps] = compile_steps(price_of(db, QUESTION)[1], backend)
    with backend.snapshot() as snapshot:
        ordinary = integers(snapshot.run(steps.first_pass))
    for _ in range(times):
        with backend.snapshot() as snapshot:
            texts, read = [], snapshot.read
            snapshot.read = lambda query, state=None: texts.append(query.sql) or read(query, state)  # noqa: B023
            result = integers(run_cheapest(steps.first_pass, snapshot))
    return result, ordinary, texts, steps.first_pass.shortcut


def beside(texts):
    return [text for text in texts if "POSITIONAL JOIN" in text]


def test_an_owner_column_is_read_when_it_is_needed_again_and_kept(make):
    db = make()
    *_, texts, shortcut = ask(db, 2)
    assert shortcut.owners.column.sql not in texts
    result, ordinary, texts, _ = ask(db)
    assert shortcut.owners.column.sql in texts
    assert beside(texts)
    assert result == ordinary
    result, ordinary, texts, _ = ask(db)
    assert len(texts) == len(beside(texts)) == 1
    assert result == ordinary


def test_a_folder_has_owner_columns_until_a_file_changes(make, tmp_path, monkeypatch):
    make().close()
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)
    (tmp_path / "data").mkdir()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        for table in ("orders", "line"):
            connection.execute(f"COPY {table} TO '{tmp_path}/data/{table}.parquet'")
        with hr.connect(tmp_path / "data", catalog=tmp_path / "shop.yaml") as db:
            result, ordinary, texts, _ = ask(db, 3)
            assert beside(texts)
            assert result == ordinary
            connection.execute("UPDATE orders SET person = 39 - person")
            connection.execute(f"COPY orders TO '{tmp_path}/data/orders.parquet'")
            for _ in range(4):
                result, ordinary, texts, _ = ask(db)
                assert result == ordinary
            assert beside(texts)


def test_frames_have_owner_columns(make, tmp_path):
    make().close()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        frames = {table: connection.table(table).to_arrow_table() for table in ("orders", "line")}
    with hr.connect(frames, catalog=tmp_path / "shop.yaml") as db:
        result, ordinary, texts, _ = ask(db, 3)
    assert beside(texts)
    assert result == ordinary


def test_rows_in_another_order_are_read_along_the_path(make):
    """The owners of other rows are never used: the statement fails inside, and runs again along the path."""
    db = make()
    *_, shortcut = ask(db, 3)
    owners = session_of(db).backend.owners
    state, column = owners._columns[shortcut.owners.column.sql]
    for wrong in (column.take(pa.array(range(ROWS))[::-1]), column.slice(1), column.slice(0, ROWS - 1)):
        owners._columns[shortcut.owners.column.sql] = (state, wrong)
        result, ordinary, texts, _ = ask(db)
        assert len(beside(texts)) == 1
        assert len(texts) == 2
        assert result == ordinary
        assert not beside(ask(db)[2])


def test_rows_that_lead_to_nobody_have_no_owner(make):
    db = make("INSERT INTO line VALUES (999, 'k', 5), (NULL, 'k', 5)")
    result, ordinary, texts, _ = ask(db, 3)
    assert beside(texts)
    assert result == ordinary


def test_a_row_that_leads_to_two_people_follows_the_path(make):
    db = make("INSERT INTO orders VALUES (5, 39)")
    for _ in range(4):
        result, ordinary, texts, _ = ask(db)
        assert not beside(texts)
        assert result == ordinary


def test_without_room_the_path_is_followed(make):
    db = make()
    session_of(db).backend.owners.max_bytes = ROWS * 2 * BYTES_OF_A_NUMBER - 1
    for _ in range(4):
        result, ordinary, texts, shortcut = ask(db)
        assert not {shortcut.owners.column.sql, *beside(texts)} & {*texts}
        assert result == ordinary


def test_a_column_that_cannot_be_read_is_done_without(make, monkeypatch):
    db, read = make(), backend_module._read

    def failing(cursor, query, size):
        if query.sql.endswith("hedgerow_row"):
            cursor.execute("SELECT error('no')").fetchall()
        return read(cursor, query, size)

    monkeypatch.setattr(backend_module, "_read", failing)
    for _ in range(4):
        result, ordinary, texts, _ = ask(db)
        assert not beside(texts)
        assert result == ordinary


def test_the_engine_and_the_columns_share_the_memory(make):
    backend = session_of(make()).backend
    ((limit,),) = backend._connection.sql("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "1.6 GiB"
    assert backend.owners.max_bytes == 4 * 10**9 // 16


def column_of(name):
    return OwnerColumn(Query("", (), ()), Query(name, (), ("k0", "o")))


def test_threads_that_read_at_once_stay_within_the_limit():
    """Room is taken before a column is read: of two that fit one by one, the second one finds none."""
    owners, started, finish, rows = OwnerColumns(), threading.Event(), threading.Event(), 1000
    owners.max_bytes = rows * 3 * BYTES_OF_A_NUMBER
    table = pa.table({"k0": pa.array(range(rows), pa.int64()), "o": pa.array([2**40] * rows, pa.int64())})

    def slowly():
        started.set()
        finish.wait()
        return table

    for name in "abc":
        assert owners.table(column_of(name), 1, lambda: rows, lambda: table) is None
    thread = threading.Thread(target=owners.table, args=(column_of("a"), 1, lambda: rows, slowly))
    thread.start()
    started.wait()
    assert owners.table(column_of("b"), 1, lambda: rows, lambda: table) is None
    assert owners.table(column_of("a"), 1, lambda: rows, lambda: table) is None
    finish.set()
    thread.join()
    kept = owners.table(column_of("a"), 1, lambda: rows, lambda: table)
    assert kept.equals(table.set_column(0, "k0", table.column("k0").cast(pa.int32())))
    assert owners._bytes == kept.nbytes
    with pytest.raises(TypeError):
        owners.__reduce__()
