"""The demonstration, on small budgets."""

import io
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from spl.cli.demo import STATES, TRUE_EQUATIONS, DemoSettings, run_demo
from spl.cli.main import main
from spl.datasets.lorenz import lorenz_derivative
from spl.errors import SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate

pytestmark = pytest.mark.search


def test_the_truth_that_is_printed_is_that_of_the_simulation(rng):
    states = rng.standard_normal((5, 3))
    programs = [parse_expression(TRUE_EQUATIONS[state], Vocabulary(STATES)) for state in STATES]
    values = np.column_stack([evaluate(program, states.T) for program in programs])
    np.testing.assert_allclose(values, lorenz_derivative(states), atol=1e-5)


def test_the_demonstration_prints_found_beside_true_and_writes_the_plot(tmp_path):
    pytest.importorskip("matplotlib")
    console = Console(file=io.StringIO(), width=120)
    found = run_demo(console, DemoSettings(timeout=8.0, jobs=2, output=str(tmp_path / "plot.png")))
    shown = console.file.getvalue()
    assert [equation.state for equation in found] == list(STATES)
    assert "measured with 5 % noise" in shown
    assert "Derivatives by smoothing splines, because there is noise." in shown
    assert all(truth in shown for truth in TRUE_EQUATIONS.values())
    n_right = sum(equation.has_true_terms for equation in found)
    assert f"{n_right} of 3 equations have exactly the true terms." in shown
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert f"The plot is in {tmp_path / 'plot.png'}." in shown


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    console = Console(file=io.StringIO(), width=120)
    run_demo(console, DemoSettings(timeout=3.0, output=str(tmp_path / "plot.png")))
    assert 'pip install "symbolic-physics-learner[plot]"' in console.file.getvalue()
    assert not (tmp_path / "plot.png").exists()


@pytest.mark.slow
def test_all_three_equations_are_found_at_the_default_noise(tmp_path):
    found = run_demo(Console(file=io.StringIO()), DemoSettings(jobs=2, output=str(tmp_path / "plot.png")))
    assert [equation.has_true_terms for equation in found] == [True] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "plot.docx"], "The plot must end in .png, .pdf, .svg; got 'plot.docx'."),
        (["--output", "nowhere/plot.png"], "The folder of the plot 'nowhere/plot.png' does not exist."),
        (["--noise", "-1"], "`noise` must be 0 or more; got -1.0."),
        (["--timeout", "0"], "`timeout` must be more than 0; got 0.0."),
    ],
)
def test_a_mistake_is_told_before_anything_starts(options, message):
    result = CliRunner().invoke(main, ["demo", *options])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {message}")


def test_a_plot_cannot_replace_a_directory(tmp_path):
    (tmp_path / "plot.png").mkdir()
    with pytest.raises(SettingError, match="is a directory"):
        DemoSettings(output=str(tmp_path / "plot.png"))
