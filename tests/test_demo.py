"""The demonstration, on small budgets."""

import io
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from spl.cli import main
from spl.datasets.lorenz import lorenz_derivative, make_lorenz
from spl.demo import STATES, TRUTH, WINDOW, DemoSettings, has_terms_of, make_datasets, run_demo, simulate
from spl.errors import SettingError
from spl.expression import parse_expression
from spl.fit import evaluate
from spl.program import Vocabulary

WORDS = Vocabulary(STATES)
TRUE_PROGRAMS = [parse_expression(TRUTH[state], WORDS) for state in STATES]


def test_the_truth_that_is_printed_is_that_of_the_simulation(rng):
    states = rng.standard_normal((5, 3))
    values = np.column_stack([evaluate(program, states.T) for program in TRUE_PROGRAMS])
    np.testing.assert_allclose(values, lorenz_derivative(states), atol=1e-5)


@pytest.mark.parametrize(
    ("formula", "truth", "is_same"),
    [
        ("9.7*y - 10.2*x", "10*(y - x)", True),
        ("x*(27 - 0.99*z) - 0.9*y", "x*(28 - z) - y", True),
        ("19*3.141592653589793/6*(y - x)", "10*(y - x)", True),
        ("10*(y - x) + 0.1", "10*(y - x)", False),
        ("x*y - 2.6*z + 0.001*x*z", "x*y - 8/3*z", False),
        ("x*y", "x*y - 8/3*z", False),
        ("(x*y - z)/x", "x*y - 8/3*z", False),
    ],
)
def test_terms_are_compared_whatever_their_coefficients(formula, truth, is_same):
    assert has_terms_of(parse_expression(formula, WORDS), truth) is is_same


def test_the_rows_of_the_search_nearly_obey_the_truth():
    data = make_lorenz(2000, noise=0.0)
    for place, (state, dataset) in enumerate(make_datasets(data).items()):
        assert dataset.names == STATES
        true = evaluate(TRUE_PROGRAMS[place], dataset.columns)
        assert np.std(dataset.target - true) < 0.02 * dataset.spread, state


def test_the_rows_of_the_search_lie_half_a_window_apart():
    assert make_datasets(make_lorenz(1000, noise=0.0))["x"].n_rows == len(range(WINDOW, 1000 - WINDOW, WINDOW // 2))


def test_the_true_equations_simulate_the_true_states():
    data = make_lorenz(200, noise=0.0)
    np.testing.assert_allclose(simulate(TRUE_PROGRAMS, data.clean[0], data.t), data.clean, atol=1e-2)


@pytest.mark.parametrize("formula", ["x - y/z", "-2.5*x**2 + y**4/(z - 0.5)", "1/x - y**-2"])
def test_the_simulation_reads_programs_as_the_kernels_do(formula, rng):
    program = parse_expression(formula, WORDS)
    state = rng.standard_normal(3)
    step = 1e-6
    moved = simulate([program] * 3, state, np.array([0.0, step]))[-1] - state
    np.testing.assert_allclose(moved / step, evaluate(program, state[:, None]).repeat(3), rtol=1e-3)


def test_a_system_that_explodes_is_simulated_as_far_as_it_goes():
    explosive = [parse_expression(text, WORDS) for text in ("x**3", "y", "z")]
    states = simulate(explosive, np.array([10.0, 1.0, 1.0]), np.arange(0, 5, 0.01))
    assert len(states) < 500


def test_the_demonstration_prints_found_beside_true_and_writes_the_plot(tmp_path):
    pytest.importorskip("matplotlib")
    console = Console(file=io.StringIO(), width=120)
    found = run_demo(console, DemoSettings(timeout=6.0, jobs=2, output=str(tmp_path / "plot.png")))
    shown = console.file.getvalue()
    assert [equation.state for equation in found] == list(STATES)
    assert "measured with 5 % noise" in shown
    assert all(truth in shown for truth in TRUTH.values())
    n_right = sum(equation.has_true_terms for equation in found)
    assert f"{n_right} of 3 equations have exactly the true terms." in shown
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert f"The plot is in {tmp_path / 'plot.png'}." in shown


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    console = Console(file=io.StringIO(), width=120)
    run_demo(console, DemoSettings(timeout=1.0, output=str(tmp_path / "plot.png")))
    assert 'pip install "symbolic-physics-learner[plot]"' in console.file.getvalue()
    assert not (tmp_path / "plot.png").exists()


@pytest.mark.slow
def test_all_three_equations_are_found_at_the_default_noise(tmp_path):
    found = run_demo(Console(file=io.StringIO()), DemoSettings(jobs=2, output=str(tmp_path / "plot.png")))
    assert [equation.has_true_terms for equation in found] == [True] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output", "plot.docx"], "The plot must end in .png, .pdf, .svg; it is 'plot.docx'."),
        (["--output", "nowhere/plot.png"], "The folder of the plot 'nowhere/plot.png' does not exist."),
        (["--noise", "-1"], "`noise` must be 0 or more; it is -1.0."),
        (["--timeout", "0"], "`timeout` must be more than 0; it is 0.0."),
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
