from dataclasses import fields, replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.kernels.tree.ledger import RECORD
from spl.regression.bank_build import make_completion
from spl.regression.fit import root_mean_square_error
from spl.regression.searcher import Searcher
from spl.settings import SearchConfig

NEVER = np.iinfo(np.int64).max


def make_data(law=lambda x: x**2 + x, n_rows=60):
    x = np.random.default_rng(0).uniform(-3, 3, n_rows)
    return Dataset.from_arrays(x[:, None], law(x), names=["x"])


def make_searcher(text="f -> f + f | f * f | C * f | x", data=None, seed=1, **settings):
    settings = {"max_rules": 12, "n_episodes": 2_000} | settings
    grammar, data, config = Grammar.from_text(text).bind(["x"]), data or make_data(), SearchConfig(**settings)
    return Searcher(grammar, data, config, seed, make_completion(grammar, data, is_used=config.n_completions > 0))


def grow(searcher, n_episodes=400, max_evaluations=NEVER, must_stop=lambda: False):
    searcher.grow(n_episodes, max_evaluations, must_stop)
    return searcher


def summary(searcher):
    return [(c.program.tokens, c.program.constants, c.loss, c.reward) for c in searcher.candidates()]


@pytest.mark.search
def test_the_losses_of_the_candidates_are_those_on_the_sample():
    data = make_data()
    candidates = grow(make_searcher(data=data)).candidates()
    assert len(candidates) > 3
    for candidate in candidates:
        assert candidate.loss == pytest.approx(root_mean_square_error(candidate.program, data), rel=1e-9, abs=1e-13)


def test_the_reward_is_relative_to_the_spread_unless_asked_otherwise():
    data = make_data(lambda x: 1e3 * x**2)
    for relative in (True, False):
        searcher = grow(make_searcher("f -> x", data, relative_loss=relative, eta=0.5), 10)
        [best, _] = searcher.candidates()
        scale = data.spread if relative else 1.0
        assert best.reward == pytest.approx(0.5 / (1 + best.loss / scale))


@pytest.mark.search
def test_the_grammar_derives_every_candidate():
    searcher = grow(make_searcher())
    grammar = Grammar.from_text("f -> f + f | f * f | C * f | x").bind(["x"])
    assert len(searcher.candidates()) > 3
    assert all(grammar.derives(candidate.program) for candidate in searcher.candidates())


def test_a_fresh_searcher_has_found_nothing():
    searcher = make_searcher()
    assert (searcher.candidates(), searcher.modules(), searcher.n_episodes, searcher.n_evaluations) == ([], [], 0, 0)


def test_growing_runs_as_many_episodes_as_asked_for():
    searcher = make_searcher()
    assert grow(grow(searcher, 70), 30).n_episodes == 100


def test_growing_stops_when_told_to():
    assert grow(make_searcher(), must_stop=lambda: True).n_episodes <= 4  # the first few give an answer in any case


def test_growing_stops_when_the_evaluations_are_used_up():
    searcher = grow(make_searcher(), 2_000, max_evaluations=50)
    assert 50 <= searcher.n_evaluations < 50 + 10


def test_a_small_grammar_is_exhausted():
    searcher = grow(make_searcher("f -> x + g | x\ng -> x | 2"), 100)
    assert searcher.is_exhausted
    assert sorted(to_text(candidate.program) for candidate in searcher.candidates())[0] == "x"


def test_a_large_grammar_is_not_exhausted():
    assert not grow(make_searcher(), 100).is_exhausted


def test_a_full_tree_is_not_exhausted():
    assert not grow(make_searcher(n_episodes=5), 100).is_exhausted


@pytest.mark.search
def test_the_same_seed_finds_the_same_candidates():
    assert summary(grow(make_searcher(seed=7))) == summary(grow(make_searcher(seed=7)))


@pytest.mark.search
def test_another_seed_finds_other_candidates():
    assert summary(grow(make_searcher(seed=7), 20)) != summary(grow(make_searcher(seed=8), 20))


@pytest.mark.search
def test_modules_come_best_first_with_the_rules_of_their_derivation():
    searcher = grow(make_searcher("f -> f + f | f * f | x", module_size=5, max_modules=4))
    modules = searcher.modules()
    assert [module.reward for module in modules] == sorted((module.reward for module in modules), reverse=True)
    assert len(modules) == 4
    for module in modules:
        assert module.size == len(module.program.tokens) <= 5  # in this grammar each rule adds one token


@pytest.mark.search
def test_forgotten_modules_are_gone():
    searcher = grow(make_searcher())
    searcher.forget_modules()
    assert searcher.modules() == []


@pytest.mark.search
def test_a_planted_module_is_used_in_the_next_tree():
    searcher = grow(make_searcher("f -> f + f | f * f | x", max_rules=30, module_size=9), 300)
    best = searcher.modules()[0]
    searcher.plant([best], 9)
    assert searcher.planted == (best,)
    grow(searcher, 1)
    assert searcher.n_episodes == 301


@pytest.mark.search
def test_what_was_found_outlives_the_tree():
    searcher = grow(make_searcher())
    before = {candidate.cost: candidate.loss for candidate in searcher.candidates()}
    searcher.plant((), 5)
    after = {candidate.cost: candidate.loss for candidate in grow(searcher, 50).candidates()}
    assert len(before) > 3
    assert all(after[cost] <= loss for cost, loss in before.items())


def test_a_grammar_whose_shortest_formula_exceeds_max_rules_still_gives_it():
    searcher = grow(make_searcher("f -> sin(g)\ng -> cos(h)\nh -> x", max_rules=1), 20)
    assert [to_text(candidate.program) for candidate in searcher.candidates()][:1] == ["sin(cos(x))"]


@pytest.mark.search
def test_a_searcher_goes_on_from_the_state_of_another_as_that_one_would_have():
    settings = {"max_modules": 3, "module_size": 6}
    first = grow(make_searcher(**settings), 150)
    first.plant(first.modules(), 8)
    grow(first, 60)
    second = make_searcher(seed=99, **settings)
    second.restore(first.state())
    assert (second.n_episodes, second.n_evaluations, second.n_grown) == (210, first.n_evaluations, 60)
    assert second.planted == first.planted
    for searcher in (first, second):
        grow(searcher, 100)
    assert summary(first) == summary(second)
    assert first.modules() == second.modules()
    assert_same(first.state(), second.state())


def test_a_state_does_not_change_when_the_searcher_goes_on():
    searcher = grow(make_searcher(), 50)
    state, copy = searcher.state(), searcher.state()
    grow(searcher, 50)
    assert_same(state, copy)


def test_a_tree_that_used_up_its_evaluations_grows_on_after_restoring():
    searcher = grow(make_searcher(), 100, max_evaluations=50)
    assert searcher.is_done
    n_before = searcher.n_episodes
    searcher.restore(searcher.state())
    assert grow(searcher, 10).n_episodes == n_before + 10


def test_an_exhausted_tree_is_exhausted_after_restoring():
    searcher = grow(make_searcher("f -> x + g | x\ng -> x | 2"), 100)
    other = make_searcher("f -> x + g | x\ng -> x | 2")
    other.restore(searcher.state())
    assert other.is_exhausted
    assert other.has_grown(10_000)


def assert_same(one, two):
    for field in fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name), err_msg=field.name)


@pytest.mark.search
@pytest.mark.parametrize(
    "change",
    [
        {"random": np.zeros(2, np.uint64)},
        {"counts": np.zeros(1, np.int64)},
        {"places": np.full(3, 1 << 21, np.uint32), "keys": np.ones(3, np.uint64), "losses": np.ones(3)},
        {"losses": np.ones(1)},
        {"children": np.full(4, 10**9)},
        {"children": np.full(10**6, -1)},
        {"front": np.frombuffer(b"\x7f" * 81 * RECORD.itemsize, RECORD)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_state_that_points_outside_of_the_arrays_is_refused(change):
    state = grow(make_searcher(), 20).state()
    with pytest.raises(RunFileError, match="state of the search"):
        make_searcher().restore(replace(state, **change))
