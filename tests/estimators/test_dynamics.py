"""`SPLDynamics`: what goes in, what comes out, and that all that comes out agrees."""

import copy
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy.integrate import solve_ivp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.dynamics.coupled_rates import T as COUPLED_T
from tests.dynamics.coupled_rates import make_coupled_states

from spl import SPLDynamics
from spl.data.trajectories import Trajectories
from spl.datasets import make_double_pendulum
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.simulate import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE
from spl.errors import (
    DataError,
    DataRepaired,
    DoubtfulResult,
    ExpressionError,
    FormulaNotFound,
    GrammarError,
    SettingError,
    SimulationEnded,
    SplError,
    UndefinedError,
    UndefinedValues,
)
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate

pytestmark = pytest.mark.search

T = np.linspace(0, 12, 600)
OSCILLATION = np.column_stack([np.sin(2 * T), np.cos(2 * T)])  # a' = 2*b, b' = -2*a
LINEAR = "f -> C*a + C*b | C*a | C*b"  # few formulas: tried in no time
NAMES = ["a", "b"]


def make_model(grammar=LINEAR, **options):
    return SPLDynamics(grammar=grammar, **({"timeout": 6, "n_jobs": 2, "random_state": 0} | options))


@pytest.fixture(scope="module")
def noisy():
    return OSCILLATION + np.random.default_rng(0).normal(0, 0.02, OSCILLATION.shape)


@pytest.fixture(scope="module")
def model(noisy):
    return make_model().fit(noisy, T, feature_names=NAMES)


def coefficients(model):
    return model.coefficients().to_dict("index")


# ---- what comes out


def test_the_equations_of_noisy_data_are_found(model):
    found = coefficients(model)
    assert {state: {term for term, value in terms.items() if value} for state, terms in found.items()} == {
        "a": {"b"},
        "b": {"a"},
    }
    assert found["a"]["b"] == pytest.approx(2.0, rel=0.01)
    assert found["b"]["a"] == pytest.approx(-2.0, rel=0.01)


def test_the_truth_lies_within_a_few_standard_errors(model):
    assert list(model.constants_["state"]) == NAMES
    off = (model.constants_["value"].abs() - 2.0).abs()
    assert (off < 5 * model.constants_["standard_error"]).all()


def test_a_run_whose_length_is_counted_repeats_to_the_last_digit_for_any_number_of_jobs_on_a_busy_machine(noisy):
    def search(n_jobs):
        model = SPLDynamics(
            operators=("+", "*", "sin"), timeout=None, max_evaluations=500, random_state=3, n_jobs=n_jobs
        )
        model.fit(noisy[::3], T[::3], feature_names=NAMES)
        fronts = [front.to_csv() for front in model.equations_]
        return model.equations(17), model.constants_.to_csv(), model.best_index_, fronts

    alone = search(1)
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        assert search(2) == alone
    finally:
        for other in others:
            other.kill()
            other.wait()


@pytest.mark.parametrize("seed", range(4))
def test_every_number_of_the_table_is_printed_with_its_sign_and_its_error_is_honest(seed):
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform(0.3, 1.3, 4)
    true = solve_ivp(
        lambda _, s: [s[0] * (a - b * s[1]), s[1] * (c * s[0] - d)], (0, 12), [1.5, 0.7], t_eval=T, rtol=1e-9
    )
    states = true.y.T * (1 + 0.01 * rng.normal(size=true.y.T.shape))
    rules = "f -> a*g | b*g | C*a*b + C*a | C*a*b + C*b\n g -> C + C*a | C - C*b"
    model = SPLDynamics(grammar=rules, timeout=None, max_evaluations=2000, random_state=seed)
    model.fit(states, T, feature_names=NAMES)
    table = model.constants_
    for state, equation in zip(NAMES, model.equations(6), strict=True):
        shown = [f"{value:.6g}" for value in table.value[table.state == state]]
        signs = equation.replace(" - ", " + -")
        assert re.findall(r"-?\d+\.?\d*", signs) == shown, equation
    truth = {"a": {"a": a, "a*b": -b}, "b": {"a*b": c, "b": -d}}
    errors = dict(zip(table.value.abs(), table.standard_error, strict=True))
    for state, terms in coefficients(model).items():
        for term, value in truth[state].items():
            found = terms[term]
            nearest = min(errors, key=lambda number, found=found: abs(number - abs(found)))
            assert nearest == pytest.approx(abs(found)), (state, term)
            assert abs(found - value) < 5 * errors[nearest], (state, term)


def test_equations_that_explain_little_are_returned_with_a_warning_that_says_what_it_may_mean():
    angle = solve_ivp(lambda _, s: [s[1], -np.sin(s[0])], (0, 12), [2.0, 0.0], t_eval=T).y[0]
    with pytest.warns(DoubtfulResult, match=r"explains (nothing|only part) of how it changes .*order=2"):
        model = SPLDynamics(operators=("+", "*"), timeout=None, max_evaluations=500, random_state=0).fit(angle, T)
    assert model.r2_["x0"] < 0.9
    assert "The equation of x0 explains" in model.notes_[-1]


def test_r2_is_that_of_the_derivatives_of_each_state(model):
    assert list(model.r2_.index) == NAMES
    assert (model.r2_ > 0.99).all()
    assert (model.r2_ < 1.0).all()


def test_a_note_says_if_the_time_was_up_before_the_count(noisy):
    model = SPLDynamics(operators=("+", "*", "sin"), timeout=1.0, max_evaluations=10**9, random_state=3)
    model.fit(noisy, T, feature_names=NAMES)
    assert any("before `max_evaluations`" in note for note in model.notes_)


def test_prediction_simulation_score_export_and_text_agree(model, noisy):
    predicted = model.predict(noisy)
    symbols = sympy.symbols(NAMES)
    for place, (expression, text) in enumerate(zip(model.sympy(), model.equations(17), strict=True)):
        exported = sympy.lambdify(symbols, expression, "numpy")(*noisy.T)
        np.testing.assert_allclose(exported, predicted[:, place], rtol=1e-12, atol=1e-14)
        printed = evaluate(parse_expression(text, Vocabulary(tuple(NAMES))), np.ascontiguousarray(noisy.T))
        np.testing.assert_allclose(printed, predicted[:, place], rtol=1e-12, atol=1e-14)
    table = model.coefficients()[NAMES].to_numpy()
    np.testing.assert_allclose(noisy @ table.T, predicted, rtol=1e-12, atol=1e-14)


def test_exported_code_gives_the_predictions_the_simulation_and_the_score(model, noisy):
    namespace = {}
    exec(model.export("python"), namespace)
    derivatives = namespace["derivatives"]
    np.testing.assert_allclose(derivatives(noisy.T).T, model.predict(noisy), rtol=1e-13, atol=1e-15)

    start = np.array([0.3, -0.8])
    solution = solve_ivp(
        lambda t, state: derivatives(state),
        (T[0], T[-1]),
        start,
        method="DOP853",
        t_eval=T,
        rtol=RELATIVE_TOLERANCE,
        atol=ABSOLUTE_TOLERANCE * np.abs(start),
    )
    np.testing.assert_allclose(solution.y.T, model.simulate(start, T), rtol=0, atol=1e-12)

    rows = make_rows(Trajectories.from_arrays(noisy, T, names=NAMES), Plan())
    residuals = derivatives(rows.table.T).T - rows.targets
    explained = 1 - (residuals**2).sum(axis=0) / ((rows.targets - rows.targets.mean(axis=0)) ** 2).sum(axis=0)
    assert model.score(noisy, T) == pytest.approx(explained.mean(), abs=1e-13)


def test_the_simulation_solves_the_equations_that_are_printed(model):
    matrix = model.coefficients()[NAMES].to_numpy()
    start = np.array([0.3, -0.8])
    values, vectors = np.linalg.eig(matrix)
    exact = np.array([(vectors @ (np.exp(values * t) * np.linalg.solve(vectors, start))).real for t in T])
    np.testing.assert_allclose(model.simulate(start, T), exact, atol=1e-6)


def test_the_score_is_r2_of_what_predict_gives(model):
    slopes = np.column_stack([2 * OSCILLATION[:, 1], -2 * OSCILLATION[:, 0]])
    score = model.score(OSCILLATION, T, x_dot=slopes)
    left = ((model.predict(OSCILLATION) - slopes) ** 2).sum(axis=0) / ((slopes - slopes.mean(axis=0)) ** 2).sum(axis=0)
    assert score == pytest.approx(1 - left.mean(), abs=1e-4)  # of a part of the rows
    assert score > 0.999


def test_equations_are_printed_one_a_line(model, capsys):
    model.print(precision=3)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" = ")[0] for line in lines] == ["(a)'", "(b)'"]
    assert [line.partition(" = ")[2] for line in lines] == model.equations(3)


def test_latex_and_fronts_have_one_entry_a_state(model):
    assert len(model.latex()) == len(model.equations_) == len(model.best_index_) == 2
    assert all(list(front.columns) == ["cost", "loss", "score", "equation"] for front in model.equations_)


def test_what_was_learnt_about_the_data_is_kept(model):
    np.testing.assert_allclose(model.noise_, 0.02, rtol=0.15)
    assert model.derivative_ == "spline"
    assert model.notes_ == []
    assert list(model.feature_names_in_) == NAMES


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        make_model().predict(OSCILLATION)


def test_a_model_can_be_cloned(model):
    assert clone(model).get_params() == model.get_params()


def test_the_figure_shows_every_state(model):
    pytest.importorskip("matplotlib")
    assert [axes.get_ylabel() for axes in model.plot().axes] == ["a", "b", "da/dt", "db/dt", "b"]


def test_the_tree_of_a_state_is_drawn(model):
    pytest.importorskip("matplotlib")
    assert model.plot_tree("a").axes[0].texts
    with pytest.raises(SettingError, match=r"There is no state 'c'\. The states are: a, b\."):
        model.plot_tree("c")


def test_verbose_shows_each_equation_as_it_improves(noisy, capsys):
    make_model(timeout=3, verbose=1).fit(noisy, T, feature_names=NAMES)
    shown = capsys.readouterr().out
    assert "da/dt = " in shown
    assert "db/dt = " in shown


# ---- what goes in


def test_a_list_of_runs_is_one_system(noisy):
    model = make_model().fit([noisy[:250], noisy[300:]], [T[:250], T[300:]], feature_names=NAMES)
    assert coefficients(model)["a"]["b"] == pytest.approx(2.0, rel=0.02)
    assert len(model.trajectories_.runs) == 2


def test_names_are_those_of_a_dataframe(noisy):
    model = make_model("f -> C*x0 | C*'speed [m/s]'").fit(pd.DataFrame(noisy, columns=["x0", "speed [m/s]"]), T)
    assert "'speed [m/s]'" in model.equations()[0]


def test_an_even_step_is_as_good_as_times():
    model = make_model().fit(OSCILLATION, T[1], feature_names=NAMES)
    np.testing.assert_allclose(model.predict([[1.0, 0.0], [0.0, 1.0]]), [[0, -2], [2, 0]], atol=1e-3)


def test_measured_derivatives_are_used(noisy):
    slopes = 3 * np.column_stack([noisy[:, 1], -noisy[:, 0]])  # not those of the states
    with pytest.warns(DoubtfulResult, match="explains only part"):
        model = make_model().fit(noisy, T, x_dot=slopes, feature_names=NAMES)
    assert model.derivative_ == "measured"


def test_an_input_drives_the_system():
    def force(t):
        return np.cos(1.3 * t) + np.sin(0.4 * t)

    u = force(T)
    x = np.empty_like(T)
    x[0] = 0.5
    fine = 20
    for k in range(len(T) - 1):  # x' = -x + 2*u, by many small steps of the midpoint rule
        value, step = x[k], (T[k + 1] - T[k]) / fine
        for j in range(fine):
            t = T[k] + j * step
            middle = value + step / 2 * (2 * force(t) - value)
            value += step * (2 * force(t + step / 2) - middle)
        x[k + 1] = value
    model = make_model("f -> C*x + C*u | C*x | C*u").fit(x, T, u=u, feature_names=["x", "u"])
    assert coefficients(model)["x"] == pytest.approx({"x": -1.0, "u": 2.0}, rel=0.01)
    np.testing.assert_allclose(model.simulate([0.5], T, u=u)[:, 0], x, atol=0.01)
    np.testing.assert_allclose(model.predict([[1.0]], u=[[3.0]]), [[5.0]], rtol=0.01)
    with pytest.raises(DataError, match="The system has inputs: u"):
        model.simulate([0.5], T)


def test_positions_give_accelerations():
    model = make_model("f -> C*q + C*dq | C*q | C*dq", order=2).fit(np.sin(2 * T), T, feature_names=["q"])
    assert coefficients(model)["q"]["q"] == pytest.approx(-4.0, rel=0.01)
    simulated = model.simulate([0.0, 2.0], T)
    np.testing.assert_allclose(simulated[:, 0], np.sin(2 * T), atol=0.05)
    assert model._left_sides() == ["(q)''"]


def test_a_map_is_found_from_exact_data():
    x = [0.3]
    for _ in range(120):
        x.append(3.7 * x[-1] * (1 - x[-1]))
    model = make_model("f -> C*x*(C - x) | C*x | C*x**2", discrete=True).fit(np.array(x), 1.0, feature_names=["x"])
    np.testing.assert_allclose(model.predict([[0.5]]), [[0.925]], rtol=1e-6)
    np.testing.assert_allclose(model.simulate([0.3], np.arange(10))[:, 0], x[:10], rtol=1e-4)
    assert model.derivative_ == "map"
    assert model._left_sides() == ["(x)[k+1]"]


def test_the_weak_form_finds_the_same(noisy):
    model = make_model(derivative="weak").fit(noisy, T, feature_names=NAMES)
    assert coefficients(model)["b"]["a"] == pytest.approx(-2.0, rel=0.02)
    assert model.score(noisy, T) > 0.99


def test_each_state_may_have_its_own_grammar(noisy):
    model = make_model({"b": "f -> C*a", "a": "f -> C*b"}).fit(noisy, T, feature_names=NAMES)
    np.testing.assert_allclose(model.predict([[1.0, 1.0]]), [[2.0, -2.0]], rtol=0.02)


def test_gaps_are_cut_out_and_noted(noisy):
    gappy = noisy.copy()
    gappy[200:220] = np.nan
    with pytest.warns(DataRepaired) as caught:
        model = make_model().fit(gappy, T, feature_names=NAMES)
    repairs = [str(warning.message) for warning in caught if warning.category is DataRepaired]
    assert model.notes_[: len(repairs)] == repairs
    assert any("20 of 600 samples with missing values" in note for note in model.notes_)


def test_times_may_be_dates(noisy):
    dates = np.datetime64("2024-03-01T12:00:00.000000000") + (T * 1e9).astype("timedelta64[ns]")
    with pytest.warns(DataRepaired, match="Column 't' is in seconds since 2024-03-01 12:00:00"):
        model = make_model().fit(noisy, dates, feature_names=NAMES)
    np.testing.assert_allclose(
        model.predict([[1.0, 1.0]]), make_model().fit(noisy, T, feature_names=NAMES).predict([[1.0, 1.0]]), rtol=1e-3
    )


@pytest.mark.parametrize("size", [1.7e308, 1e-310])
def test_states_and_times_of_extreme_sizes_are_refused(noisy, size):
    large = noisy / np.abs(noisy).max() * size
    for x, t in ((large, T), (noisy, T / T.max() * size)):
        with pytest.raises(SplError, match=r"Give it in a (larger|smaller) unit"):
            make_model().fit(x, t, feature_names=NAMES)


# ---- what ends early


def test_an_explosion_is_a_warning_and_nan():
    t = np.linspace(0, 0.9, 300)
    model = make_model("f -> C*x**2 | C*x").fit(1 / (1 - t), t, feature_names=["x"])
    with pytest.warns(SimulationEnded, match="grew beyond all bounds"):
        states = model.simulate([1.0], np.linspace(0, 3, 301))
    assert np.isfinite(states[:90]).all()
    assert np.isnan(states[110:]).all()


# ---- mistakes


@pytest.mark.parametrize(
    ("x", "t", "message"),
    [
        (OSCILLATION, T[::-1], "goes back from 12"),
        (OSCILLATION, np.where(np.arange(600) == 7, T[6], T), "twice, at rows 6 and 7"),
        (OSCILLATION[:3], T[:3], "has 3 samples; at least 5"),
        (np.column_stack([OSCILLATION[:, 0], np.ones(600)]), T, "The state 'x1' is constant"),
        (np.full((600, 2), np.nan), T, "No 5 consecutive samples are complete"),
        ([OSCILLATION, OSCILLATION[:, :1]], [T, T], "has 1 column(s), but that of the first trajectory has 2"),
        (OSCILLATION, T[:-1], "has 599 times, but `x` has 600 samples"),
        (OSCILLATION, None, "`t` is None"),
    ],
)
def test_bad_trajectories_are_refused_with_the_remedy(x, t, message):
    with pytest.raises(DataError) as error:
        make_model().fit(x, t)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grammar": {"a": LINEAR}}, "there is none for 'b'"),
        ({"grammar": {"a": LINEAR, "b": LINEAR, "c": LINEAR}}, "there is no state 'c'"),
        ({"grammar": [LINEAR]}, "`grammar` has 1 entries for 2 states"),
        ({"derivative": "splin"}, "Did you mean 'spline'?"),
        ({"order": 0}, "`order` must be 1 or 2"),
        ({"timeout": -1}, "`timeout` must be more than 0"),
        ({"search": 3}, "`search` must be a SearchConfig"),
    ],
)
def test_bad_settings_are_refused_with_the_remedy(options, message):
    with pytest.raises(SettingError) as error:
        make_model(**options).fit(OSCILLATION, T, feature_names=NAMES)
    assert message in str(error.value)


def test_wrong_widths_are_refused_after_the_fit(model):
    with pytest.raises(DataError, match="There are 1 columns of states and inputs; the equations need 2: a, b"):
        model.predict([[1.0]])
    with pytest.raises(DataError, match="one finite number for each of a, b"):
        model.simulate([1.0], T)
    with pytest.raises(DataError, match=r"one name for each|3 names|names"):
        model.score(OSCILLATION[:, :1], T)


def test_coefficients_inside_terms_are_refused():
    t = np.linspace(0, 3, 300)
    model = make_model("f -> C*sin(C*x)", timeout=3).fit(2 * np.arctan(np.exp(1.37 * t)) / 1.7, t, feature_names=["x"])
    with pytest.raises(ExpressionError, match="numbers inside its terms"):
        model.coefficients()


# ---- where an equation has no value


@pytest.fixture(scope="module")
def root():
    t = np.linspace(0.0, 2.0, 200)
    return make_model("f -> sqrt(x0)", timeout=3).fit((0.5 * t + 1) ** 2, t)  # x' = sqrt(x)


def test_predict_warns_where_an_equation_has_no_value(root):
    words = r"Equation of x0: sqrt\(x0\) has no value where x0 < 0: 1 of 3 rows, the first is row 2 \(counted from 0\)."
    with pytest.warns(UndefinedValues, match=words):
        slopes = root.predict([[1.0], [4.0], [-1.0]])
    np.testing.assert_array_equal(slopes, [[1.0], [2.0], [np.nan]])


@pytest.mark.parametrize("derivative", ["auto", "weak"])
def test_score_says_where_an_equation_has_no_value(root, derivative):
    t = np.linspace(-1.0, 1.0, 60)
    with pytest.raises(
        UndefinedError, match=r"There is no score .* Equation of x0: sqrt\(x0\) has no value where x0 < 0"
    ):
        copy.copy(root).set_params(derivative=derivative).score(t, t)


# ---- rates on both sides -------------------------------------------------------------------------

PENDULUM_RULES = {
    "theta1": "f -> omega1",
    "theta2": "f -> omega2",
    "omega1": "f -> C*omega2'*cos(theta1 - theta2) + C*omega2**2*sin(theta1 - theta2) + C*sin(theta1)",
    "omega2": "f -> C*omega1'*cos(theta1 - theta2) + C*omega1**2*sin(theta1 - theta2) + C*sin(theta2)",
}


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    data = make_double_pendulum(300, noise=0.002)
    path = tmp_path_factory.mktemp("runs") / "pendulum.spl"
    model = SPLDynamics(
        implicit=True, grammar=PENDULUM_RULES, timeout=None, max_evaluations=400, random_state=0, run_file=path
    )
    return model.fit(data.states, data.t, feature_names=data.names)


def test_equations_with_rates_have_their_numbers_and_errors(pendulum):
    numbers = pendulum.constants_[pendulum.constants_.kind != "exact"]
    assert numbers.standard_error.between(0, 0.1).all()
    weight = numbers[numbers.term.str.endswith("*sin(theta2)")].iloc[0]
    assert abs(abs(weight.value) - 9.81) < 5 * weight.standard_error + 0.01


def test_equations_with_rates_come_in_both_forms(pendulum, capsys):
    assert "omega1'" in pendulum.equations()[3]
    assert "omega1'" not in pendulum.equations(solved=True)[3]
    assert sympy.Symbol("omega1'") in pendulum.sympy()[3].free_symbols
    assert {str(symbol) for symbol in pendulum.sympy(solved=True)[3].free_symbols} == {*PENDULUM_RULES}
    assert r"\omega_{1}'" in pendulum.latex()[3]
    assert "'" not in pendulum.latex(solved=True)[3]
    assert "'" not in pendulum.export("sympy")
    pendulum.print()
    found, solved = capsys.readouterr().out.split("\n\nSolved for the rates:\n")
    assert len(found.splitlines()) == 4
    assert [line.partition(" = ")[0] for line in solved.splitlines()] == ["(omega1)'", "(omega2)'"]


def test_the_solved_form_predicts_and_simulates(pendulum):
    truth = make_double_pendulum(300)
    rates = pendulum.predict(truth.states)
    expected = np.column_stack(
        [
            sympy.lambdify(sympy.symbols(list(PENDULUM_RULES)), each)(*truth.states.T)
            for each in pendulum.sympy(solved=True)
        ]
    )
    np.testing.assert_allclose(rates, expected, rtol=1e-6, atol=1e-6)
    assert np.abs(pendulum.simulate(truth.states[0], truth.t) - truth.states).max() < 0.1
    assert (pendulum.r2_ > 0.97).all()


def test_a_run_with_rates_comes_back_from_its_file(pendulum):
    again = SPLDynamics.from_run(pendulum.run_file)
    assert again.implicit is True
    assert again.equations(8) == pendulum.equations(8)
    pd.testing.assert_frame_equal(again.constants_, pendulum.constants_)
    assert r"\omega_{1}' &= " in again._repr_latex_()


def test_the_rate_of_the_equation_itself_is_refused():
    rules = PENDULUM_RULES | {"omega1": "f -> C*omega1' + C*sin(theta1)"}
    data = make_double_pendulum(100)
    with pytest.raises(GrammarError, match=r"The grammar of omega1 contains omega1', which its equation gives"):
        SPLDynamics(implicit=True, grammar=rules).fit(data.states, data.t, feature_names=data.names)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("f -> C*omega2'**2", "No formula found for omega1 is linear in the rates"),
        (
            "f -> (C*omega2' + C*omega1**2*sin(theta1 - theta2) + C*sin(theta2))/cos(theta1 - theta2)",
            "found for omega1 and omega2 cannot be solved for the rates: one repeats the others",
        ),
    ],
)
def test_rates_that_cannot_be_solved_for_are_refused(rule, message):
    data = make_double_pendulum(200)
    rules = PENDULUM_RULES | {"omega1": rule}
    model = SPLDynamics(implicit=True, grammar=rules, timeout=None, max_evaluations=100)
    with pytest.raises(FormulaNotFound, match=message):
        model.fit(data.states, data.t, feature_names=data.names)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"implicit": "yes"}, r"`implicit` must be True, False or \"auto\"; got 'yes'\."),
        ({"implicit": 1}, r"`implicit` must be True, False or \"auto\"; got 1\."),
        ({"implicit": True, "discrete": True}, "A map has no rates"),
    ],
)
def test_implicit_must_be_a_switch_or_auto_and_no_map(given, message):
    with pytest.raises(SettingError, match=message):
        SPLDynamics(**given).fit(OSCILLATION, T)


def test_auto_uses_rates_if_the_data_needs_them_and_says_so():
    model = SPLDynamics(operators=("+", "-", "*"), implicit="auto", timeout=None, max_evaluations=300, random_state=0)
    model.fit(make_coupled_states(), COUPLED_T, feature_names=["x", "y"])
    assert "y'" in model.equations()[0]
    assert model.notes_[0].startswith("The equations have rates on both sides")


@pytest.mark.parametrize("given", [{"discrete": True}, {"derivative": "weak"}])
def test_auto_means_no_rates_where_there_are_none(given):
    model = SPLDynamics(operators=("+", "*"), implicit="auto", timeout=None, max_evaluations=100, **given)
    assert not model.fit(OSCILLATION[::3], T[::3]).discovery_.system.is_implicit


def test_a_grammar_may_name_rates_that_auto_leaves_out():
    rules = "f -> f + f | C * f | x0 | x1 | x0' | x1'"
    model = SPLDynamics(grammar=rules, implicit="auto", timeout=None, max_evaluations=200, random_state=0)
    model.fit(OSCILLATION, T)
    assert not model.discovery_.system.is_implicit
    assert model.notes_ == []
