"""Bars and figures for people, the same in a terminal and in a pipe."""

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from hedgerow.session.page import percent

WIDTH = 30
NAMES = {"gaussian": "Gaussian noise", "pure": "Laplace noise", "mass": "thresholds"}


def bar(fraction: float, width: int = WIDTH) -> Text:
    """A bar that is full at 1. Whatever is above nothing is seen, and only what is full looks full."""
    part = min(max(fraction, 0.0), 1.0)
    filled = 0 if part == 0 else min(max(1, int(part * width)), width if part == 1 else width - 1)
    style = "red" if part >= 0.9 else "yellow" if part >= 0.6 else "green"
    return Text("█" * filled, style=style) + Text("░" * (width - filled), style="dim")


def used_bars(used: Mapping[str, float], pure_epsilon: float | None = None) -> Table:
    """One bar for each of the three parts of a budget."""
    table = Table.grid(padding=(0, 2))
    for name, fraction in used.items():
        label = NAMES.get(name, name)
        if name == "pure" and pure_epsilon == 0:
            label = "reserve"  # what discrete noise owes; no statement can ask for it
        table.add_row(label, bar(fraction), Text(percent(fraction), justify="right"))
    return table
