"""What numbers cost, against determinants by numpy from derivatives by differences."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs.normal_equations import FIT_WORK
from spl.kernels.programs.number_precision import number_nats
from spl.kernels.programs.prices import MOST_ERRORS
from spl.kernels.runtime.compiler import make_scratch
from spl.regression.fit import evaluate
from spl.regression.packing import pack_alphabet, pack_program, pack_table

WORDS = Vocabulary(("x", "y"))


def make_data(n_rows=60):
    rng = np.random.default_rng(1)
    table = rng.uniform(0.5, 2.0, (n_rows, 2))
    return Dataset.from_arrays(
        table, rng.normal(size=n_rows), names=WORDS.variables, weights=rng.uniform(0.5, 2, n_rows)
    )


def call(text, constants, noise, data):
    program = parse_expression(text, WORDS).with_constants(np.array(constants))
    alphabet = pack_alphabet(program.vocabulary)
    return number_nats(pack_program(program), alphabet, pack_table(data), noise, make_scratch(FIT_WORK))


def call_slowly(text, constants, noise, data):
    """Half the logarithm of det(1 + A A'), A the derivatives by the logarithms of the numbers over the noise."""
    program = parse_expression(text, WORDS)
    rows = []
    for k, value in enumerate(constants):
        step = 1e-6 * abs(value)
        up, down = (np.array(constants, float) for _ in range(2))
        up[k] += step
        down[k] -= step
        values = [evaluate(program.with_constants(c), data.columns) for c in (up, down)]
        row = (values[0] - values[1]) / (2 * step) * value / noise * np.sqrt(data.weights)
        rows.append(row * min(1.0, MOST_ERRORS / np.linalg.norm(row)))
    matrix = np.array(rows)
    return 0.5 * np.linalg.slogdet(np.eye(len(rows)) + matrix @ matrix.T)[1]


@pytest.mark.parametrize(
    ("text", "constants", "noise"),
    [
        ("C*x", [2.0], 0.3),
        ("C*x", [-2.0], 1e-9),
        ("C*x + C*y + C", [2.0, -0.1, 5.0], 0.5),
        ("C*sin(C*x + C)", [1.0, 40.0, 0.3], 1.0),
        ("x/(C + y)", [1e5], 0.2),
    ],
)
def test_the_price_is_that_of_the_definition(text, constants, noise):
    data = make_data()
    assert call(text, constants, noise, data) == pytest.approx(call_slowly(text, constants, noise, data), rel=1e-5)


def test_a_number_that_the_data_does_not_tell_costs_next_to_nothing():
    assert call("x + C*y", [1e-9], 1.0, make_data()) < 1e-6


def test_a_frequency_that_was_picked_from_many_costs_more_than_a_slow_one():
    data = make_data()
    slow, fast = (call("sin(C*x)", [frequency], 1.0, data) for frequency in (0.5, 50.0))
    assert fast > slow + 2


def test_a_number_that_another_replaces_costs_nothing_more():
    data = make_data()
    assert call("C*(C*x)", [2.0, 1.0], 0.5, data) == pytest.approx(call("C*x", [2.0], 0.5, data))


def test_a_formula_outside_of_its_domain_has_no_price():
    assert call("C*log(C - x)", [1.0, 0.1], 1.0, make_data()) == np.inf


def test_no_noise_at_all_has_a_price():
    assert call("C*x", [2.0], 1e-300, make_data()) == pytest.approx(np.log(MOST_ERRORS), rel=1e-5)
