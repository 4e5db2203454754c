"""The report on the parts of the search."""

from tests.bench.experiments import parts_trial
from tests.bench.fakes import make_record

from spl.bench.parts import EXACT_SETTING, NOISY_SETTING, POINTS20, VARIANTS, parts_trials
from spl.bench.parts_report import parts_sections, parts_table
from spl.bench.random import RANDOM_RULE
from spl.bench.report import write_report
from spl.datasets import load_nguyen

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
