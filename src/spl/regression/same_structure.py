"""Whether two formulas are the same but for their numbers, however they are written.

They are if each becomes the other once its numbers are fitted to the other's values. A number that was rounded away, such as a factor
of 1, counts as a number.
"""

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.fit import POLISH_EFFORT, evaluate, fit

Numbers = NDArray[np.float64]

N_POINTS = 200  # on which formulas are compared
SAME_SHARE = 1e-6  # of the spread of the values, by which they may differ


def comparison_points(data: Dataset) -> Numbers:
    """Return points [D, M] among the rows, on which formulas are compared: rows, and points between two of them."""
    random = np.random.default_rng(0)
    first, second = random.integers(0, data.n_rows, (2, N_POINTS))
    share = random.uniform(0.0, 1.0, N_POINTS) * (np.arange(N_POINTS) % 2)  # every second point is a row
    return np.ascontiguousarray((1 - share) * data.columns[:, first] + share * data.columns[:, second])


def have_same_structure(one: Program, other: Program, points: Numbers, given: Collection[float] = ()) -> bool:
    """Return whether two formulas are the same function but for their numbers, on points [D, M].

    Args:
        one: a formula with its numbers.
        other: another one.
        points: from `comparison_points`.
        given: numbers that come from the grammar: these cannot change.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> points = np.linspace(1.0, 5.0, 100)[np.newaxis]
        >>> texts = ("2.4*x/(0.6 + x)", "1/(0.4 + 0.3/x)", "2*x", "x", "2*x + 0.1")
        >>> law, *others = (parse_expression(text, Vocabulary(("x",))) for text in texts)
        >>> [have_same_structure(law, other, points) for other in others]
        [True, False, False, False]
        >>> have_same_structure(others[1], others[2], points), have_same_structure(others[1], others[3], points)
        (True, False)
    """
    if columns_of(one) != columns_of(other):
        return False
    if not columns_of(one):
        return True  # both are numbers
    free = [numbers_to_constants(program, kept=given) for program in (one, other)]
    if free[0].tokens == free[1].tokens:
        return True
    return _can_become(free[0], other, points) and _can_become(free[1], one, points)


def columns_of(program: Program) -> frozenset[int]:
    """Return the columns of a formula."""
    return frozenset(token & tk.PAYLOAD_MASK for token in program.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE)


def split_terms(program: Program) -> list[Program]:
    """Return the terms of a formula that is a sum, without their signs; the formula itself if it is none.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> [to_text(term) for term in split_terms(parse_expression("2*x - (x*y - 3)", Vocabulary(("x", "y"))))]
        ['2*x', 'x*y', '3']
    """
    return [program.part(position) for position in _term_positions(program, 0)]


def _term_positions(program: Program, position: int) -> Iterator[int]:
    if program.tokens[position] not in (tk.ADD, tk.SUB, tk.NEG):
        yield position
        return
    for part in program.arguments_of(position):
        yield from _term_positions(program, part)


def _can_become(program: Program, other: Program, points: Numbers) -> bool:
    """Return whether a formula equals another one on half of the points, once its constants are fitted to the other half."""
    values = evaluate(other, points)
    is_defined = np.isfinite(values) & (
        np.abs(values) < 1 / np.finfo(float).eps * max(np.median(np.abs(values)), 1e-300)
    )
    if np.count_nonzero(is_defined) < points.shape[1] // 2:
        return False
    points, values = np.ascontiguousarray(points[:, is_defined]), values[is_defined]
    names = program.vocabulary.variables
    fitted = fit(program, Dataset.from_arrays(points[:, ::2].T, values[::2], names=names), effort=POLISH_EFFORT).program
    with np.errstate(all="ignore"):
        errors = np.abs(evaluate(fitted, np.ascontiguousarray(points[:, 1::2])) - values[1::2])
    return bool(np.all(errors <= SAME_SHARE * max(float(np.ptp(values)), SAME_SHARE * float(np.abs(values).max()))))
