"""The pool of a grouped search: what it fits, what it leaves alone, and what it calls best."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.pool import MAX_STRUCTURE_NUMBERS, Pool, search_rows, unshare

CODES = np.repeat(np.arange(5), 12)


def decays(rng, noise):
    x = rng.uniform(0.1, 3, CODES.size)
    return make_rows(x, np.linspace(1, 3, 5)[CODES] * np.exp(-0.7 * x) + noise * rng.normal(size=x.size), CODES)


def make_pool(rows, allows=lambda formula: True, must_stop=lambda: False):
    return Pool(rows, allows, lambda program: True, (), must_stop)


def parse(*texts):
    return [parse_expression(text, Vocabulary(("x",))) for text in texts]


def test_the_law_is_best_and_exact_without_noise(rng):
    pool = make_pool(decays(rng, 0.0))
    pool.add(parse("C*x + C", "C*exp(C*x)", "C"), most=3)
    assert to_text(pool.best.formula.program, 4) == "k1*exp(-0.7*x)"
    assert pool.is_exact


def test_with_noise_no_formula_is_exact(rng):
    pool = make_pool(decays(rng, 0.05))
    pool.add(parse("C*exp(C*x)"), most=1)
    assert to_text(pool.best.formula.program, 1) == "k1*exp(-0.7*x)"
    assert not pool.is_exact


def test_a_structure_is_fitted_once_whatever_its_numbers(rng):
    pool = make_pool(decays(rng, 0.05))
    pool.add(parse("2*exp(0.5*x)"), most=1)
    before = pool.n_evaluations
    pool.add(parse("C*exp(C*x)", "3*exp(1.5*x)"), most=2)
    assert pool.n_evaluations == before > 0


def test_structures_with_too_many_numbers_are_not_fitted(rng):
    pool = make_pool(decays(rng, 0.05))
    pool.add(parse(" + ".join(f"C*x**{power}" for power in range(2, MAX_STRUCTURE_NUMBERS + 3))), most=1)
    assert not pool.fits
    assert pool.n_evaluations == 0


def test_numbers_that_the_grammar_shares_stay_shared(rng):
    pool = make_pool(decays(rng, 0.0), allows=lambda formula: formula.is_plain)
    pool.add(parse("C*exp(C*x)"), most=1)
    assert pool.fits
    assert all(fit.formula.is_plain for fit in pool.fits.values())


def test_needless_terms_are_pruned(rng):
    pool = make_pool(decays(rng, 0.02))
    pool.add(parse("C*exp(C*x) + C*x"), most=1)
    longer = pool.length(pool.best)
    pool.prune()
    assert pool.length(pool.best) < longer
    assert to_text(pool.best.formula.program, 1) == "k1*exp(-0.7*x)"


def test_a_pool_that_must_stop_fits_nothing(rng):
    pool = make_pool(decays(rng, 0.0), must_stop=lambda: True)
    pool.add(parse("C*exp(C*x)"), most=1)
    assert pool.best is None
    assert not pool.is_exact


def test_a_structure_has_a_constant_for_each_number():
    structure = unshare(make_formula("k1*exp(C*x) + k2", [-0.7], ([1, 2, 9], [4, 5, 6])))
    assert to_text(structure) == "2*exp(-0.7*x) + 5"
    assert structure.vocabulary.variables == ("x",)


@pytest.mark.parametrize(
    ("max_groups", "max_rows", "expected"), [(2, 100, {1: 30, 3: 20}), (2, 20, {1: 10, 3: 10}), (9, 999, None)]
)
def test_a_search_sees_the_largest_groups_as_far_as_there_is_room(rng, max_groups, max_rows, expected):
    codes = np.repeat(np.arange(4), [5, 30, 10, 20])
    rows = make_rows(np.arange(65.0), np.arange(65.0), codes)
    seen = search_rows(rows, max_groups, max_rows, rng)
    counts = dict(enumerate(seen.groupings[0].count_rows()))
    assert {group: count for group, count in counts.items() if count} == (expected or {0: 5, 1: 30, 2: 10, 3: 20})
    assert np.unique(seen.data.target).size == seen.data.n_rows


def test_structures_are_judged_within_the_grouping_that_suits_them(rng):
    # Rows come metal by metal, so functions of x follow them within the two halves, but not the law.
    metal, half = np.repeat(np.arange(4), 15), np.tile([0, 1], 30)
    x = np.arange(60) + rng.uniform(size=60)
    rows = make_rows(x, np.array([2.0, 3.1, 0.7, 5.0])[metal] * np.sqrt(x) + 0.01 * rng.normal(size=60), metal, half)
    pool = make_pool(rows)
    pool.add(parse("C*sin(C*x) + C*x + C", "C*sqrt(x)", "C*x**2 + C*x", "C*sin(C*x + C)"), most=1)
    assert to_text(pool.best.formula.program) == "k1*sqrt(x)"


def test_a_pool_grows_from_a_formula_to_the_law_beside_it(rng):
    x = rng.uniform(0, 5, CODES.size)
    depth = np.linspace(0.6, 4.0, 5)[CODES]
    pool = make_pool(make_rows(x, np.sqrt(depth + 0.16 * x**2) + 0.02 * rng.normal(size=x.size), CODES))
    pool.add(parse("C*x**2 + C"), most=1)
    pool.grow(lambda: False)
    assert "sqrt" not in to_text(pool.best.formula.program)
    pool.grow()
    assert to_text(pool.best.formula.program, 2) == "sqrt(0.16*x**2 + k1)"


def test_pruning_tries_structures_again_that_had_no_chance_before(rng):
    pool = make_pool(decays(rng, 0.02))
    pool.add(parse("C*exp(C*x)"), most=0)  # seen, but not fitted to all groups
    pool.add(parse("C*exp(C*x)"), most=1)
    assert not pool.fits
    pool.add(parse("C*exp(C*x) + C*x"), most=1)
    pool.prune()
    assert to_text(pool.best.formula.program, 1) == "k1*exp(-0.7*x)"
