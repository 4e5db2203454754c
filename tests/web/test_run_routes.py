"""Routes about a run."""

import json
import sqlite3
from contextlib import closing
from threading import Event

import numpy as np
import pytest
from tests.web.client import ADDRESS, Client

from spl.data.trajectories import Trajectories
from spl.dynamics.request import SystemRequest
from spl.formulas.grammar import Grammar
from spl.runs.dynamics import discover_system_in_file
from spl.settings import Limits
from spl.web.apps import make_watch_app


def news(client, name="law"):
    text = client.get(f"/api/runs/{name}/events").text
    return [json.loads(part.removeprefix("data: ")) for part in text.split("\n\n") if part.startswith("data: ")]


def test_the_page_and_its_run_are_served(watch):
    assert "spl watch" in watch.get("/").text.replace("</span>", "").replace('<span class="brand">', "")
    assert watch.get("/api/runs").json() == {"runs": [{"name": "law", "status": "finished"}]}


def test_a_run_that_is_over_is_told_once(watch):
    [view] = news(watch)
    assert view["status"] == "finished"
    [law] = view["laws"]
    best = law["front"][law["chosen"]]
    assert law["left"] == "force"
    assert "<math" in best["mathml"]
    assert best["r2"] == pytest.approx(1.0)
    assert law["front_chart"].startswith("<svg")
    assert law["learning_chart"].startswith("<svg")


def test_names_of_columns_stay_text(watch):
    [view] = news(watch)
    [law] = view["laws"]
    markup = "".join(point["mathml"] + point["inline"] for point in law["front"]) + law["front_chart"]
    assert "&lt;b&gt;y" in markup
    assert "<b>" not in markup


def best_cost(watch):
    [law] = news(watch)[0]["laws"]
    return law["front"][law["chosen"]]["cost"]


def test_how_sure_a_formula_is_comes_as_one_element_without_foreign_markup(watch):
    sure = watch.get(f"/api/runs/law/sure?cost={best_cost(watch)}").json()
    assert sure["markup"].startswith("<div>")
    assert "Its residuals are not checked: the formula fits to rounding error." in sure["markup"]
    assert "<b>y" not in sure["markup"]
    assert watch.get("/api/runs/law/sure?cost=x").status_code == 422


def test_the_fit_of_a_formula_is_drawn(watch):
    fit = watch.get(f"/api/runs/law/fit?law=0&cost={best_cost(watch)}").json()
    assert fit["fit"].startswith("<svg")
    assert fit["residuals"].startswith("<svg")
    assert fit["words"].startswith("R² = 1.0000")


@pytest.mark.parametrize(("language", "words"), [("python", "def predict("), ("latex", "x"), ("c", "double predict(")])
def test_a_formula_is_given_as_code_to_read_and_to_save(watch, language, words):
    path = f"/api/runs/law/code?law=0&cost={best_cost(watch)}&format={language}"
    code = watch.get(path).json()["code"]
    saved = watch.get(f"{path}&save=1")
    assert words in code
    assert saved.text == code
    assert saved.headers["content-disposition"].startswith("attachment")


def test_the_report_is_a_file_and_never_a_page_of_ours(watch):
    answer = watch.get("/api/runs/law/report")
    assert answer.text.startswith("<!doctype html>")
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("fit?law=0&cost=77", "no formula of cost 77"),
        ("fit?law=1&cost=1", "no equation 1"),
        ("fit?law=-1&cost=1", "`law` must be a whole number"),
        ("fit?law=0", "`cost` must be a whole number"),
        ("fit?law=0&cost=99999999999999999999", "`cost` must be"),
        ("code?format=c", "no system"),
        ("code?law=0&cost=1&format=perl", "`format` must be one of sympy, latex, python, c"),
    ],
)
def test_a_question_that_has_no_answer_says_why(watch, path, message):
    answer = watch.get(f"/api/runs/law/{path}")
    assert answer.status_code == 422
    assert message in answer.json()["error"]


def test_another_run_is_not_there(watch):
    assert watch.get("/api/runs/other/events").status_code == 422


def test_a_run_that_is_over_cannot_be_stopped(watch):
    answer = watch.post("/api/runs/law/stop")
    assert answer.status_code == 422
    assert "nothing to stop" in answer.json()["error"]


def test_the_page_of_a_run_takes_no_data(watch):
    assert watch.put("/api/data/d.csv", content=b"a,b\n1,2\n").status_code == 404


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """The page of a run of a system."""
    path = tmp_path_factory.mktemp("runs") / "decay.spl"
    t = np.linspace(0, 4, 80)
    data = Trajectories.from_arrays(np.exp(-1.3 * t)[:, np.newaxis], t, names=["x"])
    grammars = [Grammar.from_operators(["*"], ["x"])]
    discover_system_in_file(path, SystemRequest(data=data, grammars=grammars, limits=Limits(timeout=3)))
    return Client(make_watch_app(path, ADDRESS.token, Event()))


def test_a_system_has_equations_curves_and_code_of_its_own(system):
    [view] = news(system, "decay")
    assert view["status"] == "finished"
    [equation] = view["system"]
    assert equation["text"].startswith("dx/dt = ")
    number, term = equation["numbers"].split(" in ")
    assert (float(number.split()[0]), term) == (
        pytest.approx(-1.3, rel=1e-4),
        equation["text"].split(" = ")[1].replace("-1.3", "[-1.3]"),
    )
    assert system.get("/api/runs/decay/curves").json()["curves"][0]["chart"].startswith("<svg")
    assert "def derivatives(" in system.get("/api/runs/decay/code?format=python").json()["code"]
    cost = view["laws"][0]["front"][-1]["cost"]
    fit = system.get(f"/api/runs/decay/fit?law=0&cost={cost}").json()
    assert fit["fit"].startswith("<svg")


def test_the_page_works_before_there_is_a_formula(finished_run, tmp_path):
    path = tmp_path / "law.spl"
    path.write_bytes(finished_run.read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM front")
        connection.execute("UPDATE history SET loss = NULL")  # as it is written before the first formula
    watch = Client(make_watch_app(path, ADDRESS.token, Event()))
    answer = watch.get("/api/runs/law/events")
    assert answer.status_code == 200
    [law] = json.loads(answer.text.removeprefix("data: "))["laws"]
    assert (law["front"], law["front_chart"], law["learning_chart"]) == ([], "", "")
