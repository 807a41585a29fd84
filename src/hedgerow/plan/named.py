"""Functions that the parser passes on by name alone."""

from sqlglot import exp

from hedgerow.expressions.nodes import Expr
from hedgerow.plan import calendars, choices, coerce, parts, temporal
from hedgerow.plan.handlers import Binder, Handler, whole
from hedgerow.plan.syntax import NAMED, dialect_of, span_of


def _first(node: exp.Anonymous, binder: Binder) -> Expr:
    return binder.bind(node.expressions[0])


def _moment(node: exp.Anonymous, binder: Binder) -> Expr:
    return parts.moment(_first(node, binder), dialect_of(node))


def _iff(node: exp.Anonymous, binder: Binder) -> Expr:
    condition, value, otherwise = node.expressions
    return choices.choose([(binder.boolean(condition, "IFF"), binder.bind(value))], binder.bind(otherwise), node)


def _part(name: str) -> Handler:
    return lambda node, binder: parts.part(name, _moment(node, binder), node, extracted=False)


def _bucket(node: exp.Anonymous, binder: Binder) -> Expr:
    made = exp.DateBin(this=node.expressions[0], expression=node.expressions[1])
    made.meta.update(node.meta)
    return binder.bind(made)


def _read(node: exp.Anonymous, binder: Binder) -> Expr:
    made = exp.StrToTime(this=node.expressions[0], format=node.expressions[1])
    made.meta.update(node.meta)
    return binder.bind(made)


BY_NAME: dict[str, tuple[tuple[int, int], Handler]] = {
    "DATE_PART": ((2, 2), parts.named_part),
    "DATEPART": ((2, 2), parts.named_part),
    "DATE_SUB": ((3, 3), temporal.elapsed),
    "DATESUB": ((3, 3), temporal.elapsed),
    "DATEADD": ((3, 3), temporal.date_add),
    "TIMESTAMPADD": ((3, 3), temporal.date_add),
    "MAKE_DATE": ((3, 3), calendars.make_date),
    "TIME_BUCKET": ((2, 2), _bucket),
    "TRY_STRPTIME": ((2, 2), _read),
    "IFF": ((3, 3), _iff),
    "ZEROIFNULL": ((1, 1), lambda n, b: choices.zero_if_null(_first(n, b))),
    "NULLIFZERO": ((1, 1), lambda n, b: choices.null_if_zero(_first(n, b))),
    "SQUARE": ((1, 1), lambda n, b: coerce.call("power", [_first(n, b), whole(2)], span_of(n))),
    **{name: ((1, 1), _part(name)) for name in parts.NAMED},
}
"""How many arguments each takes, and what it means."""

OF_ONE_DIALECT: dict[tuple[str, str], tuple[tuple[int, int], Handler]] = {
    ("sqlite", "JULIANDAY"): ((1, 1), lambda n, b: calendars.julian_day(_moment(n, b), n)),
    ("sqlite", "DATE"): ((1, 9), calendars.modified),
    ("sqlite", "DATETIME"): ((1, 9), calendars.modified),
    ("sqlite", "UNIXEPOCH"): ((1, 1), lambda n, b: calendars.seconds_of(_moment(n, b), n)),
}


def bind(node: exp.Anonymous, binder: Binder) -> Expr | None:
    """The expression, or None where the name is on no list."""
    name = str(node.this).upper()
    if name in calendars.VOLATILE_NAMES:
        raise calendars.volatile(node)
    found = OF_ONE_DIALECT.get((dialect_of(node), name)) or BY_NAME.get(name)
    if found is not None and found[0][0] <= len(node.expressions) <= found[0][1]:
        return found[1](node, binder)
    if name in NAMED:
        return coerce.call(NAMED[name], [binder.bind(n) for n in node.expressions], span_of(node))
    return None
