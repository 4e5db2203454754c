"""Forms with holes: what is read, which grammar it becomes, and how mistakes are told."""

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.errors import GrammarError, SplError
from spl.formulas.forms import MAX_HOLES, Form, find_columns
from spl.formulas.operators import BUILT_IN, Operator
from spl.formulas.text import parse_expression
from spl.kernels.programs.tokens import MAX_CONSTANTS

COLUMNS = ("p", "T")


def grammar_of(text, operators=("+", "*"), columns=COLUMNS, **settings):
    own = [operator for operator in operators if isinstance(operator, Operator)]
    return Form.from_text(text, columns, own).grammar(operators, **settings)


def test_each_hole_is_a_symbol_for_formulas_of_its_columns():
    grammar = grammar_of("a(T)*exp(-b(p, T)) + C")
    assert str(grammar).splitlines() == [
        "law -> a*exp(-b) + C",
        "a   -> a + a | a*a | C*a | T | C",
        "b   -> b + b | b*b | C*b | p | T | C",
    ]


@pytest.mark.parametrize(
    ("formula", "is_possible"),
    [
        ("T*exp(-p) + 2", True),
        ("(T*T + 3)*exp(-(p*T)) + 0.5", True),
        ("p*exp(-p) + 2", False),  # `a` may not use p
        ("T*exp(-p)", False),
        ("T + p", False),
    ],
)
def test_the_grammar_has_the_formulas_of_the_form_only(formula, is_possible):
    assert grammar_of("a(T)*exp(-b(p, T)) + C").derives(formula) == is_possible


def test_a_form_without_holes_is_a_grammar_of_one_formula():
    grammar = grammar_of("C*T**C + 1")
    assert [rule.text for rule in grammar.rules] == ["C*T**C + 1"]


def test_holes_may_be_without_fitted_numbers():
    assert str(grammar_of("a(T) + C", constants=False)).splitlines()[1] == "a   -> a + a | a*a | T"


def test_a_known_function_is_for_the_form_alone():
    known = Operator("y0", lambda x: np.cos(x) + x)
    other = Operator("bump", lambda x: np.exp(-x * x))
    lines = str(grammar_of("y0(T) + a(p)", ("+", known, other))).splitlines()
    assert lines == ["law -> y0(T) + a", "a   -> a + a | bump(a) | C*a | p | C"]


def test_holes_get_the_usual_operators_if_only_known_functions_are_given():
    known = Operator("y0", lambda x: np.cos(x) + x)
    assert "sin(a)" in str(grammar_of("y0(T) + a(p)", (known,)))


def test_names_in_quotes_are_columns():
    form = Form.from_text("a('flow rate', T) + 'C'", ["flow rate", "T", "C"])
    assert form.holes[0].columns == ("flow rate", "T")
    assert form.template.n_constants == 0


def test_a_hole_may_have_the_name_that_the_start_symbol_usually_has():
    assert [*grammar_of("law(T)*formula(p)").symbols] == ["start", "law", "formula"]


def test_an_own_number_stays_in_the_grammar():
    assert str(grammar_of("K*a(T)")).splitlines()[0] == "law -> K*a"


def test_the_columns_of_a_form_are_its_names():
    assert find_columns("x/(1 + a('flow rate')) - K*exp(b(p, T)) + C") == ("x", "flow rate", "p", "T")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("a(TT)", 1, "Hole 'a' uses a column 'TT' that does not exist. Did you mean 'T'?"),
        ("2 + a(volume)", 5, "Hole 'a' uses a column 'volume' that does not exist. Choose from: p, T."),
        ("a(T) - a(p)", 8, "Hole 'a' appears twice"),
        ("a(T)*(1 - a(T))", 11, "Hole 'a' appears twice"),
        ("a()", 1, "Hole 'a' has no columns. Name those that it may use, as in `a(p, T)`"),
        ("a(T**2)", 1, "Hole 'a' must be given names of columns"),
        ("a(column=T)", 9, "Leave out what is before the '='"),
        ("a(*T)", 1, "Hole 'a' must be given names of columns"),
        ("a(T, T)", 1, "Hole 'a' names a column twice"),
        ("T(p)", 1, "'T' is not an operator. To multiply, write `T * (...)`."),
        ("sine(T)", 1, "There is no operator 'sine'. Did you mean 'sin'?"),
        ("EXP(T)", 1, "There is no operator 'EXP'. Did you mean 'exp'?"),
        ("C(T)", 1, "'C' is a number to be fitted, so it cannot be a hole."),
        ("K(T)", 1, "'K' is a number to be fitted, so it cannot be a hole."),
        ("a'(T)", 1, "A hole cannot be called 'a''."),
        ("A*exp(-T)", 1, "There is no column 'A'. Choose from: p, T. For a number to be fitted write `C`"),
        ("y = a(T)", 3, "A form is the right-hand side alone. Leave out what is before the '='."),
        ("f -> a(T)", 3, "A form is one formula, not rules. Pass rules as a grammar."),
        ("a(T) # mine", 6, "A form has no comments."),
        ("", 1, "There is no formula here."),
        ("a(T", 2, "'(' was never closed"),
        ("a(T)(p)", 1, "`a(T)` cannot be called."),
        ("__import__('os')", 1, "Hole '__import__' uses a column 'os' that does not exist."),
        ("T.real", 1, "`T.real` cannot be used in a formula."),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(text, column, words):
    with pytest.raises(GrammarError, match=re.escape(words)) as caught:
        Form.from_text(text, COLUMNS)
    assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize("given", [None, 3, ["a(T)"], b"a(T)"])
def test_a_form_is_text(given):
    with pytest.raises(GrammarError, match="A form must be text"):
        Form.from_text(given, COLUMNS)
    with pytest.raises(GrammarError, match="A form must be text"):
        find_columns(given)


def test_there_are_not_too_many_holes_and_numbers():
    with pytest.raises(GrammarError, match="more than 8 holes"):
        Form.from_text(" + ".join(f"a{k}(T)" for k in range(MAX_HOLES + 1)), COLUMNS)
    with pytest.raises(GrammarError, match="at most"):
        Form.from_text(" + ".join(["C*T"] * (MAX_CONSTANTS + 1)), COLUMNS)
    with pytest.raises(GrammarError, match="at most"):
        Form.from_text("T" + "+T" * 1000, COLUMNS)


@given(st.text(max_size=30) | st.from_regex(r"[a-c]\((T|p|, |q)*\)[-+*/][A-Z]", fullmatch=True))
def test_any_text_is_a_form_or_a_clear_error(text):
    with suppress(SplError):
        assert Form.from_text(text, COLUMNS).grammar(["+"]).symbols


@pytest.mark.parametrize("name", ["tau", "gamma", "k", "rate", "f", "erf"])
def test_ordinary_names_of_parts_are_no_slips_of_operators(name):
    assert name not in BUILT_IN
    assert Form.from_text(f"{name}(T)", COLUMNS).holes[0].name == name


def test_a_grammar_knows_whether_it_was_made_of_a_form():
    form = Form.from_text("a(T) + C", COLUMNS)
    assert form.is_start_of(form.grammar(["+"]).bind(COLUMNS))
    assert not form.is_start_of(grammar_of("a(T)*C"))
    assert not form.is_start_of(grammar_of("b(T) + C"))


def test_names_called_outside_of_forms_are_no_holes():
    with pytest.raises(SplError, match="There is no operator 'a'"):
        parse_expression("a(T)", Form.from_text("T", COLUMNS).template.vocabulary)
