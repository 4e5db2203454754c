"""Runs of one system with numbers of their own, for the tests of systems with own numbers."""

import numpy as np

from spl.data.trajectories import Trajectories
from spl.dynamics.simulate import simulate
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

T = np.linspace(0.0, 8.0, 80)
RATES = (0.5, 0.8, 1.1, 1.4)
LABELS = ("a", "b", "c", "d")


def make_runs(equations, own, starts, *, noise=0.0, t=T, labels=LABELS, seed=0):
    """Return runs of equations, by state, in which names stand for numbers of the runs, from one start per run."""
    names = tuple(equations)
    rng = np.random.default_rng(seed)
    runs = []
    for place, start in enumerate(starts):
        texts = equations.values()
        for name, values in own.items():
            texts = [text.replace(name, repr(float(values[place]))) for text in texts]
        system = System(names, (), tuple(parse_expression(text, Vocabulary(names)) for text in texts))
        states = simulate(system, start, t).states
        runs.append(states + noise * states.std(axis=0) * rng.standard_normal(states.shape))
    return Trajectories.from_arrays(runs, [t] * len(runs), names=names, labels=labels[: len(runs)])


def make_growth(rates=RATES, noise=0.0, seed=0):
    """Return runs of logistic growth, each with its own rate; in both terms."""
    starts = [[0.5 + 0.2 * k] for k in range(len(rates))]
    labels = [f"run {k}" for k in range(len(rates))] if len(rates) != len(LABELS) else LABELS
    return make_runs({"x": "RATE*x - 0.1*RATE*x*x"}, {"RATE": rates}, starts, noise=noise, labels=labels, seed=seed)
