"""Starting values of numbers for each group: a formula is fitted to the rows of each group by itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.groups.rows import GroupedRows
from spl.groups.symmetries import align_groups
from spl.kernels.programs.fit import FitEffort
from spl.kernels.programs.normal_equations import FitTable
from spl.regression.fit import run_kernel
from spl.regression.packing import pack_table

FIRST_EFFORT = FitEffort(n_starts=4, n_scans=48, max_iterations=25, tolerance=1e-6)  # of the first group
NEXT_EFFORT = FitEffort(
    n_starts=1, n_scans=0, max_iterations=25, tolerance=1e-7
)  # of others, from numbers that fitted before
HARD_EFFORT = FitEffort(n_starts=12, n_scans=96, max_iterations=25, tolerance=1e-7)  # of groups whose fit is poor
POOR_LOSS = 1.5  # times the median of the groups: a group that fits worse is started again
N_LEADERS = 3  # groups that are fitted at random starts; the one that fits best lends its numbers to all
N_DONORS = 6  # groups whose numbers a poor group tries

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupStarts:
    """The numbers of a formula fitted to each group by itself."""

    values: Array  # [G, C]
    losses: Array  # [G], root mean square errors; NaN for groups that were not fitted, infinite outside the domain
    n_rows: NDArray[np.intp]  # [G]

    @property
    def typical(self) -> Array:
        """Typical values of the constants [C]: those of the group that fits best for its size."""
        return np.asarray(self.values[int(np.nanargmin(np.where(np.isfinite(self.losses), self.losses, np.nan)))])

    @property
    def square(self) -> float:
        """The sum of squared errors of all groups."""
        return float(np.nansum(self.losses**2 * self.n_rows))


def group_tables(rows: GroupedRows, scope: int) -> list[FitTable | None]:
    """Return the rows of each group for the fit; None for a group without rows. Weights are those of the whole table."""
    data = rows.data
    return [table_of(data, taken) if taken.size else None for taken in rows.rows_of(scope)]


def table_of(data: Dataset, taken: NDArray[np.intp]) -> FitTable:
    """Return some rows for the fit."""
    weights = data.weights[taken]
    table = pack_table(data.take(taken))
    return FitTable(table.columns, table.target, weights, table.square)


def fit_each_group(
    program: Program,
    tables: Sequence[FitTable | None],
    first: FitEffort = FIRST_EFFORT,
    hard: FitEffort = HARD_EFFORT,
) -> GroupStarts | None:
    """Return the numbers of a formula for each group; None if it leaves its domain in one of them.

    The numbers of one of the largest groups are the starting values of the others. Groups whose fit is poor are started again:
    from the numbers of others, and at random. Groups with fewer rows than numbers get those of the nearest fit. In the end, all
    are written alike: see `symmetries`.
    """
    sizes = np.array([0 if table is None else table.target.size for table in tables])
    order = np.argsort(-sizes, kind="stable")
    n = program.n_constants
    values, losses = np.full((len(tables), n), np.nan), np.full(len(tables), np.nan)

    def attempt(g: int, start: Array, effort: FitEffort) -> None:
        table = tables[g]
        assert table is not None
        square, found = run_kernel(program.with_constants(start), table, effort, seed=g)
        loss = float(np.sqrt(square / table.target.size)) if square < np.inf else np.inf
        if not loss >= losses[g]:  # also if there is none yet
            values[g], losses[g] = found, loss

    fitted = [int(g) for g in order if sizes[g] > 0]
    for g in fitted[:N_LEADERS]:
        attempt(g, np.array(program.constants), first)
    leader = min(fitted[:N_LEADERS], key=lambda g: losses[g] / _spread(tables[g]))
    if not np.isfinite(losses[leader]):
        return None
    for g in fitted:
        if g != leader:
            attempt(g, values[leader], NEXT_EFFORT)
    large = [g for g in fitted if sizes[g] > n]
    if large and n:
        _start_again(large, losses, values, attempt, hard)
    if not np.isfinite(losses[fitted]).all():
        return None
    values[np.isnan(losses)] = values[leader]
    return GroupStarts(align_groups(program, values, values[leader], _columns_of(tables[leader])), losses, sizes)


def _columns_of(table: FitTable | None) -> Array:
    assert table is not None
    return np.asarray(table.columns)


def _spread(table: FitTable | None) -> float:
    assert table is not None
    return float(np.sqrt(table.square / table.target.size))


def _start_again(
    groups: list[int],
    losses: Array,
    values: Array,
    attempt: Callable[[int, Array, FitEffort], None],
    hard: FitEffort,
) -> None:
    """Start groups again whose fit is poor, from the numbers of others and at random."""
    best_first = sorted(groups, key=lambda g: losses[g])
    typical = float(np.median(losses[groups]))
    lowest = float(losses[best_first[len(groups) // 4]])
    for g in groups:
        if losses[g] <= POOR_LOSS * min(typical, POOR_LOSS * lowest):
            continue
        for donor in best_first[:N_DONORS]:
            attempt(g, values[donor], NEXT_EFFORT)
        if losses[g] > POOR_LOSS * lowest:
            attempt(g, values[best_first[0]], hard)
