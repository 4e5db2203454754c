"""The studio from end to end: a browser, a server process, searches in processes of their own, real files."""

import http.server
import re
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from tests.web.process import SECONDS, serving, wait_until

from spl.stored_run import read_run

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files that people may drop, good and bad."""
    folder = tmp_path_factory.mktemp("studio")
    rng = np.random.default_rng(0)
    x, height = rng.uniform(0.5, 3, (2, 80))
    frame = pd.DataFrame({"x": x, "height [m]": height, "label": "p", "force": 2 * x * height + x})
    frame.to_csv(folder / "law.csv", index=False)
    noisy = frame.assign(force=frame["force"] + rng.normal(size=80))
    noisy.to_csv(folder / "noisy.csv", index=False)
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
    expect(page.locator(".equation-part").first).to_contain_text("cost 1,")
    page.get_by_label("Compare with the formula of cost 3").check()
    expect(page.locator(".equation-part").nth(1)).to_contain_text("cost 3,")
    expect(page.get_by_role("heading", name="Fit of cost 3")).to_be_visible()
    page.get_by_role("button", name="Show the recommended one").click()

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


@pytest.mark.parametrize(
    ("name", "message"),
    [("picture.csv", "'picture.csv' is not text"), ("empty.csv", "'empty.csv' is empty"), ("huge.csv", "up to 0.2 MB")],
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
    page.get_by_label("More: rules").check()
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


def test_a_search_without_a_target_or_operators_is_refused_in_words(page, trouble, address, folder):
    page.goto(address)
    drop(page, folder, "law.csv")
    page.get_by_label("Role of force").select_option("ignore")
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_have_text("Nothing is chosen for `target`.")
    page.get_by_label("Role of force").select_option("target")
    tick_only(page)
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("#start-problem")).to_contain_text("No operator is ticked")
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
    expect(page.get_by_text("The server does not answer")).to_be_visible()
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


def test_the_equations_of_a_system_are_found_from_time_and_states(page, address, folder):
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
