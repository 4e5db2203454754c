"""Simple forms: which there are for a grammar."""

from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.groups.forms import MAX_FORMS, simple_forms


def texts(grammar, columns):
    return [to_text(form) for form in simple_forms(columns, grammar.derives)]


def test_all_forms_belong_to_the_grammar():
    grammar = Grammar.from_operators(["+", "*", "exp"], ["x"], inside="variables")
    forms = simple_forms(["x"], grammar.derives)
    assert forms
    assert all(grammar.derives(form) for form in forms)


def test_a_damped_oscillation_is_a_simple_form():
    grammar = Grammar.from_operators(["+", "*", "exp", "cos"], ["t"])
    assert "C*exp(C*t)*cos(C*t + C)" in texts(grammar, ["t"])


def test_squares_are_written_as_products_if_the_grammar_has_no_squares():
    found = texts(Grammar.from_operators(["+", "*"], ["flow rate"]), ["flow rate"])
    assert "C*('flow rate'*'flow rate')" in found


def test_there_are_forms_of_two_columns_and_never_too_many():
    grammar = Grammar.from_operators(["+", "-", "*", "/", "exp", "log", "sqrt", "sin", "cos"], ["a", "b"])
    found = texts(grammar, ["a", "b"])
    assert "C*a*b" in found
    assert len(found) <= MAX_FORMS
