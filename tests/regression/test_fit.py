import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.program_twins import count_constants, evaluate_slowly, programs

from spl.data.dataset import Dataset
from spl.errors import ExpressionError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs.fit import FitEffort
from spl.regression.fit import POLISH_EFFORT, evaluate, fit, is_stable, root_mean_square_error

TRY_HARD = FitEffort(n_starts=8, n_scans=64, max_iterations=60, tolerance=1e-9)


def read(text, own=()):
    return parse_expression(text, Vocabulary(("x", "y"), own=own))


def make_data(rng, law, n_rows=100, weights=None):
    x, y = rng.uniform(0.5, 3, (2, n_rows))
    return Dataset.from_arrays(np.stack([x, y], axis=1), law(x, y), names=["x", "y"], weights=weights)


def test_a_program_has_its_values(rng):
    columns = rng.normal(size=(2, 1200))
    np.testing.assert_allclose(evaluate(read("x*y + 2"), columns), columns[0] * columns[1] + 2, rtol=1e-15)


def test_values_outside_the_domain_are_nan():
    values = evaluate(read("sqrt(x)"), np.array([[-1.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(values, [np.nan, 2.0])


def test_a_formula_too_long_for_a_fit_can_be_evaluated_but_is_refused_with_its_length():
    program = read(" + ".join(["x"] * 80 + ["C"]))
    assert evaluate(program.with_constants(np.array([1.0])), np.array([[2.0]])) == pytest.approx([161.0])
    with pytest.raises(ExpressionError, match="161 tokens"):
        fit(program, Dataset.from_arrays([[1.0], [2.0]], [1.0, 2.0], names=["x"]))


def test_columns_may_be_a_slice():
    columns = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(evaluate(read("x + y"), columns[:, ::2]), columns[:, ::2].sum(axis=0))


def test_a_constant_formula_has_a_value_on_each_row():
    assert evaluate(read("2"), np.zeros((2, 3))).tolist() == [2.0, 2.0, 2.0]


def test_the_error_is_the_weighted_root_mean_square(rng):
    weights = rng.uniform(0, 2, 100)
    data = make_data(rng, lambda x, y: x * y, weights=weights)
    expected = np.sqrt(np.average((data.target - data.columns[0]) ** 2, weights=weights))
    assert root_mean_square_error(read("x"), data) == pytest.approx(expected)


def test_the_error_outside_the_domain_is_infinite(rng):
    assert root_mean_square_error(read("log(x - 2)"), make_data(rng, lambda x, y: x)) == np.inf


def test_rows_of_weight_0_may_lie_outside_the_domain():
    data = Dataset.from_arrays([[-1.0, 0.0], [4.0, 0.0]], [5.0, 2.0], names=["x", "y"], weights=[0.0, 1.0])
    assert root_mean_square_error(read("sqrt(x)"), data) == 0.0


def test_an_error_that_overflows_is_infinite(rng):
    assert root_mean_square_error(read("exp(x*1000) ** 2"), make_data(rng, lambda x, y: x)) == np.inf


@pytest.mark.parametrize("text", ["C*x + C*y + C", "C*exp(C*x) + y", "C/(C + x)"])
def test_constants_are_fitted(rng, text):
    truth = read(text).with_constants(np.array([2.0, 0.5, 3.0][: read(text).n_constants]))
    data = make_data(rng, lambda x, y: evaluate(truth, np.array([x, y])))
    found = fit(read(text), data, effort=TRY_HARD)
    assert found.loss < 1e-9
    np.testing.assert_allclose(found.program.constants, truth.constants, rtol=1e-6)


def test_a_program_without_constants_is_only_judged(rng):
    program = read("x + y")
    found = fit(program, make_data(rng, lambda x, y: x + y + 1.0), reward=0.25)
    assert found.program is program
    assert (found.loss, found.reward) == (pytest.approx(1.0), 0.25)


def test_fitting_begins_at_the_constants_given(rng):
    data = make_data(rng, lambda x, y: np.sin(9.2 * x))
    found = fit(read("sin(C*x)").with_constants(np.array([9.1])), data, effort=POLISH_EFFORT)
    assert found.program.constants[0] == pytest.approx(9.2)


def test_constants_that_cannot_be_improved_stay_as_they_are(rng):
    program = read("C*x").with_constants(np.array([3.0]))
    assert fit(program, make_data(rng, lambda x, y: 3.0 * x)).program == program


def test_a_formula_without_a_place_in_the_domain_keeps_an_infinite_loss(rng):
    found = fit(read("C*log(0 - x)"), make_data(rng, lambda x, y: x))
    assert found.loss == np.inf


def test_the_fit_works_with_operators_of_the_user(rng):
    bump = Operator("bump", lambda a: np.exp(-a * a))
    data = make_data(rng, lambda x, y: 2 * np.exp(-((1.3 * x) ** 2)))
    found = fit(read("C*bump(C*x)", own=(bump,)), data, effort=TRY_HARD)
    np.testing.assert_allclose(np.abs(found.program.constants), [2.0, 1.3], rtol=1e-5)


@settings(max_examples=150, deadline=None)
@given(programs(max_depth=4), st.integers(0, 2**32 - 1))
def test_refitting_never_raises_the_loss(tokens, seed):
    rng = np.random.default_rng(seed)
    vocabulary = Vocabulary(("x", "y"), literals=(2.0, -0.5))
    program = Program(tuple(tokens), vocabulary, tuple(rng.normal(size=count_constants(tokens)).tolist()))
    data = Dataset.from_arrays(rng.normal(size=(30, 2)), rng.normal(size=30), names=["x", "y"])
    once = fit(program, data)
    assert once.loss <= root_mean_square_error(program, data) or not is_stable(once.program, data)
    assert fit(once.program, data).loss <= once.loss


@settings(max_examples=100, deadline=None)
@given(programs(max_depth=4), st.integers(0, 2**32 - 1))
def test_the_loss_is_that_of_the_program_returned(tokens, seed):
    rng = np.random.default_rng(seed)
    vocabulary = Vocabulary(("x", "y"), literals=(2.0, -0.5))
    program = Program(tuple(tokens), vocabulary, tuple(rng.normal(size=count_constants(tokens)).tolist()))
    data = Dataset.from_arrays(rng.normal(size=(30, 2)), rng.normal(size=30), names=["x", "y"])
    found = fit(program, data)
    assume(np.isfinite(found.loss))
    assert found.loss == pytest.approx(root_mean_square_error(found.program, data), rel=1e-6, abs=1e-12)


def test_the_twin_agrees(rng):
    columns = rng.uniform(0.5, 2, (2, 10))
    program = read("C*x**y + 2")
    expected = evaluate_slowly(program.tokens, [1.5], program.vocabulary.literals, columns)
    np.testing.assert_allclose(evaluate(program.with_constants(np.array([1.5])), columns), expected, rtol=1e-14)
