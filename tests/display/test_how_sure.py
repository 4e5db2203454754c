"""How sure a formula is, in words that say neither more nor less than is known."""

from dataclasses import replace

import numpy as np
import pytest

from spl.display.how_sure import check_name, describe_checks, doubtful_lines, how_sure_words
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.held_out import HeldOutVerdict
from spl.regression.how_sure import HowSure
from spl.regression.residual_checks import ResidualCheck
from spl.regression.rivals import NOT_KEPT, Rival
from spl.regression.uncertainty import KnownNumber

FINE = ResidualCheck("order", "", 0.4, False, "Fine.")
DRIFT = replace(FINE, chance=0.001, is_doubtful=True, words="Something drifted.")
SLOPE = KnownNumber(5.38113, 0.09, 5.19, 5.57, "fitted", "", "", "[5.38113]*x")
OFFSET = KnownNumber(1.4, 0.2, 1.0, 1.8, "fitted", "", "", "x + [1.4]")
EXACT = KnownNumber(2.0, np.nan, 2.0, 2.0, "exact", "2", "", "x**[2]")
RIVAL = Rival(Candidate(parse_expression("3*x", Vocabulary(("x",))), 0.2), 1.0, 0.25, (1.0,), 2.0)
VERDICT = HeldOutVerdict(20, (0.1,), 1.2, 0, 0.1, 0.001)


def words(**changes):
    parts = {
        "numbers": (SLOPE, OFFSET),
        "rivals": (RIVAL,),
        "checks": (FINE,) * 4,
        "unchecked": "",
        "held_out": None,
        "loss_on_held_out": None,
    }
    return how_sure_words(HowSure(**parts | changes))


def test_there_is_a_sentence_for_each_kind_of_doubt():
    assert words() == [
        "Its least certain number is 1.4 in x + [1.4], with a 95 % interval from 1.00 to 1.80.",
        "1 other formula describes the data nearly as well (within 6 nats). Of the weight of all of them, this formula has 75 %.",
        "Its residuals look like noise in all 4 checks.",
    ]


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((EXACT,), "No number of the formula was estimated from the data."),
        ((EXACT, SLOPE), "Its number is 5.38113 in [5.38113]*x, with a 95 % interval from 5.190 to 5.570."),
        (
            (SLOPE, replace(OFFSET, standard_error=np.inf)),
            "The data does not determine 1 of its 2 numbers: x + [1.4].",
        ),
        ((replace(SLOPE, standard_error=1e-9),), "The data determines all its numbers to better than 1e-06 of ..."),
    ],
)
def test_numbers_are_described_by_the_least_certain_one(numbers, sentence):
    assert words(numbers=numbers)[0].startswith(sentence.removesuffix("..."))


def test_no_rivals_and_none_that_were_kept_are_different_things():
    assert words(rivals=())[1].startswith("No other formula that was met")
    assert words(rivals=None)[1] == NOT_KEPT


def test_rivals_that_the_data_favours_are_counted():
    better = replace(RIVAL, nats=-1.5, weight=0.7)
    assert words(rivals=(better, RIVAL))[1].endswith(
        "this formula has 5 %. The data favours 1 of them, but the choice is more careful with fitted numbers."
    )


def test_a_number_of_zero_is_as_uncertain_as_its_error():
    zero = KnownNumber(0.0, 0.15, -0.38, 0.21, "rounded", "0", "", "[0]")
    assert words(numbers=(zero,))[0] == "Its number is 0 in [0], with a 95 % interval from -0.38 to 0.21."


def test_doubtful_checks_are_named():
    column = replace(DRIFT, name="column", column="dose")
    sentence = words(checks=(FINE, DRIFT, column))[2]
    assert sentence == "2 of 3 checks of its residuals are doubtful: trend along the rows, dependence on dose."


def test_residuals_that_are_not_checked_have_a_reason():
    assert (
        words(checks=(), unchecked="there are only 5 rows")[2]
        == "Its residuals are not checked: there are only 5 rows."
    )


@pytest.mark.parametrize(
    ("verdict", "loss", "parts"),
    [
        (VERDICT, 0.1, ("On 20 rows that the search never saw, its loss is 0.1;", "these rows better than a constant")),
        (replace(VERDICT, chance=0.4), 0.1, ("no better than a constant and chance do (chance 0.4)",)),
        (VERDICT, np.inf, ("it has no value on some of them; that of a constant is 1.2",)),
    ],
)
def test_held_out_rows_speak_for_or_against_the_front(verdict, loss, parts):
    sentence = words(held_out=verdict, loss_on_held_out=loss)[3]
    assert all(part in sentence for part in parts)


def test_only_doubtful_checks_have_lines():
    assert doubtful_lines([FINE]) == []
    assert doubtful_lines([FINE, DRIFT]) == [
        "Doubtful residuals:",
        "  trend along the rows (chance 0.001): Something drifted.",
    ]


def test_every_check_has_a_name_for_people():
    names = [check_name(replace(FINE, name=name)) for name in ("normality", "order", "spread")]
    assert names == ["normality", "trend along the rows", "spread"]
    assert check_name(replace(FINE, name="column", column="flow rate")) == "dependence on 'flow rate'"


def test_json_has_every_check_with_plain_values():
    assert describe_checks([DRIFT]) == [
        {"check": "order", "column": None, "chance": 0.001, "doubtful": True, "words": "Something drifted."}
    ]
