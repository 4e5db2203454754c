import numpy as np
import pytest

from spl.datasets import make_lorenz
from spl.datasets.lorenz import lorenz_derivative
from spl.errors import SettingError


def test_lorenz_states_obey_the_equations():
    data = make_lorenz(400, step=0.001)
    slope = np.gradient(data.clean, 0.001, axis=0, edge_order=2)
    np.testing.assert_allclose(slope[2:-2], data.derivatives[2:-2], rtol=1e-3, atol=1e-2)
    np.testing.assert_array_equal(data.derivatives, lorenz_derivative(data.clean))


def test_lorenz_is_integrated_accurately_enough_that_a_finer_grid_agrees():
    coarse = make_lorenz(300, step=0.02)
    fine = make_lorenz(600, step=0.01)
    np.testing.assert_allclose(coarse.clean, fine.clean[::2], rtol=1e-5, atol=1e-5)


def test_lorenz_noise_is_a_share_of_the_root_mean_square_of_each_state():
    data = make_lorenz(6000, noise=0.05)
    noise = np.sqrt(np.mean((data.states - data.clean) ** 2, axis=0))
    np.testing.assert_allclose(noise / np.sqrt(np.mean(data.clean**2, axis=0)), 0.05, rtol=0.05)


def test_lorenz_without_noise_is_clean_and_the_seed_changes_only_the_noise():
    np.testing.assert_array_equal(make_lorenz(50, noise=0).states, make_lorenz(50, noise=0).clean)
    one, two = make_lorenz(50, seed=1), make_lorenz(50, seed=2)
    np.testing.assert_array_equal(one.clean, two.clean)
    assert not np.array_equal(one.states, two.states)


def test_lorenz_starts_where_it_is_told_to():
    data = make_lorenz(10, initial=(1.0, 2.0, 3.0))
    np.testing.assert_array_equal(data.clean[0], [1.0, 2.0, 3.0])
    assert data.t[0] == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 1}, "`n_samples` must be a whole number, 2 or more; got 1"),
        ({"n_samples": 10.0}, "`n_samples`"),
        ({"step": -0.1}, "`step` must be a number above 0; got -0.1"),
        ({"noise": -1}, "`noise` must be 0 or more; got -1"),
        ({"noise": np.nan}, "`noise` must be 0 or more; got nan"),
        ({"initial": (1.0, 2.0)}, "`initial` must be three numbers"),
    ],
)
def test_a_mistake_in_a_lorenz_setting_is_named(options, message):
    with pytest.raises(SettingError, match=message):
        make_lorenz(**options)
