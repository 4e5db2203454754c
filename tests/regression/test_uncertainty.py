"""Standard errors and intervals of constants: against textbooks, scipy, and simulated tables."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from spl import Loss
from spl.bench.trust_coverage import DECAY, LAWS, measure_coverage
from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import AUTO, BINOMIAL, NORMAL, POISSON, RELATIVE, STUDENT, find_noise_model
from spl.regression.fit import POLISH_EFFORT, fit
from spl.regression.noise_choice import NoiseChoice
from spl.regression.uncertainty import UNDETERMINED, correlate_numbers, know_numbers, measure_curvature, rows_of_fit

N_ROWS = 60


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def x(rng):
    return rng.uniform(0.5, 4.0, N_ROWS)


def make_data(x, y, noise=None, **given):
    return replace(Dataset.from_arrays(x[:, np.newaxis], y, names=["x"], **given), noise=noise)


def make_program(text, *constants):
    return parse_expression(text, Vocabulary(("x",))).with_constants(np.array(constants))


def fit_program(text, constants, data):
    program = make_program(text, *constants)
    for _ in range(5):  # reweighting settles
        program = fit(program, data, effort=POLISH_EFFORT).program
    return program


def errors_of(text, constants, data):
    return measure_curvature(fit_program(text, constants, data), data).standard_errors


def test_errors_of_a_line_are_those_of_the_textbook(x, rng):
    y = 2 * x + 1 + rng.normal(size=N_ROWS)
    expected = stats.linregress(x, y)
    found = errors_of("C*x + C", (2.0, 1.0), make_data(x, y))
    np.testing.assert_allclose(found, [expected.stderr, expected.intercept_stderr], rtol=1e-6)


def test_errors_of_a_curve_are_those_of_scipy(x, rng):
    y = 3 * np.exp(-0.6 * x) + 0.1 * rng.normal(size=N_ROWS)
    _, covariance = curve_fit(lambda x, a, b: a * np.exp(-b * x), x, y, (3, 0.6))
    found = errors_of("C*exp(-C*x)", (3.0, 0.6), make_data(x, y))
    np.testing.assert_allclose(found, np.sqrt(np.diag(covariance)), rtol=1e-3)


def test_weights_are_inverse_variances(x, rng):
    weights = rng.uniform(0.2, 5.0, N_ROWS)
    y = 2 * x + 1 + rng.normal(size=N_ROWS) / np.sqrt(weights)
    _, covariance = curve_fit(lambda x, a, b: a * x + b, x, y, sigma=1 / np.sqrt(weights))
    found = errors_of("C*x + C", (2.0, 1.0), make_data(x, y, weights=weights))
    np.testing.assert_allclose(found, np.sqrt(np.diag(covariance)), rtol=1e-5)


def test_error_bars_that_are_large_enough_say_how_large_the_noise_is(x, rng):
    sigma = rng.uniform(0.5, 2.0, N_ROWS)
    y = 2 * x + 1 + 0.5 * sigma * rng.normal(size=N_ROWS)
    _, covariance = curve_fit(lambda x, a, b: a * x + b, x, y, sigma=sigma, absolute_sigma=True)
    found = errors_of("C*x + C", (2.0, 1.0), make_data(x, y, NORMAL, sigma=sigma))
    np.testing.assert_allclose(found, np.sqrt(np.diag(covariance)), rtol=1e-5)


def test_error_bars_that_are_too_small_are_multiplied(x, rng):
    sigma = rng.uniform(0.5, 2.0, N_ROWS)
    y = 2 * x + 1 + 3 * sigma * rng.normal(size=N_ROWS)
    _, covariance = curve_fit(lambda x, a, b: a * x + b, x, y, sigma=sigma)
    found = errors_of("C*x + C", (2.0, 1.0), make_data(x, y, NORMAL, sigma=sigma))
    np.testing.assert_allclose(found, np.sqrt(np.diag(covariance)), rtol=1e-5)


def test_counts_have_errors_without_an_estimate_of_the_noise(rng):
    counts = rng.poisson(7.0, N_ROWS).astype(float)
    found = errors_of("C", (7.0,), make_data(np.ones(N_ROWS), counts, POISSON))
    assert found == pytest.approx(math.sqrt(counts.mean() / N_ROWS), rel=1e-4)


def test_shares_have_errors_of_their_trials(rng):
    shares = rng.binomial(20, 0.3, N_ROWS) / 20
    data = make_data(np.ones(N_ROWS), shares, BINOMIAL, weights=np.full(N_ROWS, 20.0))
    chance = shares.mean()
    assert errors_of("C", (0.3,), data) == pytest.approx(math.sqrt(chance * (1 - chance) / N_ROWS / 20), rel=1e-4)


def test_relative_noise_gives_errors_in_proportion_to_the_value(x, rng):
    y = 5 * x * (1 + 0.1 * rng.normal(size=N_ROWS))
    found = errors_of("C*x", (5.0,), make_data(x, y, RELATIVE))
    assert found == pytest.approx(5 * np.std(y / x / 5) / math.sqrt(N_ROWS), rel=0.05)


def test_outliers_hardly_change_the_errors_of_a_robust_fit(x, rng):
    y = 2 * x + 1 + 0.1 * rng.normal(size=N_ROWS)
    clean = errors_of("C*x + C", (2.0, 1.0), make_data(x, y))
    y[::10] += 50.0
    assert errors_of("C*x + C", (2.0, 1.0), make_data(x, y, STUDENT)) == pytest.approx(clean, rel=0.3)


def test_a_loss_of_squares_has_the_errors_of_least_squares(x, rng):
    y = 2 * x + 1 + rng.normal(size=N_ROWS)
    squares = find_noise_model(Loss("my squares", lambda y, f: (f - y) ** 2))
    found = errors_of("C*x + C", (2.0, 1.0), make_data(x, y, squares))
    assert found == pytest.approx(
        errors_of("C*x + C", (2.0, 1.0), make_data(x, y)), rel=0.2
    )  # a sandwich scatters itself


def test_the_error_of_a_median_follows_the_density_at_the_middle(rng):
    n_rows = 4000
    absolute = find_noise_model(Loss("absolute", lambda y, f: abs(f - y)))
    data = make_data(np.ones(n_rows), 5 + rng.normal(size=n_rows), absolute)
    assert errors_of("C", (5.0,), data) == pytest.approx(math.sqrt(math.pi / 2 / n_rows), rel=0.1)


def test_few_rows_have_wider_intervals_than_their_errors_say(rng):
    data = make_data(np.arange(4.0), np.array([1.0, 2.5, 2.5, 4.0]))
    curvature = measure_curvature(fit_program("C*x + C", (1.0, 1.0), data), data)
    assert curvature.quantile(0.95) == pytest.approx(stats.t.ppf(0.975, 2))


def test_counts_have_normal_quantiles(rng):
    data = make_data(np.ones(5), np.array([3.0, 4.0, 8.0, 5.0, 5.0]), POISSON)
    assert measure_curvature(make_program("C", 5.0), data).quantile(0.95) == pytest.approx(1.96, abs=1e-3)


def test_rows_without_weight_do_not_count(x, rng):
    y = 2 * x + rng.normal(size=N_ROWS)
    weights = np.where(np.arange(N_ROWS) < 40, 1.0, 0.0)
    some = rows_of_fit(make_data(x, y, weights=weights), NoiseChoice("normal"), AUTO)
    assert errors_of("C*x", (2.0,), some) == pytest.approx(errors_of("C*x", (2.0,), make_data(x[:40], y[:40])))


def test_the_noise_model_is_the_one_of_the_answer(x):
    assert rows_of_fit(make_data(x, x), NoiseChoice("relative"), AUTO).noise is RELATIVE


def test_plain_least_squares_has_no_noise_model(x):
    assert rows_of_fit(make_data(x, x), NoiseChoice("normal"), AUTO).noise is None


# ---- numbers -------------------------------------------------------------------------------------


def test_numbers_have_their_printed_sign(x, rng):
    data = make_data(x, 5 - 2.3 * x + rng.normal(size=N_ROWS))
    [number, slope] = know_numbers(fit_program("C - C*x", (5.0, 2.3), data), data)
    assert number.lower < number.value < number.upper
    assert slope.lower < slope.value < slope.upper < 0


def test_a_rounded_number_has_the_interval_it_would_have_if_fitted(x, rng):
    data = make_data(x, 3.001 * x + 0.01 * rng.normal(size=N_ROWS))
    [rounded] = know_numbers(make_program("3*x"), data)
    [fitted] = know_numbers(fit_program("C*x", (3.0,), data), data)
    assert (rounded.kind, rounded.simple) == ("rounded", "3")
    slack = 0.05 * fitted.standard_error * 4  # residuals of the rounded number are a little larger
    assert (rounded.lower, rounded.upper) == pytest.approx((fitted.lower, fitted.upper), abs=slack)


def test_a_number_of_the_grammar_is_exact(x):
    [number] = know_numbers(make_program("9.81*x"), make_data(x, 9.7 * x), given=(9.81,))
    assert number.kind == "exact"
    assert math.isnan(number.standard_error)


def test_a_fitted_number_near_a_fraction_is_said_to_be_it(x):
    data = make_data(x, 2 / 3 * x + 1e-3 * np.cos(50 * x))
    [number] = know_numbers(fit_program("C*x", (0.7,), data), data)
    assert number.simple == "2/3"


def test_a_number_known_to_one_digit_has_no_simple_form(x, rng):
    data = make_data(x, 0.68 * x + rng.normal(size=N_ROWS))
    [number] = know_numbers(fit_program("C*x", (0.7,), data), data)
    assert number.simple == ""


def test_an_exact_law_has_errors_of_the_size_of_rounding(x):
    data = make_data(x, 2.7182 * x**2)
    [number] = know_numbers(fit_program("C*x**2", (2.7,), data), data)
    assert 0 < number.standard_error < 1e-12


def test_a_formula_without_numbers_has_none(x):
    assert know_numbers(make_program("sin(x)"), make_data(x, x)) == []


def test_constants_that_can_replace_each_other_are_not_determined(x, rng):
    data = make_data(x, 6 * x + rng.normal(size=N_ROWS))
    numbers = know_numbers(make_program("C*(C*x)", 2.0, 3.0), data)
    assert [(number.standard_error, number.lower, number.note) for number in numbers] == [
        (math.inf, -math.inf, UNDETERMINED)
    ] * 2


def test_a_constant_on_which_nothing_depends_is_not_determined(x, rng):
    data = make_data(x, 6 * x + rng.normal(size=N_ROWS))
    first, second = know_numbers(make_program("C*x + exp(-1000 - C*x)", 6.0, 1.0), data, given=(1000.0,))[::2]
    assert math.isfinite(first.standard_error)
    assert second.note == UNDETERMINED


def test_rounded_numbers_that_others_can_replace_leave_the_fitted_one_its_error(x):
    data = make_data(x, 0.5 * x / (2 + 0.71 * x) + 1e-3 * np.cos(50 * x))
    half, two, fitted = know_numbers(fit_program("0.5*x/(2 + C*x)", (0.7,), data), data)
    assert (half.kind, two.kind) == ("exact", "exact")
    assert 0 < fitted.standard_error < 0.01


def test_with_as_many_numbers_as_rows_nothing_is_known():
    data = make_data(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    assert [number.note for number in know_numbers(make_program("C*x + C", 2.0, -1.0), data)] == [UNDETERMINED] * 2


def test_offset_and_slope_are_correlated_as_they_are_printed(x, rng):
    data = make_data(x, 5 - 2.3 * x + rng.normal(size=N_ROWS))
    expected = -x.mean() / math.sqrt((x**2).mean())
    numbers, found = correlate_numbers(fit_program("C - C*x", (5.0, 2.3), data), data)
    assert [number.value > 0 for number in numbers] == [True, False]
    np.testing.assert_allclose(found, [[1, expected], [expected, 1]], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-90, 1e-30, 1e30, 1e90])
def test_errors_do_not_depend_on_units(x, rng, unit):
    y = 5 - 2.3 * x + rng.normal(size=N_ROWS)
    plain, scaled = (make_data(x / factor, factor * y) for factor in (1.0, unit))
    expected = errors_of("C + C*x", (5.0, -2.3), plain) * [unit, unit**2]
    found = errors_of("C + C*x", (5.0 * unit, -2.3 * unit**2), scaled)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


# ---- coverage ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.text)
@pytest.mark.parametrize("n_rows", [20, 200])
def test_19_of_20_intervals_hold_the_true_constant(law, n_rows):
    assert 0.9 <= measure_coverage(law, 0.1, n_rows, 100).shares[0] <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("model", [RELATIVE, STUDENT, POISSON], ids=str)
def test_19_of_20_intervals_hold_the_true_constant_under_other_noise(model):
    assert 0.9 <= measure_coverage(DECAY, 0.1, 200, 100, model=model).shares[0] <= 0.99
