"""Starting values: the numbers of each group by itself."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.starts import fit_each_group, group_tables

CODES = np.repeat(np.arange(5), 12)


def start(text, constants, rows):
    return fit_each_group(make_formula(text, constants).program, group_tables(rows, 0))


def test_each_group_has_the_numbers_of_its_own_line(rng):
    x = rng.uniform(0, 3, CODES.size)
    rows = make_rows(x, rng.uniform(1, 3, 5)[CODES] * x + 1 + 0.3 * rng.normal(size=x.size), CODES)
    found = start("C*x + C", [1, 1], rows)
    lines = [np.polyfit(x[group == CODES], rows.data.target[group == CODES], 1) for group in range(5)]
    np.testing.assert_allclose(found.values, lines, rtol=1e-5)
    errors = [line[0] * x[g == CODES] + line[1] - rows.data.target[g == CODES] for g, line in enumerate(lines)]
    assert found.square == pytest.approx(sum(np.sum(each**2) for each in errors))
    best = int(np.argmin([np.mean(each**2) for each in errors]))
    np.testing.assert_array_equal(found.typical, found.values[best])


def test_weights_are_those_of_the_whole_table(rng):
    x, weights = rng.uniform(0, 3, CODES.size), rng.uniform(1, 2, CODES.size) * (1 + CODES)
    rows = make_rows(x, rng.normal(size=x.size), CODES, weights=weights)
    tables = group_tables(rows, 0)
    for group, table in enumerate(tables):
        np.testing.assert_allclose(table.weights, weights[group == CODES] / weights.mean())


def test_oscillations_of_different_frequencies_are_all_found(rng):
    x = rng.uniform(0, 6, CODES.size)
    rows = make_rows(x, 2 * np.sin(np.array([1.0, 3.0, 1.5, 2.5, 2.0])[CODES] * x), CODES)
    found = start("C*sin(C*x)", [1, 1], rows)
    assert found.losses.max() < 1e-3
    np.testing.assert_allclose(np.abs(found.values[:, 1]), [1.0, 3.0, 1.5, 2.5, 2.0], rtol=1e-3)


def test_groups_without_rows_borrow_the_numbers_of_others():
    x = np.linspace(0, 3, CODES.size)
    rows = make_rows(x, (2 + CODES) * x, CODES)
    kept = rows.take(np.flatnonzero(CODES != 3))
    tables = group_tables(kept, 0)
    found = start("C*x", [1], kept)
    assert [table is None for table in tables] == [False, False, False, True, False]
    np.testing.assert_allclose(found.values[[0, 1, 2, 4], 0], [2, 3, 4, 6])
    assert found.values[3, 0] in found.values[[0, 1, 2, 4], 0]
    assert np.isnan(found.losses[3])


def test_there_are_no_starts_if_one_group_lies_outside_the_domain():
    x = np.linspace(0.5, 3, CODES.size)
    assert start("C*log(x)", [1], make_rows(x, x, CODES)) is not None
    assert start("C*log(x)", [1], make_rows(np.where(CODES == 4, -x, x), x, CODES)) is None
