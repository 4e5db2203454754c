import numpy as np
import pytest
from click.testing import CliRunner
from tests.bench.fakes import make_record, make_trial

from spl.bench import pendulum, pendulum_report, runner
from spl.bench.pendulum import (
    GRAMMAR,
    IDEAL,
    OTHER,
    PENDULUM,
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
from spl.bench.pendulum_report import best_equations, other_terms, pendulum_sections, pendulum_table
from spl.bench.report import write_report
from spl.cli.main import main
from spl.datasets.measured import PENDULUM_COLUMNS
from spl.datasets.pendulum_tracks import PendulumRun
from spl.errors import ExpressionError, SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.front import Front

TRUTH = {
    "domega1": "-0.1*domega2*cos(theta1 - theta2) - 0.1*omega2**2*sin(theta1 - theta2) - 69*sin(theta1)",
    "domega2": "-1.4*domega1*cos(theta1 - theta2) + 1.4*omega1**2*sin(theta1 - theta2) - 93*sin(theta2)",
}


def pendulum_trial(target="domega1", **changes):
    return make_trial(target, **({"experiment": "pendulum", "setting": "prepared", "timeout": 30.0} | changes))


def make_rows(n_rows, seed, noise=1.0):
    """Return moments that follow the ideal equations, apart from noise in the accelerations."""
    random = np.random.default_rng(seed)
    theta, omega = random.uniform(-3, 3, (n_rows, 2)), random.normal(0, 8, (n_rows, 2))
    difference = theta[:, 0] - theta[:, 1]
    cosine, sine = np.cos(difference), np.sin(difference)
    forces = np.column_stack(
        [
            -0.1 * omega[:, 1] ** 2 * sine - 69 * np.sin(theta[:, 0]),
            1.4 * omega[:, 0] ** 2 * sine - 93 * np.sin(theta[:, 1]),
        ]
    )
    first = (forces[:, 0] - 0.1 * cosine * forces[:, 1]) / (1 - 0.14 * cosine**2)
    second = forces[:, 1] - 1.4 * cosine * first
    return np.column_stack([theta, omega, first, second]) + random.normal(0, noise, (n_rows, 6)) * [0, 0, 0, 0, 1, 1]


@pytest.fixture(scope="module")
def samples():
    valid = make_rows(400, 1)
    return Samples(make_rows(800, 0), valid, valid)


# ---- trials --------------------------------------------------------------------------------------


def test_both_equations_are_searched_with_every_seed():
    trials = pendulum_trials(["prepared", "raw"], [0, 1], 30.0)
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 2 * 2
    assert [trial.problem for trial in trials[:2]] == ["domega1", "domega2"]


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(
        SettingError, match=r"There is no setting 'cooked' of the pendulum\. Known are: prepared, raw\."
    ):
        pendulum_trials(["cooked"], [0], 30.0)


@pytest.mark.parametrize("target", IDEAL)
def test_the_grammar_is_over_the_columns_of_its_equation(target):
    names = columns_for(target)
    grammar = Grammar.from_text(GRAMMAR.format(other=OTHER[target]), variables=names)
    assert grammar.vocabulary.variables == names
    assert target not in names


# ---- judging -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", IDEAL)
def test_the_truth_has_the_ideal_terms_and_no_other(target):
    assert len(ideal_terms(target)) == 3
    assert other_terms(TRUTH[target], target) == ()
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
    front = make_front("-69*sin(theta1)", TRUTH["domega1"], f"{TRUTH['domega1']} + 0.01*cos(theta2)")
    equation = choose_equation(front, samples, "domega1")
    assert set(equation.terms) == set(ideal_terms("domega1"))
    assert relative_rms(equation.text, samples.test, "domega1") < 0.03


def test_formulas_that_are_no_sums_of_terms_are_passed_over(samples):
    with pytest.raises(ExpressionError, match="No formula that was found is a sum of terms"):
        choose_equation(make_front("omega1/(omega1 + 0.3)"), samples, "domega1")


@pytest.mark.search
def test_an_equation_is_searched_and_judged(samples, monkeypatch):
    monkeypatch.setattr(pendulum, "load_samples", lambda setting: samples)
    outcome = PENDULUM.run(pendulum_trial(timeout=4.0))
    assert "domega2*cos(theta1 - theta2)" in outcome.formula
    assert 0 < outcome.error < 1
    assert outcome.stopped in ("timeout", "exact")


# ---- the report ----------------------------------------------------------------------------------

RECORDS = [
    make_record(pendulum_trial(target, seed=seed, setting=setting), formula=formula, error=error, recovered=recovered)
    for target, seed, setting, formula, error, recovered in [
        ("domega1", 0, "prepared", TRUTH["domega1"], 0.05, True),
        ("domega1", 1, "prepared", f"{TRUTH['domega1']} + 0.5*cos(theta1)", 0.06, True),
        ("domega2", 0, "prepared", "-90*sin(theta2)", 0.5, False),
        ("domega1", 0, "raw", TRUTH["domega1"], 0.05, True),
        ("domega2", 0, "raw", TRUTH["domega2"], 0.05, True),
    ]
]


def test_a_row_says_how_often_the_terms_were_found():
    prepared = [record for record in RECORDS if record.trial.setting == "prepared"]
    lines = pendulum_table(prepared).to_markdown().splitlines()
    assert lines[2] == "| domega1 | 2 of 2 | 1 of 2 | 0.055 | 0.5 | 0 of 5 |"
    assert lines[3] == "| domega2 | 0 of 1 | 0 of 1 | 0.5 | 0.5 | 2 of 5 |"


def test_the_best_equation_has_the_lowest_error():
    assert best_equations(RECORDS[:3]) == {"domega1": TRUTH["domega1"], "domega2": "-90*sin(theta2)"}


def test_a_report_has_a_section_for_each_setting():
    text = write_report(RECORDS, None)
    assert "## Double pendulum, setting prepared" in text
    assert "## Double pendulum, setting raw" in text
    assert "- domega2, seed 0: `-90*sin(theta2)` (exact)" in text


@pytest.mark.slow
def test_only_raw_tracks_have_a_figure_of_accelerations(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    run = PendulumRun(np.linspace(0, 40, 400), make_rows(400, 2))
    monkeypatch.setattr(pendulum_report, "load_test_run", lambda: run)
    prepared, raw = pendulum_sections(RECORDS)
    assert prepared.draw is None
    raw.draw(tmp_path / "pendulum-raw")
    assert (tmp_path / "pendulum-raw.png").stat().st_size > 10_000


def test_predictions_use_the_columns_by_name():
    table = np.arange(12.0).reshape(2, 6)
    assert predict("domega2 - omega1", table, "domega1").tolist() == [3.0, 3.0]
    assert PENDULUM_COLUMNS.index("domega2") - PENDULUM_COLUMNS.index("omega1") == 3


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_runs_five_seeds_of_both_settings(monkeypatch):
    calls = {}

    def run_nothing(experiment, trials, path, **options):
        calls.update(experiment=experiment, trials=trials, path=path)
        records = [make_record(trial, formula=TRUTH[trial.problem]) for trial in trials]
        return runner.Finished(records=records, n_trials=len(trials), is_interrupted=False)

    monkeypatch.setattr(runner, "run_trials", run_nothing)
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["bench", "pendulum"])
    assert result.exit_code == 0, result.output
    assert calls["experiment"] is PENDULUM
    assert calls["trials"] == pendulum_trials(["prepared", "raw"], range(5), 60.0)
    assert calls["path"].parts == ("bench-results", "pendulum.jsonl")
