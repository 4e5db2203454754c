"""Names with primes: the rates of states in formulas and grammars."""

import pytest

from spl.errors import ExpressionError, GrammarError
from spl.formulas.grammar import Grammar
from spl.formulas.primes import count_primes, hide_primes, show_primes, without_primes
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, quote_name, to_text

WORDS = Vocabulary(("x", "x'", "q''", "flow rate", "it's"))


@pytest.mark.parametrize(
    "text", ["x' + x", "2*x'*q''", "sin(x)*x' - 'flow rate'", "q''/x'", "x'**2", "(x - q'')*\"it's\""]
)
def test_a_formula_with_primes_is_read_and_written_back(text):
    assert to_text(parse_expression(text, WORDS)) == text


@pytest.mark.parametrize("text", ["x' + x", "'a' * b'", "'x' | 'y'", "f'{x}'", "no primes", "'it\\'s' + x''"])
def test_hiding_keeps_the_length_and_can_be_undone(text):
    hidden = hide_primes(text)
    assert len(hidden) == len(text)
    assert show_primes(hidden) == text


@pytest.mark.parametrize("text", ["'x' | 'y'", "f'{x}'", "'a b'", 'r"x\'"'])
def test_quotes_stay_quotes(text):
    assert hide_primes(text) == text


def test_a_prime_is_a_terminal_of_a_grammar():
    grammar = Grammar.from_text("f -> f + f | C * x' * g | q''  # it's a comment\ng -> cos(x) | 'a b'")
    assert grammar.vocabulary.variables == ("x'", "q''", "x", "a b")
    assert Grammar.from_text(str(grammar)) == grammar
    assert grammar.derives("2*x'*cos(x) + q''")


def test_an_unknown_prime_is_refused_with_its_place():
    with pytest.raises(GrammarError, match=r"Line 1, column 11: There is no variable 'z''\. Known names: f, x, x'\."):
        Grammar.from_text("f -> x' | z' + x", variables=("x", "x'"))


def test_a_rate_that_the_search_does_not_allow_is_refused_with_the_remedy():
    grammar = "f -> C * x' | y"
    with pytest.raises(GrammarError, match=r"There is no variable 'x''\. The rates of other states .* `implicit=True`"):
        Grammar.from_text(grammar, variables=("x", "y"))
    with pytest.raises(GrammarError, match=r"There is no column 'x'', .* `--implicit`"):
        Grammar.from_text(grammar).bind(("x", "y"))


def test_a_rate_is_not_called():
    with pytest.raises(ExpressionError, match=r"'x'' is not an operator\. To multiply, write `x' \* \(\.\.\.\)`\."):
        parse_expression("x'(x)", WORDS)


def test_names_with_primes_need_no_quotes_unless_their_word_does():
    assert [quote_name(name) for name in ("x'", "q''", "a b'", "sin'", "x'''")] == [
        "x'",
        "q''",
        '"a b\'"',
        '"sin\'"',
        "\"x'''\"",
    ]


def test_primes_are_counted_up_to_two():
    assert [count_primes(name) for name in ("x", "x'", "x''", "x'''")] == [0, 1, 2, 0]
    assert without_primes("omega2'") == "omega2"
