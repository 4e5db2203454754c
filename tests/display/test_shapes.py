import math

from spl.display.shapes import describe_margin, describe_shapes, shape_lines
from spl.knowledge.knowledge import Verdict

PROVED = Verdict("f > 0", "proved", 0.25, (("x", 2.0), ("flow rate", 1.0)))


def test_each_statement_has_a_line_below_a_heading():
    lines = shape_lines([PROVED, Verdict("f(x=0) = 0", "checked", 0.0, ())])
    assert lines == [
        "Statements:",
        "  f > 0       proved   margin 0.25 at x = 2, 'flow rate' = 1",
        "  f(x=0) = 0  checked  exact",
    ]
    assert shape_lines([]) == []


def test_a_place_with_many_columns_is_cut():
    where = tuple((f"x{k}", 1.0) for k in range(9))
    assert describe_margin(Verdict("f > 0", "checked", 1.0, where)).endswith("x3 = 1, ...")


def test_what_is_undefined_is_null_in_json():
    verdict = Verdict("f > 0", "broken", math.nan, (("x", 0.0),))
    assert describe_margin(verdict) == "undefined at x = 0"
    assert describe_shapes([verdict])[0]["margin"] is None
