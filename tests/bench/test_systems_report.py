"""The report on well-known systems."""

from tests.bench.experiments import SYSTEM_TRUTHS, make_systems_record, systems_trial

from spl.bench.report import write_report
from spl.bench.sindy import SindyConfig
from spl.bench.systems_report import errors_table, systems_sections, systems_table

RECORDS = [
    make_systems_record(systems_trial(), formula=SYSTEM_TRUTHS["van_der_pol"], error=0.012, seconds=10.0),
    make_systems_record(systems_trial(seed=1), formula="y; x", recovered=False, error=None, seconds=20.0),
    make_systems_record(systems_trial(tool="pysindy"), formula=SYSTEM_TRUTHS["van_der_pol"], error=0.002, seconds=0.5),
    make_systems_record(systems_trial(noise=0.1), formula="", recovered=False, error=None, seconds=60.0),
    make_systems_record(systems_trial("lorenz"), formula=SYSTEM_TRUTHS["lorenz"], error=0.001, seconds=30.0),
]


def test_cells_count_right_equations_of_all_trials():
    table = systems_table(RECORDS)
    assert table.headings == ("system", "spl 0.01", "spl 0.1", "sindy 0.01", "sindy 0.1")
    assert table.rows == (("lorenz", "3/3", "", "", ""), ("van_der_pol", "3/4", "0/2", "2/2", ""))
    assert table.total == ("all", "6/7", "0/2", "2/2", "")


def test_errors_are_those_of_recovered_systems():
    table = errors_table(RECORDS)
    assert table.headings[-2:] == ("spl s", "sindy s")
    assert table.rows[1] == ("van_der_pol", "1.2", "", "0.2", "", "20", "0.5")


def test_failures_name_each_wrong_equation_of_ours():
    assert systems_sections(RECORDS)[0].failures == (
        "van_der_pol, noise 0.01, seed 1: `2*(1 - x**2)*y - x` is the truth; found `x`",
        "van_der_pol, noise 0.1, seed 0: nothing (stopped: exact)",
    )


def test_a_report_has_both_sections_with_the_settings_of_pysindy():
    text = write_report(RECORDS, None)
    assert "## Well-known systems: right equations" in text
    assert "## Well-known systems: largest errors of numbers, and seconds" in text
    assert f"threshold {SindyConfig().threshold:g}" in text
