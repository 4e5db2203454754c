"""The end of a grouped search: all rows, round numbers, short spellings."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.fit import fit_jointly
from spl.groups.grammar import GroupedGrammar
from spl.groups.polish import polish_fits
from spl.groups.pool import Pool
from spl.regression.front import Front

CODES = np.repeat(np.arange(6), 15)
SCALES = np.array([1.13, 1.78, 2.24, 0.63, 3.17, 2.71])
GRAMMAR = GroupedGrammar(Grammar.from_operators(["+", "-", "*", "/", "exp"], ["x"]), ("x",))


def polish(rows, *texts, seen=None, must_stop=lambda: False, grammar=GRAMMAR):
    """Return the fits of formulas on all rows, of which a search saw a part."""
    pool = Pool(rows if seen is None else seen, grammar.allows, grammar.derives, grammar.given, lambda: False)
    pool.add([parse_expression(text, Vocabulary(("x",))) for text in texts], most=len(texts))
    return polish_fits(pool, rows, grammar, must_stop)


def decays(rng, rate, noise=0.02):
    x = rng.uniform(0.1, 3, CODES.size)
    return make_rows(x, SCALES[CODES] * np.exp(rate * x) + noise * rng.normal(size=x.size), CODES)


def test_shared_numbers_become_round_where_the_data_allows_it(rng):
    polished = polish(decays(rng, -0.5), "C*exp(C*x)")[-1]
    assert to_text(polished.formula.program) == "k1*exp(-0.5*x)"
    assert not polished.formula.program.n_constants


def test_rounding_does_not_cost_accuracy(rng):
    rows = decays(rng, -0.5371828, noise=1e-4)
    polished = polish(rows, "C*exp(C*x)")[-1]
    expected = fit_jointly(make_formula("k1*exp(C*x)", [-0.5], (SCALES,)), rows)
    assert to_text(polished.formula.program, 3) == "k1*exp(-0.537*x)"
    assert polished.loss <= 1.01 * expected.loss


def test_own_numbers_are_fitted_anew_beside_round_ones(rng):
    rows = decays(rng, -0.5)
    polished = polish(rows, "C*exp(C*x)")[-1]
    basis, target = np.exp(-0.5 * rows.data.columns[0]), rows.data.target
    expected = np.bincount(CODES, basis * target) / np.bincount(CODES, basis**2)
    np.testing.assert_allclose(polished.formula.values[0], expected, rtol=1e-7)


def test_the_law_is_fitted_to_all_rows_if_the_search_saw_a_part(rng):
    rows = decays(rng, -0.537)
    seen = rows.take(np.flatnonzero((CODES < 3) & (np.arange(CODES.size) % 2 == 0)))
    polished = polish(rows, "C*exp(C*x)", seen=seen)[-1]
    expected = fit_jointly(make_formula("k1*exp(C*x)", [-0.5], (SCALES,)), rows)
    assert polished.loss == pytest.approx(expected.loss, rel=0.02)
    np.testing.assert_allclose(polished.formula.values[0], SCALES, atol=0.05)


def test_a_number_added_in_the_exponent_becomes_a_factor(rng):
    polished = polish(decays(rng, -0.537), "exp(C*x + C)")[-1]
    assert to_text(polished.formula.program, 1) == "k1*exp(-0.5*x)"


def test_a_polish_that_must_stop_still_has_an_answer(rng):
    fits = polish(decays(rng, -0.5), "C*exp(C*x)", "C*x + C", must_stop=lambda: True)
    assert to_text(fits[-1].formula.program, 1) == "k1*exp(-0.5*x)"
    assert all(np.isfinite(fit.loss) for fit in fits)


def test_a_number_that_follows_from_another_is_not_own_even_if_the_formula_gets_longer():
    x = np.tile(np.linspace(0.1, 3, 15), 6)
    rows = make_rows(x, SCALES[CODES] / (x**2 + 1.5 * SCALES[CODES] ** 2 + 2), CODES)
    fits = polish(rows, "C/(x**2 + C)")
    front = Front.from_candidates((fit.candidate(rows) for fit in fits), rows.data.floor, rows.data.n_rows)
    chosen = front[front.choose("mdl", rows.data.n_rows, rows.data.floor)]
    assert chosen.loss <= rows.data.floor
    assert len(chosen.own) == 1
