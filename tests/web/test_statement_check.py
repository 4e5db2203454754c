"""Statements about a law are checked as the user types; a mistake has a place."""

import pytest

from spl.knowledge.knowledge import MAX_STATEMENTS
from spl.web.statement_check import check_statements, split_statements


def test_right_statements_are_counted():
    answer = check_statements("f > 0\n\n  V -> 0 as t -> inf\n", ["t"], "V")
    assert answer == {"is_right": True, "explanation": "2 statements"}
    assert check_statements("", ["t"], "V") == {"is_right": True, "explanation": ""}


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("f > 0\nincreasing in T", 2, 15, "Did you mean 't'?"),
        ("  increasing t", 1, 14, "Write `increasing in x`"),
        ("positive", 1, 1, "Write, for example, `f > 0`"),
    ],
)
def test_a_mistake_is_told_with_its_place(text, line, column, message):
    answer = check_statements(text, ["t"], "V")
    assert not answer["is_right"]
    assert (answer["line"], answer["column"]) == (line, column)
    assert message in answer["message"]


def test_too_many_statements_are_refused():
    answer = check_statements("f > 0\n" * (MAX_STATEMENTS + 1), ["t"], "V")
    assert not answer["is_right"]


def test_lines_become_statements():
    assert split_statements(" f > 0 \r\n\n even in t") == ("f > 0", "even in t")
