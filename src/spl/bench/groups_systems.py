"""The part `systems` of `spl bench groups`: six systems in eight experiments, with parameters that differ between them.

A system counts as recovered if its equations are right in each experiment, and exactly those terms have other factors in other
experiments that should. So spelling plays no part, nor into how many numbers a factor is split.
"""

import functools
import time
import warnings
from typing import Any

import numpy as np

from spl.bench.equations import BREAK
from spl.bench.systems import SHARES, TrueSystem
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.datasets.grouped_systems import GROUPED_SYSTEMS
from spl.errors import DataRepaired, DoubtfulResult, ExpressionError, SearchInterrupted
from spl.formulas.system import System
from spl.kernels.programs import tokens as tk
from spl.notation.terms import linear_terms

GROUPED_SYSTEMS_NOISE_LEVELS = (0.0, 0.02)  # of each state, as shares of its root mean square
SYSTEMS_NOTE = (
    "Recovered: in each of the eight experiments, all equations are right, as in `spl bench systems`, and exactly those terms that "
    "should have factors that differ between experiments."
)
SAME_FACTOR = 1e-9  # relative difference below which factors are one number


def systems_trials(seed: int, timeout: float | None) -> list[Trial]:
    """Return the trials of the part `systems`."""
    return [
        Trial(
            experiment="groups",
            setting=f"part=systems noise={noise:g}",
            tool=OURS,
            problem=name,
            seed=seed,
            timeout=timeout,
        )
        for name in GROUPED_SYSTEMS
        for noise in GROUPED_SYSTEMS_NOISE_LEVELS
    ]


def true_equations(name: str) -> list[str]:
    """Return the equations of the first experiment, and what differs in the others, for the records.

    Examples:
        >>> true_equations("sir")[-1]
        'own: infection'
    """
    system = GROUPED_SYSTEMS[name]
    return [*system.measure(1).runs[0].equations.values(), f"own: {', '.join(system.own)}"]


def run_systems(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a system in eight experiments at once."""
    from spl.estimators.dynamics import SPLDynamics  # slow to import

    data = GROUPED_SYSTEMS[trial.problem].measure(noise=float(values["noise"]), seed=trial.seed)
    model: Any = SPLDynamics(timeout=trial.timeout, n_jobs=1, random_state=trial.seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        for expected in (DoubtfulResult, DataRepaired, SearchInterrupted):  # the outcome says so
            warnings.simplefilter("ignore", expected)
        model.fit(data.states, data.times, own="auto", feature_names=data.runs[0].names)
    seconds = time.perf_counter() - began
    found = model.discovery_
    system: System = found.system
    are_right, is_shared = (
        has_right_equations(trial.problem, system, trial.seed),
        has_right_terms(trial.problem, system),
    )
    return Outcome(
        formula=BREAK.join(system.equations(RECORDED_DIGITS)),
        recovered=are_right and is_shared,
        error=None,
        seconds=seconds,
        evaluations=sum(search.n_evaluations for search in found.searches),
        stopped=", ".join(dict.fromkeys(search.stopped for search in found.searches)),
        details={
            "own": {number.name: number.grouping for number in system.own},
            "right_equations": are_right,
            "right_sharing": is_shared,
            "notes": list(found.notes),
        },
    )


def has_right_equations(name: str, system: System, seed: int) -> bool:
    """Return whether the equations of a system are right in each experiment."""
    labels = system.run_labels
    truths = _true_systems(name, seed)
    if labels and len(labels) != len(truths):
        return False
    return all(
        all(truth.are_right(BREAK.join(system.of_run(labels[run] if labels else "").equations())))
        for run, truth in enumerate(truths)
    )


def has_right_terms(name: str, system: System) -> bool:
    """Return whether exactly those terms differ between experiments that should."""
    expected = GROUPED_SYSTEMS[name].terms
    return all(
        _has_right_terms(system, place, {term for of_state, term in expected if of_state == state})
        for place, state in enumerate(system.states)
    )


def _has_right_terms(system: System, place: int, expected: set[str]) -> bool:
    """Return whether these terms of an equation differ; if it has no coefficients, whether it has as many own numbers."""
    programs = [system.of_run(label).programs[place] for label in system.run_labels]
    try:
        terms = [linear_terms(program) for program in programs]
    except ExpressionError:
        names = system.programs[place].vocabulary.variables
        used = {
            names[token & tk.PAYLOAD_MASK]
            for token in system.programs[place].tokens
            if token >> tk.KIND_SHIFT == tk.VARIABLE
        }
        return len(used & {number.name for number in system.own}) == len(expected)
    keys = set().union(*terms)
    differ = {key for key in keys if np.ptp([each.get(key, 0.0) for each in terms]) > SAME_FACTOR * _size(terms, key)}
    return differ == expected


def _size(terms: list[dict[str, float]], key: str) -> float:
    return max(abs(each.get(key, 0.0)) for each in terms)


@functools.cache
def _true_systems(name: str, seed: int) -> tuple[TrueSystem, ...]:
    runs = GROUPED_SYSTEMS[name].measure(seed=seed).runs
    return tuple(TrueSystem(run, adds_up_to_1=name == SHARES) for run in runs)
