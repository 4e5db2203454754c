"""Charts as a browser draws them: no text lies over another."""

import numpy as np
import pytest

from spl.report.charts import Series, draw_residuals, draw_series

pytestmark = pytest.mark.process

SIZES = [1e-12, 3.3e-7, 1.234e-4, 1.0, 123_456.0, 9.87e11]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("offset", [0.0, -1.0, 1000.0])
def test_the_title_of_an_axis_never_lies_over_its_numbers(page, size, offset):
    values = (np.linspace(-1, 1, 30) + offset) * size
    labels = {"label": "a chart", "x_label": "predicted", "y_label": "measured − predicted"}
    charts = draw_residuals(values, values, **labels) + draw_series([Series(values, values, "found")], **labels)
    page.set_content(f"<style>svg {{ width: 440px }} text {{ font: 12px 'DejaVu Sans' }}</style>{charts}")
    overlaps = page.evaluate(
        """() => [...document.querySelectorAll("svg.chart")].flatMap((chart) => {
            const boxes = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
            const whole = chart.getBoundingClientRect();
            const outside = boxes.filter(([, a]) => a.left < whole.left - 1 || a.right > whole.right + 1).map(([text]) => text);
            const isOver = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
            const covered = boxes.flatMap(([one, a], k) =>
                boxes.slice(k + 1).filter(([, b]) => isOver(a, b)).map(([other]) => `${one} / ${other}`));
            return [...outside, ...covered];
        })"""
    )
    assert overlaps == []
