"""The report on the double pendulum."""

import numpy as np
import pytest
from tests.bench.experiments import PENDULUM_TRUTH, make_pendulum_rows, pendulum_trial
from tests.bench.fakes import make_record

from spl.bench import pendulum_report
from spl.bench.pendulum_report import best_equations, pendulum_sections, pendulum_table
from spl.bench.report import write_report
from spl.datasets.pendulum_tracks import PendulumRun

RECORDS = [
    make_record(pendulum_trial(target, seed=seed, setting=setting), formula=formula, error=error, recovered=recovered)
    for target, seed, setting, formula, error, recovered in [
        ("domega1", 0, "prepared", PENDULUM_TRUTH["domega1"], 0.05, True),
        ("domega1", 1, "prepared", f"{PENDULUM_TRUTH['domega1']} + 0.5*cos(theta1)", 0.06, True),
        ("domega2", 0, "prepared", "-90*sin(theta2)", 0.5, False),
        ("domega1", 0, "raw", PENDULUM_TRUTH["domega1"], 0.05, True),
        ("domega2", 0, "raw", PENDULUM_TRUTH["domega2"], 0.05, True),
    ]
]


def test_a_row_says_how_often_the_terms_were_found():
    prepared = [record for record in RECORDS if record.trial.setting == "prepared"]
    lines = pendulum_table(prepared).to_markdown().splitlines()
    assert lines[2] == "| domega1 | 2 of 2 | 1 of 2 | 0.055 | 0.5 | 0 of 5 |"
    assert lines[3] == "| domega2 | 0 of 1 | 0 of 1 | 0.5 | 0.5 | 2 of 5 |"


def test_the_best_equation_has_the_lowest_error():
    assert best_equations(RECORDS[:3]) == {"domega1": PENDULUM_TRUTH["domega1"], "domega2": "-90*sin(theta2)"}


def test_a_report_has_a_section_for_each_setting():
    text = write_report(RECORDS, None)
    assert "## Double pendulum, setting prepared" in text
    assert "## Double pendulum, setting raw" in text
    assert "- domega2, seed 0: `-90*sin(theta2)` (exact)" in text


def test_only_raw_tracks_have_a_figure_of_accelerations(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    run = PendulumRun(np.linspace(0, 40, 400), make_pendulum_rows(400, 2))
    monkeypatch.setattr(pendulum_report, "load_test_run", lambda: run)
    prepared, raw = pendulum_sections(RECORDS)
    assert prepared.draw is None
    raw.draw(tmp_path / "pendulum-raw")
    assert (tmp_path / "pendulum-raw.png").stat().st_size > 10_000
