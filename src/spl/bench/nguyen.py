"""`spl bench nguyen`: the Nguyen problems, in the setting of the paper and in the usual one.

paper      grammar, constraints, hyperparameters, 1,000 points and ranges of the paper, one tree
points20   20 points of the usual range, one grammar for all problems, default settings
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import (
    OURS,
    OURS_AS_IN_PAPER,
    RECORDED_DIGITS,
    Experiment,
    Outcome,
    Trial,
    is_recovered,
    noise_of,
    relative_error,
)
from spl.data.dataset import Dataset
from spl.datasets.nguyen import Problem, load_nguyen
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.regression.discover import Discovery, discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

DEFAULT_TIMEOUTS: dict[str, float | None] = {"paper": None, "points20": 60.0}  # seconds; the paper has no limit
POINTS20_OPERATORS = ("+", "-", "*", "/", "sin", "cos", "exp", "log")

XY = tuple[NDArray[np.float64], NDArray[np.float64]]  # X [N, D] and y [N]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A problem in one setting: the grammar, settings and data of the search, and the data that its answer is tested on."""

    problem: Problem
    grammar: Grammar
    config: SearchConfig
    make_train: Callable[[int], XY]  # from a seed
    make_test: Callable[[int], XY]


def nguyen_trials(
    problems: Sequence[Problem], seeds: Sequence[int], setting: str, timeout: float | None, tool: str = OURS
) -> list[Trial]:
    """Return the trials, seed by seed, so that the finished ones are always a fair sample."""
    return [
        Trial(experiment="nguyen", setting=setting, tool=tool, problem=problem.name, seed=seed, timeout=timeout)
        for seed in seeds
        for problem in problems
    ]


def run_nguyen(trial: Trial) -> Outcome:
    """Search the law of a trial on one core, and test it on data that the search never saw."""
    return run_task(_task_of(trial), trial)


def nguyen_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search."""
    return _task_of(trial).config.to_dict()


NGUYEN = Experiment(name="nguyen", run=run_nguyen, settings=nguyen_settings)


def _task_of(trial: Trial) -> Task:
    problem = load_nguyen(trial.problem)
    task = paper_task(problem) if trial.setting == "paper" else points20_task(problem)
    return without_additions(task) if trial.tool == OURS_AS_IN_PAPER else task


def without_additions(task: Task) -> Task:
    """Return the same task for the search of the paper."""
    return replace(task, config=replace(task.config, n_completions=0, patience=None))


def paper_task(problem: Problem) -> Task:
    """Return the problem as the paper poses it."""
    config = SearchConfig(
        max_rules=problem.t_max,
        n_episodes=problem.episodes_between_transplants,
        n_transplants=problem.module_transplants,
        max_modules=problem.max_modules,
        max_schedules=1,
        relative_loss=False,
        n_trees=1,
    )
    return Task(
        problem=problem,
        grammar=Grammar.from_text(problem.grammar_text),
        config=config,
        make_train=problem.make_train,
        make_test=lambda seed: problem.make_test(),
    )


def points20_task(problem: Problem) -> Task:
    """Return the problem in the usual setting, which is the same for all problems."""
    return Task(
        problem=problem,
        grammar=Grammar.from_operators(POINTS20_OPERATORS, problem.variables, constants=problem.has_constants),
        config=SearchConfig(),
        make_train=problem.make_usual_train,
        make_test=problem.make_usual_test,
    )


def run_task(task: Task, trial: Trial) -> Outcome:
    """Search the law of a task with the seed and time limit of a trial on one core, and test it."""
    table, target = task.make_train(trial.seed)
    data = Dataset.from_arrays(table, target, names=task.problem.variables)
    began = time.perf_counter()
    found = discover(
        RegressionRequest(
            data,
            task.grammar,
            config=task.config,
            limits=Limits(timeout=trial.timeout),
            noise=noise_of(task.config),
            n_jobs=1,
            seed=trial.seed,
        )
    )
    return _test(found, task.make_test(trial.seed), time.perf_counter() - began)


def _test(found: Discovery, test: XY, seconds: float) -> Outcome:
    program = found.front[found.front.choose("mdl", found.n_rows, found.floor)].program
    test_table, truth = test
    error = relative_error(evaluate(program, np.ascontiguousarray(test_table.T)), truth)
    return Outcome(
        formula=to_text(program, RECORDED_DIGITS),
        recovered=is_recovered(error),
        error=error,
        seconds=seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
    )
