"""Rows in groups: a dataset with one or two groupings, and its arrangements for the grouped fit."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.kernels.programs.grouped_fit import Cells
from spl.kernels.programs.normal_equations import FitTable
from spl.regression.packing import pack_table


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """Rows sorted by the groups that a fit needs: those of the outer grouping first."""

    outer: int | None  # place of the grouping whose numbers are eliminated; None if all numbers are shared
    inner: int | None  # of the other one, if it has numbers too
    order: NDArray[np.intp]  # [N], of the rows
    cells: Cells
    n_outer: int  # groups
    n_inner: int


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRows:
    """A dataset whose rows belong to groups.

    Examples:
        >>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], [3.0, 5.0, 4.0], names=["x"])
        >>> rows = GroupedRows(data, (Grouping.from_labels(["a", "b", "a"], "wood"),))
        >>> [part.target.tolist() for part in rows.parts(0)]
        [[3.0, 4.0], [5.0]]
    """

    data: Dataset
    groupings: tuple[Grouping, ...]
    _arranged: dict[tuple[int, ...], Arrangement] = field(default_factory=dict, repr=False)
    _packed: dict[tuple[int | None, int | None], FitTable] = field(default_factory=dict, repr=False)

    def take(self, rows: NDArray[np.intp]) -> "GroupedRows":
        """Return these rows; all groups are kept."""
        return GroupedRows(self.data.take(rows), tuple(each.take(rows) for each in self.groupings))

    def with_data(self, data: Dataset) -> "GroupedRows":
        """Return the same rows with other targets or weights."""
        return GroupedRows(data, self.groupings, self._arranged)

    def rows_of(self, place: int) -> list[NDArray[np.intp]]:
        """Return the rows of each group of a grouping; none for a group without rows."""
        codes = self.groupings[place].codes
        order = np.argsort(codes, kind="stable")
        return np.split(order, np.cumsum(self.groupings[place].count_rows())[:-1])

    def parts(self, place: int) -> list[Dataset]:
        """Return the dataset of each group of a grouping that has rows."""
        return [self.data.take(rows) for rows in self.rows_of(place) if rows.size]

    def arrange(self, used: tuple[int, ...]) -> Arrangement:
        """Return the arrangement for numbers of these groupings; the one with more groups is eliminated."""
        if used not in self._arranged:
            self._arranged[used] = self._make_arrangement(used)
        return self._arranged[used]

    def _make_arrangement(self, used: tuple[int, ...]) -> Arrangement:
        places = sorted(used, key=lambda place: -self.groupings[place].n_groups)
        outer, inner = [*places, None, None][:2]
        n_rows = self.data.n_rows
        codes = [
            np.zeros(n_rows, np.intp) if place is None else self.groupings[place].codes for place in (outer, inner)
        ]
        order = np.lexsort((codes[1], codes[0]))
        pairs = np.stack(codes)[:, order]
        starts = np.flatnonzero(np.r_[True, np.any(pairs[:, 1:] != pairs[:, :-1], axis=0)])
        cells = Cells(
            np.r_[starts, n_rows].astype(np.int64), pairs[0, starts].astype(np.int64), pairs[1, starts].astype(np.int64)
        )
        n_outer, n_inner = (1 if place is None else self.groupings[place].n_groups for place in (outer, inner))
        return Arrangement(outer, inner, order, cells, n_outer, n_inner)

    def pack(self, arrangement: Arrangement) -> FitTable:
        """Return the samples in the order of an arrangement."""
        key = arrangement.outer, arrangement.inner
        if key not in self._packed:
            table, order = pack_table(self.data), arrangement.order
            columns = np.ascontiguousarray(table.columns[:, order])
            self._packed[key] = FitTable(columns, table.target[order], table.weights[order], table.square)
        return self._packed[key]

    def extend(
        self, scopes: tuple[int, ...], values: tuple[NDArray[np.float64], ...], names: tuple[str, ...]
    ) -> Dataset:
        """Return the dataset with the own numbers of each row as further columns."""
        if not scopes:
            return self.data
        own = np.array([each[self.groupings[scope].codes] for scope, each in zip(scopes, values, strict=True)])
        columns = np.ascontiguousarray(np.vstack([self.data.columns, own]))
        return replace(self.data, names=(*self.data.names, *names), columns=columns)
