"""Least squares with few terms against numpy."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.bank.term_selection import LEAST_SQUARES, MOST_TERMS, choose_terms, orthogonalise
from spl.kernels.runtime.compiler import make_record

SEEDS = st.integers(0, 2**32 - 1)

call_orthogonalise, call_choose = open_door(orthogonalise), open_door(choose_terms)


def random_matrix(rng, n_terms, n_rows, n_dependent=0):
    """Return terms [n_terms, n_rows], some of them combinations of others, and a goal."""
    terms = rng.standard_normal((n_terms, n_rows))
    for k in rng.choice(np.arange(2, n_terms), n_dependent, replace=False):
        terms[k] = 2.0 * terms[0] - terms[1]
    return terms, rng.standard_normal(n_rows)


def orthogonalised(terms, goal):
    work = make_record(LEAST_SQUARES)
    call_orthogonalise(np.vstack([terms, goal]).ravel(), len(terms) + 1, goal.size, work)
    return work


@settings(max_examples=fewer(50, 15))
@given(SEEDS)
def test_the_triangular_factor_is_that_of_the_terms_and_the_goal(seed):
    terms, goal = random_matrix(np.random.default_rng(seed), 6, 15)
    factor = np.linalg.qr(np.vstack([terms, goal]).T, mode="r")
    factor *= np.sign(np.diag(factor))[:, None]
    np.testing.assert_allclose(np.triu(orthogonalised(terms, goal).r[:7, :7]), factor, atol=1e-10)


@settings(max_examples=fewer(50, 15))
@given(SEEDS)
def test_a_term_that_is_a_combination_of_earlier_ones_has_the_pivot_0(seed):
    terms, goal = random_matrix(np.random.default_rng(seed), 7, 15, n_dependent=2)
    work = orthogonalised(terms, goal)
    ranks = [0, *(np.linalg.matrix_rank(terms[:k]) for k in range(1, 8))]
    is_dependent = [ranks[k + 1] == ranks[k] for k in range(7)]
    assert [work.r[k, k] == 0.0 for k in range(7)] == is_dependent


@settings(max_examples=fewer(50, 15))
@given(SEEDS, st.integers(0, 2))
def test_the_coefficients_of_the_chosen_terms_are_those_of_least_squares(seed, n_dependent):
    rng = np.random.default_rng(seed)
    terms, goal = random_matrix(rng, 8, 30, n_dependent)
    goal += 4.0 * terms[0] - 3.0 * terms[7]
    work = orthogonalised(terms, goal)
    call_choose(work, 8, 30, float(goal @ goal), 1.0)
    kept = work.best_kept[: work.n_best].tolist()
    expected, *_ = np.linalg.lstsq(terms[kept].T, goal, rcond=None)
    np.testing.assert_allclose(work.best_coefficient[: work.n_best], expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=fewer(30, 10))
@given(SEEDS)
def test_no_term_of_the_chosen_set_can_be_left_out_with_a_lower_criterion(seed):
    rng = np.random.default_rng(seed)
    terms, goal = random_matrix(rng, 8, 30)
    goal += 4.0 * terms[0] - 3.0 * terms[7]
    work = orthogonalised(terms, goal)
    call_choose(work, 8, 30, float(goal @ goal), 1.0)
    kept = work.best_kept[: work.n_best].tolist()
    assert {0, 7} <= set(kept)
    best = criterion_of(terms[kept], goal)
    for fewer_terms in itertools.combinations(kept, len(kept) - 1):
        assert criterion_of(terms[list(fewer_terms)], goal) > best - 1e-9


def criterion_of(terms, goal):
    rest = goal - terms.T @ np.linalg.lstsq(terms.T, goal, rcond=None)[0]
    n_rows, n_terms = goal.size, len(terms)
    return n_rows * np.log(rest @ rest / (n_rows - n_terms)) + 2 * n_terms * np.log(n_rows)


def test_at_most_the_allowed_number_of_terms_is_chosen(rng):
    terms, _ = random_matrix(rng, 14, 60)
    goal = terms.sum(axis=0)
    work = orthogonalised(terms, goal)
    call_choose(work, 14, 60, float(goal @ goal), 1.0)
    assert 0 < work.n_best <= MOST_TERMS


def test_a_goal_that_overflowed_ends_the_choice(rng):
    terms, goal = random_matrix(rng, 8, 30)
    work = orthogonalised(terms, goal)
    work.r[:, 8] = np.nan  # of the goal
    call_choose(work, 8, 30, float(goal @ goal), 1.0)  # this once went on for ever
    assert 0 <= work.n_best <= MOST_TERMS
