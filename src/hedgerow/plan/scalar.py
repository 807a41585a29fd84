"""Binding one expression: syntax in, our nodes out, everything else refused."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from hedgerow.errors import ParseError, UnsupportedSQLError
from hedgerow.expressions.functions import allowed
from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce, literals, temporal
from hedgerow.plan.scope import Scope
from hedgerow.plan.syntax import COMPARISONS, NAMED, PLAIN, WHOLE_OR_FLOAT, arguments_of, span_of, text_of

CASTS = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), "cast_integer"),
    **dict.fromkeys(("DOUBLE", "FLOAT", "DECIMAL"), "cast_float"),
    **dict.fromkeys(("VARCHAR", "TEXT", "CHAR", "NVARCHAR"), "cast_text"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), "cast_timestamp"),
    "DATE": "cast_date",
    "TIME": "cast_time",
    "BOOLEAN": "cast_boolean",
}

MAX_DEPTH = 150

READ: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Literal: ("this", "is_string"),
    exp.Between: ("this", "low", "high"),
    exp.Case: ("this", "ifs", "default"),
    exp.If: ("this", "true", "false"),
    exp.Cast: ("this", "to"),
    exp.TryCast: ("this", "to"),
    exp.Trim: ("this", "expression", "position"),
}
"""Which arguments of a syntax node are read; a node with any other is refused."""


class ScalarBinder:
    """Binds expressions against one scope."""

    def __init__(self, scope: Scope, parameters: literals.Parameters = None) -> None:
        self._scope = scope
        self._parameters = parameters
        self._depth = 0
        self._handlers: dict[type[exp.Expr], Callable[..., Expr]] = {
            exp.Paren: lambda n: self.bind(n.this),
            exp.Literal: _literal,
            exp.Boolean: lambda n: Literal(bool(n.this), Type.BOOLEAN),
            exp.Null: lambda _: Literal(None, Type.NULL),
            exp.Placeholder: self._placeholder,
            exp.Parameter: self._placeholder,
            exp.And: lambda n: self._logic("and", n),
            exp.Or: lambda n: self._logic("or", n),
            exp.Between: self._between,
            exp.In: self._in,
            exp.Is: self._is,
            exp.Case: self._case,
            exp.If: self._if,
            exp.Coalesce: lambda n: self._same_type("coalesce", [n.this, *n.expressions]),
            exp.Least: lambda n: self._same_type("least", [n.this, *n.expressions]),
            exp.Greatest: lambda n: self._same_type("greatest", [n.this, *n.expressions]),
            exp.Nullif: lambda n: self._same_type("nullif", [n.this, n.expression]),
            exp.Div: self._divide,
            exp.IntDiv: self._divide_whole,
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
            exp.Trim: self._trim,
            exp.Log: self._log,
            exp.DPipe: lambda n: self._concat([n.this, n.expression]),
            exp.Concat: lambda n: self._concat(n.expressions),
            exp.Anonymous: self._named,
        }

    def bind(self, node: exp.Expr) -> Expr:
        """The expression that `node` stands for, or the reason why there is none."""
        if self._depth >= MAX_DEPTH:
            raise ParseError(f"An expression is nested more than {MAX_DEPTH} levels deep.", code="too-deep")
        self._depth += 1
        try:
            return self._bind(node)
        finally:
            self._depth -= 1

    def _bind(self, node: exp.Expr) -> Expr:
        special = self._scope.special(node)
        if special is not None:
            return special
        if isinstance(node, exp.Column):
            return self._scope.column(node)
        temporal_expr = temporal.bind(node, self.bind)
        if temporal_expr is not None:
            return temporal_expr
        kind = type(node)
        if kind in {exp.Like, exp.ILike} and node.args.get("negate"):
            positive = node.copy()
            positive.set("negate", None)
            return coerce.call("not", [self._bind(positive)])
        if kind in self._handlers:
            if arguments_of(node, READ.get(kind, ("this", "expression", "expressions")), ordered=False) is None:
                raise unsupported(node)
            return self._handlers[kind](node)
        if kind in COMPARISONS:
            return self.compare(COMPARISONS[kind], [node.this, node.expression], node)
        if kind in WHOLE_OR_FLOAT:
            return self._whole_or_float(*WHOLE_OR_FLOAT[kind], node)
        if kind in PLAIN:
            name, names = PLAIN[kind]
            return coerce.call(name, self._all(arguments_of(node, names), node), span_of(node))
        raise unsupported(node)

    def boolean(self, node: exp.Expr, clause: str) -> Expr:
        """A condition."""
        bound = self.bind(node)
        if bound.type not in {Type.BOOLEAN, Type.NULL}:
            raise UnsupportedSQLError(
                f"{clause} needs a condition; this is a {bound.type.value}.", code="type-mismatch", span=span_of(node)
            )
        return bound

    def compare(self, name: str, nodes: Sequence[exp.Expr], at: exp.Expr) -> Expr:
        """A comparison, with both sides of one type."""
        return coerce.call(name, coerce.comparable([self.bind(n) for n in nodes], span_of(at)), span_of(at))

    def _all(self, nodes: Sequence[exp.Expr] | None, at: exp.Expr) -> list[Expr]:
        if nodes is None:
            raise unsupported(at)
        return [self.bind(n) for n in nodes]

    def _placeholder(self, node: exp.Placeholder | exp.Parameter) -> Expr:
        return literals.placeholder(node, self._parameters)

    def _logic(self, name: str, node: exp.Connector) -> Expr:
        terms = [self.boolean(n, name.upper()) for n in node.flatten()]
        while len(terms) > 1:
            pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
            terms = [coerce.call(name, pair) if len(pair) > 1 else pair[0] for pair in pairs]
        return terms[0]

    def _whole_or_float(self, name: str, names: tuple[str, ...], node: exp.Expr) -> Expr:
        arguments = self._all(arguments_of(node, names), node)
        whole = all(a.type is Type.INTEGER for a in arguments)
        constant = arguments[0].value if isinstance(arguments[0], Literal) else None
        if name == "negate" and isinstance(constant, int | float | Decimal) and not isinstance(constant, bool):
            return Literal(-constant, arguments[0].type)
        return coerce.call(f"{name}_whole" if whole else name, arguments, span_of(node))

    def _between(self, node: exp.Between) -> Expr:
        low = self.compare("greater_or_equal", [node.this, node.args["low"]], node)
        return coerce.call("and", [low, self.compare("less_or_equal", [node.this, node.args["high"]], node)])

    def _in(self, node: exp.In) -> Expr:
        if not node.expressions:
            raise unsupported(node, hint="Write a list of constants: x IN (1, 2, 3).")
        arguments = coerce.comparable([self.bind(n) for n in [node.this, *node.expressions]], span_of(node))
        return coerce.call("in", coerce.unify(arguments, span_of(node)), span_of(node))

    def _is(self, node: exp.Is) -> Expr:
        if isinstance(node.expression, exp.Null):
            return coerce.call("is_null", [self.bind(node.this)])
        if isinstance(node.expression, exp.Boolean):
            return coerce.call("is_not_distinct", [self.boolean(node.this, "IS"), self.bind(node.expression)])
        raise unsupported(node)

    def _case(self, node: exp.Case) -> Expr:
        conditions = [
            self.compare("equal", [node.this, branch.this], node) if node.this else self.boolean(branch.this, "WHEN")
            for branch in node.args["ifs"]
        ]
        default = node.args.get("default") or exp.Null()
        values = coerce.unify(
            [self.bind(n) for n in [*(b.args["true"] for b in node.args["ifs"]), default]], span_of(node)
        )
        pairs = [part for pair in zip(conditions, values[:-1], strict=True) for part in pair]
        return coerce.call("case", [*pairs, values[-1]], span_of(node))

    def _if(self, node: exp.If) -> Expr:
        branches = [self.bind(node.args["true"]), self.bind(node.args.get("false") or exp.Null())]
        return coerce.call("case", [self.boolean(node.this, "IF"), *coerce.unify(branches, span_of(node))])

    def _same_type(self, name: str, nodes: Sequence[exp.Expr]) -> Expr:
        return coerce.call(name, coerce.unify([self.bind(n) for n in nodes], span_of(nodes[0])), span_of(nodes[0]))

    def _divide(self, node: exp.Div) -> Expr:
        arguments = [self.bind(node.this), self.bind(node.expression)]
        whole = node.args.get("typed") and all(a.type is Type.INTEGER for a in arguments)
        return coerce.call("divide_whole" if whole else "divide", arguments, span_of(node))

    def _divide_whole(self, node: exp.IntDiv) -> Expr:
        return coerce.call("divide_whole", [self.bind(node.this), self.bind(node.expression)], span_of(node))

    def _cast(self, node: exp.Cast) -> Expr:
        kind = node.to.this.name if isinstance(node.to.this, exp.DType) else ""
        if kind not in CASTS:
            raise unsupported(node, hint="Cast to BIGINT, DOUBLE, VARCHAR, DATE, TIMESTAMP or BOOLEAN.")
        if (
            isinstance(node.this, exp.Literal)
            and node.this.is_string
            and CASTS[kind] in {"cast_date", "cast_timestamp"}
        ):
            return literals.moment(node.this.this, Type.DATE if kind == "DATE" else Type.TIMESTAMP)
        return coerce.call(CASTS[kind], [self.bind(node.this)], span_of(node))

    def _trim(self, node: exp.Trim) -> Expr:
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
        parts = [self.bind(n) for n in (node.this, node.expression) if n is not None]
        return coerce.call(name, parts, span_of(node))

    def _log(self, node: exp.Log) -> Expr:
        if node.expression is None:
            return coerce.call("log10", [self.bind(node.this)], span_of(node))
        base, value = self.bind(node.this), self.bind(node.expression)
        if isinstance(base, Literal) and base.value in {2, 10}:
            return coerce.call(f"log{base.value}", [value], span_of(node))
        return coerce.call("divide", [coerce.call("ln", [value]), coerce.call("ln", [base])], span_of(node))

    def _concat(self, nodes: Sequence[exp.Expr]) -> Expr:
        parts = [self.bind(n) for n in nodes]
        return coerce.call("concat", [p if p.type is Type.TEXT else coerce.call("cast_text", [p]) for p in parts])

    def _named(self, node: exp.Anonymous) -> Expr:
        name = str(node.this).upper()
        if name == "CLIP":
            return self._scope.clip([self.bind(n) for n in node.expressions], span_of(node))
        if name in NAMED:
            return coerce.call(NAMED[name], [self.bind(n) for n in node.expressions], span_of(node))
        raise unsupported(node)


def _literal(node: exp.Literal) -> Expr:
    return literals.text(node.this) if node.is_string else literals.number(node.this)


def unsupported(node: exp.Expr, hint: str | None = None) -> UnsupportedSQLError:
    """The refusal of an expression that is not on the allow-list."""
    name = node.this if isinstance(node, exp.Anonymous) else type(node).__name__
    return UnsupportedSQLError(
        f"{text_of(node)} cannot be used: {name} is not on the list of functions that are safe on every row.",
        code="unsupported-expression",
        hint=hint or f"The SQL reference lists the {len(allowed())} functions that can be used.",
        span=span_of(node),
    )
