"""Save screenshots of the studio in docs/images: `make screenshots`. Like the browser tests, it needs a Chromium."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, expect, sync_playwright
from tests.browser.chromium import MISSING, OPTIONS, find_chromium
from tests.web.process import serving

from spl.datasets import make_lotka_volterra

IMAGES = Path(__file__).parent.parent / "images"
WINDOW = {"width": 1280, "height": 860}
PATIENCE = 120_000  # milliseconds


def main() -> None:
    """Search two tables: screenshots of a table with units, during a search, and of a run that has ended."""
    program = find_chromium()
    if program is None:
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        os.environ.setdefault("SPL_CACHE", str(Path.home() / ".cache"))  # reuse compiled kernels
        os.environ["HOME"] = home  # so that the page shows a short path
        folder = Path(home, "experiments")
        folder.mkdir()
        write_tables(folder)
        browser = driver.chromium.launch(executable_path=program, args=list(OPTIONS))
        page = browser.new_page(viewport=WINDOW)
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        with serving("studio", folder=folder) as (_, url):
            page.goto(url)
            show_units(page, folder / "ripples.csv")
            start(page, folder / "hares.csv", seconds=15, operators="+-*")
            expect(page.locator(".pill")).to_have_text("Finished")
            page.get_by_role("button", name="New search").click()
            start(page, folder / "waves.csv", seconds=15, operators="+-*/ sin cos exp sqrt")
            page.wait_for_timeout(8_000)
            page.screenshot(path=IMAGES / "studio.png")
            page.get_by_role("link", name="hares-1").click()
            expect(page.get_by_role("heading", name="predator against prey")).to_be_visible()
            page.wait_for_timeout(1_000)
            page.screenshot(path=IMAGES / "studio-run.png")
        browser.close()


def write_tables(folder: Path) -> None:
    """Write the table of a noisy law, and one with trajectories of a system."""
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(-3, 3, (2, 300))
    y = 2.5 * np.sin(angle) + height**2 + rng.normal(scale=0.05, size=300)
    pd.DataFrame({"angle": angle, "height": height, "y": y}).to_csv(folder / "waves.csv", index=False)
    wavelength, tension, density = rng.uniform(0.3, 6, 40), rng.uniform(20, 75, 40), rng.uniform(0.7, 1.3, 40)
    speed = np.sqrt(980.665 * wavelength / (2 * np.pi) + 2 * np.pi * tension / (wavelength * density))
    ripples = {
        "wavelength (cm)": wavelength,
        "tension (mN/m)": tension,
        "density (g/cm**3)": density,
        "speed (cm/s)": speed,
    }
    pd.DataFrame(ripples).to_csv(folder / "ripples.csv", index=False)
    data = make_lotka_volterra(noise=0.02)
    columns = {"t": data.t} | dict(zip(data.names, data.states.T, strict=True))
    pd.DataFrame(columns).to_csv(folder / "hares.csv", index=False)


def show_units(page: Page, table: Path) -> None:
    """Take a screenshot of the columns of a table with units in its header, with a named constant."""
    page.set_input_files("#file", table)
    expect(page.get_by_label("Unit of speed (cm/s)")).to_have_value("cm/s")
    page.fill("#known", "g = 9.80665 m/s**2")
    expect(page.locator("#known-message")).to_have_text("Only formulas in cm/s.")
    page.locator("#known").blur()
    page.locator("[aria-labelledby=sought-title]").screenshot(path=IMAGES / "studio-units.png")


def start(page: Page, table: Path, *, seconds: int, operators: str) -> None:
    """Drop a table and start a search with these operators."""
    page.set_input_files("#file", table)
    expect(page.locator("#data-view")).to_contain_text(table.name)
    kind = "The equations of a system" if table.name == "hares.csv" else "A formula for one column"
    page.get_by_label(kind).check()
    for box in page.locator("input[name=operator]").all():
        box.set_checked(box.input_value() in operators)
    page.fill("#timeout", str(seconds))
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator(".pill")).to_be_visible()


if __name__ == "__main__":
    main()
