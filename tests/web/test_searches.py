"""Searches of a studio: separate processes that end cleanly."""

import os

import numpy as np
import pytest
from tests.web.process import wait_until
from tests.web.studio_searches import ENDLESS, has_front

from spl.runs.reader import read_run
from spl.web.request import read_request
from spl.web.run_list import FolderRuns

pytestmark = pytest.mark.process


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


def test_error_bars_of_a_variable_reach_the_search(searches, folder):
    name = searches.start(read_request(ENDLESS | {"timeout": 1, "sigma_x": {"x": "0.25"}}))
    wait_until(lambda: not searches.is_alive(name), "the end of the process")
    assert np.unique(read_run(folder.run_file(name)).data.sigma_columns).tolist() == [0.25]


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
