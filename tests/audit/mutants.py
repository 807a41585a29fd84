"""Bugs, planted in the engine: each is a mistake that somebody could make, and that the auditor must find."""

from dataclasses import replace

import numpy as np

from hedgerow.exact import ExactTable
from hedgerow.execution import run
from hedgerow.release import key_selection, noisy_table

NOISY_MODULES = (noisy_table, key_selection)
"""Modules that add noise."""


def halved_noise(monkeypatch):
    """Half of the noise that was paid for."""
    for module in NOISY_MODULES:
        whole = module.add_noise
        monkeypatch.setattr(
            module,
            "add_noise",
            lambda exact, shift, scale, mechanism, whole=whole: whole(exact, shift, scale / 2, mechanism),
        )


def float_noise(monkeypatch):
    """Noise in floating point, as everybody would write it."""
    generator = np.random.default_rng()

    def add(exact, shift, scale, mechanism):
        draw = generator.normal if mechanism == "gaussian" else generator.laplace
        return np.asarray(exact.astype(float) * 2.0**shift + draw(0.0, scale, len(exact)), dtype=object)

    for module in NOISY_MODULES:
        monkeypatch.setattr(module, "add_noise", add)


def wrong_k(monkeypatch):
    """A threshold as if groups of one person were the smallest that may be shown."""
    right = run.select_keys

    def select(exact, plan, receipt):
        low = plan.selection.threshold - plan.minimum + 1
        return right(exact, replace(plan, selection=replace(plan.selection, threshold=low)), receipt)

    monkeypatch.setattr(run, "select_keys", select)


def clamp_after_sum(monkeypatch):
    """Bounds that hold for the sum of a group, and not for each row."""

    def unclamped(noisy_sum):
        return (
            noisy_sum
            if noisy_sum.grid is None
            else replace(noisy_sum, grid=replace(noisy_sum.grid, low=-(2**61), high=2**61))
        )

    _recompiled(monkeypatch, lambda plan: replace(plan, sums=tuple(map(unclamped, plan.sums))))
    right, most = ExactTable.exact_numbers, 2**100

    def clamped(table, name):
        return np.array([max(-most, min(most, int(number))) for number in right(table, name)], dtype=object)

    monkeypatch.setattr(ExactTable, "exact_numbers", clamped)


def counted_twice(monkeypatch):
    """A person who counts like two."""
    _recompiled(monkeypatch, lambda plan: replace(plan, bounding=_looser(plan.bounding, 2)))


def unbounded_rows(monkeypatch):
    """Everybody counts with all their rows."""
    _recompiled(monkeypatch, lambda plan: replace(plan, bounding=_looser(plan.bounding, 2**20)))


def fails_on_rare_rows(monkeypatch):
    """A computation that cannot be finished for some rows: whether it fails is an answer nobody paid for."""
    right = ExactTable.exact_numbers

    def whole(table, name):
        actual = right(table, name)
        if name == "s0" and any(abs(int(number)) > 2**74 for number in actual):
            raise OverflowError
        return actual

    monkeypatch.setattr(ExactTable, "exact_numbers", whole)


def _looser(bounding, factor):
    return replace(bounding, rows=bounding.rows * factor, rows_per_group=bounding.rows_per_group * factor)


def _recompiled(monkeypatch, changed):
    """The SQL of another plan than the one that was priced."""
    right = run.program

    def recompiled(plan, dialect, nonce, **options):
        return right(changed(plan), dialect, nonce, **options)

    monkeypatch.setattr(run, "program", recompiled)
