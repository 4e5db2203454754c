"""`spl bench ablation`: the search of the paper without one of its adjustments, or without all three.

Models and published recovery rates are those of the paper's appendix on the ablation study.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spl.bench.nguyen import Task, paper_task, run_task, without_additions
from spl.bench.trials import OURS_AS_IN_PAPER, Experiment, Outcome, Trial
from spl.datasets.nguyen import Problem, load_nguyen, nguyen_problems


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationModel:
    """A variant of the search: what it leaves out, and the paper's recovery rates for Nguyen-1 to -12."""

    name: str
    without: str
    changes: Mapping[str, object]  # of the settings
    paper: tuple[float, ...]


_NO_SCALING: dict[str, object] = {"adaptive_scaling": False}
_NO_DISCOUNT: dict[str, object] = {"eta": 1.0}
_NO_MODULES: dict[str, object] = {"max_modules": 0}

ABLATION_MODELS = (
    AblationModel(
        name="SPL",
        without="nothing left out",
        changes={},
        paper=(1.00, 1.00, 1.00, 0.99, 0.95, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 0.28),
    ),
    AblationModel(
        name="A",
        without="without adaptive scaling of the reward",
        changes=_NO_SCALING,
        paper=(1.00, 1.00, 1.00, 0.96, 0.95, 1.00, 1.00, 1.00, 1.00, 1.00, 0.96, 0.00),
    ),
    AblationModel(
        name="B",
        without="without the discount for long formulas",
        changes=_NO_DISCOUNT,
        paper=(1.00, 1.00, 1.00, 0.92, 0.92, 0.96, 1.00, 1.00, 1.00, 1.00, 0.96, 0.00),
    ),
    AblationModel(
        name="C",
        without="without module transplantation",
        changes=_NO_MODULES,
        paper=(0.14, 0.00, 0.00, 0.00, 0.92, 1.00, 1.00, 1.00, 1.00, 0.00, 0.92, 0.00),
    ),
    AblationModel(
        name="D",
        without="without all three",
        changes=_NO_SCALING | _NO_DISCOUNT | _NO_MODULES,
        paper=(0.12, 0.00, 0.00, 0.00, 0.88, 1.00, 1.00, 1.00, 1.00, 0.00, 0.87, 0.00),
    ),
)


def ablation_problems() -> tuple[Problem, ...]:
    """Return the problems of the study.

    Examples:
        >>> len(ablation_problems())
        12
    """
    return tuple(problem for problem in nguyen_problems() if problem.name.removeprefix("Nguyen-").isdecimal())


def paper_rate(model: AblationModel, problem: str) -> float:
    """Return the share of runs in which the paper's model recovered a problem.

    Examples:
        >>> paper_rate(ABLATION_MODELS[3], "Nguyen-1")
        0.14
    """
    names = [row.name for row in ablation_problems()]
    return model.paper[names.index(problem)]


def ablation_trials(problems: Sequence[Problem], seeds: Sequence[int], timeout: float | None) -> list[Trial]:
    """Return the trials of all models, seed by seed."""
    return [
        Trial(
            experiment="ablation",
            setting=model.name,
            tool=OURS_AS_IN_PAPER,
            problem=problem.name,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for problem in problems
        for model in ABLATION_MODELS
    ]


def run_ablation(trial: Trial) -> Outcome:
    """Search the law of a trial with its model."""
    return run_task(_task_of(trial), trial)


def ablation_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search."""
    return _task_of(trial).config.to_dict()


ABLATION = Experiment(name="ablation", run=run_ablation, settings=ablation_settings)


def _task_of(trial: Trial) -> Task:
    """Return the problem as the paper poses it, with the settings of the model."""
    model = next(model for model in ABLATION_MODELS if model.name == trial.setting)
    task = without_additions(paper_task(load_nguyen(trial.problem)))
    return replace(task, config=replace(task.config, **model.changes))  # type: ignore[arg-type]
