"""The groups of a table in its report: their own numbers, and for each group what the law says about its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.display.own_numbers import Errors, GroupTable, group_tables
from spl.formulas.own_numbers import OwnNumber, own_columns
from spl.formulas.program import Program
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]

MAX_PICTURES = 24  # groups with a picture
MAX_PICTURE_ROWS = 200  # of a group in its picture
N_CURVE = 80  # points of a curve


@dataclass(frozen=True, slots=True, eq=False)
class GroupPicture:
    """A group: its measurements as points, and the law as a line."""

    label: str
    points: tuple[Numbers, Numbers]
    line: tuple[Numbers, Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class GroupsPart:
    """The groups of a table: tables of own numbers, and pictures of the groups of one grouping."""

    tables: tuple[GroupTable, ...]
    grouping: str  # of the pictures
    pictures: tuple[GroupPicture, ...]
    n_groups: int
    x_label: str
    y_label: str
    shows_law: bool  # whether the line is the law; else points lie on it where law and measurement agree


def gather_groups(
    program: Program,
    own: Sequence[OwnNumber],
    groupings: Sequence[Grouping],
    data: Dataset,
    *,
    target: str,
    errors: Errors | None = None,
) -> GroupsPart:
    """Return the groups of a table, by the formula that was chosen for it.

    With one column and own numbers of one grouping, a picture shows the law as a curve; otherwise it shows measurements over what the
    law says about them.

    Args:
        program: the formula; own numbers are variables after the columns.
        own: its own numbers; there must be at least one.
        groupings: of the rows.
        data: the rows.
        target: the name of the target.
        errors: of own numbers by name, the standard error of each group's value.
    """
    scopes = {number.grouping for number in own}
    pictured = next(each for each in groupings if each.name in scopes)
    shows_law = len(data.names) == 1 and scopes == {pictured.name}
    draw = _curve_of_group if shows_law else _agreement_of_group
    counts = pictured.count_rows()
    shown = [code for code in range(pictured.n_groups) if counts[code]][:MAX_PICTURES]
    codes = {each.name: each.codes for each in groupings}
    return GroupsPart(
        tables=tuple(group_tables(own, errors)),
        grouping=pictured.name,
        pictures=tuple(
            draw(program, own, codes, data, pictured.labels[code], np.flatnonzero(pictured.codes == code))
            for code in shown
        ),
        n_groups=pictured.n_groups,
        x_label=data.names[0] if shows_law else f"{target}, predicted",
        y_label=target if shows_law else f"{target}, measured",
        shows_law=shows_law,
    )


def _curve_of_group(
    program: Program,
    own: Sequence[OwnNumber],
    codes: Mapping[str, NDArray[np.intp]],
    data: Dataset,
    label: str,
    rows: NDArray[np.intp],
) -> GroupPicture:
    """Return the rows of a group over the only column, with the law."""
    rows = _thin(rows)
    x = data.columns[0]
    fine = np.linspace(x.min(), x.max(), N_CURVE)
    columns = np.array([fine, *(np.full(N_CURVE, number.value_of(label)) for number in own)])
    return GroupPicture(label, (x[rows], data.target[rows]), (fine, evaluate(program, columns)))


def _agreement_of_group(
    program: Program,
    own: Sequence[OwnNumber],
    codes: Mapping[str, NDArray[np.intp]],
    data: Dataset,
    label: str,
    rows: NDArray[np.intp],
) -> GroupPicture:
    """Return the measurements of a group over what the law says, with the line on which they are equal."""
    rows = _thin(rows)
    numbers = own_columns(own, {name: each[rows] for name, each in codes.items()})
    predicted = evaluate(program, np.ascontiguousarray(np.vstack([data.columns[:, rows], numbers])))
    ends = np.array([data.target.min(), data.target.max()])
    return GroupPicture(label, (predicted, data.target[rows]), (ends, ends))


def _thin(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    return rows[:: max(1, -(-rows.size // MAX_PICTURE_ROWS))]
