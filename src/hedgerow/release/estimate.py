"""From noisy sums to numbers with error bars. Floats begin here."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hedgerow.aggregates import Estimate, Form, Measured, Ratio, Selected, lookup
from hedgerow.compiled import ROW
from hedgerow.errors import InternalError
from hedgerow.expressions.types import Type
from hedgerow.privacy.plan import PrivatePlan, Recipe, Terms
from hedgerow.release.measure import NoisyTable

HELD_BACK = "held back: too few people may be behind it"


@dataclass(frozen=True)
class Estimator:
    """Turns one released table into estimates, at any confidence."""

    noisy: NoisyTable
    plan: PrivatePlan

    def estimate(self, index: int, beta: float) -> Estimate:
        """Aggregate number `index` for every group, with intervals that fail with probability `beta` each."""
        call = self.plan.release.calls[index]
        known = lookup(call.function)
        if known is None:
            raise InternalError(f"{call.function} was bound but is not an aggregate.")
        shown = self.noisy.shown
        found = known.estimate(self._measured(self.plan.recipes[index]), beta)
        notes = [note if ok else HELD_BACK for note, ok in zip(found.notes, shown, strict=True)]
        return Estimate(
            np.where(shown, found.values, np.nan),
            np.where(shown, found.lower, -np.inf),
            np.where(shown, found.upper, np.inf),
            notes,
        )

    def ratio(self, index: int) -> Ratio | None:
        """Aggregate number `index` as a quotient of linear forms, if it is one."""
        known = lookup(self.plan.release.calls[index].function)
        return None if known is None else known.ratio(self._measured(self.plan.recipes[index]))

    def table(self) -> pa.Table:
        """The released table that the after part reads: keys, one column per aggregate, the row's number."""
        columns = {name: self.noisy.keys.column(name) for name in self.noisy.keys.column_names}
        for index, call in enumerate(self.plan.release.calls):
            values = self.estimate(index, 0.5).values
            columns[call.name] = _column(values, call.type)
        columns[ROW] = pa.array(np.arange(len(self.noisy.shown)))
        return pa.table(columns)

    def _measured(self, recipe: Recipe) -> Measured:
        if recipe.from_selection:
            return self._from_selection()
        return Measured(
            count=self._form(recipe.count),
            total=self._form(recipe.total),
            centred=self._form(recipe.centred),
            middle=recipe.middle,
            half=recipe.half,
        )

    def _from_selection(self) -> Measured:
        selection, counts = self.plan.selection, self.noisy.counts
        if selection is None or counts is None:
            raise InternalError("A count was to come from a selection that did not happen.")
        form = Form(np.nan_to_num(counts), ((0, 1.0, selection.noise),))
        return Measured(count=form, selected=Selected(float(selection.threshold), selection.minimum))

    def _form(self, terms: Terms) -> Form | None:
        if not terms:
            return None
        values = np.zeros(len(self.noisy.shown))
        for index, coefficient in terms:
            values = values + coefficient * np.nan_to_num(self.noisy.coordinates[index])
        return Form(values, tuple((index, c, self.plan.coordinates[index].noise) for index, c in terms))


def _column(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", kind: Type) -> pa.Array:
    """Values as Arrow, NaN as NULL; counts as whole numbers."""
    missing = np.isnan(values)
    if kind is Type.INTEGER:
        return pa.array(np.nan_to_num(values).astype(np.int64), mask=missing)
    return pa.array(values, mask=missing)
