"""Dimensions of formulas, compared with what pint makes of the same formula."""

import numpy as np
import pint
import pytest
from tests.units.random_programs import draw_program

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.units.dimension import Dimension
from spl.units.inference import infer_dimension

REGISTRY = pint.UnitRegistry()
NAMES = ("x", "y", "t", "n")
UNITS = ("m", "m", "s", "dimensionless")
LENGTH, TIME = Dimension.of({"length": 1}), Dimension.of({"time": 1})
DIMENSIONS = (LENGTH, LENGTH, TIME, Dimension())


def infer(text, target=None, are_numbers_free=False, names=NAMES):
    program = parse_expression(text, Vocabulary(names))
    program = program.with_constants(np.full(program.n_constants, 0.123))
    return infer_dimension(program, DIMENSIONS, target, are_numbers_free=are_numbers_free)


def evaluate_with_pint(program):
    """Return the dimension of a program as pint computes it; None if pint refuses."""
    stack = []
    numbers = list(program.constants)
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(REGISTRY.Quantity(1.5, UNITS[payload]))
        elif kind == tk.CONSTANT:
            stack.append(REGISTRY.Quantity(numbers.pop(), "dimensionless"))
        else:
            arguments = [stack.pop() for _ in range(program.vocabulary.arity_of(token))]
            try:
                with np.errstate(all="ignore"):
                    stack.append(REGISTRY.Quantity(program.vocabulary.operator_of(token).function(*arguments)))
            except pint.DimensionalityError:
                return None
            except (ZeroDivisionError, OverflowError):
                pytest.skip("no value at this point")
    return {base.strip("[]"): float(power) for base, power in stack.pop().dimensionality.items()}


def test_dimensions_are_those_of_pint():
    rng = np.random.default_rng(3)
    n_refused, n_compared = 0, 0
    for _ in range(600):
        program = draw_program(rng, NAMES, operators=(tk.ADD, tk.SUB, tk.MUL, tk.DIV, tk.SQRT, tk.SIN, tk.EXP))
        with np.errstate(all="ignore"):
            try:
                expected = evaluate_with_pint(program)
            except pytest.skip.Exception:
                continue
        found = infer_dimension(program, DIMENSIONS).dimension
        n_refused += expected is None
        n_compared += expected is not None
        shown = None if found is None else {base: float(power) for base, power in found.powers}
        assert shown == expected, str(program)
    assert n_refused > 100
    assert n_compared > 100


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("x/t", LENGTH / TIME),
        ("sqrt(x*y)", LENGTH),
        ("cbrt(x**3)", LENGTH),
        ("x**1.5/sqrt(y)", LENGTH),
        ("abs(x)", LENGTH),
        ("sign(x)", Dimension()),
        ("max(x, y)", LENGTH),
        ("sin(x/y) + n", Dimension()),
        ("n**n", Dimension()),
        ("2*x + C*y", LENGTH),
    ],
)
def test_operators_follow_the_rules_of_physics(text, dimension):
    assert infer(text).dimension == dimension


@pytest.mark.parametrize("text", ["x + t", "x + 1", "sin(x)", "x**n", "n**x", "x**C", "min(x, t)", "exp(t)", "x - C"])
def test_formulas_that_contradict_themselves_have_no_dimension_and_a_reason(text):
    found = infer(text)
    assert found.dimension is None
    assert "dimension" in found.conflict


def test_free_constants_take_the_dimensions_that_are_needed():
    found = infer("C*x + C*t", LENGTH, are_numbers_free=True)
    assert [dimension for _, dimension in found.numbers] == [Dimension(), LENGTH / TIME]


def test_numbers_of_the_grammar_are_free_too():
    assert infer("x + 2", LENGTH, are_numbers_free=True).numbers == ((2, LENGTH),)


def test_a_free_constant_may_be_undetermined():
    found = infer("C*C*x", LENGTH, are_numbers_free=True)
    assert [dimension for _, dimension in found.numbers] == [None, None]


def test_free_constants_cannot_mend_everything():
    found = infer("sin(x)*C", LENGTH, are_numbers_free=True)
    assert found.dimension is None


def test_a_wrong_target_is_a_conflict():
    assert infer("x*y", LENGTH).conflict == "it has the dimension length**2 instead of length"
