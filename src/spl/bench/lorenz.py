"""`spl bench lorenz`: the Lorenz system in the data of the paper, and simulated with noise (Section 4.2 of the paper).

As in the paper, equations may contain + - * / and numbers, and nothing else is known. The system counts as recovered if all three
equations have exactly the true terms.
"""

import functools
from collections.abc import Sequence

import numpy as np

from spl.bench.equations import BREAK, Comparison, Measured, compare_terms, largest, read_equations, search_equations
from spl.bench.random import Condition
from spl.bench.trials import OURS, Experiment, Outcome, Trial
from spl.datasets.lorenz import make_lorenz
from spl.datasets.measured import fetch_lorenz_paper
from spl.errors import SettingError
from spl.formulas.program import Program
from spl.settings import SearchConfig

STATES = ("x", "y", "z")
TRUTH = "10*y - 10*x; 28*x - y - x*z; x*y - 2.6666666666666665*z"
OPERATORS = ("+", "-", "*", "/")
LORENZ_NOISE_LEVELS = (
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
)  # of the simulated data, as shares of the root mean square of each state
PAPER_NOISE = 0.05  # of the paper's data, according to the paper
N_LORENZ_TRAIN = 6000  # rows of the paper's data
LORENZ_RULE = (
    "Recovered: all three equations have exactly the true terms when multiplied out, whatever their coefficients. The error is the "
    "largest relative error of a coefficient."
)

# Sources of the data; each is a separate problem.
PAPER_DATA, PAPER_STATES, SIMULATED = "paper", "paper-states", "simulated"
DATA = {
    PAPER_DATA: "the paper's data: states that are already smoothed, with its estimates of the derivatives, which are used",
    PAPER_STATES: "the same without the derivatives, which are estimated from the states",
    SIMULATED: "6,000 samples in 60 s with Gaussian noise, only states",
}


def lorenz_trials(
    sources: Sequence[str],
    noise_levels: Sequence[float],
    seeds: Sequence[int],
    *,
    timeout: float | None,
    n_threads: int,
) -> list[Trial]:
    """Return the trials, seed by seed; noise levels apply to simulated data."""
    for source in sources:
        if source not in DATA:
            raise SettingError(f"There is no data '{source}' for the Lorenz system. Choose from: {', '.join(DATA)}.")
    posed = [
        (source, noise) for source in sources for noise in (noise_levels if source == SIMULATED else (PAPER_NOISE,))
    ]
    return [
        Trial(
            experiment="lorenz",
            setting=Condition(noise, n_threads).setting,
            tool=OURS,
            problem=source,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for source, noise in posed
    ]


def run_lorenz(trial: Trial) -> Outcome:
    """Search the Lorenz system in the data of a trial."""
    condition = Condition.of(trial.setting)
    found = search_equations(
        load_data(trial),
        timeout=trial.timeout,
        n_threads=condition.n_threads,
        seed=trial.seed,
        operators=OPERATORS,
    )
    formula = BREAK.join(found.formulas)
    comparisons = compare_equations(formula)
    return Outcome(
        formula=formula,
        recovered=all(comparison.is_right for comparison in comparisons),
        error=largest([comparison.error for comparison in comparisons]),
        seconds=found.seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def lorenz_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search."""
    return SearchConfig().to_dict() | {"operators": list(OPERATORS)}


LORENZ = Experiment(name="lorenz", run=run_lorenz, settings=lorenz_settings)


def load_data(trial: Trial) -> Measured:
    """Return the data of a trial. The seed determines the noise of simulated data; the paper's data are always the same."""
    if trial.problem == SIMULATED:
        data = make_lorenz(N_LORENZ_TRAIN, noise=Condition.of(trial.setting).noise, seed=trial.seed)
        return Measured(t=data.t, states=data.states, names=STATES)
    paper = fetch_lorenz_paper()
    states = paper.states[:N_LORENZ_TRAIN]
    return Measured(
        t=paper.step * np.arange(len(states), dtype=np.float64),
        states=states,
        names=STATES,
        derivatives=paper.derivatives[:N_LORENZ_TRAIN] if trial.problem == PAPER_DATA else None,
    )


def compare_equations(formula: str) -> list[Comparison]:
    """Return how each of the three equations differs from the true one; one that was not found misses all terms.

    Examples:
        >>> [verdict.is_right for verdict in compare_equations("9*(y - x); x*(27 - z) - y; x*y - 3*z + 1")]
        [True, True, False]
    """
    found = read_equations(formula, STATES) or read_equations("0; 0; 0", STATES)
    return [compare_terms(program, true) for program, true in zip(found, true_equations(), strict=True)]


@functools.cache
def true_equations() -> tuple[Program, ...]:
    """Return the Lorenz equations."""
    return tuple(read_equations(TRUTH, STATES))
