"""Tables of the benchmark on pages are those that its last run left."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "tpch-sf1-tables"
BLOCK = re.compile(r"<!-- made by benchmarks/tpch\.py: ([a-z-]+) -->\n(.*?)<!-- end of \1 -->", re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/benchmarks.md"])
def test_a_page_shows_the_tables_of_the_last_run(page):
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks
    for name, shown in blocks:
        assert shown == (KEPT / f"{name}.md").read_text(encoding="utf-8"), f"{name}: `make bench-peers` writes it"


def test_the_page_shows_the_batches_of_the_last_run():
    """Every ratio of `benchmarks/results/batch.json`, which benchmarks/batch.py writes with --json."""
    page = (ROOT / "docs" / "explanation" / "benchmarks.md").read_text(encoding="utf-8")
    names = {"hospital": "hospital", "hospital-minimum-10": "hospital, at least 10", "tpch": "tpch"}
    kept = json.loads((ROOT / "benchmarks" / "results" / "batch.json").read_text(encoding="utf-8"))
    for case, rows in kept.items():
        for row in rows:
            ratios = [
                f"{row[predicted]:.2f} ({row[measured]:.2f})"
                for predicted, measured in (
                    ("same sum of epsilons", "measured at the same sum of epsilons"),
                    ("same cost in the ledger", "measured at the same cost"),
                )
            ]
            assert f"| {names[case]}: {row['question']} | {' | '.join(ratios)} |" in page
            assert row["same cost in the ledger"] >= 1
