"""Bands of trajectories hold the truth, repeat, and say how many draws end early."""

import numpy as np
import pytest
from tests.dynamics.followed_examples import T, follow

from spl.dynamics.simulate import simulate
from spl.dynamics.system_uncertainty import SystemCurvature
from spl.dynamics.trajectory_draws import SimulationDraws, draw_trajectories

LAW = {"x": "y", "y": "-x - 0.2*y"}


@pytest.fixture(scope="module")
def spiral():
    return follow({"x": "C*y", "y": "-C*x - C*y"}, [(2.0, 0.0)], law=LAW, noise=0.05, constants=[1.0, 1.0, 0.22])


def draw(followed, start=(2.0, 0.0), t=T, u=None, n_draws=200, seed=0):
    return draw_trajectories(followed, start, t, u, n_draws=n_draws, rng=np.random.default_rng(seed))


def test_a_band_holds_the_true_trajectory(spiral):
    band = draw(spiral)
    low, high = band.interval(0.99)
    truth = follow(LAW, [(2.0, 0.0)], noise=0.0).states[0]
    assert band.draws.shape == (200, T.size, 2)
    assert ((low[1:] <= truth[1:]) & (truth[1:] <= high[1:])).mean() > 0.9
    assert np.all(low[0] == high[0])  # the start is exact
    assert (low <= band.median()).all()
    assert (band.median() <= high).all()


def test_draws_are_simulations_with_other_constants(spiral):
    band = draw(spiral, n_draws=3)
    free = spiral.with_free_numbers(has_factors=True)
    constants = SystemCurvature.of(spiral, free).draw(3, np.random.default_rng(0))
    for values, found in zip(constants, band.draws, strict=True):
        exact = simulate(free.with_constants(values), (2.0, 0.0), T).states
        np.testing.assert_allclose(found, exact, atol=2e-3)


def test_the_same_seed_gives_the_same_draws(spiral):
    one, same, other = (draw(spiral, n_draws=5, seed=seed).draws for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0


def test_more_noise_widens_a_band(spiral):
    quiet = follow({"x": "C*y", "y": "-C*x - C*y"}, [(2.0, 0.0)], law=LAW, noise=0.005, constants=[1.0, 1.0, 0.22])
    wide, narrow = (np.mean(np.subtract(*draw(each).interval()[::-1])) for each in (spiral, quiet))
    assert 5 < wide / narrow < 20


def test_factors_that_are_not_printed_vary_too():
    band = draw(follow({"x": "y", "y": "-x"}, [(1.0, 0.0)]), start=(1.0, 0.0))
    assert band.draws.std(axis=0)[-1].min() > 0


def test_draws_that_diverge_are_counted():
    t = np.linspace(0.0, 1.0, 40)
    growth = follow({"x": "C*x**2"}, [(1.0,)], law={"x": "0.9*x**2"}, noise=0.3, constants=[0.9], t=t)
    band = draw(growth, start=(1.0,), t=np.linspace(0.0, 1.06, 50))
    assert 10 < band.n_ended < 200
    assert np.isinf(band.interval()[1][-1]).all()
    assert np.isfinite(band.interval()[1][25]).all()


def test_limits_are_open_where_draws_have_ended():
    draws = np.stack([np.full((2, 1), value) for value in (1.0, 2.0, 3.0, 4.0)])
    draws[0, 1] = np.nan
    band = SimulationDraws(np.array([0.0, 1.0]), draws[1], draws)
    low, high = band.interval(0.9)
    assert (low[0], high[0]) == (1.0, 4.0)
    assert (low[1], high[1]) == (-np.inf, np.inf)
    assert band.n_ended == 1


def test_inputs_and_maps_have_bands():
    u = np.cos(T)[:, np.newaxis]
    driven = follow({"x": "C*u - C*x"}, [(1.0,)], law={"x": "u - x"}, u=u, constants=[1.0, 1.0])
    assert np.isfinite(draw(driven, start=(1.0,), u=u).interval()[0]).all()
    steps = np.arange(30.0)
    logistic = follow(
        {"x": "C*x*(1 - x)"}, [(0.3,)], law={"x": "3.2*x*(1 - x)"}, t=steps, constants=[3.2], is_discrete=True
    )
    assert draw(logistic, start=(0.3,), t=steps).draws.std(axis=0)[-1] > 0


def test_stiff_equations_are_simulated_precisely():
    t = np.linspace(0.0, 4.0, 9)
    stiff = follow(
        {"x": "-C*x + 3000*u"}, [(0.0,)], law={"x": "-3000*x + 3000*u"}, t=t, u=np.ones((9, 1)), constants=[3000.0]
    )
    band = draw(stiff, start=(0.0,), t=t, u=np.ones((9, 1)), n_draws=3)
    np.testing.assert_allclose(band.states[1:], 1.0, rtol=0.05)
    assert np.isfinite(band.draws).all()
