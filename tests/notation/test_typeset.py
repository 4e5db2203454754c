"""Formulas on a terminal."""

import pytest
from rich.cells import cell_len

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.typeset import TerminalNotation, typeset

WORDS = Vocabulary(("x", "y", "温度", "a\tb"))


def lines(text, **options):
    return typeset(parse_expression(text, WORDS), **options)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2*x**2 - y**-3", ["2·x² - y⁻³"]),
        ("sqrt(x) + cbrt(x + 1)", ["√x + ∛(x + 1)"]),
        ("1e-12*x", ["10⁻¹²·x"]),
        ("abs(x)", ["|x|"]),
        ("x/(1 + y)", ["  x", "─────", "1 + y"]),
        ("(x/y)**2", ["⎛x⎞²", "⎜─⎟", "⎝y⎠"]),
        ("exp(-x)", [" -x", "e"]),
        ("x**y", [" y", "x"]),
        ("abs(x/y)", ["│x│", "│─│", "│y│"]),
        ("min(x, -y)", ["min(x, -y)"]),
        ("1/(x/y)", [" 1", "───", " x", " ─", " y"]),
    ],
)
def test_a_formula_is_set_in_lines(text, shown):
    assert lines(text) == shown


def test_the_left_hand_side_stands_on_the_line_of_writing():
    assert lines("x/y + 1", left="z") == ["    x", "z = ─ + 1", "    y"]


@pytest.mark.parametrize("options", [{"width": 10}, {"height": 2}])
def test_without_room_a_formula_is_one_line_as_it_is_typed(options):
    assert lines("x/(1 + y + x)", left="z", **options) == ["z = x/(1 + y + x)"]


def test_wide_letters_do_not_shift_what_stands_beside_them():
    above, line, below = lines("温度/(1 + 温度)")
    assert cell_len(line) == cell_len(below) == 8
    assert above == "  温度"


def test_signs_that_would_move_the_cursor_are_blanks():
    assert lines("'a\tb' + 1") == ["a b + 1"]


def test_all_lines_of_a_box_are_equally_wide():
    notation = TerminalNotation()
    box = notation.bracket(notation.fraction(notation.name("x + 温度"), notation.word("2")))
    assert len({cell_len(line) for line in box.lines}) == 1
