import numpy as np
import pytest

from spl.formulas.operators import BY_OPCODE
from spl.kernels.programs import tokens as tk
from spl.knowledge.numbers_arithmetic import NumbersArithmetic

FUNCTIONS = [opcode for opcode, row in BY_OPCODE.items() if row.traits.is_function and row.arity == 1]


@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_each_function_is_that_of_the_table_of_operators(opcode):
    values = np.array([-2.0, -0.3, 0.0, 0.4, 1.0, 3.0])
    with np.errstate(all="ignore"):
        found = NumbersArithmetic().apply(opcode, values)
        expected = BY_OPCODE[opcode].function(values)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_powers_and_extremes_are_those_of_numpy():
    arithmetic, a, b = NumbersArithmetic(), np.array([2.0, 5.0]), np.array([3.0, 1.0])
    assert arithmetic.power(a, -2) == pytest.approx(a**-2.0)
    assert arithmetic.pow(a, b).tolist() == [8.0, 5.0]
    assert arithmetic.least(a, b).tolist() == [2.0, 1.0]
    assert arithmetic.greatest(a, b).tolist() == [3.0, 5.0]
    assert arithmetic.pick(a, b, a, b).tolist() == [2.0, 1.0]
    assert tk.SQRT in FUNCTIONS
