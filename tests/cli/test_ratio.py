"""hedgerow ratio: two groups compared, from counts and from a table; plans; and the page about it."""

import re
import shlex
from pathlib import Path

import pytest

from hedgerow import Laplace
from hedgerow.cli.ratio import ratio
from hedgerow.ratio import detectable_ratio, epsilon_needed, lift, people_needed

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
MODES = {command.name: command.callback for command in ratio.registered_commands}
COUNTS = ["ratio", "ab", "--treatment", "540/4000", "--control", "460/4000"]
PLAN = ["ratio", "plan", "--rate", 0.1]


@pytest.fixture
def experiment(shop):
    """The shop's customers, of whom the north was treated; the options that ask for its outcome."""
    words = ["ratio", "ab", "--table", "customers", "--outcome", "income > 50000", "--treatment-is", "region = 'north'"]
    return [*words, *shop.options]


def test_there_are_two_modes():
    assert set(MODES) == {"ab", "plan"}


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_has_a_help_that_ends_with_an_example_that_runs(run, mode):
    example = " ".join(MODES[mode].__doc__.split()).rpartition("Example: hedgerow ")[2]
    assert example.startswith(f"ratio {mode} ")
    assert run("ratio", mode, "--help").exit_code == 0
    assert run(*shlex.split(example)).exit_code == 0


@pytest.mark.parametrize("mode", MODES)
def test_each_option_is_on_the_page(run, mode):
    section = re.search(r"^## `hedgerow ratio.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[0]
    assert f"`{mode}`" in section
    shared = PAGE[: PAGE.index("## `hedgerow")]
    for option in set(re.findall(r"--[a-z-]+", run("ratio", mode, "--help").stdout)) - {"--help"}:
        assert f"`{option}" in section + shared, option


def test_counts_are_compared_as_the_library_does(run_json):
    actual = run_json(*COUNTS, "--epsilon", 0.5, "--confidence", 0.9)
    expected = lift((540, 4000), (460, 4000), noise=Laplace(2.0), confidence=0.9)
    assert actual["treatment"] == {"successes": 540, "people": 4000, "rate": 0.135}
    assert actual["lift"]["value"] == pytest.approx(expected.value)
    assert actual["lift"]["lower"] == pytest.approx(expected.interval.lower)
    assert actual["relative_risk"]["upper"] == pytest.approx(expected.ratio.interval.upper)
    assert actual["risk_difference"]["value"] == pytest.approx(0.02)
    assert actual["p_value"] == pytest.approx(expected.p_value)
    assert (actual["confidence"], actual["method"]) == (0.9, "auto")
    assert actual["noise"] == {"kind": "laplace", "scale": 2.0, "step": 0.0}


def test_without_epsilon_the_counts_are_exact_and_with_delta_the_noise_is_gaussian(run_json):
    exact = run_json(*COUNTS)
    noisy = run_json(*COUNTS, "--epsilon", 0.05, "--delta", 1e-6)
    assert exact["noise"] is None
    assert noisy["noise"]["kind"] == "gaussian"
    assert noisy["relative_risk"]["value"] == exact["relative_risk"]["value"]
    assert noisy["relative_risk"]["upper"] > exact["relative_risk"]["upper"]


def test_a_method_can_be_chosen(run_json, run):
    actual = run_json(*COUNTS, "--method", "classic")
    assert actual["method"] == "classic"
    refused = run(*COUNTS, "--method", "magic")
    assert refused.exit_code == 2


def test_the_page_says_rates_intervals_and_chance(run):
    shown = run(*COUNTS, "--epsilon", 0.5).stdout
    for words in (
        "540 of 4,000: 0.135",
        "lift",
        "relative risk",
        "difference",
        "p-value 0.0074",
        "Laplace noise of size 2",
    ):
        assert words in shown


def test_an_empty_control_has_no_upper_end(run, run_json):
    words = ["ratio", "ab", "--treatment", "5/100", "--control", "0/100"]
    actual = run_json(*words)
    assert (actual["lift"]["value"], actual["lift"]["upper"]) == (None, None)
    assert "∞" in run(*words).stdout
    assert "note:" in run(*words).stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--treatment", "540/4000"],
        ["--treatment", "540", "--control", "460/4000"],
        ["--treatment", "5400/4000", "--control", "460/4000"],
        ["--treatment", "540/0", "--control", "460/4000"],
        ["--treatment", "540/4000", "--control", "460/4000", "--delta", "1e-6"],
        ["--treatment", "540/4000", "--control", "460/4000", "--outcome", "converted"],
        ["--table", "customers", "--outcome", "income > 1", "--treatment-is", "TRUE"],
    ],
)
def test_what_makes_no_sense_is_bad_input(run, words):
    result = run("ratio", "ab", *words)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_noisy_counts_may_lie_outside_of_what_is_possible(run_json):
    actual = run_json("ratio", "ab", "--treatment", "-3/4000", "--control", "460/4000", "--epsilon", 0.2)
    assert actual["relative_risk"]["lower"] == 0


def test_a_table_is_asked_privately_and_charged_once(run_json, experiment, shop):
    actual = run_json(*experiment, "--epsilon", 0.5)
    assert actual["columns"] == ["lift", "relative_risk", "risk_difference"]
    assert len([release for release in actual["mechanisms"] if release["measure"].startswith("rows where")]) == 4
    assert actual["charge"]["epsilon"] <= 0.5
    assert actual["query"].startswith("SELECT LIFT(income > 50000, region = 'north') AS lift")
    (bars,) = actual["intervals"]
    assert bars["lift"]["population"]["lower"] < bars["lift"]["lower"]
    assert 0 <= bars["lift"]["p_value"] <= 1
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 1


def test_groups_stand_one_below_the_other(run, experiment):
    result = run(*experiment, "--by", "id % 2 = 0 AS even", "--epsilon", 1)
    assert result.exit_code == 1
    result = run(*experiment[:-4], "--by", "income > 30000 AS rich", *experiment[-4:], "--epsilon", 1)
    assert result.exit_code == 0
    assert "rich" in result.stdout
    assert "population" in result.stdout
    assert "Asking: SELECT income > 30000 AS rich, LIFT(" in result.stderr


def test_all_people_have_all_three_statistics(run, experiment):
    shown = run(*experiment, "--epsilon", 1).stdout
    for words in ("lift", "relative risk", "difference", "population", "± at 0.95 confidence"):
        assert words in shown


def test_empty_columns_about_a_population_are_explained(run, shop):
    """People have several rows in this table."""
    words = ["--table", "orders", "--outcome", "price > 200", "--treatment-is", "number % 2 = 0"]
    shown = run("ratio", "ab", *words, *shop.options, "--epsilon", 1).stdout
    assert "note: population and p are empty" in shown
    assert "one row per person (unit_unique)" in " ".join(shown.split())


def test_a_key_may_be_called_like_a_statistic(run, experiment):
    result = run(*experiment, "--by", "income > 30000 AS lift", "--epsilon", 1)
    assert result.exit_code == 0
    assert "±" in result.stdout


def test_a_wrong_column_is_pointed_at_and_costs_nothing(run, run_json, experiment, shop):
    result = run(*["incom > 1" if word == "income > 50000" else word for word in experiment])
    assert result.exit_code == 2
    assert "^" in result.stderr
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0


def test_a_table_does_not_go_with_counts(run, experiment):
    assert run(*experiment, "--treatment", "1/2").exit_code == 2
    assert run(*experiment, "--method", "log").exit_code == 2


@pytest.mark.parametrize("given", ["counts", "table"])
def test_the_relative_risk_is_drawn(run, experiment, tmp_path, given):
    words = COUNTS if given == "counts" else [*experiment, "--by", "income > 30000 AS rich"]
    result = run(*words, "--epsilon", 1, "--plot", tmp_path / "forest.html")
    assert result.exit_code == 0
    assert "drawn in" in result.stderr
    assert "vega" in (tmp_path / "forest.html").read_text(encoding="utf-8")


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_spent(run, run_json, experiment, shop):
    assert run(*experiment, "--plot", "forest.docx").exit_code == 2
    assert run_json("budget", "--catalog", shop.catalog)["queries"] == 0


def test_a_plan_says_how_many_people_beside_those_without_privacy(run_json):
    actual = run_json(*PLAN, "--ratio", 1.2, "--epsilon", 0.5, "--balance", 2)
    exact, private = actual["needed"]
    assert (exact["epsilon"], private["epsilon"]) == (None, 0.5)
    assert [exact["treatment"], exact["control"]] == list(people_needed(1.2, rate=0.1, balance=2))
    assert private["control"] == people_needed(1.2, rate=0.1, balance=2, noise=Laplace(2.0))[1]
    assert private["price"] > exact["price"] == 1
    assert "detectable" not in actual


def test_a_plan_says_the_least_effect_and_the_least_epsilon(run_json, run):
    words = [*PLAN, "--people", "4000,3000", "--epsilon", 0.5]
    actual = run_json(*words, "--ratio", 1.25)
    assert actual["people"] == [4000, 3000]
    assert actual["detectable"][1]["ratio"] == pytest.approx(detectable_ratio(0.1, 4000, 3000, noise=Laplace(2.0)))
    assert actual["epsilon_needed"] == epsilon_needed(1.25, rate=0.1, n_x=4000, n_y=3000)
    assert "needed" not in run_json(*words)
    shown = run(*words, "--ratio", 1.25).stdout
    assert f"from epsilon {actual['epsilon_needed']:g} on" in shown
    assert "no privacy" in shown


def test_too_few_people_are_said_to_be_too_few(run, run_json):
    words = [*PLAN, "--ratio", 1.2, "--people", 100]
    assert run_json(*words)["epsilon_needed"] is None
    assert run_json(*words)["unmet"] == "power without noise >= target"
    assert "even without privacy" in run(*words).stdout
    few = run_json("ratio", "plan", "--rate", 0.5, "--people", 4, "--epsilon", 0.1)
    assert few["detectable"][1] == {"epsilon": 0.1, "ratio": None, "lift": None}


def test_a_plan_of_nothing_is_bad_input(run):
    assert run(*PLAN).exit_code == 2
    assert run(*PLAN, "--people", "many").exit_code == 2
    assert run(*PLAN, "--ratio", 20).exit_code == 2
