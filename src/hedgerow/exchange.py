"""Values of dataclasses as JSON and back, without loss: a service sends them, and its client rebuilds them.

The shape follows the fields of a class, so there is no second description of it. Unknown fields are ignored and missing
ones take their defaults, so that client and service may differ in version. A field that takes no part in comparisons
(`compare=False`), such as a function that asks the database, is left out.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from hedgerow.errors import ParameterError

T = TypeVar("T")

_ENCODERS: dict[type, Callable[[Any], Any]] = {}
_DECODERS: dict[object, Callable[[Any], Any]] = {}
_SHAPES: dict[type, Mapping[str, Any]] = {}


def register(
    annotation: object,
    classes: Sequence[type],
    encoder: Callable[[Any], Any],
    decoder: Callable[[Any], Any],
) -> None:
    """Write instances of `classes` by `encoder`, and read a field declared as `annotation` by `decoder`."""
    _ENCODERS.update(dict.fromkeys(classes, encoder))
    _DECODERS[annotation] = decoder


def encode(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    """Return a value as plain JSON. Numbers that JSON does not have become text: "inf", "-inf", "nan"; fractions "1/3".

    Example:
        >>> encode({1: (0.5, math.inf)}), encode(Fraction(1, 3))
        ({'1': [0.5, 'inf']}, '1/3')
    """
    kind = type(value)
    if value is None or kind in {bool, int, str}:
        return value
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind in _ENCODERS:
        return _ENCODERS[kind](value)
    if isinstance(value, Enum | Fraction):
        return value.value if isinstance(value, Enum) else str(value)
    if is_dataclass(value):
        return {name: encode(getattr(value, name)) for name in _shape(kind)}
    if isinstance(value, Mapping):
        return {str(name): encode(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [encode(part) for part in value]
    if isinstance(value, Integral):  # of NumPy
        return int(value)
    if isinstance(value, Real):
        return encode(float(value))
    raise TypeError(f"A value of type {kind.__name__} has no JSON form.")


def decode(annotation: Any, document: Any) -> Any:  # noqa: ANN401 - by the annotation
    """Return the value that `encode` wrote, for a field declared as `annotation`.

    Example:
        >>> decode(Mapping[int, tuple[float, ...]], {"1": [0.5, "inf"]})
        {1: (0.5, inf)}
    """
    if annotation in _DECODERS:
        return _DECODERS[annotation](document)
    if annotation is Any or annotation is object:
        return document
    origin, words = get_origin(annotation), get_args(annotation)
    if origin in {Union, UnionType}:
        known = [word for word in words if word is not NoneType]
        return document if document is None or len(known) > 1 else decode(known[0], document)
    if origin is tuple:
        kinds = [words[0]] * len(document) if len(words) == 2 and words[1] is Ellipsis else words
        return tuple(decode(kind, part) for kind, part in zip(kinds, document, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {decode(words[0], name): decode(words[1], part) for name, part in document.items()}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return [decode(words[0], part) for part in document]
    if is_dataclass(annotation) and isinstance(annotation, type):
        return annotation(
            **{name: decode(hint, document[name]) for name, hint in _shape(annotation).items() if name in document}
        )
    if annotation in {int, float, Fraction} or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return annotation(document)
    return document


def _shape(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a dataclass
    """Return the fields that make the value of a dataclass, with their annotations."""
    if kind not in _SHAPES:
        hints, listed = get_type_hints(kind), fields(kind)
        left_out = [field for field in listed if not field.compare]
        if any(field.default is MISSING and field.default_factory is MISSING for field in left_out):
            raise TypeError(f"{kind.__name__} has a field without a default that takes no part in comparisons.")
        _SHAPES[kind] = {field.name: hints[field.name] for field in listed if field.compare}
    return _SHAPES[kind]


TYPED: Mapping[str, tuple[type, Callable[[str], object]]] = {
    "decimal": (Decimal, Decimal),
    "timestamp": (datetime, datetime.fromisoformat),
    "date": (date, date.fromisoformat),
    "time": (time, time.fromisoformat),
}
"""Values of parameters that JSON does not have, by the name under which they are written: `{"date": "2026-01-31"}`."""


def encode_params(params: Any) -> Any:  # noqa: ANN401 - parameters are a sequence or a mapping
    """Return the parameters of a statement as plain JSON.

    Example:
        >>> encode_params({"day": date(2026, 1, 31), "price": Decimal("1.50"), "n": 3})
        {'day': {'date': '2026-01-31'}, 'price': {'decimal': '1.50'}, 'n': 3}
    """
    if params is None:
        return None
    if isinstance(params, Mapping):
        return {str(name): _encode_param(value) for name, value in params.items()}
    return [_encode_param(value) for value in params]


def _encode_param(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        if isinstance(value, float) and not math.isfinite(value):
            raise ParameterError("A parameter must be finite.", code="bad-parameter", hint="Pass a finite number.")
        return value
    for name, (kind, _) in TYPED.items():
        if isinstance(value, kind):
            return {name: str(value) if kind is Decimal else value.isoformat()}  # type: ignore[attr-defined]
    raise ParameterError(
        f"A parameter of type {type(value).__name__} cannot be used.",
        code="bad-parameter",
        hint="Pass text, numbers, booleans, dates or None.",
    )


def decode_params(document: Any) -> Any:  # noqa: ANN401 - parameters are a sequence or a mapping
    """Return the parameters that `encode_params` wrote.

    Example:
        >>> decode_params([{"date": "2026-01-31"}, 3])
        [datetime.date(2026, 1, 31), 3]
    """
    if document is None:
        return None
    if isinstance(document, Mapping):
        return {name: _decode_param(value) for name, value in document.items()}
    return [_decode_param(value) for value in document]


def _decode_param(value: object) -> object:
    if not isinstance(value, Mapping | list):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, text),) = value.items()
        if name in TYPED and isinstance(text, str):
            try:
                return TYPED[name][1](text)
            except (ValueError, InvalidOperation):
                pass
    raise ParameterError(
        "A parameter has a value that cannot be read.",
        code="bad-parameter",
        hint='Write text, numbers, true, false, null, or like {"date": "2026-01-31"}, {"time": "13:45"}, '
        '{"timestamp": "2026-01-31T13:45:00"}, {"decimal": "1.50"}.',
    )
