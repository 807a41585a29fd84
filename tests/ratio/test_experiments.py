"""The design of experiments: power by simulation, and people, epsilon and lift as inverses of each other."""

import numpy as np
import pytest
from scipy import stats

from hedgerow.errors import ConditionNotMet, ParameterError
from hedgerow.ratio import Metric, detectable_lift, experiment_sql, lift_epsilon, lift_people, lift_power
from hedgerow.statistics.moments import BERNSTEIN, mixing

FALSE_ALARM = 1e-9
SPENT = Metric.average(20.0, 14.0, upper=200.0)
EXPERIMENTS = 20_000
random = np.random.default_rng()


def detections(people, lift, epsilon):
    """Return the number of simulated experiments that find the lift: normal values, noisy coordinates."""
    half, back = 100.0, mixing(BERNSTEIN)
    rows = {monomial: back[index] for index, monomial in enumerate(BERNSTEIN.moments)}
    estimates, variance = [], 0.0
    for mean in (20.0 * (1 + lift), 20.0):
        noise = random.laplace(0.0, 1 / epsilon, size=(3, EXPERIMENTS))
        sampled = random.normal(mean, 14.0 / np.sqrt(people), EXPERIMENTS)
        total, count = (sampled / half - 1) * people + rows[1, 0] @ noise, people + rows[0, 0] @ noise
        estimates.append(half * (1 + total / count))
        weights = rows[1, 0] - (mean / half - 1) * rows[0, 0]
        variance += 14.0**2 / people + 2 * (half / epsilon / people) ** 2 * float(weights @ weights)
    return int(np.sum(np.abs(estimates[0] - estimates[1]) > stats.norm.isf(0.025) * np.sqrt(variance)))


def test_power_is_how_often_an_experiment_finds_the_lift():
    people, epsilon = 20_000, 0.5
    chance = lift_power(SPENT, 0.02, people, people, epsilon=epsilon)
    hits = detections(people, 0.02, epsilon)
    slack = 0.01  # the sum of sampling and Laplace noise is not quite normal
    assert stats.binom.sf(hits - 1, EXPERIMENTS, chance + slack) > FALSE_ALARM
    assert stats.binom.cdf(hits, EXPERIMENTS, chance - slack) > FALSE_ALARM
    fewer = lift_power(SPENT, 0.02, 0.7 * people, 0.7 * people, epsilon=epsilon)
    assert stats.binom.sf(hits - 1, EXPERIMENTS, fewer) < FALSE_ALARM


@pytest.mark.parametrize("metric", [SPENT, Metric.rate(0.1)])
@pytest.mark.parametrize("delta", [None, 1e-8])
def test_people_lift_and_epsilon_are_inverses(metric, delta):
    people, _ = lift_people(metric, 0.05, epsilon=0.5, delta=delta, metrics=2)
    assert lift_power(metric, 0.05, people, people, epsilon=0.5, delta=delta, metrics=2) >= 0.8
    fewer = people - 2
    assert lift_power(metric, 0.05, fewer, fewer, epsilon=0.5, delta=delta, metrics=2) < 0.8
    assert detectable_lift(metric, people, people, epsilon=0.5, delta=delta, metrics=2) == pytest.approx(0.05, rel=1e-3)
    assert lift_epsilon(metric, 0.05, people, people, delta=delta, metrics=2) == pytest.approx(0.5, rel=0.01)


def test_noise_and_metrics_cost_people():
    alone = lift_people(SPENT, 0.02)[0]
    assert alone < lift_people(SPENT, 0.02, epsilon=1.0)[0] < lift_people(SPENT, 0.02, epsilon=0.1)[0]
    assert alone < lift_people(SPENT, 0.02, metrics=5)[0]


def test_impossible_designs_are_refused():
    with pytest.raises(ConditionNotMet):
        lift_epsilon(SPENT, 0.001, 100, 100)
    with pytest.raises(ConditionNotMet):
        detectable_lift(Metric.rate(0.5), 5, 5, epsilon=0.01)
    for wrong in (lambda: Metric.average(20.0, 14.0, upper=10.0), lambda: Metric.rate(1.5)):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(ParameterError):
        lift_people(SPENT, 0.0)
    with pytest.raises(ParameterError):
        experiment_sql("users", "treated")
