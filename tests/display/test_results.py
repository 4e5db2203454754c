"""What the terminal shows."""

import io

import numpy as np
import pytest
from rich.console import Console

from spl.display.results import (
    STOPPED,
    equation_line,
    front_lines,
    front_rows,
    operator_lines,
    print_equation,
    print_front,
    summary_line,
)
from spl.formulas.operators import BUILT_IN, SPELLINGS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery
from spl.regression.front import Front

WORDS = Vocabulary(("x", "flow rate"))
LONG = " + ".join(["sin(x)"] * 60)


def make_front(*formulas):
    """Return a front of formulas, each with a tenth of the loss of the previous one."""
    return Front(tuple(Candidate(parse_expression(text, WORDS), 10.0**-place) for place, text in enumerate(formulas)))


def make_console(*, is_terminal, width=80):
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=width, height=24, color_system=None)


def printed(console):
    return console.file.getvalue()


def test_rows_show_cost_loss_score_and_equation_of_each_candidate():
    rows = front_rows(make_front("x", "x + 1.23456789"), 1, 0.0)
    assert [(row.cost, row.loss, row.equation, row.is_chosen) for row in rows] == [
        (1, 1.0, "x", False),
        (3, 0.1, "x + 1.23457", True),
    ]
    assert rows[1].score == pytest.approx(np.log(10) / 2)


def test_all_digits_are_shown_on_demand():
    assert front_rows(make_front("x + 1.23456789"), 0, 0.0, digits=None)[0].equation == "x + 1.23456789"


def test_plain_lines_mark_the_chosen_formula_and_no_other():
    lines = front_lines(front_rows(make_front("x", "x + 1", "x + sin(x)"), 1, 0.0))
    assert lines[0].split() == ["cost", "loss", "score", "equation"]
    assert [line.startswith("*") for line in lines[1:]] == [False, True, False]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_formula_is_printed_whole(is_terminal):
    console = make_console(is_terminal=is_terminal)
    print_front(console, front_rows(make_front(LONG), 0, 0.0))
    assert printed(console).count("sin(x)") + printed(console).count("sin(x\n") >= 55
    assert "…" not in printed(console)


def test_without_a_terminal_each_formula_is_one_line():
    console = make_console(is_terminal=False)
    print_front(console, front_rows(make_front("x", LONG), 0, 0.0))
    assert len(printed(console).splitlines()) == 3


def test_brackets_in_names_are_not_taken_for_markup():
    words = Vocabulary(("[bold]v",))
    console = make_console(is_terminal=True)
    print_front(console, front_rows(Front((Candidate(parse_expression("'[bold]v'", words), 1.0),)), 0, 0.0))
    assert "[bold]v" in printed(console)


def test_the_equation_line_names_the_target():
    assert equation_line("flow [l/s]", make_front("x + 1"), 0) == "flow [l/s] = x + 1"


def test_on_a_terminal_the_equation_is_typeset_and_then_text_to_copy():
    console = make_console(is_terminal=True)
    print_equation(console, "y", make_front("x / (x + 1)"), 0)
    lines = printed(console).splitlines()
    assert [line.strip() for line in lines] == ["x", "y = ─────", "x + 1", "", "y = x/(x + 1)"]


@pytest.mark.parametrize("options", [{"is_terminal": False}, {"is_terminal": True, "width": 8}])
def test_elsewhere_and_where_there_is_no_room_the_equation_is_text_alone(options):
    console = make_console(**options)
    print_equation(console, "y", make_front("x / (x + 1)"), 0)
    assert printed(console) == "y = x/(x + 1)\n"


@pytest.mark.parametrize("stopped", STOPPED)
def test_the_summary_says_why_the_search_ended(stopped):
    line = summary_line(Discovery(make_front("x"), 100, 0.0, 2.5, 500, 12_345, stopped), 0.987654321)
    assert line == f"R2 0.987654, 2.5 s, 12,345 evaluations; stopped: {STOPPED[stopped]}."


def test_a_constant_target_has_no_r2():
    assert "R2 undefined" in summary_line(Discovery(make_front("x"), 100, 0.0, 2.5, 500, 12_345, "exact"), None)


# ---- operators


def test_every_operator_has_a_line_with_all_its_spellings():
    lines = {line.split()[0]: line for line in operator_lines(BUILT_IN.values())[1:]}
    assert set(lines) == set(BUILT_IN)
    assert all(sign in lines[name].split() for sign, name in SPELLINGS.items())
