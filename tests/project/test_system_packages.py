"""`make system-packages` can be run again and again, and stops nobody who may not install anything."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "system-packages.txt"
TOOLS = ("sh", "cat", "id", "dpkg-query")


@pytest.fixture
def run(tmp_path):
    """Runs the script on a list of packages, on a machine that has its tools and no apt-get."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        if actual := shutil.which(name):
            (tools / name).symlink_to(actual)

    def on(text):
        (tmp_path / "list.txt").write_text(text)
        command = [str(ROOT / "scripts" / "system-packages"), str(tmp_path / "list.txt")]
        return subprocess.run(  # noqa: S603 - our own script
            command, check=False, capture_output=True, text=True, env={"PATH": str(tools)}
        )

    return on


def test_each_package_is_named_with_what_it_is_for():
    lines = [line for line in LIST.read_text().splitlines() if not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[a-z0-9.+-]+ +\S.*", line) for line in lines)


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="dpkg is not installed")
def test_nothing_is_done_where_all_packages_are_there(run):
    for _ in range(2):
        done = run("# a comment\n\ndpkg    knows itself\n")
        assert (done.returncode, done.stdout) == (0, "All system packages are there.\n")


def test_a_package_that_cannot_be_installed_stops_nothing(run):
    done = run("no-such-package    to be missing\n")
    assert done.returncode == 0
    assert "missing: no-such-package (to be missing)" in done.stdout
    assert "there is no apt-get here" in done.stdout


def test_ci_installs_them_and_then_runs_the_command_of_the_readme():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[-2:] == ["make system-packages", "exec make test"]
    assert re.findall(r"^\$ make (\S+)", (ROOT / "README.md").read_text(), re.MULTILINE) == [
        "demo",
        "system-packages",
        "test",
    ]
