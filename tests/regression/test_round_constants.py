import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.candidate import Candidate
from spl.regression.fit import POLISH_EFFORT, fit
from spl.regression.round_constants import round_constants, simple_numbers_near

WORDS = Vocabulary(("x",))
FLOOR = 1e-11


def round_law(text, law, noise=0.0, n_rows=200):
    """Return the candidate before and after rounding its constants, fitted to a law with some noise."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 3, n_rows)
    error = rng.normal(size=n_rows)
    straight = np.polyfit(x, error, 1)  # left out, so that the best line through the noisy law is the law
    target = law(x) + noise * (error - np.polyval(straight, x))
    data = Dataset.from_arrays(x[:, None], target, names=["x"])

    def refit(program):
        return fit(program, data, effort=POLISH_EFFORT)

    fitted = fit(parse_expression(text, WORDS), data, effort=POLISH_EFFORT, reward=0.7)
    return fitted, round_constants(fitted, n_rows, FLOOR * data.spread, refit)


def numbers_of(candidate):
    """Return the literals that the program uses, in the order of their tokens."""
    program = candidate.program
    return [program.vocabulary.literals[token & 0xFFFF] for token in program.tokens if token >> 16 == 4]


@pytest.mark.parametrize(
    ("law", "numbers"),
    [
        (lambda x: 3 * x + 2, [3.0, 2.0]),
        (lambda x: 0.5 * x - 7, [0.5, -7.0]),
        (lambda x: math.pi * x + 1 / 3, [math.pi, 1 / 3]),
        (lambda x: 2.12 * x + 1.78, [2.12, 1.78]),
    ],
)
def test_the_numbers_of_an_exact_law_come_back_clean(law, numbers):
    _, cleaned = round_law("C*x + C", law)
    assert cleaned.program.n_constants == 0
    assert numbers_of(cleaned) == pytest.approx(numbers, abs=0)


def test_numbers_come_back_clean_through_a_little_noise():
    _, cleaned = round_law("C*x + C", lambda x: 3 * x + 2, noise=0.01)
    assert numbers_of(cleaned) == [3.0, 2.0]


def test_a_term_that_does_not_help_gets_the_number_0():
    _, cleaned = round_law("C*x + C*sin(x)", lambda x: 3 * x)
    assert numbers_of(cleaned) == [3.0, 0.0]


def test_a_number_that_is_not_simple_stays_fitted():
    fitted, cleaned = round_law("C*x", lambda x: 1.23456789 * x)
    assert cleaned.program == fitted.program


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.3])
def test_cleaning_costs_no_more_than_a_standard_error_for_each_constant(noise):
    fitted, cleaned = round_law("C*x**2 + C*x + C", lambda x: 3.1 * x**2 + 0.7 * x + 2, noise=noise)
    assert cleaned.loss <= max(fitted.loss * math.exp(3 / (2 * 200)), FLOOR * 20)


def test_the_reward_is_kept():
    _, cleaned = round_law("C*x + C", lambda x: 3 * x + 2)
    assert cleaned.reward == 0.7


def test_a_program_without_constants_stays_as_it_is():
    candidate = Candidate(parse_expression("x + 1", WORDS), 0.5)
    assert round_constants(candidate, 10, 0.0, lambda program: pytest.fail(to_text(program))) is candidate


@given(st.floats(-1e5, 1e5).filter(lambda value: abs(value) > 1e-3))
def test_simple_numbers_are_near_and_none_comes_twice(value):
    numbers = [number for number, _ in simple_numbers_near(value)]
    assert len(set(numbers)) == len(numbers)
    assert all(abs(number - value) <= 0.05 * abs(value) for number in numbers)


@pytest.mark.parametrize("value", [0.0, math.inf, -math.inf, math.nan])
def test_there_is_no_simple_number_near_0_or_infinity(value):
    assert list(simple_numbers_near(value)) == []


@pytest.mark.parametrize("value", [2.0, -7.0, 0.75, math.pi, -math.pi / 2, 0.48])
def test_a_simple_number_is_among_those_near_it(value):
    assert value in [number for number, _ in simple_numbers_near(value)]
