"""Searches of a studio: processes of their own that end in order."""

import json
import os
import signal
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from tests.web.process import wait_until

from spl.errors import DataError, RunFileError, SettingError, SplError
from spl.runs.lock import RunLock
from spl.runs.reader import read_run
from spl.runs.regression import request_stop
from spl.web.request import read_request
from spl.web.run_list import FolderRuns
from spl.web.searches import Searches

pytestmark = pytest.mark.process

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
    assert searches.is_alive(name)
    searches.stop(name)
    wait_until(lambda: not searches.is_alive(name), "the end of the process")


def test_a_search_that_fails_says_why(searches, folder):
    name = searches.start(read_request(ENDLESS | {"target": "z"}))  # nobody checked the request
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    view = FolderRuns(folder, searches).view(name)
    assert view["status"] == "failed"
    assert view["error"].startswith("There is no column 'z'")
    assert str(folder.path) not in view["error"]


@pytest.mark.parametrize("entry", ["", "."])
def test_a_search_imports_nothing_from_the_folder_of_the_data(searches, folder, tmp_path, monkeypatch, entry):
    """Not even if the user's PYTHONPATH has an empty entry, which means the working directory."""
    evidence = tmp_path / "imported"
    for name in ("click", "numba", "spl", "sitecustomize"):
        (folder.path / f"{name}.py").write_text(f"open({str(evidence)!r}, 'a').write({name!r})\nraise SystemExit(9)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([entry, *filter(None, [os.environ.get("PYTHONPATH")])]))
    name = searches.start(read_request(ENDLESS | {"timeout": 1}))
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    assert not evidence.exists()
    assert FolderRuns(folder, searches).view(name)["status"] == "finished"


# ---- continued, renamed, deleted ----


@pytest.fixture
def runs(searches, folder, finished_run):
    """A folder with a run that is over."""
    (folder.path / "old.spl").write_bytes(finished_run.read_bytes())
    return FolderRuns(folder, searches)


def files(folder, name):
    return sorted(path.name for path in folder.path.iterdir() if path.name.startswith(f"{name}."))


def test_a_run_is_continued_and_searched_on(searches, folder):
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS))
    wait_until(lambda: has_front(folder, name), "a first formula")
    searches.stop(name)
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    before = read_run(folder.run_file(name))
    assert before.status == "interrupted"
    runs.resume(name, 2.0)
    assert runs.view(name)["status"] == "starting"
    assert [entry.status for entry in runs.entries()] == ["starting"]
    wait_until(lambda: runs.view(name)["status"] == "running", "the search to go on")
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    after = read_run(folder.run_file(name))
    assert after.seconds > before.seconds
    view = runs.view(name)
    assert (view["status"], view["error"]) == ("finished", "")
    assert view["command"].startswith("spl fit d.csv --target=y")


def test_a_run_that_more_time_would_not_change_is_not_continued(runs):
    set_fact(runs.path("old"), "stopped", "exact")
    assert not runs.view("old")["can_continue"]
    with pytest.raises(RunFileError, match="More time would change nothing: the formula fits to rounding error"):
        runs.resume("old", 1.0)


def set_fact(path, name, value):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE facts SET value = ? WHERE name = ?", (json.dumps(value), name))


def test_a_run_is_renamed_with_all_of_its_files(searches, folder):
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS | {"rules": "f -> f + f | C * x", "timeout": 1}))
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    assert runs.rename(name, "../Straight, line.spl") == "Straight_ line"
    assert files(folder, name) == []
    assert files(folder, "Straight_ line") == [f"Straight_ line.{end}" for end in ("log", "request", "rules", "spl")]
    assert [entry.name for entry in runs.entries()] == ["Straight_ line"]
    command = runs.view("Straight_ line")["command"]
    assert "'--grammar=Straight_ line.rules'" in command
    assert "'--run=Straight_ line.spl'" in command


def test_a_run_whose_process_was_killed_keeps_all_when_it_is_renamed(searches, folder):
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS))
    wait_until(lambda: has_front(folder, name), "a first formula")
    searches._started[name].process.send_signal(signal.SIGKILL)
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    front = [candidate.loss for candidate in read_run(folder.run_file(name)).searches[0].front]
    runs.rename(name, "killed")
    assert [candidate.loss for candidate in read_run(folder.run_file("killed")).searches[0].front] == front
    runs.delete("killed")
    assert [path.name for path in folder.path.iterdir()] == ["d.csv"]


@pytest.mark.parametrize("wanted", ["", "..", " / ", ".spl", "a/..", "\0"])
def test_a_name_without_a_letter_is_refused(runs, wanted):
    with pytest.raises(SettingError, match="is no name for a run"):
        runs.rename("old", wanted)
    assert runs.path("old").is_file()


@pytest.mark.parametrize("ending", [".spl", ".log", ".rules", ".request"])
def test_a_run_never_takes_the_place_of_another(runs, folder, ending):
    (folder.path / f"other{ending}").write_text("mine")
    with pytest.raises(SettingError, match="There is a run 'other' already"):
        runs.rename("old", "other")
    assert (folder.path / f"other{ending}").read_text() == "mine"
    assert runs.path("old").is_file()


def test_a_run_is_deleted_with_all_of_its_files_and_its_data_stays(runs, folder):
    for ending in ("log", "rules", "request"):
        (folder.path / f"old.{ending}").write_text("")
    runs.delete("old")
    assert [path.name for path in folder.path.iterdir()] == ["d.csv"]
    assert runs.entries() == []


def test_a_search_that_never_wrote_a_file_can_be_deleted(searches, folder):
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS | {"target": "z"}))
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    assert [entry.status for entry in runs.entries()] == ["failed"]
    runs.delete(name)
    assert runs.entries() == []
    assert files(folder, name) == []


def test_a_search_that_goes_on_is_neither_deleted_nor_renamed_nor_continued(searches, folder):
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS))
    for change, word in CHANGES:
        with pytest.raises(RunFileError, match=f"'{name}' is still running, so it cannot be {word}. Stop it first."):
            change(runs, name)
    wait_until(lambda: has_front(folder, name), "a first formula")
    for change, _ in CHANGES:
        with pytest.raises(RunFileError, match="still running"):
            change(runs, name)
    assert searches.is_alive(name)


CHANGES = [
    (lambda runs, name: runs.delete(name), "deleted"),
    (lambda runs, name: runs.rename(name, "other"), "renamed"),
]


def test_a_run_that_another_process_writes_is_left_alone(runs):
    with RunLock(runs.path("old")):
        for change, word in [*CHANGES, (lambda runs, name: runs.resume(name, 1.0), "continued")]:
            with pytest.raises(RunFileError, match=f"cannot be {word}"):
                change(runs, "old")
    assert runs.path("old").is_file()


@pytest.mark.parametrize("name", ["../secret", "..", "", "nothing", "a/b", "d.csv", "old.spl", "x" * 200, "a\0"])
def test_only_runs_of_the_folder_can_be_changed(runs, folder, name):
    (folder.path.parent / "secret.spl").write_text("not yours")
    for change, _ in [*CHANGES, (lambda runs, name: runs.resume(name, 1.0), "")]:
        with pytest.raises(DataError, match="There is no run"):
            change(runs, name)
    assert (folder.path.parent / "secret.spl").read_text() == "not yours"
    assert sorted(path.name for path in folder.path.iterdir()) == ["d.csv", "old.spl"]


def test_what_a_run_was_asked_for_is_known_only_if_a_studio_started_it(runs, searches, folder):
    name = searches.start(read_request(ENDLESS))
    assert searches.request(name) == read_request(ENDLESS)
    assert runs.view(name)["can_repeat"]
    assert not runs.view("old")["can_repeat"]
    (folder.path / "old.request").write_text('{"kind": ')
    assert not runs.view("old")["can_repeat"]


def test_a_search_that_is_killed_leaves_what_it_found(searches, folder):
    name = searches.start(read_request(ENDLESS))
    wait_until(lambda: has_front(folder, name), "a first formula")
    searches._started[name].process.send_signal(signal.SIGKILL)
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
