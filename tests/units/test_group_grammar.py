import numpy as np
import pytest

from spl.formulas.grammar import Grammar
from spl.units.group_grammar import make_group_grammar, treats_columns_alike
from spl.units.groups import choose_groups
from spl.units.table_units import read_table_units

UNITS = read_table_units(
    {"p": "Pa", "rho": "kg/m**3", "v": "m/s", "h": "m", "g": "m/s**2"}, "Pa", names=["p", "rho", "v", "h", "g"]
)
GROUPS = choose_groups(UNITS, np.random.default_rng(0).uniform(1, 2, (5, 10)))


@pytest.mark.parametrize("inside", ["anything", "variables"])
def test_grammars_of_operators_treat_columns_alike_and_get_groups(inside):
    grammar = Grammar.from_operators(["+", "*", "sin"], UNITS.names, inside=inside)
    assert treats_columns_alike(grammar)
    made = make_group_grammar(grammar, GROUPS)
    assert made.vocabulary.variables == GROUPS.names
    assert made.derives(f"sin({GROUPS.names[0]}) + 2.5*{GROUPS.names[1]}")


@pytest.mark.parametrize("text", ["f -> f + f | x", "f -> sin(x) | x | y", "f -> f*g | x\ng -> y"])
def test_rules_about_single_columns_do_not(text):
    assert not treats_columns_alike(Grammar.from_text(text, variables=["x", "y"]))


@pytest.mark.parametrize("integers", [(), (1, 2)])
def test_groups_may_be_compared_with_one_which_is_what_a_repeating_column_is(integers):
    made = make_group_grammar(Grammar.from_operators(["+", "log"], UNITS.names, integers=integers), GROUPS)
    assert sum(rule.text == "1" for rule in made.rules) == 1
    assert made.derives(f"log(1 + {GROUPS.names[0]})")


def test_without_repeating_columns_the_grammar_gets_no_one():
    units = read_table_units({"x": "", "y": ""}, "", names=["x", "y"])
    groups = choose_groups(units, np.array([[1.0, 2.0], [3.0, 5.0]]))
    made = make_group_grammar(Grammar.from_operators(["+"], units.names, constants=False), groups)
    assert str(made) == "f -> f + f | x | y"
