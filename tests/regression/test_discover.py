import time
from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.datasets import load_nguyen
from spl.errors import FormulaNotFound, GrammarError
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.fit import evaluate, root_mean_square_error
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

POLYNOMIALS = "f -> f + f | f - f | f * f | C * f | x | y"
HARD = "f -> f + f | f * f | sin(f) | exp(f) | C * f | x | y"
QUICK = SearchConfig(max_rules=15, n_episodes=1_000, n_transplants=3, module_size=5)


def make_data(law, n_rows=80, size_of_x=1.0, size_of_y=1.0):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0.5, 3, (2, n_rows))
    return Dataset.from_arrays(np.stack([x, y], axis=1) * size_of_x, law(x, y) * size_of_y, names=["x", "y"])


def search(data, grammar, watch=None, **settings):
    return discover(RegressionRequest(data, grammar, **settings), watch=watch)


def no_law(x, y):
    return np.sin(7 * x * y) + np.abs(np.sin(40 * x))


def summary(found):
    return [(c.program.tokens, c.program.constants, c.loss) for c in found.front]


@pytest.mark.search
@pytest.mark.parametrize(
    "limits_and_config",
    [
        (Limits(timeout=None, max_evaluations=6_000), QUICK),
        (Limits(timeout=None), SearchConfig(max_rules=12, n_episodes=300, n_transplants=2, max_schedules=1)),
    ],
    ids=["evaluations", "schedules"],
)
def test_the_same_seed_gives_the_same_front_for_any_number_of_jobs(limits_and_config):
    limits, config = limits_and_config
    config = SearchConfig(**config.to_dict() | {"n_trees": 4})
    data, grammar = make_data(no_law), Grammar.from_text(HARD)
    fronts = [summary(search(data, grammar, config=config, limits=limits, n_jobs=n, seed=5)) for n in (1, 2, 4)]
    assert fronts[0] == fronts[1] == fronts[2]


@pytest.mark.search
def test_another_seed_gives_another_front():
    limits = Limits(timeout=None, max_evaluations=2_000)
    data, grammar = make_data(no_law), Grammar.from_text(HARD)
    one, two = (search(data, grammar, config=QUICK, limits=limits, seed=seed) for seed in (1, 2))
    assert summary(one) != summary(two)


@pytest.mark.search
def test_an_exact_law_ends_the_search():
    found = search(make_data(lambda x, y: 3 * x * y + y), Grammar.from_text(POLYNOMIALS), config=QUICK)
    assert found.stopped == "exact"
    assert found.front[-1].loss <= found.floor
    assert found.seconds < 30


@pytest.mark.search
def test_the_numbers_of_an_exact_law_come_back_clean():
    found = search(make_data(lambda x, y: 3 * x * y + y), Grammar.from_text(POLYNOMIALS), config=QUICK)
    assert found.front[-1].program.n_constants == 0
    assert "3" in to_text(found.front[-1].program)


@pytest.mark.search
@pytest.mark.parametrize("size_of_x", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("size_of_y", [1e-9, 1e9])
def test_units_do_not_hide_a_law(size_of_x, size_of_y):
    data = make_data(lambda x, y: 2 * x * x + 5 * y, size_of_x=size_of_x, size_of_y=size_of_y)
    found = search(data, Grammar.from_text(POLYNOMIALS), config=QUICK, limits=Limits(timeout=20))
    assert found.stopped == "exact"
    assert found.front[-1].loss <= 1e-9 * data.spread


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_units_do_not_hide_a_law_with_constants_inside(size):
    data = make_data(lambda x, y: 3 * np.exp(-0.7 * x) + y, size_of_x=size, size_of_y=size)
    text = "f -> f + f | C * f | exp(C * x) | x | y"
    found = search(data, Grammar.from_text(text), config=QUICK, limits=Limits(timeout=20))
    assert found.front[-1].loss <= 1e-8 * data.spread


@pytest.mark.search
@pytest.mark.parametrize("derivative", [None, lambda a: -2 * a * np.exp(-a * a)])
def test_operators_of_the_user_work_inside_the_search(derivative):
    bump = Operator("bump", lambda a: np.exp(-a * a), derivative)
    data = make_data(lambda x, y: 2 * np.exp(-((x - y) ** 2)) + x)
    grammar = Grammar.from_text("f -> f + f | f - f | C * f | bump(f) | x | y", own=[bump])
    found = search(data, grammar, config=QUICK, limits=Limits(timeout=20))
    assert found.stopped == "exact"
    assert "bump" in to_text(found.front[-1].program)


def noisy_law(x, y):
    return 3 * x * y + y + 0.2 * np.random.default_rng(1).standard_normal(x.size)


def search_with_patience(patience, n_jobs=1):
    config = replace(QUICK, patience=patience)
    limits = Limits(timeout=None, max_evaluations=20_000)
    return search(make_data(noisy_law), Grammar.from_text(POLYNOMIALS), config=config, limits=limits, n_jobs=n_jobs)


@pytest.mark.search
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_ends_when_no_better_formula_comes_up_for_long(monkeypatch, n_jobs):
    monkeypatch.setattr("spl.regression.assess.SETTLE_EPISODES", 300)
    found = search_with_patience(2.0, n_jobs)
    assert found.stopped == "settled"
    assert 2 * 300 < found.n_episodes < 20_000
    assert summary(found) == summary(search_with_patience(2.0))


@pytest.mark.search
def test_a_search_without_patience_limits_goes_on(monkeypatch):
    monkeypatch.setattr("spl.regression.assess.SETTLE_EPISODES", 300)
    found, patient = search_with_patience(2.0), search_with_patience(None)
    assert patient.stopped == "evaluations"
    assert patient.n_episodes > found.n_episodes


@pytest.mark.search
def test_the_evaluations_are_limited():
    limits = Limits(timeout=None, max_evaluations=1_000)
    found = search(make_data(no_law), Grammar.from_text(HARD), config=QUICK, limits=limits)
    assert found.stopped == "evaluations"
    assert 1_000 <= found.n_evaluations <= 1_000 + 2 * QUICK.n_simulations


@pytest.mark.search
def test_the_schedules_are_limited():
    config = SearchConfig(max_rules=10, n_episodes=50, n_transplants=2, max_schedules=2, n_trees=3)
    found = search(make_data(no_law), Grammar.from_text(HARD), config=config)
    assert found.stopped == "schedules"
    assert found.n_episodes == 50 * 2 * 2 * 3


@pytest.mark.search
@pytest.mark.parametrize("timeout", [0.3, 1.5])
def test_the_time_limit_is_kept(timeout):
    search(
        make_data(no_law), Grammar.from_text(HARD), limits=Limits(max_evaluations=50)
    )  # compiles what is to be compiled
    began = time.monotonic()
    found = search(make_data(no_law), Grammar.from_text(HARD), limits=Limits(timeout=timeout))
    assert found.stopped == "timeout"
    assert (
        time.monotonic() - began < timeout + 2.0
    )  # the chosen formula is polished in any case, on machines under load too


def test_a_grammar_with_few_formulas_ends_the_search_when_all_are_tried():
    found = search(make_data(no_law), Grammar.from_text("f -> x + g | y\ng -> y | 2"), limits=Limits(timeout=20))
    assert found.stopped == "exhausted"


def interrupt_after(n_looks):
    seen = []

    def watch(progress):
        seen.append(progress)
        if len(seen) == n_looks:
            raise KeyboardInterrupt

    return watch, seen


@pytest.mark.search
def test_an_interrupted_search_returns_the_best_so_far():
    watch, seen = interrupt_after(2)
    found = search(make_data(no_law), Grammar.from_text(HARD), config=QUICK, watch=watch)
    assert found.stopped == "interrupted"
    assert len(seen) == 2
    assert found.front[-1].loss <= seen[-1].front[-1].loss * 1.05  # simple numbers may cost a standard error each


@pytest.mark.search
def test_a_watcher_sees_the_search_go_on():
    watch, seen = interrupt_after(4)
    search(make_data(no_law), Grammar.from_text(HARD), config=QUICK, watch=watch)
    for name in ("seconds", "n_episodes", "n_evaluations"):
        values = [getattr(progress, name) for progress in seen]
        assert values == sorted(set(values))
    first, last = seen[0].front, seen[-1].front  # between them a row may leave for a shorter one that is about as good
    assert last[-1].loss <= first[-1].loss


def test_an_error_of_the_watcher_reaches_the_caller():
    def watch(progress):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        search(make_data(no_law), Grammar.from_text(HARD), config=QUICK, watch=watch)


@pytest.mark.search
def test_the_losses_of_the_front_are_those_on_all_rows():
    data = make_data(no_law, n_rows=2_000)
    found = search(data, Grammar.from_text(HARD), config=QUICK, limits=Limits(timeout=None, max_evaluations=2_000))
    assert len(found.front) > 1
    for candidate in found.front:
        assert candidate.loss == pytest.approx(root_mean_square_error(candidate.program, data), rel=1e-6)


def test_a_grammar_that_never_stays_in_its_domain_finds_no_formula():
    with pytest.raises(FormulaNotFound, match="stays inside its domain"):
        search(make_data(no_law), Grammar.from_text("f -> log(g)\ng -> x - 9"), limits=Limits(timeout=2))


def test_a_grammar_with_other_columns_than_the_data_is_refused():
    with pytest.raises(GrammarError, match="no column 'z'"):
        search(make_data(no_law), Grammar.from_text("f -> z"))


@pytest.mark.search
@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_a_table_of_few_rows_is_searched(n_rows):
    data = make_data(lambda x, y: x + y, n_rows=n_rows)
    found = search(data, Grammar.from_text(POLYNOMIALS), config=QUICK, limits=Limits(timeout=5))
    assert found.front[-1].loss <= 1e-9


@pytest.mark.parametrize("value", [0.0, 4.0])
def test_a_constant_target_is_found(value):
    data = make_data(lambda x, y: np.full_like(x, value))
    found = search(data, Grammar.from_text("f -> f + f | C * f | x | C"), config=QUICK, limits=Limits(timeout=5))
    assert found.front[-1].loss <= 1e-9
    assert found.front[0].cost == 0


def test_the_global_random_numbers_are_left_alone():
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    search(make_data(no_law), Grammar.from_text(HARD), config=QUICK, limits=Limits(max_evaluations=200))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.search
def test_rows_of_weight_0_do_not_count():
    data = make_data(lambda x, y: 2 * x + y)
    target, weights = data.target.copy(), np.ones(80)
    target[:10], weights[:10] = 1e6, 0.0
    weighted = Dataset.from_arrays(data.columns.T, target, names=["x", "y"], weights=weights)
    found = search(weighted, Grammar.from_text(POLYNOMIALS), config=QUICK, limits=Limits(timeout=20))
    assert found.stopped == "exact"


@pytest.mark.search
def test_the_front_has_its_cheapest_formula_first_and_its_most_accurate_last():
    found = search(make_data(no_law), Grammar.from_text(HARD), config=QUICK, limits=Limits(max_evaluations=2_000))
    costs, losses = zip(*((c.cost, c.loss) for c in found.front), strict=True)
    assert list(costs) == sorted(set(costs))
    assert list(losses) == sorted(losses, reverse=True)


@pytest.mark.search
def test_the_check_rows_are_bounded(monkeypatch):
    monkeypatch.setattr("spl.regression.setup.CHECK_ROWS", 100)
    data = make_data(lambda x, y: x * y + x, n_rows=1_000)
    found = search(data, Grammar.from_text(POLYNOMIALS), config=QUICK, limits=Limits(timeout=20))
    assert found.front[-1].loss == pytest.approx(root_mean_square_error(found.front[-1].program, data), abs=1e-9)


# Budgets are about ten times what these need, so that a change of the random numbers alone does not fail them
@pytest.mark.search
@pytest.mark.parametrize(
    ("name", "max_evaluations"), [("Nguyen-1", 600_000), ("Nguyen-8", 100_000), ("Nguyen-9", 1_000_000)]
)
def test_a_problem_of_the_paper_is_recovered_on_its_test_range(name, max_evaluations):
    assert_recovered(load_nguyen(name), Limits(timeout=60, max_evaluations=max_evaluations))


@pytest.mark.search
def test_a_problem_of_the_paper_with_constants_is_recovered_on_its_test_range():
    assert_recovered(load_nguyen("Nguyen-1c"), Limits(timeout=60, max_evaluations=500_000))


def assert_recovered(problem, limits):
    table, target = problem.make_train(seed=0)
    data = Dataset.from_arrays(table, target, names=problem.variables)
    found = search(data, Grammar.from_text(problem.grammar_text), limits=limits, seed=2)
    test_table, truth = problem.make_test()
    chosen = found.front[found.front.choose("mdl", data.n_rows, found.floor)]
    values = evaluate(chosen.program, np.ascontiguousarray(test_table.T))
    np.testing.assert_allclose(values, truth, rtol=1e-6, atol=1e-6 * np.std(truth))


# ---- going on from a checkpoint ------------------------------------------------------------------

SHORT = {"max_rules": 10, "n_episodes": 120, "n_transplants": 2}


def search_on(max_schedules=2, checkpoint=None, limits=None, must_stop=lambda: False):
    """Return what a short search finds, and the checkpoints after its batches."""
    checkpoints = []

    def keep(progress, take_checkpoint, *, is_last):
        checkpoints.append(take_checkpoint())

    config = SearchConfig(**SHORT, max_schedules=max_schedules)
    limits = limits or Limits(timeout=None)
    data = make_data(no_law, n_rows=30)
    request = RegressionRequest(data, Grammar.from_text(HARD), config=config, limits=limits, seed=3)
    found = discover(request, keep=keep, checkpoint=checkpoint, must_stop=must_stop)
    return found, checkpoints


@pytest.fixture(scope="module")
def whole():
    return search_on()


def assert_same_search(found, other):
    assert summary(found) == summary(other)
    assert (found.n_episodes, found.n_evaluations) == (other.n_episodes, other.n_evaluations)


@pytest.mark.search
def test_a_search_goes_on_from_any_of_its_checkpoints_to_the_same_end(whole):
    found, checkpoints = whole
    for checkpoint in checkpoints[:: len(checkpoints) // 3]:
        assert_same_search(search_on(checkpoint=checkpoint)[0], found)


@pytest.mark.search
def test_twice_as_many_rounds_are_the_same_at_once_or_one_half_after_the_other(whole):
    _, checkpoints = search_on(max_schedules=1)
    assert_same_search(search_on(checkpoint=checkpoints[-1])[0], whole[0])


@pytest.mark.search
def test_a_search_that_was_stopped_in_the_middle_of_a_batch_goes_on_to_the_same_end(whole):
    looks = iter(range(10_000))
    stopped, checkpoints = search_on(must_stop=lambda: next(looks) > 25)
    assert stopped.stopped == "interrupted"
    assert stopped.n_episodes < whole[0].n_episodes
    assert_same_search(search_on(checkpoint=checkpoints[-1])[0], whole[0])


@pytest.mark.search
def test_a_search_that_used_up_its_evaluations_goes_on_to_the_same_end(whole):
    limits = Limits(timeout=None, max_evaluations=whole[0].n_evaluations // 3)
    stopped, checkpoints = search_on(limits=limits)
    assert stopped.stopped == "evaluations"
    assert_same_search(search_on(checkpoint=checkpoints[-1])[0], whole[0])


@pytest.mark.search
def test_the_seconds_of_a_search_that_goes_on_count_from_the_first_beginning(whole):
    _, checkpoints = whole
    assert search_on(checkpoint=checkpoints[-1])[0].seconds >= checkpoints[-1].seconds


@pytest.mark.search
def test_an_interrupted_search_has_no_time_left_for_the_final_polish(monkeypatch):
    given = []
    monkeypatch.setattr(
        "spl.regression.discover.polish_front",
        lambda front, data, check, floor, seconds, **rest: given.append(seconds) or front,
    )
    looks = iter(range(10_000))
    cut_short, _ = search_on(must_stop=lambda: next(looks) > 40)
    assert cut_short.stopped == "interrupted"
    assert given == [0.0]


@pytest.mark.search
@pytest.mark.parametrize(("target_error", "reason"), [(1e-4, "exact"), (0.0, "evaluations")])
def test_a_search_ends_where_the_target_is_no_better(target_error, reason):
    data = make_data(lambda x, y: x * y + 2 * x + 1e-5 * np.sin(50 * x))
    limits = Limits(timeout=None, max_evaluations=3_000)
    found = search(data, Grammar.from_text(POLYNOMIALS), config=QUICK, limits=limits, target_error=target_error)
    assert found.stopped == reason
