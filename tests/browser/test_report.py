"""The report in a browser: by mouse, keyboard and finger, on paper and on a phone, without the script, without a network."""

import pytest
from tests.report.examples import HOSTILE, make_run, make_system_run

from spl.notation.mathml import to_mathml
from spl.report.from_run import report_of_run
from spl.report.page import write_page

pytestmark = pytest.mark.process

PHONE = {"width": 360, "height": 740}
LONG = " + ".join([f"sin(x * '{HOSTILE}')"] * 12)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Reports as files: of a table, of a system, and of a table with formulas and names that are too wide for a phone."""
    folder = tmp_path_factory.mktemp("reports")
    runs = {
        "table": make_run(n_rows=1000),
        "system": make_system_run(),
        "wide": make_run(formulas=("2.5", "abs(x)", LONG), target="a target with a name that goes on and on " * 3),
    }
    for name, run in runs.items():
        (folder / f"{name}.html").write_text(write_page(report_of_run(run)), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in runs}


def shown(page):
    """Return the ids of the formulas that can be seen."""
    return page.locator("section[id^=equation-]:visible").evaluate_all("all => all.map(one => one.id)")


def test_the_chosen_formula_is_shown_at_first(page, files):
    page.goto(files["table"])
    assert shown(page) == ["equation-0-2"]
    assert page.get_by_role("radio", checked=True).get_attribute("data-panel") == "equation-0-2"


def test_a_click_on_a_point_shows_its_formula_fit_residuals_and_code(page, files):
    page.goto(files["table"])
    page.get_by_role("radio").nth(1).click()
    assert shown(page) == ["equation-0-1"]
    panel = page.locator("#equation-0-1")
    assert "|x|" in panel.locator("math").first.text_content()
    assert panel.get_by_role("img").count() == 2
    assert "np.abs(x)" in panel.locator("pre").first.text_content()
    assert page.get_by_role("status").text_content().startswith("Shown: cost 2, loss ")


def test_the_arrow_keys_move_through_the_front_and_stop_at_its_ends(page, files):
    page.goto(files["table"])
    page.get_by_role("radio", checked=True).focus()
    for key, expected in (
        ("ArrowLeft", 1),
        ("ArrowUp", 0),
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
        ("End", 2),
        ("ArrowDown", 2),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert shown(page) == [f"equation-0-{expected}"], key
        assert page.evaluate("document.activeElement.dataset.panel") == f"equation-0-{expected}"


def test_the_front_is_one_stop_on_the_way_through_the_page(page, files):
    page.goto(files["table"])
    assert page.locator('[role="radio"][tabindex="0"]').count() == 1
    seen = []
    for _ in range(4):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.getAttribute('role')"))
    assert seen.count("radio") == 1


def test_the_table_does_what_the_chart_does(page, files):
    page.goto(files["table"])
    page.get_by_role("button", name="Show cost 0,").press("Enter")
    assert shown(page) == ["equation-0-0"]
    assert page.get_by_role("radio", checked=True).get_attribute("data-panel") == "equation-0-0"
    assert page.locator("tr.is-shown").get_attribute("data-panel") == "equation-0-0"
    page.locator('tr[data-panel="equation-0-1"] td').last.click()
    assert shown(page) == ["equation-0-1"]


def test_the_searches_of_a_system_are_chosen_apart(page, files):
    page.goto(files["system"])
    page.locator('[data-panel="equation-1-0"][role="radio"]').click()
    assert shown(page) == ["equation-0-1", "equation-1-0"]


def test_code_is_copied(page, files):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(files["table"])
    page.get_by_role("button", name="Copy Python").click()
    page.get_by_role("button", name="Copy Python").filter(has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#equation-0-2-python").text_content()


@pytest.mark.parametrize("name", ["table", "system", "wide"])
def test_a_phone_never_scrolls_sideways(page, files, name):
    page.set_viewport_size(PHONE)
    page.goto(files[name])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for point in page.get_by_role("radio").all():
        point.press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_points_are_large_enough_for_a_finger(page, files):
    page.set_viewport_size(PHONE)
    page.goto(files["table"])
    box = page.get_by_role("radio").first.locator(".hit").bounding_box()
    assert min(box["width"], box["height"]) >= 19


def test_on_paper_there_are_no_buttons_but_the_whole_table(page, files):
    page.goto(files["table"])
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("button:visible").count() == 0
    assert page.locator("table.front tbody tr:visible").count() == 3
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_the_light_and_in_the_dark(page, files, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(files["table"])
    paper, ink, soft = (
        page.evaluate(f"getComputedStyle(document.querySelector('{part}')).{what}")
        for part, what in (("body", "backgroundColor"), ("body", "color"), (".soft", "color"))
    )
    assert contrast(paper, ink) >= 7
    assert contrast(paper, soft) >= 4.5


def contrast(first, second):
    """Return the contrast of two colours by the rule of the Web Content Accessibility Guidelines."""
    dark, light = sorted(map(luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_without_the_script_every_formula_is_there(browser, files):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["table"])
    assert page.locator("section[id^=equation-]:visible").count() == 3
    assert page.locator("button:visible").count() == 0
    context.close()


def test_names_that_try_to_be_scripts_do_nothing(page, files):
    page.on("dialog", lambda dialog: pytest.fail(f"a script of the data ran: {dialog.message}"))
    page.goto(files["table"])
    assert page.locator("script").count() == 1
    assert page.get_by_text(HOSTILE).count() > 0


def test_equations_are_typeset_by_the_browser(page):
    from spl.formulas.program import Vocabulary
    from spl.formulas.text import parse_expression

    heights = {}
    for text in ("x", "x / y", "x / (1 + 1 / y)"):
        page.set_content(to_mathml(parse_expression(text, Vocabulary(("x", "y")))))
        heights[text] = page.locator("math").bounding_box()["height"]
    assert heights["x"] < 0.8 * heights["x / y"] < 0.8 * heights["x / (1 + 1 / y)"]


def test_how_sure_a_formula_is_can_be_read_on_a_phone(page, files):
    page.set_viewport_size(PHONE)
    page.goto(files["table"])
    sure = page.get_by_role("region", name="How sure")
    assert "No rivals were kept" in sure.text_content()
    assert sure.get_by_role("img").count() >= 2
    for chart in sure.get_by_role("img").all():
        assert chart.bounding_box()["width"] <= PHONE["width"]
