import numpy as np
import pytest
from tests.bench.experiments import PENDULUM_TRUTH, make_pendulum_rows, pendulum_trial

from spl.bench import pendulum
from spl.bench.pendulum import (
    IDEAL,
    OTHER_ACCELERATION,
    PENDULUM,
    PENDULUM_GRAMMAR,
    Samples,
    choose_equation,
    columns_for,
    drop_idle_terms,
    has_ideal_terms,
    ideal_terms,
    pendulum_trials,
    predict,
    relative_rms,
)
from spl.bench.pendulum_report import other_terms
from spl.datasets.measured import PENDULUM_COLUMNS
from spl.errors import ExpressionError, SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.front import Front


@pytest.fixture(scope="module")
def samples():
    valid = make_pendulum_rows(400, 1)
    return Samples(make_pendulum_rows(800, 0), valid, valid)


# ---- trials --------------------------------------------------------------------------------------


def test_both_equations_are_searched_with_every_seed():
    trials = pendulum_trials(["prepared", "raw"], [0, 1], 30.0)
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 2 * 2
    assert [trial.problem for trial in trials[:2]] == ["domega1", "domega2"]


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(
        SettingError, match=r"There is no setting 'cooked' for the pendulum\. Choose from: prepared, raw\."
    ):
        pendulum_trials(["cooked"], [0], 30.0)


@pytest.mark.parametrize("target", IDEAL)
def test_the_grammar_is_over_the_columns_of_its_equation(target):
    names = columns_for(target)
    grammar = Grammar.from_text(PENDULUM_GRAMMAR.format(other=OTHER_ACCELERATION[target]), variables=names)
    assert grammar.vocabulary.variables == names
    assert target not in names


# ---- judging -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", IDEAL)
def test_the_truth_has_the_ideal_terms_and_no_other(target):
    assert len(ideal_terms(target)) == 3
    assert other_terms(PENDULUM_TRUTH[target], target) == ()
    assert has_ideal_terms(ideal_terms(target), target)
    assert not has_ideal_terms(ideal_terms(target)[1:], target)


@pytest.mark.parametrize("target", IDEAL)
def test_terms_that_do_not_help_on_the_validation_rows_are_left_out(samples, target):
    equation = drop_idle_terms([*ideal_terms(target), "cos(theta1)", "sign(omega1)", "1"], samples, target)
    assert set(equation.terms) == set(ideal_terms(target))
    assert 0.8 < equation.error < 2.0  # the noise of this acceleration, and of the other one inside the equation


def test_a_term_that_helps_stays(samples):
    damping = np.array([0, 0, 0, 0, 1, 0]) * 0.5
    train = samples.train + damping * samples.train[:, [2]]
    valid = samples.valid + damping * samples.valid[:, [2]]
    equation = drop_idle_terms([*ideal_terms("domega1"), "omega1"], Samples(train, valid, valid), "domega1")
    assert equation.terms["omega1"] == pytest.approx(0.5, rel=0.2)


def make_front(*texts):
    words = Vocabulary(columns_for("domega1"))
    programs = [parse_expression(text, words) for text in texts]
    return Front(tuple(Candidate(program, 2.0 - 0.1 * k, 0.0) for k, program in enumerate(programs)))


def test_the_simplest_of_the_best_equations_is_chosen(samples):
    front = make_front("-69*sin(theta1)", PENDULUM_TRUTH["domega1"], f"{PENDULUM_TRUTH['domega1']} + 0.01*cos(theta2)")
    equation = choose_equation(front, samples, "domega1")
    assert set(equation.terms) == set(ideal_terms("domega1"))
    assert relative_rms(equation.text, samples.test, "domega1") < 0.03


def test_formulas_that_are_no_sums_of_terms_are_passed_over(samples):
    with pytest.raises(ExpressionError, match="None of the formulas found is a sum of terms"):
        choose_equation(make_front("omega1/(omega1 + 0.3)"), samples, "domega1")


@pytest.mark.search
def test_an_equation_is_searched_and_judged(samples, monkeypatch):
    monkeypatch.setattr(pendulum, "load_samples", lambda setting: samples)
    outcome = PENDULUM.run(pendulum_trial(timeout=4.0))
    assert "domega2*cos(theta1 - theta2)" in outcome.formula
    assert 0 < outcome.error < 1
    assert outcome.stopped in ("timeout", "exact")


def test_predictions_use_the_columns_by_name():
    table = np.arange(12.0).reshape(2, 6)
    assert predict("domega2 - omega1", table, "domega1").tolist() == [3.0, 3.0]
    assert PENDULUM_COLUMNS.index("domega2") - PENDULUM_COLUMNS.index("omega1") == 3
