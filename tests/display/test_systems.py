"""What people are told about a system is true of it."""

import json
import math

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.display.systems import (
    describe_system,
    equation_lines,
    left_side,
    left_sides,
    mathml_sides,
    method_line,
    noise_shares,
    quality_lines,
    solved_equations,
    solved_lines,
    summary_lines,
    system_numbers,
)
from spl.dynamics.discover import discover_system
from spl.dynamics.quality import followed_until, measure_r2
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan, make_rows
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression, to_text
from spl.settings import Limits

T = np.linspace(0, 10, 400)
NAMES = ("x", "y")


def make_data(noise=0.0):
    x = np.column_stack([np.sin(2 * T), np.cos(2 * T)])
    return Trajectories.from_arrays(x + np.random.default_rng(0).normal(0, noise, x.shape), T, names=NAMES)


def make_system(*texts):
    return System(NAMES, (), tuple(parse_expression(text, Vocabulary(NAMES)) for text in texts))


TRUE = make_system("2*y", "-2*x")


@pytest.fixture(scope="module")
def found():
    grammar = Grammar.from_text("f -> C*x | C*y").bind(NAMES)
    return discover_system(
        SystemRequest(data=make_data(0.02), grammars=[grammar, grammar], limits=Limits(timeout=4), n_jobs=2)
    )


def numbers_of(found):
    return system_numbers(found.system, found.standard_errors)


@pytest.mark.parametrize("method", ["auto", "spline", "weak"])
def test_the_true_equations_explain_everything(method):
    np.testing.assert_allclose(measure_r2(TRUE, make_rows(make_data(), Plan(method=method))), 1.0, atol=1e-3)


@pytest.mark.parametrize("method", ["auto", "weak"])
def test_an_equation_that_is_no_better_than_the_mean_explains_nothing(method):
    rows = make_rows(make_data(), Plan(method=method))
    assert measure_r2(make_system("0*x", "-2*x"), rows)[0] == pytest.approx(0.0, abs=0.05)


def test_an_equation_without_a_value_explains_less_than_nothing():
    assert measure_r2(make_system("log(x)", "-2*x"), make_rows(make_data(), Plan()))[0] == -math.inf


def test_the_true_equations_follow_the_data_to_the_end():
    data = make_data()
    assert followed_until(TRUE, data, make_rows(data, Plan())) == T[-1]


def test_wrong_equations_are_followed_as_long_as_they_are_near():
    data = make_data()
    until = followed_until(make_system("2.2*y", "-2.2*x"), data, make_rows(data, Plan()))
    assert 1.0 < until < 3.0  # 0.2 radians a unit of time; half a spread is a third of a radian or more


def test_an_explosion_ends_what_is_followed():
    data = make_data()
    assert followed_until(make_system("100*y**2 + 1", "-2*x"), data, make_rows(data, Plan())) < 1.0


def test_noise_is_a_share_of_the_size_of_a_state():
    np.testing.assert_allclose(noise_shares(make_data(), np.array([0.1, 0.2])), [0.1414, 0.2828], rtol=0.02)


def test_the_method_is_named_with_its_reason():
    quiet, loud = make_data(), make_data(0.05)
    assert "finite differences, because there is hardly any noise." in method_line(
        quiet, make_rows(quiet, Plan()), Plan()
    )
    line = method_line(loud, make_rows(loud, Plan()), Plan())
    assert line.startswith("Derivatives by smoothing splines, because there is noise. Estimated noise: ")
    assert "% of x" in line
    weak = Plan(method="weak")
    assert method_line(loud, make_rows(loud, weak), weak).startswith("No derivatives: means against test functions")


def test_few_samples_are_a_reason_too():
    data = Trajectories.from_arrays([1.0, 2.1, 2.9, 4.2, 5.1, 5.8], 0.1, names=["x"])
    assert "because there are few samples" in method_line(data, make_rows(data, Plan()), Plan())


def test_columns_of_order_two_have_velocities():
    data = Trajectories.from_arrays(np.sin(T), T, u=T, names=["a"], input_names=["force"])
    assert data.columns(1) == ("a", "force")
    assert data.columns(2) == ("a", "da", "force")


def test_equations_are_aligned():
    assert equation_lines(TRUE) == ["dx/dt = 2*y", "dy/dt = -2*x"]
    assert left_side("x", 2) == "d2x/dt2"


def test_every_state_has_a_line_with_its_quality_and_one_for_each_number(found):
    heading, *lines = quality_lines(found)
    assert "standard errors" in heading
    assert [line.split()[:2] for line in lines[::2]] == [["dx/dt", "R2"], ["dy/dt", "R2"]]
    for line, number in zip(lines[1::2], [of_state[0] for of_state in numbers_of(found)], strict=True):
        assert line.split("  ")[1:][0] == number.text
        assert line.endswith(number.term)


def test_numbers_say_what_is_known_about_them():
    system = make_system("2*x - C*y", "3*x").with_constants([0.71234])
    numbers = system_numbers(system, [np.array([math.nan, 0.012]), np.array([0.04])])
    told = [(number.state, number.kind, number.text, number.term) for of_state in numbers for number in of_state]
    assert told == [
        ("x", "exact", "2 (exact)", "[2]*x"),
        ("x", "fitted", "-0.712 ± 0.012", "[-0.71234]*y"),
        ("y", "rounded", "3 (rounded, ± 0.04)", "[3]*x"),
    ]


def test_the_summary_says_how_far_and_how_long(found):
    followed, seconds = summary_lines(found, make_data(0.02))
    assert followed.startswith("A simulation from the first sample follows the data ")
    assert seconds == f"{found.seconds:.1f} s."


def test_the_description_is_json_that_says_what_was_found(found):
    told = json.loads(json.dumps(describe_system(found, make_data(0.02), ["a note"], 7), allow_nan=False))
    assert (told["states"], told["derivative"], told["seed"], told["notes"]) == (["x", "y"], "spline", 7, ["a note"])
    for equation, program in zip(told["equations"], found.system.programs, strict=True):
        assert parse_expression(equation["equation"], Vocabulary(NAMES)).tokens
        [number] = equation["numbers"]
        assert equation["equation"].startswith(str(number["value"]).removesuffix(".0"))
        assert 0 < number["standard_error"] < 0.02
        assert number["kind"] in ("fitted", "rounded")
        assert number["term"].startswith("[")
        assert equation["r2"] > 0.99
        assert equation["equation"] == to_text(program)
        assert {"cost", "loss", "score", "equation"} == set(equation["front"][0])


# ---- rates on both sides -------------------------------------------------------------------------


def make_implicit(*texts, order=1):
    names = System(NAMES, (), (parse_expression("1", Vocabulary(_columns(order))),) * 2, order).columns
    primes = "'" * order
    words = Vocabulary((*names, *(f"{name}{primes}" for name in NAMES)))
    return System(NAMES, (), tuple(parse_expression(text, words) for text in texts), order, is_implicit=True)


def _columns(order):
    return NAMES if order == 1 else (*NAMES, "dx", "dy")


def test_equations_with_rates_have_primes_on_both_sides():
    system = make_implicit("2*y - 0.5*y'", "-2*x")
    assert equation_lines(system) == ["x' = 2*y - 0.5*y'", "y' = -2*x"]
    assert left_sides(make_implicit("y''", "x", order=2)) == ["x''", "y''"]
    assert mathml_sides(system) == ["<msup><mi>x</mi><mo>′</mo></msup>", "<msup><mi>y</mi><mo>′</mo></msup>"]


def test_only_equations_with_rates_are_shown_solved():
    system = make_implicit("2*y - 0.5*y'", "-2*x")
    assert [(state, to_text(program)) for state, program in solved_equations(system)] == [("x", "x + 2*y")]
    assert solved_lines(system) == ["", "Solved for the rates:", "dx/dt = x + 2*y"]
    assert solved_lines(TRUE) == solved_equations(TRUE) == []
