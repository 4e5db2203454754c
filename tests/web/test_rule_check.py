"""Rules are explained as the user types; a mistake has a place."""

import pytest

from spl.web.rule_check import check_form, check_rules


def test_right_rules_are_explained():
    answer = check_rules("f -> f + f | C * x", ["x", "y"])
    assert answer["is_right"]
    assert "shortest" in answer["explanation"]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("f -> x\n  | sine(x)", 2, 5, "There is no operator 'sine'. Did you mean 'sin'?"),
        ("f -> x | (x", 1, 10, "never closed|cannot be read"),
        ("f -> x |", 1, 9, "An alternative of 'f' is empty"),
        ("f -> z", 1, 6, "There is no variable 'z'"),
        ("x + x", 1, 1, "There is no `->`"),
        ("f => x", 1, 3, "The arrow of a rule is `->`, not `=>`. Write `f -> x`."),
    ],
)
def test_a_mistake_is_told_with_its_place(text, line, column, message):
    import re

    answer = check_rules(text, ["x"])
    assert not answer["is_right"]
    assert (answer["line"], answer["column"]) == (line, column)
    assert re.search(message, answer["message"])
    assert "\n" not in answer["message"]


@pytest.mark.parametrize("text", ["", "  \n", "f -> f", "f -> x\ng -> x"])
def test_a_mistake_in_no_single_place_is_told_without_one(text):
    answer = check_rules(text, ["x"])
    assert not answer["is_right"]
    assert answer["line"] is None
    assert answer["message"]


def test_a_form_is_checked_as_rules_are():
    assert check_form("a(x)*exp(-b(x)) + C", ["x"])["explanation"] == "Unknown parts: a(x), b(x). Numbers: 1."
    assert check_form("C*x", ["x"])["explanation"] == "Unknown parts: none, so only numbers are fitted. Numbers: 1."
    assert check_form(" ", ["x"]) == {"is_right": True, "explanation": ""}
    wrong = check_form("2 + a(z)", ["x"])
    assert (wrong["is_right"], wrong["line"], wrong["column"]) == (False, 1, 5)
    assert wrong["message"].startswith("Hole 'a' uses a column 'z'")
