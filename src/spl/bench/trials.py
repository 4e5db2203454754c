"""The nouns of the experiments: trial, outcome and experiment, and when a law counts as recovered."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError
from spl.noise.models import AUTO, NORMAL, NoiseModel
from spl.settings import SearchConfig

EXPERIMENTS = (
    *("nguyen", "ablation", "noise", "random", "tables", "parts", "trust", "groups", "knowledge"),
    *("lorenz", "systems", "sampling", "balls", "pendulum", "against"),
)
RECOVERED_ERROR = 1e-6  # a law is recovered if its relative error on unseen data is at most this
OURS, OURS_AS_IN_PAPER = (
    "spl",
    "spl-paper",
)  # tools: our default search, and the search of the paper
RECORDED_DIGITS = 8  # significant digits of a number in the records
METHOD_TOOLS = {"default": OURS, "paper": OURS_AS_IN_PAPER}
INTERRUPTED = "interrupted"  # an outcome that stopped for this reason is never recorded

Key = tuple[str, str, str, str, int, float | None]


def noise_of(config: SearchConfig) -> NoiseModel | str:
    """Return the noise model that a search compares or assumes: the default of `SPLRegressor`, or that of the paper for its search.

    Examples:
        >>> str(noise_of(SearchConfig())), str(noise_of(SearchConfig(n_completions=0)))
        ('auto', 'normal')
    """
    return AUTO if config.n_completions else NORMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Everything that determines an outcome, apart from the version of the program.

    Examples:
        >>> trial = Trial(experiment="nguyen", setting="paper", tool="spl", problem="Nguyen-1", seed=0, timeout=None)
        >>> trial.key
        ('nguyen', 'paper', 'spl', 'Nguyen-1', 0, None)
    """

    experiment: str  # one of EXPERIMENTS
    setting: str  # such as "paper", "points20", a model of the ablation, "noise=0.1 points=50"
    tool: str  # "spl", "spl-paper", "gplearn", ...
    problem: str
    seed: int
    timeout: float | None  # seconds; None for no limit

    def __post_init__(self) -> None:
        if self.experiment not in EXPERIMENTS:
            raise SettingError(f"`experiment` must be one of {', '.join(EXPERIMENTS)}; got {self.experiment!r}.")
        if self.seed < 0:
            raise SettingError(f"`seed` must be 0 or more; got {self.seed}.")
        if self.timeout is not None and not (math.isfinite(self.timeout) and self.timeout > 0):
            raise SettingError(f"`timeout` must be a number above 0, or None for no limit; got {self.timeout}.")

    @property
    def key(self) -> Key:
        """Identifies this trial: one with a result is not run again."""
        return (self.experiment, self.setting, self.tool, self.problem, self.seed, self.timeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one trial."""

    formula: str  # empty if none was found
    recovered: bool  # decided on data that the search never saw
    error: float | None  # relative error on that data, for balls in square metres; None if it cannot be computed
    seconds: float
    evaluations: int | None  # None if the tool does not say
    stopped: str  # why it ended
    details: dict[str, Any] = field(default_factory=dict)  # what else the tool says, such as its notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """How to run the trials of an experiment. Both functions must be importable by name, because worker processes call them."""

    name: str
    run: Callable[[Trial], Outcome]
    settings: Callable[[Trial], dict[str, object]]  # the recorded settings of the tool


def relative_error(values: NDArray[np.float64], truth: NDArray[np.float64]) -> float | None:
    """Return the largest error as a share of the largest true value; None if any value is not finite.

    Examples:
        >>> relative_error(np.array([1.0, 2.1]), np.array([1.0, 2.0]))
        0.05...
        >>> relative_error(np.array([1.0, np.nan]), np.array([1.0, 2.0])) is None
        True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.max(np.abs(values - truth)) / np.max(np.abs(truth)))
    return error if math.isfinite(error) else None


def is_recovered(error: float | None) -> bool:
    """Return whether a law with this relative error on unseen data counts as recovered."""
    return error is not None and error <= RECOVERED_ERROR
