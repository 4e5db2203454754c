"""Where a formula has no value: every row is counted, and the part that leaves its domain is named."""

import numpy as np
import pytest
from tests.own_operators import ROOT

from spl.formulas.operators import BUILT_IN
from spl.formulas.program import Program, Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.regression.domain import explain_undefined, explain_undefined_system
from spl.regression.fit import evaluate

WORDS = Vocabulary(("x", "y"), own=(ROOT,))
COLUMNS = np.array([[1.0, -1.0, 0.0, 2.0, 800.0], [1.0, 0.0, -4.0, 3.0, 0.5]])


def explain(text, columns=COLUMNS, **options):
    return explain_undefined(parse_expression(text, WORDS), columns, **options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("log(x)", "log(x) has no value where x <= 0: 2 of 5 rows, the first is row 1 (counted from 0)."),
        ("y + 3 * sqrt(x)", "sqrt(x) has no value where x < 0: 1 of 5 rows, the first is row 1 (counted from 0)."),
        ("x / y", "x/y has no value where y is 0: 1 of 5 rows, the first is row 1 (counted from 0)."),
        ("1 / x", "1/x has no value where x is 0: 1 of 5 rows, the first is row 2 (counted from 0)."),
        ("x**-3", "x**-3 has no value where x is 0: 1 of 5 rows, the first is row 2 (counted from 0)."),
        ("x**1.5", "x**1.5 has no value where x < 0: 1 of 5 rows, the first is row 1 (counted from 0)."),
        ("asin(y)", "asin(y) has no value where abs(y) > 1: 2 of 5 rows, the first is row 2 (counted from 0)."),
        ("exp(x)", "exp(x) is too large for a number: 1 of 5 rows, the first is row 4 (counted from 0)."),
        ("root(x)", "root(x) has no value, for example where x = 1: 4 of 5 rows, the first is row 0 (counted from 0)."),
        (
            "sqrt(log(x + 1.5) - y) / x",
            "sqrt(log(x + 1.5) - y) has no value where log(x + 1.5) - y < 0: 3 of 5 rows, the first is row 0 (counted "
            "from 0); sqrt(log(x + 1.5) - y)/x has no value where x is 0: 1 of 5 rows, the first is row 2 (counted from 0).",
        ),
    ],
)
def test_the_innermost_part_without_a_value_is_named_with_its_rows(text, words):
    assert explain(text) == words


def test_a_formula_with_a_value_on_all_rows_needs_no_words():
    assert explain("x + y") == ""


def test_a_part_that_overflows_without_harm_is_not_blamed():
    assert explain("1 / exp(x) + log(y)").startswith("log(y) has no value where y <= 0: 2 of 5 rows")


def test_a_value_that_is_missing_in_the_data_is_blamed_on_its_column():
    columns = np.array([[1.0, np.nan, np.inf], [1.0, 1.0, 1.0]])
    assert explain("log(x) + y", columns, has_places=False) == "x is infinite: 1 of 3 rows; x is missing: 1 of 3 rows."


def test_every_row_has_one_cause():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2, 500))
    words = explain("log(x) + sqrt(y) + asin(x + y)", columns, has_places=False)
    counts = [int(part.split(" of ")[0].split()[-1]) for part in words.split("; ")]
    n_undefined = np.sum(~np.isfinite(evaluate(parse_expression("log(x) + sqrt(y) + asin(x + y)", WORDS), columns)))
    assert sum(counts) == n_undefined > 0


def test_few_causes_are_told_and_the_others_counted():
    columns = np.array([[-1.0, 1.0, 1.0, 1.0, 1.0], [5.0, 5.0, 0.0, -1.0, 1.0]])
    words = explain("sqrt(x) + asin(y - 1) + 1/y + log(y) + 1/(y - 1)", columns)
    assert words.endswith("; and 1 more causes.")


def test_a_long_part_is_cut():
    long = " + ".join(["x * y"] * 40)
    assert len(explain(f"log({long})")) < 250


@pytest.mark.parametrize("row", BUILT_IN.values(), ids=lambda row: row.name)
def test_where_a_built_in_operator_has_no_value_the_words_say_when(row):
    grid = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5])
    columns = np.array(np.meshgrid(grid, grid)).reshape(2, -1)
    leaves = tuple(WORDS.variable_token(name) for name in ("x", "y")[: row.arity])
    assert "for example" not in explain_undefined(Program((row.opcode, *leaves), WORDS), columns)


def test_the_equations_of_a_system_are_told_apart():
    words = Vocabulary(("x", "y"))
    system = System(("x", "y"), (), (parse_expression("x", words), parse_expression("log(x)", words)))
    assert explain_undefined_system(system, COLUMNS, has_places=False) == (
        "Equation of y: log(x) has no value where x <= 0: 2 of 5 rows."
    )
