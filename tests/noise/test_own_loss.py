"""A loss of the user has values, slopes and weights that agree with its function, in any units."""

import copy
import math
import subprocess
import sys
from functools import cache

import cloudpickle
import numpy as np
import pytest

from spl import Loss
from spl.errors import LossError

THRESHOLD = 1.5
LEVEL = 0.9


def huber(y, f):
    size = abs(f - y)
    return size**2 if size < THRESHOLD else THRESHOLD * (2 * size - THRESHOLD)


def quantile(y, f):
    return LEVEL * (y - f) if f < y else (1 - LEVEL) * (f - y)


def biweight(y, f):
    return 1 - (1 - min(abs(f - y) / 4.0, 1.0) ** 2) ** 3


FUNCTIONS = {
    "squares": lambda y, f: (f - y) ** 2,
    "absolute": lambda y, f: np.abs(f - y),
    "huber": huber,
    "quantile": quantile,
    "biweight": biweight,
    "insensitive": lambda y, f: max(abs(f - y) - 0.3, 0.0),
    "poisson": lambda y, f: f - y * np.log(f),
    "log-cosh": lambda y, f: np.log(np.cosh(f - y)),
    "log-cosh of math": lambda y, f: math.log(math.cosh(f - y)),
    "cubes": lambda y, f: np.abs(f - y) ** 3,
    "root": lambda y, f: np.sqrt(1 + (f - y) ** 2),
    "ratio": lambda y, f: np.log(f / y) ** 2,
}


@cache
def make_loss(name):
    """Return a loss; each is compiled only once."""
    return Loss(name, FUNCTIONS[name])


def make_rows(n_rows=300, noise=0.3):
    """Return positive targets, and predictions that scatter around them."""
    generator = np.random.default_rng(5)
    target = np.exp(generator.normal(size=n_rows))
    return target, target * np.exp(noise * generator.normal(size=n_rows))


# ---- values and slopes ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_the_function(name):
    target, predictions = make_rows()
    expected = [FUNCTIONS[name](*pair) for pair in zip(target, predictions, strict=True)]
    values = make_loss(name).values(target, predictions)
    np.testing.assert_allclose(
        values, expected, rtol=1e-12, atol=1e-14
    )  # 1 - (1 - x)**3 and log(cosh(x)) round for small x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "slope"),
    [
        ("squares", lambda y, f: 2 * (f - y)),
        ("absolute", lambda y, f: np.sign(f - y)),
        ("poisson", lambda y, f: 1 - y / f),
        ("cubes", lambda y, f: 3 * (f - y) * np.abs(f - y)),
        ("root", lambda y, f: (f - y) / np.sqrt(1 + (f - y) ** 2)),
        ("ratio", lambda y, f: 2 * np.log(f / y) / f),
    ],
)
def test_the_slope_of_a_formula_is_exact(name, slope):
    target, predictions = make_rows()
    np.testing.assert_allclose(make_loss(name).slopes(target, predictions), slope(target, predictions), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "slope"),
    [
        ("huber", lambda y, f: 2 * np.clip(f - y, -THRESHOLD, THRESHOLD)),
        ("quantile", lambda y, f: np.where(f < y, -LEVEL, 1 - LEVEL)),
        ("log-cosh of math", lambda y, f: np.tanh(f - y)),
    ],
)
def test_the_slope_of_any_other_function_comes_from_differences(name, slope):
    target, predictions = make_rows()
    slopes = make_loss(name).slopes(target, predictions)
    np.testing.assert_allclose(slopes, slope(target, predictions), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_a_given_slope_is_used():
    loss = Loss("squares", lambda y, f: (f - y) ** 2, slope=lambda y, f: 2.001 * (f - y))
    assert loss.slopes([1.0], [3.0]).tolist() == [4.002]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-100, 1e-9, 1e9, 1e100])
def test_differences_suit_any_units(size):
    threshold = THRESHOLD * size
    loss = Loss(
        "scaled", lambda y, f: (f - y) ** 2 if abs(f - y) < threshold else threshold * (2 * abs(f - y) - threshold)
    )
    target, predictions = make_rows()
    slopes = loss.slopes(size * target, size * predictions)
    expected = 2 * np.clip(predictions - target, -THRESHOLD, THRESHOLD)
    np.testing.assert_allclose(slopes / size, expected, rtol=1e-6, atol=1e-9)
    weights = loss.weights(size * target, size * predictions)
    np.testing.assert_allclose(weights, make_loss("huber").weights(target, predictions), rtol=1e-6)


@pytest.mark.slow
def test_differences_suit_a_target_far_from_zero():
    target, predictions = make_rows()
    offset = 1e6
    slopes = make_loss("huber").slopes(offset + target, offset + predictions)
    expected = 2 * np.clip(predictions - target, -THRESHOLD, THRESHOLD)
    np.testing.assert_allclose(slopes, expected, atol=0.03)  # steps of 0.01: where the loss bends, it is rounded off


@pytest.mark.slow
def test_close_to_the_end_of_the_domain_differences_use_shorter_steps():
    deviance = Loss("deviance", lambda y, f: f - (y * np.log(f) if y > 0 else 0.0))
    np.testing.assert_allclose(deviance.slopes([100.0, 0.0], [1e-9, 2.0]), [1 - 1e11, 1.0], rtol=0.2)


@pytest.mark.slow
def test_outside_the_domain_there_is_neither_value_nor_slope():
    loss = make_loss("poisson")
    assert np.isnan([loss.values([1.0], [-1.0])[0], loss.slopes([1.0], [-1.0])[0]]).all()


@pytest.mark.parametrize(
    ("target", "predictions", "message"),
    [
        ([1.0, 2.0], [1.0], r"two columns of the same length; their shapes are \(2,\) and \(1,\)"),
        ([[1.0]], [[1.0]], "two columns of the same length"),
        (["one"], [1.0], "A loss takes columns of numbers: could not convert"),
    ],
)
def test_rows_that_do_not_match_are_refused(target, predictions, message):
    with pytest.raises(LossError, match=message):
        make_loss("squares").values(target, predictions)


# ---- weights -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_weights_are_finite_and_not_negative_whatever_the_prediction(name):
    predictions = np.array([-1.0, 0.0, 1e-300, 1.0, 1.0 + 1e-15, 1e300, np.inf, -np.inf, np.nan])
    weights = make_loss(name).weights(np.ones(predictions.size), predictions)
    assert np.all(np.isfinite(weights) & (weights >= 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "curvature"), [("squares", 2.0), ("huber", 2.0), ("log-cosh", 1.0), ("poisson", 0.5), ("ratio", 0.5)]
)
def test_where_a_prediction_is_exact_its_weight_is_the_curvature(name, curvature):
    weights = make_loss(name).weights([2.0, 2.0], [2.0, 3.0])
    assert weights[0] == pytest.approx(curvature, rel=1e-3)


@pytest.mark.slow
def test_a_kink_at_the_target_gives_a_large_but_finite_weight():
    weights = make_loss("absolute").weights([2.0, 2.0], [2.0, 3.0])
    assert weights.tolist() == pytest.approx([1e4, 1.0])


@pytest.mark.slow
def test_rows_beyond_the_reach_of_a_bounded_loss_have_no_weight():
    assert make_loss("biweight").weights([0.0, 0.0], [1.0, 5.0])[1] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["absolute", "huber", "quantile", "log-cosh"])
def test_repeated_least_squares_with_the_weights_lowers_the_loss(name):
    loss, generator = make_loss(name), np.random.default_rng(1)
    target = 10.0 + generator.standard_t(2, size=500)
    level = float(np.mean(target))
    sums = [float(np.sum(loss.values(target, np.full(500, level))))]
    for _ in range(50):
        level = float(np.average(target, weights=loss.weights(target, np.full(500, level))))
        sums.append(float(np.sum(loss.values(target, np.full(500, level)))))
    assert np.all(np.diff(sums) <= 1e-6 * sums[0])
    nearby = [float(np.sum(loss.values(target, np.full(500, level + shift)))) for shift in (-0.1, 0.1)]
    assert sums[-1] <= min(nearby)


# ---- the equivalent error ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
def test_the_equivalent_error_of_squares_is_the_root_mean_square(size):
    target, predictions = make_rows()
    counts = np.random.default_rng(2).random(target.size)
    expected = size * math.sqrt(np.average((predictions - target) ** 2, weights=counts))
    error = make_loss("squares").equivalent_error(size * target, size * predictions, counts)
    assert error == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_the_equivalent_error_of_absolute_values_is_their_mean():
    target, predictions = make_rows()
    error = make_loss("absolute").equivalent_error(target, predictions)
    assert error == pytest.approx(np.mean(np.abs(predictions - target)), rel=1e-12)


@pytest.mark.slow
def test_an_offset_and_a_factor_of_the_loss_do_not_change_the_equivalent_error():
    target, predictions = make_rows()
    changed = Loss("changed", lambda y, f: 5 * np.log(np.cosh(f - y)) + 3 + y)
    expected = make_loss("log-cosh").equivalent_error(target, predictions)
    assert changed.equivalent_error(target, predictions) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_with_one_common_error_have_this_equivalent_error(name):
    target = np.full(10, 2.0)
    predictions = target + np.tile([0.7, -0.7], 5)
    assert make_loss(name).equivalent_error(target, predictions) == pytest.approx(0.7, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_equivalent_error_of_a_perfect_prediction_is_zero(name):
    target, _ = make_rows()
    assert make_loss(name).equivalent_error(target, target) == 0.0


@pytest.mark.slow
def test_the_equivalent_error_is_infinite_if_a_row_has_no_finite_loss():
    assert make_loss("poisson").equivalent_error([1.0, 1.0], [-1.0, 1.0]) == math.inf


@pytest.mark.slow
def test_rows_of_weight_zero_do_not_count():
    loss = make_loss("poisson")
    assert loss.equivalent_error([1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]) == 0.0


@pytest.mark.slow
def test_a_bounded_loss_beyond_any_common_error_gives_the_largest_error():
    lopsided = Loss("lopsided", lambda y, f: min(abs(f - y), 1.0) if f < y else 3 * min(abs(f - y), 1.0))
    assert lopsided.equivalent_error([0.0, 0.0], [5.0, 6.0]) == 6.0


# ---- what the data must be -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_loss_for_positive_data_refuses_other_targets():
    loss = make_loss("ratio")
    loss.check_target([1.0, 2.0])
    with pytest.raises(
        LossError, match=r"'ratio' has no value at f = y for 2 rows of 3, such as y = 0. Leave these rows out"
    ):
        loss.check_target([0.0, 2.0, 0.0])


@pytest.mark.slow
def test_counts_of_zero_suit_the_likelihood_of_counts():
    loss = make_loss("poisson")
    loss.check_target([0.0, 3.0, 1.0])
    assert 0 < loss.equivalent_error([0.0, 3.0, 1.0], [0.5, 2.5, 1.5]) < 1


@pytest.mark.slow
def test_a_target_where_the_loss_is_not_lowest_is_refused():
    squares_over_y = Loss("chi squared", lambda y, f: (f - y) ** 2 / y)
    with pytest.raises(
        LossError, match=r"'chi squared' must be lowest at f = y; for y = -2 it is -?0 at f = -2, but -"
    ):
        squares_over_y.check_target([1.0, -2.0])


# ---- as an object --------------------------------------------------------------------------------


def test_a_loss_prints_its_name():
    assert repr(make_loss("squares")) == "Loss('squares')"


@pytest.mark.slow
def test_losses_are_equal_if_their_names_and_functions_are():
    loss = make_loss("huber")
    assert loss == Loss("huber", huber)
    assert hash(loss) == hash(Loss("huber", huber))
    assert loss != Loss("other", huber)
    assert loss != Loss("huber", quantile)


@pytest.mark.slow
def test_a_new_loss_takes_numbers_from_outside_as_they_are_now():
    factor = 1.0

    def scaled(y, f):
        return factor * abs(f - y)

    first = Loss("scaled", scaled)
    factor = 3.0
    second = Loss("scaled", scaled)
    assert [loss.values([0.0], [1.0])[0] for loss in (first, second)] == [1.0, 3.0]


@pytest.mark.slow
def test_a_packed_loss_comes_back():
    target, predictions = make_rows()
    loss = make_loss("squares")
    unpacked = cloudpickle.loads(cloudpickle.dumps(loss))
    np.testing.assert_array_equal(unpacked.values(target, predictions), loss.values(target, predictions))


def test_a_copy_is_not_compiled_again():
    assert copy.deepcopy(make_loss("squares")) is make_loss("squares")


@pytest.mark.process
def test_only_making_a_loss_needs_the_compiler():
    code = "import sys; from spl import Loss; assert not {'numba', 'sympy', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- curvatures ----------------------------------------------------------------------------------


def test_curvatures_of_a_smooth_loss_are_its_second_derivatives():
    quartic = Loss("quartic", lambda y, f: (f - y) ** 4 + (f - y) ** 2)
    errors = np.linspace(-1, 1, 20_001)
    found = quartic.curvatures(np.zeros(errors.size), errors)
    np.testing.assert_allclose(found, 12 * errors**2 + 2, atol=0.1)  # they are smoothed over 0.1


def test_curvatures_of_a_kink_add_up_to_twice_the_density_there():
    absolute = Loss("absolute", lambda y, f: abs(f - y))
    errors = np.random.default_rng(0).normal(size=20_000)
    assert absolute.curvatures(np.zeros(errors.size), errors).mean() == pytest.approx(2 / np.sqrt(2 * np.pi), rel=0.05)


def test_where_a_loss_has_no_value_it_has_no_curvature():
    logarithmic = Loss("logarithmic", lambda y, f: (np.log(f) - np.log(y)) ** 2)
    assert logarithmic.curvatures([1.0, 1.0], [-1.0, 1.0]).tolist()[0] == 0.0
