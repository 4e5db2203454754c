"""Rivals as lines and JSON."""

import math
from dataclasses import replace

from spl.display.rivals import MAX_SHOWN, describe_rivals, place_text, rival_lines
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.rivals import Rival


def make_rival(difference: float = 2.5) -> Rival:
    candidate = Candidate(parse_expression("x + 2*y", Vocabulary(("x", "y"))), 0.123)
    return Rival(candidate, 1.25, 0.2, (0.5, 3.0), difference)


def test_each_rival_has_a_line_with_all_that_is_known():
    heading, names, line = rival_lines([make_rival()], ["x", "y"])
    assert heading == "1 other formula within 6 nats, which the data cannot rule out:"
    assert names.split() == ["nats", "weight", "loss", "differs", "most", "equation"]
    assert line.split() == [
        "1.2",
        "0.200",
        "0.123",
        "2.5",
        "sd",
        "at",
        "x",
        "=",
        "0.5,",
        "y",
        "=",
        "3",
        "x",
        "+",
        "2*y",
    ]


def test_many_rivals_are_cut():
    lines = rival_lines([make_rival()] * (MAX_SHOWN + 3), ["x", "y"])
    assert lines[-1] == "  ... and 3 more; --json has all."
    assert len(lines) == MAX_SHOWN + 3


def test_no_rivals_and_none_that_were_kept_are_told_apart():
    assert rival_lines([], ["x"]) == ["No other formula that was met comes within 6 nats."]
    assert rival_lines(None, ["x"])[0].startswith("No rivals were kept: ")
    assert (describe_rivals([], ["x"]), describe_rivals(None, ["x"])) == ([], None)


def test_json_has_the_place_by_column_and_no_infinity():
    [described] = describe_rivals([make_rival(math.inf)], ["x", "y"])
    assert described["place"] == {"x": 0.5, "y": 3.0}
    assert described["difference"] is None
    assert (described["nats"], described["equation"]) == (1.25, "x + 2*y")


def test_the_place_can_be_told_in_the_columns_that_one_of_the_two_formulas_uses():
    words = Vocabulary(("x", "y", "z"))
    rival = Rival(Candidate(parse_expression("x", words), 0.1), 1.0, 0.2, (0.5, 3.0, 7.0), 2.5)
    assert place_text(rival, words.variables) == "2.5 sd at x = 0.5, y = 3, z = 7"
    assert place_text(rival, words.variables, parse_expression("z", words)) == "2.5 sd at x = 0.5, z = 7"
    flat = replace(rival, candidate=Candidate(parse_expression("2", words), 0.1))
    assert place_text(flat, words.variables, parse_expression("3", words)) == "2.5 sd everywhere"


def test_places_have_no_named_constants_which_come_after_the_columns():
    assert place_text(make_rival(), ["x"], make_rival().candidate.program) == "2.5 sd at x = 0.5"
    assert describe_rivals([make_rival()], ["x"])[0]["place"] == {"x": 0.5}
