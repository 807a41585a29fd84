"""Binding conditions and choices: CASE, IF, COALESCE, DECODE, LEAST, BETWEEN, IN, IS."""

from collections.abc import Sequence

from sqlglot import exp

from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import Binder, Handlers, strict, unsupported, whole
from hedgerow.plan.syntax import span_of

NULL = Literal(None, Type.NULL)


def same_type(name: str, nodes: Sequence[exp.Expr], binder: Binder) -> Expr:
    """A call whose arguments are all of one type."""
    exprs = [binder.bind(n) for n in nodes]
    return coerce.call(name, coerce.unify(exprs, span_of(nodes[0])), span_of(nodes[0]))


def choose(pairs: Sequence[tuple[Expr, Expr]], otherwise: Expr, node: exp.Expr) -> Expr:
    """CASE with bound conditions and values."""
    values = coerce.unify([*(value for _, value in pairs), otherwise], span_of(node))
    flat = [part for (condition, _), value in zip(pairs, values, strict=False) for part in (condition, value)]
    return coerce.call("case", [*flat, values[-1]], span_of(node))


def _between(node: exp.Between, binder: Binder) -> Expr:
    low, high = node.args["low"], node.args["high"]
    inside = _inside(node, low, high, binder)
    return coerce.call("or", [inside, _inside(node, high, low, binder)]) if node.args.get("symmetric") else inside


def _inside(node: exp.Between, low: exp.Expr, high: exp.Expr, binder: Binder) -> Expr:
    above = binder.compare("greater_or_equal", [node.this, low], node)
    return coerce.call("and", [above, binder.compare("less_or_equal", [node.this, high], node)])


def _in(node: exp.In, binder: Binder) -> Expr:
    listed = node.expressions or _unnested(node.args.get("unnest"))
    if not listed:
        raise unsupported(node, hint="Write a list of constants in brackets: x IN (1, 2, 3).")
    arguments = coerce.comparable([binder.bind(n) for n in [node.this, *listed]], span_of(node))
    return coerce.call("in", coerce.unify(arguments, span_of(node)), span_of(node))


def _unnested(node: exp.Expr | None) -> list[exp.Expr]:
    """The values of BigQuery's `IN UNNEST([1, 2, 3])`."""
    arrays = node.expressions if isinstance(node, exp.Unnest) else []
    return list(arrays[0].expressions) if len(arrays) == 1 and isinstance(arrays[0], exp.Array) else []


def _is(node: exp.Is, binder: Binder) -> Expr:
    if isinstance(node.expression, exp.Null):
        found = coerce.call("is_null", [binder.bind(node.this)])
    elif isinstance(node.expression, exp.Boolean):
        found = coerce.call("is_not_distinct", [binder.boolean(node.this, "IS"), binder.bind(node.expression)])
    else:
        raise unsupported(node)
    return coerce.call("not", [found]) if node.args.get("negate") else found


def _case(node: exp.Case, binder: Binder) -> Expr:
    branches = node.args["ifs"]
    if node.this is None:
        conditions = [binder.boolean(b.this, "CASE WHEN") for b in branches]
    else:
        conditions = [binder.compare("equal", [node.this, b.this], node) for b in branches]
    values = [binder.bind(b.args["true"]) for b in branches]
    otherwise = binder.bind(node.args.get("default") or exp.Null())
    return choose(list(zip(conditions, values, strict=True)), otherwise, node)


def _if(node: exp.If, binder: Binder) -> Expr:
    otherwise = binder.bind(node.args.get("false") or exp.Null())
    return choose([(binder.boolean(node.this, "IF"), binder.bind(node.args["true"]))], otherwise, node)


def _nvl2(node: exp.Nvl2, binder: Binder) -> Expr:
    there = coerce.call("not", [coerce.call("is_null", [binder.bind(node.this)])])
    return choose([(there, binder.bind(node.args["true"]))], binder.bind(node.args.get("false") or exp.Null()), node)


def _decode(node: exp.DecodeCase, binder: Binder) -> Expr | None:
    value, *rest = node.expressions
    if len(rest) < 2:
        return None
    sought, given = rest[0 : len(rest) // 2 * 2 : 2], rest[1::2]
    otherwise = binder.bind(rest[-1]) if len(rest) % 2 else NULL
    conditions = [binder.compare("is_not_distinct", [value, s], node) for s in sought]
    return choose(list(zip(conditions, map(binder.bind, given), strict=True)), otherwise, node)


def _extreme(name: str, node: exp.Least | exp.Greatest, binder: Binder) -> Expr:
    """Some dialects pass over NULL, in others one NULL makes all NULL; the parser says which is meant."""
    arguments = coerce.unify([binder.bind(n) for n in [node.this, *node.expressions]], span_of(node))
    value = coerce.call(name, arguments, span_of(node))
    return value if node.args.get("ignore_nulls", True) else strict(arguments, value)


def zero_if_null(value: Expr) -> Expr:
    """ZEROIFNULL(x)."""
    return coerce.call("coalesce", coerce.unify([value, whole(0)]))


def null_if_zero(value: Expr) -> Expr:
    """NULLIFZERO(x)."""
    return coerce.call("nullif", coerce.unify([value, whole(0)]))


HANDLERS: Handlers = {
    exp.Between: (("this", "low", "high", "symmetric"), _between),
    exp.In: (("this", "expressions", "unnest"), _in),
    exp.Is: (("this", "expression", "negate"), _is),
    exp.Case: (("this", "ifs", "default"), _case),
    exp.If: (("this", "true", "false"), _if),
    exp.Nvl2: (("this", "true", "false"), _nvl2),
    exp.DecodeCase: (("expressions",), _decode),
    exp.Least: (("this", "expressions", "ignore_nulls"), lambda n, b: _extreme("least", n, b)),
    exp.Greatest: (("this", "expressions", "ignore_nulls"), lambda n, b: _extreme("greatest", n, b)),
    exp.Coalesce: (("this", "expressions"), lambda n, b: same_type("coalesce", [n.this, *n.expressions], b)),
    exp.Nullif: (("this", "expression"), lambda n, b: same_type("nullif", [n.this, n.expression], b)),
    exp.EqualNull: (
        ("this", "expression"),
        lambda n, b: b.compare("is_not_distinct", [n.this, n.expression], n),
    ),
}
