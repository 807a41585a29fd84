"""ClickHouse alone: chdb in this process, and clickhouse-connect over HTTP to a server that asks chdb."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.backends.clickhouse import ClickHouse, open_chdb, over_chdb, over_client
from hedgerow.backends.clickhouse.clients import code_of, number_of
from hedgerow.backends.clickhouse.schema import column_of
from hedgerow.compile.queries import from_text
from hedgerow.compile.scalars import grid_integer, scalar
from hedgerow.compiled import Query
from hedgerow.dialects.clickhouse import CLICKHOUSE
from hedgerow.dialects.statement import StatementParts, Step
from hedgerow.errors import BackendError, UnsupportedSQLError
from hedgerow.expressions.nodes import Call, Column, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import Join, Scan
from hedgerow.privacy.precision import Grid

session = pytest.importorskip("chdb.session", reason="NOT TESTED: chdb is not installed")
clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="NOT TESTED: clickhouse-connect is not installed")

ROWS = Query("SELECT k, CAST(count() AS Int128) AS n FROM people GROUP BY k ORDER BY k", ("k",), ("n",), (pa.string(),))
FOREVER = "SELECT count() AS n FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))"
WIDE = 2**100


@pytest.fixture(scope="module")
def built():
    with session.Session() as opened:
        opened.query("CREATE TABLE people (k Nullable(String), x Float64, d Date) ENGINE = MergeTree ORDER BY tuple()")
        opened.query(
            "INSERT INTO people VALUES ('a', 1.5, '2024-02-29'), ('a', nan, '2024-03-01'), (NULL, 3, '2024-03-02')"
        )
        yield opened
        opened.query("DROP TABLE people")


@pytest.fixture(scope="module")
def backend(built):
    return over_chdb(built)


def exact(backend, query=ROWS):
    with backend.snapshot() as snapshot:
        actual = snapshot.run(query)
    return list(zip(actual.exact_keys().column(0).to_pylist(), actual.exact_integers("n").tolist(), strict=True))


def test_keys_and_integers_come_out(backend):
    assert exact(backend) == [("a", 2), (None, 1)]


def test_integers_of_128_bits_come_out_whole(backend):
    query = Query(f"SELECT 'a' AS k, toInt128('-{WIDE}') AS n", ("k",), ("n",), (pa.string(),))
    assert exact(backend, query) == [("a", -WIDE)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM file('/etc/hostname', 'LineAsString')",
        "SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString')",
        "SELECT * FROM executable('id', 'TSV', 'a String')",
        "INSERT INTO people SELECT * FROM people",
        "CREATE TABLE other (a Int64) ENGINE = Memory",
        "DROP TABLE people",
    ],
)
def test_statements_can_neither_write_nor_read_elsewhere(backend, sql):
    with pytest.raises(BackendError):
        backend.public(Query(sql, ("a",), (), (pa.string(),)))
    assert exact(backend) == [("a", 2), (None, 1)]


def test_an_error_says_nothing_of_the_rows(backend):
    with pytest.raises(BackendError) as caught:
        backend.public(Query("SELECT throwIf(k = 'a', 'private text') AS a FROM people", ("a",), (), (pa.int64(),)))
    assert "private" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.incident


@pytest.mark.parametrize("quoted", ["Code: 241. DB::Exception: x", "error code 241", "Code: 159. DB::x"])
def test_words_that_a_row_may_hold_are_no_code(built, backend, quoted):
    sql = f"SELECT throwIf(1 = 1, '{quoted}') AS a"
    with pytest.raises(BackendError) as caught:
        backend.public(Query(sql, ("a",), (), (pa.int64(),)))
    assert caught.value.code == "engine-failed"
    assert code_of(RuntimeError(f"No number. {quoted}")) is None


def test_tables_and_types_are_read_and_nothing_is_called_unique(backend):
    table = backend.schema().tables["people"]
    assert {c.name: (c.type, c.nullable) for c in table.columns.values()} == {
        "k": (Type.TEXT, True),
        "x": (Type.FLOAT, False),
        "d": (Type.DATE, False),
    }
    assert not table.unique


@pytest.mark.parametrize(
    ("native", "kind", "spelled"),
    [
        ("Nullable(Decimal(12, 2))", Type.DECIMAL, "DECIMAL(12,2)"),
        ("Decimal(76, 2)", Type.OTHER, "DECIMAL(76,2)"),
        ("LowCardinality(Nullable(String))", Type.TEXT, "VARCHAR"),
        ("Enum8('a' = 1, 'b)' = 2)", Type.TEXT, "Enum8"),
        ("FixedString(3)", Type.TEXT, "FixedString"),
        ("UInt64", Type.DECIMAL, "UBIGINT"),
        ("Int128", Type.DECIMAL, "HUGEINT"),
        ("Int256", Type.OTHER, "Int256"),
        ("DateTime('Europe/Berlin')", Type.TIMESTAMP, "DateTime"),
        ("DateTime64(9, 'UTC')", Type.TIMESTAMP, "TIMESTAMP_NS"),
        ("Array(Int64)", Type.OTHER, "Array(Int64)"),
        ("Map(String, Int64)", Type.OTHER, "Map(String, Int64)"),
        ("Tuple(a Int64)", Type.OTHER, "Tuple(a Int64)"),
    ],
)
def test_types_are_told_by_a_list(native, kind, spelled):
    column = column_of("c", native)
    assert (column.type, column.native) == (kind, spelled)
    assert column.loose == (spelled in {"Enum8", "FixedString", "TIMESTAMP_NS"})


def test_what_lies_under_a_null_is_not_computed_with(built, backend):
    """A view may leave NaN below a NULL; casting that to a whole number would fail on that row alone."""
    built.query("CREATE VIEW hidden AS SELECT if(isNaN(x), NULL, x) AS z FROM people")
    try:
        text = grid_integer(Column("z", Type.FLOAT), Grid(0.0, 0, -5, 5), CLICKHOUSE)
        table = backend.public(Query(f"SELECT {text} AS z FROM hidden ORDER BY 1", ("z",), (), (pa.int64(),)))
        assert table.column(0).to_pylist() == [2, 3, None]
    finally:
        built.query("DROP VIEW hidden")


def test_bytes_that_are_no_text_are_made_text_before_they_are_grouped(backend):
    key = CLICKHOUSE.printable("'a\\xff'", Column("k", Type.TEXT))
    table = backend.public(Query(f"SELECT {key} AS k", ("k",), (), (pa.string(),)))
    assert table.column(0).to_pylist() == ["a\ufffd"]


@pytest.mark.parametrize("text", ["", "a'b", "a\\", "\\'", "a\x00b", "é😀", "\n\t", "{a:String}", "?", "%s", "$$", "`"])
def test_constants_arrive_as_they_were_written(backend, text):
    table = backend.public(Query(f"SELECT {CLICKHOUSE.string(text)} AS k", ("k",), (), (pa.string(),)))
    assert table.column(0).to_pylist() == [text]


@pytest.mark.parametrize("function", ["reverse", "like"])
def test_what_cannot_be_the_same_is_refused(function):
    arguments = (Column("a", Type.TEXT), Column("b", Type.TEXT))
    with pytest.raises(UnsupportedSQLError) as caught:
        scalar(Call(function, arguments if function == "like" else arguments[:1], Type.TEXT), CLICKHOUSE)
    assert caught.value.code == "engine-lacks"


def test_all_of_a_pattern_that_may_match_nothing_is_refused():
    column, empty = Column("a", Type.TEXT), Literal("x*", Type.TEXT)
    with pytest.raises(UnsupportedSQLError):
        scalar(Call("regexp_replace_all", (column, empty, empty), Type.TEXT), CLICKHOUSE)


def joined(condition):
    """Two tables in a full outer join on a condition about `a` of the left and `b` of the right."""
    return from_text(Join("full", Scan("x", "t0"), Scan("y", "t1"), condition), CLICKHOUSE)


def test_an_outer_join_without_a_key_is_refused_before_it_is_run():
    left, right = (Column(name, Type.TEXT, table=table) for name, table in (("a", "t0"), ("b", "t1")))
    equal, less = (Call(name, (left, right), Type.BOOLEAN) for name in ("equal", "less"))
    own = Call("equal", (right, right), Type.BOOLEAN)
    for condition in (less, own, Call("or", (equal, less), Type.BOOLEAN), None):
        with pytest.raises(UnsupportedSQLError):
            joined(condition)
    for name in ("equal", "is_not_distinct", "same_text"):
        assert "FULL JOIN" in joined(Call(name, (left, right), Type.BOOLEAN))


NESTED = {
    "exists": "EXISTS (SELECT 1 FROM people b WHERE b.k = a.k AND EXISTS (SELECT 1 FROM people c WHERE c.k = b.k))",
    "scalar": "a.x < (SELECT SUM(b.x) FROM people b WHERE b.k = a.k AND b.x < "
    "(SELECT AVG(c.x) FROM people c WHERE c.k = b.k))",
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_query_about_a_row_two_levels_up_is_refused_before_anything_is_charged(built, tmp_path, kind):
    """ClickHouse itself refuses it only when it is run. Private rows are tied to the person of the outermost one."""
    (tmp_path / "c.yaml").write_text(
        "dataset: shop\nbudget: {epsilon: 10, delta: 1e-6}\ndefaults: {epsilon: 1, delta: 1e-8}\n"
        "tables: {people: {unit: k, max_rows: 2, columns: {x: {lower: 0, upper: 9}}}}\n"
    )
    with hr.connect(built, catalog=tmp_path / "c.yaml", ledger=tmp_path / "l.ledger") as db:
        with pytest.raises(UnsupportedSQLError) as caught:
            db.sql(f"SELECT COUNT(*) AS n FROM people a WHERE {NESTED[kind]}")
        assert caught.value.code == "engine-lacks"
        assert db.budget.spent.epsilon == 0
        assert len(db.sql(f"SELECT COUNT(*) AS n FROM people a WHERE {NESTED[kind].partition(' AND ')[0]})")) == 1


def test_a_statement_can_be_cancelled(built):
    backend, raised = over_chdb(built), []

    def ask():
        try:
            backend.public(Query(FOREVER, ("n",), (), (pa.int64(),)))
        except BackendError as error:
            raised.append(error.code)

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        backend.cancel()
        thread.join(0.05)
    assert raised == ["cancelled"]
    assert exact(backend) == [("a", 2), (None, 1)]


def test_threads_share_a_session(backend):
    actual = []
    threads = [threading.Thread(target=lambda: actual.append(exact(backend))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [[("a", 2), (None, 1)]] * 8


def test_selected_keys_go_along_with_a_statement(backend):
    keys = pa.table(
        {
            "k": pa.array(["a'\\", None, "é\n"], type=pa.string()),
            "x": pa.array([float("nan"), -0.5, None], type=pa.float64()),
            "place": pa.array([0, 1, 2], type=pa.int64()),
        }
    )
    parts = StatementParts((Step("s", "SELECT k, x, place FROM chosen"),), "SELECT k, place AS n FROM s ORDER BY n")
    query = Query(backend.dialect.statement_text(parts), ("k",), ("n",), (pa.string(),), statement=parts)
    with backend.snapshot() as snapshot:
        snapshot.load("chosen", keys)
        actual = snapshot.run(query)
    assert actual.exact_keys().column(0).to_pylist() == ["a'\\", None, "é\n"]


def test_a_session_and_a_word_become_backends(built):
    assert connect_backend(built).handed_in
    opened = connect_backend("chdb:")
    assert not opened.handed_in
    assert exact(opened) == [("a", 2), (None, 1)]
    opened.close()
    assert exact(over_chdb(built)) == [("a", 2), (None, 1)]


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(BackendError) as caught:
        open_chdb(f"chdb://{tmp_path / 'nothing'}")
    assert caught.value.code == "no-database"
    assert not (tmp_path / "nothing").exists()


def test_a_second_folder_in_one_process_is_refused(built, tmp_path):
    with pytest.raises(BackendError) as caught:
        open_chdb(f"chdb://{tmp_path}")
    assert caught.value.code == "open-here"


@contextmanager
def served(built):
    """A server that answers each statement with what chdb computes for it, in the format that it asks for."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode("utf-8")
            self.answer(body)

        def do_GET(self):
            self.answer(parse_qs(urlsplit(self.path).query).get("query", ["SELECT 1"])[0])

        def answer(self, sql):
            parameters = parse_qs(urlsplit(self.path).query)
            form = "Native" if "FORMAT Native" in sql or "default_format" in parameters else "TabSeparated"
            form = "Arrow" if sql.rstrip().endswith("FORMAT Arrow") else form
            try:
                for database in parameters.get("database", []):
                    built.query(f"USE {database}")
                data, status = bytes(built.query(sql, form).bytes()), 200
            except Exception as error:  # noqa: BLE001 - as a server would say it
                data, status = str(error).encode("utf-8"), 500
                built.query("SELECT 1", "CSV")
            self.send_response(status)
            if status != 200:
                self.send_header("X-ClickHouse-Exception-Code", str(number_of(RuntimeError(data.decode("utf-8")))))
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-ClickHouse-Summary", "{}")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_gives_the_same_over_http(built):
    with served(built) as port:
        backend = connect_backend(f"clickhouse://default@127.0.0.1:{port}")
        assert isinstance(backend, ClickHouse)
        assert exact(backend) == [("a", 2), (None, 1)]
        assert backend.schema().tables["people"].columns["d"].type is Type.DATE
        with pytest.raises(BackendError) as caught:
            backend.public(Query("SELECT throwIf(k = 'a', 'private text') AS a FROM people", ("a",), (), (pa.int64(),)))
        assert caught.value.code == "engine-failed"
        with pytest.raises(BackendError) as caught:
            backend.public(Query("SELECT nothing FROM people", ("a",), (), (pa.int64(),)))
        assert caught.value.code == "schema-changed"
        backend.close()


def test_a_database_that_is_not_on_the_server_is_said(built):
    with served(built) as port:
        with pytest.raises(BackendError) as caught:
            connect_backend(f"clickhouse://default@127.0.0.1:{port}/nowhere")
        assert caught.value.code == "no-database"


def test_a_client_that_is_handed_in_stays_open(built):
    with served(built) as port:
        client = clickhouse_connect.get_client(host="127.0.0.1", port=port)
        backend = over_client(client)
        assert backend.handed_in
        backend.close()
        assert exact(backend) == [("a", 2), (None, 1)]
        client.close()


def test_a_server_that_is_not_there_is_said_without_the_password():
    with pytest.raises(BackendError) as caught:
        connect_backend("clickhouse://me:secret-word@127.0.0.1:1/db")
    assert caught.value.code == "no-server"
    assert "secret-word" not in str(caught.value)
