"""Each aggregate is answered where the wheel alone is installed."""

import json
import re
from collections import defaultdict
from pathlib import Path

from hedgerow.aggregates import names

from .pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
SCRIPT = Path(__file__).parent / "inside" / "ask_each_aggregate.py"


def spellings():
    """The examples in the tables of aggregates, by name."""
    actual = defaultdict(list)
    for section in re.findall(r"^\| aggregate \|.*?(?=^\n)", PAGE, re.MULTILINE | re.DOTALL):
        for text, name in re.findall(r"^\| `((\w+)\(.*?\))` \|", section, re.MULTILINE):
            actual[name].append(text)
    return actual


def test_every_aggregate_is_answered(installed):
    run = installed()
    (run.folder / "spellings.json").write_text(json.dumps(spellings()), encoding="utf-8")
    done = run("python", "-W", "error", str(SCRIPT), "spellings.json")
    assert done.returncode == 0, done.stderr
    assert set(names()) <= set(done.stdout.split())


def test_an_aggregate_without_an_example_is_noticed(installed):
    run = installed()
    (run.folder / "spellings.json").write_text("{}", encoding="utf-8")
    done = run("python", str(SCRIPT), "spellings.json")
    assert done.returncode == 1
    assert "no example on the SQL page: ['AVG'" in done.stderr
