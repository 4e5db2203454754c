import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench.summaries import describe_rows, failure_lines, origin_lines, summarise

RECORDS = [
    make_record(make_trial(seed=0), seconds=1.0, evaluations=10),
    make_record(make_trial(seed=1), seconds=9.0, evaluations=30, recovered=False, formula="2*x", error=0.25),
    make_record(make_trial(seed=2), seconds=2.0, evaluations=20),
]


def test_trials_are_summed_up_by_rate_median_and_worst():
    summary = summarise(RECORDS)
    assert summary.rate == pytest.approx(2 / 3)
    assert (summary.median_seconds, summary.worst_seconds, summary.median_evaluations) == (2.0, 9.0, 20)


def test_evaluations_that_a_tool_does_not_tell_are_none():
    assert summarise([make_record(evaluations=None)]).median_evaluations is None


def test_rows_for_json_are_one_for_each_setting_tool_and_problem():
    other = make_record(make_trial(tool="gplearn"))
    rows = describe_rows([*RECORDS, other])
    assert [(row["tool"], row["trials"], row["recovered"]) for row in rows] == [("spl", 3, 2), ("gplearn", 1, 1)]


def test_a_failure_says_what_was_found_instead():
    assert failure_lines(RECORDS) == ["Nguyen-1, seed 1: `2*x` (error 0.25; stopped: exact)"]


def test_a_failure_without_a_formula_says_why():
    nothing = make_record(recovered=False, formula="", error=None, stopped="No formula.")
    assert failure_lines([nothing]) == ["Nguyen-1, seed 0: nothing (no finite error; stopped: No formula.)"]


def test_seeds_limits_commit_and_machine_are_stated():
    text = " ".join(origin_lines(RECORDS))
    assert "Seeds 0-2; no time limit" in text
    assert "Commit abc; a cpu with 2 cores, Linux; python 3.11, spl 0.1.0." in text
    assert "Note" not in text


def test_results_of_several_commits_are_noted():
    text = " ".join(origin_lines([*RECORDS, make_record(commit="def")]))
    assert "Commit abc and def;" in text
    assert "come from 2 versions of the program" in text
