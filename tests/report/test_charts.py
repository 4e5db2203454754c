"""Charts are well-formed SVG that shows every point."""

from xml.etree import ElementTree

import numpy as np
import pytest

from spl.report.charts import (
    HEIGHT,
    LEFT_MARGIN,
    WIDTH,
    Band,
    FrontPoint,
    Series,
    draw_fit,
    draw_front,
    draw_residuals,
    draw_series,
)

LABELS = {"label": '<b>"what"</b>', "x_label": "<i>x</i>" * 20, "y_label": "a & b"}


def parse(svg):
    return ElementTree.fromstring(svg)


def find(root, name):
    return [element for element in root.iter() if name in element.get("class", "").split()]


def front(losses=(1.0, 0.1, 0.0), chosen=1):
    points = [FrontPoint(2 * k + 1, loss, f"formula {k} <&>", f"panel-{k}") for k, loss in enumerate(losses)]
    return parse(draw_front(points, chosen, floor=1e-13, loss_label="loss"))


def test_every_formula_is_a_radio_button_and_one_is_on():
    buttons = [element for element in front().iter() if element.get("role") == "radio"]
    assert [button.get("aria-checked") for button in buttons] == ["false", "true", "false"]
    assert [button.get("tabindex") for button in buttons] == ["-1", "0", "-1"]
    assert [button.get("data-panel") for button in buttons] == ["panel-0", "panel-1", "panel-2"]
    assert buttons[0].get("aria-label") == "formula 0 <&>"


def test_the_front_falls_from_left_to_right():
    places = [
        tuple(map(float, element.get("transform")[10:-1].split()))
        for element in front().iter()
        if element.get("role") == "radio"
    ]
    assert len(places) == 3
    assert places == sorted(places, key=lambda place: place[0])
    assert [y for _, y in places] == sorted(y for _, y in places)
    assert all(LEFT_MARGIN <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


def test_a_front_of_one_formula_can_be_drawn():
    assert len(find(front((0.0,), 0), "dot")) == 1


def test_exact_predictions_lie_on_the_line():
    values = np.linspace(-3, 5, 20)
    root = parse(draw_fit(values, values, **LABELS))
    [dots] = find(root, "dots")
    [line] = find(root, "guide")
    (x0, y0), (x1, y1) = (map(float, end.split()) for end in line.get("d")[1:].split("L"))
    places = [tuple(map(float, dot.split())) for dot in dots.get("d")[1:-2].split("h0M")]
    assert len(places) == 20
    for x, y in places:
        assert y == pytest.approx(y0 + (x - x0) / (x1 - x0) * (y1 - y0), abs=0.11)


def test_text_of_the_user_is_escaped_and_cut():
    root = parse(draw_residuals(np.arange(3.0), np.arange(3.0), **LABELS))
    assert root.get("aria-label") == '<b>"what"</b>'
    names = ["".join(element.itertext()) for element in find(root, "name")]
    assert names[1] == "a & b"
    assert names[0].startswith("<i>x</i><i>x</i>")
    assert names[0].endswith("…")


def test_what_has_no_value_is_left_out_and_opens_a_gap():
    y = np.array([1.0, 2.0, np.nan, 3.0, np.inf, 1e300])
    root = parse(
        draw_series(
            [Series(np.arange(6.0), y[:2].repeat(3), "measured"), Series(np.arange(6.0), y, "found", is_line=True)],
            **LABELS,
        )
    )
    [line] = find(root, "found")
    assert line.get("d").count("M") == 3
    assert "nan" not in line.get("d")
    assert max(abs(float(part)) for part in line.get("d").replace("M", " ").replace("L", " ").split()) < 1000


def first_place(series, **options):
    [dots] = find(parse(draw_series([series], **options, **LABELS)), "dots")
    return float(dots.get("d")[1:].split()[0])


def test_time_goes_from_edge_to_edge():
    series = Series(np.arange(9.0), np.arange(9.0), "measured")
    assert LEFT_MARGIN < first_place(series, is_tight=True) < LEFT_MARGIN + 5 < first_place(series)


def test_a_chart_of_nothing_is_a_chart():
    nothing = np.full(3, np.nan)
    for draw in (draw_fit, draw_residuals):
        root = parse(draw(nothing, nothing, **LABELS))
        assert root.get("aria-label") == '<b>"what"</b>'
        assert [dots.get("d") for dots in find(root, "dots")] in ([], [""])


@pytest.mark.parametrize("draw", [draw_fit, draw_residuals])
def test_outliers_have_crosses_over_their_dots(draw):
    values = np.arange(5.0)
    marked = draw(values, values, **LABELS, is_outlier=values > 3)
    assert marked.count('class="outlier crosses"') == 1
    assert draw(values, values, **LABELS, is_outlier=values > 9) == draw(values, values, **LABELS)


def test_a_cross_is_drawn_for_each_point_that_has_a_value():
    series = Series(np.arange(3.0), np.array([0.0, np.nan, 2.0]), "outlier", is_cross=True)
    root = parse(draw_series([Series(np.arange(3.0), np.arange(3.0), "measured"), series], **LABELS))
    [path] = [each.get("d") for each in root.iter() if each.get("class") == "outlier crosses"]
    assert path.count("M") == 2


# ---- bands ---------------------------------------------------------------------------------------


def draw_band(low, high):
    x = np.arange(float(len(low)))
    points = Series(x, np.ones(x.size), "measured")
    bands = [Band(x, np.array(low, float), np.array(high, float), "law")]
    [band] = find(parse(draw_series([points], **LABELS, bands=bands)), "band")
    return band.get("d")


def test_a_band_is_one_closed_outline_and_a_gap_opens_another():
    assert draw_band([0, 0, 0], [1, 1, 1]).count("Z") == 1
    assert draw_band([0, 0, np.nan, 0, 0], [1, 1, 1, 1, 1]).count("M") == 2
    assert draw_band([np.nan] * 3, [1, 1, 1]) == ""


def test_a_band_without_end_stays_near_the_chart():
    places = [
        float(number)
        for pair in draw_band([-np.inf] * 3, [np.inf] * 3).strip("MZ").split("L")
        for number in pair.split()
    ]
    assert max(map(abs, places)) <= max(WIDTH, 2 * HEIGHT)
