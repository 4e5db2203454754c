"""What the equation of a state may be."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.dynamics.proposals import (
    MAX_SHORT,
    MAX_TRIED_COST,
    NEAR_FRONT,
    Proposals,
    TermSums,
    can_be_fitted,
    find_simple_starts,
    fit_sums,
)
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.notation.terms import has_terms_of
from spl.regression.candidate import Candidate
from spl.regression.fit import fit
from spl.regression.front import Front

NAMES = ("x", "y")
WORDS = Vocabulary(NAMES)
GRAMMAR = Grammar.from_operators(["+", "-", "*", "/", "sin"], NAMES).bind(NAMES)
LAW = "2*x - 0.5*x*y"


@pytest.fixture(scope="module")
def data():
    x, y = np.random.default_rng(0).uniform(0.5, 3.0, (2, 300))
    return Dataset.from_arrays(np.column_stack([x, y]), 2 * x - 0.5 * x * y, names=NAMES)


@pytest.fixture(scope="module")
def sums(data):
    return fit_sums(data, GRAMMAR)


def fitted(data, *texts):
    return [fit(parse_expression(text, WORDS), data) for text in texts]


def candidate(text, loss):
    return Candidate(parse_expression(text, WORDS), loss)


def propose(data, sums, losses):
    """Return proposals from a front and from sums whose losses are given by text."""
    front, others = ([candidate(text, loss) for text, loss in each.items()] for each in losses)
    return Proposals(data, Front(tuple(front)), TermSums(sums.library, tuple(others)))


def test_sums_are_fitted_as_long_as_there_is_time(data, sums):
    none = fit_sums(data, GRAMMAR, max_seconds=-1.0)
    assert len(sums.candidates) > 10
    assert none.candidates == ()
    assert none.library.terms == sums.library.terms


def test_sums_join_a_front_where_they_are_better(data, sums):
    front = Front.from_candidates(fitted(data, "C*x", "C*x + C*y"))
    joined = sums.join(front, data, data.floor)
    assert joined[0].program == front[0].program
    assert has_terms_of(joined[-1].program, LAW)
    assert joined[-1].loss < 1e-9 < front[-1].loss


def test_a_cheaper_and_better_sum_is_not_lost_to_one_with_coarser_numbers(data, sums):
    cheap = replace(candidate("x + y", 1e-3), number_nats=40.0)
    costly = replace(candidate("x*x*y + y", 0.1), number_nats=1.0)
    joined = TermSums(sums.library, (cheap, costly)).join(Front(()), data, data.floor)
    assert [each.loss for each in joined] == [1e-3]


def test_sums_are_exact_if_a_short_one_is_as_accurate_as_the_derivatives(data, sums):
    short = TermSums(sums.library, (candidate("C*x", 1e-9),))
    assert short.are_exact(1e-9)
    assert not short.are_exact(1e-10)
    assert not short.are_exact(0.0)
    long = "+".join(f"C*x**{k}" for k in range(1, MAX_SHORT + 2))
    assert not TermSums(sums.library, (candidate(long, 1e-9),)).are_exact(1e-9)


def test_products_that_the_library_lacks_are_among_the_sums():
    x, y, z = np.random.default_rng(0).normal(size=(3, 300))
    table, names = np.column_stack([x, y, z]), ("x", "y", "z")
    data = Dataset.from_arrays(table, z * z * np.sin(x - y) - 3 * np.sin(x), names=names)
    found = fit_sums(data, Grammar.from_operators(["+", "-", "*", "sin"], names).bind(names), seed=1)
    assert min(each.loss for each in found.candidates if each.program.n_constants == 2) < 1e-9


def test_formulas_come_by_cost_each_with_the_row_of_the_front_at_its_cost(data, sums):
    spread = data.spread
    proposals = propose(data, sums, ({"x": 0.4 * spread, "x*y": 0.2 * spread}, {"x + y*y": 0.21 * spread}))
    assert [(row, to_text(each.program)) for row, each in proposals.formulas()] == [
        (0, "x"),
        (1, "x*y"),
        (1, "x + y*y"),
    ]


def test_a_formula_is_proposed_once_however_it_is_written(data, sums):
    loss = 0.2 * data.spread
    proposals = propose(data, sums, ({"x*y": loss}, {"y*x": loss * (1 + 1e-9)}))
    assert len(list(proposals.formulas())) == 1


@pytest.mark.parametrize("share", [0.6, 0.1 * NEAR_FRONT * 1.01])
def test_a_formula_that_explains_too_little_is_not_proposed(data, sums, share):
    proposals = propose(data, sums, ({"x": 0.1 * data.spread}, {"x*y": share * data.spread}))
    assert [to_text(each.program) for _, each in proposals.formulas()] == ["x"]


def test_a_formula_that_costs_too_much_is_not_proposed(data, sums):
    costly = "*".join("x" * MAX_TRIED_COST)
    proposals = propose(data, sums, ({"x": 0.1 * data.spread}, {costly: 0.01 * data.spread}))
    assert [to_text(each.program) for _, each in proposals.formulas()] == ["x"]


def test_the_terms_for_a_formula_begin_with_the_one_it_lacks(data, sums):
    [short] = fitted(data, "C*x")
    short = short.program.with_constants([2.0])
    terms = Proposals(data, Front(()), sums).terms_for(short)
    assert terms[0] == parse_expression("x*y", WORDS).tokens


def test_the_simplest_row_is_the_first_that_explains_most_of_the_derivative(data, sums):
    losses = {"x": 0.5 * data.spread, "x*y": 0.19 * data.spread, "x*y + x": 0.05 * data.spread}
    assert propose(data, sums, (losses, {})).simplest_row(1.1, is_clean=False) == 1


def test_the_simplest_row_of_a_poor_front_is_near_its_best(data, sums):
    losses = {"x": 0.9 * data.spread, "x*y": 0.6 * data.spread, "x*y + x": 0.5 * data.spread}
    rows = [propose(data, sums, (losses, {})).simplest_row(near, is_clean=False) for near in (1.9, 1.3, 1.1)]
    assert rows == [0, 1, 2]


def test_the_simplest_row_for_clean_data_is_exact(data, sums):
    losses = {"x": 0.1 * data.spread, "x*y": 1e-3 * data.spread, "x*y + x": 1e-6 * data.spread}
    proposals = propose(data, sums, (losses, {}))
    assert [proposals.simplest_row(1.1, is_clean=is_clean) for is_clean in (False, True)] == [0, 2]


def test_a_simple_formula_is_kept_unless_a_costlier_one_is_much_closer(data, sums):
    losses = {"x": 0.5 * data.spread, "x*y": 0.11 * data.spread, "x*y + x": 0.1 * data.spread}
    proposals = propose(data, sums, (losses, {}))
    assert proposals.keep_simple(1, 2) == 1
    assert proposals.keep_simple(0, 2) == 2


def test_a_program_that_is_too_long_for_the_kernels_cannot_be_fitted():
    assert can_be_fitted(parse_expression("x + y", WORDS))
    assert not can_be_fitted(parse_expression("+".join("x" * tk.MAX_PROGRAM_LENGTH), WORDS))


def test_starts_are_rows_of_simple_formulas_closer_and_closer_to_the_best(data, sums):
    losses = {"C": 1.5 * data.spread, "C*x": 1.25 * data.spread, "C*x + C*y": data.spread}
    proposals = propose(data, sums, [losses, {}])
    assert find_simple_starts([proposals], is_clean=False) == [(0,), (1,), (2,)]
