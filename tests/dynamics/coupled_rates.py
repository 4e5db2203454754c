"""A system of two states whose short equations have rates on both sides: x' = y + 0.5*y*y', y' = -x - 0.4*x*x'."""

import numpy as np
from scipy.integrate import solve_ivp

from spl.data.trajectories import Trajectories
from spl.dynamics.implicit import share_grammar
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan
from spl.formulas.grammar import Grammar
from spl.settings import Limits

T = np.linspace(0, 20, 400)
STATES = ("x", "y")
NAMES = (*STATES, "x'", "y'")
SUMS = ("+", "-", "*")  # without fractions, equations without rates are infinite series


def _slopes(_, state):
    x, y = state
    matrix = np.array([[1.0, -0.5 * y], [0.4 * x, 1.0]])
    return np.linalg.solve(matrix, [y, -x])


def make_coupled_states():
    return solve_ivp(_slopes, (0, T[-1]), [1.0, 0.5], t_eval=T, rtol=1e-10, atol=1e-10).y.T


def make_coupled_data(noise=0.0):
    states = make_coupled_states()
    return Trajectories.from_arrays(
        states + np.random.default_rng(0).normal(0, noise, states.shape), T, names=list(STATES)
    )


def make_open_request(data, grammar=None, **settings):
    """Return a request whose data decides whether it has rates; `grammar` is one for all states."""
    grammar = grammar or Grammar.from_operators(SUMS, NAMES)
    grammars = share_grammar(grammar, STATES, 1, STATES)
    more = {"plan": Plan(is_implicit=True), "limits": Limits(timeout=None, max_evaluations=300)} | settings
    return SystemRequest(data=data, grammars=grammars, may_drop_rates=True, **more)
