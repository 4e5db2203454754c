import pytest

from spl.formulas.tidying.algebra import (
    ONE,
    Call,
    Leaf,
    Number,
    Term,
    Total,
    absolute_value,
    add,
    as_term,
    multiply,
    negate,
    number_of,
    raise_to,
)
from spl.kernels.programs import tokens as tk

X, Y = Leaf(1), Leaf(2)
SQRT_X = raise_to(X, Number(0.5))


def number(value: float, *, is_fitted: bool = False) -> Term:
    return Term(Number(value, is_fitted))


def test_sums_and_products_are_equal_whatever_the_order_of_their_parts() -> None:
    assert add((X, Y)) == add((Y, X))
    assert multiply((X, Y)) == multiply((Y, X))
    assert add((multiply((X, Y)), negate(multiply((Y, X))))) == number(0.0)


def test_a_sum_or_product_is_as_simple_a_node_as_it_can_be() -> None:
    assert add((X, number(0.0))) is X
    assert multiply((X, number(1.0))) is X
    assert raise_to(X, ONE) is X
    assert isinstance(negate(add((X, Y))), Total)


@pytest.mark.parametrize(("is_fitted", "other"), [(True, False), (False, True), (True, True), (False, False)])
def test_what_a_fitted_number_goes_into_is_fitted(is_fitted: bool, other: bool) -> None:
    for join in (add, multiply):
        merged = number_of(join((number(2.0, is_fitted=is_fitted), number(0.7, is_fitted=other))))
        assert merged is not None
        assert merged.is_fitted == (is_fitted or other)


def test_rounding_leaves_no_trace_in_merged_numbers() -> None:
    assert add((number(0.1), number(0.2))) == number(0.3)
    assert add((number(0.1), number(0.2), number(-0.3))) == number(0.0)


def test_a_number_that_was_divided_by_comes_back_as_it_was() -> None:
    once = raise_to(number(9.81), Number(-1.0))
    assert as_term(once).number.is_divisor
    assert raise_to(once, Number(-1.0)) == number(9.81)


def test_powers_of_powers_keep_the_sign_of_their_base() -> None:
    assert raise_to(raise_to(X, Number(2.0)), Number(0.5)) == Call(tk.ABS, (X,))
    assert raise_to(raise_to(X, Number(4.0)), Number(0.5)) == raise_to(X, Number(2.0))
    assert raise_to(SQRT_X, Number(2.0)) == X
    assert raise_to(raise_to(X, Number(2.0)), Number(0.3)) != raise_to(X, Number(0.6))


def test_what_has_no_sign_stands_outside_of_an_absolute_value() -> None:
    squared = multiply((number(-2.0), raise_to(X, Number(2.0)), SQRT_X))
    assert absolute_value(squared) == multiply((number(2.0), raise_to(X, Number(2.5))))


def test_a_power_that_is_not_a_number_is_left_alone() -> None:
    assert raise_to(number(0.0), Number(-1.0)) == Call(tk.POW, (number(0.0), number(-1.0)))
    assert raise_to(number(-1.0), Number(0.5)) == Call(tk.POW, (number(-1.0), number(0.5)))
