import numpy as np
import pytest
from click.testing import CliRunner
from tests.bench.fakes import make_record, make_trial

from spl.bench import lorenz, runner
from spl.bench.equations import Found, read_equations
from spl.bench.lorenz import (
    DATA,
    LORENZ,
    NOISE_LEVELS,
    PAPER,
    PAPER_STATES,
    SIMULATED,
    STATES,
    TRUTH,
    compare_equations,
    load_data,
    lorenz_trials,
    true_equations,
)
from spl.bench.lorenz_report import PAPER_ROWS, PAPER_SPL, TRUE, coefficients_of, lorenz_sections, predict
from spl.bench.report import write_report
from spl.cli.main import main
from spl.datasets import make_lorenz
from spl.errors import SettingError
from spl.notation.terms import linear_terms
from spl.regression.fit import evaluate

FALSE = "10*y - 10*x; 28*x - y - x*z + 0.1; x*y"


def lorenz_trial(problem=SIMULATED, noise=0.05, **changes):
    fields = {"experiment": "lorenz", "setting": f"noise={noise:g} threads=2", "timeout": 60.0}
    return make_trial(problem, **(fields | changes))


# ---- the experiment ------------------------------------------------------------------------------


def test_the_truth_is_that_of_the_simulation():
    data = make_lorenz(50, noise=0.0)
    columns = np.ascontiguousarray(data.clean.T)
    values = np.column_stack([evaluate(program, columns) for program in true_equations()])
    np.testing.assert_allclose(values, data.derivatives, rtol=1e-12, atol=1e-9)


def test_levels_of_noise_are_for_simulated_data_alone():
    trials = lorenz_trials(list(DATA), [0.1, 0.2], [0, 1], timeout=60.0, n_threads=2)
    assert [(trial.problem, trial.setting) for trial in trials[:4]] == [
        (PAPER, "noise=0.05 threads=2"),
        (PAPER_STATES, "noise=0.05 threads=2"),
        (SIMULATED, "noise=0.1 threads=2"),
        (SIMULATED, "noise=0.2 threads=2"),
    ]
    assert len({trial.key for trial in trials}) == len(trials) == 8


def test_data_that_does_not_exist_is_refused():
    with pytest.raises(SettingError, match=r"There is no data 'real' of the Lorenz system\. Known are: paper,"):
        lorenz_trials(["real"], [0.05], [0], timeout=60.0, n_threads=2)


@pytest.mark.slow
def test_the_seed_draws_the_noise_of_simulated_data():
    first, second = (load_data(lorenz_trial(seed=seed)).states for seed in (0, 1))
    assert first.shape == second.shape == (6000, 3)
    assert not np.array_equal(first, second)


def test_the_papers_derivatives_are_given_or_not(real_data):
    given, alone = (load_data(lorenz_trial(problem)) for problem in (PAPER, PAPER_STATES))
    assert given.states.shape == given.derivatives.shape == (6000, 3)
    assert alone.derivatives is None
    assert np.array_equal(given.states, alone.states)
    assert np.allclose(np.diff(given.t), 0.01)


@pytest.mark.parametrize(
    ("formulas", "recovered", "error"),
    [
        (("9.9*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z"), True, 0.01),
        (tuple(FALSE.split("; ")), False, None),
    ],
)
def test_what_was_found_is_judged_by_its_terms(monkeypatch, formulas, recovered, error):
    found = Found(formulas=formulas, seconds=1.5, n_evaluations=7, stopped="timeout")
    settings = {}
    monkeypatch.setattr(lorenz, "search_equations", lambda data, **given: settings.update(given) or found)
    monkeypatch.setattr(lorenz, "load_data", lambda trial: None)
    outcome = LORENZ.run(lorenz_trial())
    assert outcome.recovered is recovered
    assert outcome.error == pytest.approx(error)
    assert outcome.formula == "; ".join(formulas)
    assert (outcome.seconds, outcome.evaluations, outcome.stopped) == (1.5, 7, "timeout")
    assert settings == {"timeout": 60.0, "n_threads": 2, "seed": 0, "operators": ("+", "-", "*", "/")}


def test_no_equations_lack_all_terms():
    assert [verdict.n_missing for verdict in compare_equations("")] == [2, 3, 2]


@pytest.mark.search
@pytest.mark.slow
def test_a_trial_is_run():
    outcome = LORENZ.run(lorenz_trial(timeout=8.0))
    assert len(outcome.formula.split("; ")) == 3
    assert outcome.evaluations > 0


# ---- the report ----------------------------------------------------------------------------------

RECORDS = [
    make_record(lorenz_trial(PAPER), formula=TRUTH, error=0.002, seconds=20.0),
    make_record(lorenz_trial(), formula="9.9*(y - x); x*(28 - z) - y; x*y - 2.7*z", error=0.0125, seconds=30.0),
    make_record(lorenz_trial(seed=1), formula=FALSE, recovered=False, error=None, seconds=40.0),
    make_record(lorenz_trial(noise=0.5), formula="", recovered=False, error=None, seconds=60.0),
]


def rows_of(section):
    return {row[0]: row[1:] for row in section.table.rows}


def test_a_row_counts_right_equations_and_terms_too_many_or_missing():
    rows = rows_of(lorenz_sections(RECORDS)[0])
    assert rows["paper"] == ("1 of 1", "1", "1", "1", "0", "0", "0.2", "0.2", "20", "20")
    assert rows["simulated, 5%"] == ("1 of 2", "2", "1", "1", "1", "1", "1.2", "1.2", "35", "40")
    assert rows["simulated, 50%"] == ("0 of 1", "0", "0", "0", "0", "7", "", "", "60", "60")


def test_our_coefficients_stand_beside_the_papers():
    section = lorenz_sections(RECORDS)[1]
    rows = rows_of(section)
    assert rows["paper's SPL"] == (
        *("-9.966", "9.964", "27.76", "-0.942", "-0.994", "0.996", "-2.655"), "0, 0, 0", "5.8",
    )  # fmt: skip
    assert rows["paper's Eureqa"][-1] == "286"
    assert rows["ours: paper"] == ("-10", "10", "28", "-1", "-1", "1", "-2.667", "0, 0, 0", "0")
    assert rows["ours: simulated, 5%"][-2:] == ("0, 1, 0", "")
    assert rows["ours: simulated, 50%"] == 9 * ("",)
    assert section.table.total[1:8] == ("-10", "10", "28", "-1", "-1", "1", "-2.667")


def test_coefficients_are_in_the_order_of_the_truth():
    assert coefficients_of(TRUTH) == pytest.approx(TRUE)
    paper = next(row for row in PAPER_ROWS if row.name == "paper's SPL")
    assert coefficients_of(PAPER_SPL) == pytest.approx(paper.coefficients)


def test_every_true_term_has_a_column():
    assert sum(len(linear_terms(program)) for program in read_equations(TRUTH, STATES)) == len(TRUE)


def test_a_formula_with_numbers_inside_its_terms_has_no_coefficients():
    assert coefficients_of("x/(y + 0.3); y; z") == (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0)


def test_a_prediction_starts_elsewhere_and_ends_with_nan_if_it_explodes():
    assert predict(TRUTH)[1][0].tolist() == [8.0, 7.0, 15.0]
    assert np.isnan(predict("x*x; y; z")[1][-1]).any()


def test_a_report_has_both_sections_and_the_figure(tmp_path):
    pytest.importorskip("matplotlib")
    text = write_report(RECORDS, tmp_path)
    assert "## Lorenz system: recovered" in text
    assert "## Lorenz system: coefficients" in text
    assert "2 threads a trial" in text
    assert (tmp_path / "lorenz-60s.png").exists()


def test_failures_name_what_was_found_instead():
    assert lorenz_sections(RECORDS)[0].failures[0].startswith(f"simulated, seed 1: `{FALSE}`")


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """Take note of what the command asks for, and give it results that cost nothing."""
    calls = {}

    def run_nothing(experiment, trials, path, **options):
        calls.update(experiment=experiment, trials=trials, path=path)
        records = [make_record(trial, formula=TRUTH) for trial in trials]
        return runner.Finished(records=records, n_trials=len(trials), is_interrupted=False)

    monkeypatch.setattr(runner, "run_trials", run_nothing)
    return calls


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["bench", "lorenz", *arguments])


def test_by_default_it_runs_all_data_with_ten_seeds(asked):
    result = run_command("--threads", "1")
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is LORENZ
    assert asked["trials"] == lorenz_trials(list(DATA), NOISE_LEVELS, range(10), timeout=60.0, n_threads=1)
    assert asked["path"].parts == ("bench-results", "lorenz.jsonl")
    assert "10 of 10" in result.stdout


def test_options_choose_what_is_run(asked):
    run_command("--data", "simulated", "--noise", "0.3", "--seeds", "4", "--timeout", "5", "--threads", "1")
    assert asked["trials"] == lorenz_trials([SIMULATED], [0.3], [4], timeout=5.0, n_threads=1)


def test_help_shows_examples_and_a_mistake_is_one_line():
    assert "    spl bench lorenz " in run_command("--help").stdout
    result = run_command("--data", "real")
    assert result.exit_code == 2
    assert "There is no data 'real'" in result.stderr
