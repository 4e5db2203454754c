"""The fit of constants against numpy's and scipy's least squares, at all sizes of data and constants."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from tests.kernels.program_twins import CONSTANT, count_constants, evaluate_slowly, programs
from tests.kernels.search_twins import fewer

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import Alphabet
from spl.kernels.programs.fit import FitEffort, fit_program
from spl.kernels.programs.normal_equations import FIT_WORK, FitTable
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.derivation import DERIVATION

WORDS = Vocabulary(("x", "y"))
N_ROWS = fewer(120, 16)
PLAIN = FitEffort(n_starts=1, n_scans=0, max_iterations=50, tolerance=1e-14)
HARD = FitEffort(n_starts=fewer(10, 3), n_scans=fewer(64, 16), max_iterations=60, tolerance=1e-12)
AS_GIVEN = FitEffort(n_starts=1, n_scans=0, max_iterations=0, tolerance=0.0)  # only evaluates the guess
EMPTY_USER = np.zeros((0, 3), np.int64)


def make_table(columns, target, weights=None):
    weights = np.ones(target.size) if weights is None else weights / weights.mean()
    mean = np.average(target, weights=weights)
    square = float(np.sum(weights * (target - mean) ** 2))
    return FitTable(np.ascontiguousarray(np.atleast_2d(columns), float), target, weights, max(square, 1e-300))


def fit_tokens(tokens, literals, table, guess=(), effort=PLAIN, seed=0):
    """Return the root mean square error and the constants of a fit."""
    program, work = make_record(DERIVATION), make_record(FIT_WORK)
    program.tokens[: len(tokens)] = tokens
    program.n_tokens = len(tokens)
    program.n_constants = count_constants(tokens)
    program.guesses[:] = np.nan
    program.guesses[: len(guess)] = guess
    alphabet = Alphabet(np.array(literals or (0.0,), float), EMPTY_USER)
    error = fit_program(program, alphabet, table, effort, work, np.array([seed], np.uint64))
    n_constants = min(count_constants(tokens), tk.MAX_CONSTANTS)
    return float(np.sqrt(error / table.target.size)), work.best[:n_constants].copy()


def fit_text(text, table, guess=(), effort=PLAIN, seed=0):
    program = parse_expression(text, WORDS)
    return fit_tokens(program.tokens, program.vocabulary.literals, table, guess, effort, seed)


def values_of(text, constants, columns):
    program = parse_expression(text, WORDS)
    return evaluate_slowly(program.tokens, constants, program.vocabulary.literals, np.atleast_2d(columns))


def loss_at(text, constants, table):
    residual = table.target - values_of(text, constants, table.columns)
    return float(np.sqrt(np.mean(table.weights * residual**2)))


def relative_noise(rng, values, share=0.02):
    return values + share * np.std(values) * rng.normal(size=values.size)


# --- constants that enter linearly


@pytest.mark.parametrize("is_weighted", [False, True])
def test_linear_constants_are_those_of_numpys_least_squares(rng, is_weighted):
    x, y = rng.uniform(-3, 3, (2, N_ROWS))
    target = relative_noise(rng, 2 * x - 5 * np.sin(y) + 3, 0.2)
    weights = rng.uniform(0.1, 4, N_ROWS) if is_weighted else np.ones(N_ROWS)
    loss, constants = fit_text("C*x + C*sin(y) - C*x*y + C", make_table([x, y], target, weights))
    root = np.sqrt(weights)
    design = np.stack([x, np.sin(y), -x * y, np.ones(N_ROWS)], axis=1)
    expected = np.linalg.lstsq(design * root[:, None], target * root, rcond=None)[0]
    np.testing.assert_allclose(constants, expected, rtol=1e-9)
    residual = target - design @ expected
    assert loss == pytest.approx(np.sqrt(np.average(residual**2, weights=weights)), rel=1e-12)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_units_do_not_change_a_linear_fit(rng, size, unit):
    x = rng.uniform(1, 3, N_ROWS)
    target = relative_noise(rng, 2 * x + 1)
    plain, constants = fit_text("C*x + C", make_table(x, target))
    loss, scaled = fit_text("C*x + C", make_table(x * unit, target * size))
    assert loss / size == pytest.approx(plain, rel=1e-9)
    np.testing.assert_allclose(scaled, constants * size / np.array([unit, 1.0]), rtol=1e-7)


def test_a_row_of_weight_0_does_not_count(rng):
    x = rng.uniform(-3, 3, N_ROWS)
    target = 2 * x + 1
    target[0] = 1e6
    weights = np.ones(N_ROWS)
    weights[0] = 0.0
    _, constants = fit_text("C*x + C", make_table(x, target, weights))
    np.testing.assert_allclose(constants, [2, 1], rtol=1e-9)


def test_twenty_constants_are_fitted(rng):
    x = rng.uniform(-np.pi, np.pi, max(N_ROWS, 48))
    waves = np.stack([np.cos(k * x) for k in range(20)], axis=1)
    expected = rng.normal(size=20)
    text = " + ".join(["C", *(f"C*cos({k}*x)" for k in range(1, 20))])
    loss, constants = fit_text(text, make_table(x, waves @ expected))
    assert loss < 1e-10
    np.testing.assert_allclose(constants, expected, rtol=1e-7)


def test_twenty_one_constants_have_no_fit(rng):
    x = rng.uniform(-1, 1, N_ROWS)
    loss, _ = fit_tokens([tk.ADD] * 20 + [CONSTANT] * 21, (), make_table(x, x))
    assert loss == np.inf


def test_more_constants_than_rows_still_have_a_fit():
    x = np.array([1.0, 2.0])
    loss, constants = fit_text("C*x + C*x**2 + C*x**3 + C", make_table(x, np.array([3.0, 7.0])))
    assert loss < 1e-9
    assert np.all(np.isfinite(constants))


def test_one_row_is_fitted():
    loss, _ = fit_text("C*x + C", make_table(np.array([2.0]), np.array([3.0])))
    assert loss < 1e-12


# --- constants that do not


NONLINEAR = [
    ("C*exp(C*x) + C", [2.0, -0.7, 0.5]),
    ("sin(C*x + C)", [1.3, 0.4]),
    ("C/(C + x)", [3.0, 1.5]),
    ("C*x**C", [1.7, 1.6]),
    ("C*log(x + C)", [2.0, 0.5]),
    ("C*sqrt(C*x + y)", [1.5, 0.8]),
    ("exp(C*x)*sin(C*y)", [-0.4, 1.2]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "truth"), NONLINEAR)
def test_no_start_of_scipy_finds_a_better_fit(rng, text, truth):
    columns = rng.uniform(0.5, 3, (2, N_ROWS))
    table = make_table(columns, relative_noise(rng, values_of(text, truth, columns)))
    loss, constants = fit_text(text, table, effort=HARD)

    def residual(p):
        values = values_of(text, p, columns)
        return np.where(np.isfinite(values), table.target - values, 1e6)

    starts = [truth, *rng.normal(size=(fewer(6, 2), len(truth)))]
    best = min(np.sqrt(2 * least_squares(residual, start).cost / N_ROWS) for start in starts)
    assert loss <= best * (1 + 1e-6)
    assert loss == pytest.approx(loss_at(text, constants, table), rel=1e-8)


@pytest.mark.parametrize(("text", "truth"), NONLINEAR)
def test_an_exact_law_is_fitted_to_rounding_error(rng, text, truth):
    columns = rng.uniform(0.5, 3, (2, N_ROWS))
    table = make_table(columns, values_of(text, truth, columns))
    loss, _ = fit_text(text, table, effort=HARD)
    assert loss < 1e-10 * np.std(table.target)


# In each the units of x and of the target are free: some constants carry them
@pytest.mark.parametrize("text_and_truth", [NONLINEAR[0], NONLINEAR[2], NONLINEAR[3]], ids=lambda case: case[0])
@pytest.mark.parametrize("unit", [1e-12, 1e-4, 1e4, 1e12][:: fewer(1, 3)])
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_units_do_not_change_a_nonlinear_fit(rng, text_and_truth, unit, size):
    text, truth = text_and_truth
    x = rng.uniform(0.5, 3, N_ROWS)
    target = relative_noise(rng, values_of(text, truth, x))
    plain, _ = fit_text(text, make_table(x, target), effort=HARD)
    loss, _ = fit_text(text, make_table(x * unit, target * size), effort=HARD)
    assert loss / size == pytest.approx(plain, rel=1e-5)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e3, 1e9])
def test_a_constant_of_any_size_is_found(rng, size):
    x = rng.uniform(0.5, 3, N_ROWS) * size
    target = 3 / (1.5 * size + x)
    loss, constants = fit_text("C/(C + x)", make_table(x, target), effort=HARD)
    assert loss < 1e-9 * np.std(target)
    np.testing.assert_allclose(constants, [3, 1.5 * size], rtol=1e-6)


def test_redundant_factors_do_not_hinder_the_fit(rng):
    x = rng.uniform(-3, 3, N_ROWS)
    loss, constants = fit_text("C*(C*x)", make_table(x, 6 * x))
    assert loss < 1e-13
    assert np.prod(constants) == pytest.approx(6)


def test_a_redundant_factor_stays_1(rng):
    x = rng.uniform(-3, 3, N_ROWS)
    _, constants = fit_text("C*(C*x)", make_table(x, 6 * x))
    assert sorted(constants) == pytest.approx([1, 6])


def test_constants_that_only_count_together_do_not_hinder_the_fit(rng):
    x = rng.uniform(0.5, 3, N_ROWS)
    loss, _ = fit_text("(C + C + x)*C + C", make_table(x, 3 * x - 2), effort=HARD)
    assert loss < 1e-12


def test_a_constant_without_effect_keeps_a_finite_value(rng):
    x = rng.uniform(0.5, 3, N_ROWS)
    loss, constants = fit_text("C*x + 0*sin(C)", make_table(x, 3 * x), effort=HARD)
    assert loss < 1e-12
    assert np.all(np.isfinite(constants))


def test_a_program_without_constants_has_the_loss_of_its_values(rng):
    x = rng.uniform(-3, 3, N_ROWS)
    weights = rng.uniform(0.5, 2, N_ROWS)
    table = make_table(x, np.cos(x), weights)
    loss, constants = fit_text("sin(x)", table)
    assert constants.size == 0
    assert loss == pytest.approx(np.sqrt(np.average((np.cos(x) - np.sin(x)) ** 2, weights=weights)), rel=1e-12)


# --- domains


@pytest.mark.parametrize("text", ["C*sqrt(x)", "C*log(x) + C", "C*x + 0/x", "x**C"])
def test_a_program_outside_its_domain_on_one_row_has_no_fit(text):
    x = np.linspace(-1.0, 5.0, 13)
    assert 0.0 in x
    loss, _ = fit_text(text, make_table(x, np.abs(x)), effort=HARD)
    assert loss == np.inf


def test_a_domain_that_depends_on_constants_is_found(rng):
    x = rng.uniform(0, 10, N_ROWS)
    target = np.sqrt(12 - x)
    loss, constants = fit_text("sqrt(C - x)", make_table(x, target), effort=HARD)
    assert loss < 1e-9
    assert constants[0] == pytest.approx(12)


def test_values_that_overflow_have_no_fit():
    x = np.linspace(1, 2, N_ROWS)
    loss, _ = fit_text("exp(exp(exp(9*x))) + C", make_table(x, x))
    assert loss == np.inf


# --- starts


def test_a_guess_in_the_right_valley_is_kept(rng):
    x = rng.uniform(-5, 5, N_ROWS)
    table = make_table(x, np.sin(7.3 * x + 0.4))
    loss, constants = fit_text("sin(C*x + C)", table, guess=[7.25, 0.35])
    assert loss < 1e-10
    np.testing.assert_allclose(constants, [7.3, 0.4], rtol=1e-8)


def test_the_same_seed_gives_the_same_constants(rng):
    columns = rng.uniform(0.5, 3, (2, N_ROWS))
    table = make_table(columns, relative_noise(rng, np.sin(3 * columns[0]) * columns[1]))
    results = [fit_text("C*sin(C*x)*y**C", table, effort=HARD, seed=5) for _ in range(2)]
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])


def loss_of_tokens(program, constants, table):
    values = evaluate_slowly(program, constants, (2.0, -0.5), table.columns)
    return float(np.sqrt(np.mean(table.weights * (table.target - values) ** 2)))


@pytest.mark.slow
@settings(max_examples=fewer(400, 30), deadline=None)
@given(programs(max_depth=4), st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_refitting_never_raises_the_loss(program, seed, max_iterations):
    rng = np.random.default_rng(seed)
    n_rows = fewer(30, 8)
    table = make_table(rng.normal(size=(2, n_rows)), rng.normal(size=n_rows), rng.uniform(0.1, 2, n_rows))
    guess = rng.normal(size=count_constants(program))
    before, _ = fit_tokens(program, (2.0, -0.5), table, guess, AS_GIVEN)
    effort = FitEffort(n_starts=2, n_scans=4, max_iterations=max_iterations, tolerance=1e-3)
    after, _ = fit_tokens(program, (2.0, -0.5), table, guess, effort)
    assert after <= before * (1 + 1e-12)


@pytest.mark.slow
@settings(max_examples=fewer(200, 20), deadline=None)
@given(programs(max_depth=4), st.integers(0, 2**32 - 1))
def test_the_loss_returned_is_that_of_the_constants_returned(program, seed):
    assume(CONSTANT in program)
    rng = np.random.default_rng(seed)
    n_rows = fewer(30, 8)
    table = make_table(rng.normal(size=(2, n_rows)), rng.normal(size=n_rows), rng.uniform(0.1, 2, n_rows))
    loss, constants = fit_tokens(program, (2.0, -0.5), table, (), HARD._replace(n_starts=2))
    assume(np.isfinite(loss))
    # A fitted exponent can make values that rounding moves by far more than their last place
    nudged = loss_of_tokens(program, constants * (1 + 1e-13), table)
    expected = loss_of_tokens(program, constants, table)
    assert abs(loss - expected) <= 1e-9 * expected + 100 * abs(nudged - expected) + 1e-12
