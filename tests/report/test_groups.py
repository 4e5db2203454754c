"""The groups of a table in its report: tables of own numbers and pictures."""

import numpy as np

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.report.groups import MAX_PICTURES, gather_groups

LABELS = ("oak", "ash", "elm")
HEIGHT = OwnNumber("k1", "wood", LABELS, (1.0, 2.0, 5.0))


def make_lines(n_rows=30, labels=LABELS):
    """Return rows of lines of slope 2 at a height of each group, with the grouping and the height of each row."""
    x = np.linspace(0.0, 1.0, n_rows)
    wood = Grouping.from_labels([labels[k % len(labels)] for k in range(n_rows)], "wood")
    return x, wood


def line_with(names):
    return parse_expression("2*x + k1", Vocabulary((*names, "k1")))


def test_with_one_column_the_line_is_the_law():
    x, wood = make_lines()
    y = 2 * x + np.array(HEIGHT.values)[wood.codes]
    part = gather_groups(
        line_with(["x"]), [HEIGHT], [wood], Dataset.from_arrays(x[:, None], y, names=["x"]), target="y"
    )
    assert part.shows_law
    assert [picture.label for picture in part.pictures] == list(LABELS)
    ash = part.pictures[1]
    np.testing.assert_allclose(ash.line[1], 2 * ash.line[0] + 2.0)
    np.testing.assert_allclose(ash.points[1], 2 * ash.points[0] + 2.0)
    assert ash.points[0].size == 10
    assert part.tables[0].rows == (("oak", "1"), ("ash", "2"), ("elm", "5"))


def test_with_two_columns_points_lie_over_what_the_law_says():
    x, wood = make_lines()
    y = 2 * x + np.array(HEIGHT.values)[wood.codes]
    data = Dataset.from_arrays(np.column_stack([x, x**2]), y, names=["x", "z"])
    part = gather_groups(line_with(["x", "z"]), [HEIGHT], [wood], data, target="y")
    assert not part.shows_law
    assert part.x_label == "y, predicted"
    for picture in part.pictures:
        np.testing.assert_allclose(picture.points[0], picture.points[1])


def test_with_numbers_of_two_groupings_points_lie_over_what_the_law_says():
    x, wood = make_lines()
    site = Grouping.from_labels([("north", "south")[k % 2] for k in range(x.size)], "site")
    slope = OwnNumber("k2", "site", ("north", "south"), (2.0, 3.0))
    y = np.array(slope.values)[site.codes] * x + np.array(HEIGHT.values)[wood.codes]
    program = parse_expression("k2*x + k1", Vocabulary(("x", "k1", "k2")))
    data = Dataset.from_arrays(x[:, None], y, names=["x"])
    part = gather_groups(program, [HEIGHT, slope], [wood, site], data, target="y")
    assert (part.shows_law, part.grouping, len(part.tables)) == (False, "wood", 2)
    for picture in part.pictures:
        np.testing.assert_allclose(picture.points[0], picture.points[1])


def test_of_many_groups_only_some_have_a_picture():
    labels = tuple(f"tree {k}" for k in range(100))
    x, wood = make_lines(300, labels)
    heights = OwnNumber("k1", "wood", labels, tuple(np.arange(100.0)))
    y = 2 * x + wood.codes
    part = gather_groups(
        line_with(["x"]), [heights], [wood], Dataset.from_arrays(x[:, None], y, names=["x"]), target="y"
    )
    assert (len(part.pictures), part.n_groups, len(part.tables[0].rows)) == (MAX_PICTURES, 100, 100)


def test_a_group_without_rows_has_no_picture():
    x, wood = make_lines()
    kept = np.flatnonzero(wood.codes != 1)
    y = 2 * x + np.array(HEIGHT.values)[wood.codes]
    data = Dataset.from_arrays(x[kept, None], y[kept], names=["x"])
    part = gather_groups(
        line_with(["x"]), [HEIGHT], [wood.take(kept)], data, target="y", errors={"k1": [0.1, np.nan, 0.1]}
    )
    assert [picture.label for picture in part.pictures] == ["oak", "elm"]
    assert part.tables[0].rows[0] == ("oak", "1.00 ± 0.10")
