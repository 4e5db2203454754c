"""The runs of a folder: listed, shown, continued, renamed, deleted."""

import json
import signal
import sqlite3
from contextlib import closing

import pytest
from tests.web.process import wait_until
from tests.web.studio_searches import ENDLESS, has_front

from spl.errors import DataError, RunFileError, SettingError
from spl.runs.lock import RunLock
from spl.runs.reader import read_run
from spl.web.request import read_request
from spl.web.run_list import FolderRuns, OneRun, RunEntry

pytestmark = pytest.mark.process


@pytest.fixture
def runs(searches, folder, finished_run):
    """A folder with a finished run."""
    (folder.path / "old.spl").write_bytes(finished_run.read_bytes())
    return FolderRuns(folder, searches)


def files(folder, name):
    return sorted(path.name for path in folder.path.iterdir() if path.name.startswith(f"{name}."))


def test_the_first_search_after_an_installation_compiles(searches, folder, monkeypatch):
    monkeypatch.setattr("spl.kernels.runtime.building.are_all_stored", lambda: False)
    runs = FolderRuns(folder, searches)
    name = searches.start(read_request(ENDLESS))
    assert runs.view(name)["status"] == "compiling"
    assert [entry.status for entry in runs.entries()] == ["compiling"]
    wait_until(lambda: runs.view(name)["status"] == "running", "the search to begin")


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
    with pytest.raises(RunFileError, match="More time would not help: the formula fits to rounding error"):
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
    with pytest.raises(SettingError, match="is not a name for a run"):
        runs.rename("old", wanted)
    assert runs.path("old").is_file()


@pytest.mark.parametrize("ending", [".spl", ".log", ".rules", ".request"])
def test_a_run_never_takes_the_place_of_another(runs, folder, ending):
    (folder.path / f"other{ending}").write_text("mine")
    with pytest.raises(SettingError, match="There is already a run 'other'"):
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


# ---- a single run ----


def test_a_single_run_is_known_by_the_name_of_its_file(finished_run):
    runs = OneRun(finished_run)
    assert runs.entries() == [RunEntry("law", "finished")]
    assert runs.path("law") == finished_run
    assert runs.view("law")["file"] == "law.spl"
    with pytest.raises(RunFileError, match="There is no run 'other' here"):
        runs.path("other")


def test_a_file_that_is_no_run_is_refused_before_a_page_opens(tmp_path):
    (tmp_path / "no.spl").write_text("not a run")
    with pytest.raises(RunFileError):
        OneRun(tmp_path / "no.spl")
