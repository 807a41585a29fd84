"""The nearest tables without negative numbers."""

import numpy as np
import pytest
from scipy.optimize import nnls

from hedgerow.statistics.nearest_tables import nearest_atoms


def two_way(rows, columns):
    """Return the sums of a table by two keys: cells, both margins, and the total."""
    cells = np.eye(rows * columns)
    shaped = cells.reshape(rows, columns, -1)
    return np.vstack([cells, shaped.sum(axis=1), shaped.sum(axis=0), np.ones((1, rows * columns))])


def noisy_tables(members, generator):
    return members @ generator.normal(3.0, 8.0, members.shape[1])


def test_real_atoms_are_the_nearest_by_least_squares():
    generator, members = np.random.default_rng(), two_way(6, 4)
    for _ in range(5):
        released = noisy_tables(members, generator)
        atoms = nearest_atoms(members, released, lowest=0.0, whole=False)
        nearest, distance = nnls(members, released)
        assert np.linalg.norm(members @ atoms - released) == pytest.approx(distance, rel=1e-6, abs=1e-3)
        assert np.allclose(members @ atoms, members @ nearest, atol=0.01)
        assert atoms.min() >= 0


def test_whole_atoms_are_hardly_farther_away_than_real_ones():
    generator, members = np.random.default_rng(), two_way(6, 4)
    for _ in range(5):
        released = noisy_tables(members, generator)
        whole = nearest_atoms(members, released, lowest=0.0, whole=True)
        real = nearest_atoms(members, released, lowest=0.0, whole=False)
        assert whole.min() >= 0
        assert np.array_equal(whole, np.round(whole))
        assert np.abs(members @ whole - members @ real).max() < 2.5


def test_possible_tables_stay_as_they_are():
    members = two_way(3, 3)
    atoms = np.random.default_rng().integers(0, 50, 9).astype(float)
    assert np.array_equal(nearest_atoms(members, members @ atoms, lowest=0.0, whole=True), atoms)
    signed = atoms - 25
    assert np.array_equal(nearest_atoms(members, members @ signed, lowest=-np.inf, whole=True), signed)


def test_the_same_numbers_always_give_the_same_atoms():
    members = two_way(5, 5)
    released = noisy_tables(members, np.random.default_rng())
    first = nearest_atoms(members, released, lowest=0.0, whole=True)
    assert np.array_equal(first, nearest_atoms(members, released.copy(), lowest=0.0, whole=True))


def test_sums_of_real_atoms_are_exact_in_any_order():
    members = two_way(4, 4)
    atoms = nearest_atoms(members, 1e6 * noisy_tables(members, np.random.default_rng()), lowest=0.0, whole=False)
    assert sum(atoms.tolist()) == sum(reversed(atoms.tolist())) == atoms.reshape(4, 4).sum(axis=0).sum()
