"""What a fit of a system would gain from further terms: a score test on the trajectories, without fitting each of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.refine import Refined
from spl.dynamics.shooting import make_shooter
from spl.notation.terms import add_term

Numbers = NDArray[np.float64]
Term = tuple[int, ...]

TERMS_PER_CALL = 16  # tested at once
RESOLVED = 1e-10  # share of a term's information that must be independent of the constants already there


def estimate_term_gains(fitted: Refined, starts: Sequence[Numbers], state: int, terms: Sequence[Term]) -> Numbers:
    """Return for each term by how much the squared error would fall if a constant times it were added to the equation of a state.

    The error is in units of the noise. The gain is to first order in the constant, so large gains are not exact. Terms that cannot be
    added gain nothing. `starts` are the states of whole runs, as for `refine`.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.dynamics.refine import refine
        >>> from spl.formulas.system import System
        >>> from spl.data.trajectories import Trajectory
        >>> t = np.linspace(0, 2, 50)
        >>> run = Trajectory(t, np.tanh(t)[:, np.newaxis], np.empty((50, 0)), None)  # dx/dt = 1 - x**2
        >>> words = Vocabulary(("x",))
        >>> law = System(("x",), (), (parse_expression("C", words).with_constants(np.array([0.5])),))
        >>> fitted = refine(law, [run], [run.x], [0.01], length=25)
        >>> gains = estimate_term_gains(fitted, [run.x], 0, [parse_expression("x*x", words).tokens])
        >>> bool(gains[0] > 1000)  # a constant alone leaves much to be gained
        True
    """
    gains = [
        _gains_at_once(fitted, starts, state, terms[k : k + TERMS_PER_CALL])
        for k in range(0, len(terms), TERMS_PER_CALL)
    ]
    return np.concatenate([np.empty(0), *gains])


def _gains_at_once(fitted: Refined, starts: Sequence[Numbers], state: int, terms: Sequence[Term]) -> Numbers:
    system = fitted.system
    longer = system.programs[state]
    for term in terms:
        longer = add_term(longer, term)
    programs = (*system.programs[:state], longer, *system.programs[state + 1 :])
    larger = replace(system, programs=programs)
    end = sum(program.n_constants for program in programs[: state + 1])
    is_new = np.zeros(larger.free_values.size, np.bool_)
    is_new[end - len(terms) : end] = True
    shooter = make_shooter(larger, fitted.segments, starts, fitted.n_substeps)
    with np.errstate(all="ignore"):  # trajectories may be lost
        normal = shooter.normal_equations(larger.free_values, fitted.initial_states.T, fitted.is_used)
    matrix, slope, _ = normal.reduce(np.zeros_like(normal.state_slope))
    return _gains_of_new(matrix, slope, is_new)


def _gains_of_new(matrix: Numbers, slope: Numbers, is_new: NDArray[np.bool_]) -> Numbers:
    """Return the gain from each new constant alone, with all old ones fitted again."""
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    scaled, goal = matrix / np.outer(size, size), slope / size
    old = scaled[np.ix_(~is_new, ~is_new)]
    mixed = scaled[np.ix_(~is_new, is_new)]
    solved = np.linalg.pinv(old, hermitian=True) @ np.column_stack([mixed, goal[~is_new]])
    own = np.diag(scaled)[is_new] - np.einsum("cn,cn->n", mixed, solved[:, :-1])
    left = goal[is_new] - mixed.T @ solved[:, -1]
    return np.where(own > RESOLVED, left**2 / np.maximum(own, RESOLVED), 0.0)
