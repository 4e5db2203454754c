"""Sums of simple terms, and quotients of such sums, by least squares."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.dynamics.column_subsets import MAX_SUBSET
from spl.dynamics.term_library import TermLibrary
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.notation.terms import has_terms_of
from spl.regression.fit import evaluate, fit

NAMES = ("x", "y")
ALL = Grammar.from_operators(["+", "-", "*", "/", "sin"], NAMES)


@pytest.fixture
def table(rng):
    return rng.uniform(0.5, 3.0, (300, 2))


def propose(table, text, grammar=ALL):
    law = parse_expression(text, Vocabulary(NAMES))
    data = Dataset.from_arrays(table, evaluate(law, np.ascontiguousarray(table.T)), names=NAMES)
    library = TermLibrary.build(grammar.bind(NAMES), data)
    return data, list(library.propose(data.target))


@pytest.mark.parametrize("text", ["x", "0.2*x - 1.5*x**2*y + 3", "2*sin(x) - 0.1*y", "1 - x**3 + y*sin(x)"])
def test_a_law_that_is_a_sum_of_simple_terms_is_among_the_proposals(table, text):
    _, proposals = propose(table, text)
    assert any(has_terms_of(program, text) for program in proposals if "/" not in to_text(program))


@pytest.mark.parametrize("text", ["1.5*x/(0.3 + x)", "(2 - x*y)/(1 + y*y)"])
def test_a_quotient_of_sums_is_among_the_proposals_with_its_numbers(table, text):
    data, proposals = propose(table, text)
    misses = [np.abs(evaluate(program, data.columns) - data.target).max() for program in proposals if len(program) < 25]
    assert min(misses) < 1e-9


@pytest.mark.parametrize("text", ["1.5*x/(0.3 + x) - 0.5*y", "2 - 3*x*y/(1.5 + y)", "x + 4/(1 + y*y)"])
def test_a_sum_with_a_fraction_is_among_the_proposals_near_its_numbers(table, text):
    data, proposals = propose(table, text)
    misses = [fit(program, data).loss / data.spread for program in proposals if program.n_constants <= 3]
    assert min(misses) < 1e-9


def test_numbers_in_a_fraction_keep_its_divisor_away_from_0(table):
    data, proposals = propose(table - 1.5, "x/(3 + y) + x")
    fractions = [program for program in proposals if "/(" in to_text(program)]
    assert fractions
    assert all(np.all(np.isfinite(evaluate(program, data.columns))) for program in fractions)


@pytest.mark.parametrize("operators", [["+", "*"], ["+", "*", "/"]])
def test_all_proposals_can_be_derived_from_the_grammar(table, operators):
    grammar = Grammar.from_operators(operators, NAMES)
    _, proposals = propose(table, "x/(1 + y) + sin(x)", grammar)
    assert proposals
    assert all(grammar.bind(NAMES).derives(program) for program in proposals)


def test_a_grammar_without_sums_gets_no_proposals(table):
    assert propose(table, "x + y", Grammar.from_text("f -> C*x | C*y | C*x + C*y"))[1] == []


def test_no_proposal_has_too_many_terms(table):
    _, proposals = propose(table, "sin(x*y)")
    assert max(program.n_constants for program in proposals) <= MAX_SUBSET + 1


def test_terms_that_leave_their_domain_are_not_used(table):
    grammar = Grammar.from_operators(["+", "*", "log"], NAMES)
    _, proposals = propose(table - 2.0, "x", grammar)
    assert proposals
    assert not any("log" in to_text(program) for program in proposals)
