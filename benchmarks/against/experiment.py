"""The comparison as an experiment: one trial is one tool, one problem, one seed."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.against.tools import Job, find_tool
from threadpoolctl import threadpool_limits

from spl.bench.nguyen import POINTS20_OPERATORS, paper_task, points20_task
from spl.bench.trials import Experiment, Outcome, Trial, is_recovered, relative_error
from spl.datasets.nguyen import Problem, load_nguyen


def make_experiment(modules: Mapping[str, Path]) -> Experiment:
    """Return the experiment with the tools of this folder and those given by path."""
    return Experiment(
        name="against",
        run=partial(run_against, modules=modules),
        settings=partial(against_settings, modules=modules),
    )


def check_tools(names: Sequence[str], modules: Mapping[str, Path]) -> None:
    """Raise a clear error unless every tool is installed."""
    for name in names:
        find_tool(name, modules).require(modules.get(name))


def against_trials(
    tools: Sequence[str], problems: Sequence[Problem], seeds: Sequence[int], setting: str, timeout: float
) -> list[Trial]:
    """Return the trials, all tools and problems with the first seed before any with the second."""
    return [
        Trial(experiment="against", setting=setting, tool=tool, problem=problem.name, seed=seed, timeout=timeout)
        for seed in seeds
        for problem in problems
        for tool in tools
    ]


def run_against(trial: Trial, modules: Mapping[str, Path]) -> Outcome:
    """Let a tool search, with one thread, and judge its predictions on points that it never saw."""
    job = _job_of(trial, modules)
    tool = find_tool(trial.tool, modules)
    tool.require(job.module)  # imports it, before the clock starts
    began = time.perf_counter()
    with threadpool_limits(1):
        answer = tool.solve(job)
    seconds = time.perf_counter() - began
    table, truth = job.task.make_test(trial.seed)
    error = relative_error(answer.predict(table), truth)
    return Outcome(
        formula=answer.formula,
        recovered=is_recovered(error),
        error=error,
        seconds=seconds,
        evaluations=answer.n_evaluations,
        stopped=answer.stopped,
    )


def against_settings(trial: Trial, modules: Mapping[str, Path]) -> dict[str, object]:
    """Return the settings of the tool."""
    return find_tool(trial.tool, modules).describe(_job_of(trial, modules))


def _job_of(trial: Trial, modules: Mapping[str, Path]) -> Job:
    problem = load_nguyen(trial.problem)
    is_paper = trial.setting == "paper"
    task = paper_task(problem) if is_paper else points20_task(problem)
    table, target = task.make_train(trial.seed)
    assert trial.timeout is not None  # against_trials asks for one
    return Job(
        task=task,
        table=table,
        target=target,
        operators=problem.operators if is_paper else POINTS20_OPERATORS,
        seed=trial.seed,
        timeout=trial.timeout,
        module=modules.get(trial.tool),
    )
