"""Description lengths: what makes a formula dear."""

import math

import numpy as np
import pytest

from spl import SPLRegressor
from spl.data.dataset import Dataset
from spl.errors import DoubtfulResult
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.description_length import (
    ARITHMETIC_SHARE,
    FUNCTION_SHARE,
    LEAF_SHARE,
    bayes_criterion,
    count_functions,
    count_numbers,
    description_length,
    equation_nats,
    formula_nats,
)
from spl.regression.fit import fit, fit_constant

WORDS = Vocabulary(("x", "y"))


def read(text, words=WORDS):
    return parse_expression(text, words)


def test_the_code_of_formulas_is_one_that_can_be_read_back():
    """The shares of what a token may be are at most 1 together (Kraft), so no formula costs less than a code could."""
    assert LEAF_SHARE + ARITHMETIC_SHARE + FUNCTION_SHARE == 1


def test_more_columns_make_a_column_dearer():
    wide = Vocabulary(tuple(f"x{k}" for k in range(40)))
    assert formula_nats(read("x0*x1", wide)) > formula_nats(read("x*y")) + 2 * math.log(10)


@pytest.mark.parametrize(
    ("cheap", "dear"), [("x*y", "x/y"), ("x + y", "sin(x + y)"), ("x", "x + y"), ("x - y", "sin(x)*y")]
)
def test_orders_that_mean_the_same_share_their_price_and_functions_are_dear(cheap, dear):
    assert formula_nats(read(cheap)) < formula_nats(read(dear))


def test_clean_numbers_are_counted_like_fitted_ones():
    assert count_numbers(read("2*x + 0.5")) == count_numbers(read("C*x + C")) == 2


def test_numbers_without_a_known_precision_cost_half_the_logarithm_of_the_rows():
    line, bare = Candidate(read("C*x"), 1.0), Candidate(read("C*x"), 1.0, number_nats=0.0)
    n_rows, n_left = 100, 97
    longer = description_length(line, n_rows, 0.0) - description_length(bare, n_rows, 0.0)
    assert longer == pytest.approx(0.5 * math.log(n_rows) * n_rows / n_left)


def test_a_fast_wave_in_noise_is_not_worth_its_price():
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(rng.uniform(-3, 3, (60, 2)), rng.normal(size=60), names=["x", "y"])
    constant = description_length(fit_constant(data, WORDS), data.n_rows, data.floor)
    waves = [
        fit(read("C*sin(C*x + C)").with_constants([1.0, frequency, 0.1]), data) for frequency in np.arange(1, 60, 0.4)
    ]
    assert min(description_length(wave, data.n_rows, data.floor) for wave in waves) > constant


@pytest.mark.search
@pytest.mark.parametrize("seed", range(2))
def test_unrelated_columns_are_said_to_explain_nothing(seed):
    rng = np.random.default_rng(100 + seed)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    with pytest.warns(DoubtfulResult, match="do not explain"):
        model = SPLRegressor(max_evaluations=1_500, random_state=seed).fit(X, y)
    assert not model.sympy().free_symbols


def test_a_function_makes_an_equation_of_a_system_dearer_than_a_product_of_the_same_cost():
    assert read("sin(x)").cost < read("x*y").cost
    assert equation_nats(read("sin(x)"), 100) > equation_nats(read("x*y"), 100)


def test_a_constant_of_an_equation_costs_half_the_logarithm_of_the_observations():
    dearer = equation_nats(read("C*x"), 400) - equation_nats(read("C*x"), 100)
    assert dearer == pytest.approx(0.5 * math.log(4))


def test_the_bayesian_criterion_prefers_fewer_parameters_and_a_lower_loss():
    def value(text, loss):
        return bayes_criterion(Candidate(read(text), loss), 100, 0.0)

    assert value("x", 1.0) < value("C*x", 1.0)
    assert value("C*x", 0.5) < value("C*x", 1.0)
    assert value("C*x", 1.0) - value("x", 1.0) == pytest.approx(0.5 * 3 * math.log(100))


def test_powers_that_are_whole_are_no_functions():
    assert [count_functions(read(text)) for text in ("x**2", "-x/y", "exp(sin(x))", "x**C")] == [0, 0, 2, 1]
