"""What runs share: constants, own numbers, and multiples of own numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spl.dynamics.sharing import SHARED, RunFits, Sharing, choose_sharing

N_RUNS = 8


def make_fits(rng, columns, error=0.01):
    """Return fits of runs with these true constants, each known with the same error."""
    values = np.column_stack(np.broadcast_arrays(*columns, np.zeros(N_RUNS))[:-1])
    noisy = values + error * rng.standard_normal(values.shape)
    information = np.tile(np.eye(values.shape[1]) / error**2, (N_RUNS, 1, 1))
    return RunFits(noisy, information, np.full(N_RUNS, 200))


def test_constants_that_are_alike_are_shared(rng):
    fits = make_fits(rng, [1.0, -2.0, 0.3])
    assert choose_sharing(fits)[0] == Sharing((SHARED, SHARED, SHARED))


def test_a_constant_that_differs_is_an_own_number(rng):
    fits = make_fits(rng, [1.0, np.linspace(1, 2, N_RUNS), 0.3])
    assert choose_sharing(fits)[0] == Sharing((SHARED, 1, SHARED))


def test_constants_that_differ_in_proportion_are_one_own_number(rng):
    rates = rng.uniform(0.5, 2, N_RUNS)
    sharing = choose_sharing(make_fits(rng, [rates, 0.7, -3 * rates]))[0]
    assert sharing == Sharing((0, SHARED, 0))


def test_constants_that_differ_without_relation_are_two_own_numbers(rng):
    fits = make_fits(rng, [rng.uniform(0.5, 2, N_RUNS), rng.uniform(0.5, 2, N_RUNS)])
    assert choose_sharing(fits)[0] == Sharing((0, 1))


def test_at_most_as_many_own_numbers_are_chosen_as_allowed(rng):
    fits = make_fits(rng, [rng.uniform(0.5, 2, N_RUNS), rng.uniform(0.5, 2, N_RUNS), rng.uniform(0.5, 2, N_RUNS)])
    assert len(choose_sharing(fits, most_own=1)[0].own) == 1


def test_runs_that_do_not_differ_get_own_numbers_in_few_of_many_cases(rng):
    found = [choose_sharing(make_fits(rng, [1.0, 2.0, 3.0, 4.0]))[0].own for _ in range(100)]
    assert sum(map(bool, found)) <= 5


def test_a_constant_that_a_run_says_nothing_about_costs_nothing_to_share(rng):
    fits = make_fits(rng, [1.0, 2.0])
    fits.information[3, 1, 1] = 0.0
    fits.values[3, 1] = 1e6
    nats, values, _ = fits.fit(Sharing((SHARED, SHARED)))
    assert nats < 30
    assert_allclose(values[3], [1.0, 2.0], atol=0.02)


def test_multiples_have_the_factor_that_fits_best(rng):
    rates = rng.uniform(0.5, 2, N_RUNS)
    factors = make_fits(rng, [rates, -3 * rates]).fit(Sharing((0, 0)))[2]
    assert factors[1] == pytest.approx(-3.0, rel=0.02)


def test_sharing_more_never_fits_better(rng):
    fits = make_fits(rng, [rng.uniform(0.5, 2, N_RUNS), 1.0, 2.0])
    nats = [
        fits.fit(Sharing(leaders))[0] for leaders in [(0, 1, 2), (0, 1, SHARED), (0, SHARED, SHARED), (SHARED,) * 3]
    ]
    assert nats == sorted(nats)


def test_the_first_of_several_constants_is_the_own_number():
    assert Sharing((SHARED, 2, 2)).in_order() == Sharing((SHARED, 1, 1))


@pytest.mark.parametrize("most_own", [0, 1])
def test_own_numbers_that_others_follow_are_given_up_if_there_may_be_fewer(most_own):
    own = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0], [7.0, 4.0]])
    runs = RunFits(np.hstack([own, 2 * own]), 1e4 * np.tile(np.eye(4), (4, 1, 1)), np.full(4, 200))
    assert len(choose_sharing(runs)[0].own) == 2
    assert len(choose_sharing(runs, most_own)[0].own) <= most_own
