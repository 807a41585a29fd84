"""The grammar of private rows: tables, joins, queries in FROM, one person's groups and windows, nested queries."""

from dataclasses import dataclass, replace

from .pen import NUMBERS, Field, Pen, Scope, Source

JOINED = frozenset({"unit", "order", "item"})
"""Columns on which rows of one person meet: the unit, and the keys that paths lead over."""

SIDES = ["JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]


@dataclass(frozen=True)
class Named:
    """A query of WITH that can be read again."""

    name: str
    fields: tuple[Field, ...]
    owned: bool = True
    loose: bool = False


class RowWriter(Pen):
    """Writes FROM clauses and queries whose rows belong to people."""

    def __init__(self, pick, world, wrong_one_in):
        super().__init__(pick, wrong_one_in)
        self.world = world
        self.with_: list[str] = []
        self.known: list[Named] = []

    # FROM -----------------------------------------------------------------------------------------------------------

    def from_rows(self, depth=2):
        """A FROM clause over private rows, perhaps with joins."""
        source = self.private(depth)
        scope = Scope(source.text, [source], loose=source.loose)
        for _ in range(self.choose([0, 0, 1, 1, 2])):
            self._joined(scope, depth)
        return scope

    def private(self, depth):
        """One private relation."""
        owned = [named for named in self.known if named.owned]
        if owned and self.chance(3):
            return self._again(self.choose(owned))
        if depth > 0 and self.chance(2):
            text, fields, loose = self.row_query(depth - 1)
            alias = self.name("q")
            if self.chance(2):
                self.with_.append(f"{alias} AS ({text})")
                self.known.append(Named(alias, fields, loose=loose))
                return self._again(self.known[-1])
            return Source(f"({text}) AS {alias}", alias, fields, loose=loose)
        return self.table(self.choose([t for t in self.world.tables.values() if not t.public]))

    def _again(self, named):
        alias = self.name("w")
        return Source(f"{named.name} AS {alias}", alias, named.fields, owned=named.owned, loose=named.loose)

    def table(self, table):
        alias = self.name("t")
        fields = tuple(Field(c.name, c.kind, c.bounded, c.role) for c in table.columns)
        return Source(f"{table.name} AS {alias}", alias, fields, owned=not table.public, table=table.name)

    def public(self):
        """A public table, or constants."""
        if self.chance(6):
            alias = self.name("v")
            fields = (Field("place", "text", role="place"), Field("worth", "int", bounded=True))
            return Source(
                f"(VALUES ('a', 1), ('b', 2), ('c', NULL)) AS {alias}(place, worth)", alias, fields, owned=False
            )
        return self.table(self.choose([t for t in self.world.tables.values() if t.public]))

    def _joined(self, scope, depth):
        """Join one more relation to the scope."""
        if self.chance(3):
            return self._with_public(scope)
        left = self.choose([s for s in scope.near if s.owned] or scope.near)
        right = self.private(depth - 1) if self.chance(3) else self._partner(left)
        if self.wrong():
            return self._attach(scope, right, self._not_on_the_unit(left, right), using=None)
        pairs = [(a, b) for a in left.fields for b in right.fields if a.role == b.role and a.role in JOINED]
        if not pairs:
            return None
        mine, theirs = self.choose(pairs)
        if mine.role != "unit" and not {left.table, right.table} <= {"orders", "items", "parcels"}:
            return None
        using = mine.name if mine.name == theirs.name else None
        return self._attach(scope, right, f"{left.alias}.{mine.name} = {right.alias}.{theirs.name}", using)

    def _partner(self, left):
        """A table that `left` can be joined with."""
        roles = {f.role for f in left.fields}
        wanted = roles & JOINED
        actual = [t for t in self.world.tables.values() if not t.public and wanted & {c.role for c in t.columns}]
        return self.table(self.choose(actual)) if actual else self.private(0)

    def _not_on_the_unit(self, left, right):
        """A condition that lets rows of two people meet, some of them in disguise."""
        units = [[f"{s.alias}.{f.name}" for f in s.fields if f.role == "unit"] for s in (left, right)]
        if all(units) and self.chance(2):
            one, other = units[0][0], units[1][0]
            nothing = "0" if self._unit_kind() == "int" else "''"
            return self.choose(
                [
                    f"COALESCE({one}, {nothing}) = COALESCE({other}, {nothing})",
                    f"{one} IS NOT DISTINCT FROM {other}",
                    f"({one} = {other} OR {one} IS NULL)",
                    f"{one} >= {other}",
                    f"NOT ({one} <> {other})",
                    f"CASE WHEN {one} IS NULL THEN {other} ELSE {one} END = {other}",
                    f"{one} = {one}",
                ]
            )
        shared = [(a, b) for a in left.fields for b in right.fields if a.kind == b.kind and a.role != "unit"]
        if not shared:
            return "TRUE"
        mine, theirs = self.choose(shared)
        return f"{left.alias}.{mine.name} = {right.alias}.{theirs.name}"

    def _attach(self, scope, right, condition, using):
        side = self.choose(SIDES)
        both = Scope("", [*scope.near, right])
        more = f" AND {self.condition(both, 0)}" if self.chance(4) else ""
        form = self.choose(["on", "on", "on", "using", "natural", "comma", "cross", "semi", "around"])
        before = [f.name for s in scope.near for f in s.fields]
        common = [f.name for f in right.fields if f.name in before]
        if form == "semi":
            scope.text += f" {self.choose(['SEMI', 'ANTI'])} JOIN {right.text} ON {condition}{more}"
            return
        if form == "comma":
            scope.near_from = len(scope.sources)
        if form in {"comma", "cross"}:
            scope.text += f", {right.text}" if form == "comma" else f" CROSS JOIN {right.text}"
            scope.where.append(condition)
        elif form == "around" and len(scope.sources) == 1:
            scope.text = f"{right.text} {side} ({scope.text}) ON {condition}{more}"
        elif form == "using" and using is not None and before.count(using) == 1:
            scope.text += f" {side} {right.text} USING ({using})"
        elif form == "natural" and using is not None and all(before.count(name) == 1 for name in common):
            scope.text += f" NATURAL {side} {right.text}"
        else:
            scope.text += f" {side} {right.text} ON {condition}{more}"
        scope.sources.append(right)
        scope.loose = scope.loose or right.loose

    def _with_public(self, scope):
        """A public table, joined on something they have in common, or on nothing."""
        right = self.public()
        options = self._matching(scope, right)
        scope.loose = True
        if self.chance(8) and options:
            scope.text += f", {right.text}"
            scope.where.append(self.choose(options))
            scope.near_from = len(scope.sources)
            scope.sources.append(right)
            return
        if not options or self.chance(10):
            scope.text += f" CROSS JOIN {right.text}"
        else:
            side = self.choose(SIDES)
            if side in {"RIGHT JOIN", "FULL JOIN"}:
                self._unowned(scope)
            scope.text += f" {side} {right.text} ON {self.choose(options)}"
        scope.sources.append(right)

    def _matching(self, scope, right):
        actual = []
        for source, mine in Scope("", scope.near).fields("int", "text"):
            for theirs in right.fields:
                if theirs.role in {"place", "code"} and theirs.kind == mine.kind:
                    actual += self._lookups(f"{source.alias}.{mine.name}", f"{right.alias}.{theirs.name}", mine.kind)
        return actual

    def _lookups(self, mine, theirs, kind):
        """Conditions between a private and a public column; only the first finds at most one row of a unique key."""
        plain = f"{mine} = {theirs}"
        changed = f"{theirs} + 0" if kind == "int" else f"LOWER({theirs})"
        others = [
            f"{theirs} IS NOT DISTINCT FROM {mine}",
            f"{mine} = {changed}",
            f"{theirs} = {changed}",
            f"{theirs} = {self.literal(kind)}",
            f"{mine} >= {theirs}",
            f"{plain} OR {theirs} IS NULL",
        ]
        return [plain, plain, self.choose(others)]

    def _unowned(self, scope):
        """Rows of the public side that meet nobody are dropped; plain SQL keeps them, unless it is told not to."""
        units = scope.fields(role="unit")
        if units and self.chance(2):
            source, unit = units[0]
            scope.where.append(f"{source.alias}.{unit.name} IS NOT NULL")
            if len([s for s in scope.sources if s.owned]) == 1:
                return
        self.differs.add("rows that nobody owns")

    # WHERE ----------------------------------------------------------------------------------------------------------

    def where(self, scope):
        """A WHERE clause with what joins left to it, and perhaps more."""
        conditions = list(scope.where)
        if self.chance(3):
            conditions.append(self.condition(scope))
        if self.chance(5):
            conditions.append(self.nested(scope))
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def condition(self, scope, depth=1):
        if depth > 0 and self.chance(24):
            return self.nested(scope, inside=True)
        return super().condition(scope, depth)

    def nested(self, scope, *, inside=False):
        """A condition with a query inside. `inside`: it may be negated, or asked whether it is NULL."""
        if self.wrong():
            return self._wrong_nested(scope)
        units = scope.fields(role="unit")
        if not units or self.chance(3):
            return self._public_nested(scope)
        source, unit = self.choose(units)
        return self._guarded(self._own_nested(scope, f"{source.alias}.{unit.name}"), inside=inside)

    def _guarded(self, condition, *, inside):
        """NULL is neither in a set nor outside, unless the set is empty: and here it holds one's own rows alone."""
        left, actual, _ = condition.partition(" IN (")
        negated = left.endswith(" NOT")
        if not actual or "(" in left or not (negated or inside):
            return condition
        if inside or self.chance(2):
            return f"({left.removesuffix(' NOT')} IS NOT NULL AND {condition})"
        self.differs.add("NULL and the rows of others")
        return condition

    def _own_nested(self, scope, outer):
        """A query over other rows of the same person."""
        actual = [t for t in self.world.tables.values() if isinstance(t.unit, str)]
        inner = self.table(self.choose(actual))
        below = Scope(inner.text, [inner])
        unit = next(f"{inner.alias}.{f.name}" for f in inner.fields if f.role == "unit")
        more = f" AND {self.condition(below)}" if self.chance(2) else ""
        maybe = self.choose(["", "", "NOT "])
        numbers = below.fields(*NUMBERS)
        options = [
            f"{maybe}EXISTS (SELECT 1 FROM {inner.text} WHERE {unit} = {outer}{more})",
            f"{outer} {maybe}IN (SELECT {unit} FROM {inner.text} WHERE TRUE{more})",
            f"(SELECT COUNT(*) FROM {inner.text} WHERE {unit} = {outer}{more}) > 1",
            f"{outer} {maybe}IN (SELECT {unit} FROM {inner.text} GROUP BY {unit} HAVING COUNT(*) > 1)",
        ]
        if numbers:
            value = self.ref(below, self.choose(numbers))
            call = self.choose(["MAX", "MIN", "SUM", "AVG"])
            options.append(f"(SELECT {call}({value}) FROM {inner.text} WHERE {outer} = {unit}{more}) > 1.1")
        orders = [pair for pair in scope.fields(role="order") if pair[0].table in {"orders", "items"}]
        items = self.world.tables.get("items")
        if orders and items is not None:
            source, order = self.choose(orders)
            key = items.columns[0].name
            options.append(f"{source.alias}.{order.name} {maybe}IN (SELECT {key} FROM items)")
            options.append(
                f"{source.alias}.{order.name} IN (SELECT {key} FROM items GROUP BY {key} HAVING COUNT(*) > 1)"
            )
            options.append(f"{maybe}EXISTS (SELECT 1 FROM items WHERE items.{key} = {source.alias}.{order.name})")
        return self.choose(options)

    def _public_nested(self, scope):
        texts, numbers = scope.fields("text"), scope.fields("int", "double", "decimal")
        options = ["EXISTS (SELECT 1 FROM places WHERE size > 3)"]
        maybe = self.choose(["", "", "NOT "])
        if texts:
            text = self.ref(scope, self.choose(texts))
            alias = self.name("z")
            options += [
                f"{text} {maybe}IN (SELECT place FROM places WHERE size > 2)",
                f"{text} {maybe}IN (SELECT country FROM places)",
                f"{maybe}EXISTS (SELECT 1 FROM places AS {alias} WHERE {alias}.place = {text} AND {alias}.size > 0)",
                f"(SELECT COUNT(*) FROM places AS {alias} WHERE {alias}.place = {text}) = 1",
            ]
        if numbers:
            number = self.ref(scope, self.choose(numbers))
            options += [f"{number} > (SELECT AVG(size) FROM places)", f"{number} <= (SELECT MAX(size) FROM places)"]
        return self.choose(options)

    def _wrong_nested(self, scope):
        inner = self.table(self.choose([t for t in self.world.tables.values() if not t.public]))
        below = Scope(inner.text, [inner])
        numbers, mine = below.fields(*NUMBERS), scope.fields(*NUMBERS)
        conditions = f"{self.condition(below)} AND {self.condition(below)}"
        options = [f"{self.choose(['', 'NOT '])}EXISTS (SELECT 1 FROM {inner.text} WHERE {conditions})"]
        if numbers and mine:
            one, other = self.ref(scope, self.choose(mine)), self.ref(below, self.choose(numbers))
            options += [
                f"{one} > (SELECT AVG({other}) FROM {inner.text})",
                f"{one} IN (SELECT {other} FROM {inner.text})",
                f"{one} = (SELECT MAX({other}) FROM {inner.text})",
            ]
        return self.choose(options)

    # Queries of rows ------------------------------------------------------------------------------------------------

    def row_query(self, depth):
        """A query whose rows belong to people: its text, its columns, and whether it is loose."""
        if self.chance(6) and depth > 0:
            return self._union()
        scope = self.from_rows(depth)
        units = scope.fields(role="unit")
        if not units:
            return self._projected(scope, None)
        names = [f"{source.alias}.{unit.name}" for source, unit in units]
        unit = self.choose(names)
        if len(names) > 1 and self.chance(4):
            unit = f"COALESCE({names[0]}, {names[1]})"
        built = self.choose(
            [self._projected, self._person, self._person, self._windowed, self._windowed, self._distinct]
        )
        return built(scope, unit)

    def _shown(self, scope, unit):
        """Columns to show, as text, and as fields."""
        texts, fields = [], []
        if unit is not None:
            texts.append(f"{unit} AS {(name := self.name('u'))}")
            fields.append(Field(name, self._unit_kind(), role="unit"))
        for source, column in scope.fields("int", "double", "decimal", "text", "date", "bool"):
            if self.chance(3) and len(texts) > 1:
                continue
            texts.append(f"{source.alias}.{column.name} AS {(name := self.name('c'))}")
            fields.append(replace(column, name=name))
        return texts, fields

    def _unit_kind(self):
        return self.world.tables["people"].columns[0].kind

    def _projected(self, scope, unit):
        texts, fields = self._shown(scope, unit)
        texts.append(f"{self.scalar(scope, 'int')} AS {(name := self.name('c'))}")
        fields.append(Field(name, "int"))
        units = scope.fields(role="unit")
        if units and self.chance(4):
            source, actual = self.choose(units)
            text, column = self._of_the_same_person(f"{source.alias}.{actual.name}")
            texts.append(f"{text} AS {column.name}")
            fields.append(column)
        limit = " LIMIT 3" if self.wrong() else ""
        if len(scope.sources) == 1 and self.chance(4):
            return self._everything(scope, texts, fields)
        query = f"SELECT {', '.join(texts)} FROM {scope.text}{self.where(scope)}{limit}"
        return query, tuple(fields), scope.loose

    def _everything(self, scope, texts, fields):
        """SELECT *, and more."""
        shown = f"*, {texts[-1]}"
        return (
            f"SELECT {shown} FROM {scope.text}{self.where(scope)}",
            (*scope.sources[0].fields, fields[-1]),
            scope.loose,
        )

    def _of_the_same_person(self, outer):
        """A value that a nested query finds in other rows of the person, or in public ones."""
        name = self.name("c")
        if self.chance(3):
            return "(SELECT MAX(size) FROM places)", Field(name, "int")
        inner = self.table(self.choose([t for t in self.world.tables.values() if isinstance(t.unit, str)]))
        below = Scope(inner.text, [inner])
        text, actual = self._summary(below)
        unit = next(f"{inner.alias}.{f.name}" for f in inner.fields if f.role == "unit")
        return f"(SELECT {text} FROM {inner.text} WHERE {unit} = {outer})", replace(actual, name=name)

    def _person(self, scope, unit):
        """GROUP BY the unit: one person's numbers."""
        self._depends_on_rows(scope)
        orders = [pair for pair in scope.fields(role="order") if pair[0].table == "orders" or self.chance(3)]
        if orders and self.chance(3):
            source, order = self.choose(orders)
            texts, fields = [f"{source.alias}.{order.name} AS {(name := self.name('o'))}"], [Field(name, "int")]
            keys = [f"{source.alias}.{order.name}"]
        else:
            texts, fields = [f"{unit} AS {(name := self.name('u'))}"], [Field(name, self._unit_kind(), role="unit")]
            keys = [self.choose([unit, "1"])]
        if self.chance(2):
            kind = self.choose(["text", "int", "date"])
            texts.append(f"{self.scalar(scope, kind)} AS {(name := self.name('c'))}")
            keys.append("2")
            fields.append(Field(name, kind))
        for _ in range(self.number(1, 3)):
            text, actual = self._summary(scope)
            texts.append(f"{text} AS {actual.name}")
            fields.append(actual)
        having = f" HAVING {self.choose(['COUNT(*) > 1', 'COUNT(*) < 4'])}" if self.chance(4) else ""
        query = f"SELECT {', '.join(texts)} FROM {scope.text}{self.where(scope)} GROUP BY {', '.join(keys)}{having}"
        return query, tuple(fields), False

    def _summary(self, scope):
        """An exact aggregate over one person's rows."""
        where = f" FILTER (WHERE {self.condition(scope)})" if self.chance(4) else ""
        name = self.name("s")
        numbers = scope.fields(*NUMBERS)
        call = self.choose(["COUNT", "COUNT", "MIN", "MAX", "SUM", "AVG", "DISTINCT"])
        if call == "COUNT" or not numbers:
            return f"COUNT(*){where}", Field(name, "int", bounded=True)
        if call == "DISTINCT":
            return f"COUNT(DISTINCT {self.ref(scope, self.choose(numbers))}){where}", Field(name, "int", bounded=True)
        pair = self.choose(numbers)
        whole = call in {"MIN", "MAX", "SUM"} and pair[1].kind == "int"
        actual = Field(name, "int" if whole else "double", bounded=pair[1].bounded)
        return f"{call}({self.ref(scope, pair)}){where}", actual

    def _windowed(self, scope, unit):
        """Window functions over one person's rows, and QUALIFY."""
        self._depends_on_rows(scope)
        texts, fields = self._shown(scope, unit)
        partition = self._partition(scope, unit)
        order = ", ".join(
            f"{s.alias}.{f.name}{self.choose(['', ' DESC', ' NULLS FIRST'])}" for s, f in self._all(scope)
        )
        numbers = scope.fields(*NUMBERS)
        options = [(f"ROW_NUMBER() OVER ({partition} ORDER BY {order})", Field("", "int", bounded=True))]
        options.append((f"COUNT(*) OVER ({partition})", Field("", "int", bounded=True)))
        if numbers:
            source, column = self.choose(numbers)
            value, bounded = f"{source.alias}.{column.name}", column.bounded
            kind = "int" if column.kind == "int" else "double"
            options += [
                (f"RANK() OVER ({partition} ORDER BY {value})", Field("", "int", bounded=True)),
                (f"SUM({value}) OVER ({partition})", Field("", kind, bounded=bounded)),
                (f"MAX({value}) OVER ({partition})", Field("", kind, bounded=bounded)),
                (f"LAG({value}) OVER ({partition} ORDER BY {order})", Field("", kind, bounded=bounded)),
                (f"FIRST_VALUE({value}) OVER ({partition} ORDER BY {order})", Field("", kind, bounded=bounded)),
                (
                    f"SUM({value}) OVER ({partition} ORDER BY {order} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                    Field("", kind, bounded=bounded),
                ),
            ]
        for _ in range(self.number(0, 2)):
            text, actual = self.choose(options)
            texts.append(f"{text} AS {(name := self.name('c'))}")
            fields.append(replace(actual, name=name))
        qualify = f" QUALIFY ROW_NUMBER() OVER ({partition} ORDER BY {order}) <= 2" if self.chance(2) else ""
        query = f"SELECT {', '.join(texts)} FROM {scope.text}{self.where(scope)}{qualify}"
        return query, tuple(fields), scope.loose

    def _partition(self, scope, unit):
        if not self.wrong():
            return f"PARTITION BY {unit}"
        return self.choose(["", f"PARTITION BY {self.scalar(scope, 'text')}"])

    def _all(self, scope):
        return [(s, f) for s in scope.sources for f in s.fields]

    def _distinct(self, scope, unit):
        texts, fields = self._shown(scope, unit)
        return f"SELECT DISTINCT {', '.join(texts)} FROM {scope.text}{self.where(scope)}", tuple(fields), scope.loose

    def _union(self):
        """UNION [ALL] of two queries with the unit in the same place."""
        kinds = [self.choose(["int", "text", "double"]) for _ in range(2)]
        sides = [self._side(kinds) for _ in range(2)]
        names = [self.name("c") for _ in range(3)]
        operator = self.choose(["UNION ALL", "UNION ALL", "UNION"])
        if self.wrong():
            operator = self.choose(["EXCEPT", "INTERSECT"])
        query = f" {operator} ".join(sides)
        fields = [Field(names[0], self._unit_kind(), role="unit")]
        fields += [Field(name, kind) for name, kind in zip(names[1:], kinds, strict=True)]
        inner = self.name("q")
        return f"SELECT * FROM ({query}) AS {inner}({', '.join(names)})", tuple(fields), False

    def _side(self, kinds):
        actual = [t for t in self.world.tables.values() if isinstance(t.unit, str)]
        source = self.table(self.choose(actual))
        scope = Scope(source.text, [source])
        unit = next(f"{source.alias}.{f.name}" for f in source.fields if f.role == "unit")
        texts = [unit, *(self.scalar(scope, kind) for kind in kinds)]
        return f"SELECT {', '.join(texts)} FROM {scope.text}{self.where(scope)}"

    def _depends_on_rows(self, scope):
        """One person's numbers are limited by what is declared; public joins go beyond it."""
        if scope.loose:
            self.differs.add("more rows than declared")
