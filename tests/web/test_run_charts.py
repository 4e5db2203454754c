"""Charts of a run in progress."""

import dataclasses
import re

import numpy as np
from tests.report.examples import make_run

from spl.runs.reader import Moment
from spl.web.run_charts import MAX_MOMENTS, draw_learning, draw_whole_front

[SEARCH] = make_run().searches


def with_history(*losses):
    moments = tuple(Moment(float(k), k, k, 1, loss) for k, loss in enumerate(losses, start=1))
    return dataclasses.replace(SEARCH, history=moments)


def test_each_formula_of_the_front_is_a_button_known_by_its_cost():
    chart = draw_whole_front(SEARCH, "<b>y</b>", 1, 1e-13)
    costs = re.findall(r'data-panel="(\d+)"', chart)
    assert costs == [str(candidate.cost) for candidate in SEARCH.front]
    assert chart.count('aria-checked="true"') == 1
    assert "<b>y</b>" not in chart


def test_the_learning_curve_tells_how_far_the_loss_fell():
    chart = draw_learning(with_history(np.inf, 4.0, 1.0), 0.0)
    assert "The lowest loss fell from 4 to 1 in 3.0 seconds." in chart


def test_a_long_history_is_thinned_but_keeps_its_end():
    chart = draw_learning(with_history(*np.linspace(5.0, 2.0, 5 * MAX_MOMENTS + 3)), 0.0)
    [path] = re.findall(r'class="found line" d="([^"]*)"', chart)
    assert path.count("L") <= 2 * MAX_MOMENTS + 4
    assert "from 5 to 2 in" in chart


def test_without_a_finite_loss_there_is_no_curve():
    assert draw_learning(with_history(), 0.0) == ""
    assert draw_learning(with_history(np.inf), 0.0) == ""
