"""Simulated error bars for numbers that no rule covers, in one run of the after part over all draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.compile import columns_used, quantiles_text
from hedgerow.dialects import DUCKDB
from hedgerow.error_bars.intervals.interval import Interval, Reason
from hedgerow.error_bars.propagation.simulate import Drawn, around, draw_tables, draws_for, read_draws
from hedgerow.error_bars.provenance.noisy_columns import noisy_columns
from hedgerow.errors import BackendError
from hedgerow.plan.nodes import LogicalPlan
from hedgerow.release import AfterEngine, Estimator

Bars = list[dict[str, Interval]]


@dataclass(frozen=True)
class Simulation:
    """What it takes to run the after part again."""

    engine: AfterEngine
    logical: LogicalPlan
    estimators: Sequence[Estimator]
    orders: Sequence[NDArray[np.int64]]
    public: Mapping[str, pa.Table]

    def complete(self, bars: Bars, shown: pa.Table, beta: float) -> Bars:
        """The same error bars, with simulated ones where there was no rule for any."""
        open_ = {name for row in bars for name, bar in row.items() if bar.reason is Reason.NO_RULE}
        draws = draws_for(beta, self.estimators) if open_ else None
        if draws is None:
            return bars
        try:
            found = self._run(open_, draws, beta)
        except BackendError:
            return bars
        inner = dict(zip(self.logical.names, (c.name for c in self.logical.root.columns), strict=True))
        rows = shown.to_pylist()
        return [
            {name: self._bar(bar, inner[name], row, found) for name, bar in by_name.items()}
            for by_name, row in zip(bars, rows, strict=True)
        ]

    def _run(self, names: set[str], draws: int, beta: float) -> dict[tuple[object, ...], dict[str, Drawn]]:
        root = self.logical.root
        numbers = [c.name for name, c in zip(self.logical.names, root.columns, strict=True) if name in names]
        text = quantiles_text(self.logical, DUCKDB, self._keys(), numbers, (beta / 2, 1 - beta / 2))
        tables = draw_tables(self.estimators, self.orders, draws, columns_used(self.logical))
        return read_draws(self.engine.run(text, {**tables, **self.public}), draws, self._keys(), numbers)

    def _keys(self) -> list[str]:
        """The columns that say which row is which: those without noise."""
        root = self.logical.root
        return [c.name for c, noisy in zip(root.columns, noisy_columns(root), strict=True) if not noisy]

    def _bar(
        self,
        bar: Interval,
        name: str,
        row: Mapping[str, object],
        found: Mapping[tuple[object, ...], Mapping[str, Drawn]],
    ) -> Interval:
        if bar.reason is not Reason.NO_RULE:
            return bar
        drawn = found.get(tuple(row[key] for key in self._keys()), {}).get(name)
        value = row[name]
        return around(None if value is None else float(value), drawn, bar)  # type: ignore[arg-type]
