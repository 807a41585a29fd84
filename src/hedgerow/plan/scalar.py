"""Binding of one expression: syntax in, our nodes out; everything else is refused."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from sqlglot import exp

from hedgerow.errors import HedgerowError, ParseError, UnsupportedSQLError
from hedgerow.expressions.functions import lookup
from hedgerow.expressions.nodes import Call, Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.expressions.zones import DEFAULT as DEFAULT_ZONE
from hedgerow.plan import (
    calendar_functions,
    coerce,
    literals,
    text_functions,
    time_arithmetic,
    time_functions,
    value_functions,
)
from hedgerow.plan.handlers import Binder, Handler, Handlers, unsupported, whole
from hedgerow.plan.scope import Scope
from hedgerow.plan.syntax import COMPARISONS, NAMED, PLAIN, WHOLE_OR_FLOAT, arguments_of, dialect_of, span_of, text_of
from hedgerow.sql.remedies import is_null

LONGEST = 2_000_000
ROOM = 20
"""Length assumed for a column or a constant: short, because the check is about growth."""

FIRST_MARK = 0xE000
"""Private-use characters that stand for the arguments while their mentions are counted."""


def check_size(expr: Expr) -> None:
    """Refuse an expression whose text would exhaust memory; this depends on the query alone."""
    if _size(expr, {}) > LONGEST:
        raise ParseError(
            "An expression is too long once its functions are written as SQL.",
            code="too-deep",
            hint="Compute it in steps, each in a subquery or a common table expression.",
        )


def _size(expr: Expr, known: dict[int, int]) -> int:
    if not isinstance(expr, Call):
        return ROOM
    if id(expr) not in known:
        inner = (_size(argument, known) for argument in expr.arguments)
        times = _mentions(expr.function, len(expr.arguments))
        known[id(expr)] = ROOM + sum(size * often for size, often in zip(inner, times, strict=True))
    return known[id(expr)]


@lru_cache(maxsize=1_000)
def _mentions(function: str, count: int) -> tuple[int, ...]:
    """Return the number of times that the text of a function names each argument; long lists name each once."""
    if count > 10:
        return (1,) * count
    marks = [chr(FIRST_MARK + at) for at in range(count)]
    text = lookup(function).render(marks)
    return tuple(text.count(mark) for mark in marks)


def _first(node: exp.Anonymous, binder: Binder) -> Expr:
    return binder.bind(node.expressions[0])


def _timestamp(node: exp.Anonymous, binder: Binder) -> Expr:
    return time_functions.timestamp(_first(node, binder), dialect_of(node))


def _iff(node: exp.Anonymous, binder: Binder) -> Expr:
    condition, value, otherwise = node.expressions
    return value_functions.choose(
        [(binder.boolean(condition, "IFF"), binder.bind(value))], binder.bind(otherwise), node
    )


def _part(name: str) -> Handler:
    return lambda node, binder: time_functions.part(name, _timestamp(node, binder), node, extracted=False)


def _bucket(node: exp.Anonymous, binder: Binder) -> Expr:
    bucket = exp.DateBin(this=node.expressions[0], expression=node.expressions[1])
    bucket.meta.update(node.meta)
    return binder.bind(bucket)


def _read(node: exp.Anonymous, binder: Binder) -> Expr:
    parsed = exp.StrToTime(this=node.expressions[0], format=node.expressions[1])
    parsed.meta.update(node.meta)
    return binder.bind(parsed)


BY_NAME: dict[str, tuple[tuple[int, int], Handler]] = {
    "DATE_PART": ((2, 2), time_functions.named_part),
    "DATEPART": ((2, 2), time_functions.named_part),
    "DATE_SUB": ((3, 3), time_arithmetic.elapsed),
    "DATESUB": ((3, 3), time_arithmetic.elapsed),
    "DATEADD": ((3, 3), time_arithmetic.date_add),
    "TIMESTAMPADD": ((3, 3), time_arithmetic.date_add),
    "MAKE_DATE": ((3, 3), calendar_functions.make_date),
    "TIME_BUCKET": ((2, 2), _bucket),
    "TRY_STRPTIME": ((2, 2), _read),
    "IFF": ((3, 3), _iff),
    "ZEROIFNULL": ((1, 1), lambda n, b: value_functions.zero_if_null(_first(n, b))),
    "NULLIFZERO": ((1, 1), lambda n, b: value_functions.null_if_zero(_first(n, b))),
    "SQUARE": ((1, 1), lambda n, b: coerce.call("power", [_first(n, b), whole(2)], span_of(n))),
    **{name: ((1, 1), _part(name)) for name in time_functions.NAMED},
}
"""The minimum and maximum number of arguments of each function, and its handler."""

OF_ONE_DIALECT: dict[tuple[str, str], tuple[tuple[int, int], Handler]] = {
    ("sqlite", "JULIANDAY"): ((1, 1), lambda n, b: calendar_functions.julian_day(_timestamp(n, b), n)),
    ("sqlite", "DATE"): ((1, 9), calendar_functions.modified),
    ("sqlite", "DATETIME"): ((1, 9), calendar_functions.modified),
    ("sqlite", "UNIXEPOCH"): ((1, 1), lambda n, b: calendar_functions.seconds_of(_timestamp(n, b), n)),
}


def _by_name(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """The expression, or None where the name is on no list."""
    name = str(node.this).upper()
    if name in calendar_functions.VOLATILE_NAMES:
        raise calendar_functions.volatile(node)
    entry = OF_ONE_DIALECT.get((dialect_of(node), name)) or BY_NAME.get(name)
    if entry is not None and entry[0][0] <= len(node.expressions) <= entry[0][1]:
        return entry[1](node, binder)
    if name in NAMED:
        return coerce.call(NAMED[name], [binder.bind(n) for n in node.expressions], span_of(node))
    return None


__all__ = ["ScalarBinder", "unsupported"]

MAX_DEPTH = 150
ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE)
NEEDED: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Substring: ("this", "start"),
    exp.SplitPart: ("this", "delimiter", "part_index"),
    exp.WidthBucket: ("this", "min_value", "max_value", "num_buckets"),
}
"""Arguments that the parser treats as optional and that a function requires."""

NEVER_TRUE_OF_NULL = frozenset({"equal", "unequal", "less", "less_or_equal", "greater", "greater_or_equal"})
HANDLERS: Handlers = {
    exp.Paren: (("this",), lambda n, b: b.bind(n.this)),
    exp.Boolean: (("this",), lambda n, _: Literal(bool(n.this), Type.BOOLEAN)),
    exp.Null: ((), lambda *_: Literal(None, Type.NULL)),
    exp.Literal: (
        ("this", "is_string"),
        lambda n, _: literals.text(n.this) if n.is_string else literals.number(n.this),
    ),
    exp.RawString: (("this",), lambda n, _: literals.text(str(n.this))),
    exp.ByteString: (("this",), lambda n, _: literals.text(str(n.this))),
    exp.SafeFunc: (("this",), lambda n, b: b.bind(n.this)),
    exp.Anonymous: (("this", "expressions"), _by_name),
    **value_functions.HANDLERS,
    **text_functions.HANDLERS,
    **time_functions.HANDLERS,
    **time_arithmetic.HANDLERS,
    **calendar_functions.HANDLERS,
}


class ScalarBinder:
    """Binds expressions against one scope."""

    def __init__(self, scope: Scope, parameters: literals.Parameters = None, zone: str = DEFAULT_ZONE) -> None:
        self.zone = zone
        self._scope = scope
        self._parameters = parameters
        self._depth = 0

    def bind(self, node: exp.Expr) -> Expr:
        """Return the expression of `node`, or raise an error with the reason why there is none."""
        if self._depth >= MAX_DEPTH:
            raise ParseError(
                f"An expression is nested more than {MAX_DEPTH} levels deep.",
                code="too-deep",
                hint="Compute it in steps, each in a subquery or a common table expression.",
                span=span_of(node),
            )
        self._depth += 1
        try:
            bound = self._bind(node)
            check_size(bound)
        except HedgerowError as error:
            error.span = error.span or span_of(node)
            raise
        finally:
            self._depth -= 1
        return bound

    def _bind(self, node: exp.Expr) -> Expr:
        special = self._scope.special(node, self)
        if special is not None:
            return special
        if isinstance(node, exp.Column):
            return self._scope.column(node)
        if isinstance(node, exp.Placeholder | exp.Parameter):
            return literals.placeholder(node, self._parameters, self.zone)
        if isinstance(node, exp.Anonymous) and str(node.this).upper() == "CLIP":
            return self._scope.clip([self.bind(n) for n in node.expressions], span_of(node))
        return self._operation(node)

    def _operation(self, node: exp.Expr) -> Expr:
        kind = type(node)
        if isinstance(node, calendar_functions.VOLATILE):
            raise calendar_functions.volatile(node)
        if isinstance(node, exp.And | exp.Or):
            return self._logic("and" if isinstance(node, exp.And) else "or", node)
        if kind in HANDLERS:
            return self._handled(node)
        if kind in COMPARISONS:
            return self.compare(COMPARISONS[kind], [node.this, node.expression], node)
        if isinstance(node, exp.Add | exp.Sub):
            return self._sum(node)
        if kind in WHOLE_OR_FLOAT:
            return self._whole_or_float(node, [self.bind(n) for n in self._arguments(node, WHOLE_OR_FLOAT[kind][1])])
        if kind in PLAIN:
            name, names = PLAIN[kind]
            bound = [self.boolean(n, "NOT") if name == "not" else self.bind(n) for n in self._arguments(node, names)]
            return coerce.call(name, bound, span_of(node))
        raise unsupported(node)

    def boolean(self, node: exp.Expr, clause: str) -> Expr:
        """Bind a condition. A whole number is true where it is not zero."""
        bound = self.bind(node)
        if bound.type is Type.INTEGER:
            return coerce.call("unequal", [bound, whole(0)])
        if bound.type not in {Type.BOOLEAN, Type.NULL}:
            raise UnsupportedSQLError(
                f"{clause} needs a condition; this is a {bound.type.value}.",
                code="type-mismatch",
                hint="Compare it with something, for instance x > 0 or x IS NOT NULL.",
                span=span_of(node),
            )
        return bound

    def compare(self, name: str, nodes: Sequence[exp.Expr], at: exp.Expr) -> Expr:
        """A comparison, with both sides of one type."""
        if name in NEVER_TRUE_OF_NULL and any(isinstance(n, exp.Null) for n in nodes):
            raise UnsupportedSQLError(
                f"{text_of(at)} is never true: a comparison with NULL is NULL.",
                code="null-comparison",
                hint="Write IS NULL or IS NOT NULL.",
                span=span_of(at),
                remedy=is_null(span_of(at)),
            )
        sides = time_arithmetic.lengths(nodes, self) or [self.bind(n) for n in nodes]
        if isinstance(at, ORDERINGS) and isinstance(nodes[0], ORDERINGS):
            raise UnsupportedSQLError(
                f"{text_of(at)} compares the result of a comparison.",
                code="type-mismatch",
                hint="Write both comparisons, with AND between them: x > 10 AND x < 20.",
                span=span_of(at),
            )
        return coerce.call(name, coerce.comparable(sides, span_of(at)), span_of(at))

    def _handled(self, node: exp.Expr) -> Expr:
        names, handler = HANDLERS[type(node)]
        given = arguments_of(node, names, ordered=False)
        empty = isinstance(node, exp.Func) and "this" in names and not given
        complete = all(node.args.get(name) is not None for name in NEEDED.get(type(node), ()))
        bound = handler(node, self) if given is not None and complete and not empty else None
        if bound is None:
            raise unsupported(node)
        return bound

    def _logic(self, name: str, node: exp.Connector) -> Expr:
        terms = [self.boolean(n, name.upper()) for n in node.flatten()]
        while len(terms) > 1:
            pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
            terms = [coerce.call(name, pair) if len(pair) > 1 else pair[0] for pair in pairs]
        return terms[0]

    def _arguments(self, node: exp.Expr, names: tuple[str, ...]) -> list[exp.Expr]:
        nodes = arguments_of(node, names)
        if nodes is None:
            raise unsupported(node)
        return nodes

    def _sum(self, node: exp.Add | exp.Sub) -> Expr:
        """A sum or difference: of dates and intervals, or of numbers."""
        moved = time_arithmetic.by_interval(node, self)
        if moved is not None:
            return moved
        left, right = (self.bind(n) for n in self._arguments(node, ("this", "expression")))
        return time_arithmetic.of_dates(node, left, right) or self._whole_or_float(node, [left, right])

    def _whole_or_float(self, node: exp.Expr, bound: Sequence[Expr]) -> Expr:
        name = WHOLE_OR_FLOAT[type(node)][0]
        arguments = [coerce.to_number(a) for a in bound]
        if name == "remainder" and dialect_of(node) == "sqlite":
            arguments = [value_functions.to_whole(a, "sqlite") for a in arguments]
        constant = arguments[0].value if isinstance(arguments[0], Literal) else None
        if name == "negate" and isinstance(constant, int | float | Decimal) and not isinstance(constant, bool):
            return Literal(-constant, arguments[0].type)
        constants = [a for a in arguments if isinstance(a, Literal)]
        exact = literals.folded(name, *constants) if len(constants) == 2 else None
        if exact is not None:
            return exact
        all_whole = all(a.type is Type.INTEGER for a in arguments)
        return coerce.call(f"{name}_whole" if all_whole else name, arguments, span_of(node))
