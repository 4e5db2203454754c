import pytest
from click.testing import CliRunner
from tests.bench.fakes import make_record, make_trial

from spl.bench import parts, runner
from spl.bench.parts import EXACT_SETTING, NOISY_SETTING, PARTS, POINTS20, VARIANTS, parts_trials
from spl.bench.parts_report import parts_sections, parts_table
from spl.bench.random import RANDOM_RULE
from spl.bench.report import write_report
from spl.cli.main import main
from spl.datasets import load_nguyen, nguyen_problems
from spl.errors import SettingError
from spl.settings import CLOSERS, SearchConfig


def parts_trial(setting, problem="Nguyen-1", **changes):
    return make_trial(problem, **({"experiment": "parts", "setting": setting, "timeout": 5.0} | changes))


# ---- variants ------------------------------------------------------------------------------------


def test_the_first_variant_is_the_default_of_the_product():
    assert PARTS.settings(parts_trial("all: points20")) == SearchConfig().to_dict()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bank", {"n_completions": 0}),
        ("inversion", {"max_inversions": 0}),
        ("jumping", {"jumping": False}),
        *((name, {"closers": tuple(other for other in CLOSERS if other != name)}) for name in CLOSERS),
    ],
)
def test_a_variant_goes_without_its_part_and_nothing_else(name, changes):
    assert PARTS.settings(parts_trial(f"{name}: points20")) == SearchConfig().to_dict() | changes


def test_every_closer_is_left_out_once():
    assert [variant.name for variant in VARIANTS if "closers" in variant.changes] == list(CLOSERS)


# ---- trials --------------------------------------------------------------------------------------


def test_every_variant_is_tried_on_every_problem_with_every_seed():
    trials = parts_trials([0, 17], [load_nguyen("Nguyen-1")], [0, 1], 5.0)
    assert len({trial.key for trial in trials}) == len(trials) == len(VARIANTS) * (2 * 2 + 1) * 2


def test_the_variants_of_a_problem_stand_together():
    trials = parts_trials([17], [load_nguyen("Nguyen-1")], [0], 5.0)
    first = trials[: len(VARIANTS)]
    assert {trial.problem for trial in first} == {"random-017"}
    assert [trial.setting for trial in first] == [f"{variant.name}: noise=0 threads=1" for variant in VARIANTS]
    assert trials[-1].setting == "jumping: points20"


def test_a_variant_that_does_not_exist_is_refused():
    with pytest.raises(
        SettingError, match=r"'luck: points20' does not name a variant of the search\. Write one of all, bank"
    ):
        PARTS.run(parts_trial("luck: points20"))


def test_a_random_formula_is_searched_with_the_settings_of_the_variant(monkeypatch):
    monkeypatch.setattr(parts, "run_formula", lambda trial, config: (trial.setting, config))
    found = PARTS.run(parts_trial("jumping: noise=0.01 threads=1", "random-000"))
    assert found == ("noise=0.01 threads=1", SearchConfig(jumping=False))


def test_a_nguyen_problem_is_searched_with_the_settings_of_the_variant(monkeypatch):
    monkeypatch.setattr(parts, "run_task", lambda task, trial: (task.problem.name, task.config))
    assert PARTS.run(parts_trial("bank: points20")) == ("Nguyen-1", SearchConfig(n_completions=0))


def test_a_variant_is_run():
    assert PARTS.run(parts_trial("monomial: points20", timeout=20.0)).recovered


# ---- the report ----------------------------------------------------------------------------------

RECORDS = [
    make_record(parts_trial(f"{name}: {posed}", problem), recovered=recovered, seconds=seconds)
    for name, posed, problem, recovered, seconds in [
        ("scan", EXACT_SETTING, "random-000", False, 5.0),
        ("all", EXACT_SETTING, "random-000", True, 0.5),
        ("all", EXACT_SETTING, "random-001", True, 1.5),
        ("all", NOISY_SETTING, "random-000", False, 5.0),
        ("all", POINTS20, "Nguyen-1", True, 0.25),
    ]
]


def test_rows_are_variants_with_what_they_recovered_and_their_median_seconds():
    lines = parts_table(RECORDS).to_markdown().splitlines()
    assert lines[0] == (
        "| variant | random exact | median s | random noise 0.01 | median s | Nguyen points20 | median s |"
    )
    assert lines[2] == "| all: nothing left out | 2 of 2 | 1 | 0 of 1 | 5 | 1 of 1 | 0.25 |"
    assert "| scan: no scan of constants | 0 of 1 | 5 |  |  |  |  |" in lines
    assert len(lines) == 2 + len(VARIANTS)


def test_every_trial_of_the_experiment_is_in_the_table():
    trials = parts_trials([0], [load_nguyen("Nguyen-1")], [0], 5.0)
    rows = parts_table([make_record(trial) for trial in trials]).rows
    assert {row[1:] for row in rows} == {3 * ("1 of 1", "0.5")}


def test_a_report_has_the_section_with_its_rule():
    text = write_report(RECORDS, None)
    assert "## The contribution of each part" in text
    assert RANDOM_RULE in text
    assert "at most 5 s per trial; one core per trial." in text


def test_time_limits_have_sections_of_their_own():
    assert len(parts_sections([*RECORDS, make_record(parts_trial("all: points20", timeout=10.0))])) == 2


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """Take note of what the command asks for, and give it results that cost nothing."""
    calls = {}

    def run_nothing(experiment, trials, path, **options):
        calls.update(experiment=experiment, trials=trials, path=path)
        records = [make_record(trial) for trial in trials]
        return runner.Finished(records=records, n_trials=len(trials), is_interrupted=False)

    monkeypatch.setattr(runner, "run_trials", run_nothing)
    return calls


def run_command(*arguments):
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["bench", "parts", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_by_default_it_runs_40_formulas_and_all_nguyen_problems_for_5_seconds_each(asked):
    run_command()
    assert asked["experiment"] is PARTS
    assert asked["trials"] == parts_trials(range(40), nguyen_problems(), [0], 5.0)
    assert asked["path"].parts == ("bench-results", "parts.jsonl")


def test_options_choose_what_is_run(asked):
    run_command("--formulas", "3", "--problems", "12-wide,1c", "--seeds", "1-2", "--timeout", "inf")
    problems = [load_nguyen("Nguyen-12-wide"), load_nguyen("Nguyen-1c")]
    assert asked["trials"] == parts_trials([3], problems, [1, 2], None)


def test_it_ends_with_a_table_of_variants(asked):
    lines = run_command("--formulas", "0-39").splitlines()
    row = next(line for line in lines if line.startswith("bank: no bank, closers or jumps"))
    assert row.split()[-12:] == [*(2 * ["40", "of", "40", "0.5"]), "19", "of", "19", "0.5"]
