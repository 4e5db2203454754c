"""Sums of products of two factors, and quotients of such sums, that are close to a target."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.dynamics.product_terms import MAX_EXCHANGE_FACTORS, MAX_SUM_PRODUCTS, ProductTerms
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.notation.terms import has_terms_of
from spl.regression.fit import evaluate

NAMES = ("q", "p", "w")
OPERATORS = ("+", "-", "*", "/", "sin", "cos")
ALL = Grammar.from_operators(OPERATORS, NAMES)


@pytest.fixture
def table(rng):
    return rng.normal(size=(300, 3)) * [1.0, 1.0, 3.0]


def propose(table, text, grammar=ALL):
    law = parse_expression(text, Vocabulary(NAMES))
    data = Dataset.from_arrays(table, evaluate(law, np.ascontiguousarray(table.T)), names=NAMES)
    terms = ProductTerms.build(grammar.bind(NAMES), data)
    return data, list(terms.propose(data.target, np.random.default_rng(0)))


def smallest_miss(data, proposals):
    return min(np.abs(evaluate(program, data.columns) - data.target).max() for program in proposals)


def test_a_sum_of_products_with_sines_of_differences_is_among_the_proposals(table):
    text = "0.5*w*cos(q - p) - 2*w*w*sin(q - p) + 9.81*sin(q)"
    _, proposals = propose(table, text)
    assert any(has_terms_of(program, text) for program in proposals if tk.DIV not in program.tokens)


@pytest.mark.parametrize(
    "text",
    [
        "(w - 2*w*w*sin(q) + 5*sin(q)*cos(q))/(1 + 0.5*sin(q)*sin(q))",
        "(sin(q)*cos(q - p) + w*w*sin(q - p)*cos(q - p))/(1 + sin(q - p)*sin(q - p))",
    ],
)
def test_a_quotient_of_sums_of_products_is_among_the_proposals_with_its_numbers(table, text):
    data, proposals = propose(table, text)
    assert smallest_miss(data, proposals) < 1e-9


def test_a_quotient_without_a_number_below_is_among_the_proposals(table):
    data, proposals = propose(table + 10.0, "(q + 3*p*w)/(w*w + 2*p*q)")
    assert smallest_miss(data, proposals) < 1e-6


@pytest.mark.parametrize("operators", [["+", "*"], ["+", "*", "/"], ["+", "-", "*", "cos"], OPERATORS])
def test_all_proposals_can_be_derived_from_the_grammar(table, operators):
    grammar = Grammar.from_operators(operators, NAMES)
    _, proposals = propose(table, "w*cos(q - p)/(2 + sin(q)) + p", grammar)
    assert proposals
    assert all(grammar.bind(NAMES).derives(program) for program in proposals)


def test_products_that_the_grammar_does_not_allow_are_not_proposed(table):
    grammar = Grammar.from_text("f -> f + f | C*g\ng -> q | p | w | q*w")
    _, proposals = propose(table, "q*w + p*w", grammar)
    words = Vocabulary(NAMES)
    used = {to_text(Program(program.tokens, words, program.constants)) for program in proposals}
    assert any("q*w" in text for text in used)
    assert not any("p*w" in text for text in used)
    assert all(grammar.bind(NAMES).derives(program) for program in proposals)


def test_a_grammar_without_sums_gets_no_proposals(table):
    assert propose(table, "q + p", Grammar.from_text("f -> C*q | C*p | C*q + C*p"))[1] == []


def test_a_target_of_0_gets_no_proposals(table):
    assert propose(table, "q - q")[1] == []


def test_a_single_row_gets_proposals(table):
    assert propose(table[:1], "q + p")[1]


def test_no_proposal_has_too_many_terms(table):
    _, proposals = propose(table, "sin(q*p*w)")
    assert 3 < max(program.n_constants for program in proposals) <= MAX_SUM_PRODUCTS + 1


def test_factors_that_leave_their_domain_are_not_used(table):
    grammar = Grammar.from_operators(["+", "*", "log"], NAMES)
    _, proposals = propose(table, "q*p + w", grammar)
    assert proposals
    assert not any("log" in to_text(program) for program in proposals)


@pytest.mark.parametrize("size", [1e-140, 1e-60, 1e60, 1e140])
def test_huge_and_tiny_columns_give_finite_proposals(table, size):
    data, proposals = propose(size * table, "q + 2*p")
    assert all(np.all(np.isfinite(program.constants)) for program in proposals)
    assert smallest_miss(data, proposals) < 1e-6 * size


def test_with_many_columns_groups_of_factors_are_left_out(rng):
    names = tuple(f"x{k}" for k in range(12))
    data = Dataset.from_arrays(rng.normal(size=(50, 12)), rng.normal(size=50), names=names)
    terms = ProductTerms.build(Grammar.from_operators(OPERATORS, names).bind(names), data)
    assert 50 < len(terms.factors) <= MAX_EXCHANGE_FACTORS
    assert not any(tk.SUB in factor for factor in terms.factors)


def test_proposals_end_when_they_must_stop(table):
    data = Dataset.from_arrays(table, np.sin(table).sum(axis=1), names=NAMES)
    terms = ProductTerms.build(ALL.bind(NAMES), data)
    proposals = list(terms.propose(data.target, np.random.default_rng(0), must_stop=lambda: True))
    assert proposals
    assert max(program.n_constants for program in proposals) == 1
