"""SQLAlchemy, and what reads through it."""

import pandas as pd
import polars as pl
import pytest
from sqlalchemy import Column, MetaData, String, Table, create_engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError, NoSuchTableError

from .test_dbapi import BY_REGION, STATEMENTS, TABLES


@pytest.fixture
def engine(build):
    place = build(STATEMENTS, TABLES, min_frequency=5).place
    file = place / "hedgerow.toml"
    file.write_text('[project]\ndatabase = "data.duckdb"\ncatalog = "data.yaml"\n')
    engine = create_engine(f"hedgerow:///{file}?analyst=ann&epsilon=0.5")
    yield engine
    engine.dispose()


def test_a_question_is_asked_and_paid_at_the_price_of_the_url(engine):
    with engine.connect() as connection:
        rows = connection.execute(text(BY_REGION)).all()
        assert [row.region for row in rows] == ["north", "south"]
        (entry,) = connection.connection.dbapi_connection.database.budget.history
        assert (entry.analyst, entry.charge["epsilon"]) == ("ann", pytest.approx(0.5))


def test_expressions_are_written_as_sql_with_parameters_and_limits(engine):
    people = Table("people", MetaData(), autoload_with=engine)
    assert [column.name for column in people.columns] == ["id", "region", "income", "age"]
    question = (
        select(people.c.region, func.count().label("n"), func.avg(people.c.income).label("mean"))
        .where(people.c.age > 30)
        .group_by(people.c.region)
        .order_by(people.c.region)
        .limit(1)
    )
    with engine.connect() as connection:
        (row,) = connection.execute(question).all()
    assert row.region == "north"
    assert abs(row.n - 1311) < 300


def test_tables_and_columns_are_listed(engine):
    seen = inspect(engine)
    assert seen.get_table_names() == ["people"]
    assert (seen.has_table("people"), seen.has_table("nothing")) == (True, False)
    assert [column["name"] for column in seen.get_columns("people")] == ["id", "region", "income", "age"]
    assert (seen.get_foreign_keys("people"), seen.get_indexes("people"), seen.get_view_names()) == ([], [], [])
    assert seen.get_table_comment("people") == {"text": None}
    with pytest.raises(NoSuchTableError):
        seen.get_columns("nothing")


def test_pandas_and_polars_read_through_it(engine):
    with engine.connect() as connection:
        frame = pd.read_sql(text(BY_REGION), connection)
        same = pl.read_database(BY_REGION, connection)
    assert list(frame["region"]) == same["region"].to_list() == ["north", "south"]
    assert list(frame["n"]) == same["n"].to_list()


def test_writing_is_refused(engine):
    people = Table("people", MetaData(), Column("region", String))
    with engine.connect() as connection, pytest.raises(DBAPIError):
        connection.execute(people.insert().values(region="west"))
