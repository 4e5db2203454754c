"""Systems that are followed along simulated trajectories, for the tests of what is known about them."""

import numpy as np

from spl.data.trajectories import Trajectories
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.refine import refine
from spl.dynamics.simulate import simulate
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

T = np.linspace(0.0, 20.0, 200)


def make_system(equations, inputs=(), **options):
    names = tuple(equations)
    columns = (*names, *(f"d{name}" for name in names if options.get("order") == 2), *inputs)
    programs = tuple(parse_expression(text, Vocabulary(columns)) for text in equations.values())
    return System(names, tuple(inputs), programs, **options)


def follow(
    equations,
    starts,
    *,
    noise=0.01,
    t=T,
    law=None,
    u=None,
    operators=("+", "-", "*"),
    constants=None,
    **options,
):
    """Return a system followed along one run per start, simulated with the law, which is the system itself unless given."""
    inputs = () if u is None else ("u",)
    system = make_system(equations, inputs, **options)
    truth = system if law is None else make_system(law, inputs, **options)
    rng = np.random.default_rng(0)
    clean = [simulate(truth, start, t, u).states for start in starts]
    n_states = len(equations)
    runs = [states[:, :n_states] + noise * rng.standard_normal((t.size, n_states)) for states in clean]
    given = None if u is None else [u] * len(runs)
    data = Trajectories.from_arrays(runs, [t] * len(runs), u=given, names=list(equations), input_names=inputs or None)
    sd = np.full(n_states, noise)
    grammar = Grammar.from_operators(operators, system.columns)
    fitted = refine(system if constants is None else system.with_constants(constants), data.runs, clean, sd)
    return FollowedSystem(fitted, data, clean, sd, [grammar.bind(system.columns)] * n_states)
