"""The grammar of whole questions: groups that mix people, and what is done with them afterwards."""

import re
from dataclasses import dataclass

from hypothesis import strategies as st

from .pen import NUMBERS, Field
from .rows import RowWriter
from .worlds import Maker, World


@dataclass(frozen=True)
class Question:
    """A world, a text, and in what its answer differs from plain SQL's. `ordered`: ORDER BY leaves no ties."""

    world: World
    sql: str
    differs: frozenset[str] = frozenset()
    ordered: bool = False


@dataclass(frozen=True)
class Released:
    """A query over private rows that gives released numbers: keys first, then counts and other measures."""

    text: str
    keys: tuple[Field, ...]
    counts: tuple[str, ...]
    measures: tuple[str, ...]
    totals: bool = False

    @property
    def names(self):
        return [*(key.name for key in self.keys), *self.counts, *self.measures]


def question(pick, *, wild, wrong_one_in=40):
    """A question to a random world, in which at every place that has a wrong form one in so many is written so."""
    world = Maker(pick, wild=wild).world()
    writer = Writer(pick, world, wrong_one_in)
    text, ordered = writer.question()
    prefix = f"WITH {', '.join(writer.with_)} " if writer.with_ else ""
    differs = writer.differs | _undeclared(prefix + text, world)
    return Question(world, prefix + text, frozenset(differs), ordered)


def _differ(keys):
    """True if no key stands there twice, in whatever spelling: DuckDB shows NULL for one of the two in totals."""
    return len({re.sub(r"\b\w+\.", "", text) for text, _ in keys}) == len(keys)


def _undeclared(text, world):
    """A column with declared keys has no group NULL, which is what an outer join makes of it."""
    outer = any(side in text for side in ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    declared = [c.name for table in world.tables.values() for c in table.columns if c.values]
    return {"keys that are not declared"} if outer and any(name in text for name in declared) else set()


@st.composite
def questions(draw, **options):
    """Questions that shrink."""
    return question(lambda below: draw(st.integers(0, below - 1)), **options)


class Writer(RowWriter):
    """Writes whole questions."""

    def question(self):
        """The text without WITH, and whether its order leaves no ties."""
        if self.wrong():
            return self._raw(), False
        shape = self.choose(
            [
                self._plain,
                self._plain,
                self._plain,
                self._plain,
                self._shadowed,
                self._over_one,
                self._over_one,
                self._windows_over_groups,
                self._joined_with_public,
                self._two,
                self._twice,
                self._stacked,
                self._side_by_side,
                self._again_aggregated,
            ]
        )
        return shape()

    def _raw(self):
        """Rows of people, shown as they are."""
        return self.row_query(1)[0]

    # Groups that mix people -----------------------------------------------------------------------------------------

    def released(self, *, most_keys=3, above=False, place=False):
        """SELECT keys, aggregates FROM private rows GROUP BY keys. `above`: HAVING and windows may follow."""
        scope = self.from_rows()
        where = self.where(scope)
        keys = self._keys(scope, most_keys, place=place)
        counts, measures, texts = [], [], [f"{text} AS {key.name}" for text, key in keys]
        for _ in range(self.number(1, 3)):
            text, is_count = self._aggregate(scope)
            name = self.name("m")
            (counts if is_count else measures).append((name, text))
        texts += [f"{text} AS {name}" for name, text in (*counts, *measures)]
        group, totals = self._group(keys)
        if totals and self.chance(2):
            texts.append(f"GROUPING({keys[0][0]}) AS {self.name('g')}")
        if above and counts and self.chance(4):
            texts.append(f"{self._of_aggregates(counts[0][1], measures)} AS {self.name('e')}")
        query = f"SELECT {', '.join(texts)} FROM {scope.text}{where}{group}"
        if above:
            query += self._having(scope)
        fields = tuple(key for _, key in keys)
        return Released(query, fields, tuple(n for n, _ in counts), tuple(n for n, _ in measures), totals)

    def _of_aggregates(self, count, measures):
        """Arithmetic with aggregates, and windows over them."""
        options = [
            f"{count} * 2 + 1",
            f"{count} * 1.0 / NULLIF(SUM({count}) OVER (), 0)",
            f"RANK() OVER (ORDER BY {count})",
        ]
        if measures:
            options += [f"{measures[0][1]} / NULLIF({count}, 0)", f"COALESCE({measures[0][1]}, 0) + {count}"]
        return self.choose(options)

    def _keys(self, scope, most, *, place):
        places = scope.fields(role="place")
        if place and places:
            return [(self.ref(scope, self.choose(places)), Field(self.name("k"), "text", role="place"))]
        actual = []
        for _ in range(self.choose([0, 1, 1, 1, 2, 2, 3][: 2 * most + 1])):
            kind = self.choose(["text", "text", "text", "int", "date", "bool"])
            actual.append((self._key(scope, kind), Field(self.name("k"), kind)))
        units = scope.fields(role="unit")
        if units and self.wrong():
            actual.append((self.ref(scope, self.choose(units)), Field(self.name("k"), "unit")))
        return actual

    def _key(self, scope, kind):
        if kind == "bool":
            return f"({self.condition(scope)})"
        if kind == "date" and scope.fields("date"):
            plain = self.ref(scope, self.choose(scope.fields("date")))
            return self.choose([plain, f"DATE_TRUNC('month', {plain})", f"DATE_TRUNC('year', {plain})"])
        if kind == "int" and scope.fields("date") and self.chance(2):
            return (
                f"EXTRACT({self.choose(['year', 'month'])} FROM {self.ref(scope, self.choose(scope.fields('date')))})"
            )
        if kind == "text" and self.chance(4):
            return (
                f"CASE WHEN {self.condition(scope)} THEN 'many' WHEN {self.condition(scope)} THEN 'few' ELSE 'none' END"
            )
        plain = scope.fields(kind)
        if plain and not self.chance(3):
            return self.ref(scope, self.choose(plain))
        return self._varying(scope, kind if kind != "date" else "text")

    def _varying(self, scope, kind):
        """An expression that reads a column; GROUP BY a constant is one group here, and none of no rows in SQL."""
        text = self.scalar(scope, kind)
        if not any(f.name in text for s in scope.sources for f in s.fields):
            self.differs.add("constant key")
        return text

    def _aggregate(self, scope):
        """An aggregate over people, and whether it is a count."""
        where = f" FILTER (WHERE {self.condition(scope)})" if self.chance(4) else ""
        units = scope.fields(role="unit")
        if self.wrong():
            numbers = scope.fields(*NUMBERS)
            if numbers:
                return f"{self.choose(['MIN', 'MAX', 'MEDIAN'])}({self.ref(scope, self.choose(numbers))})", False
        kind = self.choose(["rows", "rows", "values", "people", "sum", "sum", "avg", "avg"])
        if kind == "people" and units:
            source, unit = self.choose(units)
            return f"COUNT(DISTINCT {source.alias}.{unit.name})", True
        if kind == "values":
            return f"COUNT({self.scalar(scope, self.choose(['int', 'text', 'double']))}){where}", True
        if kind in {"sum", "avg"}:
            return f"{kind.upper()}({self.bounded(scope)}){where}", False
        return f"COUNT(*){where}", True

    def _group(self, keys):
        """GROUP BY in one of its forms, and whether it has totals."""
        if not keys:
            return "", False
        forms = {
            "expressions": [text for text, _ in keys],
            "positions": [str(i + 1) for i in range(len(keys))],
            "aliases": [key.name for _, key in keys],
        }
        terms = forms[self.choose(sorted(forms))]
        listed = ", ".join(terms)
        if self.chance(5) and _differ(keys):
            expressions = [text for text, _ in keys]
            listed = ", ".join(expressions)
            sets = f"GROUPING SETS (({listed}), ({expressions[0]}), ())"
            return f" GROUP BY {self.choose([f'ROLLUP ({listed})', f'CUBE ({listed})', sets])}", True
        return self.choose(
            [f" GROUP BY {listed}", f" GROUP BY {listed}", f" GROUP BY {listed}", " GROUP BY ALL"]
        ), False

    def _having(self, scope):
        if not self.chance(3):
            return ""
        conditions = [
            "COUNT(*) > 1",
            "COUNT(*) * 2 <> 4",
            f"SUM({self.bounded(scope)}) > 1.1",
            "COUNT(*) BETWEEN 1 AND 3",
        ]
        conditions.append(f"AVG({self.bounded(scope)}) < 2.34567 OR COUNT(*) > 2")
        return f" HAVING {self.choose(conditions)}"

    # What becomes of them -------------------------------------------------------------------------------------------

    def _plain(self):
        """One level: groups, perhaps with HAVING, ORDER BY and LIMIT."""
        if self.chance(10):
            return self._distinct_keys()
        built = self.released(above=True)
        return self._ordered(built.text, built)

    def _distinct_keys(self):
        scope = self.from_rows()
        kind = self.choose(["text", "int"])
        return f"SELECT DISTINCT {self._key(scope, kind)} AS k FROM {scope.text}{self.where(scope)}", False

    def _ordered(self, text, built):
        """ORDER BY all keys leaves no ties, so LIMIT may follow."""
        if not built.keys or built.totals or self.chance(3):
            return text, False
        first = [f"{name} DESC" for name in built.counts[:1] if self.chance(2)]
        keys = [self.choose([key.name, f"{key.name} DESC", f"{key.name} NULLS FIRST"]) for key in built.keys]
        limit = self.choose(["", " LIMIT 2", " LIMIT 3 OFFSET 1"])
        return f"{text} ORDER BY {', '.join([*first, *keys])}{limit}", True

    def _named(self, built):
        """The release under a name of WITH, or in parentheses."""
        name = self.name("r")
        if self.chance(2):
            return f"({built.text}) AS {name}", name
        self.with_.append(f"{name} AS ({built.text})")
        return name, name

    def _shadowed(self):
        """A name of WITH that hides a table, and a WITH inside of a query."""
        built = self.released(most_keys=1)
        inner, outer = self.name("r"), self.choose(["people", "places", "fresh"])
        listed = ", ".join(built.names)
        nested = f"WITH {inner} AS ({built.text}) SELECT * FROM {inner}"
        self.with_.append(f"{outer} AS ({nested})")
        return f"SELECT {listed} FROM {outer}", False

    def _over_one(self):
        """A SELECT over a released query: conditions, arithmetic, CASE, shares."""
        built = self.released(above=True)
        source, name = self._named(built)
        texts = list(built.names)
        if built.counts:
            count = built.counts[0]
            texts += self._some(
                [
                    f"{count} * 1.0 / NULLIF(SUM({count}) OVER (), 0)",
                    f"CASE WHEN {count} > 2 THEN 'many' ELSE 'few' END",
                    f"{count} - (SELECT MAX({count}) FROM {name})" if name in self._names() else f"{count} + 1",
                    f"ROUND({count} / 3.0, 2)",
                    f"GREATEST({count}, 1)",
                ]
            )
        if built.measures:
            texts += self._some([f"{built.measures[0]} * 2 + 1", f"COALESCE({built.measures[0]}, -1)"])
        where = f" WHERE {built.counts[0]} > 1" if built.counts and self.chance(2) else ""
        shown = ", ".join(f"{text} AS {self.name('e')}" if text not in built.names else text for text in texts)
        return self._ordered(f"SELECT {shown} FROM {source}{where}", built)

    def _names(self):
        return {text.split(" ", 1)[0] for text in self.with_}

    def _some(self, options):
        return [option for option in options if self.chance(2)]

    def _windows_over_groups(self):
        built = self.released()
        if not built.counts or not built.keys:
            return built.text, False
        source, _ = self._named(built)
        count, keys = built.counts[0], ", ".join(key.name for key in built.keys)
        windows = [
            f"RANK() OVER (ORDER BY {count} DESC)",
            f"SUM({count}) OVER (PARTITION BY {built.keys[0].name})",
            "COUNT(*) OVER ()",
        ]
        if not built.totals:
            windows += [
                f"ROW_NUMBER() OVER (ORDER BY {count}, {keys})",
                f"LAG({count}) OVER (ORDER BY {keys})",
                f"SUM({count}) OVER (ORDER BY {keys} ROWS UNBOUNDED PRECEDING)",
            ]
        chosen = ", ".join(f"{text} AS {self.name('e')}" for text in self._some(windows) or windows[:1])
        qualify = ""
        if not built.totals and self.chance(3):
            qualify = f" QUALIFY ROW_NUMBER() OVER (ORDER BY {count} DESC, {keys}) <= 2"
        return f"SELECT {keys}, {chosen} FROM {source}{qualify}", False

    def _joined_with_public(self):
        built = self.released(most_keys=1, place=True)
        source, name = self._named(built)
        places = [key for key in built.keys if key.kind == "text"]
        if not places:
            return f"SELECT {', '.join(built.names)} FROM {source}", False
        side = self.choose(["JOIN", "LEFT JOIN", "RIGHT JOIN"])
        listed = ", ".join(f"{name}.{n}" for n in built.names)
        on = f"{name}.{places[0].name} = places.place"
        return f"SELECT {listed}, places.country, places.size FROM {source} {side} places ON {on}", False

    def _two(self):
        """Two released queries, joined on their keys."""
        one, other = self.released(most_keys=1), self.released(most_keys=1)
        sources = [self._named(built) for built in (one, other)]
        (left, a), (right, b) = sources
        pairs = [(x, y) for x in one.keys for y in other.keys if x.kind == y.kind]
        side = self.choose(["JOIN", "LEFT JOIN", "FULL JOIN"])
        on = " AND ".join(f"{a}.{x.name} IS NOT DISTINCT FROM {b}.{y.name}" for x, y in pairs[:1])
        join = f" {side} {right} ON {on}" if pairs and side != "FULL JOIN" else f" CROSS JOIN {right}"
        if pairs and side == "FULL JOIN":
            join = f" FULL JOIN {right} ON {a}.{pairs[0][0].name} = {b}.{pairs[0][1].name}"
        listed = ", ".join([*(f"{a}.{n}" for n in one.names), *(f"{b}.{n}" for n in other.names)])
        return f"SELECT {listed} FROM {left}{join}", False

    def _twice(self):
        """One released query, read twice."""
        built = self.released(most_keys=1)
        name = self.name("r")
        self.with_.append(f"{name} AS ({built.text})")
        x, y = self.name("x"), self.name("y")
        listed = ", ".join(f"{x}.{n}" for n in built.names)
        if not built.keys or not built.counts or self.chance(3):
            return f"SELECT {listed}, (SELECT COUNT(*) FROM {name}) AS many FROM {name} AS {x}", False
        key, count = built.keys[0].name, built.counts[0]
        return (
            f"SELECT {listed}, {y}.{count} AS again FROM {name} AS {x} JOIN {name} AS {y} ON {x}.{key} = {y}.{key}",
            False,
        )

    def _stacked(self):
        """UNION [ALL] of released queries."""
        parts = [f"SELECT '{label}' AS what, {self._count_only()}" for label in ("one", "two")]
        return f" {self.choose(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'])} ".join(parts), False

    def _count_only(self):
        scope = self.from_rows(1)
        return f"{self._aggregate(scope)[0]} AS n FROM {scope.text}{self.where(scope)}"

    def _side_by_side(self):
        """Scalar released queries in a SELECT without FROM."""
        parts = []
        for _ in range(2):
            scope = self.from_rows(1)
            parts.append(f"(SELECT {self._aggregate(scope)[0]} FROM {scope.text}{self.where(scope)})")
        last = f", {parts[0]} * 1.0 / NULLIF({parts[1]}, 0) AS c" if self.chance(3) and "AVG" not in parts[1] else ""
        return f"SELECT {parts[0]} AS a, {parts[1]} AS b{last}", False

    def _again_aggregated(self):
        """Exact aggregates over released rows."""
        built = self.released()
        source, _ = self._named(built)
        names = (*built.counts, *built.measures)[:2]
        calls = [f"{self.choose(['SUM', 'MAX', 'MIN', 'AVG'])}({name}) AS e_{name}" for name in names]
        calls.append("COUNT(*) AS e")
        if built.keys and self.chance(2):
            key = built.keys[0].name
            return f"SELECT {key}, {', '.join(calls)} FROM {source} GROUP BY {key}", False
        return f"SELECT {', '.join(calls)} FROM {source}", False
