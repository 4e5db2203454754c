"""Guesses are read against the columns and checked against the grammar."""

import re

import pytest

from spl.errors import GrammarError, SettingError
from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.guesses import MAX_GUESSES, check_guesses, read_guess
from spl.formulas.text import to_text

NAMES = ("p", "T")
USUAL = Grammar.from_operators(DEFAULT_OPERATORS, NAMES)
FORM = Form.from_text("a(T)*exp(-b(p, T)) + C", NAMES)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("T*exp(-p) + 1", "T*exp(-p) + 1"),
        ("2*T/exp(p/T)", "2*T*exp(-(p/T)) + 0"),
        ("exp(-p**2)*T**2 - 3", "T*T*exp(-(p*p)) - 3"),
    ],
)
def test_a_guess_may_spell_a_form_in_another_way(text, spelled):
    assert to_text(read_guess(text, FORM.grammar(DEFAULT_OPERATORS), FORM)) == spelled


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2*q", "The guess '2*q' cannot be read. Column 3: There is no variable 'q'."),
        ("p +", "The guess 'p +' cannot be read. Column 1:"),
        ("", "cannot be read"),
        (
            "tanh(p)",
            "The guess 'tanh(p)' is not among the possible formulas: no formula has 'tanh'. Allow this operator",
        ),
        ("p**T", "no formula has 'pow'."),
        ("p" + "*p" * 200, "parts. Shorten it."),
    ],
)
def test_a_guess_that_is_not_possible_is_named(text, words):
    with pytest.raises(GrammarError, match=re.escape(words)):
        read_guess(text, USUAL)


def test_a_guess_of_another_form_is_named():
    with pytest.raises(GrammarError, match=re.escape("it does not have the form 'a(T)*exp(-b(p, T)) + C'")):
        read_guess("p*exp(-T)", FORM.grammar(DEFAULT_OPERATORS), FORM)


@pytest.mark.parametrize("given", ["x", 3, [3], None, {"x"}, b"x"])
def test_guesses_are_a_list_of_texts(given):
    with pytest.raises(SettingError, match="`guesses` must be a list of formulas"):
        check_guesses(given)


def test_there_are_not_too_many_guesses():
    with pytest.raises(SettingError, match="There are 101 guesses"):
        check_guesses(["x"] * (MAX_GUESSES + 1))


def test_a_guess_that_the_rules_do_not_lead_to_is_named():
    grammar = Grammar.from_text("f -> g*p\ng -> T + C")
    with pytest.raises(GrammarError, match="the operators or the rules do not lead to it"):
        read_guess("p + T", grammar)
