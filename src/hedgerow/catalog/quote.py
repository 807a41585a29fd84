"""Names as YAML: plain where that is safe, otherwise in quotes."""

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_NAMES = frozenset({"null", "true", "false"})
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def quote(name: str) -> str:
    """`name` as YAML reads it back, on one line whatever it holds.

    >>> quote("customer_id"), quote("first name"), quote("true")
    ('customer_id', '"first name"', '"true"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _NOT_NAMES:
        return name
    return '"' + "".join(_escape(letter) for letter in name) + '"'


def _escape(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
