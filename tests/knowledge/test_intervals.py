"""Bounds must hold the values and derivatives at all points of a box: compared with random points of random boxes."""

import numpy as np
import pytest
from tests.program_twins import WORDS, draw_programs, read, twin_values

from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.knowledge.intervals import Interval, IntervalArithmetic, whole
from spl.knowledge.proofs import bound
from spl.knowledge.values import derivatives_at

N_BOXES, N_INSIDE = 40, 30


def draw_boxes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = (len(WORDS.variables), N_BOXES)
    low = rng.uniform(-2, 2, shape) * 10.0 ** rng.uniform(-2, 0.5, shape)
    return low, low + 10.0 ** rng.uniform(-4, 0.7, shape)


def holds(found: Interval, values: np.ndarray) -> np.ndarray:
    """Return whether intervals [M] hold values [M]; an interval that says nothing holds everything."""
    is_vague = np.isnan(found.low) | np.isnan(found.high)
    return is_vague | ((found.low <= values) & (values <= found.high))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_bounds_hold_values_and_derivatives_at_random_points(order):
    n_sharp = 0
    for seed, program in enumerate(draw_programs(120, seed=3)):
        low, high = draw_boxes(seed)
        found = bound(program, low, high, 0, order)
        n_sharp += int(np.isfinite(found.low).sum())
        rng = np.random.default_rng(seed)
        for _ in range(N_INSIDE):
            inside = low + (high - low) * rng.uniform(size=low.shape)
            with np.errstate(all="ignore"):
                parts = np.array(twin_values(program, inside.astype(np.longdouble)))
                exact = parts[-1].astype(float)
                values = exact if order == 0 else derivatives_at(program, inside, 0, order)
                margin = 1e-9 * np.abs(values)  # derivatives in plain numbers are rounded themselves
                is_held = holds(Interval(found.low - margin, found.high + margin), values)
            assert (is_held | ~np.isfinite(values)).all(), program
            # A box in which the program is undefined somewhere, because its parts do not only overflow, must not have bounds
            is_undefined = np.isnan(exact) & ~np.isinf(parts).any(axis=0)
            assert not (np.isfinite(found.low) & np.isfinite(found.high) & is_undefined).any(), program
    assert n_sharp > 500


def test_an_expression_that_is_undefined_in_a_part_of_a_box_has_no_bounds():
    low, high = np.array([[-1.0]] * 3), np.array([[1.0]] * 3)
    for text in ("sqrt(x)", "log(x)", "1/x", "asin(2*x)", "x**0.5", "tan(2*x)", "abs(log(x))"):
        found = bound(read(text), low, high)
        assert np.isnan(found.low[0]), text


def test_bounds_are_sharp_where_each_column_appears_once():
    low, high = np.array([[1.0], [2.0], [0.0]]), np.array([[3.0], [5.0], [1.0]])
    cases = {
        "x*y": (2, 15),
        "x - y": (-4, 1),
        "x/y": (0.2, 1.5),
        "(x - 2)**2": (0, 1),
        "sin(x)": (np.sin(3), 1),
        "max(x, y)": (2, 5),
    }
    for text, ends in cases.items():
        found = bound(read(text), low, high)
        assert (found.low[0], found.high[0]) == pytest.approx(ends, abs=1e-9), text


def test_infinite_intervals_bound_what_happens_far_away():
    far = Interval(np.array([1e6]), np.array([np.inf]))
    arithmetic = IntervalArithmetic()
    with np.errstate(all="ignore"):
        one = arithmetic.constant(1.0, far)
        assert arithmetic.div(one, far).high[0] < 1.1e-6
        assert arithmetic.apply(tk.EXP, arithmetic.scale(far, -1.0)).high[0] < 1e-300
        difference = arithmetic.sub(far, far)
        assert (difference.low[0], difference.high[0]) == (-np.inf, np.inf)
        assert arithmetic.mul(far, arithmetic.div(one, far)).high[0] == np.inf


def test_a_zero_times_anything_is_zero_unless_it_is_undefined():
    zero = Interval(np.zeros(1), np.zeros(1))
    undefined = Interval(np.full(1, np.nan), np.full(1, np.nan))
    with np.errstate(all="ignore"):
        product = IntervalArithmetic().mul(zero, whole(np.zeros(1)))
        assert np.isnan(IntervalArithmetic().mul(zero, undefined).low[0])
    assert (product.low[0], product.high[0]) == (0.0, 0.0)


def test_a_kink_hides_the_second_derivative_but_not_the_first():
    program: Program = read("abs(x)")
    low, high = np.array([[-1.0]] * 3), np.array([[1.0]] * 3)
    slope, bend = (bound(program, low, high, 0, order) for order in (1, 2))
    assert (slope.low[0], slope.high[0]) == pytest.approx((-1.0, 1.0))
    assert (bend.low[0], bend.high[0]) == (-np.inf, np.inf)
