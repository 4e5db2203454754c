"""The studio from end to end: a browser, a server process, searches in separate processes, real files."""

import http.server
import json
import re
import shutil
import signal
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from tests.web.process import SECONDS, serving, wait_until

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.datasets import make_double_pendulum
from spl.dynamics.request import SystemRequest
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.runs.dynamics import discover_system_in_file
from spl.runs.reader import read_run
from spl.runs.regression import discover_in_file
from spl.settings import TIMEOUT, Limits
from spl.web.handover import handover_file

pytestmark = pytest.mark.process

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files that people may drop, good and bad."""
    folder = tmp_path_factory.mktemp("studio")
    rng = np.random.default_rng(0)
    x, height = rng.uniform(0.5, 3, (2, 80))
    frame = pd.DataFrame({"x": x, "height [m]": height, "label": "p", "force": 2 * x * height + x})
    frame.to_csv(folder / "law.csv", index=False)
    fall = pd.DataFrame({"time (s)": x, "mass (kg)": height, "height (m)": 9.80665 * x**2 / 2})
    fall.to_csv(folder / "fall.csv", index=False)
    t = np.linspace(0, 6, 200)
    spring = pd.DataFrame({"t (s)": t, "x (m)": np.sin(2 * t), "v": 2 * np.cos(2 * t)})
    spring.to_csv(folder / "spring.csv", index=False)
    noisy = frame.assign(force=frame["force"] + rng.normal(size=80))
    noisy.to_csv(folder / "noisy.csv", index=False)
    outlying = frame.assign(error=0.01, force=frame["force"] + 0.01 * rng.normal(size=80))
    outlying.loc[[3, 40], "force"] += 50.0
    outlying.to_csv(folder / "outlying.csv", index=False)
    spoiled = frame.astype({"x": object})
    spoiled.loc[15, "x"] = "bad"
    spoiled.to_csv(folder / "spoiled.csv", index=False)
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    (folder / "empty.csv").write_bytes(b"")
    (folder / "huge.csv").write_bytes(b"x,y\n" + b"1,2\n" * 100_000)
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with serving("studio", "--max-megabytes", "0.2", folder=folder) as (_, url):
        yield url


def drop(page, folder, name):
    page.set_input_files("#file", folder / name)


def start(page, seconds):
    page.fill("#timeout", str(seconds))
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator(".pill")).to_be_visible()


def tick_only(page, *operators):
    for box in page.locator("input[name=operator]").all():
        box.set_checked(box.input_value() in operators)


def test_a_bad_cell_stops_the_search_until_it_is_declared_missing(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "spoiled.csv")
    message = "Column 'x' has text in 1 of 80 cells (line 17: 'bad')."
    expect(page.locator("#data-view")).to_contain_text(message)
    expect(page.locator("#columns")).to_contain_text("text among numbers")
    assert page.get_by_label("Role of x").input_value() == "feature"
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_contain_text(message)
    trouble.clear()  # the server refused

    page.get_by_label("Also treat as missing").fill("bad")
    page.keyboard.press("Tab")
    expect(page.locator("#data-view")).to_contain_text("Column 'x': 1 cell is read as missing (line 17: 'bad').")
    expect(page.locator("#data-view")).not_to_contain_text(message)
    tick_only(page, "+", "*")
    start(page, 3)
    expect(page.locator(".pill")).to_have_text("Finished")
    expect(page.locator("#run")).to_contain_text("1 row of 80 with missing or infinite values left out (line 17).")


def test_a_law_is_found_from_a_dropped_table_and_taken_away(page, address, folder):
    page.goto(address)
    expect(page.locator("#folder")).to_have_text(str(folder / "spl-studio"))
    drop(page, folder, "law.csv")
    expect(page.locator("#data-view")).to_contain_text("law.csv: 80 rows, 4 columns")
    assert page.get_by_label("Role of force").input_value() == "target"
    assert page.get_by_label("Role of label").input_value() == "ignore"
    tick_only(page, "+", "*")
    start(page, 4)
    expect(page.locator(".pill")).to_have_text("Finished")
    expect(page.locator(".equation math").first).to_be_visible()
    expect(page.locator(".equation-part").first).to_contain_text("R² 1")
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)

    page.locator("[role=radio][tabindex='0']").focus()
    page.keyboard.press("Home")
    expect(page.locator(".equation-part").first).to_contain_text("cost 0,")
    page.get_by_label("Compare with the formula of cost 3").check()
    expect(page.locator(".equation-part").nth(1)).to_contain_text("cost 3,")
    expect(page.get_by_role("heading", name="Fit of cost 3")).to_be_visible()
    page.get_by_role("button", name="Show the recommended formula").click()

    page.get_by_role("button", name="C", exact=True).click()
    expect(page.locator("pre.code").first).to_contain_text("double predict(double x, double height_m)")
    with page.expect_download() as code:
        page.get_by_role("link", name="Download", exact=True).click()
    assert "double predict(" in code.value.path().read_text()
    with page.expect_download() as report:
        page.get_by_role("link", name="Download report").click()
    assert report.value.suggested_filename.endswith(".html")
    assert "height [m]" in report.value.path().read_text()

    page.reload()
    expect(page.locator(".pill")).to_have_text("Finished")
    expect(page.locator(".runs a[aria-current]")).to_contain_text("law-1")


def test_outliers_are_found_listed_and_marked(page, address, folder):
    page.goto(address)
    drop(page, folder, "outlying.csv")
    page.get_by_label("Role of force").select_option("target")
    page.get_by_label("Role of error").select_option("sigma")
    page.get_by_label("Errors of the target").select_option("student")
    tick_only(page, "+", "*")
    start(page, 4)
    expect(page.locator(".pill")).to_have_text("Finished")
    noise = page.get_by_role("group", name="Noise")
    expect(noise).to_contain_text("Noise: student, ")
    expect(noise).to_contain_text("Outliers: 2 of 80 rows: lines 5, 42.")
    expect(page.locator(".outlier").first).to_be_attached()
    expect(page.locator(".equation-part").first).to_contain_text("without the outliers")
    page.get_by_role("link", name="Search again").click()
    expect(page.get_by_label("Role of error")).to_have_value("sigma")
    expect(page.get_by_label("Errors of the target")).to_have_value("student")


def test_error_bars_of_a_variable_are_a_column_or_a_number(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "outlying.csv")
    page.get_by_label("Role of force").select_option("target")
    page.get_by_label("Error bar of x").fill("error")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Role of error")).to_have_value("bars")
    expect(page.get_by_label("Role of error").locator("option:checked")).to_have_text("error bar of x")
    expect(page.get_by_label("Error bar of error")).to_have_count(0)
    page.get_by_label("Error bar of height [m]").fill("-1")
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_contain_text("The error bars of column 'height [m]' must be 0 or more")
    trouble.clear()  # the server refused
    page.get_by_label("Error bar of height [m]").fill("0.01")
    tick_only(page, "+", "*")
    start(page, 3)
    expect(page.locator(".pill")).to_have_text("Finished")
    page.get_by_role("link", name="Search again").click()
    expect(page.locator("#form-note")).to_be_visible()
    expect(page.get_by_label("Error bar of x")).to_have_value("error")
    expect(page.get_by_label("Error bar of height [m]")).to_have_value("0.01")
    page.get_by_label("Role of error").select_option("feature")
    expect(page.get_by_label("Error bar of x")).to_have_value("")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("picture.csv", "'picture.csv' is not text"),
        ("empty.csv", "'empty.csv' is empty"),
        ("huge.csv", "the limit is 0.2 MB"),
    ],
)
def test_a_bad_file_is_refused_in_words_and_a_good_one_still_works(page, trouble, address, folder, name, message):
    page.goto(address)
    drop(page, folder, name)
    expect(page.get_by_role("alert").first).to_contain_text(message)
    expect(page.locator("#rest")).to_be_hidden()
    assert all("422" in line for line in trouble)  # the browser's own note of the refusal
    trouble.clear()
    drop(page, folder, "law.csv")
    expect(page.locator("#rest")).to_be_visible()
    expect(page.locator("#data-problem")).to_be_hidden()


def test_mistakes_in_rules_are_shown_while_one_types(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "law.csv")
    page.get_by_label("define exactly what may appear where").check()
    expect(page.locator("#rules")).to_have_value(re.compile(r"f -> f \+ f"))
    expect(page.locator("#rules-message")).to_contain_text("shortest")
    page.fill("#rules", "")
    page.locator("#rules").press_sequentially("f -> f + f | C * sine(x)")
    expect(page.locator("#rules-message")).to_have_text(
        "Line 1, column 18: There is no operator 'sine'. Did you mean 'sin'?"
    )
    expect(page.locator("#rules-marks mark")).to_have_text("sine")
    expect(page.locator("#rules")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Line 1, column 18").click()
    page.keyboard.press("Delete")
    expect(page.locator("#rules-message")).to_contain_text("There is no operator 'ine'")
    page.fill("#rules", "f -> f + f | C * force")
    expect(page.locator("#rules-message")).to_contain_text("There is no variable 'force'")  # it is the target
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_contain_text("There is no variable 'force'")
    trouble.clear()
    page.fill("#rules", "f -> f + f | C * x | C * x * 'height [m]'")
    expect(page.locator("#rules-message")).to_contain_text("shortest")


def test_statements_are_checked_while_one_types_and_start_with_the_search(page, trouble, address, folder):
    page.goto(address)
    page.set_input_files("#file", folder / "law.csv")
    page.locator("#shapes-part summary").click()
    page.locator("#statements").press_sequentially("f > 0\nincresing in x")
    expect(page.locator("#statements-message")).to_contain_text("Did you mean 'increasing'?")
    expect(page.locator("#statements-marks mark")).to_have_text("incresing")
    page.fill("#statements", "force > 0\nincreasing in 'height [m]'")
    expect(page.locator("#statements-message")).to_have_text("2 statements")
    page.fill("#bounds", "x=0:9, y=0:1")
    page.click("#start")
    expect(page.locator("#start-problem")).to_contain_text("There are bounds for 'y', but no such column")
    trouble.clear()


def test_units_come_from_the_header_are_checked_as_one_types_and_hold(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "fall.csv")
    message = page.locator("#known-message")
    expect(page.get_by_label("Unit of time (s)")).to_have_value("s")
    expect(message).to_contain_text("nothing has the dimension length")
    page.get_by_label("Unit of time (s)").fill("sek")
    expect(message).to_contain_text("There is no unit 'sek'")
    expect(page.get_by_label("Unit of time (s)")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Unit of time (s)").fill("")
    expect(page.locator("#units-note")).to_contain_text("some are missing: time (s). Write 1 for a pure number.")
    page.get_by_label("Unit of time (s)").fill("s")
    page.fill("#known", "g = 9.80665 m/s**2")
    expect(message).to_have_text("Only formulas in m.")
    tick_only(page, "+", "*")
    start(page, 3)
    expect(page.locator(".pill")).to_have_text("Finished")
    expect(page.locator(".equation-part").first).to_contain_text("g")
    expect(page.locator("#run")).to_contain_text("g = 9.80665 m/s**2.")

    page.get_by_role("link", name="Search again").click()
    expect(page.locator("#form-note")).to_contain_text("The form has the settings of fall-1.")
    expect(page.locator("#known")).to_have_value("g = 9.80665 m/s**2")
    expect(page.get_by_label("Unit of height (m)")).to_have_value("m")
    page.get_by_role("button", name="Leave the units out").click()
    expect(page.locator("#units-part")).to_be_hidden()
    expect(page.get_by_label("Unit of height (m)")).to_have_value("")


def test_the_units_of_a_system_are_those_of_its_states_and_of_time(page, address, folder):
    page.goto(address)
    drop(page, folder, "spring.csv")
    expect(page.get_by_label("The equations of a system")).to_be_checked()
    expect(page.locator("#units-note")).to_contain_text("some are missing: v. Write 1 for a pure number.")
    page.get_by_label("Unit of v").fill("m/s")
    page.fill("#known", "k = 4 1/s**2")
    expect(page.locator("#known-message")).to_have_text(
        "Only equations whose right-hand sides have the units: x (m) in m/s, v in (m/s)/s."
    )
    page.get_by_label("a map").check()
    expect(page.get_by_label("Unit of t (s)")).to_have_count(0)
    page.get_by_label("a map").uncheck()
    page.locator("#implicit").select_option("auto")
    expect(page.locator("#units-note")).to_contain_text("cannot be combined with rates on both sides")
    page.locator("#implicit").select_option("no")
    tick_only(page, "-", "*")
    start(page, 4)
    expect(page.locator(".pill")).to_have_text("Finished")
    expect(page.locator("#run")).to_contain_text("Units: 'x (m)' in m, v in m/s; time in s; k = 4 1/s**2.")
    expect(page.locator("pre.code").first).to_contain_text("-(x_m * 4.0)")


def test_rules_that_are_typed_before_the_first_ones_arrive_are_kept(page, address, folder):
    waiting = []
    page.route("**/api/rules/of-operators", lambda route: waiting.append(route))
    page.goto(address)
    drop(page, folder, "law.csv")
    page.get_by_label("define exactly what may appear where").check()
    page.fill("#rules", "f -> C * x")
    expect(page.locator("#rules-message")).to_contain_text("(1 rule)")
    with page.expect_response("**/api/rules/of-operators"):
        waiting[0].continue_()
    page.wait_for_function(
        "new Promise((done) => setTimeout(() => done(true), 200))"
    )  # until the page has read the answer
    assert page.locator("#rules").input_value() == "f -> C * x"


def test_a_search_without_a_target_or_operators_is_refused_in_words(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "law.csv")
    page.get_by_label("Role of force").select_option("ignore")
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_have_text("Nothing is chosen for `target`. Choose a value.")
    page.get_by_label("Role of force").select_option("target")
    tick_only(page)
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_contain_text("No operator is selected")
    trouble.clear()


def test_a_search_is_stopped_with_the_best_so_far(page, address, folder):
    page.goto(address)
    drop(page, folder, "noisy.csv")
    start(page, 600)
    expect(page.locator(".pill")).to_have_text("Searching")
    expect(page.locator(".equation math").first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".pill")).to_have_text("Stopped")
    expect(page.locator(".equation math").first).to_be_visible()
    expect(page.get_by_role("link", name="Download report")).to_be_visible()


def test_searches_end_in_order_when_the_studio_does(page, trouble, folder, tmp_path):
    with serving("studio", folder=tmp_path) as (process, url):
        page.goto(url)
        drop(page, folder, "noisy.csv")
        start(page, 600)
        expect(page.locator(".equation math").first).to_be_visible()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
    run = read_run(tmp_path / "spl-studio" / "noisy-1.spl")
    assert run.status == "interrupted"
    assert len(run.searches[0].front) > 0
    expect(page.get_by_text("The server does not respond")).to_be_visible()
    trouble.clear()


def test_a_page_of_another_origin_cannot_use_the_studio(page, trouble, address):
    with foreign_page() as foreign:
        page.goto(foreign)
        answer = page.evaluate(
            """async (address) => {
                const tell = (what) => what.then((answer) => answer.type, () => "refused");
                const start = {method: "POST", body: "{}"};
                return [
                    await tell(fetch(`${address}api/searches`, start)),
                    await tell(fetch(`${address}api/searches`, {...start, mode: "no-cors"})),
                    await tell(fetch(`${address}api/studio`)),
                ];
            }""",
            address,
        )
        assert answer[0] == "refused"
        assert answer[1] != "basic"
        assert answer[2] == "refused"
        page.set_content(f'<iframe src="{address}"></iframe>')
        wait_until(lambda: any("frame" in line.lower() for line in trouble), "the browser to refuse the frame")
    trouble.clear()


class _EmptyPage(http.server.BaseHTTPRequestHandler):
    """Answers every address with an empty page, that of the icon too: an error in the console would come at any time."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()


class foreign_page:  # noqa: N801
    """A page on another port, which is another origin."""

    def __enter__(self):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPage)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


@pytest.mark.parametrize("width", [360, 1280])
def test_everything_has_a_name_and_fits_the_window(page, address, folder, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address)
    drop(page, folder, "law.csv")
    page.get_by_label("The equations of a system").check()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, textarea, button, a")]
            .filter((e) => e.checkVisibility() && !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
            .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.fixture
def live_page(page, trouble):
    """A page that shows a search for a system: a formula may leave the front while the page asks for its charts, which is refused."""
    gone = []
    page.on("response", lambda response: gone.append(response.url) if response.status == 422 else None)
    yield page
    assert all("/fit?" in url or "/code?" in url for url in gone)
    assert sum("422" in line for line in trouble) == len(gone)
    trouble[:] = [line for line in trouble if "422" not in line]


def test_the_equations_of_a_system_are_found_from_time_and_states(live_page, address, folder):
    page = live_page
    t = np.linspace(0, 4, 80)
    pd.DataFrame({"t": t, "charge": np.exp(-t)}).to_csv(folder / "decay.csv", index=False)
    page.goto(address)
    drop(page, folder, "decay.csv")
    expect(page.get_by_label("The equations of a system")).to_be_checked()
    assert page.get_by_label("Role of t", exact=True).input_value() == "time"
    tick_only(page, "*")
    start(page, 3)
    expect(page.get_by_role("heading", name="The system")).to_be_visible()
    expect(page.get_by_role("img", name="charge over time: measured and simulated")).to_be_visible()
    expect(page.locator("pre.code").first).to_contain_text("def derivatives(")


def test_rates_on_both_sides_are_chosen_in_the_form_and_shown_solved(live_page, address, folder):
    page = live_page
    data = make_double_pendulum(200)
    frame = pd.DataFrame(data.states, columns=list(data.names)).assign(t=data.t)
    frame.to_csv(folder / "pendulum.csv", index=False)
    page.goto(address)
    drop(page, folder, "pendulum.csv")
    expect(page.get_by_label("The equations of a system")).to_be_checked()
    page.locator("input[name=allowed][value=rules]").check()
    expect(page.locator("#rules")).to_have_value(re.compile("f -> "))  # or they arrive while the field is filled
    page.fill(
        "#rules",
        """f -> C*g + C*g + C*g | omega1 | omega2
        g -> omega1'*cos(a) | omega2'*cos(a) | omega1**2*sin(a) | omega2**2*sin(a) | sin(theta1) | sin(theta2)
        a -> theta1 - theta2""",
    )
    expect(page.locator("#rules-message")).to_contain_text("There is no variable 'omega1''")
    page.locator("#implicit").select_option("yes")
    expect(page.locator("#rules-message")).to_contain_text("shortest")
    start(page, 12)
    expect(page.get_by_role("heading", name="The system")).to_be_visible()
    expect(page.get_by_role("heading", name="Solved for the rates")).to_be_visible()


# ---- a table that cannot be read, and plain words ----


def test_a_file_that_cannot_be_read_leaves_no_table_to_search_in(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "law.csv")
    expect(page.locator("#rest")).to_be_visible()
    for bad in ("picture.csv", "huge.csv"):
        drop(page, folder, bad)
        expect(page.locator("#data-problem")).to_be_visible()
        expect(page.locator("#rest")).to_be_hidden()
        expect(page.locator("#data-view")).to_be_hidden()
        drop(page, folder, "law.csv")
        expect(page.locator("#rest")).to_be_visible()
    trouble.clear()


def test_one_row_is_called_one_row(page, address, folder):
    (folder / "one.csv").write_text("a\n1\n")
    page.goto(address)
    drop(page, folder, "one.csv")
    expect(page.locator("#data-view")).to_contain_text("one.csv: 1 row, 1 column")


def test_the_time_limit_begins_with_the_default_of_spl(page, address):
    page.goto(address)
    expect(page.locator("#timeout")).to_have_value(f"{TIMEOUT:g}")


# ---- runs that rest ----


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A studio with three finished runs: a law found by a studio, one with a long formula, and a system."""
    folder = tmp_path_factory.mktemp("run_folder")
    home = folder / "spl-studio"
    home.mkdir()
    x, y = np.random.default_rng(0).uniform(0.5, 3, (2, 60))
    frame = pd.DataFrame({"x": x, "y": y, "force": np.abs(np.sin(40 * x)) + 2 * y})
    frame.to_csv(home / "law.csv", index=False)
    request = {
        "kind": "law", "data": "law.csv", "target": "force", "features": ["x"], "operators": ["+", "sin"], "constants": False,
        "timeout": 17.5, "jobs": 1, "seed": 4, "rules": None, "weights": "y",
    }  # fmt: skip
    (home / "law-1.request").write_text(json.dumps(request))
    data = Dataset.from_arrays(frame[["x", "y"]].to_numpy(), frame["force"], names=["x", "y"])
    grammar = Grammar.from_operators(["+", "*", "sin"], data.names)
    limits = Limits(timeout=1.5)
    discover_in_file(home / "law-1.spl", RegressionRequest(data, grammar, target="force", limits=limits))
    long = Grammar.from_text("f -> " + " + ".join(f"C*sin({k}*x)*sin({k}*y)" for k in range(1, 9)))
    waves = sum((k + 0.1234) * np.sin(k * x) * np.sin(k * y) for k in range(1, 9))
    waves_data = Dataset.from_arrays(frame[["x", "y"]].to_numpy(), waves, names=["x", "y"])
    discover_in_file(home / "long.spl", RegressionRequest(waves_data, long, target="force", limits=limits))
    t = np.linspace(0, 4, 80)
    states = np.stack([1.5 * np.exp(-t) - 0.5 * np.exp(-2 * t), np.exp(-2 * t)], axis=1)  # a' = -a + b/2, b' = -2*b
    runs = Trajectories.from_arrays(states, t, names=["a", "b"])
    grammars = [Grammar.from_text("f -> C*a | C*b | C*a + C*b")] * 2
    request = SystemRequest(data=runs, grammars=grammars, limits=Limits(timeout=3))
    discover_system_in_file(home / "decay.spl", request)
    with serving("studio", folder=folder) as (_, url):
        yield home, url


def test_runs_are_searched_again_continued_renamed_and_deleted(page, trouble, run_folder):
    home, url = run_folder
    for ending in ("spl", "request"):
        shutil.copy(home / f"law-1.{ending}", home / f"copy.{ending}")
    page.goto(f"{url}#run=copy")
    expect(page.locator(".pill")).to_have_text("Finished")

    page.get_by_role("link", name="Search again").click()
    expect(page.locator("#form-note")).to_contain_text("has the settings of copy")
    assert page.get_by_label("Role of force").input_value() == "target"
    assert page.get_by_label("Role of x").input_value() == "feature"
    assert page.get_by_label("Role of y").input_value() == "weights"
    ticked = page.locator("input[name=operator]:checked").evaluate_all("boxes => boxes.map((box) => box.value)")
    assert ticked == ["+", "sin"]
    assert not page.locator("#constants").is_checked()
    assert [page.locator(f"#{name}").input_value() for name in ("timeout", "jobs", "seed")] == ["17.5", "1", "4"]

    page.go_back()
    page.get_by_role("button", name="Continue …").click()
    page.get_by_label("For another").fill("0")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator("dialog[open] [role=alert]")).to_contain_text("must be more than 0")
    page.get_by_label("For another").fill("600")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator(".pill")).to_have_text(re.compile("Starting|Searching"))
    expect(page.get_by_role("button", name="Delete …")).to_be_hidden()
    expect(page.locator(".pill")).to_have_text("Searching")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".pill")).to_have_text("Stopped")

    page.get_by_role("button", name="Rename …").click()
    page.get_by_label("New name").fill("decay")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.locator("dialog[open] [role=alert]")).to_contain_text("There is already a run 'decay'")
    page.get_by_label("New name").fill("my law")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("heading", name="my law")).to_be_visible()
    assert (home / "my law.spl").is_file()
    assert (home / "my law.request").is_file()

    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("button", name="Cancel").click()
    assert (home / "my law.spl").is_file()
    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#form")).to_be_visible()
    expect(page.locator(".runs a")).to_have_count(3)
    assert not list(home.glob("my law*"))
    assert (home / "law.csv").is_file()
    assert all("422" in line for line in trouble)  # the browser's own notes of the refusals
    trouble.clear()


def test_why_a_search_ended_is_one_sentence(page, run_folder):
    _, url = run_folder
    page.goto(f"{url}#run=law-1")
    expect(page.locator(".facts")).to_contain_text("Ended: the time limit was reached")
    said = page.evaluate(
        """async () => {
            const { RunView } = await import("./static/run.js");
            const view = new RunView(document.createElement("div"), "law-1");
            view.news.close();
            const run = {status: "running", reason: "", error: "", laws: [], notes: [], formats: [], seconds: 0, n_evaluations: 0};
            view.show(run);
            view.show({...run, status: "finished", reason: "the time limit was reached"});
            return document.getElementById("news").textContent;
        }"""
    )
    assert said == "Finished: the time limit was reached."


def test_notes_about_data_and_doubts_are_seen_without_a_click(live_page, run_folder):
    home, url = run_folder
    shutil.copy(home / "law-1.spl", home / "noted.spl")
    with closing(sqlite3.connect(home / "noted.spl")) as connection, connection:
        connection.execute(
            "UPDATE searches SET result = json_set(result, '$.notes', json('[\"3 of 60 rows left out.\"]'))"
        )
    live_page.goto(f"{url}#run=noted")
    expect(live_page.get_by_role("note", name="Notes")).to_have_text("3 of 60 rows left out.")
    (home / "noted.spl").unlink()  # while the page may still ask for its charts


def test_a_system_is_shown_once_as_its_equations(page, run_folder):
    _, url = run_folder
    page.goto(f"{url}#run=decay")
    expect(page.get_by_role("heading", name="The system")).to_be_visible()
    expect(page.get_by_role("heading", name="The search for each equation")).to_be_visible()
    expect(page.locator(".equation:visible")).to_have_count(2)
    expect(page.locator(".badge")).to_have_text("used in the system above")
    page.locator("input[data-key^=compare]:enabled").first.check()
    expect(page.locator(".equation:visible")).to_have_count(4)


def test_a_formula_is_offered_in_every_format(page, run_folder):
    _, url = run_folder
    page.goto(f"{url}#run=law-1")
    buttons = page.get_by_role("group", name="Language").get_by_role("button")
    expect(buttons).to_have_text(["SymPy", "LaTeX", "Python", "C", "Julia", "MATLAB", "PyTorch", "JAX"])
    page.get_by_role("button", name="Julia").click()
    expect(page.locator("pre.code").first).to_contain_text("function predict(")


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_a_long_formula_breaks_into_lines_and_is_never_cut_without_a_hint(page, run_folder, width):
    _, url = run_folder
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{url}#run=long")
    formula = page.locator(".equation").first
    expect(formula.locator("math").first).to_be_visible()
    tops = formula.locator("math").evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert max(tops) - min(tops) > 20
    is_cut = formula.evaluate("one => one.scrollWidth > one.clientWidth + 1")
    assert page.locator(".hint:visible").count() == (1 if is_cut else 0)
    assert not is_cut  # its terms are short enough for any of these windows
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_formula_that_cannot_be_broken_says_that_it_goes_on(page, run_folder):
    _, url = run_folder
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{url}#run=law-1")
    expect(page.locator(".equation math").first).to_be_visible()
    page.evaluate(
        """async () => {
            const { Equation } = await import("./static/equation.js");
            const equation = new Equation("wide");
            document.getElementById("main").prepend(equation.root);
            equation.show(`<math><mi>${"w".repeat(200)}</mi></math>`, "");
        }"""
    )
    expect(page.locator(".hint:visible")).to_have_text("The formula continues: scroll sideways →")


def test_the_address_reaches_a_browser_through_its_file(page, run_folder):
    _, url = run_folder
    with handover_file(url) as path:
        page.goto(path.as_uri())
        expect(page.locator("#folder")).to_be_visible()
        assert page.url == url
