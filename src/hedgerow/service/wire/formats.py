"""Values of PostgreSQL's types, in its text and binary formats: results from Python, parameters to Python."""

import json
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from hedgerow.service.wire.messages import StatementError

EPOCH_DATE = date(2000, 1, 1)
EPOCH = datetime(2000, 1, 1)  # noqa: DTZ001 - the protocol's timestamps have no zone
EPOCH_UTC = datetime(2000, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
INT8 = -(2**63), 2**63 - 1
NBASE = 10_000
NUMERIC_NAN, NUMERIC_PLUS, NUMERIC_MINUS = 0xC000, 0xD000, 0xF000

Encoder = Callable[[Any], bytes]
Decoder = Callable[[bytes], Any]


def _float_text(value: float) -> str:
    """Return the shortest digits that give the same number, as PostgreSQL prints them."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value)).removesuffix(".0")


def _time_text(value: time | datetime) -> str:
    text = value.strftime("%H:%M:%S")
    return f"{text}.{value.microsecond:06d}".rstrip("0") if value.microsecond else text


def _date_text(value: date) -> str:
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}"


def _timestamp_text(value: datetime) -> str:
    return f"{_date_text(value)} {_time_text(value)}"


def _timestamptz_text(value: datetime) -> str:
    return f"{_timestamp_text(value.astimezone(UTC))}+00"


def _integer(value: Any) -> int:  # noqa: ANN401 - whatever a released column holds
    number = int(value)
    if not INT8[0] <= number <= INT8[1]:
        raise StatementError("bigint out of range", "22003", hint="Cast the column to numeric or double precision.")
    return number


def _as_timestamp(value: Any) -> datetime:  # noqa: ANN401 - a date or a datetime
    return value.replace(tzinfo=None) if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001


def _microseconds_of_day(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def encode_numeric(value: Any) -> bytes:  # noqa: ANN401 - any number
    """Return a number in the binary format of numeric: groups of four decimal digits."""
    number = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)
    if not number.is_finite():
        sign = NUMERIC_NAN if number.is_nan() else NUMERIC_PLUS if number > 0 else NUMERIC_MINUS
        return struct.pack("!hhHh", 0, 0, sign, 0)
    scale = max(0, -int(number.as_tuple().exponent))
    whole, _, fraction = f"{abs(number):f}".partition(".")
    whole = whole.lstrip("0")
    whole = whole.zfill(-(-len(whole) // 4) * 4)
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int((whole + fraction)[start : start + 4]) for start in range(0, len(whole) + len(fraction), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, 0x4000 if number < 0 else 0, scale)
    return head + struct.pack(f"!{len(groups)}h", *groups)


def decode_numeric(data: bytes) -> Decimal:
    """Return the number in a binary numeric."""
    count, weight, sign, scale = struct.unpack_from("!hhHh", data)
    if sign in {NUMERIC_NAN, NUMERIC_PLUS, NUMERIC_MINUS}:
        return Decimal({NUMERIC_NAN: "NaN", NUMERIC_PLUS: "Infinity", NUMERIC_MINUS: "-Infinity"}[sign])
    groups = struct.unpack_from(f"!{count}h", data, 8)
    if len(data) != 8 + 2 * count or any(not 0 <= group < NBASE for group in groups):
        raise ValueError(data)
    number = sum((Decimal(group).scaleb(4 * (weight - index)) for index, group in enumerate(groups)), Decimal(0))
    return (-number if sign else number).quantize(Decimal(1).scaleb(-scale)) if scale < 28 else number


def _bool_from_text(text: str) -> bool:
    word = text.strip().lower()
    if word in {"t", "true", "on", "yes", "y", "1"}:
        return True
    if word in {"f", "false", "off", "no", "n", "0"}:
        return False
    raise ValueError(text)


def _float_from_text(text: str) -> float:
    if "_" in text:
        raise ValueError(text)
    return float(text)


def _timestamp_from_text(text: str) -> datetime:
    """Read a timestamp; a time zone in it is dropped, as PostgreSQL does for a timestamp without time zone."""
    return _timestamptz_from_text(text).replace(tzinfo=None)


def _timestamptz_from_text(text: str) -> datetime:
    # PostgreSQL writes offsets of whole hours in two digits
    return datetime.fromisoformat(re.sub(r"([+-]\d\d)$", r"\1:00", text.strip()) if ":" in text else text.strip())


def _guessed(text: str) -> int | Decimal | str:
    """Return a value of unknown type by the form of its text: a number, a boolean, a date, or else text."""
    if re.fullmatch(r"-?\d{1,18}", text):
        return int(text)
    return Decimal(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


@dataclass(frozen=True, slots=True)
class WireType:
    """One type: its object id and size, and the functions between Python's values and its two formats.

    `sample` is some value of the type, with which a statement is described before its parameters have values.
    """

    type_id: int
    size: int
    text: Callable[[Any], str]
    binary: Encoder
    from_text: Callable[[str], Any]
    from_binary: Decoder
    sample: Any


def _packed(code: str, convert: Callable[[Any], Any] = lambda value: value) -> Encoder:
    packer = struct.Struct(code)
    return lambda value: packer.pack(convert(value))


def _unpacked(code: str, convert: Callable[[Any], Any] = lambda value: value) -> Decoder:
    packer = struct.Struct(code)
    return lambda data: convert(packer.unpack(data)[0])


def _integer_type(type_id: int, size: int, code: str) -> WireType:
    return WireType(type_id, size, lambda value: str(_integer(value)), _packed(code, _integer), int, _unpacked(code), 0)


def _float_type(type_id: int, size: int, code: str) -> WireType:
    return WireType(type_id, size, _float_text, _packed(code, float), _float_from_text, _unpacked(code), 0.0)


def _text_type(type_id: int) -> WireType:
    return WireType(type_id, -1, str, lambda value: str(value).encode(), str, bytes.decode, "")


def _json_text(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    return value if isinstance(value, str) else json.dumps(value)


BOOL = WireType(
    16, 1, lambda value: "t" if value else "f", _packed("!?"), _bool_from_text, _unpacked("!?"), sample=False
)
INT2, INT4, BIGINT = _integer_type(21, 2, "!h"), _integer_type(23, 4, "!i"), _integer_type(20, 8, "!q")
FLOAT4, FLOAT8 = _float_type(700, 4, "!f"), _float_type(701, 8, "!d")
NUMERIC = WireType(
    1700,
    -1,
    lambda value: f"{value:f}" if isinstance(value, Decimal) and value.is_finite() else _number_text(value),
    encode_numeric,
    Decimal,
    decode_numeric,
    Decimal(0),
)
TEXT, VARCHAR, BPCHAR, NAME = _text_type(25), _text_type(1043), _text_type(1042), _text_type(19)
DATE = WireType(
    1082,
    4,
    _date_text,
    _packed("!i", lambda value: (date(value.year, value.month, value.day) - EPOCH_DATE).days),
    lambda text: date.fromisoformat(text.strip()[:10]),
    _unpacked("!i", lambda days: EPOCH_DATE + timedelta(days)),
    EPOCH_DATE,
)
TIME = WireType(
    1083,
    8,
    _time_text,
    _packed("!q", _microseconds_of_day),
    lambda text: time.fromisoformat(text.strip()),
    _unpacked("!q", lambda number: (EPOCH + number * MICROSECOND).time()),
    time(0),
)
TIMESTAMP = WireType(
    1114,
    8,
    lambda value: _timestamp_text(_as_timestamp(value)),
    _packed("!q", lambda value: (_as_timestamp(value) - EPOCH) // MICROSECOND),
    _timestamp_from_text,
    _unpacked("!q", lambda number: EPOCH + number * MICROSECOND),
    EPOCH,
)
TIMESTAMPTZ = WireType(
    1184,
    8,
    _timestamptz_text,
    _packed("!q", lambda value: (value - EPOCH_UTC) // MICROSECOND),
    _timestamptz_from_text,
    _unpacked("!q", lambda number: EPOCH_UTC + number * MICROSECOND),
    EPOCH_UTC,
)
UUID_TYPE = WireType(
    2950, 16, str, lambda value: UUID(str(value)).bytes, UUID, lambda data: UUID(bytes=data), UUID(int=0)
)
JSON = WireType(114, -1, _json_text, lambda value: _json_text(value).encode(), str, bytes.decode, "null")
UNKNOWN = WireType(705, -2, str, lambda value: str(value).encode(), _guessed, lambda data: _guessed(data.decode()), "")


def _number_text(value: Any) -> str:  # noqa: ANN401 - any number
    return _float_text(float(value)) if not isinstance(value, int) else str(value)


BY_ID = {
    kind.type_id: kind
    for kind in (
        BOOL,
        INT2,
        INT4,
        BIGINT,
        FLOAT4,
        FLOAT8,
        NUMERIC,
        TEXT,
        VARCHAR,
        BPCHAR,
        NAME,
        DATE,
        TIME,
        TIMESTAMP,
        TIMESTAMPTZ,
        UUID_TYPE,
        JSON,
        UNKNOWN,
    )
} | {0: UNKNOWN, 26: BIGINT}
"""Types by object id; 0 is a parameter without a declared type."""

BY_NAME = {
    "integer": BIGINT,
    "float": FLOAT8,
    "decimal": NUMERIC,
    "text": TEXT,
    "boolean": BOOL,
    "date": DATE,
    "time": TIME,
    "timestamp": TIMESTAMP,
}
"""Types of columns by the word that `db.describe` has for them."""


def column_type(word: str) -> WireType:
    """Return the type of a column by hedgerow's word for it; a text for any other."""
    return BY_NAME.get(word, TEXT)


def encode(kind: WireType, value: object, code: int, codec: str) -> bytes | None:
    """Return a value in text (code 0) or binary (1); None for NULL."""
    if value is None:
        return None
    if code == 1 and kind.size != -1:
        return kind.binary(value)
    if code == 1 and kind is NUMERIC:
        return encode_numeric(value)
    return kind.text(value).encode(codec, errors="replace")


def decode(kind: WireType, data: bytes | None, code: int, codec: str) -> object:
    """Return the value of a parameter."""
    if data is None:
        return None
    try:
        if code == 1 and (kind.size not in {-1, -2} or kind is NUMERIC):
            return kind.from_binary(data)
        return kind.from_text(data.decode(codec))
    except (ValueError, InvalidOperation, struct.error, OverflowError, ArithmeticError):
        raise StatementError("a parameter cannot be read as its type", "22P02" if code == 0 else "22P03") from None


def parameter_type(type_id: int) -> WireType:
    """Return the type of a parameter."""
    kind = BY_ID.get(type_id)
    if kind is None:
        raise StatementError(
            f"parameters of the type with object id {type_id} are not supported",
            "0A000",
            hint="Send a number, a text, a boolean, a date, a time or a timestamp.",
        )
    return kind
