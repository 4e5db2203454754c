"""Pieces in infix notation: brackets where the order of the operations needs them, and nowhere else."""

import pytest

from spl.formulas.infix import Piece, write_product, write_sum
from spl.formulas.operators import Binding

A, B, C = (Piece(name, Binding.ATOM) for name in "abc")
MINUS_A = Piece("-a", Binding.MINUS, A)
SUM = write_sum(True, A, B)
PRODUCT = write_product("*", A, B)


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        (write_sum(True, SUM, C), "a + b + c"),
        (write_sum(False, SUM, C), "a + b - c"),
        (write_sum(False, C, SUM), "c - (a + b)"),
        (write_sum(True, C, SUM), "c + (a + b)"),
        (write_sum(True, PRODUCT, C), "a*b + c"),
        (write_sum(False, C, PRODUCT), "c - a*b"),
        (write_product("*", SUM, C), "(a + b)*c"),
        (write_product("/", C, SUM), "c/(a + b)"),
        (write_product("*", PRODUCT, C), "a*b*c"),
        (write_product("/", C, PRODUCT), "c/(a*b)"),
        (write_product("*", C, MINUS_A), "c*(-a)"),
        (write_product("*", MINUS_A, C), "-a*c"),
    ],
)
def test_brackets_keep_the_order_of_the_operations(piece, text):
    assert piece.text == text


@pytest.mark.parametrize(("is_added", "text"), [(True, "b - a"), (False, "b + a")])
def test_adding_a_negative_is_written_as_a_difference_and_the_other_way_round(is_added, text):
    assert write_sum(is_added, B, MINUS_A).text == text


def test_the_sign_of_a_product_is_that_of_its_first_factor():
    product = write_product("*", MINUS_A, B)
    assert write_sum(True, C, product).text == "c - a*b"
    assert write_product("*", A, B).negative is None


@pytest.mark.parametrize("binding", Binding)
def test_a_piece_has_brackets_exactly_where_it_binds_less_tightly_than_its_place(binding):
    shown = {place: Piece("p", binding).within(place) for place in Binding}
    assert shown == {place: "(p)" if place > binding else "p" for place in Binding}
