"""Simulated systems: equations, slopes and trajectories agree."""

import numpy as np
import pytest

import spl.datasets
from spl.datasets import SAMPLED_SYSTEMS, SYSTEMS, SystemData
from spl.errors import SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate

MAKERS = dict(SYSTEMS) | {name: system.make for name, system in SAMPLED_SYSTEMS.items()}
NAMES = list(MAKERS)
FINE = 1e-3  # a step at which fourth-order differences are exact to 1e-6
CHANGED = {  # other parameters than the defaults, negative ones among them
    "lorenz": {"sigma": 9.5, "rho": -3.0, "beta": 2.0},
    "rossler": {"a": -0.1, "b": 0.3, "c": 4.0},
    "van_der_pol": {"mu": -0.5},
    "duffing": {"damping": 0.3, "stiffness": 2.0, "cubic": -0.1},
    "glycolytic_oscillator": {"a": 0.05, "b": 0.5},
    "lotka_volterra": {"birth": 1.0, "predation": 0.1, "growth": 0.075, "death": 1.5},
    "fitzhugh_nagumo": {"current": -0.3, "rate": 0.1, "a": 0.5, "b": -0.2},
    "brusselator": {"a": 1.2, "b": -0.5},
    "rosenzweig_macarthur": {"capacity": 3.0, "attack": 1.0, "half": 0.6, "growth": 0.5, "death": 0.2},
    "thomas": {"damping": -0.1},
    "halvorsen": {"damping": 1.9, "coupling": 3.5},
    "hyperchaotic_rossler": {"a": 0.2, "b": -2.0, "c": 0.4, "d": 0.03},
    "sir": {"infection": 0.9, "recovery": 0.2},
    "michaelis_menten": {"inflow": 0.1, "v_max": 2.0, "k_m": 1.5, "decay": 0.25},
    "damped_pendulum": {"length": 0.7, "damping": 0.05, "gravity": 1.62},
    "driven_pendulum": {"length": 0.7, "mass": 1.3, "damping": 0.05, "gravity": 1.62, "amplitude": 1.0},
    "double_pendulum": {"masses": (1.3, 0.4), "lengths": (0.8, 1.7), "gravity": 1.62},
    "cart_pole": {"cart_mass": 2.0, "pole_mass": 0.3, "length": 1.4, "gravity": 1.62, "amplitude": 2.0},
}


def slopes_of_text(data: SystemData) -> np.ndarray:
    """Return the values [N, D] of the equations as they are written."""
    words = Vocabulary(data.names + data.input_names)
    columns = np.ascontiguousarray(np.column_stack([data.clean, data.u]).T)
    return np.column_stack([evaluate(parse_expression(data.equations[name], words), columns) for name in data.names])


@pytest.mark.parametrize("options", [{}, CHANGED], ids=["defaults", "changed"])
@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_the_equations_gives_the_derivatives(name, options):
    data = MAKERS[name](300, noise=0.0, **options.get(name, {}))
    scale = np.max(np.abs(data.derivatives), axis=0)
    np.testing.assert_allclose(slopes_of_text(data) / scale, data.derivatives / scale, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_derivatives_are_those_of_the_clean_states(name):
    data = MAKERS[name](300, FINE, noise=0.0)
    x = data.clean
    slope = (x[:-4] - 8 * x[1:-3] + 8 * x[3:-1] - x[4:]) / (12 * FINE)
    scale = np.max(np.abs(data.derivatives), axis=0)
    np.testing.assert_allclose(slope / scale, data.derivatives[2:-2] / scale, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_complete_and_its_shapes_agree(name):
    data = MAKERS[name](50, 0.02, noise=0.1)
    assert data.t.shape == (50,)
    assert data.states.shape == data.clean.shape == data.derivatives.shape == (50, len(data.names))
    assert data.u.shape == (50, len(data.input_names))
    assert tuple(data.equations) == data.names
    assert data.t[0] == 0
    assert np.diff(data.t) == pytest.approx(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_default_trajectories_stay_bounded_and_every_state_moves(name):
    data = MAKERS[name](noise=0.0)
    assert np.all(np.isfinite(data.clean))
    # 0.05, because z of the hyperchaotic system is near 0 between short bursts
    assert np.all(np.std(data.clean, axis=0) > 0.05 * np.max(np.abs(data.clean), axis=0))
    angles = [place for place, state in enumerate(data.names) if state.startswith("theta")]
    assert np.all(np.abs(data.clean[:, angles]) < np.pi), "a pendulum turned over"


@pytest.mark.parametrize("name", NAMES)
def test_noise_is_a_share_of_each_state_and_the_seed_changes_nothing_else(name):
    one, two = (MAKERS[name](200, noise=0.05, seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(one.clean, two.clean)
    np.testing.assert_array_equal(one.derivatives, two.derivatives)
    assert not np.array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.states, MAKERS[name](200, noise=0.05, seed=1).states)
    share = np.std(one.states - one.clean, axis=0) / np.sqrt(np.mean(one.clean**2, axis=0))
    np.testing.assert_allclose(share, 0.05, rtol=0.25)


@pytest.mark.parametrize("name", NAMES)
def test_every_system_has_a_public_generator_and_starts_where_it_is_told_to(name):
    assert getattr(spl.datasets, f"make_{name}") is MAKERS[name]
    start = 0.9 * MAKERS[name](2).clean[0] + 0.01
    np.testing.assert_array_equal(MAKERS[name](2, initial=tuple(start)).clean[0], start)


def test_the_table_of_systems_cannot_be_changed():
    with pytest.raises(TypeError):
        SYSTEMS["other"] = None


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("van_der_pol", {"n_samples": 1}, "`n_samples` must be a whole number, 2 or more; got 1"),
        ("van_der_pol", {"step": 0}, "`step` must be a number above 0; got 0"),
        ("van_der_pol", {"noise": -0.1}, "`noise` must be 0 or more; got -0.1"),
        ("van_der_pol", {"initial": (1, 2, 3)}, r"`initial` must be two numbers; got \(1, 2, 3\)"),
        ("cart_pole", {"initial": (1, 2, 3)}, "`initial` must be four numbers"),
        ("van_der_pol", {"initial": (1, np.nan)}, "`initial` must be two numbers"),
        ("van_der_pol", {"mu": np.inf}, "`mu` must be a number; got inf"),
        ("damped_pendulum", {"length": 0.0}, "`length` must be more than 0; got 0"),
        ("double_pendulum", {"masses": (1.0, -1.0)}, "`mass2` must be more than 0; got -1"),
        ("driven_pendulum", {"amplitude": np.nan}, "`amplitude` must be a number; got nan"),
        ("rosenzweig_macarthur", {"capacity": 0.0}, "`capacity` must be more than 0; got 0"),
        ("duffing", {"cubic": -5.0, "n_samples": 1000}, "cannot be simulated from .* beyond t = "),
    ],
)
def test_a_mistake_in_a_setting_is_named(name, options, message):
    with pytest.raises(SettingError, match=message):
        MAKERS[name](**options)
