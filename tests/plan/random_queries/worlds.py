"""Random schemas, their catalogs, and small databases for them."""

import datetime as dt
import math
from dataclasses import dataclass, field, replace
from decimal import Decimal

from hedgerow.catalog import model

DATES = [dt.date(2020, 1, 1), dt.date(2020, 1, 31), dt.date(2020, 2, 29), dt.date(2021, 7, 4)]
QUARTERS = [-2.0, -0.25, 0.0, 0.5, 0.75, 1.0, 2.25, 5.5, 10.0]
PLACES = ["a", "b", "c", "A"]
TYPES = {
    "int": "INTEGER",
    "double": "DOUBLE",
    "decimal": "DECIMAL(9, 2)",
    "text": "VARCHAR",
    "date": "DATE",
    "bool": "BOOLEAN",
}
WITHIN = {
    "int": [-1, 0, 1, 2, 3, 4],
    "double": QUARTERS,
    "decimal": [Decimal(str(k)) for k in QUARTERS],
    "text": PLACES,
    "date": DATES,
    "bool": [True, False],
}
"""Values inside every bound that is declared, whose sums a double holds exactly."""

WILD = {
    "int": [2**31 - 1, -(2**31), 11, -4],
    "double": [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.1, 1e9],
    "decimal": [Decimal("9999999.99"), Decimal("-9999999.99"), Decimal("0.01")],
    "text": ["", " a", "a|b", "\\", "ä", "x" * 40],
    "date": [dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "bool": [True, False],
}
LOWER, UPPER = -4, 12
DECLARED = ("a", "b", "c", "A")
PARENTS = {"order": "orders", "item": "items"}
UNIQUE_AS_DECLARED = {"people", "orders", "items"}
"""Tables with a key that the catalog calls unique: the unit of people, and what paths lead to."""


@dataclass(frozen=True)
class Column:
    """One column. `role`: the unit, a key that a path leads over, or a text shared with a public table."""

    name: str
    kind: str
    nullable: bool = True
    bounded: bool = False
    values: bool = False
    role: str = ""


@dataclass(frozen=True)
class Table:
    """One table; `unit` is its own column or the path to it, `unique` how a key of it is enforced."""

    name: str
    columns: tuple[Column, ...]
    unit: str | model.Through | None = None
    key: str | None = None
    enforced: str = ""
    unit_unique: bool = False
    max_rows: int | None = None
    max_rows_per_group: int | None = None
    max_groups: int | None = None
    size: int = model.DEFAULT_SIZE

    @property
    def public(self):
        return self.unit is None

    def ddl(self):
        lines = []
        for column in self.columns:
            constraint = self.enforced if column.name == self.key else ""
            missing = "" if column.nullable else " NOT NULL"
            lines.append(f"{column.name} {TYPES[column.kind]}{missing} {constraint}")
        return f"CREATE OR REPLACE TABLE {self.name} ({', '.join(lines)})"

    def declared(self):
        """The table of the catalog."""
        return model.DeclaredTable(
            self.name,
            public=self.public,
            unit=self.unit,
            unit_unique=self.unit_unique,
            max_rows=self.max_rows,
            max_rows_per_group=self.max_rows_per_group,
            max_groups=self.max_groups,
            size=self.size,
            columns={
                c.name: model.DeclaredColumn(
                    c.name,
                    lower=LOWER if c.bounded else None,
                    upper=UPPER if c.bounded else None,
                    values=DECLARED if c.values else None,
                )
                for c in self.columns
                if c.bounded or c.values
            },
        )


@dataclass(frozen=True)
class World:
    """Tables, and rows for them."""

    tables: dict[str, Table]
    rows: dict[str, list[tuple]] = field(default_factory=dict)

    def catalog(self):
        tables = {name: table.declared() for name, table in self.tables.items()}
        return model.Catalog("test", model.BudgetPolicy(1.0, 1e-6), tables)

    def units(self):
        """Everybody who owns a row, in order."""
        own = [table for table in self.tables.values() if isinstance(table.unit, str)]
        actual = {row[_place(table, table.unit)] for table in own for row in self.rows[table.name]}
        return sorted(actual - {None})

    def without(self, unit):
        """The same world, had this unit never been in it."""
        return self._keeping(lambda owner: owner != unit)

    def alone(self, unit):
        """The same world, had only this unit been in it (None: nobody)."""
        return self._keeping(lambda owner: owner in {unit, None})

    def owned_only(self):
        """The same world without rows that nobody owns."""
        return self._keeping(lambda owner: owner is not None)

    def _keeping(self, keep):
        """The rows of which some owner is kept: where a path is false a row has several, and stays for the others."""
        kept = {}
        for name, table in self.tables.items():
            rows = self.rows[name]
            kept[name] = rows if table.public else [row for row in rows if any(map(keep, self._owners(table, row)))]
        return replace(self, rows=kept)

    def _owners(self, table, row):
        """Everybody whom the row belongs to; None, if nobody."""
        if isinstance(table.unit, str):
            return {row[_place(table, table.unit)]}
        ((own, other),) = table.unit.on
        target = self.tables[table.unit.table]
        actual = [r for r in self.rows[target.name] if r[_place(target, other)] == row[_place(table, own)] is not None]
        owners = {owner for r in actual for owner in self._owners(target, r)} - {None}
        return owners or {None}


def _place(table, name):
    return next(i for i, column in enumerate(table.columns) if column.name == name)


class Chooser:
    """Makes choices: all that is random here. `pick` gives a whole number from zero to below what it is asked."""

    def __init__(self, pick):
        self._pick = pick

    def choose(self, options):
        return options[self._pick(len(options))]

    def chance(self, one_in):
        """True once in so many."""
        return self._pick(one_in) == one_in - 1

    def number(self, low, high):
        return low + self._pick(high - low + 1)


class Maker(Chooser):
    """Makes worlds. `wild`: what is declared may be false, and limits are narrow.

    False are bounds, values, sizes, one row per unit, unique keys of public tables and of those that paths lead to.
    """

    def __init__(self, pick, *, wild):
        super().__init__(pick)
        self._wild = wild

    def world(self):
        """A schema with a unit, and a small database in it."""
        tables = self._tables()
        people = _unit_values(tables)[: self.choose([4, 5, 3, 4, 5, 4, 3, 4, 2, 1, 0])]
        world = World(tables, {})
        for table in tables.values():
            world.rows[table.name] = self._rows(
                table, people, world, self.choose([8, 10, 6, 8, 9, 8, 6, 10, 7, 3, 1, 0])
            )
        return world

    def _tables(self):
        kind = self.choose(["int", "int", "text"])
        orders = self._orders(kind)
        tables = [self._people(kind), orders]
        if not self.chance(4):
            tables.append(self._items(orders))
            if self.chance(2):
                tables.append(self._parcels())
        if self.chance(2):
            tables.append(self._visits(kind))
        tables.append(self._places())
        if self.chance(2):
            tables.append(self._codes())
        return {table.name: table for table in tables}

    def _people(self, kind):
        enforced = self.choose(["PRIMARY KEY", "PRIMARY KEY", "UNIQUE", ""])
        columns = (Column("uid", kind, role="unit"), *self._columns("p"))
        return Table("people", columns, "uid", "uid", enforced, unit_unique=True)

    def _orders(self, kind):
        enforced = self._enforced(["PRIMARY KEY", "NOT NULL UNIQUE", "UNIQUE"])
        unit = Column(self.choose(["uid", "buyer"]), kind, role="unit")
        columns = (Column("oid", "int", role="order"), unit, *self._columns("o"))
        return Table("orders", columns, unit.name, "oid", enforced, **self._limits())

    def _items(self, orders):
        key = Column(self.choose(["oid", "order_ref"]), "int", role="order")
        unit = model.Through(orders.name, ((key.name, "oid"),))
        enforced = self._enforced(["PRIMARY KEY", "UNIQUE"])
        columns = (key, Column("iid", "int", role="item"), *self._columns("l"))
        return Table("items", columns, unit, "iid", enforced, **self._limits())

    def _enforced(self, constraints):
        """Choose how the key that a path leads to is enforced; mostly not at all where the declaration may be false."""
        return self.choose([*constraints, *([""] * (2 * len(constraints) if self._wild else 1))])

    def _parcels(self):
        """A table whose unit is two steps away."""
        key = Column(self.choose(["iid", "item_ref"]), "int", role="item")
        return Table(
            "parcels", (key, *self._columns("s")), model.Through("items", ((key.name, "iid"),)), **self._limits()
        )

    def _visits(self, kind):
        unit = Column(self.choose(["uid", "who"]), kind, role="unit")
        return Table("visits", (unit, *self._columns("v")), unit.name, **self._limits())

    def _places(self):
        enforced = self.choose(["PRIMARY KEY", "UNIQUE", ""])
        size = Column("size", "int", bounded=True)
        return Table(
            "places", (Column("place", "text", role="place"), Column("country", "text"), size), None, "place", enforced
        )

    def _codes(self):
        enforced = self.choose(["PRIMARY KEY", ""])
        columns = (Column("code", "int", role="code"), Column("label", "text"), Column("rate", "double"))
        return Table("codes", columns, None, "code", enforced)

    def _limits(self):
        if not self._wild:
            return {"max_rows": 40}
        rows = self.number(1, 3)
        maybe = self.choose([None, 1, rows]), self.choose([None, 1, 2, 3])
        size = self.choose([model.DEFAULT_SIZE, 1, 3])
        return {"max_rows": rows, "max_rows_per_group": maybe[0], "max_groups": maybe[1], "size": size}

    def _columns(self, letter):
        """Two to five columns, called by their table's letter and their kind; `place` is called so in any table."""
        kinds = sorted({self.choose(sorted(TYPES)) for _ in range(self.number(2, 5))})
        actual = [self._column(f"{letter}_{kind}", kind) for kind in kinds]
        if self.chance(2):
            values = self.chance(3)
            name = self.choose(["place", f"{letter}_place"])
            actual.append(Column(name, "text", nullable=not values and self.chance(2), values=values, role="place"))
        return actual

    def _column(self, name, kind):
        number = kind in {"int", "double", "decimal"}
        return Column(name, kind, nullable=self.chance(2), bounded=number and not self.chance(5))

    def _rows(self, table, people, world, count):
        """Rows of one table; keys that are enforced, or that a path leads to, are unique."""
        values = [_values(column, table, people, world, wild=self._wild) for column in table.columns]
        rows = [tuple(self.choose(cells) for cells in values) for _ in range(count)]
        if table.key is None:
            return rows
        single = bool(table.enforced) or (table.name in UNIQUE_AS_DECLARED and not self._wild)
        return self._with_keys(rows, table, sorted({*values[_place(table, table.key)]} - {None})) if single else rows

    def _with_keys(self, rows, table, keys):
        """The rows under keys that are all different; some have none, where that is allowed."""
        place = _place(table, table.key)
        needed = table.enforced in {"PRIMARY KEY", "NOT NULL UNIQUE"}
        actual = [(*row[:place], key, *row[place + 1 :]) for row, key in zip(rows, keys, strict=False)]
        if needed or not rows or self.chance(2):
            return actual
        return [*actual, (*rows[-1][:place], None, *rows[-1][place + 1 :])]


def _unit_values(tables):
    kind = next(c.kind for c in tables["people"].columns if c.role == "unit")
    return [f"{letter}{i}" for i in range(4) for letter in "uU"] if kind == "text" else list(range(8))


def _values(column, table, people, world, *, wild):
    """Values from which the cells of a column are drawn."""
    if column.role == "unit":
        return [*people, *people, *people, None]
    if (column.role, table.name) in {("order", "orders"), ("item", "items")}:
        keys = range(3 if wild and not table.enforced else 20)
        return [*keys, None, None] if column.role == "order" else [*keys]
    if column.role in PARENTS:
        parent = world.tables[PARENTS[column.role]]
        known = [row[_place(parent, parent.key)] for row in world.rows[parent.name]]
        return [*known, *known, 99, None]
    if column.role == "code":
        return [0, 1, 2, 3, *([None] if column.nullable else [])]
    usual = WITHIN[column.kind]
    actual = [*usual, *usual, *([None] * (len(usual) // 2) if column.nullable else [])]
    return [*actual, *WILD[column.kind]] if wild else actual
