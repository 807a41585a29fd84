"""What the tuner says, for people: a table, advice, and a picture."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from hedgerow.cli.output import say, show_table
from hedgerow.tuner import Advice, applicability
from hedgerow.tuner.regions import region_chart, save_chart

Ranges = Sequence[tuple[Any, Any]]
NAMES = {
    "epsilon_max": "budget",
    "epsilon_count": "epsilon of the count",
    "epsilon_sum": "epsilon of the sum",
    "epsilon_total": "in all",
    "noisy_count": "noisy count",
    "min_count": "rows needed",
    "size": "rows",
    "feasible": "enough",
    "unmet": "condition not met",
}
HIDDEN = {"delta_sum", "beta_sum"}


def tune_page(rows: list[dict[str, Any]], ranges: Ranges, advice: Sequence[Advice]) -> None:
    """Print the page."""
    show_table(_table(rows))
    for ends, each in zip(ranges, advice, strict=True):
        for reason in each.reasons:
            say(f"advice for {_values(ends)}: {reason}")


def draw(
    file: str, sizes: list[float], ranges: Ranges, axes: tuple[float, float], beta: float, noise: dict[str, Any]
) -> None:
    """Draw for which budgets the conditions hold, one panel for each number of rows."""
    single = [pair for low, high in ranges for pair in _single(low, high)]
    regions = applicability(sizes, single, beta=beta, most=axes, **noise)
    save_chart(region_chart(regions, sizes=sizes, most=axes, title=f"gamma = {noise['gamma']:g}"), file)


def _table(rows: list[dict[str, Any]]) -> Table:
    columns = [name for name in rows[0] if name not in HIDDEN and any(row[name] is not None for row in rows)]
    table = Table()
    for name in columns:
        table.add_column(NAMES.get(name, name), justify="right")
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns))
    return table


def _cell(value: Any) -> str:  # noqa: ANN401 - cells of several kinds
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(_cell(each) for each in value)
    return value if isinstance(value, str) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _single(low: Any, high: Any) -> list[tuple[float, float]]:  # noqa: ANN401 - one number, or a pair of them
    return list(zip(low, high, strict=True)) if isinstance(low, tuple) else [(low, high)]


def _values(ends: tuple[Any, Any]) -> str:
    return " over ".join(f"{low:g} to {high:g}" for low, high in _single(*ends))
