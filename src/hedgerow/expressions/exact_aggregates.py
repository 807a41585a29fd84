"""Exact aggregates and window functions: those that may be used where no noise is needed.

They run over public rows, over released rows, and over the rows of one person at a time. In the last case the result
must depend on nothing but the rows themselves: so doubles are added in order of size, ties are broken by value, and
text is compared bytewise. None of them can fail on a row.

`{tail}` in a template is where FILTER and OVER go.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hedgerow.expressions.ranges import EVERYTHING, NON_NEGATIVE, Range, hull
from hedgerow.expressions.types import Type

NUMBER = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
ANY = frozenset(Type) - {Type.OTHER, Type.NULL, Type.INTERVAL}
Signature = Callable[[Sequence[Type]], Type | None]


@dataclass(frozen=True)
class ExactAggregate:
    """One exact aggregate or window function.

    Attributes:
        signature: Argument types to result type, or None where it does not apply.
        template: Its text; or one for each type of the first argument (None: any other); or made from types.
        range: From the ranges of the arguments, and the maximum number of rows of one unit, to that of the result.
        windowed: True if it needs an OVER clause, False if it cannot have one, None if both are allowed.
        ordered: True if the result depends on the order of ties.
        constants: Arguments from this position on must be constants.
        grows: True if the result grows with the number of rows: not for rows of people, where memory could run out.
    """

    name: str
    signature: Signature
    template: str | Mapping[Type | None, str] | Callable[[Sequence[Type]], str]
    range: Callable[[Sequence[Range], float], Range] = lambda _r, _n: EVERYTHING
    windowed: bool | None = None
    ordered: bool = False
    constants: int = 9
    grows: bool = False

    def text(self, kinds: Sequence[Type]) -> str:
        """The template for arguments of these types."""
        if isinstance(self.template, str):
            return self.template
        if callable(self.template):
            return self.template(kinds)
        return self.template.get(kinds[0] if kinds else None) or self.template[None]


def lookup(name: str) -> ExactAggregate | None:
    """Return the aggregate of that name, or None."""
    return _AGGREGATES.get(name if name in OURS else name.upper())


def names(*, windowed: bool) -> list[str]:
    """The names of the aggregates (or of all that may have OVER)."""
    wanted = (True, None) if windowed else (False, None)
    return sorted(name for name, known in _AGGREGATES.items() if known.windowed in wanted and name not in OURS)


def _takes(*kinds: frozenset[Type], gives: Type | None = None, minimum: int | None = None) -> Signature:
    """Return a signature of arguments of these kinds, with a fixed result type or (None) that of the first argument."""

    def signature(types: Sequence[Type]) -> Type | None:
        if not (len(kinds) if minimum is None else minimum) <= len(types) <= len(kinds):
            return None
        if any(kind not in allowed for kind, allowed in zip(types, kinds, strict=False)):
            return None
        return types[0] if gives is None else gives

    return signature


def _summed(types: Sequence[Type]) -> Type | None:
    if len(types) != 1 or types[0] not in NUMBER:
        return None
    return Type.INTEGER if types[0] is Type.INTEGER else Type.FLOAT


def _shifted(types: Sequence[Type]) -> Type | None:
    if not 1 <= len(types) <= 3 or (len(types) > 1 and types[1] is not Type.INTEGER):
        return None
    if len(types) < 3:
        return types[0]
    if types[0] in NUMBER and types[2] in NUMBER:
        whole = types[0] is Type.INTEGER and types[2] is Type.INTEGER
        return Type.INTEGER if whole else Type.FLOAT
    return types[0] if types[2] in {types[0], Type.NULL} else None


def _by_bytes(template: str) -> Callable[[Sequence[Type]], str]:
    """A template of two arguments in which text is compared byte by byte."""

    def written(kinds: Sequence[Type]) -> str:
        names = [f'{{{i}}} COLLATE "binary"' if kind is Type.TEXT else f"{{{i}}}" for i, kind in enumerate(kinds)]
        return template.format(first=names[0], second=names[1]) + "{tail}"

    return written


def _with_default(name: str) -> Callable[[Sequence[Type]], str]:
    """Return LAG and LEAD; the default is converted to the type of the value."""

    def written(kinds: Sequence[Type]) -> str:
        if len(kinds) < 3 or kinds[0] not in NUMBER:
            return f"{name}({{listed}}){{tail}}"
        wide = "BIGINT" if kinds[0] is kinds[2] is Type.INTEGER else "DOUBLE"
        return f"{name}(CAST({{0}} AS {wide}), {{1}}, CAST({{2}} AS {wide})){{tail}}"

    return written


def _first(ranges: Sequence[Range], _rows: float) -> Range:
    return ranges[0]


def _sum_range(ranges: Sequence[Range], rows: float) -> Range:
    """Return the range of a sum of one to `rows` values."""
    ends = [0.0 if end == 0 else end * rows for end in (ranges[0].lower, ranges[0].upper)]
    return hull([ranges[0], Range(min(ends), max(ends))])


def _stddev_range(ranges: Sequence[Range], _rows: float) -> Range:
    return Range(0.0, ranges[0].upper - ranges[0].lower)


def _count_range(_ranges: Sequence[Range], rows: float) -> Range:
    return Range(0.0, rows)


DOUBLE = "CAST({0} AS DOUBLE)"
IN_ORDER = f"({DOUBLE} ORDER BY {DOUBLE}){{tail}}"
WHOLE_SUM = "TRY_CAST(SUM(CAST({0} AS BIGINT)){tail} AS BIGINT)"
TOTAL = "total of counts"
"""Not an SQL name: the sum of released counts, 0 over no groups."""

ROWS = "rows"
"""Not an SQL name: all rows, each as a list of numbers, for the provenance of a summary of released rows."""

OURS = frozenset({TOTAL, ROWS})

BYTES = {Type.TEXT: '{name}({{0}} COLLATE "binary"){{tail}}', None: "{name}({{0}}){{tail}}"}

_TABLE = (
    ExactAggregate("COUNT", _takes(ANY, gives=Type.INTEGER, minimum=0), "COUNT({distinct}{all}){tail}", _count_range),
    ExactAggregate("SUM", _summed, {Type.INTEGER: WHOLE_SUM, None: f"SUM{IN_ORDER}"}, _sum_range),
    ExactAggregate(
        TOTAL,
        _takes(frozenset({Type.INTEGER})),
        f"CASE WHEN COUNT(*){{tail}} = 0 THEN 0 ELSE {WHOLE_SUM} END",
        windowed=False,
    ),
    ExactAggregate(ROWS, lambda _: Type.OTHER, "LIST([{doubles}]){tail}"),
    ExactAggregate("AVG", _takes(NUMBER, gives=Type.FLOAT), f"AVG{IN_ORDER}", _first),
    ExactAggregate("MEDIAN", _takes(NUMBER, gives=Type.FLOAT), f"MEDIAN({DOUBLE}){{tail}}", _first),
    ExactAggregate(
        "QUANTILE_CONT",
        _takes(NUMBER, NUMBER, gives=Type.FLOAT),
        f"QUANTILE_CONT({DOUBLE}, {{1}}){{tail}}",
        _first,
        constants=1,
    ),
    *(
        ExactAggregate(name, _takes(ANY), {kind: text.format(name=name) for kind, text in BYTES.items()}, _first)
        for name in ("MIN", "MAX")
    ),
    ExactAggregate("ANY_VALUE", _takes(ANY), {kind: text.format(name="MIN") for kind, text in BYTES.items()}, _first),
    *(
        ExactAggregate(name, _takes(NUMBER, gives=Type.FLOAT), f"{name}{IN_ORDER}", _stddev_range)
        for name in ("STDDEV_SAMP", "STDDEV_POP")
    ),
    *(
        ExactAggregate(name, _takes(NUMBER, gives=Type.FLOAT), f"{name}{IN_ORDER}", lambda _r, _n: NON_NEGATIVE)
        for name in ("VAR_SAMP", "VAR_POP")
    ),
    *(
        ExactAggregate(name, _takes(frozenset({Type.BOOLEAN}), gives=Type.BOOLEAN), f"{name}({{0}}){{tail}}")
        for name in ("BOOL_AND", "BOOL_OR")
    ),
    ExactAggregate(
        "STRING_AGG",
        _takes(frozenset({Type.TEXT}), frozenset({Type.TEXT})),
        "STRING_AGG({0}, {1} ORDER BY {0}){tail}",
        windowed=False,
        constants=1,
        grows=True,
    ),
    *(
        ExactAggregate(
            name,
            _takes(ANY, ANY),
            _by_bytes(f"{name}({{first}}, {{second}} ORDER BY {{first}})"),
            _first,
        )
        for name in ("ARG_MIN", "ARG_MAX")
    ),
    *(
        ExactAggregate(
            name,
            _takes(gives=Type.INTEGER),
            f"{name}(){{tail}}",
            lambda _r, n: Range(1.0, n),
            windowed=True,
            ordered=name == "ROW_NUMBER",
        )
        for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")
    ),
    *(
        ExactAggregate(
            name, _takes(gives=Type.FLOAT), f"{name}(){{tail}}", lambda _r, _n: Range(0.0, 1.0), windowed=True
        )
        for name in ("PERCENT_RANK", "CUME_DIST")
    ),
    ExactAggregate(
        "NTILE",
        _takes(frozenset({Type.INTEGER}), gives=Type.INTEGER),
        "NTILE({0}){tail}",
        lambda r, _n: Range(1.0, max(1.0, r[0].upper)),
        windowed=True,
        ordered=True,
        constants=0,
    ),
    *(
        ExactAggregate(
            name,
            _shifted,
            _with_default(name),
            lambda r, _n: hull([r[0], *r[2:]]),
            windowed=True,
            ordered=True,
            constants=1,
        )
        for name in ("LAG", "LEAD")
    ),
    *(
        ExactAggregate(name, _takes(ANY), f"{name}({{0}}){{tail}}", _first, windowed=True, ordered=True)
        for name in ("FIRST_VALUE", "LAST_VALUE")
    ),
    ExactAggregate(
        "NTH_VALUE",
        _takes(ANY, frozenset({Type.INTEGER})),
        "NTH_VALUE({0}, {1}){tail}",
        _first,
        windowed=True,
        ordered=True,
        constants=1,
    ),
)
_AGGREGATES = {row.name: row for row in _TABLE}
