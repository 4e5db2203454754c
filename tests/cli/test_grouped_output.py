"""What is printed of a table with groups: one law, with the numbers of each group."""

import json
import math

import numpy as np
import pytest

from spl.cli.grouped_output import GroupedResult, describe_grouped, lines_of_groups, print_grouped_result
from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.grammar import Grammar
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.groups.formula import GroupedCandidate
from spl.regression.discover import Discovery
from spl.regression.front import Front
from spl.regression.noise_choice import NoiseChoice
from spl.regression.request import RegressionRequest

WOODS = ("oak", "ash", "elm")
RATES = (1.5, 2.5, 4.0)
SHARED_ROW, OWN_ROW = 0, 1
X = np.tile(np.linspace(1.0, 3.0, 10), 3)
WOOD = Grouping.from_labels(np.repeat(WOODS, 10), "wood")
ERRORS = 0.05 * np.cos(7.0 * np.arange(30))
TARGET = np.take(RATES, WOOD.codes) * X + 0.7 + ERRORS
DATA = Dataset.from_arrays(X[:, np.newaxis], TARGET, names=["x"])


def make_candidate(text, numbers, own=()):
    words = Vocabulary(("x", *(number.name for number in own)))
    program = parse_expression(text, words).with_constants(numbers)
    values = np.take(own[0].values, WOOD.codes) * X + numbers[0] if own else numbers[0] * X
    return GroupedCandidate(program, float(np.sqrt(np.mean((values - TARGET) ** 2))), 0.0, None, tuple(own))


def make_result(chosen=OWN_ROW, rates=RATES, **more):
    own = (OwnNumber("k1", "wood", WOODS, rates),)
    front = Front((make_candidate("C*x", [3.0]), make_candidate("k1*x + C", [0.7], own)))
    found = Discovery(front, DATA.n_rows, DATA.floor, 0.5, 10, 20, "settled", ("a note",), **more)
    return GroupedResult(found, chosen, DATA, (WOOD,), "load")


def test_each_group_has_its_own_number_with_its_error():
    lines = lines_of_groups(make_result())
    assert [line.split()[:3] for line in lines[lines.index("Numbers of each group:") + 2 :]] == [
        ["oak", "1.500", "±"],
        ["ash", "2.500", "±"],
        ["elm", "4.000", "±"],
    ]


def test_shared_numbers_come_first_with_their_errors():
    lines = lines_of_groups(make_result())
    heading = lines.index("Numbers with standard errors, each in its term:")
    assert heading < lines.index("Numbers of each group:")
    assert lines[heading + 1].split()[:2] == ["0.700", "±"]


def test_a_formula_without_own_numbers_says_that_all_are_the_same():
    lines = lines_of_groups(make_result(SHARED_ROW))
    assert lines[-1] == "All numbers are the same for all groups of 'wood'."
    assert "Numbers of each group:" not in lines


def test_standard_errors_are_those_of_least_squares():
    columns = np.hstack([np.eye(3)[WOOD.codes] * X[:, np.newaxis], np.ones((30, 1))])
    left = TARGET - columns @ [*RATES, 0.7]
    variance = left @ left / (30 - 4)
    expected = np.sqrt(variance * np.diag(np.linalg.inv(columns.T @ columns)))
    [number] = describe_grouped(make_result())["own_numbers"]
    np.testing.assert_allclose(list(number["standard_errors"].values()), expected[:3], rtol=0.02)


def test_r2_is_that_of_the_chosen_formula_with_the_numbers_of_the_groups():
    total = np.sum((TARGET - TARGET.mean()) ** 2)
    assert make_result().r2 == pytest.approx(1 - np.sum(ERRORS**2) / total)
    assert make_result(SHARED_ROW).r2 == pytest.approx(1 - np.sum((3.0 * X - TARGET) ** 2) / total)


def test_everything_is_printed_from_front_to_summary(capsys):
    print_grouped_result(
        make_result(noise=NoiseChoice("relative", {"relative error": 0.051}, reason="errors that grow"))
    )
    out = capsys.readouterr().out
    places = [
        out.index(part)
        for part in ("load = ", "Numbers with standard errors", "Numbers of each group:", "Noise: relative")
    ]
    assert places == sorted(places)
    assert out.splitlines()[-1].startswith("R2 ")


def test_json_has_the_law_its_numbers_and_the_front():
    described = json.loads(json.dumps(describe_grouped(make_result()), allow_nan=False))
    assert (described["target"], described["stopped"], described["notes"]) == ("load", "settled", ["a note"])
    assert described["groupings"] == [{"name": "wood", "groups": 3}]
    [number] = described["own_numbers"]
    assert (number["name"], number["values"]) == ("k1", dict(zip(WOODS, RATES, strict=True)))
    assert [row["equation"] for row in described["front"]] == ["3*x", described["equation"]]
    [shared] = described["numbers"]
    assert shared["value"] == 0.7


def test_the_number_of_a_group_without_rows_is_unknown_in_text_and_null_in_json():
    result = make_result()
    birch = OwnNumber("k1", "wood", (*WOODS, "birch"), (*RATES, math.nan))
    wide = Grouping("wood", birch.labels, WOOD.codes)
    candidate = make_candidate("k1*x + C", [0.7], (birch,))
    front = Front((result.found.front[SHARED_ROW], candidate))
    found = Discovery(front, DATA.n_rows, DATA.floor, 0.5, 10, 20, "settled")
    result = GroupedResult(found, OWN_ROW, DATA, (wide,), "load")
    assert lines_of_groups(result)[-1].split() == ["birch", "?"]
    [number] = describe_grouped(result)["own_numbers"]
    assert (number["values"]["birch"], number["standard_errors"]["birch"]) == (None, None)


def test_numbers_of_the_grammar_are_those_of_the_request():
    request = RegressionRequest(
        DATA, Grammar.from_text("f -> f + f | C * f | x | 9.81"), target="load", seed=7, groupings=(WOOD,)
    )
    result = GroupedResult.of(make_result().found, OWN_ROW, request)
    assert result.given == (9.81,)
    assert (result.target, result.groupings) == ("load", (WOOD,))
