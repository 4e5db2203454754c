"""The chart of intervals has a line for each number, whatever its interval is."""

import math
from xml.etree import ElementTree

import pytest

from spl.report.charts import WIDTH
from spl.report.contents import NumberRow
from spl.report.interval_chart import LINE_HEIGHT, LONGEST_TERM, SIDE, draw_intervals


def number(value=5.0, lower=4.5, upper=5.5, term="[5]*x", **more):
    return NumberRow(term, f"{value}", f"{lower} to {upper}", value, lower, upper, **more)


def parse(*numbers):
    return ElementTree.fromstring(draw_intervals(numbers, label="Intervals <of> x"))


def find(root, look):
    return [element for element in root.iter() if look in element.get("class", "").split()]


def ends(bar):
    start, _, rest = bar.get("d").removeprefix("M").partition("H")
    return float(start.split()[0]), float(rest.partition("M")[0])


def test_each_number_has_its_term_its_interval_a_bar_and_a_dot():
    root = parse(number(), number(term="x + [2]", value=2.0, lower=1.9, upper=2.1))
    texts = [element.text for element in root.iter() if element.tag == "text"]
    assert {"[5]*x", "4.5 to 5.5", "x + [2]", "1.9 to 2.1"} <= set(texts)
    assert len(find(root, "interval")) == len(find(root, "spot")) == 2
    assert float(root.get("viewBox").split()[3]) > 2 * LINE_HEIGHT


def test_intervals_are_drawn_relative_to_their_numbers():
    small, large = (ends(bar) for bar in find(parse(number(), number(5e9, 4.5e9, 5.5e9)), "interval"))
    assert small == large
    assert math.isclose(sum(small) / 2, WIDTH / 2)


def test_the_lower_end_of_a_negative_number_is_on_the_left():
    [bar] = find(parse(number(-5.0, -6.0, -4.9)), "interval")
    low, high = ends(bar)
    assert low < high < WIDTH / 2 + (WIDTH / 2 - low)


def test_an_interval_without_end_crosses_the_chart_and_is_dashed():
    [bar] = find(parse(number(lower=-math.inf, upper=math.inf)), "interval")
    assert "unknown" in bar.get("class")
    assert ends(bar) == (SIDE, WIDTH - SIDE)


@pytest.mark.parametrize("exact", [number(lower=5.0, upper=5.0), number(0.0, 0.0, 0.0)])
def test_an_exact_number_has_a_dot_and_a_number_of_zero_can_be_drawn(exact):
    assert len(find(parse(exact), "spot")) == 1


def test_a_huge_interval_does_not_squeeze_the_others():
    bars = find(parse(number(), number(1.0, -900.0, 900.0)), "interval")
    assert ends(bars[0])[1] - ends(bars[0])[0] > 0.05 * WIDTH


def test_the_simplest_form_is_a_diamond_where_it_lies():
    root = parse(number(simple="26/5", simple_value=5.2))
    [diamond] = find(root, "simple")
    assert float(diamond.get("d")[1:].split()[0]) > WIDTH / 2
    assert find(parse(number()), "simple") == []
    assert find(parse(number(simple="100", simple_value=100.0)), "simple") == []  # outside of the chart


def test_long_terms_are_cut_and_all_text_is_escaped():
    root = parse(number(term="<script>" * 20))
    texts = [element.text for element in root.iter() if element.tag == "text"]
    assert max(len(text) for text in texts if "<script>" in text) <= LONGEST_TERM + 3
    assert "<script>" in texts[-2]
    assert root.get("aria-label") == "Intervals <of> x"
