"""The numbers of a formula with own numbers, and its predictions, with standard errors and intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.nice_numbers import write_nice_number
from spl.formulas.printed_numbers import FITTED_KIND, PrintedNumber, number_positions, printed_numbers
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.uncertainty import JointCurvature
from spl.noise.models import IMPOSSIBLE, NORMAL
from spl.noise.new_values import FittedNoise, clip_to_targets, limit_new_values
from spl.regression.fit import evaluate, find_scatter
from spl.regression.round_constants import simple_number_within
from spl.regression.uncertainty import LEVEL, SHOWN_DIGITS, SIMPLE_WITHIN_ERRORS, UNDETERMINED

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KnownJointNumber:
    """A shared number, or the value of an own number for one group, and how well it is known."""

    name: str  # of an own number; "" of a shared one
    grouping: str  # "" of a shared number
    group: str
    value: float
    standard_error: float
    lower: float
    upper: float
    kind: str
    simple: str
    note: str
    term: str


@dataclass(frozen=True, slots=True)
class JointPlace:
    """Where a number of a formula is: the token of a shared one, or which own number of which group."""

    position: int = -1
    own: int = -1
    group: int = -1

    @property
    def is_shared(self) -> bool:
        """Whether all groups share the number."""
        return self.own < 0


FindEnds = Callable[[JointCurvature, JointPlace], tuple[float, float]]


def know_joint_numbers(
    curvature: JointCurvature, freed: JointCurvature, level: float = LEVEL, find_ends: FindEnds | None = None
) -> list[KnownJointNumber]:
    """Return all numbers of a formula: shared ones in the order they are printed in, then own ones, group by group.

    Args:
        curvature: of the formula.
        freed: of the formula with constants in place of its rounded numbers: these have errors as if they were fitted.
        level: the chance that an interval holds the number.
        find_ends: finds the ends of the interval of a number; by default, they are equally far from it.
    """
    program = curvature.program
    printed = zip(printed_numbers(program, SHOWN_DIGITS), number_positions(program), strict=True)
    known = [_know_shared(curvature, freed, number, position, level, find_ends) for number, position in printed]
    for place, own in enumerate(curvature.own):
        errors = curvature.own_errors(place)
        for group, (label, value, error) in enumerate(zip(own.labels, own.values, errors, strict=True)):
            if math.isnan(value):
                error = math.inf
            ends = _find_ends(curvature, JointPlace(own=place, group=group), value, float(error), level, find_ends)
            known.append(
                KnownJointNumber(
                    own.name,
                    own.grouping,
                    label,
                    value,
                    float(error),
                    *ends,
                    FITTED_KIND,
                    "",
                    UNDETERMINED if math.isinf(error) else "",
                    own.name,
                )
            )
    return known


def _find_ends(
    curvature: JointCurvature, place: JointPlace, value: float, error: float, level: float, find_ends: FindEnds | None
) -> tuple[float, float]:
    if find_ends is not None and math.isfinite(error):
        return find_ends(curvature, place)
    half = curvature.quantile(level) * error
    return value - half, value + half


def _know_shared(
    fitted: JointCurvature,
    freed: JointCurvature,
    number: PrintedNumber,
    position: int,
    level: float,
    find_ends: FindEnds | None,
) -> KnownJointNumber:
    value, is_fitted = number.value, fitted.program.tokens[position] == CONSTANT_TOKEN
    curvature = fitted if is_fitted else freed
    program = curvature.program
    if program.tokens[position] != CONSTANT_TOKEN:
        simple = write_nice_number(value, SHOWN_DIGITS)
        return KnownJointNumber(
            "", "", "", value, math.nan, value, value, number.kind(math.nan), simple, "", number.term
        )
    constant = program.count_constants(position)
    error = float(curvature.shared_errors[constant])
    error = error if error > 0 else math.inf
    ends = _find_ends(curvature, JointPlace(position), value, error, level, find_ends)
    if value == -program.constants[constant] != 0 and find_ends is not None and math.isfinite(error):
        ends = -ends[1], -ends[0]  # the number is printed with the other sign
    if not is_fitted:
        meant: float | None = value
    else:
        meant = simple_number_within(value, SIMPLE_WITHIN_ERRORS * error) if math.isfinite(error) else None
    return KnownJointNumber(
        "",
        "",
        "",
        value,
        error,
        *ends,
        number.kind(error),
        "" if meant is None else write_nice_number(meant, SHOWN_DIGITS),
        UNDETERMINED if math.isinf(error) else "",
        number.term,
    )


def correlate_joint_numbers(curvature: JointCurvature) -> tuple[list[str], Array]:
    """Return names of all fitted numbers, and how their errors are correlated [M, M]; NaN for undetermined ones.

    Shared numbers are named by their terms and come first; own numbers by name and group, as in `k1 of oak`.
    """
    program = curvature.program
    positions = zip(printed_numbers(program, SHOWN_DIGITS), number_positions(program), strict=True)
    shared = [(number, position) for number, position in positions if program.tokens[position] == CONSTANT_TOKEN]
    order = [program.count_constants(position) for _, position in shared]
    signs = [
        -1.0 if number.value == -program.constants[at] != 0 else 1.0
        for (number, _), at in zip(shared, order, strict=True)
    ]
    names = [number.term for number, _ in shared]
    names += [f"{own.name} of {label}" for own in curvature.own for label in own.labels]
    n_own = len(names) - len(shared)
    order += range(program.n_constants, program.n_constants + n_own)
    errors = np.concatenate([curvature.shared_errors, *(curvature.own_errors(k) for k in range(len(curvature.own)))])
    is_known = np.isfinite(errors) & (errors > 0)
    scale = np.where(is_known, 1.0 / np.where(is_known, errors, 1.0), np.nan)[order] * [*signs, *[1.0] * n_own]
    return names, curvature.covariance()[np.ix_(order, order)] * np.outer(scale, scale)


def limit_values(
    curvature: JointCurvature,
    fitted: Dataset,
    columns: Array,
    codes: "list[NDArray[np.intp]]",
    level: float,
    *,
    is_new: bool,
) -> Array:
    """Return lower and upper limits [M, 2] of the law, or of new measurements; NaN where it has no value.

    Args:
        curvature: of the formula.
        fitted: the rows of the fit, with own numbers as further columns.
        columns: where to predict, with own numbers as further columns.
        codes: the groups of these places, for each own number.
        level: the chance that the limits hold what they are about.
        is_new: whether they are about a new measurement.
    """
    model, program = fitted.noise or NORMAL, curvature.program
    errors, quantile = curvature.value_errors(columns, codes), curvature.quantile(level)
    scatter = find_scatter(program, replace(fitted, noise=model))
    with np.errstate(all="ignore"):
        values = evaluate(program, columns)
        if not is_new:
            ends = [clip_to_targets(model, values + sign * quantile * errors) for sign in (-1, 1)]
        elif scatter is IMPOSSIBLE:
            ends = [np.full(values.size, -np.inf), np.full(values.size, np.inf)]
        else:
            noise = FittedNoise(
                model, scatter, fitted.measured_rows(), evaluate(program, fitted.columns), curvature.degrees
            )
            ends = list(limit_new_values(noise, values, errors, level, quantile))
    return np.where(np.isfinite(values), ends, np.nan).T
