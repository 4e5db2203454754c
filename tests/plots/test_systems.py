"""Figures show measurements and predictions, even if a simulation diverges."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.rows import Plan, make_rows
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.plots.style import LONGEST_TITLE, MAX_POINTS
from spl.plots.systems import MAX_DRAWN_STATES, plot_system

T = np.linspace(0, 6, 200)


def make_system(names, texts, **options):
    words = Vocabulary((*names, *(f"d{name}" for name in names if options.get("order") == 2)))
    return System(names, (), tuple(parse_expression(text, words) for text in texts), **options)


def draw(names, texts, states, t=T, method="auto", **options):
    pytest.importorskip("matplotlib")
    data = Trajectories.from_arrays(states, t, names=names)
    rows = make_rows(data, Plan(method=method, **options))
    return plot_system(make_system(names, texts, **options), data, rows)


def oscillation():
    return np.column_stack([np.sin(T), np.cos(T)])


def test_states_over_time_and_the_phase_portrait_are_drawn():
    figure = draw(("x", "y"), ("y", "-x"), oscillation())
    first, second, _, _, portrait = figure.axes
    assert (first.get_ylabel(), second.get_ylabel(), second.get_xlabel()) == ("x", "y", "time")
    assert (portrait.get_xlabel(), portrait.get_ylabel()) == ("x", "y")
    assert portrait.get_title(loc="left") == "dx/dt = y\ndy/dt = -x"
    measured, simulated = first.get_lines()
    np.testing.assert_allclose(simulated.get_ydata(), np.sin(T), atol=1e-6)
    np.testing.assert_array_equal(measured.get_ydata(), np.sin(T))


def test_one_state_alone_has_no_portrait():
    figure = draw(("x",), ("-x",), np.exp(-T)[:, np.newaxis])
    assert [axes.get_ylabel() for axes in figure.axes] == ["x", "dx/dt"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spline", "weak"])
def test_derivatives_by_the_equations_stand_against_those_of_the_data(method):
    figure = draw(("x", "y"), ("y", "2*x"), oscillation(), method=method)
    right, wrong = figure.axes[2:4]
    _, points = right.get_lines()
    np.testing.assert_allclose(points.get_ydata(), points.get_xdata(), atol=0.02)
    assert right.get_xlim() == right.get_ylim()
    assert "$R^2$ = 1.0" in right.texts[0].get_text()
    assert "$R^2$ = -" in wrong.texts[0].get_text()


def test_an_equation_that_leaves_its_domain_says_so():
    figure = draw(("x", "y"), ("log(x)", "-x"), oscillation())
    assert figure.axes[2].texts[0].get_text() == "undefined in some rows"


def test_names_are_shown_as_they_are():
    figure = draw(("x_$1$", "y^2"), ("'y^2'", "-'x_$1$'"), oscillation())
    assert figure.axes[0].get_ylabel() == r"x_\$1\$"
    figure.canvas.draw()


def test_the_portrait_of_order_two_has_the_velocity():
    figure = draw(("x",), ("-x",), np.sin(T)[:, np.newaxis], order=2)
    assert [axes.get_ylabel() for axes in figure.axes] == ["x", "d2x/dt2", "dx"]


def test_an_explosion_does_not_stretch_the_axes():
    figure = draw(("x", "y"), ("100*x**2 + 1", "-x"), oscillation())
    assert figure.axes[0].get_ylim()[1] < 2


@pytest.mark.slow
def test_many_states_and_samples_are_thinned():
    names = tuple(f"x{k}" for k in range(MAX_DRAWN_STATES + 2))
    t = np.linspace(0, 1, 3 * MAX_POINTS)
    figure = draw(names, ("-x0",) * len(names), np.exp(-t)[:, np.newaxis] + np.arange(len(names)), t=t)
    assert len(figure.axes) == 2 * MAX_DRAWN_STATES + 1
    assert figure.axes[0].get_lines()[0].get_xdata().size <= MAX_POINTS * 1.5


def test_a_long_equation_is_cut():
    long = " + ".join(["0*x*y"] * 40) + " + y"
    title = draw(("x", "y"), (long, "-x"), oscillation()).axes[-1].get_title(loc="left")
    assert all(len(line) <= LONGEST_TITLE for line in title.splitlines())
