"""The report on coarse samples."""

from tests.bench.experiments import SAMPLED_TRUTHS, make_systems_record, sampling_trial

from spl.bench.report import write_report
from spl.bench.sampling_report import each_system_table, sampling_sections, sampling_table

TRUTH = SAMPLED_TRUTHS["brusselator"]
WRONG = {"recovered": False, "error": None}
RECORDS = [
    make_systems_record(sampling_trial(samples=40), formula=TRUTH, seconds=10.0),
    make_systems_record(sampling_trial(samples=5), formula="1 + x**2*y - 4*x; x", seconds=20.0, **WRONG),
    make_systems_record(sampling_trial(samples=5, tool="pysindy"), formula="x; y", **WRONG),
    make_systems_record(sampling_trial("thomas", samples=5), formula=SAMPLED_TRUTHS["thomas"], seconds=30.0),
    make_systems_record(sampling_trial("lorenz", samples=5, noise=0.01), formula="", seconds=60.0, **WRONG),
]


def test_cells_count_recovered_systems():
    table = sampling_table(RECORDS)
    assert table.headings == ("samples per turn", "spl 0", "spl 0.01", "pysindy 0", "pysindy 0.01")
    assert table.rows == (("40", "1/1", "", "", ""), ("5", "1/2", "0/1", "0/1", ""))


def test_each_system_has_its_row():
    table = each_system_table([record for record in RECORDS if record.trial.tool == "spl"])
    assert table.headings == ("system", "40 at 0", "5 at 0", "40 at 0.01", "5 at 0.01", "median s")
    assert table.rows == (
        ("lorenz", "", "", "", "0/1", "60"),
        ("brusselator", "1/1", "0/1", "", "", "15"),
        ("thomas", "", "1/1", "", "", "30"),
    )


def test_failures_name_the_systems_that_were_missed_and_then_each_wrong_equation():
    assert sampling_sections(RECORDS)[0].failures == (
        "5 samples per turn, noise 0: brusselator",
        "5 samples per turn, noise 0.01: lorenz",
        "brusselator, 5 samples per turn, noise 0, seed 0: `3*x - x**2*y` is the truth; found `x`",
        "lorenz, 5 samples per turn, noise 0.01, seed 0: nothing (stopped: exact)",
    )


def test_with_several_seeds_failures_say_how_often_a_system_was_missed():
    again = make_systems_record(sampling_trial(samples=5, seed=1), formula=TRUTH)
    assert sampling_sections([*RECORDS, again])[0].failures[0] == "5 samples per turn, noise 0: brusselator (1 of 2)"


def test_a_report_has_both_sections_but_one_without_our_trials():
    text = write_report(RECORDS, None)
    assert "## Coarse samples: recovered systems" in text
    assert "## Coarse samples: each system, searched by spl" in text
    assert "one core per trial" in text
    assert len(sampling_sections([record for record in RECORDS if record.trial.tool == "pysindy"])) == 1
