"""The trail says who asked what at which price; of the data it says nothing."""

import json
import re
import struct

import duckdb
import pytest

import hedgerow as hr

from ...internals import session_of

MARKER = 123457_135791_3
"""A value so long that no random digits or hashes contain it by chance (below 1e-9)."""

RARE = "only one street is called 123457"
QUERIES = (
    "SELECT COUNT(*), SUM(income) AS total, AVG(income) AS mean FROM people",
    "SELECT street, COUNT(*) AS n, SUM(income) AS total FROM people GROUP BY street",
    "SELECT COUNT(*) FROM people WHERE income > 1000000",
    "SELECT SUM(number) FROM failing",
)
CATALOG = """\
dataset: town
budget: {epsilon: 3, delta: 1e-6}
defaults: {epsilon: 0.2, delta: 1e-7, min_frequency: 5}
tables:
  people:
    unit: id
    unit_unique: true
    columns: {income: {lower: 0, upper: 1e13}}
  failing: {unit: id, max_rows: 1, columns: {number: {lower: 0, upper: 10}}}
"""


@pytest.fixture
def asked_town(tmp_path):
    """Makes a town of some size in which one person earns `value`, asks it everything, and closes it."""

    def make(name, *, size, value):
        folder = tmp_path / name
        folder.mkdir()
        with duckdb.connect(str(folder / "town.duckdb")) as connection:
            connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, income BIGINT, street VARCHAR)")
            connection.execute("INSERT INTO people SELECT i, 0, 'street ' || (i % 3) FROM range(?) t(i)", [size])
            connection.execute("UPDATE people SET income = ?, street = ? WHERE id = 0", [value, RARE])
            connection.execute("CREATE TABLE words AS SELECT id, income || ' ' || street AS word FROM people")
            connection.execute("CREATE VIEW failing AS SELECT id, CAST(word AS BIGINT) AS number FROM words")
        (folder / "town.yaml").write_text(CATALOG)
        with hr.connect(folder / "town.duckdb", catalog=folder / "town.yaml") as db:
            for query in QUERIES[:-1]:
                db.sql(query)
            with pytest.raises(hr.BackendError):
                db.sql(QUERIES[-1])
            return folder, list(session_of(db).ledger.export())

    return make


def test_neither_the_file_nor_the_export_holds_an_exact_value(asked_town):
    folder, lines = asked_town("town", size=2000, value=MARKER)
    file = (folder / "town.ledger").read_bytes()
    export = "\n".join(lines).encode()
    shapes = [str(MARKER).encode(), RARE.encode(), RARE.encode("utf-16-le")]
    shapes += [struct.pack(form, MARKER) for form in ("<q", ">q", "<d", ">d")]
    shapes += [json.dumps(float(MARKER)).encode(), float(MARKER).hex().encode(), f"{MARKER:x}".encode()]
    for shape in shapes:
        assert shape not in export
        assert shape not in file
    assert b"street 1" in file  # what was released is there: the search would find what it looks for


def test_the_trail_of_two_towns_that_were_asked_the_same_is_the_same(asked_town):
    _, one = asked_town("one", size=2000, value=MARKER)
    _, other = asked_town("other", size=350, value=17)
    assert len(one) == 1 + 2 * len(QUERIES)
    assert [without_time_and_noise(line) for line in one] == [without_time_and_noise(line) for line in other]


def without_time_and_noise(line):
    """An entry without its time, its random name and salt, and what was hashed from them or from the noisy release."""
    entry = json.loads(line)
    entry["body"].pop("release", None)
    entry["body"].pop("ledger", None)
    for name in ("time", "hash", "previous", "salt"):
        assert entry.pop(name)
    return re.sub(r'"period": "[^"]*"', "", json.dumps(entry, sort_keys=True))
