"""Facts that the owner computes before anybody asks: kept beside the data, and used by later connections."""

import duckdb
import pytest

import hedgerow as hr
from hedgerow.backends import duckdb as backend
from hedgerow.backends import facts as facts_module
from hedgerow.errors import BackendError
from hedgerow.execution.prepare import prepare, usual_statements

from ..internals import session_of

CATALOG = """\
dataset: shop
budget: {epsilon: 1000, delta: 1e-3}
defaults: {epsilon: 1, delta: 1e-7, min_frequency: 5}
tables:
  orders:
    unit: person
    max_rows: 3
    columns: {price: {lower: 0, upper: 9}, status: {values: [x, y]}}
"""
BY_STATUS = "SELECT status, AVG(price) AS m FROM orders GROUP BY status"


@pytest.fixture
def settled(monkeypatch):
    """Let files count as unchanged at once."""
    monkeypatch.setattr(facts_module, "SETTLED_NS", 0)


@pytest.fixture(params=["file", "folder"])
def shop(request, tmp_path, settled):
    """A function that connects to a shop, and the file in which its facts are kept."""
    (tmp_path / "shop.yaml").write_text(CATALOG)
    rows = "SELECT range // 3 AS person, ['x', 'y'][1 + range % 2] AS status, range % 9 AS price FROM range(900)"
    if request.param == "file":
        source, kept = tmp_path / "shop.duckdb", tmp_path / "shop.duckdb.facts"
        with duckdb.connect(str(source)) as connection:
            connection.execute(f"CREATE TABLE orders AS {rows}")
    else:
        source, kept = tmp_path / "shop", tmp_path / "shop" / ".hedgerow.facts"
        source.mkdir()
        duckdb.sql(rows).write_parquet(str(source / "orders.parquet"))
    return (lambda: hr.connect(source, catalog=tmp_path / "shop.yaml")), kept, source


def facts_computed(db, monkeypatch):
    """Ask, and return the facts that were computed for it."""
    sent, read = [], backend._read
    with monkeypatch.context() as patch:
        patch.setattr(backend, "_read", lambda cursor, query, size: sent.append(query.sql) or read(cursor, query, size))
        db.sql(BY_STATUS, reuse=False)
    return set(sent) & {shortcut.sql for shortcut in db.explain(BY_STATUS).shortcuts if "fact:" in shortcut.step}


def prepared(connect):
    with connect() as db:
        return prepare(session_of(db), [*usual_statements(session_of(db)), BY_STATUS])


def test_prepared_facts_serve_later_connections(shop, monkeypatch):
    connect, kept, _ = shop
    with connect() as db:
        assert facts_computed(db, monkeypatch)
    assert prepared(connect).statements == 3
    assert kept.stat().st_mode & 0o077 == 0
    with connect() as db:
        assert not facts_computed(db, monkeypatch)


def test_facts_about_other_rows_are_ignored(shop, monkeypatch):
    connect, _, source = shop
    prepared(connect)
    if source.is_dir():
        duckdb.sql("SELECT 1 AS person, 'x' AS status, 5 AS price FROM range(40)").write_parquet(
            str(source / "orders.parquet")
        )
    else:
        with duckdb.connect(str(source)) as connection:
            connection.execute("INSERT INTO orders SELECT 7, 'x', 5 FROM range(40)")
    with connect() as db:
        assert facts_computed(db, monkeypatch)


def test_a_file_that_others_may_write_or_that_is_damaged_is_ignored(shop, monkeypatch):
    connect, kept, _ = shop
    prepared(connect)
    content = kept.read_bytes()
    kept.chmod(0o620)
    with connect() as db:
        assert facts_computed(db, monkeypatch)
    kept.write_bytes(content[: len(content) // 2])
    kept.chmod(0o600)
    with connect() as db:
        assert facts_computed(db, monkeypatch)


def test_other_sources_have_no_facts_to_prepare(tmp_path):
    (tmp_path / "shop.yaml").write_text(CATALOG)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE orders AS SELECT 1 AS person, 'x' AS status, 5 AS price")
        with hr.connect(connection, catalog=tmp_path / "shop.yaml") as db, pytest.raises(BackendError) as caught:
            prepare(session_of(db), [BY_STATUS])
    assert caught.value.code == "no-facts"
