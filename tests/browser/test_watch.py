"""The page of `spl watch`: a search that another process runs, followed and stopped."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from tests.web.process import SECONDS, SPL, heed_ctrl_c, serving, wait_until

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.dynamics.request import SystemRequest
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.runs.dynamics import discover_system_in_file
from spl.runs.regression import discover_in_file
from spl.settings import Limits

pytestmark = pytest.mark.process

expect.set_options(timeout=30_000)


@pytest.fixture
def search(tmp_path):
    """A search that would go on for ten minutes."""
    x = np.linspace(0.5, 6, 100)
    noise = 0.05 * np.random.default_rng(0).normal(size=100)
    pd.DataFrame({"x": x, "y": np.sin(2 * x) / x + noise}).to_csv(tmp_path / "d.csv", index=False)
    words = ["fit", "d.csv", "--target", "y", "--timeout", "600", "--run", "d.spl"]
    process = subprocess.Popen(
        [*SPL, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=heed_ctrl_c,
    )
    wait_until(lambda: (tmp_path / "d.spl").exists() or process.poll() is not None, "the run file")
    yield process
    process.kill()
    process.communicate()


def test_a_search_of_another_process_is_followed_and_stopped(page, search, tmp_path):
    with serving("watch", "d.spl", folder=tmp_path) as (_, url):
        page.goto(url)
        expect(page.locator(".pill")).to_have_text("Searching")
        expect(page.locator(".equation math").first).to_be_visible()
        before = page.locator(".facts").inner_text()
        wait_until(lambda: page.locator(".facts").inner_text() != before, "news of the search")
        expect(page.get_by_role("img", name="The lowest loss fell")).to_be_visible()
        expect(page.get_by_role("img", name="y against x")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".pill")).to_have_text("Stopped")
        said, _ = search.communicate(timeout=SECONDS)
        assert search.returncode == 0
        assert "y = " in said


def test_doubts_about_a_system_are_shown_beside_its_equations(page, tmp_path):
    t = np.linspace(0, 12, 300)
    data = Trajectories.from_arrays(np.sin(t), t, names=["x"])
    limits = Limits(timeout=None, max_evaluations=100)
    request = SystemRequest(data=data, grammars=[Grammar.from_text("f -> C*x | C")], limits=limits)
    discover_system_in_file(tmp_path / "x.spl", request)
    with serving("watch", "x.spl", folder=tmp_path) as (_, url):
        page.goto(url)
        expect(page.get_by_role("note")).to_contain_text("order=2")
        page.goto("about:blank")  # what is still loading would fail when the server ends


def test_a_run_that_has_ended_says_how_sure_the_picked_formula_is(page, tmp_path):
    x = np.linspace(0.5, 6, 100)
    noise = 0.05 * np.random.default_rng(0).normal(size=100)
    data = Dataset.from_arrays(x[:, np.newaxis], 2.3 * x + noise, names=["x"])
    request = RegressionRequest(
        data, Grammar.from_text("f -> C | C*x"), target="y", limits=Limits(timeout=None, max_evaluations=50)
    )
    discover_in_file(tmp_path / "x.spl", request)
    with serving("watch", "x.spl", folder=tmp_path) as (_, url):
        page.set_viewport_size({"width": 360, "height": 740})
        page.goto(url)
        sure = page.get_by_role("region", name="How sure")
        expect(sure).to_contain_text("Its residuals look like noise in all 4 checks.")
        expect(sure.get_by_role("img", name="Intervals of the numbers")).to_be_visible()
        expect(sure.get_by_role("img", name="y along x, with 95 % bands")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.get_by_role("radio").first.click()
        expect(sure).to_contain_text("checks of its residuals are doubtful")
