"""Rows of a system obey its equations, by every way to make them."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.rows import FEWEST_ROWS, Plan, make_rows
from spl.errors import DataError, SettingError

T = np.linspace(0, 20, 2001)
OSCILLATION = np.column_stack([np.sin(2 * T), np.cos(2 * T)])  # x' = 2*y, y' = -2*x


def read(x, t=T, **options):
    return Trajectories.from_arrays(x, t, **options)


def noisy(rng, share=0.02):
    return OSCILLATION + rng.normal(0, share, OSCILLATION.shape)


@pytest.mark.parametrize("method", ["auto", "finite_difference", "savgol", "spline", "weak"])
def test_rows_of_exact_data_obey_the_equations(method):
    rows = make_rows(read(OSCILLATION), Plan(method=method))
    x, y = rows.table.T
    assert rows.names == ("x0", "x1")
    np.testing.assert_allclose(rows.targets, np.column_stack([2 * y, -2 * x]), atol=0.01)


@pytest.mark.parametrize("method", ["auto", "savgol", "spline", "weak"])
def test_rows_of_noisy_data_obey_the_equations_but_for_a_little(method, rng):
    rows = make_rows(read(noisy(rng)), Plan(method=method))
    x, y = rows.table.T
    assert np.std(rows.targets[:, 0] - 2 * y) < 0.1
    assert np.std(rows.targets[:, 1] + 2 * x) < 0.1


def test_the_noise_decides_what_auto_means(rng):
    assert make_rows(read(OSCILLATION), Plan()).method == "finite_difference"
    assert make_rows(read(noisy(rng)), Plan()).method == "spline"


def test_the_noisiest_run_decides_for_all(rng):
    rows = make_rows(read([OSCILLATION, noisy(rng)], [T, T]), Plan())
    assert rows.method == "spline"
    assert len(rows.starts) == 2


def test_the_noise_is_estimated(rng):
    np.testing.assert_allclose(make_rows(read(noisy(rng, 0.05)), Plan()).noise, 0.05, rtol=0.1)


def test_smoothed_rows_lie_apart_but_are_not_few(rng):
    rows = make_rows(read(noisy(rng)), Plan())
    assert FEWEST_ROWS <= len(rows.table) < len(T) / 2


def test_measured_derivatives_are_taken_as_they_are():
    slopes = np.column_stack([2 * OSCILLATION[:, 1], -2 * OSCILLATION[:, 0]])
    rows = make_rows(read(OSCILLATION, x_dot=slopes), Plan())
    assert rows.method == "measured"
    assert {tuple(row) for row in rows.targets} <= {tuple(row) for row in slopes}


@pytest.mark.parametrize("method", ["finite_difference", "spline", "weak"])
def test_order_two_has_velocities_on_the_left_and_accelerations_on_the_right(method):
    rows = make_rows(read(np.sin(2 * T), names=["a"]), Plan(method=method, order=2))
    assert rows.names == ("a", "da")
    a, _ = rows.table.T
    np.testing.assert_allclose(rows.targets[:, 0], -4 * a, atol=0.05)
    assert rows.starts[0].shape == (T.size, 2)


def test_a_function_of_the_user_gives_the_derivatives():
    def slope(t, x):
        return np.gradient(x, t, axis=0)

    rows = make_rows(read(OSCILLATION), Plan(method=slope))
    assert rows.method == "slope"
    np.testing.assert_allclose(rows.targets[5:-5, 0], 2 * rows.table[5:-5, 1], atol=1e-3)


def test_inputs_stand_behind_the_states():
    rows = make_rows(read(OSCILLATION, u=T**2, input_names=["force"]), Plan())
    assert rows.names == ("x0", "x1", "force")
    assert rows.table.shape[1] == 3


def test_rows_of_a_map_are_neighbours():
    x = 0.4 * 1.1 ** np.arange(30)
    rows = make_rows(read(x, 1.0), Plan(is_discrete=True))
    np.testing.assert_array_equal(rows.table[:, 0], x[:-1])
    np.testing.assert_array_equal(rows.targets[:, 0], x[1:])
    assert rows.method == "map"


def test_rows_of_a_map_leave_out_what_lies_two_steps_apart():
    x = 0.4 * 1.1 ** np.arange(30)
    x[10] = np.nan
    rows = make_rows(read(x, 1.0), Plan(is_discrete=True))
    np.testing.assert_allclose(rows.targets, 1.1 * rows.table)
    assert len(rows.table) == 27


def test_the_weak_form_is_kept_for_each_run():
    rows = make_rows(read([OSCILLATION, OSCILLATION[:900]], [T, T[:900]]), Plan(method="weak"))
    assert [form.columns.shape for form in rows.weak] == [(2, 2001), (2, 900)]
    for form in rows.weak:
        np.testing.assert_allclose(form.operator @ (2 * form.columns[1]), form.goals[:, 0], atol=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "splines"}, "There is no derivative method 'splines'. Did you mean 'spline'?"),
        ({"order": 3}, "`order` must be 1 or 2; got 3."),
        ({"order": 2, "is_discrete": True}, "A map has order 1."),
        ({"method": "flow", "order": 2}, "The derivative method 'flow' is not for `order=2`"),
        ({"method": "flow", "is_discrete": True}, "The derivative method 'flow' is not for a map."),
    ],
)
def test_a_plan_that_cannot_be_is_refused(options, message):
    with pytest.raises(SettingError) as error:
        Plan(**options)
    assert message in str(error.value)


def test_only_clean_data_know_the_error_of_their_derivatives(rng):
    clean = make_rows(read(OSCILLATION[::20], T[::20]), Plan())
    x, y = clean.table.T
    off = np.sqrt(np.mean((clean.targets - np.column_stack([2 * y, -2 * x])) ** 2, axis=0))
    assert (off < clean.target_errors).all()
    assert (clean.target_errors < 20 * off).all()
    assert not make_rows(read(noisy(rng)), Plan()).target_errors.any()


# ---- samples far apart ---------------------------------------------------------------------------

FEW = np.arange(120) * 0.6  # about five samples per turn of the oscillation
FEW_OSCILLATION = np.column_stack([np.sin(2 * FEW), np.cos(2 * FEW)])


@pytest.mark.parametrize("method", ["auto", "flow"])
def test_rows_of_few_samples_per_turn_obey_the_equations(method):
    rows = make_rows(read(FEW_OSCILLATION, FEW), Plan(method=method))
    x, y = rows.table.T
    assert rows.method == "flow"
    assert rows.is_clean
    np.testing.assert_allclose(rows.targets, np.column_stack([2 * y, -2 * x]), atol=1e-4)


def test_curvature_between_few_samples_is_not_taken_for_noise(rng):
    clean = make_rows(read(FEW_OSCILLATION, FEW), Plan())
    assert (clean.noise < 1e-4).all()
    noisy_rows = make_rows(read(FEW_OSCILLATION + rng.normal(0, 0.01, FEW_OSCILLATION.shape), FEW), Plan())
    assert noisy_rows.method == "flow"
    assert not noisy_rows.is_clean
    assert ((noisy_rows.noise > 0.005) & (noisy_rows.noise < 0.02)).all()


def test_pure_noise_has_no_flow(rng):
    assert make_rows(read(rng.normal(size=(200, 2)), FEW[1] * np.arange(200)), Plan()).method == "spline"


def test_second_derivatives_of_few_samples_are_not_taken_from_a_flow():
    assert make_rows(read(FEW_OSCILLATION[:, :1], FEW), Plan(order=2)).method != "flow"


def test_measured_derivatives_need_no_flow():
    data = read(FEW_OSCILLATION, FEW, x_dot=np.ones_like(FEW_OSCILLATION))
    rows = make_rows(data, Plan(method="flow"))
    assert rows.method == "measured"
    assert (rows.targets == 1).all()


def test_too_few_samples_for_a_flow_are_refused():
    with pytest.raises(DataError, match=r"'flow' needs 13 samples; there are 8\. Use 'auto'"):
        make_rows(read(FEW_OSCILLATION[:8], FEW[:8]), Plan(method="flow"))
