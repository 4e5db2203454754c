"""Reading a grammar from text and files: the format, and where and how mistakes are shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.own_operators import SINC

from spl.errors import GrammarError
from spl.formulas.grammar import Grammar, Rule
from spl.formulas.grammar_text import looks_like_rules, read_text_or_file
from spl.kernels.programs import tokens as tk

X = tk.VARIABLE << tk.KIND_SHIFT
F, G = tk.SYMBOL << tk.KIND_SHIFT, tk.SYMBOL << tk.KIND_SHIFT | 1
C = tk.CONSTANT << tk.KIND_SHIFT


def test_a_grammar_is_read_into_symbols_rules_and_words():
    grammar = Grammar.from_text("f -> f + g | C * f | 2\ng -> x**2 | y")
    assert grammar.symbols == ("f", "g")
    assert grammar.rules == (
        Rule(0, (tk.ADD, F, G), "f + g"),
        Rule(0, (tk.MUL, C, F), "C * f"),
        Rule(0, (tk.LITERAL << tk.KIND_SHIFT,), "2"),
        Rule(1, (tk.SQUARE, X), "x**2"),
        Rule(1, (X + 1,), "y"),
    )
    assert grammar.vocabulary.variables == ("x", "y")
    assert grammar.vocabulary.literals == (2.0,)
    assert grammar.shortest == (1, 1)


def test_comments_blank_lines_continuations_and_repeated_symbols_are_read():
    text = """
    # what we know
    f -> f + f   # sums
       | g       # and more

    g -> 'a # b | c -> d'
    f -> x
    """
    grammar = Grammar.from_text(text)
    assert [(rule.symbol, rule.text) for rule in grammar.rules] == [
        (0, "f + f"),
        (0, "g"),
        (1, "'a # b | c -> d'"),
        (0, "x"),
    ]
    assert grammar.vocabulary.variables == ("a # b | c -> d", "x")


def test_the_arrow_of_typography_is_read():
    assert Grammar.from_text("f → f + g | x\ng -> 'a → b'") == Grammar.from_text("f -> f + g | x\ng -> 'a → b'")


@pytest.mark.parametrize("arrow", ["=>", "==>", "-->", "::=", ":=", "=", ":", "–>", "⇒", "⟶"])
def test_another_arrow_is_refused_with_the_rule_as_it_should_be(arrow):
    message = f"Line 2, column 3: The arrow of a rule is `->`, not `{arrow}`. Write `g -> x | 2 * x`.\n"
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar.from_text(f"f -> g\ng {arrow} x | 2 * x  # why")


def test_windows_line_ends_are_read():
    assert len(Grammar.from_text("f -> x\r\n  | y\r\n").rules) == 2


def test_a_symbol_may_have_any_name_in_quotes():
    grammar = Grammar.from_text("'my f' -> 'my f' * x | \"inner one\"\n'inner one' -> sin(x)")
    assert grammar.symbols == ("my f", "inner one")
    assert grammar.derives("sin(x) * x")


def test_a_quoted_name_of_an_operator_is_a_variable():
    assert Grammar.from_text("f -> 'max' + 'C'").vocabulary.variables == ("max", "C")


def test_operators_of_your_own_can_be_called():
    grammar = Grammar.from_text("f -> sinc(f) | x", own=[SINC])
    assert grammar.rules[0].tokens == (tk.USER_UNARY, F)


def test_given_variables_keep_their_numbers():
    grammar = Grammar.from_text("f -> b", variables=["a", "b"])
    assert grammar.rules[0].tokens == (X + 1,)


def test_unit_rules_in_a_circle_are_allowed():
    assert Grammar.from_text("A -> B | x\nB -> A").shortest == (1, 2)


def test_long_lines_are_printed_in_several():
    text = "f -> " + " | ".join(f"{n} * x" for n in range(100))
    printed = str(Grammar.from_text(text))
    assert max(map(len, printed.splitlines())) <= 110
    assert Grammar.from_text(printed) == Grammar.from_text(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "f -> x\ng",
            "Line 2, column 1: There is no `->`. Write `name -> formula | formula`, or begin with `|` to continue the rule above.\n"
            "    g\n    ^",
        ),
        ("| x", "Line 1, column 1: There is no `->`."),
        ("f ->", "Line 1, column 5: An alternative of 'f' is empty. Write a formula, or delete the sign before it."),
        ("f -> x |", "Line 1, column 9: An alternative of 'f' is empty."),
        ("f -> x || y", "Line 1, column 9: An alternative of 'f' is empty."),
        ("f -> x\n |", "Line 2, column 3: An alternative of 'f' is empty."),
        (
            "f g -> x",
            "Line 1, column 1: The left-hand side must be one name; it is `f g`. "
            "Names that are not plain words need quotes.",
        ),
        ("-> x", "The left-hand side must be one name; there is none."),
        ("2 -> x", "The left-hand side must be one name; it is `2`."),
        ("lambda -> x", "The left-hand side must be one name; it is `lambda`."),
        ("'f' + 'g' -> x", "The left-hand side must be one name; got 'f' + 'g'."),
        ("C -> x", "A symbol cannot be named 'C', which is the constant to be fitted. Give it another name."),
        ("sin -> x", "A symbol cannot be named 'sin', which is an operator. Give it another name."),
        ("sinc -> x", "A symbol cannot be named 'sinc', which is an operator. Give it another name."),
        ("f -> x -> y", "Line 1, column 8: This line has a second `->`. Give each symbol its own line."),
        ("f -> 'x", "Line 1, column 6: This quote is never closed.\n    f -> 'x\n         ^"),
        (
            "f -> x\n   | x + * y  # why",
            "Line 2, column 10: The formula cannot be read from here on. Is an operator or an argument missing, or one "
            "too many?\n       | x + * y  # why\n             ^",
        ),
        ("f -> (x | y)", "Line 1, column 7: `x | y` cannot be used in a formula."),
        ("f -> x^2", "Line 1, column 6: '^' is not a power here. Write `**`, as in `x**2`."),
        ("f -> x | sine(f)", "Line 1, column 10: There is no operator 'sine'. Did you mean 'sin'?"),
        ("f -> x | min(f)", "Line 1, column 10: Operator 'min' takes two arguments; here it has 1. Write min(a, b)."),
        ("f -> x | sin", "Line 1, column 10: Operator 'sin' needs its argument in brackets: sin(...)."),
        ("f -> x + f(2)", "'f' is not an operator. To multiply, write `f * (...)`."),
        (b"f -> x", "A grammar must be text; got bytes."),
        ("f -> x" + " " * 1_000_000, "The grammar has 1000006 characters; at most 1000000 are read."),
    ],
)
def test_a_mistake_is_refused_with_its_place_and_the_remedy(text, message):
    with pytest.raises(GrammarError) as caught:
        Grammar.from_text(text, own=[SINC])
    assert message in str(caught.value)


def test_a_name_that_is_not_among_the_given_variables_is_refused():
    message = "Line 1, column 10: There is no variable 'sped'. Did you mean 'speed'?"
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar.from_text("f -> f + sped", variables=["speed", "time"])


def test_a_symbol_named_like_a_given_variable_is_refused():
    with pytest.raises(GrammarError, match=re.escape("'x' has rules, but is also a column.")):
        Grammar.from_text("x -> x + x | C", variables=["x"])


@given(st.text(max_size=60) | st.text("fgxC2 ->|#'\"\\()+*\n,", max_size=60))
def test_any_text_is_read_or_refused_with_our_error(text):
    try:
        grammar = Grammar.from_text(text)
    except GrammarError:
        return
    assert Grammar.from_text(str(grammar)) == grammar


def test_a_file_is_read_with_or_without_a_mark_at_its_beginning(tmp_path):
    path = tmp_path / "rules.txt"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text("f -> f + 'é' | x", encoding=encoding)
        assert Grammar.from_file(path).vocabulary.variables == ("é", "x")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    message = f"The grammar file '{tmp_path / 'no.txt'}' cannot be read: No such file or directory."
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar.from_file(tmp_path / "no.txt")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_bytes(b"f -> \xff")
    with pytest.raises(GrammarError, match=r"is not text in UTF-8. Save it as UTF-8."):
        Grammar.from_file(path)


def test_rules_in_place_of_a_file_are_told_to_be_rules():
    with pytest.raises(GrammarError, match=re.escape("These are rules; write them into a file and name it here.")):
        Grammar.from_file("f -> f + f | x")


def test_a_text_is_rules_or_names_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "law=1").write_text("f -> x + x", encoding="utf-8")
    assert read_text_or_file("law=1") == Grammar.from_text("f -> x + x")
    assert read_text_or_file("f → x + x") == Grammar.from_text("f -> x + x")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "`grammar` is empty. Write rules, such as `f -> f + f | C * f | x`, or name a file that has them."),
        (" \n", "`grammar` is empty."),
        ("f => a", "The arrow of a rule is `->`, not `=>`. Write `f -> a`."),
        ("f = a", "The arrow of a rule is `->`, not `=`. Write `f -> a`."),
        ("f ::= a | b", "The arrow of a rule is `->`, not `::=`. Write `f -> a | b`."),
        ("a | b", "There is no `->`."),
        ("laws.txt", "'laws.txt' is neither a file nor a grammar. Rules are written with an arrow: `f -> f + f"),
        ("C:\\laws.txt", "'C:\\laws.txt' is neither a file nor a grammar."),
        ("x" * 5_000, "is neither a file nor a grammar."),
        ("a\0b", "is neither a file nor a grammar."),
    ],
)
def test_a_text_that_is_neither_rules_nor_a_file_is_explained(given, message):
    with pytest.raises(GrammarError, match=re.escape(message)):
        read_text_or_file(given)


@pytest.mark.parametrize("path", ["law.grammar", "rules/noise=1.txt", "C:\\laws", "c:/laws", "~/a b.txt"])
def test_a_path_does_not_look_like_rules(path):
    assert not looks_like_rules(path)


def test_a_path_that_cannot_be_one_is_refused():
    with pytest.raises(GrammarError, match="cannot be read"):
        Grammar.from_file("a\0b")
