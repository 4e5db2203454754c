from dataclasses import replace

import numpy as np
import pytest
from tests.bench.experiments import make_trial

from spl.bench.nguyen import (
    DEFAULT_TIMEOUTS,
    NGUYEN,
    nguyen_trials,
    paper_task,
    points20_task,
    run_nguyen,
    run_task,
)
from spl.datasets import load_nguyen, nguyen_problems
from spl.formulas.text import parse_expression
from spl.settings import SearchConfig

pytestmark = pytest.mark.search


@pytest.mark.search
@pytest.mark.parametrize("name", ["Nguyen-1", "Nguyen-8c"])
def test_a_law_is_recovered_in_the_setting_of_the_paper(name):
    outcome = run_nguyen(make_trial(name))
    assert outcome.recovered
    assert outcome.error <= 1e-6
    assert outcome.stopped == "exact"
    assert outcome.evaluations > 0
    assert outcome.seconds > 0


def test_a_law_is_recovered_from_20_points():
    assert run_nguyen(make_trial(setting="points20", timeout=20.0)).recovered


@pytest.mark.search
def test_a_trial_gives_the_same_formula_again():
    first, second = (run_nguyen(make_trial("Nguyen-8", seed=3)) for _ in range(2))
    assert (first.formula, first.evaluations) == (second.formula, second.evaluations)


def test_the_answer_is_judged_on_data_that_the_search_did_not_see():
    """A search on the values of another formula finds that formula, which fits its data but fails on the test range."""
    problem = load_nguyen("Nguyen-8")
    task = paper_task(problem)
    table, _ = task.make_train(0)
    outcome = run_task(replace(task, make_train=lambda seed: (table, table[:, 0])), make_trial("Nguyen-8"))
    assert outcome.formula == "x"
    assert not outcome.recovered
    assert outcome.error == pytest.approx(9.0)  # of 100 against sqrt(100)


@pytest.mark.parametrize("problem", nguyen_problems(), ids=lambda problem: problem.name)
def test_test_points_are_other_points_than_training_points(problem):
    for task in (paper_task(problem), points20_task(problem)):
        train, test = task.make_train(0)[0], task.make_test(0)[0]
        assert not set(map(tuple, train)) & set(map(tuple, test))


def test_the_setting_of_the_paper_has_its_hyperparameters():
    settings = NGUYEN.settings(make_trial("Nguyen-5"))
    assert (settings["n_episodes"], settings["n_transplants"], settings["max_rules"]) == (100_000, 20, 50)
    assert (settings["relative_loss"], settings["n_trees"]) == (False, 1)


@pytest.mark.parametrize("problem", nguyen_problems(), ids=lambda problem: problem.name)
def test_the_setting_of_20_points_gives_no_hint(problem):
    task = points20_task(problem)
    others = [other for other in nguyen_problems() if other.variables == problem.variables]
    grammars = {str(points20_task(other).grammar) for other in others if other.has_constants == problem.has_constants}
    assert grammars == {str(task.grammar)}
    assert task.config == SearchConfig()
    assert task.make_train(0)[0].shape == (20, len(problem.variables))


@pytest.mark.parametrize("name", ["Nguyen-8", "Nguyen-8c"])
def test_only_laws_with_constants_may_use_constants(name):
    assert ("C" in str(points20_task(load_nguyen(name)).grammar)) == name.endswith("c")


def test_the_truth_of_every_law_can_be_derived_from_the_one_grammar():
    grammar = points20_task(load_nguyen("Nguyen-9")).grammar.bind(("x", "y"))
    assert grammar.derives(parse_expression("sin(x) + sin(y*y)", grammar.vocabulary))


def test_trials_go_through_all_problems_before_the_next_seed():
    problems = [load_nguyen("Nguyen-1"), load_nguyen("Nguyen-2")]
    trials = nguyen_trials(problems, [0, 5], "points20", DEFAULT_TIMEOUTS["points20"])
    assert [(trial.problem, trial.seed) for trial in trials] == [
        *(("Nguyen-1", 0), ("Nguyen-2", 0)),
        *(("Nguyen-1", 5), ("Nguyen-2", 5)),
    ]
    assert {trial.timeout for trial in trials} == {60.0}


def test_usual_points_fill_the_usual_range():
    table, values = load_nguyen("Nguyen-8").make_usual_test(0)
    assert table.shape == (1000, 1)
    assert 0 <= table.min() < 0.1 < 3.9 < table.max() <= 4
    np.testing.assert_allclose(values, np.sqrt(table[:, 0]))
