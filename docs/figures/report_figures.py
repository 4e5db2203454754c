"""The figure of `docs/how-to/trust.md` that shows the report: two of its charts, as they are on the page."""

import re
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from spl import SPLRegressor
from spl.report.charts import HEIGHT, WIDTH
from spl.report.how_sure import how_sure_of
from spl.report.how_sure_section import write_how_sure
from spl.runs.reader import read_run

GAP = 40  # between two charts
N_CHARTS = 2  # the intervals and the curve
PAPER = '<rect width="100%" height="100%" fill="#ffffff"/>'


def write_how_sure_charts() -> str:
    """Return the charts of how sure a saturating rate from forty rows is, side by side, as SVG."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dose": rng.uniform(0.2, 8, 40)})
    rate = 5.3 * table["dose"] / (1.4 + table["dose"]) + 0.15 * rng.standard_normal(40)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rates.spl")
        model = SPLRegressor(grammar="f -> C*dose/(C + dose)", max_evaluations=200, random_state=0, run_file=path)
        model.fit(table, rate.rename("rate"))
        section = write_how_sure(how_sure_of(read_run(path), model.best_index_))
    charts = re.findall(r"<figure>(<svg .*?</svg>)<figcaption>", section, flags=re.DOTALL)[:N_CHARTS]
    placed = "".join(
        chart.replace("<svg ", f'<svg x="{k * (WIDTH + GAP)}" y="0" width="{WIDTH}" height="{_height(chart)}" ', 1)
        for k, chart in enumerate(charts)
    )
    size = f"0 0 {N_CHARTS * WIDTH + GAP} {HEIGHT}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}"><style>{_read_style()}</style>{PAPER}{placed}</svg>\n'


def _height(chart: str) -> str:
    found = re.match(r'<svg viewBox="0 0 \d+ (\d+)"', chart)
    assert found is not None, chart[:80]
    return found[1]


def _read_style() -> str:
    """Return the look of charts on the page, on light paper: a picture has no variables of its own."""
    style = files("spl.report").joinpath("page.css").read_text(encoding="utf-8")
    colours = dict(reversed(re.findall(r"(--\w+): (#\w+)", style)))  # the first of each is the light one
    text = style[style.index(".chart text {") : style.index('[role="radio"]')]
    return "text { font-family: sans-serif; } " + re.sub(r"var\((--\w+)\)", lambda name: colours[name[1]], text)
