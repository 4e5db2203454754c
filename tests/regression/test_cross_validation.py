"""Cross-validated losses."""

import math
from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import NORMAL, POISSON, STUDENT
from spl.regression.candidate import Candidate
from spl.regression.cross_validation import MAX_CROSS_ROWS, N_FOLDS, cross_losses
from spl.regression.doubts import find_dependence
from spl.regression.fit import fit, fit_constant, loss_of

WORDS = Vocabulary(("x",))
X = np.linspace(0.5, 4.0, 40)


def make_data(target, x=X, **more):
    return Dataset.from_arrays(x[:, np.newaxis], target, names=["x"], **more)


def cross(text, data, given=()):
    program = fit(parse_expression(text, WORDS), data).program
    return cross_losses([program], data, given)[0]


def leave_parts_out_slowly(basis, data):
    """Cross-validate a formula that is linear in its numbers, from the definition."""
    random = np.random.default_rng(0)
    rows = data.sort()
    parts = random.permutation(rows.n_rows) % N_FOLDS
    squares = 0.0
    for part in range(N_FOLDS):
        inside, outside = parts != part, parts == part
        design = np.column_stack([function(rows.columns[0]) for function in basis])
        roots = np.sqrt(rows.weights[inside])
        solution = np.linalg.lstsq(design[inside] * roots[:, np.newaxis], rows.target[inside] * roots)[0]
        squares += np.sum(rows.weights[outside] * (rows.target[outside] - design[outside] @ solution) ** 2)
    return math.sqrt(squares / rows.n_rows)


def test_it_is_the_loss_of_rows_that_the_numbers_were_not_fitted_to(rng):
    data = make_data(2 * X - 1 + 0.3 * rng.standard_normal(40))
    expected = leave_parts_out_slowly([lambda x: x, np.ones_like], data)
    assert cross("C*x + C", data) == pytest.approx(expected, rel=1e-6)


def test_weights_count_in_fits_and_in_the_loss(rng):
    data = make_data(2 * X - 1 + 0.3 * rng.standard_normal(40), weights=rng.uniform(0.1, 3.0, 40))
    expected = leave_parts_out_slowly([lambda x: x, np.ones_like], data)
    assert cross("C*x + C", data) == pytest.approx(expected, rel=1e-6)


def test_it_does_not_depend_on_the_order_of_the_rows(rng):
    data = make_data(2 * X + rng.standard_normal(40))
    assert cross("C*x", data.take(rng.permutation(40))) == pytest.approx(cross("C*x", data), rel=1e-9)


def test_superfluous_numbers_lower_the_loss_but_not_this_one(rng):
    target = 2 * X + 0.5 * rng.standard_normal(40)
    data = make_data(target)
    wiggly = "C*x + C*sin(3*x) + C*sin(5*x) + C*sin(7*x) + C*sin(9*x) + C*sin(11*x) + C*sin(13*x) + C*sin(15*x)"
    programs = [fit(parse_expression(text, WORDS), data).program for text in ("C*x", wiggly)]
    assert loss_of(programs[1], data) < loss_of(programs[0], data)
    losses = cross_losses(programs, data)
    assert losses[1] > losses[0]


def test_rounded_numbers_are_fitted_again_but_those_of_the_grammar_are_not():
    data = make_data(3 * X)
    assert cross_losses([parse_expression("2*x", WORDS)], data)[0] < 1e-9
    assert cross_losses([parse_expression("2*x", WORDS)], data, given=(2.0,))[0] > 1.0


def test_counts_are_fitted_and_judged_by_their_likelihood(rng):
    data = replace(make_data(rng.poisson(6 * X).astype(float)), noise=POISSON)
    program = fit(parse_expression("C*x", WORDS), data).program
    [crossed] = cross_losses([program], data)
    assert loss_of(program, data) < crossed < 1.1 * loss_of(program, data)


def test_an_outlier_hardly_moves_the_fits_of_a_robust_model(rng):
    target = 2 * X + 0.1 * rng.standard_normal(40)
    target[7] = 500.0
    data = make_data(target)
    assert cross("C*x", replace(data, noise=STUDENT)) < 0.1 * cross("C*x", data)


def test_error_bars_of_columns_count(rng):
    data = make_data(2 * X + 0.3 * rng.standard_normal(40), sigma=np.full(40, 0.1), sigma_columns=[[0.15]] * 40)
    rows = replace(data, noise=NORMAL)
    program = fit(parse_expression("C*x", WORDS), rows).program
    [crossed] = cross_losses([program], rows)
    assert loss_of(program, rows) <= crossed < 1.2 * loss_of(program, rows)


def test_few_rows_are_left_out_one_by_one_and_one_row_says_nothing():
    assert math.isfinite(cross("C*x", make_data(2 * X[:3] + np.array([0.1, -0.1, 0.1]), X[:3])))
    assert math.isnan(cross_losses([parse_expression("2*x", WORDS)], make_data(X[:1], X[:1]))[0])


def test_a_formula_without_a_value_has_an_infinite_loss():
    assert cross_losses([parse_expression("log(x - 1)", WORDS)], make_data(X))[0] == math.inf


def test_many_rows_are_sampled(rng):
    x = rng.uniform(0, 1, 10 * MAX_CROSS_ROWS)
    data = make_data(2 * x + 0.5 * rng.standard_normal(x.size), x)
    assert cross("C*x", data) == pytest.approx(0.5, rel=0.1)


# ---- the note ------------------------------------------------------------------------------------


def test_a_formula_that_rests_on_one_row_is_doubted(rng):
    x = np.append(rng.uniform(0, 1, 30), 100.0)
    target = np.append(rng.standard_normal(30), 100.0)
    data = make_data(target, x)
    chosen = fit(parse_expression("C*x**2", WORDS), data)
    [note] = find_dependence(chosen, data, ())
    assert note.startswith("The columns hardly explain the target")


def test_a_law_is_not_doubted(rng):
    data = make_data(X**2 + rng.standard_normal(40))
    assert find_dependence(fit(parse_expression("C*x**2", WORDS), data), data, ()) == ()


def test_a_constant_is_not_doubted():
    data = make_data(np.sin(99 * X))
    assert find_dependence(fit_constant(data, WORDS), data, ()) == ()
    assert find_dependence(Candidate(parse_expression("x", WORDS), loss=99.0), data, ()) == ()
