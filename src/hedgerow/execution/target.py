"""How wrong an answer may be: `within=` in Python, `--within` on the command line."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError

AMOUNTS = (1e-9, 1e15)
SIZES = (1, 10**15)
WRITTEN = re.compile(r"^(?P<abs>abs:)?(?P<amount>[0-9.eE+-]+)(?P<percent>%)?(?:@(?P<size>[0-9][0-9_,]*))?$")


@dataclass(frozen=True, slots=True)
class Target:
    """An error that is not to be exceeded: a fraction of the value, or an amount of its unit.

    `size` restricts the promise to groups where every count that a number rests on is at least that large.
    """

    amount: float
    absolute: bool = False
    size: int | None = None

    def allowed(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest error of values whose absolute amount is at least `sizes`."""
        return np.full_like(sizes, self.amount) if self.absolute else self.amount * sizes

    def __str__(self) -> str:
        text = f"{self.amount:g}" if self.absolute else f"{100 * self.amount:g} %"
        return text if self.size is None else f"{text} in groups of {self.size:,} or more"


def target(stated: object) -> Target | None:
    """The target that `within=` names: 0.05, ("abs", 100), (0.05, 1000), or the text of the command line.

    Example:
        >>> target((0.05, 1000)), target("abs:100")
        (Target(amount=0.05, absolute=False, size=1000), Target(amount=100.0, absolute=True, size=None))
    """
    if stated is None or isinstance(stated, Target):
        return stated
    if isinstance(stated, str):
        return _written(stated)
    parts = tuple(stated) if isinstance(stated, tuple | list) else (stated,)
    absolute = bool(parts) and isinstance(parts[0], str) and parts[0] == "abs"
    numbers = parts[1:] if absolute else parts
    if len(numbers) not in {1, 2}:
        raise _bad()
    return _target(numbers[0], absolute=absolute, size=numbers[1] if len(numbers) == 2 else None)


def _target(stated: object, *, absolute: bool, size: object, percent: bool = False) -> Target:
    """The checked target. An error of the whole value or more promises nothing; usually a percent sign is missing."""
    amount, least = _amount(stated), None if size is None else _size(size)
    if not absolute and amount >= 1:
        groups = "" if least is None else f"@{least}"
        meant = [f'"{amount:g}%{groups}"'] if amount < 100 else []
        meant.append(f'"abs:{amount:g}{groups}"')
        raise ParameterError(
            f"within asks for an error of {100 * amount:g} % of the value, which promises nothing.",
            code="bad-within",
            hint="Ask for less than 100 %." if percent else f"Did you mean {' or '.join(meant)}?",
        )
    return Target(amount, absolute, least)


def _written(text: str) -> Target:
    found = WRITTEN.match(text.strip())
    if found is None or (found["abs"] and found["percent"]):
        raise _bad()
    try:
        amount = float(found["amount"]) / (100 if found["percent"] else 1)
    except ValueError:
        raise _bad() from None
    size = None if found["size"] is None else int(re.sub("[_,]", "", found["size"]))
    return _target(amount, absolute=bool(found["abs"]), size=size, percent=bool(found["percent"]))


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not AMOUNTS[0] <= value <= AMOUNTS[1]:
        raise _bad()
    return float(value)


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not SIZES[0] <= value <= SIZES[1]:
        raise _bad()
    return value


def _bad() -> ParameterError:
    return ParameterError(
        "within must be an error that can be reached.",
        code="bad-within",
        hint='Such as 0.05 or "5%" of the value, ("abs", 100) or "abs:100" of its unit, '
        '(0.05, 1000) or "5%@1000" for groups of at least 1 000.',
    )
