"""Exact values by numpy agree with those of the engine."""

import numpy as np
import pytest

from spl.datasets.exact import exact_values, values_of_parts
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate

TABLE = np.random.default_rng(0).uniform(0.5, 2.0, size=(30, 2))


@pytest.mark.parametrize("text", ["x - y/3", "sin(x)*exp(-y)", "sqrt(x + y**2)", "log(x)/(1 + y)", "x**3 - x**-2"])
def test_values_are_those_of_the_engine(text):
    program = parse_expression(text, Vocabulary(("x", "y")))
    np.testing.assert_allclose(exact_values(program, TABLE), evaluate(program, TABLE.T.copy()), rtol=1e-12)


def test_constants_are_used_in_their_order():
    program = parse_expression("C*x - C", Vocabulary(("x", "y"))).with_constants((2.0, 3.0))
    np.testing.assert_allclose(exact_values(program, TABLE), 2.0 * TABLE[:, 0] - 3.0)


def test_every_part_has_its_values_at_its_first_token():
    program = parse_expression("x + sin(y)", Vocabulary(("x", "y")))
    parts = values_of_parts(program, TABLE)
    assert len(parts) == len(program) == 4
    np.testing.assert_array_equal(parts[1], TABLE[:, 0])
    np.testing.assert_array_equal(parts[2], np.sin(TABLE[:, 1]))
    np.testing.assert_array_equal(parts[0], parts[1] + parts[2])
