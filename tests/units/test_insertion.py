import numpy as np
import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate
from spl.units.insertion import insert_numbers
from spl.units.table_units import read_table_units

UNITS = read_table_units({"x": "m", "t": "s", "n": ""}, "m", names=["x", "t", "n"], are_numbers_free=True)
WORDS = Vocabulary(UNITS.names)


@pytest.mark.parametrize("text", ["x + t", "sin(t)", "exp(x*t) + x", "x*t", "sqrt(x + t*t) - n", "x**n"])
def test_numbers_of_one_unit_make_a_formula_consistent_and_keep_its_values(text):
    program = parse_expression(text, WORDS)
    found = insert_numbers(program, UNITS)
    assert not UNITS.allow(program)
    assert UNITS.allow(found)
    rows = np.random.default_rng(0).uniform(1, 2, (3, 10))
    np.testing.assert_array_equal(evaluate(found, rows), evaluate(program, rows))


@pytest.mark.parametrize("text", ["x", "x*n", "x*sin(n)", "x + x*n"])
def test_a_consistent_formula_stays_as_it_is(text):
    program = parse_expression(text, WORDS)
    assert insert_numbers(program, UNITS) is program


def test_a_formula_that_would_need_too_many_numbers_is_left_out():
    program = parse_expression(" + ".join(["sin(t)*sin(x)"] * 20), WORDS)
    assert insert_numbers(program, UNITS) is None


@pytest.mark.parametrize(
    ("text", "written"),
    [("x + y", "1*(x + 1*y)"), ("y*x/x", "y*x/x"), ("exp(x/y)", "1*exp(1*(x/y))"), ("x", "1*x")],
)
def test_centimetres_and_metres_are_added_by_a_number_that_converts(text, written):
    units = read_table_units({"x": "cm", "y": "m"}, "m", names=["x", "y"], are_numbers_free=True)
    assert to_text(insert_numbers(parse_expression(text, Vocabulary(units.names)), units)) == written
