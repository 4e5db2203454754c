"""A function that cannot be a loss is refused when the loss is made, with its name and the reason."""

import numpy as np
import pytest

from spl import Loss
from spl.errors import LossError

FACTORS = [2.0]


def print_it(y, f):
    print(y)
    return abs(f - y)


def fail(y, f):
    raise RuntimeError("not today")


def fail_far_away(y, f):
    if f > 50:
        raise ValueError("f is too large")
    return abs(f - y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fail, "Loss 'odd' does not work: for 0.5 and 2.0 it raises RuntimeError: not today."),
        (fail_far_away, "Loss 'odd' must be finite .* for y = 1.7 and f = 97 it raises ValueError: f is too large."),
        (lambda y, f: 1 / (f - y), "must be finite .*; for y = 1.7 and f = 1.7 it raises ZeroDivisionError"),
        (lambda y, f: np.log(np.abs(f - y)), "must be finite .*; for y = 1.7 and f = 1.7 it is -inf."),
        (lambda y, f: np.sqrt(y - f), "must be finite .*; for y = 1.7 and f = 8.9 it is nan."),
        (
            lambda y, f: np.exp(100 * abs(f - y)),
            "must be finite .*; for y = 1.7 and f = 8.9 it is inf.|raises Overflow",
        ),
        (
            lambda y, f: (f - y - 0.01) ** 2,
            "must be lowest at f = y; for y = 1.7 it is 0.0001 at f = 1.7, but .* at f = 1.7017",
        ),
        (lambda y, f: -abs(f - y), "must be lowest at f = y; for y = 1.7 it is -?0 at f = 1.7, but"),
        (lambda y, f: f, "must be lowest at f = y; for y = 1.7 it is 1.7 at f = 1.7, but 1.6983 at f = 1.6983"),
        (lambda y, f: (f - y) ** 2 / f, "must be lowest at f = y; for y = 1.7 .* at f = -1.7"),
        (lambda y, f: 0.0, "must rise as f moves away from y; it stays the same for any f above y."),
        (lambda y, f: max(f - y, 0.0), "must rise as f moves away from y; it stays the same for any f below y."),
        (lambda y, f: np.max(np.abs(f - y)), "Loss 'odd' gives a number a different value .* nothing like a mean over"),
        (lambda y, f: (f - y) ** 2 / np.var(y), "Loss 'odd' gives a number a different value"),
        (lambda y, f: np.sum(np.abs(f - y)), "Loss 'odd' gives a number a different value"),
        (lambda r: r * r, "Loss 'odd' does not work: .* takes 1 positional argument but 2 were given."),
        (lambda y, f: "large", "Loss 'odd' must return a number; for 0.5 and 2.0 it returns 'large', of type str."),
        (lambda y, f: None, "Loss 'odd' must return a number; for 0.5 and 2.0 it returns None"),
        (lambda y, f: [f - y], "Loss 'odd' must return a number"),
        (lambda y, f: FACTORS[0] * abs(f - y), r"Loss 'odd' cannot be compiled: it uses `FACTORS` \(list\)"),
        (lambda y, f: abs(f - y) * np.random.random(), "Loss 'odd' gives different values for the same"),  # noqa: NPY002
        (print_it, "Loss 'odd' prints; a search calls it millions of times. Leave out the print."),
    ],
)
def test_a_function_that_cannot_be_a_loss_is_refused(function, message):
    with pytest.raises(LossError, match=message):
        Loss("odd", function)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", abs), "The name of a loss must be a word or two; got ''."),
        ((3, abs), "The name of a loss must be a word or two; got 3."),
        (("two\nlines", abs), "The name of a loss must be a word or two"),
        (("n" * 41, abs), "The name of a loss may have up to 40 characters; .* has 41."),
        (
            ("odd", "abs(f - y)"),
            r"The function of loss 'odd' must be a Python function of y and f; got 'abs\(f - y\)'.",
        ),
        (("odd", abs, 2.0), "The slope of loss 'odd' must be a Python function of y and f; got 2.0."),
    ],
)
def test_other_arguments_are_refused(arguments, message):
    with pytest.raises(LossError, match=message):
        Loss(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slope", "message"),
    [
        (
            lambda y, f: f - y,
            "slope of loss 'odd' is -1.39 for y = 1.7 and f = 0.31, but there the loss rises by -2.78 per unit",
        ),
        (lambda y, f: 2 * (y - f), "Give its derivative by f, or leave the slope out."),
        (lambda y, f: np.nan, "The slope of loss 'odd' is nan"),
        (lambda y, f: FACTORS, "The slope of loss 'odd' must return a number"),
        (lambda y, f: f - np.mean(y), "The slope of loss 'odd' gives a number a different value"),
    ],
)
def test_a_slope_that_contradicts_the_loss_is_refused(slope, message):
    with pytest.raises(LossError, match=message):
        Loss("odd", lambda y, f: (f - y) ** 2, slope)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 1.39, 7.2])  # differences of the numbers that are tried
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_slope_at_a_kink_is_any_between_both_sides(shift, offset):
    loss = Loss(
        "insensitive",
        lambda y, f: offset + max(abs(f - y) - shift, 0.0),
        lambda y, f: np.sign(f - y) * (abs(f - y) > shift),
    )
    assert loss.slopes([1.0], [20.0]).tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        lambda y, f: y * np.log(y / f) - y + f,
        lambda y, f: np.log(f / y) + y / f,
        lambda y, f: (f - y) ** 2 / y,
        lambda y, f: y * y - 2 * y * f + f * f,
        lambda y, f: np.exp(f - y) - (f - y),
        lambda y, f: 1 - np.cos(f - y),
        lambda y, f: max(abs(f - y) - 5000.0, 0.0),
        lambda y, f: 1e6 + 1e-6 * abs(f - y),
        lambda y, f: abs(f - y) ** 0.1,
    ],
)
def test_unusual_losses_are_taken(function):
    assert Loss("unusual", function).values([2.0], [2.0]) == function(2.0, 2.0)
