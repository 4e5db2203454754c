"""Noise models: their likelihoods are those of scipy, and their weights those that least squares needs to raise them."""

import math
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.optimize import minimize, minimize_scalar

from spl.errors import DataError, SettingError
from spl.noise.models import (
    BINOMIAL,
    DEGREES,
    LARGEST_VALUE_SHARE,
    NOISE_MODELS,
    NORMAL,
    POISSON,
    RELATIVE,
    STUDENT,
    MeasuredRows,
    check_noise,
    check_targets,
    decode_noise,
    encode_noise,
    find_noise_model,
    has_ordinary_size,
)
from spl.noise.own_loss import Loss

FLOOR = 1e-12
N_ROWS = 40
VALUES = np.geomspace(0.5, 40.0, N_ROWS)


def make_rows(target, *, weights=None, **more):
    weights = np.ones(target.size) if weights is None else weights / weights.mean()
    return MeasuredRows(target, weights, FLOOR, **more)


@pytest.fixture
def target(rng):
    return VALUES + rng.normal(0.0, 0.3, N_ROWS)


@pytest.fixture
def weights(rng):
    return rng.uniform(0.5, 2.0, N_ROWS)


# ---- normal --------------------------------------------------------------------------------------


def test_normal_errors_have_the_likelihood_of_the_best_deviation(target):
    scatter = NORMAL.scatter(make_rows(target), VALUES)
    deviation = np.sqrt(np.mean((target - VALUES) ** 2))
    assert scatter.numbers["standard deviation"] == pytest.approx(deviation)
    assert scatter.nats == pytest.approx(-stats.norm.logpdf(target, VALUES, deviation).sum())


def test_the_equivalent_error_of_normal_noise_is_the_root_mean_square_error(target, weights):
    for rows in (make_rows(target), make_rows(target, weights=weights)):
        expected = np.sqrt(np.mean(rows.weights * (target - VALUES) ** 2))
        assert NORMAL.scatter(rows, VALUES).equivalent_error(FLOOR) == pytest.approx(expected)


def test_precisions_are_proportional_to_the_weights(target, weights):
    scatter = NORMAL.scatter(make_rows(target, weights=weights), VALUES)
    np.testing.assert_allclose(scatter.precisions / scatter.precisions[0], weights / weights[0])


@pytest.mark.parametrize("size", [0.01, 1.0, 3.0])
def test_error_bars_may_be_too_small_but_never_too_large(rng, size):
    sigma = rng.uniform(0.5, 2.0, N_ROWS)
    target = VALUES + size * sigma * rng.normal(size=N_ROWS)
    scatter = NORMAL.scatter(make_rows(target, sigma=sigma), VALUES)
    factor = max(np.sqrt(np.mean(((target - VALUES) / sigma) ** 2)), 1.0)
    assert scatter.nats == pytest.approx(-stats.norm.logpdf(target, VALUES, factor * sigma).sum())
    assert scatter.numbers.get("factor of the error bars", 1.0) == pytest.approx(factor)


def test_errors_of_the_columns_add_to_the_variance(rng, target):
    extra = rng.uniform(0.0, 0.2, N_ROWS)
    scatter = NORMAL.scatter(make_rows(target, input_variance=extra), VALUES)

    def nats(scale):
        return -stats.norm.logpdf(target, VALUES, np.sqrt(scale**2 + extra)).sum()

    best = minimize_scalar(nats, bounds=(1e-6, 1.0), method="bounded")
    assert scatter.nats == pytest.approx(best.fun, abs=1e-4)


@pytest.mark.parametrize("model", [NORMAL, RELATIVE, STUDENT])
def test_an_error_of_nothing_but_rounding_is_exact(model):
    scatter = model.scatter(make_rows(VALUES + 1e-14), VALUES)
    assert scatter.is_exact
    assert scatter.equivalent_error(FLOOR) == FLOOR


@pytest.mark.parametrize("model", [NORMAL, RELATIVE, STUDENT])
def test_an_error_above_rounding_is_not_exact(model, target):
    assert not model.scatter(make_rows(target), VALUES).is_exact


def test_with_error_bars_a_law_is_exact_only_far_below_them(target):
    sigma = np.full(N_ROWS, 0.3)
    assert not NORMAL.scatter(make_rows(target, sigma=sigma), VALUES).is_exact
    assert NORMAL.scatter(make_rows(VALUES + 1e-9, sigma=sigma), VALUES).is_exact


# ---- relative ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "even"), [(0.1, 0.0), (0.1, 1.0)])
def test_relative_errors_have_the_likelihood_of_the_best_two_parts(rng, share, even):
    target = VALUES + np.hypot(share * VALUES, even) * rng.normal(size=N_ROWS)
    scatter = RELATIVE.scatter(make_rows(target), VALUES)

    def nats(logs):
        return -stats.norm.logpdf(target, VALUES, np.hypot(np.exp(logs[0]) * VALUES, np.exp(logs[1]))).sum()

    best = minimize(nats, np.log([share, max(even, 1e-2)]), method="Nelder-Mead", options={"maxiter": 2000})
    assert scatter.nats == pytest.approx(best.fun, abs=0.02)
    assert scatter.numbers["relative error"] == pytest.approx(math.exp(best.x[0]), rel=0.05)


def test_the_even_part_is_named_only_if_it_matters_somewhere(rng):
    normals = rng.normal(size=N_ROWS)
    pure = RELATIVE.scatter(make_rows(VALUES * (1 + 0.1 * normals)), VALUES)
    mixed = RELATIVE.scatter(make_rows(VALUES + np.hypot(0.1 * VALUES, 1.0) * normals), VALUES)
    assert "even error" not in pure.numbers
    assert 0.3 < mixed.numbers["even error"] < 3.0


def test_with_error_bars_the_even_part_is_known(rng):
    sigma = np.full(N_ROWS, 0.2)
    target = VALUES + np.hypot(0.1 * VALUES, sigma) * rng.normal(size=N_ROWS)
    scatter = RELATIVE.scatter(make_rows(target, sigma=sigma), VALUES)
    share = scatter.numbers["relative error"]
    assert scatter.nats == pytest.approx(-stats.norm.logpdf(target, VALUES, np.hypot(share * VALUES, sigma)).sum())


def test_values_of_0_have_even_errors():
    target = np.array([0.1, -0.1, 0.2])
    zeros = np.zeros(3)
    assert RELATIVE.scatter(make_rows(target), zeros).nats == NORMAL.scatter(make_rows(target), zeros).nats


# ---- outliers ------------------------------------------------------------------------------------


@pytest.fixture
def with_outliers(target):
    spoiled = target.copy()
    spoiled[::8] += 30.0
    return spoiled


def test_heavy_tails_are_at_least_as_likely_as_by_the_best_student_distribution():
    target = VALUES + stats.t.rvs(2, size=VALUES.size, random_state=1)
    scatter = STUDENT.scatter(make_rows(target), VALUES)

    def nats(degrees):
        return minimize_scalar(
            lambda log: -stats.t.logpdf(target, degrees, VALUES, math.exp(log)).sum(), bounds=(-6, 3), method="bounded"
        ).fun

    best = min(map(nats, DEGREES))
    assert best - 5 < scatter.nats < best + 1e-4


def test_gross_outliers_have_the_likelihood_of_normal_errors_with_some_that_are_anywhere(with_outliers):
    scatter = STUDENT.scatter(make_rows(with_outliers), VALUES)
    share, deviation = scatter.numbers["share of outliers"], scatter.numbers["standard deviation"]
    errors = with_outliers - VALUES
    density = (1 - share) * stats.norm.pdf(errors, 0, deviation) + share / (2 * np.abs(errors).max())
    assert scatter.nats == pytest.approx(-np.log(density).sum(), abs=1e-3)
    assert share == pytest.approx(np.mean(np.abs(errors) > 10), abs=0.01)


@pytest.mark.parametrize("model", [NORMAL, RELATIVE, STUDENT])
@given(
    target=arrays(np.float64, 12, elements=st.floats(-1e45, 1e45)),
    values=arrays(np.float64, 12, elements=st.floats(-1e60, 1e60)),
)
def test_no_values_of_a_formula_make_a_model_fail(model, target, values):
    assume(has_ordinary_size(target))
    size = np.abs(target).max() or 1.0
    rows = MeasuredRows(target, np.ones(12), 1e-13 * size)
    with np.errstate(all="ignore"):
        scatter = model.scatter(rows, np.clip(values, -LARGEST_VALUE_SHARE * size, LARGEST_VALUE_SHARE * size))
    assert not math.isnan(scatter.nats)


def test_outliers_get_little_weight(with_outliers):
    precisions = STUDENT.scatter(make_rows(with_outliers), VALUES).precisions
    is_outlier = np.arange(N_ROWS) % 8 == 0
    assert precisions[is_outlier].max() < 0.01 * np.median(precisions[~is_outlier])


def test_a_law_that_most_rows_follow_exactly_is_exact():
    spoiled = VALUES.copy()
    spoiled[:10] += 5.0
    assert STUDENT.scatter(make_rows(spoiled), VALUES).is_exact


def test_weights_that_are_all_alike_change_no_likelihood(with_outliers):
    rows = make_rows(with_outliers, weights=np.full(N_ROWS, 7.0), mean_weight=7.0)
    for model in (NORMAL, RELATIVE, STUDENT):
        assert model.scatter(rows, VALUES).nats == model.scatter(make_rows(with_outliers), VALUES).nats


# ---- counts and shares ---------------------------------------------------------------------------


def test_counts_have_the_likelihood_of_a_poisson_distribution(rng):
    counts = rng.poisson(VALUES).astype(float)
    scatter = POISSON.scatter(make_rows(counts), VALUES)
    assert scatter.nats == pytest.approx(-stats.poisson.logpmf(counts, VALUES).sum())
    np.testing.assert_allclose(scatter.precisions, 1 / VALUES)


def test_a_count_of_weight_2_was_measured_twice(rng):
    counts = rng.poisson(VALUES).astype(float)
    once = POISSON.scatter(make_rows(counts), VALUES).nats
    assert POISSON.scatter(make_rows(counts, mean_weight=2.0), VALUES).nats == pytest.approx(2 * once)


def test_shares_have_the_likelihood_of_a_binomial_distribution(rng):
    trials, chances = rng.integers(5, 50, N_ROWS).astype(float), np.linspace(0.05, 0.95, N_ROWS)
    shares = rng.binomial(trials.astype(int), chances) / trials
    scatter = BINOMIAL.scatter(make_rows(shares, weights=trials, mean_weight=trials.mean()), chances)
    assert scatter.nats == pytest.approx(-stats.binom.logpmf(np.rint(trials * shares), trials, chances).sum())
    np.testing.assert_allclose(scatter.precisions, trials / (chances * (1 - chances)))


@pytest.mark.parametrize(
    ("model", "target", "values"),
    [
        (POISSON, [1.0, 2.0], [-1.0, 2.0]),
        (POISSON, [1.0, 2.0], [0.0, 2.0]),
        (BINOMIAL, [0.5, 1.0], [0.5, 1.5]),
        (BINOMIAL, [0.5, 0.0], [0.5, -0.1]),
    ],
)
def test_what_a_formula_forbids_is_impossible(model, target, values):
    assert model.scatter(make_rows(np.array(target)), np.array(values)).nats == math.inf


def test_a_rate_of_0_may_count_nothing():
    assert POISSON.scatter(make_rows(np.array([0.0, 3.0])), np.array([0.0, 3.0])).nats < math.inf


@pytest.mark.parametrize(
    ("model", "target", "message"),
    [
        (POISSON, [3.0, -1.0], "The target is not a count in 1 of 2 rows: -1 in row 1. Counts are whole numbers of 0"),
        (POISSON, [0.5, 1.5], "The target is not a count in 2 of 2 rows: 0.5 in row 0."),
        (BINOMIAL, [0.5, 1.5], "The target is not a share in 1 of 2 rows: 1.5 in row 1. Shares lie between 0 and 1"),
        (BINOMIAL, [-0.5, 0.5], "The target is not a share in 1 of 2 rows: -0.5 in row 0."),
    ],
)
def test_targets_that_a_model_cannot_produce_are_refused(model, target, message):
    with pytest.raises(DataError) as caught:
        check_targets(model, np.array(target), "row {}".format)
    assert message in str(caught.value)


# ---- all models ----------------------------------------------------------------------------------

TARGETS = MappingProxyType(
    {
        "normal": VALUES + np.sin(np.arange(N_ROWS)),
        "student": VALUES + np.tan(np.arange(N_ROWS)),
        "poisson": np.rint(VALUES + np.sqrt(VALUES) * np.sin(np.arange(N_ROWS))),
        "binomial": np.clip(VALUES / 50 + 0.1 * np.sin(np.arange(N_ROWS)), 0, 1),
    }
)


@pytest.mark.parametrize("name", TARGETS)
def test_weighted_least_squares_moves_values_along_the_slope_of_the_likelihood(name):
    """Precision times residual is the slope of the log-likelihood: so where a weighted fit stops, the likelihood is highest."""
    model, rows = NOISE_MODELS[name], make_rows(TARGETS[name])
    values = VALUES / 50 if name == "binomial" else VALUES
    expected = model.scatter(rows, values).precisions * (rows.target - values)
    for row in range(0, N_ROWS, 7):
        step = 1e-5 * values[row]
        shifted = np.where(np.arange(N_ROWS) == row, step, 0.0)
        rise = model.scatter(rows, values - shifted).nats - model.scatter(rows, values + shifted).nats
        assert rise / (2 * step) == pytest.approx(expected[row], rel=2e-3, abs=1e-4)


def second_differences(density, errors, step):
    above, middle, below = (-np.log(density(errors + sign * step)) for sign in (1, 0, -1))
    return (above - 2 * middle + below) / step**2


def test_curvatures_of_heavy_tails_are_the_second_derivatives_of_their_likelihood():
    target = TARGETS["student"]
    scatter = STUDENT.scatter(make_rows(target), VALUES)
    student = stats.t(scatter.numbers["degrees of freedom"], scale=scatter.numbers["scale"])
    expected = second_differences(student.pdf, VALUES - target, 1e-3)
    np.testing.assert_allclose(scatter.curvatures, expected, atol=1e-5 * expected.max())


def test_curvatures_of_outliers_are_the_second_derivatives_of_their_likelihood():
    target = VALUES + np.sin(np.arange(N_ROWS))
    target[::5] += 1e4
    scatter = STUDENT.scatter(make_rows(target), VALUES)
    share, scale = scatter.numbers["share of outliers"], scatter.numbers["standard deviation"]
    width = 2 * np.abs(target - VALUES).max()
    expected = second_differences(
        lambda errors: (1 - share) * stats.norm.pdf(errors, scale=scale) + share / width, VALUES - target, 1e-3
    )
    np.testing.assert_allclose(scatter.curvatures, expected, atol=1e-3 * expected.max())  # the fit ends at 1e-4


@pytest.mark.parametrize("name", NOISE_MODELS)
def test_models_are_found_by_their_names(name):
    assert find_noise_model(name).name == name
    assert str(check_noise(name)) == name
    assert decode_noise(encode_noise(find_noise_model(name))) == name


@pytest.mark.parametrize("name", ["gaussian", "", None, 3, "Normal"])
def test_another_name_is_refused_with_those_there_are(name):
    with pytest.raises(
        SettingError, match="must be one of auto, normal, relative, student, poisson, binomial, or a Loss"
    ):
        check_noise(name)


def test_a_constant_begins_at_the_median_where_outliers_are_expected_and_at_the_mean_elsewhere():
    target, weights = np.array([0.0, 1.0, 50.0]), np.array([1.0, 1.0, 2.0])
    centres = {name: model.centre(target, weights) for name, model in NOISE_MODELS.items()}
    assert centres.pop("student") == 1.0
    assert set(centres.values()) == {25.25}


def test_no_two_models_have_the_same_noun():
    assert len({model.noun for model in NOISE_MODELS.values()}) == len(NOISE_MODELS)


# ---- a loss of the user --------------------------------------------------------------------------


def test_the_model_of_squares_is_normal_noise(target):
    model = find_noise_model(Loss("squares", lambda y, f: (f - y) ** 2))
    own, normal = (each.scatter(make_rows(target), VALUES) for each in (model, NORMAL))
    assert own.nats == pytest.approx(normal.nats, rel=1e-6)
    np.testing.assert_allclose(own.precisions / own.precisions[0], np.ones(N_ROWS), rtol=1e-4)


def test_a_loss_cannot_have_the_name_of_a_model():
    with pytest.raises(SettingError, match="A loss cannot be called 'normal': that is a noise model"):
        find_noise_model(Loss("normal", lambda y, f: abs(f - y)))


def test_a_constant_that_meets_many_equal_targets_is_no_exact_law(rng):
    target = np.where(np.arange(60) < 40, 0.0, rng.uniform(1, 5, 60))
    scatter = STUDENT.scatter(make_rows(target), np.zeros(60))
    assert not scatter.is_exact
    assert scatter.equivalent_error(FLOOR) > 1e-3
