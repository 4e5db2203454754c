"""The report on the Lorenz system."""

from dataclasses import replace

import numpy as np
import pytest
from tests.bench.experiments import lorenz_trial
from tests.bench.fakes import make_record

from spl.bench.equations import read_equations
from spl.bench.lorenz import (
    PAPER_DATA,
    STATES,
    TRUTH,
)
from spl.bench.lorenz_report import PAPER_ROWS, PAPER_SPL, TRUE_COEFFICIENTS, coefficients_of, lorenz_sections, predict
from spl.bench.report import write_report
from spl.notation.terms import linear_terms

FALSE = "10*y - 10*x; 28*x - y - x*z + 0.1; x*y"

RECORDS = [
    make_record(lorenz_trial(PAPER_DATA), formula=TRUTH, error=0.002, seconds=20.0),
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
    assert coefficients_of(TRUTH) == pytest.approx(TRUE_COEFFICIENTS)
    paper = next(row for row in PAPER_ROWS if row.name == "paper's SPL")
    assert coefficients_of(PAPER_SPL) == pytest.approx(paper.coefficients)


def test_every_true_term_has_a_column():
    assert sum(len(linear_terms(program)) for program in read_equations(TRUTH, STATES)) == len(TRUE_COEFFICIENTS)


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
    assert "2 threads per trial" in text
    assert (tmp_path / "lorenz-60s.png").exists()


def test_results_without_the_noise_of_the_paper_have_no_figure(tmp_path):
    pytest.importorskip("matplotlib")
    trial = replace(lorenz_trial(noise=0.5), setting="noise=0.5 threads=1")
    other = make_record(trial, formula=TRUTH, error=0.02, seconds=60.0)
    assert "The figure shows" not in write_report([other], tmp_path)
    assert write_report([*RECORDS, other], tmp_path).count("![Lorenz") == 1


def test_failures_name_what_was_found_instead():
    assert lorenz_sections(RECORDS)[0].failures[0].startswith(f"simulated, seed 1: `{FALSE}`")
