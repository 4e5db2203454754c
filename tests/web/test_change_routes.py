"""Changes of runs from the page of the studio, and who may make them."""

import pytest
from tests.web.client import ADDRESS, OWN_PAGE

from spl.notation.export import FORMATS
from spl.web.run_routes import CODE_ENDINGS

CHANGES = [("POST", "continue", {"seconds": 1}), ("POST", "rename", {"name": "new"}), ("DELETE", "", None)]


@pytest.fixture
def old(folder, finished_run):
    path = folder.path / "old.spl"
    path.write_bytes(finished_run.read_bytes())
    return path


def send(studio, method, action, json, headers=OWN_PAGE, name="old"):
    path = f"/{ADDRESS.token}/api/runs/{name}{f'/{action}' if action else ''}"
    return studio.request(method, path, headers=headers, json=json)


@pytest.mark.parametrize(("method", "action", "json"), CHANGES)
@pytest.mark.parametrize("headers", [{}, {"origin": "http://evil.example"}, {"origin": "null"}])
def test_a_page_of_somebody_else_changes_nothing(studio, old, method, action, json, headers):
    assert send(studio, method, action, json, headers).status_code == 403
    assert old.is_file()


@pytest.mark.parametrize(("method", "action", "json"), CHANGES)
def test_without_the_token_nothing_is_changed(studio, old, method, action, json):
    answer = studio.request(method, f"/wrong/api/runs/old/{action}".rstrip("/"), headers=OWN_PAGE, json=json)
    assert answer.status_code == 403
    assert old.is_file()


@pytest.mark.parametrize(("method", "action", "json"), CHANGES)
@pytest.mark.parametrize("name", ["nothing", "..%2Fold", "%2e%2e", "old.spl"])
def test_a_name_that_is_no_run_leads_nowhere(studio, old, method, action, json, name):
    assert send(studio, method, action, json, name=name).status_code in (404, 405, 422)
    assert old.is_file()


def test_a_page_that_watches_one_run_can_change_nothing(watch, finished_run):
    assert send(watch, "DELETE", "", None, name="law").status_code in (404, 405)
    assert send(watch, "POST", "rename", {"name": "new"}, name="law").status_code in (404, 405)
    assert finished_run.is_file()


def test_a_run_gets_another_name(studio, old):
    answer = send(studio, "POST", "rename", {"name": " my law "})
    assert answer.json() == {"name": "my law"}
    assert not old.exists()
    assert [run["name"] for run in studio.get("/api/runs").json()["runs"]] == ["my law"]


def test_a_run_is_deleted(studio, old):
    assert send(studio, "DELETE", "", None).status_code == 200
    assert studio.get("/api/runs").json() == {"runs": []}


@pytest.mark.parametrize("seconds", [0, -1, 1e9, "soon", None, True])
def test_a_time_that_makes_no_sense_is_named(studio, old, seconds):
    answer = send(studio, "POST", "continue", {"seconds": seconds})
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_the_form_cannot_be_filled_with_a_run_that_no_studio_started(studio, old):
    answer = studio.get("/api/runs/old/request")
    assert answer.status_code == 422
    assert "not started in a studio" in answer.json()["error"]


@pytest.mark.parametrize("language", FORMATS)
def test_a_formula_leaves_in_every_format_that_spl_knows(studio, old, language):
    answer = studio.get(f"/api/runs/old/code?law=0&cost=0&format={language}&save=1")
    assert answer.status_code == 200
    assert answer.text
    assert f".{CODE_ENDINGS[language]}" in answer.headers["content-disposition"]
