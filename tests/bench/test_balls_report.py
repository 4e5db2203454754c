"""The report on falling balls."""

from tests.bench.experiments import balls_trial
from tests.bench.fakes import make_record

from spl.bench.balls_report import PAPER_ERRORS, balls_sections, balls_table
from spl.bench.report import write_report

RECORDS = [
    make_record(balls_trial(setting, tool, ball, seed=seed), error=error, recovered=recovered)
    for setting, tool, ball, seed, error, recovered in [
        ("drag: drop 1", "spl", "Golf Ball", 0, 0.1, True),
        ("drag: drop 1", "spl", "Golf Ball", 1, 0.4, True),
        ("drag: drop 1", "spl", "Baseball", 0, 0.1, True),
        ("drag: drop 1", "spl", "Baseball", 1, 0.4, False),
        ("drop 1", "model-1", "Golf Ball", 0, 2.0, True),
        ("drop 1", "model-1", "Baseball", 0, None, False),
        ("drop 2", "model-1", "Golf Ball", 0, 0.5, True),
    ]
]


def test_a_row_is_a_ball_with_medians_beside_the_paper():
    drop_1 = [record for record in RECORDS if record.trial.setting.endswith("drop 1")]
    lines = balls_table(drop_1, has_paper=True).to_markdown().splitlines()
    assert lines[0].startswith("| ball | ours drag | model-1 | paper SPL | paper model-1 |")
    assert lines[2] == "| Baseball | 0.25 | inf | 0.3 | 2.8 | 94.6 | 3.51 |"
    assert lines[3] == "| Golf Ball | 0.25 | 2 | 0.009 | 0.214 | 86.1 | 1.68 |"
    assert lines[4].startswith("| **geometric mean** | **0.25** | **inf** |")


def test_the_paper_reaches_the_mean_that_is_to_be_beaten():
    rows = [make_record(balls_trial(ball=ball), error=errors[0]) for ball, errors in PAPER_ERRORS.items()]
    assert balls_table(rows, has_paper=True).total[1:5] == ("0.129", "0.129", "0.655", "68.5")


def test_a_report_has_both_drops_and_what_is_no_fall():
    text = write_report(RECORDS, None)
    for title in ("drop 1: mean squared error after 2 s", "drop 2: mean squared error after 2 s", "both drops"):
        assert f"## Falling balls, {title}" in text
    assert "spl, Baseball, drag: drop 1, seed 1: not a fall: `x` (error 0.4)" in text


def test_time_limits_have_sections_of_their_own():
    assert len(balls_sections([*RECORDS, make_record(balls_trial(timeout=9.0))])) == 4
