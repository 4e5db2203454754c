"""The figure of a law with numbers of groups has one panel per group."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.plots.groups import MAX_PANELS, plot_groups

pytest.importorskip("matplotlib")


def draw(n_groups, text="k1*x", names=("x",)):
    codes = np.repeat(np.arange(n_groups), 6)
    columns = np.random.default_rng(0).uniform(1, 2, (len(names), codes.size))
    grouping = Grouping.from_labels([f"group {code}" for code in codes], "wood")
    own = OwnNumber("k1", "wood", grouping.labels, tuple(float(k + 1) for k in range(n_groups)))
    data = Dataset.from_arrays(columns.T, (codes + 1) * columns[0], names=names)
    return plot_groups(parse_expression(text, Vocabulary((*names, "k1"))), (own,), data, (grouping,))


def test_each_group_has_a_panel_with_its_rows_and_its_curve():
    panels = [axes for axes in draw(3).axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in panels] == ["group 0", "group 1", "group 2"]
    for k, axes in enumerate(panels):
        points, curve = axes.lines
        np.testing.assert_allclose(points.get_ydata(), (k + 1) * points.get_xdata())
        np.testing.assert_allclose(curve.get_ydata(), (k + 1) * curve.get_xdata())


def test_of_many_groups_some_are_drawn():
    assert len([axes for axes in draw(MAX_PANELS + 5).axes if axes.get_visible()]) == MAX_PANELS


def test_laws_of_two_columns_are_drawn_at_the_rows():
    [axes] = [axes for axes in draw(2, "k1*x + 0*z", ("x", "z")).axes if axes.get_title(loc="left") == "group 0"]
    assert [line.get_xdata().size for line in axes.lines] == [6, 6]
