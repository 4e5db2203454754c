"""Grammars built from operators: each constraint of the paper holds for every formula, and mistakes are refused."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grammar_twins import derive, to_tree
from tests.own_operators import SINC

from spl.errors import GrammarError, OperatorError
from spl.formulas.grammar import Grammar
from spl.formulas.operators import BUILT_IN, Operator
from spl.kernels.programs import tokens as tk

EVERYTHING = ["+", "-", "*", "/", "**", "exp", "sin", "cos", "tan", "log", "sqrt", "cbrt", "neg", "square", "min"]
TRIGONOMETRIC = {tk.SIN, tk.COS, tk.TAN}
RESTRICTED = TRIGONOMETRIC | {tk.LOG, tk.SQRT, tk.CBRT}
SEEDS = st.integers(0, 2**32)


def insides(tree, wanted):
    """Yield the arguments of all wanted operators in a tree."""
    if tree[0] in wanted:
        yield tree[1]
    for argument in tree[1:]:
        yield from insides(argument, wanted)


def tokens_of(tree):
    yield tree[0]
    for argument in tree[1:]:
        yield from tokens_of(argument)


def draw_tree(grammar, seed):
    return to_tree(derive(grammar, random.Random(seed)).tokens, grammar)


def degree(tree):
    """The degree of a polynomial; constants and literals have 0."""
    token, *arguments = tree
    below = [degree(argument) for argument in arguments]
    match token:
        case tk.ADD | tk.SUB:
            return max(below)
        case tk.MUL:
            return sum(below)
        case tk.SQUARE:
            return 2 * below[0]
        case tk.CUBE:
            return 3 * below[0]
    assert not below, "this is no polynomial"
    return 1 if token >> tk.KIND_SHIFT == tk.VARIABLE else 0


def test_without_constraints_every_operator_takes_the_start_symbol():
    grammar = Grammar.from_operators(["+", "*", "/", "**", "sin", "max", "neg", "cube", "inv", "pow4"], ["x", "y z"])
    assert str(grammar) == (
        "f -> f + f | f*f | f/f | f**f | sin(f) | max(f, f) | -f | f**3 | inv(f) | f**4 | C*f | x | 'y z' | C"
    )


def test_without_constants_there_are_none():
    grammar = Grammar.from_operators(["+", "sin"], ["x"], constants=False, inside="polynomials")
    assert not grammar.has_constants


def test_polynomials_have_all_monomials_up_to_the_highest_power():
    grammar = Grammar.from_operators(["+", "sin"], ["x", "y"], inside="polynomials", max_power=2)
    assert str(grammar).splitlines() == [
        "f   -> f + f | sin(arg) | C*f | x | y | C",
        "arg -> arg + arg | arg - arg | C*arg | 1 | x | y | x**2 | x*y | y**2",
    ]


def test_whole_numbers_are_leaves_everywhere():
    grammar = Grammar.from_operators(["+", "sin"], ["x"], inside="polynomials", max_power=1, integers=[1, -2, 1])
    assert str(grammar).splitlines() == [
        "f   -> f + f | sin(arg) | C*f | x | 1 | -2 | C",
        "arg -> arg + arg | arg - arg | C*arg | 1 | -2 | x",
    ]


def test_without_nesting_a_second_symbol_stands_inside():
    grammar = Grammar.from_operators(["+", "exp", "sin", "log"], ["x"], nesting=False)
    assert str(grammar).splitlines() == [
        "f -> f + f | exp(f) | sin(g) | log(g) | C*f | x | C",
        "g -> g + g | exp(g) | C*g | x | C",
    ]


@given(SEEDS, st.booleans(), st.booleans())
def test_only_variables_and_constants_stand_inside_trigonometric_functions(seed, constants, nesting):
    grammar = Grammar.from_operators(EVERYTHING, ["x", "y"], inside="variables", constants=constants, nesting=nesting)
    for inside in insides(draw_tree(grammar, seed), TRIGONOMETRIC):
        kinds = {token >> tk.KIND_SHIFT for token in tokens_of(inside) if token != tk.MUL}
        assert kinds <= {tk.VARIABLE, tk.CONSTANT}


@given(SEEDS, st.integers(1, 3), st.booleans())
def test_only_polynomials_stand_inside_trigonometric_functions_logarithms_and_roots(seed, max_power, constants):
    grammar = Grammar.from_operators(
        EVERYTHING, ["x", "y"], inside="polynomials", max_power=max_power, constants=constants
    )
    for inside in insides(draw_tree(grammar, seed), RESTRICTED):
        assert degree(inside) <= max_power


@given(SEEDS, st.sampled_from(["anything", "variables", "polynomials"]))
def test_without_nesting_no_restricted_operator_stands_inside_another(seed, inside):
    grammar = Grammar.from_operators(EVERYTHING, ["x", "y"], inside=inside, nesting=False, integers=(1, 2))
    for argument in insides(draw_tree(grammar, seed), RESTRICTED):
        assert not RESTRICTED & set(tokens_of(argument))


@pytest.mark.parametrize(
    ("options", "has", "lacks"),
    [
        ({}, ["sin(cos(x) + 1)", "log(sqrt(x))", "2*sin(x)"], ["tanh(x)"]),
        ({"inside": "variables"}, ["sin(2*x)", "log(sin(x))"], ["sin(x + 1)", "sin(x**2)"]),
        (
            {"inside": "polynomials"},
            ["sin(x + 2*x**3 - 1)", "log(x**2)", "exp(sin(x))"],
            ["sin(x**4)", "log(sin(x))", "sqrt(exp(x))"],
        ),
        ({"nesting": False}, ["sin(exp(x))", "exp(sin(x))*log(x)"], ["sin(exp(cos(x)))", "log(1 + sqrt(x))"]),
        ({"constants": False}, ["sin(x) + x"], ["2*x", "x + 1"]),
        ({"constants": False, "integers": (1,)}, ["x + 1"], ["x + 2"]),
    ],
)
def test_each_constraint_lets_through_what_it_should(options, has, lacks):
    operators = ["+", "-", "*", "exp", "sin", "cos", "log", "sqrt"]
    grammar = Grammar.from_operators(operators, ["x"], **options)
    assert [formula for formula in has if not grammar.derives(formula)] == []
    assert [formula for formula in lacks if grammar.derives(formula)] == []


def test_symbols_get_out_of_the_way_of_columns_and_operators():
    own = Operator("formula", lambda x: x)
    grammar = Grammar.from_operators(["sin", own], ["f", "arg", "start"], inside="variables")
    assert grammar.symbols == ("f1", "argument")


def test_operators_may_be_rows_of_the_table_or_of_your_own():
    grammar = Grammar.from_operators([BUILT_IN["add"], SINC], ["x"])
    assert [rule.text for rule in grammar.rules[:2]] == ["f + f", "sinc(f)"]
    assert grammar.vocabulary.own == (SINC,)


def test_an_operator_named_twice_gives_one_rule():
    grammar = Grammar.from_operators(["log", "ln", "square", "pow2", SINC, SINC], ["x"], constants=False)
    assert [rule.text for rule in grammar.rules] == ["log(f)", "f**2", "sinc(f)", "x"]


@pytest.mark.slow
@given(st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True))
def test_any_column_names_will_do(columns):
    grammar = Grammar.from_operators(["+", "sin"], columns, inside="polynomials", max_power=2)
    assert grammar.vocabulary.variables == tuple(columns)
    assert Grammar.from_text(str(grammar), variables=columns) == grammar


def test_every_built_in_operator_can_be_asked_for():
    grammar = Grammar.from_operators(list(BUILT_IN), ["x"], constants=False)
    assert {rule.tokens[0] for rule in grammar.rules[:-1]} == set(range(tk.N_OPCODES))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"operators": []},
            "`operators` must be a list with at least one operator, such as ['+', '*', 'sin']; got [].",
        ),
        ({"operators": "sin"}, "`operators` must be a list with at least one operator"),
        ({"operators": [3]}, "An operator must be a name, a sign or an `Operator`; got 3."),
        ({"variables": []}, "`variables` must be a list with at least one column; got []."),
        ({"variables": "x"}, "`variables` must be a list with at least one column; got 'x'."),
        ({"variables": [1]}, "The name of a column must be text; got 1."),
        ({"variables": ["x", "x"]}, "There are two columns 'x'. Give each its own name."),
        ({"inside": "polynomial"}, "`inside` must be 'anything', 'variables' or 'polynomials'; got 'polynomial'."),
        ({"max_power": 0}, "`max_power` must be a whole number from 1 to 64; got 0."),
        ({"max_power": 2.5}, "`max_power` must be a whole number from 1 to 64; got 2.5."),
        ({"integers": [0.5]}, "`integers` must be whole numbers that fit a float; one of them is 0.5."),
        ({"integers": [10**20]}, "`integers` must be whole numbers that fit a float"),
        (
            {"variables": list("abcdefghij"), "inside": "polynomials", "max_power": 6},
            "Polynomials of degree 6 in 10 variables have 8007 terms; at most 1000 are possible. "
            "Lower `max_power`, or leave out variables.",
        ),
    ],
)
def test_a_mistake_is_refused_with_the_remedy(arguments, message):
    with pytest.raises(GrammarError) as caught:
        Grammar.from_operators(**{"operators": ["+", "sin"], "variables": ["x"]} | arguments)
    assert message in str(caught.value)


def test_an_unknown_operator_is_refused_with_the_nearest():
    with pytest.raises(OperatorError, match=re.escape("There is no operator 'sine'. Did you mean 'sin'?")):
        Grammar.from_operators(["+", "sine"], ["x"])
