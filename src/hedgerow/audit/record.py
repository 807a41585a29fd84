"""Observations of each run, as columns of numbers; and a check that released numbers are on their lattice.

Every released sum is a whole number divided by a public step. A number that is not was not made of integers: its last
digits then reveal what the noise was added to (Mironov 2012), however large the noise is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.answer import Answer
from hedgerow.distributions import Noise
from hedgerow.expressions.nodes import describe
from hedgerow.release import Estimator

DECIDABLE = 2.0**51
"""Number of steps beyond which a double is too coarse to decide."""


def off_lattice(values: NDArray[np.float64], step: float) -> tuple[int, int]:
    """Return how many of `values` are not a whole number divided by `step`, and for how many that can be decided.

    Example:
        >>> off_lattice(np.array([1.5, 2.25, 2.3, np.nan]), 4.0)
        (1, 3)
    """
    finite = values[np.isfinite(values)]
    whole = np.rint(finite * step)
    decidable = np.abs(whole) < DECIDABLE
    return int(np.sum(decidable & (whole / step != finite))), int(decidable.sum())


def lowest_bits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exponent of the lowest bit that is set in each number: large for round ones, infinite for zero.

    Example:
        >>> lowest_bits(np.array([1.0, 0.5, 6.0, 0.0, np.nan])).tolist()
        [0.0, -1.0, 1.0, inf, nan]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    bits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    lowest = np.log2(np.where(bits == 0, 1, bits & -bits).astype(float))
    exponents = np.where(bits == 0, np.inf, exponent - 53.0 + lowest)
    return np.where(np.isfinite(values), exponents, np.nan)


Floats = NDArray[np.float64]
Name = tuple[object, ...]
"""Key of a column of numbers."""

SHOWN = "a number is shown"
FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Trait:
    """An observable of a run: a number, or a fact, which has the number 1 where it holds.

    Attributes:
        words: Its description.
        noise: The noise that was paid for, if it is known.
        step: The lattice of the noise: the number times this is whole.
        fact: Whether it is a fact.
        shown: Whether it belongs to the answer, which only repeats what was released.
    """

    words: str
    noise: Noise | None = None
    step: float | None = None
    fact: bool = False
    shown: bool = False


@dataclass
class Record:
    """The runs on one database."""

    traits: dict[Name, Trait] = field(default_factory=dict)
    runs: list[dict[Name, float]] = field(default_factory=list)
    off_lattice: int = 0
    decided: int = 0

    def add(self, estimators: Sequence[Estimator], answer: Answer | None = None, fault: str | None = None) -> None:
        """Record one run: its releases, its answer, and its error."""
        seen: dict[Name, float] = {}
        for index, estimator in enumerate(estimators):
            for name, trait, values in _released(index, estimator):
                if trait.step is not None:
                    off, decided = off_lattice(values, trait.step)
                    self.off_lattice += off
                    self.decided += decided
                self._note(seen, estimator, name, trait, values)
        if answer is not None:
            seen |= self._answered(answer)
        if fault is not None:
            self.traits.setdefault((FAULT, fault), Trait(f"the statement fails with {fault}", fact=True))
            seen[FAULT, fault] = 1.0
        self.runs.append(seen)

    def _note(self, seen: dict[Name, float], estimator: Estimator, name: Name, trait: Trait, values: Floats) -> None:
        """Record the numbers of all shown groups, each under the name of its group."""
        keys = _keys(estimator)
        for key, value, shown in zip(keys, values.tolist(), estimator.noisy.shown.tolist(), strict=True):
            if shown:
                whole = (*name, key)
                if whole not in self.traits:
                    self.traits[whole] = replace(trait, words=_of(trait.words, estimator, key))
                seen[whole] = value

    def _answered(self, answer: Answer) -> dict[Name, float]:
        noisy = [name for name in answer.columns if name in answer.noisy]
        others = [name for name in answer.columns if name not in answer.noisy]
        labels = list(zip(*(answer[name] for name in others), strict=True)) if others else range(len(answer))
        seen: dict[Name, float] = {("answer", "rows"): float(len(answer))}
        self.traits.setdefault(("answer", "rows"), Trait("the number of rows of the answer", shown=True))
        columns = {name: answer[name] for name in noisy}
        for index, label in enumerate(labels):
            row: Name = ("answer", repr(label))
            where = f" of row {label!r}" if others else f" in row {index + 1}" if len(answer) > 1 else ""
            self.traits.setdefault(row, Trait(f"the answer has a row{where}", fact=True, shown=True))
            seen[row] = 1.0
            for name in noisy:
                if isinstance(columns[name][index], int | float):
                    self.traits.setdefault((*row, name), Trait(f"the answer {name}{where}", shown=True))
                    seen[*row, name] = float(columns[name][index])
        return seen


@dataclass(frozen=True)
class Sample:
    """Runs as a table: one line for each run, one column for each trait, NaN where it was not seen."""

    traits: tuple[Trait, ...]
    values: Floats

    def part(self, start: int, end: int) -> "Sample":
        """Some of the runs."""
        return Sample(self.traits, self.values[start:end])

    def __len__(self) -> int:
        return int(self.values.shape[0])


def side_by_side(*records: Record) -> tuple[Sample, ...]:
    """The runs on several databases, with the same columns. Errors come first: they explain what else is missing."""
    known = {name: trait for record in records for name, trait in record.traits.items()}
    traits = {name: known[name] for name in sorted(known, key=lambda name: name[0] != FAULT)}
    index, samples = {name: i for i, name in enumerate(traits)}, []
    for record in records:
        values = np.full((len(record.runs), len(index)), np.nan)
        for run, seen in enumerate(record.runs):
            for name, value in seen.items():
                values[run, index[name]] = value
        samples.append(Sample(tuple(traits.values()), values))
    return tuple(samples)


def _released(part_index: int, estimator: Estimator) -> Iterator[tuple[Name, Trait, Floats]]:
    """The columns of one released table."""
    noisy, plan = estimator.noisy, estimator.plan
    yield (part_index, "shown"), Trait(SHOWN, fact=True), np.where(noisy.shown, 1.0, np.nan)
    if noisy.counts is not None and plan.selection is not None:
        test = plan.selection
        yield (part_index, "count"), Trait("the noisy number of people", test.noise, 2.0**test.shift), noisy.counts
    for i, (noisy_sum, values) in enumerate(zip(plan.noisy_sums, noisy.noisy_sums, strict=True)):
        step = float(noisy_sum.denominator << plan.weight_bits) * 2.0**noisy_sum.shift
        yield (part_index, "sum", i), Trait(f"the noisy sum “{noisy_sum.label}”", noisy_sum.noise, step), values
    for j, (level, columns) in enumerate(zip(plan.levels, noisy.levels, strict=True)):
        for i, (total, values) in enumerate(zip(level.noisy_sums, columns, strict=True)):
            step = float(total.denominator << plan.weight_bits) * 2.0**total.shift
            yield (part_index, "level", j, i), Trait(f"the noisy total “{total.label}”", total.noise, step), values
    for i, rank in enumerate(noisy.ranks):
        for part in ("points", "lower", "upper"):
            words = {"points": "point", "lower": "lower limit", "upper": "upper limit"}[part]
            yield (part_index, "rank", i, part), Trait(f"the {words} of draw {i + 1}"), getattr(rank, part)
    for i, (counted, values) in enumerate(zip(plan.distinct, noisy.distinct, strict=True)):
        named = f"the noisy number of values of {describe(counted.value)}"
        yield (part_index, "distinct", i), Trait(named, counted.noise, 2.0**counted.shift), values


def _keys(estimator: Estimator) -> list[tuple[object, ...]]:
    """The groups of a released table."""
    columns = [column.to_pylist() for column in estimator.noisy.keys.columns]
    return [tuple(map(_hashable, key)) for key in zip(*columns, strict=True)] if columns else [()]


def _hashable(value: object) -> object:
    """Return a hashable key, in which all NaNs are equal."""
    return "NaN" if isinstance(value, float) and value != value else value  # noqa: PLR0124


def _of(words: str, estimator: Estimator, key: tuple[object, ...]) -> str:
    """Return the description, with its group."""
    named = zip(estimator.plan.release.keys, key, strict=True)
    group = ", ".join(
        f"{describe(named_key.expr)} = {repr(value) if isinstance(value, str) else value}" for named_key, value in named
    )
    if words == SHOWN:
        return f"the group {group} is shown" if group else words
    return f"{words} of {group}" if group else words
