import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Module
from spl.regression.transplantation import keep_best, module_size
from spl.settings import SearchConfig

X = parse_expression("x", Vocabulary(("x",)))
SCORES = st.integers(1, 60).map(lambda k: k / 64)
MODULES = st.lists(st.builds(Module, st.just(X), st.integers(1, 9), SCORES, SCORES), max_size=20)


@pytest.mark.search
@given(st.integers(2, 40), st.integers(1, 30), st.integers(0, 70))
def test_the_size_of_modules_grows_from_the_baseline_to_max_rules(n_transplants, first, n_more):
    config = SearchConfig(n_transplants=n_transplants, module_size=first, max_rules=first + n_more)
    sizes = [module_size(config, k) for k in range(n_transplants)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (first, first + n_more)


def test_a_single_round_keeps_the_baseline():
    assert module_size(SearchConfig(n_transplants=1, module_size=7), 0) == 7


def test_a_baseline_above_max_rules_never_allows_more_than_it():
    config = SearchConfig(n_transplants=3, module_size=30, max_rules=10)
    assert [module_size(config, k) for k in range(3)] == [30, 20, 10]


@given(MODULES, st.integers(0, 6))
def test_the_modules_kept_are_the_best_of_distinct_losses(modules, n_kept):
    kept = keep_best(modules, n_kept)
    best_of_loss = {}
    for module in modules:
        best_of_loss[module.loss] = max(best_of_loss.get(module.loss, 0.0), module.reward)
    assert [module.reward for module in kept] == sorted(best_of_loss.values(), reverse=True)[:n_kept]
    assert len({module.loss for module in kept}) == len(kept)


@given(MODULES, st.integers(0, 6))
def test_keeping_the_best_again_changes_nothing(modules, n_kept):
    kept = keep_best(modules, n_kept)
    assert keep_best(kept, n_kept) == kept


def test_modules_whose_losses_differ_by_rounding_are_one():
    modules = [Module(X, 1, 0.5, 0.8), Module(X, 2, 0.5 * (1 + 1e-12), 0.9)]
    assert keep_best(modules, 5) == (modules[1],)


def test_the_first_of_equals_stays():
    modules = [Module(X, size, 0.5, 0.8) for size in (3, 4)]
    assert keep_best(modules, 5)[0].size == 3


@pytest.mark.parametrize("n_kept", [0, 1, 2])
def test_no_more_modules_are_kept_than_asked_for(n_kept):
    assert len(keep_best([Module(X, 1, 0.1 * k, 0.5) for k in range(1, 5)], n_kept)) == n_kept
