import pytest

from hedgerow.catalog import load_catalog
from hedgerow.errors import CatalogError
from hedgerow.expressions.types import Type
from hedgerow.schema import Schema, SchemaColumn, SchemaTable


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load a catalog from its text; the file is called shop.yaml."""
    monkeypatch.chdir(tmp_path)

    def load_text(text):
        (tmp_path / "shop.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_catalog("shop.yaml")

    return load_text


@pytest.fixture
def refusal(load):
    """The error with which a text is refused."""

    def refuse(text):
        with pytest.raises(CatalogError) as caught:
            load(text)
        return caught.value

    return refuse


def _table(name, unique, /, **columns):
    actual = {column: SchemaColumn(column, kind, kind.name) for column, kind in columns.items()}
    return SchemaTable(name, actual, frozenset(frozenset(key) for key in unique))


@pytest.fixture
def make_table():
    return _table


@pytest.fixture
def shop():
    """A database with customers, orders, order lines and countries, in spellings of its own."""
    tables = [
        _table(
            "Customers",
            [["ID"]],
            ID=Type.INTEGER,
            income=Type.FLOAT,
            region=Type.TEXT,
            joined=Type.DATE,
            active=Type.BOOLEAN,
            shape=Type.OTHER,
        ),
        _table("orders", [["id"]], id=Type.INTEGER, customer_id=Type.INTEGER, price=Type.DECIMAL, note=Type.TEXT),
        _table("order_lines", [], order_id=Type.INTEGER, line=Type.INTEGER, quantity=Type.INTEGER, code=Type.TEXT),
        _table("countries", [["code"]], code=Type.TEXT, name=Type.TEXT),
    ]
    return Schema({table.name: table for table in tables})
