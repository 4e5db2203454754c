"""The search for one law with own numbers of groups."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from tests.groups.tables import make_rows

from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.groups.discover import UNEXPLAINED_BY_COLUMNS, discover_any
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

CODES = np.repeat(np.arange(5), 12)
SCALES = np.array([1.0, 1.7, 2.2, 0.6, 3.1])
GRAMMAR = Grammar.from_operators(["+", "-", "*", "/", "exp"], ["x"])


def request_of(rows, grammar=GRAMMAR, n=3_000, **settings):
    return RegressionRequest(rows.data, grammar, groupings=rows.groupings, limits=Limits(max_evaluations=n), **settings)


def decays(rng, noise=0.02, scales=SCALES):
    x = rng.uniform(0.1, 3, CODES.size)
    return make_rows(x, scales[CODES] * np.exp(-0.73 * x) + noise * rng.normal(size=x.size), CODES)


def chosen(found):
    return found.front[found.choose("mdl")]


def summary(found):
    return [(each.program.tokens, each.program.constants, each.loss, each.own) for each in found.front]


def test_decays_of_different_size_share_their_rate(rng):
    best = chosen(discover_any(request_of(decays(rng))))
    assert to_text(best.program, 1) == "k1*exp(-0.7*x)"
    np.testing.assert_allclose(best.own[0].values, SCALES, atol=0.1)
    assert best.program.constants == pytest.approx([-0.73], abs=0.03)


def test_an_exact_law_ends_the_search(rng):
    found = discover_any(request_of(decays(rng, noise=0.0)))
    assert found.stopped == "exact"
    assert to_text(chosen(found).program, 4) == "k1*exp(-0.73*x)"
    assert chosen(found).own[0].values == pytest.approx(SCALES, rel=1e-9)


def test_numbers_of_two_groupings_may_be_factor_and_rate(rng):
    """Neither grouping alone has the law in its groups, and only four rows share both groups."""
    source, material = np.repeat(np.arange(5), 16), np.tile(np.arange(4), 20)
    x = rng.uniform(0.1, 3, 80)
    rates = np.array([0.2, 0.5, 1.1, 1.6])
    rows = make_rows(x, SCALES[source] * np.exp(-rates[material] * x), source, material)
    best = chosen(discover_any(request_of(rows, n=1_500)))
    assert [each.grouping for each in best.own] == ["g", "h"]
    np.testing.assert_allclose(best.own[0].values, SCALES, rtol=1e-9)
    np.testing.assert_allclose(np.abs(best.own[1].values), rates, rtol=1e-9)


def test_the_number_of_workers_does_not_change_the_answer(rng):
    rows = decays(rng, noise=0.1)
    one, two = (discover_any(request_of(rows, n=2_000, n_jobs=n_jobs, seed=3)) for n_jobs in (1, 2))
    assert summary(one) == summary(two)
    assert one.n_evaluations == two.n_evaluations


def test_random_labels_get_no_own_numbers(rng):
    rows = decays(rng, scales=np.full(5, 2.0))
    shuffled = rows.take(rng.permutation(CODES.size))
    mixed = replace(rows, groupings=shuffled.groupings)
    found = discover_any(request_of(mixed))
    assert not chosen(found).own
    assert any("No number of the formula depends on 'g'" in note for note in found.notes)


def test_a_search_that_must_stop_returns_the_best_so_far(rng):
    watched = []
    found = discover_any(request_of(decays(rng)), watch=watched.append, must_stop=lambda: bool(watched))
    assert found.stopped == "interrupted"
    assert len(watched) == 1
    assert to_text(chosen(found).program, 1) == "k1*exp(-0.7*x)"


def test_ctrl_c_returns_the_best_so_far(rng):
    def press_ctrl_c(progress):
        os.kill(os.getpid(), signal.SIGINT)

    found = discover_any(request_of(decays(rng)), watch=press_ctrl_c)
    assert found.stopped == "interrupted"
    assert len(found.front) > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_evaluations_are_counted_and_limited(rng):
    found = discover_any(request_of(decays(rng, 0.3), n=1_000, config=SearchConfig(patience=None)))
    assert found.stopped == "evaluations"
    assert 1_000 <= found.n_evaluations < 2_000


def test_the_grammar_says_which_numbers_are_own(rng):
    found = discover_any(request_of(decays(rng), Grammar.from_text("f -> C*exp(K*x) | C"), n=200))
    texts = [to_text(each.program) for each in found.front if each.own]
    assert texts
    assert all("exp(k1*x)" in text and text.count("k") == 1 for text in texts)


def test_rows_of_weight_zero_are_left_out(rng):
    rows = decays(rng)
    weights = np.where(np.arange(CODES.size) % 12 == 3, 0.0, 1.0)
    spoiled = make_rows(rows.data.columns[0], np.where(weights > 0, rows.data.target, 50.0), CODES, weights=weights)
    found = discover_any(request_of(spoiled, n=1_000))
    assert found.n_rows == int(weights.sum())
    assert to_text(chosen(found).program, 1) == "k1*exp(-0.7*x)"


def test_a_target_that_depends_on_the_group_alone_is_said_to_be_unexplained(rng):
    x = rng.uniform(0, 3, CODES.size)
    found = discover_any(request_of(make_rows(x, SCALES[CODES] + 0.05 * rng.normal(size=x.size), CODES), n=1_000))
    assert to_text(chosen(found).program) == "k1"
    assert UNEXPLAINED_BY_COLUMNS in found.notes


def test_without_groups_it_is_an_ordinary_search(rng):
    rows = decays(rng, noise=0.1)
    request = replace(request_of(rows, n=1_000), groupings=())
    one, other = discover_any(request), discover(request)
    assert [(each.program.tokens, each.loss) for each in one.front] == [
        (each.program.tokens, each.loss) for each in other.front
    ]
