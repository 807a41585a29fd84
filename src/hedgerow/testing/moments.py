"""Tolerances for bounded means and variances, from those of their parts.

Noise on count, centred sum (and sum of squares) is in a box but for a probability that the k of the parts decides:
`independent(k, 2)` for a mean and `independent(k, 3)` for a variance, or `partitions` where the noises depend on each
other. In the box, the quotient lies in a bracket.
"""

from dataclasses import dataclass

from hedgerow.arguments import non_negatives, positives, reals

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bracket:
    """Where a noisy mean or variance lies, and the distance that covers it to both sides of the exact one."""

    lower: float
    upper: float
    tolerance: float

    @classmethod
    def around(cls, exact: float, ends: Pair) -> "Bracket":
        """The bracket with these ends."""
        lower, upper = ends
        return cls(lower, upper, max(upper - exact, exact - lower))


def mean(*, count: float, centred_sum: float, count_tolerance: float, sum_tolerance: float) -> Bracket:
    """The bracket of a noisy mean, measured from the middle of the range: noisy sum / max(noisy count, 1).

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle.
        count_tolerance: What the noise of the count exceeds with 10^-l, l = `independent(k, 2)`.
        sum_tolerance: The same of the noise of the centred sum.

    Example:
        >>> part = 29.017315
        >>> found = mean(count=100, centred_sum=50, count_tolerance=part, sum_tolerance=4.5 * part)
        >>> round(found.lower, 5), round(found.upper, 5), round(found.tolerance, 5)
        (-1.13518, 2.54397, 2.04397)
    """
    rows = float(positives("count", count))
    total = float(reals("centred_sum", centred_sum))
    counts = _counts(rows, count_tolerance)
    return Bracket.around(total / rows, _quotient(_around("sum_tolerance", total, sum_tolerance), counts))


def variance(
    *,
    count: float,
    centred_sum: float,
    square_sum: float,
    half_range: float,
    count_tolerance: float,
    sum_tolerance: float,
    square_tolerance: float,
) -> Bracket:
    """The bracket of a noisy variance: noisy squares / c - (noisy sum / c)^2 with c = max(noisy count, 1), cut.

    It is cut to what a variance can be, as the noisy one is.

    Args:
        count: The exact number of values.
        centred_sum: The exact sum of their distances from the middle of the range.
        square_sum: The exact sum of the squares of these.
        half_range: Half the width of the range: a variance lies between 0 and its square.
        count_tolerance: What the noise of the count exceeds with 10^-l, l = `independent(k, 3)`.
        sum_tolerance: The same of the noise of the centred sum.
        square_tolerance: The same of the noise of the sum of squares.

    Example:
        >>> part = 24.018028
        >>> noise = dict(count_tolerance=part, sum_tolerance=4.5 * part, square_tolerance=4.5**2 * part)
        >>> found = variance(count=1000, centred_sum=50, square_sum=700, half_range=4.5, **noise)
        >>> round(found.lower, 5), round(found.upper, 5)
        (0.18239, 1.21556)
    """
    rows, most = float(positives("count", count)), float(positives("half_range", half_range)) ** 2
    total, squares = float(reals("centred_sum", centred_sum)), float(non_negatives("square_sum", square_sum))
    counts = _counts(rows, count_tolerance)
    second = _quotient(_around("square_tolerance", squares, square_tolerance), counts)
    first = _square(_quotient(_around("sum_tolerance", total, sum_tolerance), counts))
    ends = (_cut(second[0] - first[1], most), _cut(second[1] - first[0], most))
    return Bracket.around(squares / rows - (total / rows) ** 2, ends)


def _around(name: str, exact: float, tolerance: float) -> Pair:
    distance = float(non_negatives(name, tolerance))
    return exact - distance, exact + distance


def _counts(count: float, tolerance: float) -> Pair:
    """The noisy count, at least 1."""
    lower, upper = _around("count_tolerance", count, tolerance)
    return max(lower, 1.0), max(upper, 1.0)


def _quotient(totals: Pair, counts: Pair) -> Pair:
    """The least and the greatest quotient; of a positive end the larger count makes the smaller number."""
    low, high = totals
    return low / counts[low > 0], high / counts[high <= 0]


def _square(ends: Pair) -> Pair:
    """The least and the greatest square: zero is among them where the ends differ in sign."""
    low, high = sorted(end * end for end in ends)
    return (0.0 if ends[0] <= 0.0 <= ends[1] else low), high


def _cut(value: float, most: float) -> float:
    return min(max(value, 0.0), most)
