"""Facts about rows that cannot change: when they are computed, when they are used, and what may not depend on them."""

import re
import subprocess
import sys
import threading

import duckdb
import pytest

import hedgerow as hr
from hedgerow.backends import duckdb as backend
from hedgerow.backends import facts as facts_module
from hedgerow.backends.facts import MOST_FACTS, KeptFacts
from hedgerow.compiled import MOST_BLOCKS
from hedgerow.execution.prepare import prepare
from hedgerow.execution.run import compile_steps, run_cheapest

from ..internals import price_of, session_of
from ..privacy.neighbours.forms import integers

CATALOG = """\
dataset: shop
budget: {epsilon: 1000, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 1}
tables:
  orders: {unit: person, max_rows: 3, columns: {price: {lower: 0, upper: 9}}}
  shown: {unit: person, max_rows: 3, columns: {price: {lower: 0, upper: 9}}}
  computed: {unit: person, max_rows: 3, columns: {price: {lower: 0, upper: 9}}}
"""
NONCE = re.compile(r"[0-9a-f]{32}")
ALL = "SELECT SUM(price) FROM orders"
SOME = "SELECT status, COUNT(*) FROM orders WHERE price > 2 GROUP BY status"


@pytest.fixture(params=["nobody", "somebody"])
def shop(request, tmp_path):
    """A DuckDB file in which nobody, or one person, is beyond the limit."""
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        connection.execute("INSERT INTO orders SELECT range // 3, ['x', 'y'][1 + range % 2], range % 9 FROM range(900)")
        if request.param == "somebody":
            connection.execute("INSERT INTO orders SELECT 7, 'x', 5 FROM range(20)")
        connection.execute("CREATE VIEW shown AS SELECT * FROM orders WHERE now() > TIMESTAMPTZ '2020-01-01 00:00:00Z'")
        connection.execute("CREATE TABLE computed (person BIGINT, price DOUBLE, twice DOUBLE AS (price * 2))")
    (tmp_path / "shop.yaml").write_text(CATALOG)
    with hr.connect(tmp_path / "shop.duckdb", catalog=tmp_path / "shop.yaml") as db:
        yield db


def texts(db, query, suffix):
    return {shortcut.sql for shortcut in db.explain(query).shortcuts if suffix in shortcut.step}


@pytest.fixture
def sent(shop, monkeypatch):
    """Ask a question afresh; the SQL of the statements that were read from the engine."""
    texts_read = []
    read = backend._read
    monkeypatch.setattr(
        backend, "_read", lambda cursor, query, size: texts_read.append(query.sql) or read(cursor, query, size)
    )

    def ask(query):
        texts_read.clear()
        shop.sql(query, reuse=False)
        return {NONCE.sub("0" * 32, text) for text in texts_read}

    return ask


def test_a_fact_is_computed_once_and_used_from_then_on(shop, sent):
    first, second = sent(ALL), sent(ALL)
    facts, cheaper = texts(shop, ALL, "fact:"), texts(shop, ALL, "beyond a limit") - texts(shop, ALL, "fact:")
    assert first & facts
    assert not second & facts
    assert first & cheaper
    assert second & cheaper
    assert not second & {statement.sql for statement in shop.explain(ALL).statements}


def test_a_statement_over_some_rows_computes_facts_when_they_are_needed_again(shop, sent):
    facts = texts(shop, SOME, "fact:")
    assert not sent(SOME) & facts
    assert sent(SOME) & facts


@pytest.mark.parametrize(("keys", "blocks"), [(MOST_BLOCKS // 2, True), (MOST_BLOCKS // 2 + 1, False)])
def test_people_are_counted_in_blocks_up_to_a_number_of_blocks(tmp_path, monkeypatch, keys, blocks):
    """Each key has people of two blocks."""
    with duckdb.connect(str(tmp_path / "many.duckdb")) as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        connection.execute(f"INSERT INTO orders SELECT range * 13, 'k' || (range // 2), 5 FROM range({2 * keys})")
        connection.execute("UPDATE orders SET person = person % 65536 + 65536 * (rowid % 2)")
        connection.execute("CREATE TABLE shown AS FROM orders; CREATE TABLE computed AS FROM orders")
    (tmp_path / "shop.yaml").write_text(CATALOG)
    read, run = backend._read, []
    monkeypatch.setattr(backend, "_read", lambda cursor, query, n: run.append(query.sql) or read(cursor, query, n))
    with hr.connect(tmp_path / "many.duckdb", catalog=tmp_path / "shop.yaml") as db:
        for _ in range(3):
            run.clear()
            db.sql(SOME, reuse=False)
    assert any("BITSTRING_AGG" in sql for sql in run) is blocks


def test_neither_price_nor_explanation_depends_on_known_facts(shop):
    before = shop.explain(ALL), shop.quote(ALL).sql
    for _ in range(3):
        shop.sql(ALL, reuse=False)
    after = shop.explain(ALL), shop.quote(ALL).sql
    assert before[1] == after[1]
    assert before[0].statements == after[0].statements
    assert before[0].shortcuts == after[0].shortcuts


def test_a_release_stored_before_a_fact_was_known_answers_afterwards(shop):
    first = shop.sql(SOME)
    for _ in range(3):
        shop.sql(SOME, reuse=False)
    assert shop.sql(SOME).arrow(intervals=True) == first.arrow(intervals=True)


@pytest.mark.parametrize("table", ["shown", "computed"])
def test_rows_that_may_depend_on_the_time_have_no_facts(shop, table):
    assert shop.explain(f"SELECT SUM(price) FROM {table}").shortcuts == ()
    assert shop.explain(ALL).shortcuts


def test_a_connection_that_is_passed_in_has_no_facts(tmp_path):
    (tmp_path / "shop.yaml").write_text(CATALOG.replace("  shown:", "  # shown:").replace("  computed:", "  # "))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        with hr.connect(connection, catalog=tmp_path / "shop.yaml") as db:
            assert db.explain(ALL).shortcuts == ()


BY_STATUS = "SELECT status, SUM(price) FROM orders GROUP BY status"


def test_a_connection_that_is_passed_in_runs_one_short_statement_where_nobody_is_beyond_a_limit(tmp_path, monkeypatch):
    """As soon as somebody is, the ordinary statement runs, and the short one is not tried again."""
    (tmp_path / "shop.yaml").write_text(CATALOG.replace("  shown:", "  # shown:").replace("  computed:", "  # "))
    read, sent = backend._read, []
    monkeypatch.setattr(backend, "_read", lambda cursor, query, size: sent.append(query) or read(cursor, query, size))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        connection.execute("INSERT INTO orders SELECT range // 3, ['x', 'y'][1 + range % 2], range % 9 FROM range(900)")
        with hr.connect(connection, catalog=tmp_path / "shop.yaml") as db:

            def forms():
                sent.clear()
                db.sql(BY_STATUS, reuse=False)
                run = [query.sql for query in sent if "GROUP BY" in query.sql]
                return ["short" if "hedgerow_beyond" in sql else "ordinary" for sql in run]

            assert forms() == ["short"]
            connection.execute("INSERT INTO orders SELECT 7, 'x', 5 FROM range(20)")
            assert forms() == ["short", "ordinary"]
            assert forms() == ["ordinary"]


def test_a_view_in_place_of_a_table_is_read_once(tmp_path):
    """A view may read rows that change within a transaction."""
    (tmp_path / "shop.yaml").write_text(CATALOG.replace("  shown:", "  # shown:").replace("  computed:", "  # "))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        with hr.connect(connection, catalog=tmp_path / "shop.yaml") as db:
            session = session_of(db)
            with session.backend.snapshot() as snapshot:
                assert snapshot.is_fixed(["orders"])
            connection.execute("ALTER TABLE orders RENAME TO stored; CREATE VIEW orders AS FROM stored")
            with session.backend.snapshot() as snapshot:
                assert not snapshot.is_fixed(["orders"])


def test_a_file_that_is_replaced_meanwhile_is_read_without_facts(shop, monkeypatch):
    """The state is read before and after a statement: where it differs, the ordinary statement runs as well."""
    session = session_of(shop)
    _, private = price_of(shop, ALL)
    (steps,) = compile_steps(private, session.backend)
    states = iter([1, 2])
    with session.backend.snapshot() as snapshot:
        run = []
        monkeypatch.setattr(type(snapshot), "state", lambda *_: next(states))
        original = type(snapshot).read
        monkeypatch.setattr(
            type(snapshot), "read", lambda self, query, state=None: run.append(query) or original(self, query, state)
        )
        run_cheapest(steps.first_pass, snapshot)
    fact, cheaper, ordinary = run
    assert fact is steps.first_pass.shortcut.heavy
    assert ordinary is steps.first_pass
    assert cheaper is not ordinary
    assert not session.backend.facts._tables


def test_files_have_facts_until_one_of_them_changes(tmp_path, monkeypatch):
    """A file that changed only just now has none: its times may stay the same although it changes again."""
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "orders.parquet"
    (tmp_path / "shop.yaml").write_text(CATALOG.replace("  shown:", "  # shown:").replace("  computed:", "  # "))
    duckdb.sql(f"COPY (SELECT range // 3 AS person, 'x' AS status, 1.5::DOUBLE AS price FROM range(30)) TO '{path}'")
    with hr.connect(tmp_path / "data", catalog=tmp_path / "shop.yaml") as db:
        folder = session_of(db).backend
        assert db.explain(ALL).shortcuts
        monkeypatch.setattr(facts_module, "SETTLED_NS", 10**18)
        assert folder.state(["orders"]) is None
        monkeypatch.setattr(facts_module, "SETTLED_NS", 0)
        before = folder.state(["orders"])
        assert before is not None
        assert folder.state(["orders"]) == before
        db.sql(ALL, reuse=False)
        assert len(folder.facts._tables) == 1
        duckdb.sql(f"COPY (SELECT 1 AS person, 'x' AS status, 1.5::DOUBLE AS price FROM range(50)) TO '{path}'")
        assert folder.state(["orders"]) != before
        db.sql(ALL, reuse=False)
        tables = [table.num_rows for table in folder.facts._tables.values()]
        assert tables == [0, 1]
        path.unlink()
        assert folder.state(["orders"]) is None


def test_facts_are_sealed_and_few():
    facts = KeptFacts()
    for number in range(MOST_FACTS + 5):
        facts.table(number, lambda: "table", at_once=True)
    assert repr(facts) == "KeptFacts(sealed)"
    assert len(facts._tables) == MOST_FACTS
    with pytest.raises(TypeError):
        facts.__reduce__()


def test_one_thread_computes_a_fact_while_others_do_without():
    facts, started, finish = KeptFacts(), threading.Event(), threading.Event()

    def slowly():
        started.set()
        finish.wait()
        return "table"

    thread = threading.Thread(target=facts.table, args=("name", slowly), kwargs={"at_once": True})
    thread.start()
    started.wait()
    assert facts.table("name", slowly, at_once=True) is None
    finish.set()
    thread.join()
    assert facts.table("name", slowly, at_once=True) == "table"


def test_a_fact_that_failed_is_not_computed_again():
    def fail():
        raise ZeroDivisionError

    facts = KeptFacts()
    with pytest.raises(ZeroDivisionError):
        facts.table("name", fail, at_once=True)
    assert facts.table("name", fail, at_once=True) is None


ROWS_OF_SEVEN = "INSERT INTO orders SELECT 7, 'x', 5 FROM range(5000)"
LOGGED = f'import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute("{ROWS_OF_SEVEN}"); os._exit(1)'


def integers_of(db, text):
    """The integers of the form of a statement that would run, and of the statement itself."""
    backend = session_of(db).backend
    [steps] = compile_steps(price_of(db, text)[1], backend)
    with backend.snapshot() as snapshot:
        return integers(run_cheapest(steps.first_pass, snapshot)), integers(snapshot.run(steps.first_pass))


def test_rows_in_a_write_ahead_log_are_not_those_for_which_facts_were_prepared(tmp_path, prepared_shop):
    """A program that ends without a checkpoint leaves rows in the log, and the file as it was."""
    path, connected = prepared_shop
    before = path.stat()
    subprocess.run([sys.executable, "-c", LOGGED, str(path)], check=False)  # noqa: S603 - our own text
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert (tmp_path / "shop.duckdb.wal").stat().st_size
    with connected() as db:
        used, ordinary = integers_of(db, ALL)
        assert used == ordinary
        with pytest.raises(hr.errors.BackendError) as caught:
            prepare(session_of(db), [ALL])
        assert caught.value.code == "files-changing"
        (tmp_path / "shop.duckdb.wal").unlink()
        assert session_of(db).backend.state(["orders"]) is None


def test_a_file_in_place_of_an_open_one_has_no_facts(tmp_path, prepared_shop):
    """The connection still reads the rows of the file that it opened, and so does another one of this process."""
    path, connected = prepared_shop
    with duckdb.connect(str(tmp_path / "new.duckdb")) as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        connection.execute(ROWS_OF_SEVEN)
    with connected() as db:
        assert session_of(db).backend.state(["orders"]) is not None
        (tmp_path / "new.duckdb").replace(path)
        with connected() as other:
            for one in (db, other):
                assert session_of(one).backend.state(["orders"]) is None
    with connected() as db:
        assert session_of(db).backend.state(["orders"]) is not None


@pytest.fixture
def prepared_shop(tmp_path, monkeypatch):
    """A file with prepared facts in which nobody is beyond the limit, and a function that connects to it."""
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)
    (tmp_path / "shop.yaml").write_text(CATALOG.replace("  shown:", "  # shown:").replace("  computed:", "  # "))
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE orders (person BIGINT, status VARCHAR, price DOUBLE)")
        connection.execute("INSERT INTO orders SELECT range // 3, 'x', range % 9 FROM range(900)")

    def connected():
        return hr.connect(path, catalog=tmp_path / "shop.yaml")

    with connected() as db:
        prepare(session_of(db), [ALL])
    return path, connected
