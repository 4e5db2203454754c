"""What a grammar says about itself: its words, its shortest formula, and how many formulas it has."""

import pytest
from hypothesis import assume, given
from tests.grammar_twins import grammars

from spl.formulas.grammar import Grammar
from spl.formulas.grammar_summary import COUNTED_RULES, summarize_grammar

TEXT = """
    f   -> f + f | f - f | f * f | f / f | exp(f) | sin(arg) | cos(arg) | C * f | x
    arg -> arg + arg | x | x**2 | x**3 | 1
"""


def test_a_grammar_explains_itself_in_a_few_lines():
    assert summarize_grammar(Grammar.from_text(TEXT)).splitlines() == [
        "symbols    f (9 rules), arg (5 rules)",
        "variables  x",
        "operators  +, -, *, /, square, cube, exp, sin, cos",
        "constants  fitted",
        "shortest   x",
        "formulas   about 10^7 of at most 10 rules",
    ]


def test_a_grammar_without_choice_has_one_formula():
    text = Grammar.from_text("f -> sin(g)**4\ng -> C * x").explain()
    assert "f (1 rule), g (1 rule)" in text
    assert "operators  *, sin, **4" in text
    assert "shortest   sin(C*x)**4" in text
    assert "formulas   1 of at most 10 rules" in text


def test_a_shortest_formula_too_long_to_show_is_counted():
    lines = [f"s{n} -> s{n + 1} * s{n + 1}" for n in range(40)]
    grammar = Grammar.from_text("\n".join([*lines, "s40 -> x"]))
    assert grammar.shortest[0] == 2**41 - 1
    assert f"a formula of {2**41 - 1} rules" in grammar.explain()


@pytest.mark.slow
@given(grammars())
def test_the_number_of_formulas_agrees_with_listing_them(grammar):
    assume(len(grammar.rules) < 9)
    counted = int(grammar.explain().rsplit("\n", 1)[1].split()[1].replace(",", "").replace("about", "0"))
    assume(0 < counted < 2000)
    assert counted == len(list_derivations(grammar, COUNTED_RULES))


def list_derivations(grammar: Grammar, max_rules: int) -> list[tuple[int, ...]]:
    """Return all sequences of at most `max_rules` rules that finish, leftmost symbol first."""
    done, waiting = [], [((0,), ())]
    while waiting:
        symbols, taken = waiting.pop()
        if not symbols:
            done.append(taken)
        elif len(taken) + sum(grammar.shortest[symbol] for symbol in symbols) <= max_rules:
            waiting += [
                ((*rule.symbols_used(), *symbols[1:]), (*taken, number))
                for number, rule in enumerate(grammar.rules)
                if rule.symbol == symbols[0]
            ]
    return done


def test_explain_is_the_summary():
    grammar = Grammar.from_text("f -> x | C")
    assert grammar.explain() == summarize_grammar(grammar)
