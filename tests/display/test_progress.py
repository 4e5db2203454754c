"""The progress of a search."""

import io
import sys
import types

import pytest
from rich.console import Console

from spl.display.progress import (
    LineDisplay,
    LiveDisplay,
    NotebookDisplay,
    ProgressDisplay,
    SystemDisplay,
    is_live,
    open_display,
)
from spl.dynamics.state_searches import SystemProgress
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.discover import Progress
from spl.regression.front import Front

WORDS = Vocabulary(("x", "flow rate"))
LONG = " + ".join(["sin(x)"] * 60)


@pytest.fixture(autouse=True)
def _at_home(monkeypatch):
    """Test what a user at a terminal sees, also when CI runs the tests."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def make_front(*formulas):
    """Return a front of formulas, each with a tenth of the loss of the previous one."""
    return Front(tuple(Candidate(parse_expression(text, WORDS), 10.0**-place) for place, text in enumerate(formulas)))


def make_progress(front, seconds=1.0):
    return Progress(front, seconds, 500, 12_345)


def make_console(*, is_terminal, width=80):
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=width, height=24, color_system=None)


def printed(console):
    return console.file.getvalue()


def choose_last(front):
    return len(front) - 1


def choose_first(front):
    return 0


def test_a_line_is_printed_for_each_new_formula_and_none_for_the_same():
    console = make_console(is_terminal=False)
    with LineDisplay(console, "y", choose_last) as display:
        for seconds, front in enumerate((make_front("x"), make_front("x"), make_front("x", "x + 1")), start=1):
            display(make_progress(front, seconds))
    lines = printed(console).splitlines()
    assert [line.split("  ")[-1] for line in lines] == ["y = x", "y = x + 1"]


def test_an_empty_front_shows_nothing_yet():
    console = make_console(is_terminal=False)
    with LineDisplay(console, "y", choose_last) as display:
        display(make_progress(Front(())))
    assert printed(console) == ""


def test_a_line_of_progress_is_cut_where_it_is_too_long():
    console = make_console(is_terminal=False)
    with LineDisplay(console, "y", choose_last) as display:
        display(make_progress(make_front(LONG)))
    assert len(printed(console)) < 240
    assert printed(console).endswith("...\n")


def test_the_live_table_shows_cost_and_loss_beside_long_formulas():
    console = make_console(is_terminal=True)
    with LiveDisplay(console, "y", choose_first) as display:
        display(make_progress(make_front("x", LONG)))
    shown = printed(console)
    assert all(word in shown for word in ("cost", "loss", "score", "y = x", "12,345 evaluations", "Ctrl-C"))


def test_the_live_table_survives_an_empty_front():
    console = make_console(is_terminal=True)
    with LiveDisplay(console, "y", choose_last, title="Looking") as display:
        display(make_progress(Front(())))
    assert "Looking" in printed(console)


def test_the_live_table_fits_the_screen_around_the_chosen_formula():
    console = make_console(is_terminal=True)
    front = make_front("x", *("x" + " + x" * n for n in range(1, 60)))
    with LiveDisplay(console, "y", lambda _: 40) as display:
        display(make_progress(front))
    frame = printed(console).rsplit("Looking", 1)[-1].rsplit("Searching", 1)[-1]
    assert len(frame.splitlines()) <= 24
    assert "*" in frame


def test_the_silent_display_shows_nothing(capsys):
    with ProgressDisplay() as display:
        display(make_progress(make_front("x")))
    assert capsys.readouterr() == ("", "")


LEFT_SIDES = {"a": "da/dt", "b": "db/dt"}


def test_the_searches_of_a_system_are_shown_as_lines_with_their_left_sides():
    console = make_console(is_terminal=False)
    with SystemDisplay(console, LEFT_SIDES) as display:
        for state in "aab":
            display(SystemProgress(state, make_progress(make_front("x"))))
    assert [line.split("  ")[-1] for line in printed(console).splitlines()] == ["da/dt = x", "db/dt = x"]


def test_a_live_search_of_a_system_leaves_its_formula_behind():
    console = make_console(is_terminal=True)
    with SystemDisplay(console, LEFT_SIDES) as display:
        display(SystemProgress("a", make_progress(make_front("x"))))
        display(SystemProgress("b", make_progress(Front(()))))
        display(SystemProgress("b", make_progress(make_front("x + 1"))))
    shown = printed(console)
    assert "Searching da/dt ..." in shown
    assert "Searching db/dt, then fitting ..." in shown
    left = [line.strip() for line in shown.replace("\r", "\n").splitlines()]
    assert any(line.endswith("1.0 s  da/dt = x") for line in left)
    assert any(line.endswith("1.0 s  db/dt = x + 1") for line in left)


def test_a_system_without_progress_shows_nothing():
    console = make_console(is_terminal=True)
    with SystemDisplay(console, LEFT_SIDES):
        pass
    assert printed(console) == ""


# ---- places


def test_the_clock_shows_the_limit_and_the_speed():
    console = make_console(is_terminal=True, width=120)
    with LiveDisplay(console, "y", choose_last, timeout=60.0) as display:
        display(make_progress(make_front("x"), seconds=2.0))
    assert "0 of 60 s" in printed(console)
    assert "(6,172/s)" in printed(console)


def test_the_live_equation_is_typeset():
    console = make_console(is_terminal=True)
    with LiveDisplay(console, "y", choose_last) as display:
        display(make_progress(make_front("x / (x + sqrt(x))")))
    assert "y = ──────" in printed(console)
    assert "x + √x" in printed(console)


def test_a_terminal_without_these_characters_gets_lines():
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"), force_terminal=True)
    assert isinstance(open_display(console, "y", choose_last), LineDisplay)


def test_a_log_has_few_lines_however_many_formulas_there_are():
    console = make_console(is_terminal=False)
    with LineDisplay(console, "y", choose_last) as display:
        for step in range(1, 400):
            display(make_progress(make_front("x" + " + x" * (step % 7)), seconds=step / 4))
    lines = printed(console).splitlines()
    assert len(lines) < 25
    assert "\x1b" not in printed(console)


def test_a_log_ends_with_the_last_formula_even_if_it_came_soon_after_another():
    console = make_console(is_terminal=False)
    with LineDisplay(console, "y", choose_last) as display:
        display(make_progress(make_front("x"), seconds=50.0))
        display(make_progress(make_front("x", "x + 1"), seconds=50.1))
    assert printed(console).splitlines()[-1].endswith("y = x + 1")


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("FORCE_COLOR", "1"), ("TERM", "dumb")])
def test_logs_of_ci_get_lines_also_where_they_claim_to_be_terminals(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    console = Console(file=io.StringIO(), force_terminal=True)
    assert not is_live(console)
    assert isinstance(open_display(console, "y", choose_last), LineDisplay)


def test_a_terminal_gets_the_live_table():
    assert isinstance(open_display(make_console(is_terminal=True), "y", choose_last), LiveDisplay)


class Cell:
    """A notebook cell, like IPython's display handle."""

    def __init__(self):
        self.shown = []

    def update(self, page):
        self.shown.append(page)


def test_a_notebook_has_one_cell_that_changes_in_place(monkeypatch):
    cell = Cell()

    def display(page, display_id):
        cell.update(page)
        return cell

    fake = types.SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=fake))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    with open_display(Console(force_jupyter=True), "y", choose_last, timeout=60) as shown:
        assert isinstance(shown, NotebookDisplay)
        for step in range(50):
            shown(make_progress(make_front("x", "x" + " + 1" * (step + 1)), seconds=step))
    assert len(cell.shown) == 2
    assert "of 60 s" in cell.shown[0]
    assert "<math" in cell.shown[-1]
    assert cell.shown[-1].count("+ 1") >= 50
