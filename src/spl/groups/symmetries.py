"""Numbers of several groups in one of many equal ways: `-1.5*cos(4*t)` in one group is `1.5*cos(4*t + pi)` like in the others.

Some changes of signs and of phases leave all values of a formula as they are. Which of these equal ways a fit finds is chance, and a
number that all groups share then looks as if each had its own. So the numbers of each group are written as like those of a
typical group as they can be. Changes are found by trying them on the rows, whatever the formula looks like.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

MOST_ROWS = 12  # on which changes are tried
MOST_SIGNS = 3  # that change at once: a*sin(w*t + p) is -a*sin(-w*t - p)
SAME_VALUES = 1e-9  # relative to the largest value: by how much values may differ and count as equal
TRIED_FACTORS = (1.0, 1.037)  # of the numbers with which a change is tried
TURN = 2 * np.pi
TINY = 1e-300
PERIODIC = (tk.SIN, tk.COS, tk.TAN)

Array = NDArray[np.float64]


def align_groups(program: Program, values: Array, typical: Array, columns: Array) -> Array:
    """Return the numbers of all groups [G, C], each group written as like the typical numbers as an equal way of writing it allows.

    Args:
        program: the formula, with a constant for each number.
        values: the numbers of each group [G, C].
        typical: those that others should be like [C].
        columns: some rows of the data [D, N].

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> wave = parse_expression("C*cos(4*t + C)", Vocabulary(("t",))).with_constants([1.5, 0.5])
        >>> numbers = np.array([[1.5, 0.5], [-1.5, 0.7]])
        >>> align_groups(wave, numbers, numbers[0], np.linspace(0.0, 3.0, 12)[np.newaxis]).round(3).tolist()
        [[1.5, 0.5], [1.5, -2.442]]
    """
    rows = columns[:, np.unique(np.linspace(0, columns.shape[1] - 1, MOST_ROWS).astype(int))]
    values, typical = _reduce_phases(program, values, typical, rows)
    is_turned = (np.sign(values) != np.sign(typical)).any(axis=0)
    changes = [
        (signs, shift)
        for signs, shift in _possible_changes(program, is_turned)
        if _is_same(program, typical, rows, signs, shift)
    ]
    return np.stack([_nearest(each, changes, typical) for each in values])


def _reduce_phases(program: Program, values: Array, typical: Array, rows: Array) -> tuple[Array, Array]:
    """Return the numbers with typical phases of at most half a turn, and the others within half a turn of them."""
    values, typical = values.copy(), typical.copy()
    unit = np.eye(typical.size)
    for k in range(typical.size if _has_phase(program) else 0):
        if _is_same(program, typical, rows, np.ones(typical.size), TURN * unit[k]):
            typical[k] -= TURN * np.round(typical[k] / TURN)
            values[:, k] -= TURN * np.round((values[:, k] - typical[k]) / TURN)
    return values, typical


def _has_phase(program: Program) -> bool:
    return any(token in PERIODIC for token in program.tokens)


def _possible_changes(program: Program, is_turned: NDArray[np.bool_]) -> Iterator[tuple[Array, Array]]:
    """Yield signs and shifts of the numbers: a few change their sign, and one may be moved by half a turn."""
    n = is_turned.size
    n_places = n if _has_phase(program) else 0
    for count in range(1, MOST_SIGNS + 1):
        for chosen in combinations(range(n), count):
            if not is_turned[list(chosen)].any():
                continue
            signs = np.ones(n)
            signs[list(chosen)] = -1.0
            yield signs, np.zeros(n)
            for place in range(n_places):
                yield signs, np.where(np.arange(n) == place, TURN / 2, 0.0)


def _is_same(program: Program, numbers: Array, rows: Array, signs: Array, shift: Array) -> bool:
    """Return whether a change leaves the values of the formula as they are, for these numbers and others near them."""
    for factor in TRIED_FACTORS:
        tried = factor ** np.arange(1, numbers.size + 1) * numbers  # so that no number is a special one
        before = evaluate(program.with_constants(tried), rows)
        after = evaluate(program.with_constants(signs * tried + shift), rows)
        known = np.isfinite(before)
        size = np.max(np.abs(before[known]), initial=TINY)
        if not known.any() or not np.allclose(before, after, rtol=0.0, atol=SAME_VALUES * size, equal_nan=True):
            return False
    return True


def _nearest(numbers: Array, changes: list[tuple[Array, Array]], typical: Array) -> Array:
    """Return the way of writing the numbers that is most like the typical one; phases lie within half a turn of the typical one."""
    best, best_distance = numbers, _distance(numbers, typical)
    for signs, shift in changes:
        changed = signs * numbers + shift
        is_phase = shift != 0
        changed[is_phase] -= TURN * np.round((changed - typical)[is_phase] / TURN)
        distance = _distance(changed, typical)
        if distance < best_distance:
            best, best_distance = changed, distance
    return best


def _distance(numbers: Array, typical: Array) -> float:
    """Return by how much numbers differ, each in comparison with its size."""
    return float(np.sum(np.abs(numbers - typical) / np.maximum(np.abs(numbers) + np.abs(typical), TINY)))
