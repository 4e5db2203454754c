"""What own numbers cost: nothing is gained by values that differ only by chance."""

import numpy as np
import pytest

from spl.groups.price import Blocks, price_blocks

N_PER_GROUP = 30


def length(values, error, shared):
    """Return the nats of normal measurements of a number in each group: errors of size 1, and the number shared or own."""
    n_rows = values.size * N_PER_GROUP
    information = N_PER_GROUP * np.ones((values.size, 1, 1))
    if shared:
        square = n_rows * error**2 + N_PER_GROUP * np.sum((values - values.mean()) ** 2)
        blocks = Blocks(np.array([[n_rows]]), (), (), np.array([values.mean()]), ())
    else:
        square = n_rows * error**2
        blocks = Blocks(
            np.zeros((0, 0)), (information,), (np.zeros((values.size, 1, 0)),), np.zeros(0), (values[:, None],)
        )
    return 0.5 * n_rows * np.log(square / n_rows) + sum(price_blocks(blocks, square=square, n_rows=n_rows))


@pytest.mark.parametrize("n_groups", [3, 10, 100, 1000])
def test_values_that_differ_by_chance_are_shared(rng, n_groups):
    gains = []
    for _ in range(100):
        values = 5.0 + rng.normal(size=n_groups) / np.sqrt(N_PER_GROUP)
        gains.append(length(values, 1.0, shared=True) - length(values, 1.0, shared=False))
    assert np.mean(np.array(gains) > 0) <= 0.03


@pytest.mark.parametrize("n_groups", [3, 10, 100, 1000])
def test_a_number_near_zero_that_differs_by_chance_is_shared(rng, n_groups):
    gains = []
    for _ in range(100):
        values = rng.normal(size=n_groups) / np.sqrt(N_PER_GROUP)
        gains.append(length(values, 1.0, shared=True) - length(values, 1.0, shared=False))
    assert np.mean(np.array(gains) > 0) <= 0.03


@pytest.mark.parametrize("n_groups", [3, 10, 100])
def test_values_that_differ_by_ten_errors_are_own(rng, n_groups):
    values = 5.0 + 10 * rng.normal(size=n_groups) / np.sqrt(N_PER_GROUP)
    assert length(values, 1.0, shared=False) < length(values, 1.0, shared=True)


def test_the_price_stays_finite_for_exact_laws():
    values = np.linspace(1.0, 2.0, 10)
    assert np.isfinite(length(values, 1e-14, shared=False))
    assert length(values, 1e-14, shared=False) < length(values, 1e-14, shared=True)


@pytest.mark.parametrize("factor", [1.0, 2.0, 1e6])
@pytest.mark.parametrize("n_groups", [2, 3, 10])
def test_a_number_that_is_the_same_in_all_groups_of_an_exact_law_is_shared(factor, n_groups):
    values = np.full(n_groups, factor)
    assert length(values, 1e-14, shared=True) < length(values, 1e-14, shared=False) - 2.0


def test_numbers_beyond_all_scales_have_no_price_instead_of_an_error():
    """Met in a search: a factor ran away to 1e192, and its square in the information to 0."""
    values = np.array([[8.5e191, 144.6, 88.6], [8.5e191, 141.2, 89.1], [8.5e191, 148.7, 88.1], [1.07e72, 64.2, 39.6]])
    slopes = np.array(
        [[-7.9e-192, 4.08, 33.4], [-5.6e-192, 3.0, 23.8], [-6.2e-192, 3.09, 26.3], [-6.6e-72, 4.32, 29.6]]
    )
    information = slopes[:, :, np.newaxis] * slopes[:, np.newaxis, :]
    blocks = Blocks(np.zeros((0, 0)), (information,), (np.zeros((4, 3, 0)),), np.zeros(0), (values,))
    with np.errstate(all="ignore"):
        price = price_blocks(blocks, square=0.38, n_rows=100)
    assert not np.isfinite(sum(price))
