"""Design of an A/B experiment before it is paid for: lifts of rates and averages, people, epsilon, several metrics.

The noise is that of `LIFT` and `AVG_LIFT` in SQL: counts (or moments) of both groups, released together. Averages over
people and sums of noises are taken to be normal. Metrics of one question share its epsilon evenly, and each is tested
at the confidence that Holm asks of the smallest p-value.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.special import ndtr, ndtri

from hedgerow.arguments import positive, probability, real, whole
from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.ratio.design import bisected, count_noise, rounded_up, smallest_groups
from hedgerow.statistics.moments import BERNSTEIN, lambda_family, mixing

LARGEST_EPSILON = 2.0**40


def experiment_sql(
    table: str,
    treated: str,
    *,
    rates: Mapping[str, str] | None = None,
    averages: Mapping[str, str] | None = None,
    by: str | None = None,
    where: str | None = None,
) -> str:
    """Return the question of an A/B experiment in SQL: the lift of each metric, for the price of one question.

    Args:
        table: The table, a row per person.
        treated: A condition that holds for the treated, such as "arm = 'B'".
        rates: Conditions on a person, by name: shares of people that are compared.
        averages: Numbers of a person, by name, not negative: averages that are compared.
        by: A column to group by.
        where: A condition on the people that count.

    Example:
        >>> experiment_sql("users", "arm = 'B'", rates={"bought": "orders > 0"}, averages={"spent": "spent"})
        "SELECT LIFT(orders > 0, arm = 'B') AS bought, AVG_LIFT(spent, arm = 'B') AS spent FROM users"
    """
    columns = [f"LIFT({condition}, {treated}) AS {name}" for name, condition in (rates or {}).items()]
    columns += [f"AVG_LIFT({value}, {treated}) AS {name}" for name, value in (averages or {}).items()]
    if not columns:
        raise ParameterError("An experiment needs a metric: a rate or an average.", code="parameter-choice")
    keys, group = ([], "") if by is None else ([by], " GROUP BY 1 ORDER BY 1")
    condition = "" if where is None else f" WHERE {where}"
    return f"SELECT {', '.join([*keys, *columns])} FROM {table}{condition}{group}"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of an experiment, as the control has it. Use `rate` or `average`.

    Attributes:
        baseline: The rate or the average of the control.
        stddev: The standard deviation between people; None for a rate, where it follows.
        lower: The lower bound of the values.
        upper: The upper bound.
    """

    baseline: float
    stddev: float | None = None
    lower: float = 0.0
    upper: float = 1.0

    @classmethod
    def rate(cls, baseline: float) -> "Metric":
        """A share of people, such as those who buy."""
        return cls(probability("baseline", baseline))

    @classmethod
    def average(cls, baseline: float, stddev: float, *, lower: float = 0.0, upper: float) -> "Metric":
        """An average over people of a number with these bounds, such as money spent."""
        middle, ends = positive("baseline", baseline), (real("lower", lower), real("upper", upper))
        if not 0 <= ends[0] <= middle <= ends[1] or ends[0] == ends[1]:
            raise ParameterError(
                "lower must be at least 0, and baseline must lie between lower and upper.", code="parameter-range"
            )
        return cls(middle, positive("stddev", stddev), *ends)

    def sampling(self, value: float) -> float:
        """The variance of one person's value in a group whose rate or average is `value`."""
        return max(value * (1 - value), 0.0) if self.stddev is None else self.stddev**2

    def noise(self, value: float, epsilon: float | None, delta: float | None, metrics: int) -> float:
        """The variance of the noise in sum - value * people, where a question has so many metrics."""
        if epsilon is None:
            return 0.0
        law = count_noise(epsilon, delta=delta)
        split = metrics**2 if delta is None else metrics
        if self.stddev is None:
            return split * law.variance * ((1 - value) ** 2 + value**2)
        family, half = BERNSTEIN if delta is None else lambda_family(), (self.upper - self.lower) / 2
        back, centred = mixing(family), (value - self.lower) / half - 1
        rows = {monomial: back[index] for index, monomial in enumerate(family.moments)}
        weights = rows[1, 0] - centred * rows[0, 0]
        return split * law.variance * half**2 * float(weights @ weights)


def lift_power(
    metric: Metric,
    lift: float,
    treated: float,
    control: float,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    metrics: int = 1,
    confidence: float = 0.95,
) -> float:
    """Return the probability that an experiment finds a lift.

    Args:
        metric: What is measured, as the control has it.
        lift: The excess of the treated over the control, relative to the latter: 0.02 for two per cent.
        treated: Number of people who are treated.
        control: Number of the others.
        epsilon: What all metrics may cost together; None without privacy.
        delta: With one, Gaussian noise; otherwise Laplace noise.
        metrics: Number of metrics in the same question.
        confidence: One minus how often any metric without a difference may show one.

    Example:
        >>> spent = Metric.average(20.0, 14.0, upper=200.0)
        >>> round(lift_power(spent, 0.02, 20_000, 20_000, epsilon=1.0), 3)
        0.808
    """
    sizes = positive("treated", treated), positive("control", control)
    values = metric.baseline * (1 + real("lift", lift)), metric.baseline
    if not metric.lower <= values[0] <= metric.upper:
        raise ParameterError("With this lift, the treated exceed the bounds of the metric.", code="parameter-range")
    number = whole("metrics", metrics)
    error = sum(
        metric.sampling(value) / size + metric.noise(value, epsilon, delta, number) / size**2
        for value, size in zip(values, sizes, strict=True)
    )
    distance = abs(values[0] - values[1]) / math.sqrt(error)
    limit = -float(ndtri((1 - probability("confidence", confidence)) / (2 * number)))
    return float(ndtr(distance - limit) + ndtr(-distance - limit))


def detectable_lift(
    metric: Metric,
    treated: float,
    control: float,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    metrics: int = 1,
    target: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest lift above 0 that is found with probability `target`; other arguments as for `lift_power`.

    Raises:
        ConditionNotMet: Not even the largest possible lift is found as often.

    Example:
        >>> spent = Metric.average(20.0, 14.0, upper=200.0)
        >>> round(detectable_lift(spent, 20_000, 20_000, epsilon=1.0), 4)
        0.0198
    """
    wanted, largest = probability("target", target), metric.upper / metric.baseline - 1

    def is_found(lift: float) -> bool:
        return (
            lift_power(
                metric, lift, treated, control, epsilon=epsilon, delta=delta, metrics=metrics, confidence=confidence
            )
            >= wanted
        )

    highest = largest * (1 - 1e-9)
    if not is_found(highest):
        raise ConditionNotMet(
            "No lift is large enough to be found with this probability between groups of these sizes.",
            condition="power at the largest lift >= target",
            hint="Use more people, or a larger epsilon.",
        )
    return bisected(is_found, 0.0, highest)


def lift_people(
    metric: Metric,
    lift: float,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    metrics: int = 1,
    target: float = 0.8,
    confidence: float = 0.95,
    balance: float = 1.0,
) -> tuple[int, int]:
    """Return the numbers of treated and other people that it takes to find a lift with probability `target`.

    `balance` is the number of treated people for each of the others; other arguments as for `lift_power`.

    Example:
        >>> lift_people(Metric.average(20.0, 14.0, upper=200.0), 0.02, epsilon=1.0)
        (19621, 19621)
    """
    wanted, share = probability("target", target), positive("balance", balance)
    if real("lift", lift) == 0:
        raise ParameterError("lift must not be 0.", code="parameter-range")

    def is_found(people: float) -> bool:
        sizes = people * share, people
        chance = lift_power(metric, lift, *sizes, epsilon=epsilon, delta=delta, metrics=metrics, confidence=confidence)
        return chance >= wanted

    return smallest_groups(is_found, share, "lift")


def lift_epsilon(
    metric: Metric,
    lift: float,
    treated: float,
    control: float,
    *,
    delta: float | None = None,
    metrics: int = 1,
    target: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """Return the smallest epsilon with which a lift is found with probability `target`, rounded up.

    Raises:
        ConditionNotMet: Too few people even without noise.

    Example:
        >>> lift_epsilon(Metric.average(20.0, 14.0, upper=200.0), 0.02, 25_000, 25_000)
        0.231
    """
    wanted = probability("target", target)

    def is_found(epsilon: float | None) -> bool:
        options = {"delta": delta, "metrics": metrics, "confidence": confidence}
        return lift_power(metric, lift, treated, control, epsilon=epsilon, **options) >= wanted  # type: ignore[arg-type]

    if not is_found(None):
        raise ConditionNotMet(
            "With this few people, the lift is not found with this probability even without noise.",
            condition="power without noise >= target",
            hint="lift_people computes the required number of people.",
        )
    high = 1.0
    while not is_found(high) and high < LARGEST_EPSILON:
        high *= 2
    return rounded_up(bisected(is_found, 0.0, high))
