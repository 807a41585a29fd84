"""hedgerow tune: tables, JSON, pictures, and the page about it."""

import re
from pathlib import Path

import pytest

from hedgerow.cli.tune import tune

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
MODES = {command.name: command.callback for command in tune.registered_commands}
UNKNOWN = ["tune", "unknown-size", "--epsilon-count", 0.05, "--beta", 0.05, "--lower", 1, "--upper", 10]
KNOWN = ["--epsilon-count", 0.001, "--beta", 0.05, "--lower", 1, "--upper", 100]
SPLIT = ["tune", "split", "--size", 10_000, "--size", 100_000, "--epsilon", 0.041, "--beta", 0.05, "--lower", 1]


def test_there_are_three_modes():
    assert set(MODES) == {"unknown-size", "known-size", "split"}


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_has_a_help_that_ends_with_an_example_that_runs(run, mode):
    text = " ".join(MODES[mode].__doc__.split())
    example = text.rpartition("Example: hedgerow ")[2]
    assert example.startswith(f"tune {mode} ")
    assert run("tune", mode, "--help").exit_code == 0
    assert run(*example.split()).exit_code == 0


@pytest.mark.parametrize("mode", MODES)
def test_each_option_is_on_the_page(run, mode):
    section = re.search(r"^## `hedgerow tune.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[0]
    assert f"`{mode}`" in section
    for option in set(re.findall(r"--[a-z-]+", run("tune", mode, "--help").stdout)) - {"--help", "--json"}:
        assert f"`{option}" in section, option


def test_mode_one_prints_a_table_and_advice(run):
    shown = run(*UNKNOWN).stdout
    assert "660" in shown
    assert "0.6111" in shown
    assert "advice for 1 to 10: Sum x - 5.5 in place of x" in shown


def test_mode_one_goes_through_the_grid(run_json):
    actual = run_json(*UNKNOWN, "--epsilon-count", 0.09, "--beta", 0.1, "--upper", 20)
    assert len(actual["rows"]) == 8
    assert actual["rows"][0] == {
        "epsilon_count": 0.05,
        "beta": 0.05,
        "lower": 1.0,
        "upper": 10.0,
        "min_count": 660,
        "epsilon_sum": pytest.approx(0.61111, abs=1e-5),
        "delta_sum": 0.0,
        "beta_sum": 0.05,
    }
    assert len(actual["advice"]) == 2
    assert (actual["mechanism"], actual["gamma"], actual["delta"]) == ("laplace", 0.1, 0.0)


def test_a_comma_makes_a_quotient(run_json):
    actual = run_json(
        "tune", "unknown-size", "--epsilon-count", 0.05, "--beta", 0.05, "--lower", "1,-4", "--upper", "2,-1"
    )
    assert actual["rows"][0]["lower"] == [1.0, -4.0]
    assert actual["rows"][0]["epsilon_sum"] == pytest.approx([0.12222, 0.24444], abs=1e-5)
    assert actual["advice"][0]["swap"] is True


def test_mode_two_says_which_counts_will_not_do(run, run_json):
    actual = run_json("tune", "known-size", 8899, 99937, *KNOWN)
    assert [row["epsilon_sum"] for row in actual["rows"]] == [None, pytest.approx(0.12222, abs=1e-5)]
    assert [row["unmet"] for row in actual["rows"]] == ["alpha_count / noisy_count <= gamma", None]
    assert "condition not met" in run("tune", "known-size", 8899, 99937, *KNOWN).stdout


def test_mode_two_fails_where_no_count_will_do(run):
    result = run("tune", "known-size", 8899, *KNOWN)
    assert result.exit_code == 2
    assert "error [condition]" in result.stderr
    assert "29,958" in result.stderr


def test_mode_three_says_what_is_enough(run, run_json):
    actual = run_json(*SPLIT, "--upper", 10)
    assert [row["feasible"] for row in actual["rows"]] == [False, True]
    assert actual["rows"][1]["epsilon_total"] == pytest.approx(5.3653e-3, rel=1e-4)
    shown = run(*SPLIT, "--upper", 10).stdout
    assert "no" in shown
    assert "yes" in shown


def test_other_noise(run_json):
    actual = run_json(*SPLIT, "--upper", 10, "--mechanism", "analytic", "--delta", 1e-6)
    assert actual["delta"] == 5e-7
    assert actual["rows"][0]["epsilon_count"] > 0.0041


@pytest.mark.parametrize(
    "words",
    [UNKNOWN, ["tune", "known-size", 99937, *KNOWN], [*SPLIT, "--upper", 10], [*SPLIT[:-1], "1,2", "--upper", "3,4"]],
)
def test_the_regions_are_drawn_on_request(run, tmp_path, words):
    file = tmp_path / "regions.png"
    result = run(*words, "--plot", file, "--axes", "0.5,5")
    assert result.exit_code == 0
    assert str(file.name) in result.stderr.replace("\n", "")
    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--plot", "regions.gif"], "plot-format"),
        (["--plot", "no/such/folder/regions.png"], "plot-unwritable"),
        (["--axes", "3"], "parameter-pair"),
        (["--upper", "x"], "parameter-number"),
        (["--upper", "1,2,3"], "parameter-number"),
        (["--upper", "1,2"], "parameter-pair"),
        (["--upper", "0.5"], "parameter-range"),
        (["--mechanism", "geometric"], "parameter-choice"),
        (["--delta", "1e-6"], "parameter-delta"),
        (["--gamma", "2"], "parameter-probability"),
        (["--frobnicate"], "usage"),
    ],
)
def test_what_cannot_be_is_refused_with_two(run, tmp_path, monkeypatch, more, code):
    monkeypatch.chdir(tmp_path)
    result = run(*UNKNOWN, *more)
    assert result.exit_code == 2
    assert f"error [{code}]" in result.stderr
    assert not result.stdout
