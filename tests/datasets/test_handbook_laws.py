"""The laws from handbooks: pint confirms their units and values, and every column matters."""

import ast
import math
import operator
from collections import Counter

import numpy as np
import pint
import pytest

from spl.datasets.handbook_laws import (
    HANDBOOK_FIELDS,
    HANDBOOK_LAWS,
    NAMED_CONSTANTS,
    HandbookLaw,
    load_handbook_law,
)
from spl.errors import SettingError

UNITS = pint.UnitRegistry()
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos}


def value_of(node: ast.expr, names: dict):
    """Return the value of a formula as pint computes it, which refuses sums of different units and logarithms of lengths."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return BINARY[type(op)](value_of(left, names), value_of(right, names))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand, names)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](value_of(argument, names))
        case ast.Name(id=name):
            return names[name]
        case ast.Constant(value=value):
            return value
    raise AssertionError(ast.dump(node))


def quantities_of(law: HandbookLaw, table: np.ndarray) -> dict:
    columns = {name: UNITS.Quantity(table[:, k], unit) for k, (name, unit) in enumerate(law.units.items())}
    return columns | {name: UNITS.Quantity(text) for name, text in law.known.items()} | {"pi": math.pi}


def test_there_are_forty_from_four_fields_with_two_to_nine_columns():
    assert len({law.name for law in HANDBOOK_LAWS}) == 40
    fields = Counter(law.field for law in HANDBOOK_LAWS)
    assert tuple(fields) == HANDBOOK_FIELDS
    assert min(fields.values()) >= 9
    sizes = Counter(len(law.variables) for law in HANDBOOK_LAWS)
    assert (min(sizes), max(sizes)) == (2, 9)


@pytest.mark.parametrize("law", HANDBOOK_LAWS, ids=lambda law: law.name)
def test_pint_computes_the_same_values_in_the_unit_of_the_target(law: HandbookLaw):
    table = law.draw_rows(np.random.default_rng(0), 50)
    found = value_of(ast.parse(law.expression, mode="eval").body, quantities_of(law, table))
    values = UNITS.Quantity(found).to(law.target_unit).magnitude
    assert np.all(np.isfinite(values))
    np.testing.assert_allclose(law.truth_at(table), values, rtol=1e-9)


@pytest.mark.parametrize("law", HANDBOOK_LAWS, ids=lambda law: law.name)
def test_every_column_and_constant_of_a_law_matters(law: HandbookLaw):
    random = np.random.default_rng(0)
    table = law.draw_rows(random, 1_000)
    exact = law.truth_at(table)
    for column in range(len(law.variables)):
        other = table.copy()
        other[:, column] = random.permutation(table[:, column])
        assert np.std(law.truth_at(other) - exact) > 0.03 * np.std(exact), law.variables[column]
    words = {node.id for node in ast.walk(ast.parse(law.expression)) if isinstance(node, ast.Name)}
    assert words - {*FUNCTIONS, "pi"} == {*law.variables, *law.constants}


def test_names_of_columns_are_not_those_of_constants():
    for law in HANDBOOK_LAWS:
        assert not set(law.constants) & {*law.variables, law.target}
    assert {name for law in HANDBOOK_LAWS for name in law.constants} == set(NAMED_CONSTANTS)


def test_an_unknown_law_is_refused():
    with pytest.raises(SettingError, match=r"no law 'nernts'\. Did you mean 'nernst'"):
        load_handbook_law("nernts")
