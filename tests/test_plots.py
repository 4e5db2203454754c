"""Figures show what was measured and what the equations say, whatever that is."""

import sys

import numpy as np
import pytest

from spl.errors import SettingError
from spl.expression import parse_expression
from spl.plots import LONGEST_TITLE, MAX_POINTS, MAX_STATES, check_plot, check_plot_file, plot_system, save_figure
from spl.program import Vocabulary
from spl.system import System
from spl.trajectories import Trajectories

T = np.linspace(0, 6, 200)


def make_system(names, texts, **options):
    words = Vocabulary((*names, *(f"d{name}" for name in names if options.get("order") == 2)))
    return System(names, (), tuple(parse_expression(text, words) for text in texts), **options)


def draw(names, texts, states, starts=None, t=T, **options):
    pytest.importorskip("matplotlib")
    data = Trajectories.from_arrays(states, t, names=names)
    return plot_system(make_system(names, texts, **options), data, [states if starts is None else starts])


def oscillation():
    return np.column_stack([np.sin(T), np.cos(T)])


def test_states_over_time_and_the_phase_portrait_are_drawn():
    figure = draw(("x", "y"), ("y", "-x"), oscillation())
    first, second, portrait = figure.axes
    assert (first.get_ylabel(), second.get_ylabel(), second.get_xlabel()) == ("x", "y", "time")
    assert (portrait.get_xlabel(), portrait.get_ylabel()) == ("x", "y")
    assert portrait.get_title(loc="left") == "dx/dt = y\ndy/dt = -x"
    measured, simulated = first.get_lines()
    np.testing.assert_allclose(simulated.get_ydata(), np.sin(T), atol=1e-6)
    np.testing.assert_array_equal(measured.get_ydata(), np.sin(T))


def test_one_state_alone_has_no_portrait():
    assert len(draw(("x",), ("-x",), np.exp(-T)[:, np.newaxis]).axes) == 1


def test_the_portrait_of_order_two_has_the_velocity():
    figure = draw(("x",), ("-x",), np.sin(T)[:, np.newaxis], oscillation(), order=2)
    assert [axes.get_ylabel() for axes in figure.axes] == ["x", "dx"]


def test_an_explosion_does_not_stretch_the_axes():
    figure = draw(("x", "y"), ("100*x**2 + 1", "-x"), oscillation())
    assert figure.axes[0].get_ylim()[1] < 2


def test_many_states_and_samples_are_thinned():
    names = tuple(f"x{k}" for k in range(MAX_STATES + 2))
    t = np.linspace(0, 1, 3 * MAX_POINTS)
    figure = draw(names, ("-x0",) * len(names), np.exp(-t)[:, np.newaxis] + np.arange(len(names)), t=t)
    assert len(figure.axes) == MAX_STATES + 1
    assert figure.axes[0].get_lines()[0].get_xdata().size <= MAX_POINTS * 1.5


def test_a_long_equation_is_cut():
    long = " + ".join(["0*x*y"] * 40) + " + y"
    title = draw(("x", "y"), (long, "-x"), oscillation()).axes[-1].get_title(loc="left")
    assert all(len(line) <= LONGEST_TITLE for line in title.splitlines())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plot.docx", "The plot must end in .png, .pdf, .svg"),
        ("nowhere/plot.png", "The folder of the plot"),
        ("folder.png", "is a directory"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_work(tmp_path, name, message):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(SettingError, match=message):
        check_plot_file(str(tmp_path / name))


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingError, match=r"pip install \"symbolic-physics-learner\[plot\]\""):
        check_plot(str(tmp_path / "plot.png"))


def test_a_figure_is_written_in_the_form_of_its_ending(tmp_path):
    figure = draw(("x", "y"), ("y", "-x"), oscillation())
    save_figure(figure, str(tmp_path / "plot.svg"))
    assert b"<svg" in (tmp_path / "plot.svg").read_bytes()
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(SettingError, match="cannot be written"):
        save_figure(figure, str(tmp_path / "taken.png"))
