import threading
import time

import numpy as np
import pytest
from tests.run_examples import (
    NO_LIMIT,
    RULES,
    make_config,
    make_data,
    make_outlier_request,
    make_plan,
    search_in_file,
    summary,
)

from spl.data.dataset import Dataset
from spl.errors import FormulaNotFound, RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.runs.reader import read_run
from spl.runs.regression import discover_in_file, request_stop, resume
from spl.runs.writer import RunFile
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.search


@pytest.fixture(scope="module")
def whole():
    """What a search without a file finds in twice as many rounds."""
    return discover(
        RegressionRequest(make_data(), Grammar.from_text(RULES), config=make_config(2), limits=NO_LIMIT, seed=3)
    )


class Killed(BaseException):
    """Ends a search as abruptly as can be in one process."""


def kill_after(n_looks):
    looks = iter(range(n_looks))

    def watch(progress):
        if next(looks, None) is None:
            raise Killed

    return watch


def test_a_run_in_a_file_finds_what_one_without_finds(tmp_path, whole):
    assert summary(search_in_file(tmp_path / "run.spl", 2)) == summary(whole)


def test_twice_as_many_rounds_are_the_same_at_once_or_one_half_after_the_other(tmp_path, whole):
    half = search_in_file(tmp_path / "run.spl", 1)
    assert half.n_episodes < whole.n_episodes
    found = search_in_file(tmp_path / "run.spl", 2)
    assert summary(found) == summary(whole)
    assert (found.n_episodes, found.n_evaluations) == (whole.n_episodes, whole.n_evaluations)


@pytest.mark.parametrize("n_looks", [0, 1, 3, 5])
def test_a_run_that_was_cut_off_is_continued_to_the_same_end(tmp_path, whole, n_looks):
    with pytest.raises(Killed):
        search_in_file(tmp_path / "run.spl", 2, watch=kill_after(n_looks))
    assert summary(search_in_file(tmp_path / "run.spl", 2)) == summary(whole)


def test_a_run_is_continued_with_nothing_but_its_file(tmp_path, whole):
    search_in_file(tmp_path / "run.spl", 1)
    found = resume(read_run(tmp_path / "run.spl"), limits=NO_LIMIT, max_schedules=2, n_jobs=2)
    assert summary(found) == summary(whole)
    assert read_run(tmp_path / "run.spl").facts["began"]


def test_a_run_with_an_operator_of_the_users_own_is_continued_when_it_is_given_again(tmp_path):
    bump, rules = Operator("bump", lambda a: np.exp(-a * a)), "f -> f + f | bump(f) | C * f | x | y"
    path = tmp_path / "run.spl"
    RunFile(path, make_plan(rules=rules, own=[bump]), NO_LIMIT, 1).close()
    with pytest.raises(RunFileError, match=r"operator of your own.*operators=\[bump\]"):
        resume(read_run(path), limits=NO_LIMIT, max_schedules=1)
    assert len(resume(read_run(path, [bump]), limits=NO_LIMIT, max_schedules=1).front)


def test_a_run_at_its_limits_returns_what_it_found_at_once(tmp_path):
    path = tmp_path / "run.spl"
    found = search_in_file(path)
    again = search_in_file(path, watch=kill_after(0))
    assert (summary(again), again.stopped) == (summary(found), "schedules")
    limits = Limits(timeout=None, max_evaluations=found.n_evaluations // 2)
    assert search_in_file(path, limits=limits, watch=kill_after(0)).n_evaluations == found.n_evaluations


def test_a_run_that_reached_its_time_limit_goes_on_only_if_it_is_given_more(tmp_path):
    path, config = tmp_path / "run.spl", make_config(None)
    found = search_in_file(path, config=config, limits=Limits(timeout=0.6))
    assert found.stopped == "timeout"
    assert search_in_file(path, config=config, limits=Limits(timeout=0.6)).n_episodes == found.n_episodes
    more = Limits(timeout=found.seconds + 1.0)
    assert search_in_file(path, config=config, limits=more).n_episodes > found.n_episodes


def test_a_run_that_settled_goes_on_only_with_more_patience_or_when_it_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr("spl.regression.assess.SETTLE_EPISODES", 50)
    path = tmp_path / "run.spl"
    found = search_in_file(path, config=make_config(None, patience=2.0))
    assert found.stopped == "settled"
    again = search_in_file(path, config=make_config(None, patience=2.0), watch=kill_after(0))
    assert (summary(again), again.n_episodes) == (summary(found), found.n_episodes)
    more = search_in_file(path, config=make_config(None, patience=4.0))
    assert more.n_episodes > found.n_episodes
    resumed = resume(read_run(path), limits=Limits(timeout=None, max_evaluations=2 * more.n_evaluations))
    assert (resumed.stopped, resumed.n_episodes > more.n_episodes) == ("evaluations", True)


def test_an_exact_law_is_not_searched_again(tmp_path):
    data = make_data()
    data = Dataset.from_arrays(data.columns.T, data.columns[0] * data.columns[1], names=data.names)
    found = search_in_file(tmp_path / "run.spl", data=data, config=SearchConfig())
    assert found.stopped == "exact"
    again = search_in_file(tmp_path / "run.spl", data=data, config=SearchConfig(), watch=kill_after(0))
    assert summary(again) == summary(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": make_data(seed=1)}, "The data changed since the run in .* began"),
        ({"data": make_data(n_rows=29)}, "The data changed since the run"),
        ({"rules": RULES + " | 2"}, "another grammar"),
        ({"config": make_config(max_rules=9)}, r"`max_rules` was 10; got 9"),
        ({"seed": 4}, r"`seed` was 3; got 4"),
    ],
)
def test_a_run_is_not_continued_with_something_else(tmp_path, changes, message):
    search_in_file(tmp_path / "run.spl")
    with pytest.raises(RunFileError, match=message):
        search_in_file(tmp_path / "run.spl", **changes)
    assert search_in_file(tmp_path / "run.spl", seed=4, is_any_seed=True).stopped == "schedules"


def test_a_search_that_finds_nothing_says_so_and_leaves_a_file_that_can_be_read(tmp_path):
    with pytest.raises(FormulaNotFound):
        search_in_file(tmp_path / "run.spl", rules="f -> log(g)\ng -> x - 9")
    run = read_run(tmp_path / "run.spl")
    assert (run.status, run.stopped, len(run.searches[0].front)) == ("interrupted", "error", 0)


def test_another_process_can_ask_a_run_to_stop(tmp_path):
    path, has_begun = tmp_path / "run.spl", threading.Event()

    def ask():
        has_begun.wait()
        assert read_run(path).status == "running"
        request_stop(path)

    asker = threading.Thread(target=ask)
    asker.start()
    found = search_in_file(path, config=make_config(None), watch=lambda progress: has_begun.set())
    asker.join()
    assert found.stopped == "interrupted"
    assert (read_run(path).status, read_run(path).stopped) == ("interrupted", "interrupted")
    assert search_in_file(path, config=make_config(None), limits=Limits(timeout=0.1)).stopped == "timeout"


def test_a_run_that_is_over_cannot_be_asked_to_stop(tmp_path):
    search_in_file(tmp_path / "run.spl")
    with pytest.raises(RunFileError, match="not running"):
        request_stop(tmp_path / "run.spl")
    with pytest.raises(RunFileError, match="no run file"):
        request_stop(tmp_path / "no.spl")


def test_whoever_calls_can_stop_it_from_another_thread(tmp_path):
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    began = time.monotonic()
    found = search_in_file(tmp_path / "run.spl", config=make_config(None), must_stop=stop.is_set)
    timer.join()
    assert found.stopped == "interrupted"
    assert time.monotonic() - began < 60


# ---- two views -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_with_outliers():
    """What a search with two views finds without a break."""
    found = discover(make_outlier_request(2))
    assert found.noise.name == "student"
    return found


def test_a_run_with_two_views_is_the_same_at_once_or_one_half_after_the_other(tmp_path, whole_with_outliers):
    path = tmp_path / "run.spl"
    assert discover_in_file(path, make_outlier_request(1)).n_episodes < whole_with_outliers.n_episodes
    found = discover_in_file(path, make_outlier_request(2))
    assert summary(found) == summary(whole_with_outliers)
    assert (found.noise, found.outliers) == (whole_with_outliers.noise, whole_with_outliers.outliers)


@pytest.mark.parametrize("n_looks", [1, 5, 12])
def test_a_run_with_two_views_that_was_cut_off_is_continued_to_the_same_end(tmp_path, whole_with_outliers, n_looks):
    path = tmp_path / "run.spl"
    with pytest.raises(Killed):
        discover_in_file(path, make_outlier_request(2), watch=kill_after(n_looks))
    found = discover_in_file(path, make_outlier_request(2))
    assert summary(found) == summary(whole_with_outliers)
    assert (found.noise, found.outliers) == (whole_with_outliers.noise, whole_with_outliers.outliers)


@pytest.mark.parametrize("first", [1500, 4500])
def test_a_run_with_two_views_stopped_by_evaluations_goes_on_as_if_it_had_not(tmp_path, whole_with_outliers, first):
    path = tmp_path / "run.spl"
    assert discover_in_file(path, make_outlier_request(2, first)).stopped == "evaluations"
    found = discover_in_file(path, make_outlier_request(2))
    assert summary(found) == summary(whole_with_outliers)
    assert found.n_episodes == whole_with_outliers.n_episodes
