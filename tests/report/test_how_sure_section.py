"""The section is well-formed, says everything in words, and escapes all text of users."""

import re
from dataclasses import replace

import numpy as np
from tests.report.examples import HOSTILE, make_run
from tests.report.test_page import Outline

from spl.report.contents import CheckRow, HowSurePart, NumberRow, RivalRow, SliceChart
from spl.report.how_sure import how_sure_of
from spl.report.how_sure_section import MAX_BARS, write_how_sure, write_intervals

NUMBER = NumberRow("[5]*x", "5.0 ± 0.2", "4.6 to 5.4", 5.0, 4.6, 5.4)
CHART = SliceChart(
    "x",
    True,
    np.arange(3.0),
    np.ones(3),
    np.tile([0.9, 1.1], (3, 1)),
    np.tile([0.5, 1.5], (3, 1)),
    np.arange(3.0),
    np.ones(3),
)
PART = HowSurePart(
    equation="y = 5*x",
    words=("A sentence.",),
    target="y",
    numbers=(NUMBER,),
    slices=(CHART,),
    rivals=(RivalRow(1.25, 0.2, 0.1, "2 sd at x = 1", "x**2"),),
    checks=(CheckRow("trend along the rows", "0.001", True, "Something drifted."),),
)


def read(part):
    found = Outline()
    found.feed(write_how_sure(part))
    found.close()
    assert found.open == []
    return found, " ".join("".join(found.text).split())


def headings(part):
    return re.findall(r"<h3>(.*?)</h3>", write_how_sure(part))


def test_everything_that_is_known_has_its_place():
    _, text = read(PART)
    for words in (
        "y = 5*x",
        "A sentence.",
        "4.6 to 5.4",
        "1.2",
        "20 %",
        "2 sd at x = 1",
        "doubtful",
        "Something drifted.",
    ):
        assert words in text
    assert headings(PART) == [
        "Its numbers",
        "Its curve",
        "Other formulas that the data cannot rule out",
        "Checks of the residuals",
    ]


def test_what_is_not_known_has_no_heading():
    part = HowSurePart("y = x", ("Nothing can be said.",))
    assert headings(part) == []
    assert read(part)[1] == "About y = xNothing can be said."


def test_slices_of_several_columns_say_where_the_others_are():
    part = replace(PART, slices=(replace(CHART, is_whole=False),) * 2, n_more_slices=3)
    assert "Along each column" in headings(part)
    assert "The other columns are at their medians" in read(part)[1]
    assert "3 more columns are not shown." in read(part)[1]


def test_what_is_left_out_is_counted():
    assert "7 more are not shown." in read(replace(PART, n_more_rivals=7))[1]
    assert f"The first {MAX_BARS} of {MAX_BARS + 1} numbers." in write_intervals((NUMBER,) * (MAX_BARS + 1))


def test_only_doubtful_checks_are_marked():
    fine = CheckRow("spread", "0.4", False, "Fine.")
    found, text = read(replace(PART, checks=(fine, *PART.checks)))
    assert sum(tag == "tr" and given.get("class") == "doubtful" for tag, given in found.tags) == 1
    assert "fine 0.4" in text or "fine0.4" in text


def test_diamonds_are_explained_only_where_there_are_any():
    simple = replace(NUMBER, simple="26/5", simple_value=5.2)
    assert "Diamonds" not in write_intervals((NUMBER,))
    assert "Diamonds: the simplest form" in write_intervals((simple,))


def test_every_chart_and_table_has_words_for_those_who_do_not_see_it():
    found, _ = read(PART)
    charts = [given for tag, given in found.tags if given.get("role") == "img"]
    assert len(charts) == 2
    assert all(given["aria-label"] for given in charts)
    assert all(given.get("aria-label") for tag, given in found.tags if given.get("class") == "wide")


def test_names_of_users_are_never_markup():
    for place in range(3):
        found, text = read(how_sure_of(make_run(), place))
        assert not [tag for tag, _ in found.tags if tag in ("script", "i", "b")]
    assert HOSTILE in text
