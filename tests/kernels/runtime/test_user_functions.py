"""Functions of the user as operators: compiled, called from a kernel, and refused with a reason."""

import ctypes

import numba
import numpy as np
import pytest
from tests.kernels.program_twins import X0, X1

from spl.errors import OperatorError
from spl.kernels.programs import tokens as t
from spl.kernels.programs.evaluate import BLOCK, OK, Alphabet, evaluate_all
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.user_functions import call_user, compile_elementwise, compile_slope


@kernel
def call_at(address, a, a_at, b, b_at, out, out_at, n):
    call_user(address, a, a_at, b, b_at, out, out_at, n)


def sinc(x):
    return np.sin(x) / x if x != 0.0 else 1.0


def test_a_function_of_one_number_gives_its_values():
    operator = compile_elementwise(sinc, 1)
    x = np.array([-2.0, 0.0, 1.0, 3.0])
    out = np.empty(4)
    call_at(operator.address, x, 0, x, 0, out, 0, 4)
    np.testing.assert_allclose(out, [sinc(value) for value in x], rtol=1e-15)


def test_a_function_of_two_numbers_gets_them_in_order():
    operator = compile_elementwise(lambda a, b: a - 2.0 * b, 2)
    a, b = np.arange(5.0), np.arange(5.0, 10.0)
    out = np.empty(5)
    call_at(operator.address, a, 0, b, 0, out, 0, 5)
    np.testing.assert_array_equal(out, a - 2.0 * b)


def test_only_the_given_part_of_an_array_is_read_and_written():
    operator = compile_elementwise(lambda a, b: 10.0 * a + b, 2)
    memory = np.arange(12.0)
    call_at(operator.address, memory, 1, memory, 5, memory, 9, 2)
    np.testing.assert_array_equal(memory, [*np.arange(9.0), 15.0, 26.0, 11.0])


def test_the_result_may_replace_an_operand():
    operator = compile_elementwise(lambda x: x * x, 1)
    memory = np.arange(6.0)
    call_at(operator.address, memory, 0, memory, 0, memory, 0, 6)
    np.testing.assert_array_equal(memory, np.arange(6.0) ** 2)


def test_a_program_can_hold_operators_of_the_user():
    twice_less = compile_elementwise(lambda a, b: 2.0 * a - b, 2)
    shift = compile_elementwise(lambda x: x + 100.0, 1)
    user = np.zeros((2 * t.MAX_USER, 3), dtype=np.int64)
    user[3, 0] = shift.address
    user[t.MAX_USER + 5, 0] = twice_less.address
    tokens = np.array([t.USER_BINARY + 5, X0, t.USER_BINARY + 5, t.USER_UNARY + 3, X1, X0])
    columns = np.random.default_rng(0).normal(size=(2, 9))
    out = np.empty(9)
    alphabet = Alphabet(np.zeros(0), user)
    assert evaluate_all(tokens, tokens.size, np.zeros(0), alphabet, columns, out, np.empty(3 * BLOCK)) == OK
    np.testing.assert_allclose(out, 2 * columns[0] - (2 * (columns[1] + 100.0) - columns[0]), rtol=1e-13)


@pytest.mark.parametrize(("argument", "exact"), [(0, lambda a, b: 2 * a * b), (1, lambda a, b: a * a + 0 * b)])
def test_the_slope_of_a_function_is_good_to_ten_digits(argument, exact):
    slope = compile_slope(lambda a, b: a * a * b, 2, argument)
    a, b = np.random.default_rng(0).uniform(0.5, 3.0, (2, 7))
    out = np.empty(7)
    call_at(slope.address, a, 0, b, 0, out, 0, 7)
    np.testing.assert_allclose(out, exact(a, b), rtol=1e-9)


def fall_over(x):
    if x < 0.0:
        raise ValueError(x)
    return 2.0 * x


def test_an_error_is_no_value_and_leaves_the_other_numbers_alone():
    at_zero = np.inf if numba.config.DISABLE_JIT else np.nan  # only the compiler takes 0**-1 for a mistake
    for function, values in ((fall_over, [np.nan, 0.0, 6.0]), (lambda x: x**-1, [-0.5, at_zero, 1 / 3])):
        operator = compile_elementwise(function, 1)
        x, out = np.array([-2.0, 0.0, 3.0]), np.empty(3)
        call_at(operator.address, x, 0, x, 0, out, 0, 3)
        np.testing.assert_allclose(out, values)


@pytest.mark.slow
def test_division_by_zero_is_no_error_in_a_function_of_the_user():
    operator = compile_elementwise(lambda a, b: a / b, 2)
    out = np.empty(1)
    with np.errstate(all="ignore"):
        call_at(operator.address, np.ones(1), 0, np.zeros(1), 0, out, 0, 1)
    assert np.isinf(out[0])


@pytest.mark.slow
def test_a_function_that_needs_whole_arrays_gets_them():
    operator = compile_elementwise(lambda x: np.where(x > 0.0, x, np.zeros_like(x)), 1)
    x = np.array([-1.0, 0.0, 2.0])
    out = np.empty(3)
    call_at(operator.address, x, 0, x, 0, out, 0, 3)
    np.testing.assert_array_equal(out, [0.0, 0.0, 2.0])


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing can fail to be")
def test_a_function_that_cannot_be_compiled_is_refused_with_reason_and_remedy():
    def read_file(x):
        return float(open(str(x)).read())

    with pytest.raises(OperatorError, match=r"`read_file` .*open.* numpy functions"):
        compile_elementwise(read_file, 1)


def test_a_compiled_function_is_an_ordinary_c_function():
    operator = compile_elementwise(lambda x: x + 1.0, 1)
    pointer = ctypes.POINTER(ctypes.c_double)
    function = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_int64)(operator.address)
    x, out = (ctypes.c_double * 2)(1.0, 2.0), (ctypes.c_double * 2)()
    function(x, x, out, 2)
    assert list(out) == [2.0, 3.0]


def test_all_slots_of_user_operators_have_tokens_of_their_own():
    assert t.N_OPCODES <= t.USER_UNARY
    assert t.USER_UNARY + t.MAX_USER <= t.USER_BINARY
    assert t.USER_BINARY + t.MAX_USER <= 1 << t.KIND_SHIFT
