"""Binding functions of numbers whose meaning depends on their types, or on the dialect."""

import math

from sqlglot import exp

from hedgerow.expressions.nodes import Expr, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan import coerce
from hedgerow.plan.handlers import Binder, Handlers, constant_whole, unsupported, whole
from hedgerow.plan.syntax import span_of

MOST_BINS = 1_000_000


def _divide(node: exp.Div, binder: Binder) -> Expr:
    """`/` is whole between whole numbers in some dialects; the parser says in which."""
    arguments = [coerce.to_number(binder.bind(n)) for n in (node.this, node.expression)]
    both_whole = node.args.get("typed") and all(a.type is Type.INTEGER for a in arguments)
    return coerce.call("divide_whole" if both_whole else "divide", arguments, span_of(node))


def _divide_whole(node: exp.IntDiv, binder: Binder) -> Expr:
    return coerce.call("divide_whole", [binder.bind(node.this), binder.bind(node.expression)], span_of(node))


def _trunc(node: exp.Trunc, binder: Binder) -> Expr:
    value, places = binder.bind(node.this), node.args.get("decimals")
    if places is None:
        return coerce.call("trunc", [value], span_of(node))
    return coerce.call("trunc_places", [value, binder.bind(places)], span_of(node))


def _log(node: exp.Log, binder: Binder) -> Expr:
    if node.expression is None:
        return coerce.call("log10", [binder.bind(node.this)], span_of(node))
    base, value = binder.bind(node.this), binder.bind(node.expression)
    if isinstance(base, Literal) and base.value in {2, 10}:
        return coerce.call(f"log{base.value}", [value], span_of(node))
    return coerce.call("divide", [coerce.call("ln", [value]), coerce.call("ln", [base])], span_of(node))


def _width_bucket(node: exp.WidthBucket, binder: Binder) -> Expr:
    ends = [binder.bind(node.args[name]) for name in ("min_value", "max_value")]
    values = [float(e.value) for e in ends if isinstance(e, Literal) and e.type.is_numeric and e.value is not None]  # type: ignore[arg-type]
    bins = constant_whole(binder.bind(node.args["num_buckets"]), node, "The number of bins", 1, MOST_BINS)
    if len(values) != 2 or not values[0] < values[1] or not math.isfinite(values[1] - values[0]):
        raise unsupported(node, hint="Give the bins two constants in order: WIDTH_BUCKET(x, 0, 100, 10).")
    bounds = [coerce.to_float(end) for end in ends]
    return coerce.call("width_bucket", [binder.bind(node.this), *bounds, whole(bins)], span_of(node))


HANDLERS: Handlers = {
    exp.Div: (("this", "expression"), _divide),
    exp.IntDiv: (("this", "expression"), _divide_whole),
    exp.Trunc: (("this", "decimals"), _trunc),
    exp.Log: (("this", "expression"), _log),
    exp.WidthBucket: (("this", "min_value", "max_value", "num_buckets"), _width_bucket),
    exp.Pi: ((), lambda *_: Literal(math.pi, Type.FLOAT)),
}
