"""Types of a statement's parameters, found by binding it with a sample of each type."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from hedgerow.errors import HedgerowError
from hedgerow.expressions.nodes import Call, Literal
from hedgerow.expressions.types import Type
from hedgerow.plan.nodes import LogicalPlan, inside

Sample = str | bool | int | float | Decimal | date | datetime | time
Bind = Callable[[Mapping[str, Sample | None]], LogicalPlan]
"""Binds a statement with a value for each parameter, by name."""

UNKNOWN: tuple[Sample | None, ...] = (None, 1)
"""Values that stand for parameters of unknown type while another is looked at: LIMIT takes no NULL, text takes no 1."""

MAXIMUM = 64
"""Number of parameters up to which types are found: each takes a few dozen bindings."""

NUMBER, MOMENT = 7_243_981, datetime(1987, 11, 23, 4, 5, 6)  # noqa: DTZ001 - timestamps have no zone
"""Constants that hardly occur in a statement, from which samples are made."""


def infer_types(names: Sequence[str], bind: Bind) -> tuple[dict[str, Type], dict[str, Sample | None]]:
    """Return the types of parameters, and samples of these types. Free: it reads no row.

    The first pass finds the types that do not depend on another parameter, the second pass the others. A parameter
    that no sample fits has no type here; binding the statement with the samples then says why.
    """
    for unknown in UNKNOWN:
        types: dict[str, Type] = {}
        values: dict[str, Sample | None] = dict.fromkeys(names, unknown)
        for number, name in [*enumerate(names), *enumerate(names)]:
            samples = _samples(number)
            if name not in types and (kind := _fitting_type(name, samples, values, bind)) is not None:
                types[name], values[name] = kind, samples[kind]
        if len(types) == len(names):
            break
    return types, values


def _samples(number: int) -> Mapping[Type, Sample]:
    """Return a value of each type, different for each parameter. Where several types fit, the first one is taken."""
    moment = MOMENT + timedelta(days=number, minutes=number)
    return {
        Type.TEXT: f"sample {number}",
        Type.INTEGER: NUMBER + number,
        Type.FLOAT: NUMBER + number + 0.5,
        Type.DECIMAL: NUMBER + number + Decimal("0.25"),
        Type.DATE: moment.date(),
        Type.TIMESTAMP: moment,
        Type.TIME: moment.time(),
        Type.BOOLEAN: True,
    }


def _fitting_type(
    name: str, samples: Mapping[Type, Sample], values: Mapping[str, Sample | None], bind: Bind
) -> Type | None:
    """Return the type of a parameter: that of what it is compared or computed with, or else the first that fits."""
    fitting: dict[Type, LogicalPlan] = {}
    for kind, sample in samples.items():
        with suppress(HedgerowError):
            fitting[kind] = bind({**values, name: sample})
    booleans_first = sorted(fitting, key=lambda kind: kind is not Type.BOOLEAN)  # numbers fit them, too
    neighbours = (other for kind in booleans_first for other in _neighbours(fitting[kind], samples[kind]))
    return next((other for other in neighbours if other in fitting), next(iter(fitting), None))


def _neighbours(plan: LogicalPlan, sample: Sample) -> list[Type]:
    """Return the types of the expressions that share a call with a sample."""
    calls = [node for node in inside(plan) if isinstance(node, Call)]
    return [
        other.type
        for call in calls
        if any(isinstance(part, Literal) and _is_sample(part.value, sample) for part in call.arguments)
        for other in call.arguments
        if not isinstance(other, Literal)
    ]


def _is_sample(value: object, sample: Sample) -> bool:
    return value is True if sample is True else value == sample
