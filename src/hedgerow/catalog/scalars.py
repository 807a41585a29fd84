"""What a plain word in the file means: the core schema of YAML 1.2, and nothing more.

`1e-6` is a number and `on`, `no`, `yes` are words, whatever a YAML library makes of them. Words that
YAML 1.2 does not list stay words too: `1_000`, `1:30`, `2026-01-01`.
"""

import re
from collections.abc import Callable

from ruamel.yaml.nodes import ScalarNode

Scalar = str | int | float | bool | None

MAX_DIGITS = 400
"""No double has more digits before the decimal point; longer numbers are not worth reading."""

_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def _infinity(text: str) -> float:
    return float(text.replace(".", ""))


def _not_a_number(_: str) -> float:
    return float("nan")


def _floating(text: str) -> float:
    return float(text) if len(text) <= MAX_DIGITS else float("inf")


def _decimal(text: str) -> int | float:
    return int(text) if len(text) <= MAX_DIGITS else float("inf")


_RULES: tuple[tuple[re.Pattern[str], Callable[[str], Scalar]], ...] = (
    (re.compile(r"null|Null|NULL|~|"), lambda _: None),
    (re.compile(r"true|True|TRUE"), lambda _: True),
    (re.compile(r"false|False|FALSE"), lambda _: False),
    (re.compile(r"[-+]?[0-9]+"), _decimal),
    (re.compile(r"0o[0-7]{1,100}"), lambda text: int(text, 0)),
    (re.compile(r"0x[0-9a-fA-F]{1,100}"), lambda text: int(text, 0)),
    (_FLOAT, _floating),
    (_INFINITY, _infinity),
    (re.compile(r"\.(nan|NaN|NAN)"), _not_a_number),
)


def resolve(node: ScalarNode) -> Scalar:
    """The value of a scalar. What stands in quotes, or in a block, is text."""
    text = str(node.value)
    if node.style:
        return text
    return next((make(text) for pattern, make in _RULES if pattern.fullmatch(text)), text)
