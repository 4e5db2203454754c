"""The learning curve of a run."""

from dataclasses import replace

import pytest
from tests.report.examples import make_run, make_system_run

from spl.errors import RunFileError
from spl.plots.learning import learning_curve, plot_learning

pytest.importorskip("matplotlib")


def test_the_curve_falls_from_the_first_formula_to_the_last():
    run = make_run(target="y_$1$")
    [line] = plot_learning(run).axes[0].get_lines()
    seconds, losses = learning_curve(run.searches[0])
    assert list(line.get_xdata()) == list(seconds) == [0.5, 1.5, 2.5, 9.0]
    assert list(line.get_ydata()) == list(losses)
    assert losses[-1] == run.searches[0].front[-1].loss


def test_every_search_of_a_system_has_its_curve_with_its_name():
    figure = plot_learning(make_system_run(names=("x", "v_$1$"), formulas=("'v_$1$'", "-4 * x")))
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["x", r"v_\$1\$"]
    figure.canvas.draw()


def test_a_run_without_history_says_so():
    run = make_run()
    empty = replace(run.searches[0], improvements=(), history=())
    with pytest.raises(RunFileError, match="has no history yet"):
        plot_learning(replace(run, searches=(empty,)))
