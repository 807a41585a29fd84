"""Tools of all parts of the grammar: choices, names, and scalar expressions over what is in scope."""

from dataclasses import dataclass, field

from .worlds import Chooser

NUMBERS = ("int", "double", "decimal")


@dataclass(frozen=True)
class Field:
    """A column of something in FROM. `role`: unit, order, place, code; "" for everything else."""

    name: str
    kind: str
    bounded: bool = False
    role: str = ""


@dataclass(frozen=True)
class Source:
    """Something in FROM. `loose`: public rows may have multiplied one person's beyond what was declared."""

    text: str
    alias: str
    fields: tuple[Field, ...]
    owned: bool = True
    loose: bool = False
    table: str = ""


@dataclass
class Scope:
    """A FROM clause: its text, what is in it, and conditions that must go to WHERE (comma joins)."""

    text: str
    sources: list[Source]
    where: list[str] = field(default_factory=list)
    loose: bool = False
    near_from: int = 0

    @property
    def near(self):
        """Relations that ON can name: a comma binds more loosely than JOIN."""
        return self.sources[self.near_from :]

    def fields(self, *kinds, role=None):
        """Pairs of source and column of these kinds (or of this role)."""
        return [
            (s, f)
            for s in self.sources
            for f in s.fields
            if (f.role == role if role is not None else f.kind in kinds and f.role not in {"unit", "order"})
        ]


class Pen(Chooser):
    """Writes scalar expressions, and remembers what it wrote that plain SQL answers differently."""

    def __init__(self, pick, wrong_one_in):
        super().__init__(pick)
        self._wrong_one_in = wrong_one_in
        self._count = 0
        self.differs = set()

    def wrong(self):
        """True if to write something that cannot be answered here."""
        return self.chance(self._wrong_one_in)

    def name(self, letter="n"):
        self._count += 1
        return f"{letter}{self._count}"

    def ref(self, scope, pair):
        """The column by its name, with its table's where that is needed, and sometimes where it is not."""
        source, column = pair
        same = [f for s in scope.sources for f in s.fields if f.name == column.name]
        if len(same) == 1 and self.chance(2):
            return column.name
        return f"{source.alias}.{column.name}"

    def literal(self, kind):
        if kind == "int":
            return str(self.number(-2, 6))
        if kind in NUMBERS:
            return self.choose(["0.5", "2.25", "-1.0", "4"])
        if kind == "text":
            return self.choose(["'a'", "'b'", "'A'", "''"])
        if kind == "date":
            return self.choose(["DATE '2020-01-31'", "DATE '2020-06-01'"])
        return self.choose(["TRUE", "FALSE"])

    # Row expressions ------------------------------------------------------------------------------------------------

    def scalar(self, scope, kind, depth=1):
        """An expression of one row, of this kind ("int", "double", "text", "date" or "bool")."""
        if kind == "bool":
            return self.condition(scope, depth)
        actual = scope.fields(*(("double", "decimal") if kind == "double" else (kind,)))
        if not actual:
            return self._converted(scope, kind)
        plain = self.ref(scope, self.choose(actual))
        if depth <= 0 or self.chance(2):
            return plain
        return getattr(self, f"_{kind}")(scope, plain, depth - 1)

    def _converted(self, scope, kind):
        """An expression of a kind of which there is no column."""
        if kind == "double":
            actual = scope.fields("int")
            return f"{self.ref(scope, self.choose(actual))} * 0.5" if actual else self.literal(kind)
        if kind == "int":
            texts, dates = scope.fields("text"), scope.fields("date")
            if texts and not self.chance(3):
                return f"LENGTH({self.ref(scope, self.choose(texts))})"
            return f"EXTRACT(month FROM {self.ref(scope, self.choose(dates))})" if dates else self.literal(kind)
        return self.literal(kind)

    def _int(self, scope, plain, depth):
        other = self.scalar(scope, "int", depth)
        return self.choose(
            [
                f"({plain} + {other})",
                f"({plain} - {other})",
                f"ABS({plain})",
                f"({plain} % 3)",
                f"COALESCE({plain}, {self.literal('int')})",
                f"NULLIF({plain}, {self.literal('int')})",
                f"CASE WHEN {self.condition(scope, 0)} THEN {plain} ELSE {self.literal('int')} END",
                f"GREATEST({plain}, 1)",
            ]
        )

    def _double(self, scope, plain, depth):
        other = self.scalar(scope, self.choose(["int", "double"]), depth)
        return self.choose(
            [
                f"({plain} + {other})",
                f"({plain} - {other})",
                f"{plain} * 2",
                f"ABS({plain})",
                f"FLOOR({plain})",
                f"COALESCE({plain}, 0.5)",
                f"CASE WHEN {self.condition(scope, 0)} THEN {plain} END",
                f"LEAST({plain}, 4)",
            ]
        )

    def _text(self, scope, plain, depth):
        other = self.scalar(scope, "text", depth)
        return self.choose(
            [
                f"UPPER({plain})",
                f"LOWER({plain})",
                f"SUBSTRING({plain}, 1, 1)",
                f"{plain} || '-' || {other}",
                f"COALESCE({plain}, '?')",
                f"TRIM({plain})",
                f"CASE WHEN {self.condition(scope, 0)} THEN 'high' ELSE {plain} END",
            ]
        )

    def _date(self, _scope, plain, _depth):
        return self.choose(
            [f"DATE_TRUNC('month', {plain})", f"DATE_TRUNC('year', {plain})", f"COALESCE({plain}, DATE '2020-06-01')"]
        )

    def condition(self, scope, depth=1):
        """A condition on one row."""
        if depth > 0 and self.chance(3):
            left, right = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return self.choose([f"({left} AND {right})", f"({left} OR {right})", f"NOT ({left})"])
        kinds = sorted({f.kind for _, f in scope.fields("int", "double", "decimal", "text", "date", "bool")})
        kind = self.choose(kinds or ["int"])
        kind = "double" if kind == "decimal" else kind
        if kind == "bool":
            plain = self.ref(scope, self.choose(scope.fields("bool")))
            return self.choose([plain, f"NOT {plain}", f"{plain} IS NULL", f"{plain} IS NOT TRUE", f"{plain} = TRUE"])
        value, constant = self.scalar(scope, kind, depth), self.literal(kind)
        options = [f"{value} {self.choose(['=', '<>', '<', '>='])} {constant}", f"{value} IS NOT NULL"]
        if kind in {"int", "double"}:
            options += [f"{value} BETWEEN 0 AND 5", f"{value} IS DISTINCT FROM 2"]
        if kind == "int":
            options += [f"{value} IN (0, 1, 2, 5)", f"{value} NOT IN (0, 1)"]
        if kind == "text":
            options += [f"{value} LIKE 'a%'", f"{value} IN ('a', 'b')", f"{value} IS DISTINCT FROM 'a'"]
        return self.choose(options)

    def bounded(self, scope):
        """A number whose range is known (or, where something wrong is wanted, is not)."""
        numbers = scope.fields(*NUMBERS)
        known = [pair for pair in numbers if pair[1].bounded]
        if numbers and self.wrong():
            return self.ref(scope, self.choose(numbers))
        if known and not self.chance(3):
            plain = self.ref(scope, self.choose(known))
            return self.choose(
                [
                    plain,
                    plain,
                    f"{plain} * 2",
                    f"COALESCE({plain}, 1)",
                    f"CASE WHEN {self.condition(scope)} THEN {plain} ELSE 0 END",
                    f"{plain} + {self.ref(scope, self.choose(known))}",
                ]
            )
        if self.chance(3):
            return f"CASE WHEN {self.condition(scope)} THEN 1 ELSE 0 END"
        return f"CLIP({self.scalar(scope, self.choose(['int', 'double']), 0)} + 1, -8, 40)"
