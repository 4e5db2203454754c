"""The rows of a table with the own numbers of a formula as further columns, on which its program has values like any other."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.own_numbers import OwnNumber, own_columns
from spl.groups.numbers import KnownJointNumber, know_joint_numbers
from spl.groups.uncertainty import measure_joint_curvature
from spl.regression.candidate import Candidate
from spl.regression.uncertainty import free_numbers


def own_of(candidate: Candidate) -> tuple[OwnNumber, ...]:
    """Return the numbers that each group has for itself in a formula; most formulas have none."""
    return tuple(getattr(candidate, "own", ()))


def with_group_columns(data: Dataset, groupings: Sequence[Grouping], own: Sequence[OwnNumber]) -> Dataset:
    """Return the rows with the value of each own number as a further column.

    Examples:
        >>> rows = Dataset.from_arrays([[1.0], [2.0]], [3.0, 5.0], names=["x"])
        >>> height = OwnNumber("k1", "wood", ("oak", "ash"), (0.7, 0.65))
        >>> with_group_columns(rows, [Grouping.from_labels(["ash", "oak"], "wood")], [height]).names
        ('x', 'k1')
    """
    if not own:
        return data
    codes = {grouping.name: grouping.codes for grouping in groupings}
    return replace(
        data,
        names=(*data.names, *(number.name for number in own)),
        columns=np.ascontiguousarray(np.vstack([data.columns, own_columns(own, codes)])),
        sigma_columns=None,
    )


def know_numbers_of(
    candidate: Candidate, data: Dataset, groupings: Sequence[Grouping], given: Sequence[float] = ()
) -> list[KnownJointNumber]:
    """Return all numbers of a formula with own numbers, shared and own, with their standard errors.

    Args:
        candidate: the formula.
        data: the rows of its fit with their noise model; rows of weight 0 are left out.
        groupings: of these rows.
        given: numbers of the grammar, which are exact.
    """
    counts = np.flatnonzero(data.weights > 0)
    rows, own = data.take(counts), own_of(candidate)
    of_rows = [grouping.take(counts) for grouping in groupings]
    codes = {grouping.name: grouping.codes for grouping in of_rows}
    extended = with_group_columns(rows, of_rows, own)
    fitted, freed = (
        measure_joint_curvature(program, own, extended, [codes[number.grouping] for number in own], len(data.names))
        for program in (candidate.program, free_numbers(candidate.program, given))
    )
    return know_joint_numbers(fitted, freed)


def errors_of_groups(numbers: Sequence[KnownJointNumber]) -> dict[str, list[float]]:
    """Return the standard errors of own numbers by name, group by group."""
    found: dict[str, list[float]] = {}
    for number in numbers:
        if number.name:
            found.setdefault(number.name, []).append(number.standard_error)
    return found
