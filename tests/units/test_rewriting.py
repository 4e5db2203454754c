"""Formulas of groups, written in the columns: the same values, and always the unit of the target."""

import numpy as np
import pytest
from tests.units.random_programs import derive_program

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate
from spl.units.group_grammar import make_group_grammar
from spl.units.groups import choose_groups
from spl.units.rewriting import to_columns
from spl.units.table_units import read_table_units

TABLES = {
    "energy": ({"m": "kg", "v": "m/s", "h": "m"}, "J", {"g": "9.81 m/s**2"}),
    "mixed units": ({"m": "g", "v": "km/h", "h": "cm", "a": "deg"}, "kWh", {}),
    "relativity": ({"m": "kg", "v": "m/s", "t": "s"}, "m", {"c": "speed_of_light"}),
    "roots": ({"k": "N/m", "m": "kg", "t": "s", "x": "m", "c": "kg/s"}, "m/s", {}),
    "pure numbers": ({"a": "", "b": ""}, "", {}),
    "thirds": ({"a": "m**3", "b": "m", "rho": "kg/m**3"}, "kg**(1/3)", {}),
}  # fmt: skip
N_PROGRAMS = 100_000


def make_table(name, n_rows=40, low=0.5):
    columns, target, known = TABLES[name]
    units = read_table_units(columns, target, known, names=list(columns))
    values = np.random.default_rng(1).uniform(low, 3.0, (len(columns), n_rows))
    values = np.vstack([values, *([np.full(n_rows, each.value)] for each in units.known)])
    return units, values


@pytest.mark.slow
def test_no_formula_of_one_hundred_thousand_breaks_the_units():
    rng = np.random.default_rng(0)
    n_derived = 0
    for name in TABLES:
        units, values = make_table(name, low=-3.0)
        groups = choose_groups(units, values)
        grammar = make_group_grammar(Grammar.from_operators(DEFAULT_OPERATORS, units.names), groups)
        words = Vocabulary(units.names)
        seen = set()
        for _ in range(N_PROGRAMS // len(TABLES) + 1):
            program = derive_program(rng, grammar, max_rules=25)
            n_derived += 1
            if program is None or program.tokens in seen:
                continue
            seen.add(program.tokens)
            written = to_columns(program, groups, words)
            assert written is None or units.allow(written), program
        assert len(seen) > 1000 or len(groups.groups) < 2
    assert n_derived >= N_PROGRAMS


@pytest.mark.parametrize("name", TABLES)
def test_a_formula_has_the_same_values_in_the_columns(name):
    units, values = make_table(name)
    groups = choose_groups(units, values)
    data = Dataset(units.names, values, np.ones(values.shape[1]), np.ones(values.shape[1]))
    measured = groups.measure(data)
    operators = ("+", "*", "/", "sqrt")  # of positive numbers: nothing cancels, and rounding errors stay small
    grammar = make_group_grammar(Grammar.from_operators(operators, units.names), groups)
    rng = np.random.default_rng(2)
    n_compared = 0
    for _ in range(150):
        program = derive_program(rng, grammar, max_rules=12)
        written = None if program is None else to_columns(program, groups, Vocabulary(units.names))
        if written is None:
            continue
        with np.errstate(all="ignore"):
            of_groups, of_columns = evaluate(program, measured.columns), evaluate(written, values)
        factor = 1.0 / measured.target  # the target is 1: what it was divided by
        expected = of_groups * factor
        usable = np.isfinite(expected) & (np.abs(expected) < 1e200)
        np.testing.assert_allclose(of_columns[usable], expected[usable], rtol=1e-7)
        n_compared += usable.any()
    assert n_compared > 20


def test_terms_of_a_sum_share_what_stands_before_them():
    units = read_table_units({"m": "kg", "v": "m/s", "e": "J"}, "J", names=["m", "v", "e"])
    groups = choose_groups(units, np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0], [1.0, 5.0, 2.0]]))
    assert groups.names == ("m",)
    found = parse_expression("C*m + 1/m", Vocabulary(groups.names, (1.0,))).with_constants([0.5])
    written = to_columns(found, groups, Vocabulary(units.names))
    assert written.tokens.count(written.vocabulary.variable_token("e")) == 2
    assert "/" in to_text(written)


def test_a_column_of_both_signs_keeps_its_sign():
    units = read_table_units({"x": "m", "z": "m"}, "m", names=["x", "z"])
    values = np.random.default_rng(0).uniform(-2, 2, (2, 50))
    groups = choose_groups(units, values)
    assert len(groups.groups) == 2
    root = parse_expression("sqrt(x*x + z*z)", Vocabulary(groups.names))
    written = to_columns(root, groups, Vocabulary(units.names))
    np.testing.assert_allclose(evaluate(written, values), np.hypot(*values))


def test_a_formula_that_would_need_an_absolute_value_is_left_out():
    units = read_table_units({"x": "m", "z": "m"}, "m", names=["x", "z"])
    values = np.random.default_rng(0).uniform(-2, 2, (2, 50))
    groups = choose_groups(units, values)
    assert (
        to_columns(
            parse_expression("C", Vocabulary(groups.names)).with_constants([2.0]), groups, Vocabulary(units.names)
        )
        is None
    )


def test_negative_columns_measure_by_their_size():
    units = read_table_units({"x": "m", "t": "s"}, "m/s", names=["x", "t"])
    values = np.array([[-1.0, -2.0, -3.0], [1.0, 2.0, 5.0]])
    groups = choose_groups(units, values)
    speed = parse_expression("C", Vocabulary(groups.names)).with_constants([2.0])
    written = to_columns(speed, groups, Vocabulary(units.names))
    np.testing.assert_allclose(evaluate(written, values), 2.0 * np.abs(values[0]) / values[1])
