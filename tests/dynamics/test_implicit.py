"""Equations with rates on both sides: grammars, what can be solved together, and whole runs."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.datasets import make_double_pendulum
from spl.dynamics.discover import discover_system
from spl.dynamics.implicit import (
    check_own_rates,
    drop_copied_rates,
    find_repeating,
    find_unused_rates,
    keep_linear,
    share_grammar,
    solvable_rows,
)
from spl.dynamics.quality import find_system_doubts
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.simulate import simulate
from spl.errors import FormulaNotFound, GrammarError, SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.system import System, rate_names
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.front import Front
from spl.settings import Limits

STATES = ("theta1", "theta2", "omega1", "omega2")
NAMES = (*STATES, *rate_names(STATES))
TRUE_TEXTS = (
    "omega1",
    "omega2",
    "-0.5*omega2'*cos(theta1 - theta2) - 0.5*omega2**2*sin(theta1 - theta2) - 9.81*sin(theta1)",
    "-omega1'*cos(theta1 - theta2) + omega1**2*sin(theta1 - theta2) - 9.81*sin(theta2)",
)
TURNED = (
    "(9.81*sin(theta2) + omega2' - omega1**2*sin(theta1 - theta2))/(-cos(theta1 - theta2))"  # the last, for omega1'
)


def read(text):
    return parse_expression(text, Vocabulary(NAMES))


def make_system(*texts):
    return System(STATES, (), tuple(map(read, texts)), is_implicit=True)


def make_front(*texts):
    return Front.from_candidates([Candidate(read(text), 1 / (1 + k), 0.5) for k, text in enumerate(texts)])


@pytest.fixture(scope="module")
def data():
    truth = make_double_pendulum(600)
    return Trajectories.from_arrays(truth.states, truth.t, names=truth.names)


@pytest.fixture(scope="module")
def rows(data):
    return make_rows(data, Plan(is_implicit=True))


# ---- rows and grammars ---------------------------------------------------------------------------


def test_the_rates_of_all_states_are_columns_after_the_measured_ones(rows):
    assert rows.variables == NAMES
    dataset = rows.dataset(2)
    assert dataset.names == NAMES
    np.testing.assert_array_equal(dataset.columns[7], rows.targets[:, 3])


def test_the_rate_of_the_equation_and_rates_that_its_grammar_lacks_say_nothing(rows):
    assert not rows.dataset(2).columns[6].any()
    grammars = [Grammar.from_text(f"f -> C * {rate} | omega1").bind(NAMES) for rate in ("omega1'", "omega2'") * 2]
    used = replace(rows, unused_rates=find_unused_rates(grammars, rows)).dataset(0)
    assert [column.any() for column in used.columns] == [True] * 4 + [False, False, True, False]


def test_one_grammar_for_all_states_loses_the_rate_of_each():
    grammars = share_grammar(Grammar.from_text("f -> f + f | x | y | x'' | y''"), ("x", "y"), 2, ("x", "y", "dx", "dy"))
    assert [str(grammar) for grammar in grammars] == ["f -> f + f | x | y | y''", "f -> f + f | x | y | x''"]


def test_a_grammar_with_nothing_but_the_own_rate_is_refused():
    with pytest.raises(
        GrammarError, match=r"Every formula of the grammar contains x', so the equation of x would give itself"
    ):
        share_grammar(Grammar.from_text("f -> C * x'"), ("x", "y"), 1, ("x", "y"))


def test_the_own_rate_in_the_grammar_of_a_state_is_refused(data):
    grammars = [Grammar.from_text("f -> C * omega2' | omega1", variables=NAMES)] * 4
    with pytest.raises(GrammarError, match=r"The grammar of omega2 contains omega2', which its equation gives"):
        check_own_rates(grammars, STATES, 1)
    with pytest.raises(GrammarError, match="Use the rates of other states only"):
        SystemRequest(data=data, grammars=grammars, plan=Plan(is_implicit=True))


def test_an_unknown_rate_is_refused(data, rows):
    with pytest.raises(GrammarError, match=r"There is no column 'omega3''"):
        drop_copied_rates([Grammar.from_text("f -> C * omega3' | omega1")], rows)


def test_a_rate_that_is_a_state_is_dropped_where_the_grammar_has_that_state(rows):
    with_state, without = (
        Grammar.from_text("f -> f + f | omega1 | theta1' | omega2'", variables=NAMES),
        Grammar.from_text("f -> f + f | theta1' | omega2'", variables=NAMES),
    )
    assert [str(each) for each in drop_copied_rates([with_state, without], rows)] == [
        "f -> f + f | omega1 | omega2'",
        "f -> f + f | theta1' | omega2'",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"is_discrete": True}, "A map has no rates"), ({"method": "weak"}, "The weak form has no derivatives")],
)
def test_rates_need_derivatives(options, message):
    with pytest.raises(SettingError, match=message):
        Plan(is_implicit=True, **options)


# ---- solvable together ---------------------------------------------------------------------------


def test_only_formulas_that_are_linear_in_the_rates_stay(rows):
    front = keep_linear(make_front("omega1'", "omega1'**2", "omega1'*cos(theta1) + 3"), "omega2", rows)
    assert [candidate.program for candidate in front] == [read("omega1'"), read("omega1'*cos(theta1) + 3")]


def test_no_linear_formula_at_all_is_an_error(rows):
    with pytest.raises(FormulaNotFound, match="No formula found for omega2 is linear in the rates"):
        keep_linear(make_front("sin(omega1')"), "omega2", rows)


def test_the_true_equations_can_be_solved(rows):
    assert find_repeating(make_system(*TRUE_TEXTS), rows) == ()


def test_an_equation_that_repeats_another_is_found(rows):
    assert find_repeating(make_system(*TRUE_TEXTS[:2], TURNED, TRUE_TEXTS[3]), rows) == ("omega1", "omega2")


def test_an_equation_that_repeats_another_is_replaced_with_a_note(rows):
    fronts = [
        make_front("omega1"),
        make_front("omega2"),
        make_front(TURNED, TRUE_TEXTS[2]),
        make_front("-9.81*sin(theta2)", TRUE_TEXTS[3]),
    ]
    chosen, notes = solvable_rows((0, 0, 0, 1), fronts, make_system(*TRUE_TEXTS), rows)
    assert chosen == (0, 0, 1, 1)
    assert notes == (
        "The first equations found for omega1 and omega2 cannot be solved for the rates, because one repeats the others; "
        "others were chosen.",
    )


def test_equations_that_only_repeat_each_other_are_an_error(rows):
    fronts = [make_front("omega1"), make_front("omega2"), make_front(TURNED), make_front(TRUE_TEXTS[3])]
    with pytest.raises(
        FormulaNotFound, match="omega1 and omega2 cannot be solved for the rates: one repeats the other"
    ):
        solvable_rows((0, 0, 0, 0), fronts, make_system(*TRUE_TEXTS), rows)


def test_more_rates_than_can_be_solved_for_are_replaced_with_a_note():
    t = np.linspace(0, 10, 300)
    states = tuple("abcde")
    data = Trajectories.from_arrays(np.column_stack([np.sin((1 + k) * t) for k in range(5)]), t, names=states)
    rows = make_rows(data, Plan(is_implicit=True))
    words = Vocabulary(rows.variables)

    def front(*texts):
        return Front.from_candidates(
            [Candidate(parse_expression(text, words), 1 / (1 + k), 0.5) for k, text in enumerate(texts)]
        )

    fronts = [front("b", f"0.1*{after}' + 0.2*b") for after in "bcdea"]
    template = System(states, (), tuple(each[1].program for each in fronts), is_implicit=True)
    chosen, notes = solvable_rows((1,) * 5, fronts, template, rows)
    assert sum(chosen) == 4
    assert "more than 4 rates depend on each other" in notes[0]


# ---- whole runs ----------------------------------------------------------------------------------

PENDULUM_RULES = {
    "theta1": "f -> omega1",
    "theta2": "f -> omega2",
    "omega1": """
        f -> C*g + C*g + C*g
        g -> omega2'*cos(a) | omega2**2*sin(a) | sin(theta1) | cos(theta1)
        a -> theta1 - theta2
    """,
    "omega2": "f -> C*omega1'*cos(theta1 - theta2) + C*omega1**2*sin(theta1 - theta2) + C*sin(theta2)",
}


@pytest.mark.search
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_double_pendulum_is_found_and_its_numbers_have_errors(noise):
    truth = make_double_pendulum(600, noise=noise)
    data = Trajectories.from_arrays(truth.states, truth.t, names=truth.names)
    grammars = [Grammar.from_text(PENDULUM_RULES[state], variables=NAMES) for state in STATES]
    limits = Limits(timeout=None, max_evaluations=2_000)
    found = discover_system(SystemRequest(data=data, grammars=grammars, plan=Plan(is_implicit=True), limits=limits))
    assert found.system.is_implicit
    assert found.standard_errors[2].size
    assert all((errors[np.isfinite(errors)] < 0.5).all() for errors in found.standard_errors)
    run = data.runs[0]
    simulated = simulate(found.system, make_double_pendulum(600).states[0], run.t).states
    assert np.abs(simulated - make_double_pendulum(600).states)[:200].max() < (1e-3 if noise == 0 else 0.2)


@pytest.mark.search
def test_accelerations_on_both_sides_are_found_from_positions_alone():
    truth = make_double_pendulum(500)
    data = Trajectories.from_arrays(truth.states[:, :2], truth.t, names=truth.names[:2])
    rules = """
        f -> C*g + C*g + C*g
        g -> theta1''*cos(a) | theta2''*cos(a) | dtheta1**2*sin(a) | dtheta2**2*sin(a) | sin(theta1) | sin(theta2)
        a -> theta1 - theta2
    """
    grammars = share_grammar(Grammar.from_text(rules), data.states, 2, data.columns(2))
    limits = Limits(timeout=None, max_evaluations=2_000)
    plan = Plan(order=2, is_implicit=True)
    found = discover_system(SystemRequest(data=data, grammars=grammars, plan=plan, limits=limits))
    assert [text.count("''") for text in found.system.equations()] == [1, 1]
    simulated = simulate(found.system, truth.states[0], truth.t).states
    assert np.abs(simulated - truth.states).max() < 1e-2


def test_a_doubtful_system_of_several_states_is_told_about_rates(data, rows):
    still = System(STATES, (), tuple(parse_expression("0*omega1", Vocabulary(STATES)) for _ in STATES))
    assert "implicit=True" in find_system_doubts(still, data, rows)[0]
    assert "implicit=True" not in find_system_doubts(make_system(*["0*omega1"] * 4), data, rows)[0]
