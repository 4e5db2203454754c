"""States and factors estimated together, with equations that need to hold only roughly.

Along exact trajectories, a chaotic system can only be fitted if its factors are nearly right. Here every step from one sample to the
next may miss its equation by a share of what the states usually move, the looseness. Loose equations are easy to fit; states that
satisfy them are closer to the truth than smoothed ones, and factors fitted to these states are closer to the right ones. So the
equations are tightened step by step. The unknowns are the states at all samples, which only their neighbours are connected with,
and the factors: the states are eliminated by a banded Cholesky factor.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.budget import NEVER, Deadline
from spl.dynamics.column_subsets import solve_least_squares
from spl.dynamics.damped_least_squares import Damping, lower_squares
from spl.dynamics.shooting import one_for_zero
from spl.dynamics.simple_terms import Term
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs.chained_states import Eliminated, Links, eliminate_states, recover_states
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]

SOFT_DAMPING = Damping(first=1e-3, most=1e6, max_iterations=12)  # relative to the diagonal
CONVERGED_SHARE = 1e-4  # of the squared error: a step that lowers it by less is the last
LOOSEST = 1.0  # a step may miss its equation by all of a usual move
CHANCE = 5.0  # standard deviations of a variance
LOST_SHARE = 0.5  # of the spread that samples have beyond their noise: smoothed states with less are lost
FASTEST_TURN = 4.0  # of the slopes, relative to the states, from one sample to the next
JUMP_SHARE = 0.2  # of the range of an input, from one sample to the next: nobody knows when in between it changed
MOST_JUMPS = 0.1  # of the steps: an input that jumps more often is taken as it is
TERM_NUDGE = 1e-5  # of the spread of a state: the slopes of terms are numeric
SINGULAR = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class SoftTerms:
    """The terms that equations may have: the factor of each term in each equation is a number to be found."""

    vocabulary: Vocabulary  # of the columns: states, velocities for order 2, inputs
    terms: tuple[Term, ...]
    places: NDArray[np.int64]  # [C], the term of each factor
    owners: NDArray[np.int64]  # [C], the equation of each factor

    def evaluate(self, columns: Numbers) -> Numbers:
        """Return the values of all terms at columns [V, N], as [N, T]."""
        ones = np.ones(columns.shape[1])
        values = [evaluate(Program(term, self.vocabulary), columns) if term else ones for term in self.terms]
        return np.column_stack(values)

    def arrange(self, factors: Numbers, n_equations: int) -> Numbers:
        """Return the factors as a table of terms and equations [T, E]."""
        table = np.zeros((len(self.terms), n_equations))
        table[self.places, self.owners] = factors
        return table


@dataclass(frozen=True, slots=True, eq=False)
class SoftSystem:
    """States and factors of a system whose equations hold roughly, along the samples of all runs, one run after the other."""

    terms: SoftTerms
    measured: Numbers  # [N, D]
    noise: Numbers  # [D]
    inputs: Numbers  # [N, I]
    steps: Numbers  # [N - 1], the time from each sample to the next; 0 from one run to the next
    speeds: Numbers  # [S], how fast each state usually changes
    is_discrete: bool
    looseness: float
    states: Numbers  # [N, S]
    factors: Numbers  # [C]

    @classmethod
    def begin(
        cls,
        terms: SoftTerms,
        runs: Sequence[Trajectory],
        states: Sequence[Numbers],
        noise: Numbers,
        *,
        is_discrete: bool,
    ) -> "SoftSystem":
        """Take measured runs and smoothed states [N, S] of each; the factors are fitted to these."""
        measured, every = np.concatenate([run.x for run in runs]), np.concatenate(list(states))
        times = [np.arange(run.n_samples) if is_discrete else run.t for run in runs]
        steps = np.concatenate([np.append(np.diff(t), 0.0) for t in times])[:-1]
        inputs = np.concatenate([run.u for run in runs])
        hidden, speeds = _find_hidden(measured, every, noise, steps)
        factors = np.zeros(terms.places.size)
        system = cls(terms, measured, noise, inputs, steps, speeds, is_discrete, 2.0 * LOOSEST, every, factors)
        if hidden.any() and not is_discrete:
            smoothed = system.fit(LOOSEST, factors != 0, NEVER).states  # without slopes, every state is a random walk
            system = replace(system, states=np.where(hidden, smoothed, every))
        return system._guess()

    @property
    def squares(self) -> float:
        """The squared error of the measurements and of the steps, in units of what is expected; infinite if it is not a number."""
        with np.errstate(all="ignore"):
            total = float(np.sum(self.misses**2) + np.sum(self._gaps(self._slopes(self._columns())) ** 2))
        return total if np.isfinite(total) else np.inf

    @property
    def is_resolved(self) -> bool:
        """Whether the samples can show how fast the equations are: between samples far apart, very fast ones look like slow ones."""
        if self.is_discrete:
            return True
        size = one_for_zero(self.states.std(axis=0))
        turns = self._turns(self._columns())[1] * (size / size[:, np.newaxis])
        return bool(np.median(np.sqrt((turns**2).sum(axis=(1, 2)))) < FASTEST_TURN)

    def fit(self, looseness: float, is_free: NDArray[np.bool_], deadline: Deadline) -> "SoftSystem":
        """Improve states and free factors [C] by Levenberg-Marquardt; the other factors stay as they are."""

        def linearise(point: SoftSystem) -> Callable[[float], SoftSystem] | None:
            return point.linearise(is_free).take_step

        def is_last(_: SoftSystem, squares: float, gain: float, __: float) -> bool:
            return gain < CONVERGED_SHARE * squares

        start = replace(self, looseness=looseness)
        with np.errstate(all="ignore"):  # numbers may overflow
            return lower_squares(start, _squares, linearise, is_last, SOFT_DAMPING, deadline)[0]

    def smooth_more(self, width: float) -> "SoftSystem":
        """Return the system with states smoothed over more samples, the width of a bell curve, and factors fitted to these."""
        from scipy.ndimage import gaussian_filter1d  # slow to import

        rough = self._split(np.hstack([self.measured, self.states[:, self.noise.size :]]))
        smoothed = [gaussian_filter1d(part, width, axis=0, mode="nearest") for part in rough]
        return replace(self, states=np.concatenate(smoothed))._guess()

    def states_of_runs(self) -> list[Numbers]:
        """Return the states of each run [N, S]."""
        return self._split(self.states)

    def linearise(self, is_free: NDArray[np.bool_]) -> "LinearisedSystem":
        """Return the normal equations of all states and of the free factors."""
        columns = self._columns()
        values, moved = self._turns(columns)
        n_states, places = self.states.shape[1], np.flatnonzero(is_free)
        gaps, weights = self._gaps(self._slopes(columns, values)), self._gap_weights()
        unit = np.eye(n_states)
        before, after = (-moved, unit) if self.is_discrete else (-unit - moved / 2, unit - moved / 2)
        before, after = before * weights[:, :, np.newaxis], after * weights[:, :, np.newaxis]
        rows = n_states - self.noise.size + self.terms.owners[places]
        by_factor = -self.steps[:, np.newaxis] * values[:, self.terms.places[places]] * weights[:, rows]  # [N - 1, F]
        return LinearisedSystem(self, places, Links(gaps, before, after, by_factor, rows))

    def _split(self, table: Numbers) -> list[Numbers]:
        return np.split(table, np.flatnonzero(self.steps == 0) + 1)

    def _guess(self) -> "SoftSystem":
        """Fit the factors to the steps from state to state; they stay as they are if numbers overflow."""
        used = self.steps > 0
        with np.errstate(all="ignore"):
            values = self.terms.evaluate(self._columns())[used]
            moved = self.states[1:] if self.is_discrete else np.diff(self.states, axis=0) / self.steps[:, np.newaxis]
            targets = moved[used][:, -self.noise.size :]
        factors = self.factors.copy()
        if not (np.isfinite(values).all() and np.isfinite(targets).all()):
            return self
        for equation, target in enumerate(targets.T):
            own = np.flatnonzero(self.terms.owners == equation)
            factors[own] = solve_least_squares(values, target, self.terms.places[own].tolist())
        return replace(self, factors=factors)

    def _columns(self) -> Numbers:
        """Return where the slopes of each step are taken [V, N - 1]: half-way, for a map at its first sample."""
        table = np.hstack([self.states, self.inputs])
        return np.ascontiguousarray((table[:-1] if self.is_discrete else (table[:-1] + table[1:]) / 2).T)

    def _turns(self, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Return the values of the terms [N - 1, T], and how the moves of each step change with the states [N - 1, S, S]."""
        n_states, n_measured, n_rows = self.states.shape[1], self.noise.size, columns.shape[1]
        nudges = TERM_NUDGE * one_for_zero(self.states.std(axis=0))
        nudged = np.tile(columns, 1 + 2 * n_states)
        for state, nudge in enumerate(nudges):
            nudged[state, (1 + 2 * state) * n_rows : (2 + 2 * state) * n_rows] += nudge
            nudged[state, (2 + 2 * state) * n_rows : (3 + 2 * state) * n_rows] -= nudge
        values = self.terms.evaluate(nudged).reshape(1 + 2 * n_states, n_rows, -1)
        slopes = values @ self.terms.arrange(self.factors, n_measured)
        turns = np.zeros((n_rows, n_states, n_states))
        turns[:, -n_measured:] = np.moveaxis(
            (slopes[1::2] - slopes[2::2]) / (2 * nudges[:, np.newaxis, np.newaxis]), 0, 2
        )
        n_positions = n_states - n_measured  # their slopes are the velocities
        turns[:, range(n_positions), range(n_measured, n_measured + n_positions)] = 1.0
        return values[0], self.steps[:, np.newaxis, np.newaxis] * turns

    def _slopes(self, columns: Numbers, values: Numbers | None = None) -> Numbers:
        """Return the slopes of the states of each step [N - 1, S]."""
        values = self.terms.evaluate(columns) if values is None else values
        n_measured = self.measured.shape[1]
        slopes = values @ self.terms.arrange(self.factors, n_measured)
        return np.hstack([columns[n_measured : self.states.shape[1]].T, slopes])

    @property
    def misses(self) -> Numbers:
        """How far states are from their measurements [N, D], in units of the noise."""
        return (self.states[:, : self.noise.size] - self.measured) / self.noise

    def _gap_weights(self) -> Numbers:
        """Return the weights of the gaps of each step [N - 1, S]; 0 from one run to the next, and where an input jumps in between."""
        allowed = self.looseness * self.steps[:, np.newaxis] * self.speeds
        turns = np.abs(np.diff(self.inputs, axis=0)) > JUMP_SHARE * np.ptp(self.inputs, axis=0)
        jumps = turns.any(axis=1) & (np.mean(turns.any(axis=1)) < MOST_JUMPS)
        return np.where((allowed > 0) & ~jumps[:, np.newaxis], 1 / one_for_zero(allowed), 0.0)

    def _gaps(self, slopes: Numbers) -> Numbers:
        """Return by how much each step misses the next state [N - 1, S], in units of what is allowed."""
        moved = self.steps[:, np.newaxis] * slopes
        reached = moved if self.is_discrete else self.states[:-1] + moved
        return (self.states[1:] - reached) * self._gap_weights()


@dataclass(frozen=True, slots=True, eq=False)
class LinearisedSystem:
    """A system around a point: what depends on what, in first order."""

    system: SoftSystem
    free: NDArray[np.int64]  # [F], the factors that are free
    links: Links

    def reduce(self, damping: float = 0.0) -> "Reduced | None":
        """Eliminate the states; None if that is impossible."""
        n, size = self.system.states.shape
        weights, pull = np.zeros(size), np.zeros((n, size))
        weights[: self.system.noise.size] = self.system.noise**-2.0
        pull[:, : self.system.noise.size] = self.system.misses / self.system.noise
        out = Eliminated(
            np.empty((n, size, size)), np.empty((n - 1, size, size)), np.empty((n, size, 1 + self.free.size))
        )
        if not eliminate_states(self.links, weights, pull, damping, out):
            return None
        return Reduced(self, out, damping)

    def take_step(self, damping: float) -> SoftSystem:
        """Return the system after a damped step; the same one if there is none."""
        reduced = self.reduce(damping)
        if reduced is None:
            return self.system
        moved, steps = -solve_scaled(*reduced.equations()), np.empty(self.system.states.shape)
        recover_states(reduced.eliminated, moved, steps)
        factors = self.system.factors.copy()
        factors[self.free] += moved
        return replace(self.system, states=self.system.states + steps, factors=factors)


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A system around a point, its states eliminated."""

    linearised: LinearisedSystem
    eliminated: Eliminated
    damping: float

    def equations(self) -> tuple[Numbers, Numbers]:
        """Return half the second derivatives of the squared error by the free factors [F, F], and half the first ones [F].

        They may overflow.
        """
        links, (n, size, width) = self.linearised.links, self.eliminated.solved.shape
        own = np.where(links.rows[:, np.newaxis] == links.rows, links.by_factor.T @ links.by_factor, 0.0)
        slope = np.einsum("nf,nf->f", links.by_factor, links.gaps[:, links.rows])
        rows = self.eliminated.solved.reshape(n * size, width)
        folded = rows[:, :-1].T @ rows
        return own + self.damping * np.diag(np.diag(own)) - folded[:, :-1], slope - folded[:, -1]


def _find_hidden(
    measured: Numbers, states: Numbers, noise: Numbers, steps: Numbers
) -> tuple[NDArray[np.bool_], Numbers]:
    """Return which states smoothing lost [S], and how fast every state changes [S]: a lost one as fast as the fastest other.

    A state is lost if the samples vary clearly more than their noise, but the smoothed ones do not.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (np.diff(states, axis=0) / steps[:, np.newaxis])[steps > 0]
    speeds, spread = np.sqrt(np.mean(slopes**2, axis=0)), states.std(axis=0)
    excess = measured.var(axis=0) - noise**2
    signal = np.sqrt(np.maximum(excess, 0.0))
    is_clear = excess > CHANCE * noise**2 * np.sqrt(2 / len(measured))
    hidden = np.zeros(spread.size, np.bool_)
    hidden[: noise.size] = is_clear & (spread[: noise.size] < LOST_SHARE * signal)
    if hidden.any() and not hidden[: noise.size].all():
        rate = float(np.max((speeds / one_for_zero(spread))[~hidden]))
        speeds = np.where(hidden, rate * np.resize(signal, spread.size), speeds)
    return hidden, one_for_zero(speeds)


def solve_scaled(matrix: Numbers, right: Numbers) -> Numbers:
    """Solve equations whose unknowns are of very different sizes; what they do not determine becomes small."""
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    scaled = matrix / np.outer(size, size)
    if not (np.isfinite(scaled).all() and np.isfinite(right).all()):
        return np.zeros(right.size)
    return np.asarray(np.linalg.lstsq(scaled, right / size, rcond=SINGULAR)[0] / size)


def _squares(system: SoftSystem) -> float:
    return system.squares
