from itertools import combinations_with_replacement
from unittest import mock

import numpy as np
import pytest
from tests.kernels.program_twins import evaluate_slowly

import spl.regression.bank_build
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN, to_text
from spl.kernels.bank.bank import N_ENTRIES, look_up_entry
from spl.kernels.bank.term_selection import MAX_CLOSER_TERMS
from spl.kernels.bank.value_index import IDENTICAL
from spl.kernels.tree.skeleton import N_FILLED
from spl.regression.bank_build import MAX_MONOMIAL_DEGREE, make_completion, own_scratch
from spl.regression.packing import unpack_program

POLYNOMIALS = "f -> f + f | f * f | x | y"
WAVES = "f -> f + f | f * f | C * f | sin(f) | exp(f) | 2 | x | y"
TWO_SYMBOLS = "f -> f + g | f * f | x\ng -> log(y) | g * g | y"


def make_sample(n_rows=60, low=0.5, variables=("x", "y"), weights=None):
    table = np.random.default_rng(0).uniform(low, 2.0, (n_rows, len(variables)))
    return Dataset.from_arrays(table, table.sum(axis=1), names=variables, weights=weights)


def complete(text, sample=None, n_entries=300, **settings):
    sample = sample or make_sample()
    grammar = Grammar.from_text(text).bind(sample.names)
    quiet = np.errstate(all="ignore")  # as compiled code is
    with quiet, mock.patch.multiple(spl.regression.bank_build, N_CHEAP=50):
        return grammar, make_completion(grammar, sample, n_entries=n_entries, **settings)


def terms_of(completion, symbol=0):
    n_terms = completion.n_terms[symbol]
    tokens, lengths = completion.term_tokens[symbol], completion.term_length[symbol]
    return [tuple(tokens[k, : lengths[k]].tolist()) for k in range(n_terms)]


def text_of(tokens, grammar):
    return to_text(unpack_program(tokens, (), grammar.vocabulary))


def monomials_up_to(degree, columns):
    """Return the values of all monomials by degree."""
    return [
        np.prod([columns[k] for k in factors], axis=0)
        for d in range(1, degree + 1)
        for factors in combinations_with_replacement(range(len(columns)), d)
    ]


def test_the_terms_are_the_monomials_by_degree():
    sample = make_sample()
    _, completion = complete(POLYNOMIALS, sample)
    expected = monomials_up_to(MAX_MONOMIAL_DEGREE, sample.columns)
    assert completion.n_terms[0] == len(expected)
    np.testing.assert_allclose(completion.term_values[0, : len(expected)], expected)


def test_functions_of_one_variable_come_after_the_monomials():
    grammar, completion = complete(WAVES)
    n_monomials = len(monomials_up_to(MAX_MONOMIAL_DEGREE, np.ones((2, 1))))
    texts = [text_of(tokens, grammar) for tokens in terms_of(completion)]
    functions = {"sin(x)", "sin(y)", "exp(x)", "exp(y)"}
    assert functions <= set(texts[n_monomials:])
    assert not functions & set(texts[:n_monomials])


@pytest.mark.parametrize("n_columns", [1, 3, 4, 6, 8])
def test_the_degree_is_the_highest_for_which_all_monomials_have_room(n_columns):
    names = tuple("abcduvwz"[:n_columns])
    sample = make_sample(100, variables=names)
    _, completion = complete("f -> f + f | f * f | " + " | ".join(names), sample)
    sizes = [len(monomials_up_to(d, np.ones((n_columns, 1)))) for d in range(1, MAX_MONOMIAL_DEGREE + 1)]
    assert completion.n_terms[0] == max(size for size in sizes if size <= MAX_CLOSER_TERMS - 2)


@pytest.mark.parametrize("text", [POLYNOMIALS, WAVES, TWO_SYMBOLS])
def test_the_symbol_derives_its_terms_and_they_have_their_values(text):
    sample = make_sample()
    grammar, completion = complete(text, sample)
    assert len(terms_of(completion, 0)) > 5
    for symbol, name in enumerate(grammar.symbols):
        for k, tokens in enumerate(terms_of(completion, symbol)):
            assert grammar.derives_template(tokens, symbol)
            assert grammar.derives(Program(tokens, grammar.vocabulary), name)
            values = evaluate_slowly(tokens, (), grammar.vocabulary.literals, sample.columns)
            np.testing.assert_allclose(completion.term_values[symbol, k], values, rtol=1e-12)


def test_monomials_that_the_grammar_lacks_are_no_terms():
    grammar, completion = complete("f -> f + f | x | x * y")
    assert [text_of(tokens, grammar) for tokens in terms_of(completion)] == ["x", "x*y"]


def test_a_term_that_leaves_its_domain_on_some_row_is_left_out():
    sample = make_sample(low=-2.0)
    grammar, completion = complete("f -> f * f | log(x) | exp(y) | x | y", sample)
    texts = [text_of(tokens, grammar) for tokens in terms_of(completion)]
    assert "exp(y)" in texts
    assert "log(x)" not in texts


@pytest.mark.parametrize("n_rows", [2, 5, 6, 12])
def test_a_combination_of_all_terms_leaves_rows_over(n_rows):
    _, completion = complete(POLYNOMIALS, make_sample(n_rows))
    assert completion.n_terms[0] <= max(n_rows - 5, 0)


def test_the_cheapest_entries_are_evaluated_on_all_rows():
    sample = make_sample(80)
    grammar, completion = complete(WAVES, sample)
    assert completion.n_cheap[0] == 50
    np.testing.assert_allclose(completion.cheap_values[0, 0], np.full(80, 2.0))
    np.testing.assert_allclose(completion.cheap_values[0, 1:3], sample.columns)
    assert grammar.symbols == ("f",)


def test_a_variable_counts_for_a_symbol_that_derives_it_by_itself():
    _, completion = complete("f -> f * g | x\ng -> h | f + y\nh -> y")
    assert completion.variables.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_weights_and_target_are_those_of_the_sample():
    sample = make_sample(40, weights=np.arange(1.0, 41.0))
    _, completion = complete(POLYNOMIALS, sample)
    np.testing.assert_array_equal(completion.weights, sample.weights)
    np.testing.assert_array_equal(completion.wide.rows[:40], sample.target)
    np.testing.assert_array_equal(completion.frame.rows[: completion.frame.n], sample.target[: completion.frame.n])
    assert (completion.frame.n, completion.wide.n) == (32, 40)
    assert completion.wide.columns.shape == (2 + N_FILLED, 40)


def test_a_completion_that_is_not_used_is_empty():
    _, completion = complete(WAVES, is_used=False)
    assert completion.bank.used[N_ENTRIES] == 0
    assert completion.n_terms.tolist() == [0]
    assert completion.n_cheap.tolist() == [0]
    assert completion.bank.values.size < 100


def test_sums_of_1_and_the_cheapest_entries_are_in_the_bank_of_a_grammar_with_numbers():
    sample = make_sample()
    columns = sample.columns[:, :32]
    for text, is_there in (
        ("f -> f + f | f - f | cos(f) | C | x | y", True),
        ("f -> f + f | cos(f) | x | y", False),  # with differences, 1 is cos(x - x)
    ):
        _, completion = complete(text, sample, n_entries=500)
        for values in (1 - np.cos(columns[0]), 1 + np.cos(columns[1])):
            with np.errstate(all="ignore"):
                found = look_up_entry(completion.bank, 0, IDENTICAL, np.ascontiguousarray(values))
            assert (found >= 0) == is_there


def test_no_term_has_a_constant():
    _, completion = complete("f -> f + f | sin(f) | exp(f) | C | x | y")
    assert CONSTANT_TOKEN not in np.concatenate(terms_of(completion))


def test_a_grammar_with_constants_in_every_rule_has_an_empty_bank():
    _, completion = complete("f -> C * x | C * y + C")
    assert completion.bank.used[N_ENTRIES] == 0
    assert completion.n_terms.tolist() == [0]


def test_the_bank_is_shared_and_the_scratch_is_not():
    _, completion = complete(POLYNOMIALS)
    other = own_scratch(completion)
    assert other.bank is completion.bank
    assert other.cheap_values is completion.cheap_values
    for name in ("columns", "rows", "stack"):
        for frame in ("frame", "wide"):
            mine, its = getattr(getattr(completion, frame), name), getattr(getattr(other, frame), name)
            np.testing.assert_array_equal(mine, its)
            assert not np.shares_memory(mine, its)
    assert not np.shares_memory(other.matrix, completion.matrix)
    other.skeleton.length = 7
    other.least_squares.n_best = 7
    assert (completion.skeleton.length, completion.least_squares.n_best) == (0, 0)


def test_the_same_grammar_and_rows_give_the_same_bank():
    (_, first), (_, second) = complete(WAVES), complete(WAVES)
    np.testing.assert_array_equal(first.bank.values, second.bank.values)
    np.testing.assert_array_equal(first.bank.keys, second.bank.keys)


def test_a_monomial_is_spelled_in_the_cheapest_way_of_the_bank():
    grammar, completion = complete("f -> f * f | x**2 | x")
    assert [text_of(tokens, grammar) for tokens in terms_of(completion)[:2]] == ["x", "x**2"]
