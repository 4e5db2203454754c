"""The grammar: its checks, its text, and binding to columns."""

import pickle
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grammar_twins import OWN, derive, grammars

from spl.errors import GrammarError
from spl.formulas.grammar import Grammar, Rule
from spl.formulas.program import Vocabulary
from spl.kernels.programs import tokens as tk

TEXT = """
    f   -> f + f | f - f | f * f | f / f | exp(f) | sin(arg) | cos(arg) | C * f | x
    arg -> arg + arg | x | x**2 | x**3 | 1
"""
SEEDS = st.integers(0, 2**32)


@given(grammars())
def test_text_reads_back_to_an_equal_grammar(grammar):
    assert Grammar.from_text(str(grammar), OWN) == grammar


@given(grammars())
def test_a_bound_grammar_reads_back_to_an_equal_one(grammar):
    bound = grammar.bind(["unused", "y [m]", "x"])
    assert Grammar.from_text(str(bound), OWN, variables=bound.vocabulary.variables) == bound


@pytest.mark.slow
@given(grammars(), SEEDS)
def test_binding_changes_the_numbers_of_variables_only(grammar, seed):
    program = derive(grammar, random.Random(seed))
    bound = grammar.bind(["unused", "y [m]", "x"])
    assert bound.derives(program)
    assert [rule.text for rule in bound.rules] == [rule.text for rule in grammar.rules]


@given(grammars(), SEEDS)
def test_no_derivation_is_shorter_than_the_shortest(grammar, seed):
    best = fewest_rules_by_repetition(grammar)
    assert list(grammar.shortest) == best


def fewest_rules_by_repetition(grammar: Grammar) -> list[float]:
    best = [float("inf")] * len(grammar.symbols)
    for _ in grammar.symbols:
        for rule in grammar.rules:
            best[rule.symbol] = min(best[rule.symbol], 1 + sum(best[symbol] for symbol in rule.symbols_used()))
    return best


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The grammar has no rules. Write at least one, for example `f -> f + f | C * f | x`."),
        ("f -> f | x", "The rule 'f -> f' replaces a symbol by itself. Delete it."),
        ("f -> x | sin(x)\n | x", "The rule 'f -> x' appears twice. Delete one of the two."),
        ("f -> x*x | x**2 | square(x)", "The rule 'f -> square(x)' appears twice. Delete one of the two."),
        (
            "A -> x\nB -> x",
            "'B' has rules, but nothing leads to it from 'A'. Use it in a rule, or delete its rules.",
        ),
        (
            "f -> x + g\ng -> sin(g)",
            "'g' can never finish: each of its rules leads to a symbol that never ends. "
            "Give it a rule that ends, for example `g -> C`.",
        ),
        ("A -> B\nB -> A", "'A' can never finish"),
        ("f -> " + " | ".join(f"{n} * x" for n in range(10_001)), "The grammar has 10001 rules; at most 10000"),
    ],
)
def test_rules_that_make_no_grammar_are_refused_with_the_remedy(text, message):
    with pytest.raises(GrammarError) as caught:
        Grammar.from_text(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("tokens", [(), (tk.ADD, tk.VARIABLE << 16), (tk.VARIABLE << 16, tk.VARIABLE << 16)])
def test_tokens_that_are_not_one_tree_are_refused(tokens):
    with pytest.raises(GrammarError, match=re.escape("The tokens of the rule 'f -> ?' are not one tree")):
        Grammar(("f",), (Rule(0, tokens, "?"),), Vocabulary(("x",)))


def test_a_symbol_without_rules_is_refused():
    with pytest.raises(GrammarError, match=re.escape("'g' is a symbol without rules. Give it at least one.")):
        Grammar(("f", "g"), (Rule(0, (tk.SYMBOL << 16 | 1,), "g"),), Vocabulary(()))


def test_a_variable_that_is_not_a_column_is_refused_with_the_nearest():
    grammar = Grammar.from_text("f -> f + f | sin(speed)")
    message = "There is no column 'speed', which the rule 'f -> sin(speed)' uses. Did you mean 'Speed'?"
    with pytest.raises(GrammarError) as caught:
        grammar.bind(["time", "Speed"])
    assert str(caught.value) == message


def test_columns_are_listed_where_none_is_near():
    with pytest.raises(GrammarError, match=re.escape("uses. The columns are: a, 'b c'.")):
        Grammar.from_text("f -> x").bind(["a", "b c"])


def test_a_symbol_named_like_a_column_is_refused():
    with pytest.raises(
        GrammarError, match=re.escape("'f' has rules, but is also a column. Give the symbol another name.")
    ):
        Grammar.from_text("f -> x").bind(["f", "x"])


def test_a_grammar_survives_pickling():
    grammar = Grammar.from_text(TEXT)
    again = pickle.loads(pickle.dumps(grammar))
    assert again == grammar
    assert hash(again) == hash(grammar)
    assert again.derives("sin(x)")
