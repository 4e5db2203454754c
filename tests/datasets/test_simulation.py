"""Simulating a system, and its inputs and numbers as text."""

import numpy as np
import pytest

from spl.datasets.simulation import Sampling, multi_sine, simulate_system, write_number
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate


def test_the_integral_of_an_input_stays_small():
    t = np.linspace(0, 1000, 100_001)
    assert np.max(np.abs(np.cumsum(multi_sine(1.0)(t)) * 0.01)) < 1.0


@pytest.mark.parametrize("value", [1.0, -2.5, 1 / 3, 1e-20, 1e22, 123456789.0])
def test_a_number_reads_back_as_it_was(value):
    program = parse_expression(f"0 + {write_number(value)}*x", Vocabulary(("x",)))
    assert evaluate(program, np.array([[1.0]]))[0] == value


def test_a_system_of_ones_own_can_be_simulated():
    data = simulate_system(
        lambda x, u: [u[0] - x[0]], {"x": "u - x"}, [0.0], Sampling(50, 0.1, 0.0, 0), inputs={"u": np.ones_like}
    )
    np.testing.assert_allclose(data.clean[:, 0], 1 - np.exp(-data.t), atol=1e-9)
