"""`spl bench systems`: well-known systems at four levels of noise, searched by our defaults and by pysindy on the same data.

Each tool uses the same settings for all systems; ours are the defaults of `SPLDynamics` with all its operators. An equation is right
if it is correct except for the exact values of its numbers: a polynomial must have exactly the true terms; for any other, `structure`
checks it on states that the search never saw. The system counts as recovered if all of its equations are right.
"""

import functools
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from spl.bench.equations import BREAK, Measured, compare_terms, largest, read_equations, search_equations
from spl.bench.random import Condition
from spl.bench.sindy import SindyConfig, fit_sindy, require_pysindy
from spl.bench.structure import has_structure_of_law
from spl.bench.trials import OURS, Experiment, Outcome, Trial
from spl.data.dataset import Dataset
from spl.datasets import SYSTEMS, SystemData
from spl.errors import ExpressionError, SettingError, suggest_name
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.notation.terms import has_terms_of
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.settings import SearchConfig

SYSTEMS_NOISE_LEVELS = (0.0, 0.01, 0.05, 0.1)  # of each state, as shares of its root mean square
SINDY, SINDY_WEAK = "pysindy", "pysindy-weak"
SINDY_CONFIGS = {SINDY: SindyConfig(), SINDY_WEAK: SindyConfig(is_weak=True)}
SYSTEMS_TOOLS = (OURS, *SINDY_CONFIGS)
N_UNSEEN = 1000  # states on which equations that are not polynomials are checked
SHARES = "sir"  # its three states always add up to 1, so that each equation can be written in several ways
POLYNOMIAL = (tk.ADD, tk.SUB, tk.MUL, tk.NEG, tk.SQUARE, tk.CUBE)  # operators of a polynomial
TERMS_RULE = "An equation is right if it has exactly the true terms when multiplied out."
STRUCTURE_RULE = (
    "is right if it equals the truth to 1e-6 on half of 1,000 unseen states once its numbers are fitted to the exact values of the "
    "other half, and no longer does so without any of its terms or numbers. The error is the largest relative error of a number."
)
SYSTEMS_RULE = (
    f"{TERMS_RULE} An equation of `sir`, whose states add up to 1, or one that is not a polynomial {STRUCTURE_RULE}"
)


# ---- the experiment ------------------------------------------------------------------------------


def systems_trials(
    systems: Sequence[str],
    noise_levels: Sequence[float],
    seeds: Sequence[int],
    *,
    tools: Sequence[str],
    timeout: float | None,
    n_threads: int,
) -> list[Trial]:
    """Return the trials, seed by seed: all systems, with all tools on the same data in turn."""
    check_choice(systems, SYSTEMS, tools, SYSTEMS_TOOLS)
    return [
        Trial(
            experiment="systems",
            setting=Condition(noise, n_threads).setting,
            tool=tool,
            problem=system,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for system in systems
        for noise in noise_levels
        for tool in tools
    ]


def check_choice(
    systems: Sequence[str], known_systems: Iterable[str], tools: Sequence[str], known_tools: Iterable[str]
) -> None:
    """Raise a clear error unless the systems and tools exist, and pysindy is installed if it is among them."""
    for what, names, known in (("system", systems, list(known_systems)), ("tool", tools, list(known_tools))):
        for name in names:
            if name not in known:
                raise SettingError(
                    f"There is no {what} '{name}'.{suggest_name(name, known)} Choose from: {', '.join(known)}."
                )
    if any(tool in SINDY_CONFIGS for tool in tools):
        require_pysindy()


def run_systems(trial: Trial) -> Outcome:
    """Search the system of a trial with its tool."""
    condition = Condition.of(trial.setting)
    data = SYSTEMS[trial.problem](noise=condition.noise, seed=trial.seed)
    return run_tool(trial, data, _truth(trial.problem), n_threads=condition.n_threads)


def run_tool(trial: Trial, data: SystemData, truth: "TrueSystem", *, n_threads: int) -> Outcome:
    """Search the system of some data with the tool of a trial, and compare the result with the truth."""
    if trial.tool in SINDY_CONFIGS:
        return _run_sindy(trial, data, truth)
    measured = Measured(
        t=data.t, states=data.states, names=data.names + data.input_names, u=data.u if data.input_names else None
    )
    found = search_equations(measured, timeout=trial.timeout, n_threads=n_threads, seed=trial.seed)
    return _outcome(truth, found.formulas, found.seconds, found.n_evaluations, found.stopped)


def _run_sindy(trial: Trial, data: SystemData, truth: "TrueSystem") -> Outcome:
    require_pysindy()  # imports it before the clock starts
    began = time.perf_counter()
    formulas = fit_sindy(data, SINDY_CONFIGS[trial.tool], trial.seed)
    return _outcome(truth, formulas, time.perf_counter() - began, None, "fitted")


def _outcome(
    truth: "TrueSystem", formulas: Sequence[str], seconds: float, n_evaluations: int | None, stopped: str
) -> Outcome:
    formula = BREAK.join(formulas)
    is_recovered = all(truth.are_right(formula))
    return Outcome(
        formula=formula,
        recovered=is_recovered,
        error=largest(truth.errors_of_numbers(formula)) if is_recovered else None,
        seconds=seconds,
        evaluations=n_evaluations,
        stopped=stopped,
    )


def systems_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the tool, and the true equations."""
    return tool_settings(trial, _truth(trial.problem))


def tool_settings(trial: Trial, truth: "TrueSystem") -> dict[str, object]:
    """Return the settings of the tool of a trial, and the true equations of its system."""
    settings = SINDY_CONFIGS[trial.tool].to_dict() if trial.tool in SINDY_CONFIGS else SearchConfig().to_dict()
    return settings | {"truth": list(truth.formulas)}


SYSTEMS_EXPERIMENT = Experiment(name="systems", run=run_systems, settings=systems_settings)


# ---- right equations -----------------------------------------------------------------------------


class TrueSystem:
    """The true equations of a system, and their exact values on states that no search saw."""

    def __init__(self, data: SystemData, *, adds_up_to_1: bool = False) -> None:
        self.columns = data.names + data.input_names
        self.formulas = tuple(data.equations.values())
        self.programs = read_equations(BREAK.join(self.formulas), self.columns)
        self.table = _draw_states(np.column_stack([data.clean, data.u]), adds_up_to_1=adds_up_to_1)
        self.values = [evaluate(program, np.ascontiguousarray(self.table.T)) for program in self.programs]
        self.needs_terms = [not adds_up_to_1 and is_polynomial(program) for program in self.programs]

    @property
    def n_equations(self) -> int:
        """The number of equations: one per state."""
        return len(self.programs)

    def are_right(self, formula: str) -> list[bool]:
        """Return, for each equation, whether that of the same state in a text is right."""
        found = read_equations(formula, self.columns)
        if len(found) != self.n_equations:
            return self.n_equations * [False]
        return [_is_right(self, state, program) for state, program in enumerate(found)]

    def errors_of_numbers(self, formula: str) -> list[float | None]:
        """Return, for each equation of a text, all of them right, the largest relative error of a number.

        If coefficients cannot be compared term by term, the true numbers of a formula are those fitted to exact values.
        """
        programs = read_equations(formula, self.columns)
        return [_error_of_numbers(self, state, program) for state, program in enumerate(programs)]


@functools.cache
def _truth(system: str) -> TrueSystem:
    return TrueSystem(SYSTEMS[system](noise=0.0), adds_up_to_1=system == SHARES)


def _draw_states(visited: NDArray[np.float64], *, adds_up_to_1: bool) -> NDArray[np.float64]:
    """Return random states and inputs [N, columns] from the box around a trajectory."""
    rng = np.random.default_rng(0)
    if adds_up_to_1:
        return rng.dirichlet(np.ones(visited.shape[1]), N_UNSEEN)
    return rng.uniform(visited.min(axis=0), visited.max(axis=0), (N_UNSEEN, visited.shape[1]))


def is_polynomial(program: Program) -> bool:
    """Return whether a formula consists only of sums, products, squares and cubes.

    Examples:
        >>> [is_polynomial(program) for program in read_equations("2*(1 - x**2)*y - x; -9.81*sin(x); x/y", ("x", "y"))]
        [True, False, False]
    """
    kinds = [token >> tk.KIND_SHIFT for token in program.tokens]
    return all(
        token in POLYNOMIAL if kind == tk.OPERATOR else kind != tk.POWER
        for token, kind in zip(program.tokens, kinds, strict=True)
    )


def right_equations(system: str, formula: str) -> list[bool]:
    """Return, for each equation of a system, whether that of the same state in the text is right.

    Examples:
        >>> right_equations("van_der_pol", "1.01*y; 2.1*y - 1.9*x**2*y")
        [True, False]
    """
    return _truth(system).are_right(formula)


def _is_right(truth: TrueSystem, state: int, program: Program) -> bool:
    if has_terms_of(program, truth.formulas[state]):
        return True
    if truth.needs_terms[state]:
        return False
    return has_structure_of_law(program, truth.table, truth.values[state])


def errors_of_numbers(system: str, formula: str) -> list[float | None]:
    """Return, for each equation of a system, all of them right, the largest relative error of a number.

    Examples:
        >>> errors_of_numbers("van_der_pol", "y; 2*y - 2.1*x**2*y - x")
        [0.0, 0.05...]
    """
    return _truth(system).errors_of_numbers(formula)


def _error_of_numbers(truth: TrueSystem, state: int, program: Program) -> float | None:
    with suppress(ExpressionError):  # the truth has numbers inside its terms
        compared = compare_terms(program, truth.programs[state])
        if compared.is_right:
            return compared.error
    free = literals_to_constants(program)
    exact = Dataset.from_arrays(truth.table, truth.values[state], names=truth.columns)
    numbers = np.array(fit(free, exact, effort=POLISH_EFFORT).program.constants)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = float(np.max(np.abs(np.array(free.constants) / numbers - 1), initial=0.0))
    return error if np.isfinite(error) else None
