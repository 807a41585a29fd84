"""Output and leftovers of failures; and what Spark is said to lack."""

import datetime as dt

import pytest

import hedgerow as hr
from hedgerow.dialects.spark import SPARK
from hedgerow.errors import BackendError
from hedgerow.expressions.nodes import Call, Column
from hedgerow.expressions.types import Type

from ...conformance.engines.spark import why_not
from ...conformance.test_queries import agree
from .conftest import FAILING, SECRET, chosen, counted, nothing_left, whole

if why_not() is not None:
    pytest.skip(f"NOT TESTED: {why_not()}", allow_module_level=True)


def test_an_error_of_the_engine_is_one_sentence_and_leaves_nothing(owner, backend, people, capfd):
    session = backend._session
    session.read.parquet(f"{people}/people.parquet").createTempView("gone")
    (people / "people.parquet").unlink()
    try:
        with nothing_left(owner, session), pytest.raises(BackendError) as caught:
            chosen(backend, whole(FAILING))
    finally:
        session.catalog.dropTempView("gone")
    error, said = caught.value, "".join(capfd.readouterr())
    assert str(error).startswith(f"The database could not run the query (incident {error.incident}).")
    assert (error.code, error.__cause__) == ("engine-failed", None)
    assert "people" not in said
    assert SECRET not in said


def test_a_value_that_an_error_quotes_is_not_said(hostile, pair, capfd):
    text = f"SELECT CAST(raise_error('{SECRET}' || region) AS BIGINT) AS n FROM regions"
    with pytest.raises(BackendError) as caught:
        counted(pair.engine, text)
    assert SECRET not in str(caught.value)
    assert SECRET not in "".join(capfd.readouterr())


def test_memory_that_runs_out_is_told_by_the_class_of_the_error_and_spark_goes_on(hostile, pair):
    with pytest.raises(BackendError) as caught:
        counted(pair.engine, "SELECT COUNT(*) AS n FROM range(1) WHERE length(space(CAST(2147483646 + id AS INT))) > 5")
    assert caught.value.code == "out-of-memory"
    assert counted(pair.engine, "SELECT COUNT(*) AS n FROM regions") == [5]


def test_a_value_that_reads_like_an_error_of_memory_is_none(backend):
    value = "java.lang.OutOfMemoryError SparkOutOfMemoryError UNABLE_TO_ACQUIRE_MEMORY spark.driver.maxResultSize"
    with pytest.raises(BackendError) as caught:
        counted(backend, f"SELECT CAST(raise_error('{value}' || region) AS BIGINT) AS n FROM regions")
    assert caught.value.code == "engine-failed"


@pytest.mark.parametrize(
    "write",
    [
        lambda: SPARK.constant(dt.time(12)),
        lambda: SPARK.call(Call("cast_time", (Column("ordered_at", Type.TIMESTAMP),), Type.TIME), ["ordered_at"]),
    ],
)
def test_the_refusal_of_times_of_day_names_the_type(write):
    with pytest.raises(hr.UnsupportedSQLError) as caught:
        write()
    assert caught.value.code == "engine-lacks"
    assert caught.value.message == "On Spark SQL, the type TIME (times of day) is not available."


def test_no_function_and_no_table_is_made(owner, hostile, pair):
    def there():
        functions = {row.function for row in hostile.sql("SHOW USER FUNCTIONS").collect()}
        tables = {table.name for table in hostile.catalog.listTables()}
        return functions, tables, [base.name for base in hostile.catalog.listDatabases()]

    before = there()
    assert agree(pair, "SELECT MEDIAN(amount) AS v FROM orders")
    assert there() == before


def test_types_are_told_by_a_list_and_nothing_is_called_enforced(owner, hostile, pair, tmp_path):
    columns = (
        "id BIGINT NOT NULL, small SMALLINT, flag BOOLEAN, real FLOAT, double DOUBLE, price DECIMAL(12,2), "
        "word STRING, short VARCHAR(4), padded CHAR(4), folded STRING COLLATE UTF8_LCASE, day DATE, "
        "moment TIMESTAMP_NTZ, instant TIMESTAMP, blob BINARY, list ARRAY<INT>, parts STRUCT<a: INT>, "
        "lookup MAP<STRING, INT>, span INTERVAL DAY TO SECOND"
    )
    owner.sql(f"CREATE TABLE kinds ({columns}) USING parquet LOCATION '{tmp_path}/kinds'")
    try:
        table = pair.engine.schema().tables["kinds"]
    finally:
        owner.sql("DROP TABLE kinds")
    assert {name: column.type for name, column in table.columns.items()} == {
        **dict.fromkeys(("id", "small"), Type.INTEGER),
        "flag": Type.BOOLEAN,
        **dict.fromkeys(("real", "double"), Type.FLOAT),
        "price": Type.DECIMAL,
        **dict.fromkeys(("word", "short"), Type.TEXT),
        "day": Type.DATE,
        **dict.fromkeys(("moment", "instant"), Type.TIMESTAMP),
        **dict.fromkeys(("padded", "folded", "blob", "list", "parts", "lookup", "span"), Type.OTHER),
    }
    assert table.columns["price"].native == "DECIMAL(12,2)"
    assert [name for name, column in table.columns.items() if column.instant] == ["instant"]
    assert [name for name, column in table.columns.items() if not column.collated] == ["word", "short"]
    assert all(column.nullable for column in table.columns.values())
    assert not table.unique
