import numpy as np
import pytest

from spl.bench.fall_law import FallSearch, can_fall, prediction_error, search_falls, training_points
from spl.datasets import Drop
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate

T = np.linspace(0, 3, 46)


def make_drop(height, ball="Golf Ball", number=1):
    return Drop(ball, number, T, height)


def make_law(text):
    return numbers_to_constants(parse_expression(text, Vocabulary(("t",))), kept=(1.0,), has_factors=False)


LINE, PARABOLA, CUBIC = make_law("48 - 3*t"), make_law("48 - 3*t**2"), make_law("48 - 3*t**2 + 0.5*t**3")


# ---- which law -----------------------------------------------------------------------------------


def test_the_true_law_predicts_best():
    drops = [make_drop(48 - rate * T**2) for rate in (2.0, 4.5)]
    assert prediction_error(PARABOLA, drops) < 1e-6 < prediction_error(LINE, drops)


def test_only_the_training_range_decides():
    falls = 48 - 4.5 * T**2
    changed = np.where(T > 2.0, 0.0, falls)
    assert prediction_error(CUBIC, [make_drop(falls)]) == prediction_error(CUBIC, [make_drop(changed)])
    assert training_points(make_drop(falls)).columns.max() <= 2.0


def test_a_law_that_leaves_its_domain_is_worse_than_any_other():
    assert prediction_error(make_law("log(1 - t)"), [make_drop(48 - T**2)]) == np.inf


def test_a_ball_that_cannot_fall_after_the_best_law_takes_the_next():
    search = FallSearch((CUBIC, PARABOLA), {}, {})
    slowing = make_drop(48 - 4.5 * T**2 + 0.7 * T**3)  # it would rise again
    falling = make_drop(48 - 4.5 * T**2 + 0.1 * T**3)
    assert "t**3" not in to_text(search.choose(slowing))
    assert "t**3" in to_text(search.choose(falling))


def test_a_ball_for_which_no_law_is_possible_has_the_best_one_with_its_own_numbers():
    rising = make_drop(30 + 2 * T)
    chosen = FallSearch((LINE, PARABOLA), {}, {}).choose(rising)
    assert np.allclose(evaluate(chosen, T[None]), rising.height_m)


def test_searches_on_all_drops_give_one_law_with_numbers_of_each():
    drops = [make_drop(50 - 4.5 * T**2, "Golf Ball"), make_drop(40 - 3.5 * T**2, "Volleyball", 2)]
    search = search_falls(drops, "drag", seed=0, timeout=2.0)
    assert set(search.seconds) == set(search.n_evaluations) == {("Golf Ball", 1), ("Volleyball", 2)}
    for drop in drops:
        assert np.allclose(evaluate(search.choose(drop), T[None]), drop.height_m, atol=1e-5)


# ---- what a falling ball can do ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("height", "expected"),
    [
        (48 - 4.9 * T**2, True),
        (48 + 0.5 * T - 4.9 * T**2, True),
        (48 - 100 * np.log(np.cosh(0.3 * T)), True),
        (48 - 9 * T**2, False),  # pulled more than by gravity
        (48 - 4.9 * T**2 + T**3, False),  # slows down
        (48 + 9 * T - T**2, False),  # still rises in the second half
        (np.where(T > 2, np.nan, 48 - T**2), False),
    ],
)
def test_a_fall_is_pulled_down_but_never_more_than_by_gravity(height, expected):
    assert can_fall(T, height) is expected
