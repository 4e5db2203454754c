"""Rows of the search that follow from what is known of the law: mirrored and exchanged rows, and points with known values.

They let the trees see what the statements say. Formulas are fitted to and judged on the rows of the data alone.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.knowledge.knowledge import Judge, Knowledge
from spl.knowledge.statements import Compared, Mirrored, Statement, Symmetric
from spl.knowledge.values import values_at

MAX_COPIES = 4  # of each row, by symmetries
N_POINT_ROWS = 8  # of each statement such as f(x=0) = 0, where other columns vary
POINT_WEIGHT = 3.0  # of such a row, in rows of the data: it has no noise
BESIDE_SHARE = 1e-13  # of the size of the column: points lie this far inside of the box, because a law may be undefined at 0 itself


def count_copies(knowledge: Knowledge | None) -> int:
    """Return how many copies of each row the symmetries make, with the row itself.

    Examples:
        >>> count_copies(Knowledge.read(["even in x", "f > 0"], ["x"])), count_copies(None)
        (2, 1)
    """
    statements = () if knowledge is None else knowledge.statements
    return int(min(2 ** sum(_is_symmetry(statement) for statement in statements), MAX_COPIES))


def _is_symmetry(statement: Statement) -> bool:
    return isinstance(statement, Mirrored | Symmetric) and not statement.region


def add_known_rows(rows: Dataset, judge: Judge) -> Dataset:
    """Return rows with those that statements add.

    Examples:
        >>> data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 5.0], names=["x"])
        >>> judge = Judge(Knowledge.read(["odd in x"], data.names), data)
        >>> add_known_rows(data, judge).columns, add_known_rows(data, judge).target
        (array([[ 1.,  2., -1., -2.]]), array([ 3.,  5., -3., -5.]))
    """
    found = rows
    for statement in judge.knowledge.statements:
        if 2 * found.n_rows <= MAX_COPIES * rows.n_rows and _is_symmetry(statement):
            found = _join(found, _turned(found, statement))
    for statement in judge.knowledge.statements:
        if isinstance(statement, Compared) and statement.at and not statement.region:
            found = _add_points(found, rows, statement, judge)
    return found


def _turned(rows: Dataset, statement: Statement) -> Dataset:
    """Return the rows mirrored, or with their columns exchanged."""
    columns, target, sigma = rows.columns.copy(), rows.target, rows.sigma_columns
    if isinstance(statement, Mirrored):
        columns[rows.names.index(statement.column)] *= -1.0
        target = statement.sign * target
    elif isinstance(statement, Symmetric):
        places = [rows.names.index(name) for name in statement.columns]
        columns[places] = columns[places[1:] + places[:1]]
        if sigma is not None:
            sigma = sigma.copy()
            sigma[places] = sigma[places[1:] + places[:1]]
    return replace(rows, columns=columns, target=target, sigma_columns=sigma)


def _add_points(found: Dataset, rows: Dataset, statement: Compared, judge: Judge) -> Dataset:
    """Return rows with points at which the value of the law is known."""
    at = np.unique(np.linspace(0, rows.n_rows - 1, N_POINT_ROWS).astype(np.intp))
    points = rows.take(at)
    columns = points.columns.copy()
    for name, value in statement.at:
        place = rows.names.index(name)
        middle = 0.5 * (judge.box.low[place] + judge.box.high[place])
        beside = BESIDE_SHARE * max(abs(value), judge.box.width[place])
        columns[place] = value + (beside if middle >= value else -beside)
    _, distinct = np.unique(columns, axis=1, return_index=True)
    for relation, other in statement.sides:
        targets = values_at(other, columns)
        is_known = distinct[np.isfinite(targets[distinct])]
        if relation == "=" and is_known.size:
            added = replace(points, columns=columns, target=targets).take(is_known)
            found = _join(found, added, POINT_WEIGHT)
    return found


def _join(rows: Dataset, others: Dataset, weight: float = 1.0) -> Dataset:
    """Return the rows of both; those of the second count this many times as much."""

    def both(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if one is None or other is None else np.concatenate([one, other], axis=-1)

    weights = np.concatenate([rows.weights, weight * others.weights])
    return replace(
        rows,
        columns=np.hstack([rows.columns, others.columns]),
        target=np.concatenate([rows.target, others.target]),
        weights=weights / weights.mean(),
        sigma=both(rows.sigma, others.sigma),
        sigma_columns=both(rows.sigma_columns, others.sigma_columns),
        places=None,
    )
