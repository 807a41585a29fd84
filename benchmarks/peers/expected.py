"""The expected errors of ten queries under the documented mechanisms of several systems.

A trial of 25 draws may be lucky. What a mechanism errs on average follows from its noise, and is computed here to first
order: an answer f(sums) with independent noise x_i on its sums errs by |sum of (df/ds_i) x_i|, whose mean is known for
Laplace noise, Gaussian noise and whole Laplace numbers (`means.py`). Terms of second order are below a percent of the
error wherever the noise is below a percent of the count; in the ten queries it is two percent in one cell, at epsilon
0.1.

Every system gets the same bounds, the true extremes. U is the larger absolute bound, h half the width of the bounds, m
their middle. Cells that a threshold would suppress count as shown, which favours the others: ours are measured.
Nothing here is measured; `run_*.py` measures.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from peers.means import gaussian, laplace, whole_gaussian, whole_laplace

from hedgerow.accounting import gaussian_mu, zcdp_delta
from hedgerow.accounting.gaussian import bracket

DELTA = 1e-7
KEYS_SHARE = 0.1
"""Of the budget, for finding the keys, where the system leaves it to its user (Tumult)."""

EQUAL_SHARE = 1 / 3
"""Share of epsilon for keys, sum and count of an average, where the system divides it itself."""


@dataclass(frozen=True)
class Cell:
    """One number of an answer, the rows it rests on, and what they are like."""

    truth: float
    rows: int
    mean: float = 0.0
    variance: float = 0.0
    other_mean: float = 0.0
    covariance: float = 0.0


@dataclass(frozen=True)
class Question:
    """A query as mechanisms see it: its cells, bounds, and how many rows and groups one person may have."""

    name: str
    cells: tuple[Cell, ...]
    bounds: tuple[float, float] = (0.0, 1.0)
    other_bounds: tuple[float, float] = (0.0, 1.0)
    rows_each: int = 1
    groups_each: int = 1
    keyed: bool = False

    @property
    def reach(self) -> float:
        """U: the larger absolute bound."""
        return max(abs(self.bounds[0]), abs(self.bounds[1]))

    @property
    def other_reach(self) -> float:
        """U of the second column."""
        return max(abs(self.other_bounds[0]), abs(self.other_bounds[1]))

    @property
    def middle(self) -> float:
        """The middle of the bounds."""
        return (self.bounds[0] + self.bounds[1]) / 2

    @property
    def half(self) -> float:
        """Half the width of the bounds."""
        return (self.bounds[1] - self.bounds[0]) / 2

    @property
    def is_count(self) -> bool:
        """Return True if the answer is one whole number."""
        return self.name in {"COUNT", "COUNT_DISTINCT"}


Sums = list[tuple[float, float]]
"""The sums of an answer: how much noise in a sum moves the answer, and how much one row moves the sum."""

Shape = Callable[[Question, Cell], Sums]


def plain_mean(question: Question, cell: Cell) -> Sums:
    """SUM(x) / COUNT(*): a row moves the sum by U."""
    return [(1 / cell.rows, question.reach), (cell.mean / cell.rows, 1.0)]


def centred_mean(question: Question, cell: Cell) -> Sums:
    """The middle + SUM(x - middle) / COUNT(*): a row moves the sum by h."""
    return [(1 / cell.rows, question.half), ((cell.mean - question.middle) / cell.rows, 1.0)]


def plain_variance(question: Question, cell: Cell) -> Sums:
    """SUM(x^2) / n - (SUM(x) / n)^2: a row moves the squares by U^2."""
    n, counted = cell.rows, cell.mean**2 - cell.variance
    return [(1 / n, question.reach**2), (2 * cell.mean / n, question.reach), (counted / n, 1.0)]


def tumult_variance(question: Question, cell: Cell) -> Sums:
    """Tumult: x and x^2 are both taken from the middle of their own ranges, [L, U] and [0, U^2]."""
    n, squares = cell.rows, question.reach**2 / 2
    counted = squares - cell.variance + cell.mean**2 - 2 * cell.mean * question.middle
    return [(1 / n, squares), (2 * cell.mean / n, question.half), (counted / n, 1.0)]


def pipelinedp_variance(question: Question, cell: Cell) -> Sums:
    """PipelineDP: squares of x - m, with the noise that squares of x, taken from the middle of [0, U^2], need."""
    n, off = cell.rows, cell.mean - question.middle
    return [(1 / n, question.reach**2 / 2), (2 * off / n, question.half), ((off**2 - cell.variance) / n, 1.0)]


def plain_covariance(question: Question, cell: Cell) -> Sums:
    """SUM(xy) / n - SUM(x) SUM(y) / n^2: a row moves the products by the product of the bounds."""
    n, counted = cell.rows, cell.mean * cell.other_mean - cell.covariance
    one, other = question.reach, question.other_reach
    return [(1 / n, one * other), (cell.other_mean / n, one), (cell.mean / n, other), (counted / n, 1.0)]


def joint_sums(question: Question, cell: Cell) -> list[float]:
    """Derivatives of the answer by the coordinates of a joint release.

    With y = (x - L) / (U - L) the coordinates of a row are y, 1 - y for a mean; (1 - y)^2, 2y(1 - y), y^2 for a
    variance; the four products of y, 1 - y and z, 1 - z for a covariance. They add up to one, so a row moves all of
    them together by one. The factors are the values of what is averaged in the corners: y - mean, (y - mean)^2 -
    variance, and so on.
    """
    low, width, n = question.bounds[0], 2 * question.half, cell.rows
    mean = (cell.mean - low) / width
    if question.name in {"VAR", "STDDEV"}:
        spread = cell.variance / width**2
        corners = [mean**2 - spread, -mean * (1 - mean) - spread, (1 - mean) ** 2 - spread]
        return [corner * width**2 / n for corner in corners]
    if question.name == "COVAR":
        other_width = question.other_bounds[1] - question.other_bounds[0]
        other = (cell.other_mean - question.other_bounds[0]) / other_width
        shared = cell.covariance / (width * other_width)
        return [((a - mean) * (b - other) - shared) * width * other_width / n for a in (0, 1) for b in (0, 1)]
    return [(1 - mean) * width / n, mean * width / n]


def opendp(question: Question, epsilon: float) -> float:
    """OpenDP with Laplace noise, through its Polars context.

    A count, and a count of distinct values, is one whole number with Laplace noise. A sum of clamped values has
    sensitivity U. `dp.mean` is a sum over a count, half of epsilon each. There is no variance and no covariance: they
    are made from sums of x and x^2 (or x, y and xy) and a count, with equal parts. Under GROUP BY the count of the mean
    decides which keys are shown, so keys cost nothing extra. The rows of a person count together, whatever groups they
    fall in.
    """
    return _equal_parts(question, epsilon, plain_mean, plain_variance)


def tumult(question: Question, epsilon: float) -> float:
    """Tumult Analytics, pure differential privacy.

    Averages and variances are made of sums taken from the middle, halves and thirds of epsilon. There is no covariance.
    The keys of GROUP BY are found by a query of its own. The user divides the budget, and is taken to give the keys a
    tenth. Who gave them a third would err a third more.
    """
    if question.name == "COVAR":
        return math.nan
    left = epsilon * (1 - KEYS_SHARE) if question.keyed else epsilon
    return _equal_parts(question, left, centred_mean, tumult_variance)


def pipelinedp(question: Question, epsilon: float) -> float:
    """PipelineDP with Laplace noise and its naive accountant, on rows joined beforehand.

    Every mechanism gets an equal part of epsilon: the two of a mean, and the selection of keys. A person counts with as
    many rows in every group it may be in. Counts get real noise and are not rounded. It counts no distinct values and
    has no covariance.
    """
    if question.name in {"COUNT_DISTINCT", "COVAR"}:
        return math.nan
    if question.name == "COUNT":
        return _percent(question, lambda _: 1 / epsilon)
    left = epsilon * (1 - EQUAL_SHARE) if question.keyed else epsilon
    return _equal_parts(question, left / question.groups_each, centred_mean, pipelinedp_variance)


def opendp_gaussian(question: Question, epsilon: float, statements: int, delta: float) -> float:
    """OpenDP with Gaussian noise: the sums of `opendp`, each with an equal part of rho."""
    return _equal_rho(question, zcdp_rho(epsilon, delta) / statements, plain_mean, plain_variance)


def tumult_gaussian(question: Question, epsilon: float, statements: int, delta: float) -> float:
    """Tumult Analytics with zero-concentrated differential privacy: the sums of `tumult`, each with a part of rho."""
    if question.name == "COVAR":
        return math.nan
    rho = zcdp_rho(epsilon, delta) / statements
    return _equal_rho(question, rho * (1 - KEYS_SHARE) if question.keyed else rho, centred_mean, tumult_variance)


def pipelinedp_gaussian(question: Question, epsilon: float, statements: int, delta: float) -> float:
    """PipelineDP with Gaussian noise and its naive accountant: equal parts of epsilon and delta, exact Gaussian noise.

    A person counts with as many rows in every group it may be in, by the root of their number in the l2 norm.
    """
    if question.name in {"COUNT_DISTINCT", "COVAR"}:
        return math.nan

    def error(cell: Cell) -> float:
        sums = _sums(question, centred_mean, pipelinedp_variance)(question, cell)
        if question.name == "COUNT":
            sums = [(1.0, 1.0)]
        parts = (len(sums) + question.keyed) * statements
        reached = question.rows_each * math.sqrt(question.groups_each) / gaussian_mu(epsilon / parts, delta / parts)
        return gaussian([factor * reach * reached for factor, reach in sums])

    return _percent(question, error)


def dpsql_gaussian(question: Question, epsilon: float, statements: int, delta: float) -> float:
    """DPSQL+ with Gaussian noise.

    An aggregate and the threshold get half of (epsilon', delta) each, by the analytic Gaussian mechanism, and epsilon'
    is raised in steps of epsilon/32 while its Renyi accountant still finds (epsilon, delta) for all. Counts and sums
    stand alone; the rest is `joint_sums` with equal noise. A quarter of delta is the threshold's own.
    """
    sigma = question.rows_each / _dpsql_mu(epsilon, statements, delta)
    if question.is_count:
        return _percent(question, lambda _: gaussian([sigma]))
    if question.name == "SUM":
        return _percent(question, lambda _: gaussian([question.reach * sigma]))
    return _percent(question, lambda cell: gaussian([weight * sigma for weight in joint_sums(question, cell)]))


@lru_cache
def _dpsql_mu(epsilon: float, statements: int, delta: float) -> float:
    own = delta / statements

    def fits(trial: float) -> bool:
        noise, key = gaussian_mu(trial / 2, own / 2), gaussian_mu(trial / 2, own / 4)
        return zcdp_delta(epsilon, statements * (noise**2 + key**2) / 2) <= delta * 3 / 4

    low, high = epsilon / statements, 32 * epsilon
    while high - low > epsilon / statements / 32:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return gaussian_mu(low / 2, own / 2)


@lru_cache
def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest rho that is (epsilon, delta)-differentially private."""
    return bracket(lambda rho: zcdp_delta(epsilon, rho) <= delta)[0]


def _equal_rho(question: Question, rho: float, mean: Shape, variance: Shape) -> float:
    """Gaussian noise on each sum, with equal parts of rho; counts are whole numbers."""
    if question.is_count:
        return _percent(question, lambda _: whole_gaussian(1 / math.sqrt(2 * rho)))

    def error(cell: Cell) -> float:
        sums = _sums(question, mean, variance)(question, cell)
        sigma = question.rows_each * math.sqrt(len(sums) / (2 * rho))
        return gaussian([factor * reach * sigma for factor, reach in sums])

    return _percent(question, error)


def _equal_parts(question: Question, epsilon: float, mean: Shape, variance: Shape) -> float:
    """Laplace noise on each sum, with equal parts of epsilon."""
    if question.is_count:
        return _percent(question, lambda _: whole_laplace(1 / epsilon))

    def error(cell: Cell) -> float:
        sums = _sums(question, mean, variance)(question, cell)
        return laplace([factor * reach * question.rows_each * len(sums) / epsilon for factor, reach in sums])

    return _percent(question, error)


def _sums(question: Question, mean: Shape, variance: Shape) -> Shape:
    if question.name == "SUM":
        return lambda asked, _: [(1.0, asked.reach)]
    if question.name in {"VAR", "STDDEV"}:
        return variance
    return plain_covariance if question.name == "COVAR" else mean


def _percent(question: Question, error: Callable[[Cell], float]) -> float:
    """The mean over the cells of the relative error; a deviation errs by half of what its variance errs, relatively."""
    total = 0.0
    for cell in question.cells:
        exact = 2 * cell.variance if question.name == "STDDEV" else cell.truth
        total += error(cell) / abs(exact)
    return 100 * total / len(question.cells)


OURS = "hedgerow"
LAPLACE: dict[str, Callable[[Question, float], float]] = {
    "OpenDP": opendp,
    "Tumult": tumult,
    "PipelineDP": pipelinedp,
}
GAUSSIAN: dict[str, Callable[[Question, float, int, float], float]] = {
    "OpenDP, Gaussian": opendp_gaussian,
    "Tumult, Gaussian": tumult_gaussian,
    "PipelineDP, Gaussian": pipelinedp_gaussian,
    "DPSQL+": dpsql_gaussian,
}


def laplace_errors(question: Question, epsilon: float) -> dict[str, float]:
    """Expected errors with Laplace noise by system, where it can answer the question."""
    return _answered({name: mechanism(question, epsilon) for name, mechanism in LAPLACE.items()})


def gaussian_errors(
    question: Question, epsilon: float, *, statements: int = 1, delta: float = DELTA
) -> dict[str, float]:
    """Expected errors with Gaussian noise by system, for one of so many statements that share (epsilon, delta)."""
    return _answered({name: mechanism(question, epsilon, statements, delta) for name, mechanism in GAUSSIAN.items()})


def _answered(errors: dict[str, float]) -> dict[str, float]:
    return {name: error for name, error in errors.items() if not math.isnan(error)}
