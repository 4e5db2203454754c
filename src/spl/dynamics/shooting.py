"""Shooting: the trajectories of a system over segments, how far they are from the data, and what would bring them closer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.segments import Segments
from spl.dynamics.system_packing import constants_as_columns, make_integrate_work
from spl.formulas.system import System
from spl.kernels.programs.integrate import Course, Equations, IntegrateWork, integrate

Numbers = NDArray[np.float64]

LOST = 1e3  # a trajectory this many times larger than the data is given up
INTEGRATION_ERROR = 0.005  # allowed, in sd of the noise
MAX_SUBSTEPS = 64  # of the integration, between two samples
MAX_LOST_SUBSTEPS = 8  # with which all trajectories may be lost before finer steps are given up
TOO_LARGE = 1e100  # for the squares of slopes to be summed
NUDGE = 1e-8  # relative step of numeric derivatives
SINGULAR = 1e-12  # smaller eigenvalues of the scaled information belong to constants that the data does not determine
HIDDEN = 1e-6  # a constant with a larger part in these eigenvectors is unknown


@dataclass(frozen=True, slots=True, eq=False)
class Shooter:
    """Integrates a system over segments. Its constants are columns, so that one call takes many sets of them."""

    system: System
    segments: Segments
    equations: Equations
    bounds: Numbers  # [S], beyond which a trajectory is lost
    spread: Numbers  # [S], sd of each state
    n_substeps: int
    work: IntegrateWork
    places: NDArray[np.int64] | None = (
        None  # [Q, M], where the parameters of each segment are among the values; None: alike for all
    )

    def follow(self, constants: Numbers, initial: Numbers) -> Numbers:
        """Return the states [R, S, M, K] for R sets of constants [R, C] and first states [R, S, M]; NaN where lost.

        Here and below, constants are followed by own numbers, if the system has any: see `System.free_values`.
        """
        segments = self.segments
        n_sets, n_states, n_segments = initial.shape
        states = np.empty((n_states, n_sets * n_segments, segments.length))
        states[:, :, 0] = np.moveaxis(initial, 0, 1).reshape(n_states, -1)
        course = Course(
            np.tile(segments.times, (n_sets, 1)),
            np.tile(segments.inputs[: len(self.system.driving_inputs)], (1, n_sets, 1)),
            self._parameters(constants),
        )
        integrate(self.equations, course, self.bounds, self.n_substeps, self.system.is_discrete, states, self.work)
        return np.moveaxis(states.reshape(n_states, n_sets, n_segments, -1), 1, 0)

    def _parameters(self, constants: Numbers) -> Numbers:
        """Return the parameters of all segments [Q, R * M]."""
        if self.places is None:
            return np.repeat(np.ascontiguousarray(constants.T), self.segments.n_segments, axis=1)
        return np.ascontiguousarray(np.moveaxis(constants[:, self.places], 0, 1).reshape(len(self.places), -1))

    def fill_in(
        self, states: Sequence[Numbers], constants: Numbers, initial: Numbers, is_wanted: NDArray[np.bool_]
    ) -> list[Numbers]:
        """Return the states of whole runs, one array [N, S] per run, replaced by those of the system along the wanted segments [M]."""
        filled = [of_run.copy() for of_run in states]
        followed = self.follow(constants[np.newaxis], initial[np.newaxis])[0]
        for m in np.flatnonzero(is_wanted):
            first, size = self.segments.first[m], self.segments.size[m]
            filled[self.segments.run[m]][first : first + size] = followed[:, m, :size].T
        return filled

    def residuals(self, constants: Numbers, initial: Numbers) -> Numbers:
        """Return the residuals [R, M, D * K] in units of the noise; 0 for padding."""
        return self._compare(self.follow(constants, initial))

    def _compare(self, states: Numbers) -> Numbers:
        segments = self.segments
        off = (segments.measured - states[:, : len(segments.measured)]) * segments.weights
        off = np.where(segments.weights > 0, off, 0.0)
        return np.swapaxes(off, 1, 2).reshape(len(off), segments.n_segments, -1)

    def linearise(
        self, constants: Numbers, initial: Numbers, *, with_constants: bool, sizes: Numbers | None = None
    ) -> tuple[Numbers, Numbers]:
        """Return the residuals [M, D * K] at constants [C] and first states [S, M], and the numeric slopes of the predictions.

        The slopes are by first states and constants, [M, S + C, D * K]; without constants [M, S, D * K]. `sizes` [C] are what
        constants that are 0 may be expected to be; 1 if nothing is known about them.
        """
        n_states = len(initial)
        nudges = np.repeat((NUDGE * self.spread)[:, np.newaxis], initial.shape[1], axis=1)  # [parameters, M]
        places = self._places_of_all()
        if with_constants:
            expected = np.ones_like(constants) if sizes is None else sizes
            own = NUDGE * np.where(constants == 0, expected, np.abs(constants))
            nudges = np.concatenate([nudges, own[places]])
        all_constants = np.tile(constants, (1 + len(nudges), 1))
        all_initial = np.tile(initial, (1 + len(nudges), 1, 1))
        for k, nudge in enumerate(nudges):
            if k < n_states:
                all_initial[1 + k, k] += nudge
            else:
                all_constants[1 + k, places[k - n_states]] = constants[places[k - n_states]] + nudge
        residuals = self.residuals(all_constants, all_initial)
        slopes = (residuals[0] - residuals[1:]) / nudges[:, :, np.newaxis]
        return residuals[0], np.swapaxes(slopes, 0, 1)

    def normal_equations(
        self,
        constants: Numbers,
        initial: Numbers,
        is_used: NDArray[np.bool_],
        *,
        with_constants: bool = True,
        sizes: Numbers | None = None,
    ) -> "NormalEquations":
        """Return the normal equations of the segments that are used [M]; lost ones do not count. `sizes` as for `linearise`."""
        residuals, slopes = self.linearise(constants, initial, with_constants=with_constants, sizes=sizes)
        is_known = is_used & (np.abs(slopes) < TOO_LARGE).all(axis=(1, 2)) & (np.abs(residuals) < TOO_LARGE).all(axis=1)
        residuals = np.where(is_known[:, np.newaxis], residuals, 0.0)
        slopes = np.where(is_known[:, np.newaxis, np.newaxis], slopes, 0.0)
        gram = slopes @ np.swapaxes(slopes, 1, 2)
        slope = np.einsum("mpk,mk->mp", slopes, residuals)
        n = len(initial)
        if self.places is not None and with_constants:
            return _gather(gram, slope, n, self.places, constants.size)
        return NormalEquations(
            gram[:, :n, :n], gram[:, :n, n:], gram[:, n:, n:].sum(0), slope[:, :n], slope[:, n:].sum(0)
        )

    def _places_of_all(self) -> NDArray[np.int64]:
        """Return where the parameters of each segment are among the constants [Q, M]."""
        if self.places is not None:
            return self.places
        return np.repeat(np.arange(self.system.n_constants)[:, np.newaxis], self.segments.n_segments, axis=1)

    def sensitivity(self, constants: Numbers, initial: Numbers) -> Numbers:
        """Return how much an error in the first states of each segment can grow along it [M], infinite where lost."""
        _, slopes = self.linearise(constants, initial, with_constants=False)
        n_measured = len(self.segments.measured)
        weights = self.segments.weights.max(axis=(1, 2))[:, np.newaxis]
        by_sample = slopes.reshape(*slopes.shape[:2], n_measured, -1) / weights
        growth = np.abs(by_sample) * self.spread[:, np.newaxis, np.newaxis] / self.spread[:n_measured, np.newaxis]
        largest = growth.max(axis=(1, 2, 3))
        return np.where(np.isfinite(largest), largest, np.inf)

    def refined_for(self, constants: Numbers, initial: Numbers) -> "Shooter":
        """Return a shooter with as many steps between samples as the accuracy requires."""
        if self.system.is_discrete:
            return self
        shooter = self
        while shooter.n_substeps < MAX_SUBSTEPS:
            finer = replace(shooter, n_substeps=2 * shooter.n_substeps)
            error = finer.difference_from(shooter, constants, initial)
            is_lost = error is None and finer.n_substeps >= MAX_LOST_SUBSTEPS
            if is_lost or (error is not None and error <= INTEGRATION_ERROR):
                break
            shooter = finer
        return shooter

    def difference_from(self, other: "Shooter", constants: Numbers, initial: Numbers) -> float | None:
        """Return how far the trajectories differ from those with other substeps, in sd of the noise; None if all are lost."""
        one, two = (each.residuals(constants[np.newaxis], initial[np.newaxis])[0] for each in (self, other))
        errors = np.sqrt(((one - two) ** 2).sum(axis=1) / self.segments.size)
        errors = errors[np.isfinite(errors)]  # lost ones say nothing
        return float(np.median(errors)) if errors.size else None


def make_shooter(system: System, segments: Segments, states: Sequence[Numbers], n_substeps: int = 1) -> Shooter:
    """Return a shooter over segments of runs with about these states, one array [N, S] per run."""
    rows = np.concatenate(list(states))
    bounds = LOST * one_for_zero(np.abs(rows).max(axis=0))
    spread = one_for_zero(rows.std(axis=0))
    work = make_integrate_work(system)
    return Shooter(
        system, segments, constants_as_columns(system), bounds, spread, n_substeps, work, _find_places(system, segments)
    )


def _find_places(system: System, segments: Segments) -> NDArray[np.int64] | None:
    """Return where the parameters of each segment, own numbers first, are among constants and own numbers [Q, M]."""
    if not system.own:
        return None
    starts = system.n_constants + len(system.run_labels) * np.arange(len(system.own))[:, np.newaxis]
    constants = np.repeat(np.arange(system.n_constants)[:, np.newaxis], segments.n_segments, axis=1)
    return np.concatenate([starts + segments.experiment, constants])


def one_for_zero(values: Numbers) -> Numbers:
    """Return sizes to divide by, with 1 in place of 0."""
    return np.where(values > 0, values, 1.0)


def sum_squares(residuals: Numbers) -> Numbers:
    """Return the squared error of each segment [M], infinite for lost ones."""
    losses = (residuals**2).sum(axis=1)
    return np.where(np.isfinite(losses), losses, np.inf)


def _gather(
    gram: Numbers, slope: Numbers, n_states: int, places: NDArray[np.int64], n_values: int
) -> "NormalEquations":
    """Return the normal equations of all values from those of the parameters of each segment, [M, S + Q, S + Q] and [M, S + Q]."""
    n, at = n_states, places.T
    mixed = np.zeros((len(gram), n, n_values))
    mixed[np.arange(len(gram))[:, np.newaxis], :, at] = np.swapaxes(gram[:, :n, n:], 1, 2)
    constants, constant_slope = np.zeros((n_values, n_values)), np.zeros(n_values)
    np.add.at(constants, (at[:, :, np.newaxis], at[:, np.newaxis, :]), gram[:, n:, n:])
    np.add.at(constant_slope, at, slope[:, n:])
    return NormalEquations(gram[:, :n, :n], mixed, constants, slope[:, :n], constant_slope)


@dataclass(frozen=True, slots=True, eq=False)
class NormalEquations:
    """The normal equations: first states per segment, constants shared by all."""

    states: Numbers  # [M, S, S]
    mixed: Numbers  # [M, S, C]
    constants: Numbers  # [C, C]
    state_slope: Numbers  # [M, S]
    constant_slope: Numbers  # [C]

    def reduce(self, damping: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Eliminate the first states: return the equations [C, C] and slope [C] of the constants, and the solved rows.

        The damping [M, S] is added to the diagonals of the states.
        """
        both = np.concatenate([self.mixed, self.state_slope[:, :, np.newaxis]], axis=2)
        floor = SINGULAR * np.einsum("mss->ms", self.states).max(axis=1, keepdims=True) + np.finfo(float).tiny
        solved = np.linalg.solve(self.states + (damping + floor)[:, :, np.newaxis] * np.eye(damping.shape[1]), both)
        folded = np.einsum("msc,msk->ck", self.mixed, solved)
        return self.constants - folded[:, :-1], self.constant_slope - folded[:, -1], solved

    def step(self, damping: Numbers, constant_damping: Numbers) -> tuple[Numbers, Numbers]:
        """Return the damped step of the constants [C] and of the first states [S, M]; NaN where the equations overflow."""
        matrix, slope, solved = self.reduce(damping)
        size = np.sqrt(np.diag(self.constants) + constant_damping) + np.finfo(float).tiny
        scaled = (matrix + np.diag(constant_damping)) / np.outer(size, size)
        if not (np.isfinite(scaled).all() and np.isfinite(slope).all()):
            return np.full(slope.size, np.nan), np.full(self.state_slope.T.shape, np.nan)
        constants = np.linalg.lstsq(scaled, slope / size, rcond=SINGULAR)[0] / size
        return constants, (solved[:, :, -1] - solved[:, :, :-1] @ constants).T

    def covariance(self) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the covariance of the constants [C, C] for noise of deviation 1, and which of them the data does not determine [C].

        Directions in which the data determines nothing are left out of the covariance.
        """
        matrix = self.reduce(np.zeros_like(self.state_slope))[0]
        if not np.isfinite(matrix).all():
            return np.zeros_like(matrix), np.ones(len(matrix), np.bool_)
        size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
        is_seen = values > SINGULAR
        seen = vectors[:, is_seen] / size[:, np.newaxis]
        return (seen / values[is_seen]) @ seen.T, (vectors[:, ~is_seen] ** 2).sum(axis=1) > HIDDEN

    def standard_errors(self) -> Numbers:
        """Return the standard errors of the constants [C] for noise of deviation 1; infinite if the data does not determine one."""
        covariance, is_hidden = self.covariance()
        return np.where(is_hidden, np.inf, np.sqrt(np.diag(covariance)))
