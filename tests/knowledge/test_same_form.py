import numpy as np
import pytest
from tests.program_twins import draw_programs, positive_columns, read

from spl.knowledge.same_form import compare_forms
from spl.knowledge.values import exchange_columns, turn_column, values_at


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("x + y", "y + x", 1),
        ("x - y", "y - x", -1),
        ("x*y/2", "y*x/2", 1),
        ("x/y", "1/(y/x)", 1),
        ("cos(x - y)", "cos(y - x)", 1),
        ("sin(x - y)", "sin(y - x)", -1),
        ("(x - y)**2", "(y - x)**2", 1),
        ("(x - y)**3", "(y - x)**3", -1),
        ("x*x", "x**2", 1),
        ("exp(-x)", "exp(x)", 0),
        ("max(x, y)", "max(y, x)", 1),
        ("x**y", "y**x", 0),
        ("x + 1", "x + 2", 0),
    ],
)
def test_formulas_are_compared_by_the_rules_of_algebra(one, other, sign):
    assert compare_forms(read(one), read(other)) == sign


def test_formulas_that_are_the_same_have_the_same_values():
    columns = positive_columns()
    columns = np.hstack([columns, -columns])
    same = [
        (sign, program, changed)
        for program in draw_programs(200, seed=7)
        for changed in (turn_column(program, 0), exchange_columns(program, 0, 1))
        if (sign := compare_forms(program, changed))
    ]
    assert len(same) > 50
    for sign, program, changed in same:
        values, others = values_at(program, columns), sign * values_at(changed, columns)
        np.testing.assert_allclose(values, others, rtol=1e-9, err_msg=repr(program))
