"""Systems: how often 95 % intervals of numbers and 95 % bands of simulations hold the truth.

Four systems with numbers that are not simple, two levels of noise, 40 simulated runs each. The grammar of each equation has its true
terms only, so that the equations are right and what is tested is what is said about their numbers. A band is that of 100 draws, from
another start than that of the run; a run counts with the share of its samples that lie in the band.
"""

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from spl import SPLDynamics

Numbers = NDArray[np.float64]

NOISE_LEVELS = (0.02, 0.1)  # standard deviation of the noise / root mean square of each state
N_DRAWS = 100
MAX_EVALUATIONS = 200  # formulas to try: the grammars have few
SAME_NUMBER = 1.3  # a printed number within this factor of a true one stands for it


class Problem(NamedTuple):
    """A system, its equations as factors by terms, and how it is measured."""

    name: str
    equations: dict[str, dict[str, float]]
    start: tuple[float, ...]
    other_start: tuple[float, ...]
    n_samples: int
    step: float


PROBLEMS = (
    Problem("exponential decay", {"x": {"x": -0.83}}, (2.0,), (3.1,), 50, 0.06),
    Problem(
        "damped oscillator",
        {"x": {"y": 1.07}, "y": {"x": -1.83, "y": -0.17}},
        (1.0, 0.0),
        (0.3, 1.4),
        200,
        0.1,
    ),
    Problem(
        "predator and prey",
        {"prey": {"prey": 0.57, "prey*predator": -0.0283}, "predator": {"prey*predator": 0.0257, "predator": -0.83}},
        (30.0, 4.0),
        (20.0, 15.0),
        200,
        0.1,
    ),
    Problem(
        "Van der Pol",
        {"x": {"y": 1.07}, "y": {"y": 1.37, "x**2*y": -1.63, "x": -0.93}},
        (0.5, 0.0),
        (1.5, -1.0),
        300,
        0.066,
    ),
)


def simulate(problem: Problem, start: tuple[float, ...], t: Numbers) -> Numbers:
    """Return the true states [N, S] at these times."""
    names = list(problem.equations)

    def slopes(_: float, states: Numbers) -> list[float]:
        value = dict(zip(names, states, strict=True))
        return [sum(k * product(term, value) for term, k in terms.items()) for terms in problem.equations.values()]

    return np.asarray(solve_ivp(slopes, (t[0], t[-1]), start, t_eval=t, rtol=1e-9, atol=1e-9).y.T)


def product(term: str, value: dict[str, float]) -> float:
    """Return the value of a term such as x**2*y."""
    result = 1.0
    for factor in term.replace("**", "^").split("*"):
        name, _, power = factor.partition("^")
        result *= value[name] ** int(power or 1)
    return result


def try_run(problem: Problem, noise: float, seed: int) -> tuple[list[bool], float]:
    """Return whether each interval holds its number, and the share of samples of another run that lie in its band."""
    t = problem.step * np.arange(problem.n_samples)
    clean = simulate(problem, problem.start, t)
    rng = np.random.default_rng([seed, *problem.name.encode()])
    states = clean + noise * np.sqrt(np.mean(clean**2, axis=0)) * rng.standard_normal(clean.shape)
    grammar = {name: "f -> " + " + ".join(f"C*{term}" for term in terms) for name, terms in problem.equations.items()}
    model = SPLDynamics(grammar=grammar, max_evaluations=MAX_EVALUATIONS, timeout=None, random_state=0)
    model.fit(states, t, feature_names=list(problem.equations))
    hits = [
        min(abs(row.lower), abs(row.upper)) <= truth <= max(abs(row.lower), abs(row.upper))
        for row in model.intervals().itertuples()
        if (truth := find_truth(problem.equations[row.state], row.value)) is not None
    ]
    other = simulate(problem, problem.other_start, t)
    low, high = model.simulate(problem.other_start, t, n_draws=N_DRAWS).interval(level=0.95)
    return hits, float(np.mean((other[1:] >= low[1:]) & (other[1:] <= high[1:])))


def find_truth(terms: dict[str, float], value: float) -> float | None:
    """Return the size of the true number that a printed one stands for; None if the equation is printed in another form.

    The numbers of an equation differ by more than their errors.
    """
    truth = min(map(abs, terms.values()), key=lambda number: abs(np.log(abs(value) / number)))
    return truth if abs(np.log(abs(value) / truth)) < np.log(SAME_NUMBER) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="of each system and level of noise")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| system | noise | numbers | band |\n|---|---|---|---|", flush=True)
    for problem in PROBLEMS:
        for noise in NOISE_LEVELS:
            tries = [try_run(problem, noise, seed) for seed in range(options.runs)]
            hits = [hit for found, _ in tries for hit in found]
            bands = [share for _, share in tries]
            print(
                f"| {problem.name} | {noise:g} | {np.mean(hits):.1%} of {len(hits)} | {np.mean(bands):.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
