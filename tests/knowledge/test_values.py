import numpy as np
import pytest
from tests.program_twins import positive_columns, read, twin_values

from spl.knowledge.values import exchange_columns, is_smooth, turn_column, uses_column, values_at


@pytest.mark.parametrize(
    ("text", "expected"),
    [("sin(x)*y", True), ("x**3", True), ("abs(x)", False), ("x**-2", False), ("x/y", False), ("max(x, y)", False)],
)
def test_a_formula_with_kinks_jumps_or_poles_is_not_smooth(text, expected):
    assert is_smooth(read(text)) == expected


def test_columns_are_exchanged_and_turned():
    columns = positive_columns()
    x, y, *_ = columns
    program = read("x**2 - 3*y + x")
    assert values_at(exchange_columns(program, 0, 1), columns) == pytest.approx(y**2 - 3 * x + y)
    assert values_at(turn_column(program, 0), columns) == pytest.approx(x**2 - 3 * y - x)
    assert uses_column(program, 1)
    assert not uses_column(program, 2)


def test_what_is_undefined_or_infinite_has_no_value():
    program = read("1/(x - 1) + log(y)")
    columns = np.array([[1.0, 2.0, 3.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0]])
    assert np.isnan(values_at(program, columns)).tolist() == [True, True, False]
    assert values_at(program, columns)[2] == twin_values(program, columns[:, 2:])[-1][0]
