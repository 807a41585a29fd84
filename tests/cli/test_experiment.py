"""hedgerow experiment: a question with several metrics, and plans before the purchase."""

import re
from pathlib import Path

import pytest

from hedgerow.cli.experiment import experiment
from hedgerow.ratio import Metric, detectable_lift, lift_epsilon, lift_people

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
MODES = {command.name: command.callback for command in experiment.registered_commands}
ASK = ["experiment", "ask", "--table", "customers", "--treated", "region = 'north'"]
PLAN = ["experiment", "plan", "--average", 20, "--stddev", 14, "--upper", 200]


@pytest.mark.parametrize("mode", MODES)
def test_each_option_is_on_the_page(run, mode):
    section = re.search(r"^## `hedgerow experiment.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[0]
    shared = PAGE[: PAGE.index("## `hedgerow")]
    for option in set(re.findall(r"--[a-z-]+", run("experiment", mode, "--help").stdout)) - {"--help"}:
        assert f"`{option}" in section + shared, option


def test_several_metrics_are_asked_in_one_question(shop, run, run_json):
    words = [*ASK, "--rate", "well_off=income > 50000", "--average", "income", *shop.options]
    answer = run_json(*words)
    assert answer["columns"] == ["well_off", "income"]
    assert set(answer["intervals"][0]["income"]) >= {"population", "p_value", "p_adjusted"}
    assert answer["query"].startswith("SELECT LIFT(income > 50000, region = 'north') AS well_off, AVG_LIFT(income")
    page = run(*words).stdout
    assert "p adjusted" in page
    assert "free: answered before" in page


def test_plans_are_those_of_the_library(run_json):
    design = run_json(*PLAN, "--lift", "2%", "--people", "25000,20000", "--epsilon", 0.5, "--metrics", 2)
    spent = Metric.average(20, 14, upper=200)
    treated, control = lift_people(spent, 0.02, epsilon=0.5, metrics=2)
    assert design["needed"][1] == {"epsilon": 0.5, "treated": treated, "control": control}
    assert design["detectable"][0]["lift"] == pytest.approx(detectable_lift(spent, 25000, 20000, metrics=2))
    assert design["epsilon_needed"] is None
    enough = run_json(*PLAN, "--lift", 0.05, "--people", 25000)
    assert enough["epsilon_needed"] == lift_epsilon(spent, 0.05, 25000, 25000)


@pytest.mark.parametrize(
    "words",
    [
        PLAN,
        ["experiment", "plan", "--lift", "2%"],
        ["experiment", "plan", "--rate", 0.1, "--average", 3, "--lift", "2%"],
        [*PLAN, "--lift", "two"],
        [*PLAN, "--people", "1,2,3"],
    ],
)
def test_wrong_plans_are_usage_errors(run, words):
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("metric", ["income > 5", "x=", "a==b"])
def test_a_metric_needs_a_name(shop, run, metric):
    assert run(*ASK, "--rate", metric, *shop.options).exit_code == 2
