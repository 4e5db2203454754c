"""`spl bench sampling`: ten systems that oscillate, sampled from 40 times per turn down to 5, with our defaults and with pysindy.

Every trajectory covers 40 turns, so coarse samples are also fewer. What is right is decided as in `systems`.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from spl.bench.systems import SINDY, TrueSystem, check_choice, run_tool, tool_settings
from spl.bench.trials import OURS, Experiment, Outcome, Trial
from spl.datasets.sampled_systems import SAMPLED_SYSTEMS
from spl.errors import SettingError

SAMPLING_RATES = (40, 20, 10, 7, 5)  # samples per turn
SAMPLING_NOISE_LEVELS = (0.0, 0.01)  # of each state, as shares of its root mean square
SAMPLING_TOOLS = (OURS, SINDY)
LEAST_RATE = 2  # samples per turn


@dataclass(frozen=True, slots=True)
class SamplingCondition:
    """How a system is sampled in a trial. Every trial has one thread.

    Examples:
        >>> SamplingCondition(10, 0.01).setting
        'samples=10 noise=0.01'
        >>> SamplingCondition.of("samples=10 noise=0.01")
        SamplingCondition(samples_per_turn=10, noise=0.01)
    """

    samples_per_turn: int
    noise: float

    @property
    def setting(self) -> str:
        """The name of the condition in a trial."""
        return f"samples={self.samples_per_turn} noise={self.noise:g}"

    @classmethod
    def of(cls, setting: str) -> "SamplingCondition":
        """Return the condition with this name."""
        match = re.fullmatch(r"samples=(\d+) noise=(\S+)", setting)
        if match is None:
            raise SettingError(
                f"'{setting}' is not a condition of sampling. Write for example 'samples=10 noise=0.01'."
            )
        return cls(int(match[1]), float(match[2]))


def sampling_trials(
    systems: Sequence[str],
    samples_per_turn: Sequence[int],
    noise_levels: Sequence[float],
    seeds: Sequence[int],
    *,
    tools: Sequence[str],
    timeout: float | None,
) -> list[Trial]:
    """Return the trials, seed by seed: all systems, with all tools on the same data in turn."""
    check_choice(systems, SAMPLED_SYSTEMS, tools, SAMPLING_TOOLS)
    for n_samples in samples_per_turn:
        if n_samples < LEAST_RATE:
            raise SettingError(f"A turn must have {LEAST_RATE} samples or more; got {n_samples}.")
    return [
        Trial(
            experiment="sampling",
            setting=SamplingCondition(n_samples, noise).setting,
            tool=tool,
            problem=system,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for system in systems
        for n_samples in samples_per_turn
        for noise in noise_levels
        for tool in tools
    ]


def run_sampling(trial: Trial) -> Outcome:
    """Search the system of a trial with its tool."""
    condition = SamplingCondition.of(trial.setting)
    system = SAMPLED_SYSTEMS[trial.problem]
    data = system.sample(condition.samples_per_turn, noise=condition.noise, seed=trial.seed)
    return run_tool(trial, data, true_system(trial.problem), n_threads=1)


def sampling_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the tool, and the true equations."""
    return tool_settings(trial, true_system(trial.problem))


@functools.cache
def true_system(name: str) -> TrueSystem:
    """Return the true equations of a system; the states on which they are compared lie around its finest samples.

    Examples:
        >>> true_system("brusselator").are_right("1.02 + x**2*y - 4.1*x; 3*x")
        [True, False]
    """
    return TrueSystem(SAMPLED_SYSTEMS[name].sample(max(SAMPLING_RATES)))


SAMPLING = Experiment(name="sampling", run=run_sampling, settings=sampling_settings)
