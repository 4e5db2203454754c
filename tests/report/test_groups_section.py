"""The section about groups as HTML."""

import re

import numpy as np

from spl.display.own_numbers import GroupTable
from spl.report.groups import GroupPicture, GroupsPart
from spl.report.groups_section import write_groups


def make_part(labels=("oak", "ash"), *, n_groups=2, shows_law=True, y=1.0):
    x = np.linspace(0.0, 1.0, 5)
    pictures = tuple(
        GroupPicture(label, (x, np.full(5, y * k)), (x, np.full(5, y * k))) for k, label in enumerate(labels)
    )
    table = GroupTable("wood", ("k1",), tuple((label, "0.7") for label in labels))
    return GroupsPart((table,), "wood", pictures, n_groups, "x", "y", shows_law)


def test_each_group_has_a_row_and_a_picture_with_its_name():
    html = write_groups(make_part())
    assert html.count("<figure>") == 2
    assert '<th scope="row" class="value">oak</th><td class="number">0.7</td>' in html
    assert 'aria-label="ash: y over x, 5 rows."' in html
    assert "The line is the law." in html


def test_labels_are_escaped():
    html = write_groups(make_part(("<b>", "a&b")))
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "a&amp;b" in html


def test_what_is_not_shown_is_said():
    assert "The first 2 of 100 groups are shown." in write_groups(make_part(n_groups=100))
    assert "On the line, both agree." in write_groups(make_part(shows_law=False))


def test_values_that_do_not_exist_leave_a_gap():
    part = make_part()
    line = (part.pictures[0].line[0], np.array([0.0, 1.0, np.nan, 1.0, 0.5]))
    broken = GroupPicture("oak", part.pictures[0].points, line)
    html = write_groups(GroupsPart(part.tables, "wood", (broken,), 1, "x", "y", True))
    [path] = re.findall(r'class="found line" d="([^"]*)"', html)
    assert path.count("M") == 2
    assert "nan" not in html
