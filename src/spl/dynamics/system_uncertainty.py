"""How well the trajectories determine the numbers of a system: intervals, correlations, and draws of all constants together."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from spl.dynamics.followed_system import FollowedSystem
from spl.formulas.printed_numbers import PrintedNumber, number_positions, printed_numbers
from spl.formulas.system import System
from spl.formulas.text import CONSTANT_TOKEN

Numbers = NDArray[np.float64]

SHOWN_DIGITS = 6  # of the numbers in the terms


@dataclass(frozen=True, slots=True, eq=False)
class SystemCurvature:
    """The squared error along the trajectories near the constants of a system."""

    system: System
    covariance: Numbers  # [C, C], of the constants; directions that the data does not determine are left out
    is_hidden: NDArray[np.bool_]  # [C], whether the data does not determine a constant
    step: Numbers  # [C], to the constants that fit best; 0 if these are they
    n_free: int  # measurements minus fitted numbers

    @classmethod
    def of(cls, followed: FollowedSystem, system: System) -> "SystemCurvature":
        """Measure it for the followed system, which may be written in another form."""
        precision = followed.find_precision(system)
        covariance, is_hidden = precision.normal.covariance()
        slope = precision.normal.reduce(np.zeros_like(precision.normal.state_slope))[1]
        return cls(system, precision.variance * covariance, is_hidden, covariance @ slope, precision.n_free)

    def interval(self, place: int, level: float) -> tuple[float, float]:
        """Return the ends of the interval of a constant."""
        if self.is_hidden[place]:
            return -math.inf, math.inf
        centre = float(self.system.free_values[place] + self.step[place])
        half = float(stdtrit(self.n_free, 0.5 * (1 + level)) * np.sqrt(self.covariance[place, place]))
        return centre - half, centre + half

    def draw(self, n_draws: int, rng: np.random.Generator) -> Numbers:
        """Return constants, and own numbers, as they might be as well [R, C], around those of the system."""
        values, vectors = np.linalg.eigh(self.covariance)
        spread = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(self.system.free_values + rng.standard_normal((n_draws, values.size)) @ spread.T)


@dataclass(frozen=True, slots=True)
class NumberInterval:
    """A printed number of a system with its interval."""

    state: str
    value: float  # with its sign in print
    lower: float
    upper: float
    term: str  # that it is part of, with the number in square brackets; the name of an own number
    run: str = ""  # that an own number belongs to


def find_intervals(followed: FollowedSystem, level: float) -> list[NumberInterval]:
    """Return the interval of each printed number of all equations and of each own number, from the curvature of the squared error.

    Fitted numbers have the errors that they have with rounded ones as they are. Rounded ones have those that they would have if they
    were fitted too. Numbers that a grammar gives are exact.
    """
    fitted = SystemCurvature.of(followed, followed.system)
    freed = SystemCurvature.of(followed, followed.with_free_numbers())
    found = []
    for state in range(len(followed.system.states)):
        for printed, position in _numbers_of(followed.system, state):
            curvature = fitted if printed.is_fitted else freed
            found.append(_find_interval(curvature, state, printed, position, level))
    for place, number in enumerate(followed.system.own):
        first = followed.system.n_constants + place * len(number.labels)
        for k, (label, value) in enumerate(zip(number.labels, number.values, strict=True)):
            low, high = fitted.interval(first + k, level)
            found.append(NumberInterval("", value, low, high, number.name, label))
    return found


def _numbers_of(system: System, state: int) -> list[tuple[PrintedNumber, int]]:
    program = system.programs[state]
    return list(zip(printed_numbers(program, SHOWN_DIGITS), number_positions(program), strict=True))


def _find_interval(
    curvature: SystemCurvature, state: int, printed: PrintedNumber, position: int, level: float
) -> NumberInterval:
    name, program = curvature.system.states[state], curvature.system.programs[state]
    place = _place_of(curvature.system, state, position)
    is_exact = program.tokens[position] != CONSTANT_TOKEN or (not printed.is_fitted and curvature.is_hidden[place])
    if is_exact:
        return NumberInterval(name, printed.value, printed.value, printed.value, printed.term)
    low, high = sorted(_sign_of(curvature, place, printed) * end for end in curvature.interval(place, level))
    return NumberInterval(name, printed.value, low, high, printed.term)


def _place_of(system: System, state: int, position: int) -> int:
    """Return the place of the constant at a position of an equation among all constants."""
    before = sum(program.n_constants for program in system.programs[:state])
    return before + system.programs[state].count_constants(position)


def _sign_of(curvature: SystemCurvature, place: int, printed: PrintedNumber) -> float:
    """Return the sign of a number in print, compared with its constant."""
    return -1.0 if printed.value == -curvature.system.constants[place] != 0 else 1.0


def correlate_constants(followed: FollowedSystem) -> tuple[list[str], Numbers]:
    """Return the states and terms of the fitted numbers, and how their errors are correlated [C, C]; NaN for undetermined ones."""
    system = followed.system
    curvature = SystemCurvature.of(followed, system)
    labels, signs, n_constants = [], [], system.n_constants
    for state, name in enumerate(system.states):
        for printed, position in _numbers_of(system, state):
            if printed.is_fitted:
                labels.append(f"{name}: {printed.term}")
                signs.append(_sign_of(curvature, _place_of(system, state, position), printed))
    with np.errstate(all="ignore"):
        deviations = np.where(curvature.is_hidden, np.nan, np.sqrt(np.diag(curvature.covariance)))
        signed = np.concatenate([signs, np.ones(deviations.size - n_constants)]) / deviations
    for number in system.own:
        labels.extend(f"{number.name}: {label}" for label in number.labels)
    return labels, curvature.covariance * np.outer(signed, signed)
