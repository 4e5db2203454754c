"""The page is well-formed and self-contained, and escapes all user text."""

import dataclasses
import re
from html.parser import HTMLParser

import pytest
from tests.report.examples import HOSTILE, make_run, make_system_run

from spl.regression.noise_choice import NoiseChoice
from spl.report.from_run import report_of_run
from spl.report.page import write_page

VOID = {"meta", "link"}


class Outline(HTMLParser):
    """Checks that every element closes, and collects tags and text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        self.links += [given[name] for name in ("src", "href", "data-panel", "data-copies") if name in given]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def outline(run):
    found = Outline()
    found.feed(write_page(report_of_run(run)))
    found.close()
    assert found.open == []
    return found


@pytest.fixture(scope="module", params=["table", "system"])
def page(request):
    return outline(
        make_run()
        if request.param == "table"
        else make_system_run(names=("x", HOSTILE), formulas=(f"'{HOSTILE}'", "-4 * x"))
    )


def test_ids_are_unique_and_all_that_is_named_is_there(page):
    assert len(set(page.ids)) == len(page.ids)
    inside = [link.removeprefix("#") for link in page.links if not link.startswith("data:")]
    assert inside
    assert set(inside) <= set(page.ids)


def test_nothing_is_fetched(page):
    assert not [link for link in page.links if re.match(r"(https?:)?//", link)]
    assert not re.search(r"@import|url\(", "".join(page.text))


def test_text_of_the_user_is_never_markup(page):
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert not [tag for tag, _ in page.tags if tag == "i"]
    assert HOSTILE in "".join(page.text)


def test_only_the_script_of_the_page_may_run(page):
    [policy] = [given["content"] for _, given in page.tags if given.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert not [given for _, given in page.tags if any(name.startswith("on") for name in given)]


def test_every_chart_has_words_for_those_who_do_not_see_it(page):
    charts = [given for tag, given in page.tags if tag == "svg" and given.get("class", "").startswith("chart")]
    assert len(charts) > 2
    assert all(given.get("aria-label") or "front" in given["class"] for given in charts)
    assert all(
        given.get("aria-label") for _, given in page.tags if given.get("role") in ("radio", "radiogroup", "group")
    )


def test_one_formula_of_each_search_is_shown_at_first(page):
    panels = [given for tag, given in page.tags if tag == "section" and given.get("id", "").startswith("equation-")]
    searches = {given["id"].split("-")[1] for given in panels}
    assert sum("hidden" not in given for given in panels) == len(searches)


def test_the_page_says_what_was_given_known_and_found():
    text = "".join(outline(make_run()).text)
    for words in (
        "200 rows",
        "f -> f + f",
        "<i>data.csv</i>",
        "numpy",
        "R² = 1.0",
        "def predict(",
        "double predict(",
        r"\mathrm",
    ):
        assert words in text


def test_a_system_has_its_equations_curves_and_code():
    text = "".join(outline(make_system_run()).text)
    for words in (
        "Trajectories",
        "Phase portraits",
        "follows the data to the end",
        "void derivatives(",
        "-4 (rounded, ± 0.01) in [-4]*x",
    ):
        assert words in text


def test_thinned_rows_are_said_to_be():
    text = "".join(outline(make_run(n_rows=10_000)).text)
    assert re.search(r"The chart shows \d+ of 10,000 rows, including the extremes and the largest residuals\.", text)


def test_the_noise_has_a_section_and_its_text_is_escaped():
    run = make_run()
    [search] = run.searches
    noise = NoiseChoice(HOSTILE, {"typical error": 0.5}, reason=HOSTILE)
    found = dataclasses.replace(search.discovery, noise=noise, outliers=(3,))
    changed = outline(dataclasses.replace(run, searches=(dataclasses.replace(search, discovery=found),)))
    assert "noise" in changed.ids
    assert HOSTILE in changed.text
    assert any("without the outliers" in text for text in changed.text)
    assert "noise" not in outline(run).ids


def test_a_table_has_a_section_about_how_sure_its_formula_is():
    found = outline(make_run())
    assert "how-sure" in found.ids
    assert "No rivals were kept" in "".join(found.text)


def test_a_system_has_the_intervals_of_its_numbers():
    found = outline(make_system_run(formulas=("v", "-4.1 * x")))
    assert "how-sure" not in found.ids
    assert "dv/dt: [-4.1]*x" in found.text
    assert "-4.120 to -4.080" in found.text
