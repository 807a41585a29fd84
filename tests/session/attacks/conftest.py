"""Fixtures of the hostile tests: the corpus, a shop with recognisable values, and the same shop without a person."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import duckdb
import pytest

import hedgerow as hr
from hedgerow.release.postprocess_engine import PostprocessEngine

from ...internals import price_of, session_of

HERE = Path(__file__).parent
CANARIES = ("canary", "98765.4321", "777777.125")
"""Values of single people, and of a table that nobody declared: no reader of answers may ever see one."""

EVERYBODY, TURNED_ROUND = None, "turned round"
"""All people; and all of them with the rows of each table in the opposite order."""

REMOVED = (7, 0, 13, 209)
"""Neighbours without: the largest person, the first, the one with every NULL, one who is no customer."""

OWNED = (
    "DELETE FROM order_lines WHERE order_id IN (SELECT id FROM orders WHERE customer_id = {0})",
    "DELETE FROM orders WHERE customer_id = {0}",
    "DELETE FROM visits WHERE customer_id = {0}",
    "DELETE FROM customers WHERE id = {0}",
)


@dataclass(frozen=True)
class Entry:
    """A query, how it is asked, and what must happen to it."""

    expected: str
    query: str
    options: dict = field(default_factory=dict, hash=False)
    dialect: str = "duckdb"

    @property
    def harmless(self):
        return self.expected.startswith("harmless: ")

    def __str__(self):
        words = " ".join(ascii(self.query)[1:-1].split())
        return f"{self.expected.split(':')[0]}: {words[:70]}"


def read(text):
    """The entries of the corpus."""
    blocks = [block.split("\n") for block in text.strip("\n").split("\n\n")]
    return [_entry(*block) for block in blocks if not block[0].startswith("#")]


def _entry(expected, *lines):
    options = json.loads(lines[0].removeprefix("with ")) if lines[0].startswith("with ") else {}
    query = "\n".join(lines[1:] if options else lines)
    if query.startswith("json "):
        query = json.loads(query.removeprefix("json "))
    return Entry(expected, query, options, options.pop("dialect", "duckdb"))


def _chain(step, links, last):
    """A chain of CTEs, each made from the one before it."""
    steps = ", ".join(f"t{i + 1} AS ({step.format(f't{i}')})" for i in range(links))
    return f"WITH t0 AS (SELECT id, region, income FROM customers), {steps} {last.format(f't{links}')}"


def _where(condition):
    return f"SELECT COUNT(*) AS n FROM customers WHERE {condition}"


LARGE = [
    Entry("too-deep", _where("(" * 500 + "TRUE" + ")" * 500)),
    Entry("too-deep", _where("NOT " * 900 + "TRUE")),
    Entry("too-deep", _where("age > " + "- " * 900 + "1")),
    Entry("too-deep", _where("CASE WHEN TRUE THEN " * 200 + "TRUE" + " END" * 200)),
    Entry("too-deep", _where("ABS(" * 200 + "age" + ")" * 200 + " > 1")),
    Entry("too-deep", _where("age" + "::BIGINT" * 900 + " > 1")),
    Entry("too-deep", _where("age" + " + 1" * 1500 + " > 1")),
    Entry("too-deep", _where(" OR ".join(["age = 1"] * 1200))),
    Entry("too-deep", _where(" AND ".join(["(age = 1 OR id = 7)"] * 400))),
    Entry("huge-literal", _where("region = '" + "x" * 99_000 + "'")),
    Entry("too-long", _where("region = '" + "x" * 200_000 + "'")),
    Entry("huge-literal", _where("age = " + "9" * 90_000)),
    Entry("huge-literal", _where("age = 0." + "9" * 90_000)),
    Entry("huge-literal", _where("age = 1e" + "9" * 90_000)),
    Entry(
        "harmless: an IN list of constants, however long", _where("age IN (" + ", ".join(map(str, range(1200))) + ")")
    ),
    Entry("too-long", _where("age IN (" + ", ".join(map(str, range(11_000))) + ")")),
    Entry("unknown-column", _where('"' + "x" * 50_000 + '" = 1')),
    Entry("refused", _where("CASE " + "WHEN age = 1 THEN TRUE " * 600 + "END")),
    Entry("huge-literal", _where("region LIKE '" + "%a" * 20_000 + "'")),
    Entry("too-deep", _where("region" + " || region" * 1200 + " = 'x'")),
    Entry("too-deep", _where("REPLACE(" * 50 + "region" + ", 'o', 'oooooooooooooooooooo')" * 50 + " = 'x'")),
    Entry("too-deep", _where("age > (" + "SELECT MAX(n) FROM numbers WHERE n < (" * 60 + "SELECT 1" + ")" * 60 + ")")),
    Entry("too-deep", "SELECT COUNT(*) AS n FROM " + "(SELECT * FROM " * 40 + "customers" + ") AS t" * 40),
    Entry("too-deep", "SELECT COUNT(*) AS n FROM " + "(SELECT * FROM " * 300 + "customers" + ") AS t" * 300),
    Entry("too-deep", "(" * 300 + "SELECT COUNT(*) FROM customers" + ")" * 300),
    Entry("too-deep", " UNION ALL ".join(["SELECT COUNT(*) AS n FROM customers"] * 1100)),
    Entry(
        "too-deep", "SELECT COUNT(*) AS n FROM (" + " UNION ALL ".join(["SELECT id FROM customers"] * 700) + ") AS t"
    ),
    Entry("refused", "SELECT " + ", ".join(f"AVG(income + {i}) AS c{i}" for i in range(500)) + " FROM customers"),
    Entry(
        "refused",
        "SELECT COUNT(*) FROM customers AS c0" + "".join(f" JOIN customers AS c{i} USING (id)" for i in range(1, 400)),
    ),
    Entry("refused", "SELECT COUNT(*) FROM customers" + "".join(f" CROSS JOIN numbers AS c{i}" for i in range(1, 400))),
    Entry(
        "refused",
        "SELECT region, COUNT(*) FROM customers GROUP BY CUBE (" + ", ".join(["region, age, income, score"] * 8) + ")",
    ),
    Entry("harmless: white space is white space", "SELECT COUNT(*) AS n" + " FROM customers" + " " * 99_000),
    Entry("harmless: a comment is a comment", "SELECT COUNT(*) AS n /*" + "*" * 90_000 + "*/ FROM customers"),
    Entry("refused", "SELECT COUNT(*) AS n /*" + "/*" * 40_000 + " FROM customers"),
    Entry("harmless: a long name is only shown", "SELECT COUNT(*) AS " + '"' + "n" * 60_000 + '"' + " FROM customers"),
    Entry(
        "harmless: a chain of names for the same rows", _chain("SELECT * FROM {}", 12, "SELECT COUNT(*) AS n FROM {}")
    ),
    Entry("refused", _chain("SELECT * FROM {}", 500, "SELECT COUNT(*) AS n FROM {}")),
    Entry("refused", _chain("SELECT * FROM {0} UNION ALL SELECT * FROM {0}", 40, "SELECT COUNT(*) AS n FROM {}")),
    Entry(
        "refused", _chain("SELECT a.* FROM {0} AS a JOIN {0} AS b ON a.id = b.id", 40, "SELECT COUNT(*) AS n FROM {}")
    ),
    Entry(
        "harmless: what is clipped in the end is bounded, whatever it was",
        _chain(
            "SELECT id, region, income + income AS income FROM {0}", 12, "SELECT SUM(CLIP(income, 0, 1)) AS n FROM {}"
        ),
    ),
    Entry(
        "harmless: text is cut before it grows out of hand",
        _chain(
            "SELECT id, income, region || region AS region FROM {0}",
            12,
            "SELECT region, COUNT(*) AS n FROM {} GROUP BY region",
        ),
    ),
    Entry(
        "harmless: text is cut before it grows out of hand",
        _chain(
            "SELECT id, income, REPLACE(region, 'o', region) AS region FROM {0}",
            12,
            "SELECT region, COUNT(*) AS n FROM {} GROUP BY region",
        ),
    ),
    Entry(
        "refused",
        _chain(
            "SELECT * FROM {0} AS x WHERE EXISTS (SELECT 1 FROM {0} AS y WHERE x.id = y.id)",
            30,
            "SELECT COUNT(*) AS n FROM {}",
        ),
    ),
    Entry(
        "harmless: sums of released numbers are after the noise",
        _chain("SELECT region, SUM(n) AS n FROM {0} GROUP BY region", 2, "SELECT n FROM {}")
        .replace("SELECT id, region, income FROM", "SELECT region, COUNT(*) AS n FROM")
        .replace("FROM customers)", "FROM customers GROUP BY region)"),
    ),
]
"""Statements too large for a text file: long, deep, or growing with every link of a chain."""

CORPUS = [*read((HERE / "hostile.txt").read_text(encoding="utf-8")), *LARGE]


def pytest_generate_tests(metafunc):
    for name, entries in {
        "refusal": [entry for entry in CORPUS if not entry.harmless],
        "harmless": [entry for entry in CORPUS if entry.harmless],
    }.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, entries, ids=str)


@pytest.fixture(scope="session")
def corpus():
    return CORPUS


class Recorder:
    """A connection that notes every text on its way to the engine. What it does not offer cannot be used past it."""

    def __init__(self, inner, texts):
        self._inner, self._texts = inner, texts

    def cursor(self):
        return Recorder(self._inner.cursor(), self._texts)

    def execute(self, text, *rest):
        self._texts.append(text)
        return self._inner.execute(text, *rest)

    def sql(self, text, *rest):
        self._texts.append(text)
        return self._inner.sql(text, *rest)

    def register(self, name, table):
        return self._inner.register(name, table)

    def interrupt(self):
        self._inner.interrupt()

    def close(self):
        self._inner.close()


def _turn_round(connection):
    for table in ("customers", "orders", "order_lines", "visits"):
        connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table} ORDER BY rowid DESC")
        connection.execute(f"DELETE FROM {table}")
        connection.execute(f"INSERT INTO {table} SELECT * FROM kept")
        connection.execute("DROP TABLE kept")


class Shops:
    """The shop with everybody in it, and without one person or another; connected when first asked for.

    `sent` has every statement that has reached a database since it was last cleared.
    """

    def __init__(self, folder):
        self._folder, self._connections, self._opened = folder, {}, {}
        self.sent = []

    def __call__(self, without=EVERYBODY, dialect="duckdb"):
        if (without, dialect) not in self._opened:
            ledger = self._folder / f"{without}-{dialect}.ledger"
            shop = hr.connect(self._connection(without), catalog=HERE / "catalog.yaml", ledger=ledger, dialect=dialect)
            session_of(shop).backend._connection = Recorder(session_of(shop).backend._connection, self.sent)
            self._opened[without, dialect] = shop
        return self._opened[without, dialect]

    def _connection(self, without):
        if without not in self._connections:
            connection = duckdb.connect(config={"threads": 1})
            connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
            if without is TURNED_ROUND:
                _turn_round(connection)
            elif without is not EVERYBODY:
                connection.execute(";".join(OWNED).format(without))
            self._connections[without] = connection
        return self._connections[without]

    def close(self):
        for shop in self._opened.values():
            shop.close()
        for connection in self._connections.values():
            connection.close()


@pytest.fixture(scope="session")
def shops(tmp_path_factory):
    opened = Shops(tmp_path_factory.mktemp("hostile"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def understood(shops):
    """The plan of an entry in a shop, and its releases with their prices (None: it reads public tables only)."""

    @cache
    def plan(entry, without=EVERYBODY):
        shop, options = shops(without, entry.dialect), dict(entry.options)
        return price_of(shop, entry.query, **options)

    return plan


@pytest.fixture(scope="session")
def removed():
    return REMOVED


@pytest.fixture(scope="session")
def canaries():
    return CANARIES


@pytest.fixture(scope="session")
def file_shop(tmp_path_factory):
    """The shop as a file that we open ourselves."""
    place = tmp_path_factory.mktemp("file")
    with duckdb.connect(str(place / "shop.duckdb")) as connection:
        connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))
    with hr.connect(place / "shop.duckdb", catalog=HERE / "catalog.yaml", ledger=place / "shop.ledger") as shop:
        yield shop


@pytest.fixture(scope="session")
def postprocess_engine():
    engine = PostprocessEngine()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def recorder():
    return Recorder


@pytest.fixture(scope="session")
def entry_of():
    return Entry


@pytest.fixture(scope="session")
def turned_round():
    return TURNED_ROUND
