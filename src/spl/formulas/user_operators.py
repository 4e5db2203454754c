"""Operators of the user: compiled with their derivatives when they are made, or refused with a clear message.

`elementwise` compiles and checks a single function; this module knows which functions an operator has.
"""

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from spl.errors import OperatorError
from spl.formulas.elementwise import ElementwiseFunction
from spl.formulas.operators import Operator
from spl.kernels.runtime.user_functions import CompiledOperator, compile_elementwise, compile_slope

if TYPE_CHECKING:
    import sympy


def check_own_operator(operator: Operator) -> None:
    """Raise a clear error, with the operator's name, unless kernels can call its function and its derivatives."""
    for function in (_value_of(operator), *_derivatives_of(operator)):
        function.check_quiet()
    value, *_ = compile_operator(operator)
    _value_of(operator).check_values(value)


@functools.lru_cache(maxsize=256)
def compile_operator(operator: Operator) -> tuple[CompiledOperator, ...]:
    """Return the compiled functions of a user's operator: its value, then its derivative by each argument.

    Examples:
        >>> len(compile_operator(Operator("product", lambda a, b: a * b)))
        3
    """
    arity, given = operator.arity, _derivatives_of(operator)
    value = _value_of(operator).compile()
    if given and len(given) != arity:
        raise OperatorError(
            f"Operator '{operator.name}' takes {arity} argument(s), but has {len(given)} derivative(s)."
        )
    if given:
        return (value, *(derivative.compile() for derivative in given))
    if operator.sympy is not None:
        functions = _differentiate_sympy_form(operator)
        with contextlib.suppress(OperatorError):  # it may need a function that the compiler does not know
            return (value, *(compile_elementwise(function, arity) for function in functions))
    return (value, *_compile_slopes(operator))


def _value_of(operator: Operator) -> ElementwiseFunction:
    return ElementwiseFunction(operator.function, operator.arity, f"Operator '{operator.name}'", OperatorError)


def _derivatives_of(operator: Operator) -> tuple[ElementwiseFunction, ...]:
    title = f"The derivative of operator '{operator.name}'"
    return tuple(
        ElementwiseFunction(function, operator.arity, title, OperatorError) for function in operator.derivatives
    )


def _compile_slopes(operator: Operator) -> tuple[CompiledOperator, ...]:
    """Return the compiled derivatives, computed as differences."""
    arity = operator.arity
    function = _value_of(operator).as_plain_function()
    try:
        return tuple(compile_slope(function, arity, argument) for argument in range(arity))
    except OperatorError as failure:
        raise OperatorError(
            f"Operator '{operator.name}' cannot be differentiated numerically: its function takes arrays, but not single "
            "numbers. Give its derivative, Operator(..., derivative=...), or write it for numbers."
        ) from failure.__cause__


def _differentiate_sympy_form(operator: Operator) -> tuple[Callable[..., Any], ...]:
    """Return the derivatives of the sympy form."""
    import sympy

    assert operator.sympy is not None
    names = [f"a{k}" for k in range(operator.arity)]
    try:
        form = operator.sympy(*(sympy.Symbol(name, real=True) for name in names))
        return differentiate(sympy.sympify(form), names)
    except Exception as error:  # the user's form may raise anything
        raise OperatorError(
            f"The sympy form of operator '{operator.name}' cannot be differentiated: {error}."
        ) from error


def differentiate(form: "sympy.Expr", names: Sequence[str]) -> tuple[Callable[..., Any], ...]:
    """Return the derivatives of an expression by each of its real symbols, as Python functions of all of them.

    Examples:
        >>> import sympy
        >>> slope, *_ = differentiate(sympy.Symbol("a", real=True) ** 2, ["a"])
        >>> slope(3.0)
        6.0
    """
    import sympy

    arguments = [sympy.Symbol(name, real=True) for name in names]
    return tuple(sympy.lambdify(arguments, sympy.diff(form, argument), "numpy") for argument in arguments)
