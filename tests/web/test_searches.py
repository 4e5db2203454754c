"""Searches of a studio: processes of their own that end in order."""

import signal

import numpy as np
import pandas as pd
import pytest
from tests.web.process import wait_until

from spl.errors import SplError
from spl.runs import request_stop
from spl.stored_run import read_run
from spl.web.request import read_request
from spl.web.searches import Searches
from spl.web.shelf import FolderRuns

ENDLESS = {
    "kind": "law",
    "data": "d.csv",
    "target": "y",
    "features": ["x"],
    "operators": ["+", "*", "sin"],
    "timeout": 600,
}


@pytest.fixture
def searches(folder):
    x = np.linspace(0, 3, 60)
    noise = np.random.default_rng(0).normal(size=60)
    pd.DataFrame({"x": x, "y": np.sin(x) + 0.1 * noise}).to_csv(folder.path / "d.csv", index=False)
    started = Searches(folder, request_stop)
    yield started
    started.end_all()


def has_front(folder, name):
    try:
        return len(read_run(folder.run_file(name)).searches[0].front) > 0
    except SplError:
        return False


def test_a_search_runs_shows_what_it_found_and_ends_in_order_with_the_studio(searches, folder):
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS))
    assert runs.view(name)["status"] == "starting"
    assert [entry.status for entry in runs.entries()] == ["starting"]
    wait_until(lambda: has_front(folder, name), "a first formula")
    view = runs.view(name)
    assert view["status"] == "running"
    assert view["command"].startswith("spl fit d.csv --target=y")
    searches.end_all()
    stored = read_run(folder.run_file(name))
    assert stored.status == "interrupted"
    assert len(stored.searches[0].front) > 0
    assert runs.view(name)["error"] == ""


def test_a_search_that_has_not_begun_is_stopped_all_the_same(searches):
    name = searches.start(read_request(ENDLESS))
    searches.stop(name)
    wait_until(lambda: not searches.is_alive(name), "the end of the process")


def test_a_search_that_fails_says_why(searches, folder):
    name = searches.start(read_request(ENDLESS | {"target": "z"}))  # nobody checked the request
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    view = FolderRuns(folder, searches).view(name)
    assert view["status"] == "failed"
    assert view["error"].startswith("There is no column 'z'")


def test_a_search_that_is_killed_leaves_what_it_found(searches, folder):
    name = searches.start(read_request(ENDLESS))
    wait_until(lambda: has_front(folder, name), "a first formula")
    searches._processes[name].send_signal(signal.SIGKILL)
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    view = FolderRuns(folder, searches).view(name)
    assert view["status"] == "failed"
    assert view["laws"][0]["front"]


def test_runs_of_an_earlier_studio_are_shown(searches, folder, finished_run):
    (folder.path / "old.spl").write_bytes(finished_run.read_bytes())
    runs = FolderRuns(folder, searches)
    assert [(entry.name, entry.status) for entry in runs.entries()] == [("old", "finished")]
    assert runs.view("old")["laws"]


def test_a_file_that_is_no_run_does_not_hide_the_others(searches, folder, finished_run):
    (folder.path / "old.spl").write_bytes(finished_run.read_bytes())
    (folder.path / "broken.spl").write_text("not a run")
    statuses = {entry.name: entry.status for entry in FolderRuns(folder, searches).entries()}
    assert statuses == {"old": "finished", "broken": "failed"}
