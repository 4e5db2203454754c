import sys

import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench.report import NO_FIGURES, write_report
from spl.errors import DataError

NGUYEN = [
    make_record(make_trial("Nguyen-9c", seed=0), seconds=20.0),
    make_record(make_trial("Nguyen-12-wide", seed=0), recovered=False, formula="x - y", error=0.5),
    make_record(make_trial("Nguyen-9c", seed=1), seconds=10.0, evaluations=3000),
    make_record(make_trial("Nguyen-1", seed=0), seconds=0.25),
]
ABLATION = [
    make_record(make_trial("Nguyen-1", seed=seed, experiment="ablation", setting=model, timeout=20.0), recovered=good)
    for model, good, seed in [("SPL", True, 0), ("SPL", True, 1), ("C", True, 0), ("C", False, 1)]
]
AGAINST = [
    make_record(make_trial(name, tool=tool, experiment="against", timeout=60.0), recovered=tool == "spl", seconds=2.0)
    for name, tool in [("Nguyen-2", "spl"), ("Nguyen-1", "spl"), ("Nguyen-1", "gplearn")]
]


def table_of(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_nguyen_problems_stand_beside_the_figures_of_the_paper():
    assert table_of(write_report(NGUYEN, None)) == [
        "| problem | recovered | paper SPL | paper NGGP | paper GP | median s | worst s | formulas tried | SPL s "
        "| NGGP s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        "| Nguyen-1 | 1 of 1 | 100 | 100 | 99 | 0.25 | 0.25 | 1,000 | 8.78 | 2.73 |",
        "| Nguyen-12-wide | 0 of 1 |  |  |  | 0.5 | 0.5 | 1,000 |  |  |",
        "| Nguyen-9c | 2 of 2 | 96 | 90 | 0 | 15 | 20 | 2,000 | 2001 | 3066 |",
        "| **average of 2** | **100 %** | **98** | **95** | **49.5** |  |  |  |  |  |",
    ]


def test_failures_are_listed_with_what_was_found():
    assert "- Nguyen-12-wide, seed 0: `x - y` (error 0.5; stopped: exact)" in write_report(NGUYEN, None)


def test_settings_and_time_limits_have_tables_of_their_own():
    others = [make_record(make_trial(setting="points20", timeout=60.0)), make_record(make_trial(timeout=5.0))]
    assert write_report([*NGUYEN, *others], None).count("| problem |") == 3


def test_the_models_of_the_ablation_stand_beside_those_of_the_paper():
    assert table_of(write_report(ABLATION, None))[2:] == [
        "| Nguyen-1 | 2 | 100 |  |  | 50 |  | 100 | 100 | 100 | 14 | 12 |",
        "| **average** |  | **100** |  |  | **50** |  | **100** | **100** | **100** | **14** | **12** |",
    ]


def test_tools_stand_beside_each_other():
    assert table_of(write_report(AGAINST, None)) == [
        "| problem | spl | spl seconds | gplearn | gplearn seconds |",
        "|---|---:|---:|---:|---:|",
        "| Nguyen-1 | 1 of 1 | 2.00 | 0 of 1 | 2.00 |",
        "| Nguyen-2 | 1 of 1 | 2.00 |  |  |",
        "| **all** | **2 of 2** | **2.00** | **0 of 1** | **2.00** |",
    ]


def test_figures_are_written_and_linked(tmp_path):
    pytest.importorskip("matplotlib")
    text = write_report([*NGUYEN, *ABLATION], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("ablation-20s.png", "ablation-20s.svg"),
        *("nguyen-paper.png", "nguyen-paper.svg"),
    ]
    assert "(nguyen-paper.png)" in text
    assert "(ablation-20s.png)" in text


def test_without_matplotlib_there_are_tables_and_a_line_that_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = write_report(NGUYEN, tmp_path)
    assert text.count(NO_FIGURES) == 1
    assert "![" not in text
    assert table_of(text)


def test_no_results_are_an_error_with_a_remedy():
    with pytest.raises(DataError, match=r"There are no results yet\. Run for example: spl bench nguyen"):
        write_report([], None)
