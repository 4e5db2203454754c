"""The elementary functions against mpmath in 150 bits, and at the edges of their domains."""

import mpmath
import numpy as np
import pytest

from spl.kernels.programs import vector_math
from spl.kernels.runtime.compiler import kernel

N = 200
NAMES = [
    "sine", "cosine", "tangent", "exponential", "logarithm", "arcsine", "arccosine", "arctangent",
    "hyperbolic_sine", "hyperbolic_cosine", "hyperbolic_tangent", "cube_root",
]  # fmt: skip


def over_rows(function):
    """Return the function of whole arrays that a row of values goes through."""

    @kernel
    def apply(x):
        for j in range(x.size):
            x[j] = function(x[j])

    def on_copy(values):
        x = np.array(values, dtype=float)
        with np.errstate(all="ignore"):
            apply(x)
        return x

    return on_copy


FUNCTIONS = {name: over_rows(getattr(vector_math, name)) for name in NAMES}


def between(low, high):
    return lambda rng: rng.uniform(low, high, N)


def sizes(low, high):
    """Return numbers of both signs and of all sizes between two powers of ten."""
    return lambda rng: 10 ** rng.uniform(low, high, N) * rng.choice([-1, 1], N)


def near_multiples(angle, n_multiples):
    return lambda rng: angle * rng.integers(1, n_multiples, N)


def errors_in_last_places(values, exact):
    """Return how many units in the last place of the exact value each value is off; 0 where both are infinite."""
    errors = []
    for value, true in zip(values, exact, strict=True):
        rounded = float(true)
        if not np.isfinite(rounded) or not np.isfinite(value):
            errors.append(0.0 if rounded == value else np.inf)
        else:
            errors.append(float(abs(mpmath.mpf(float(value)) - true) / float(np.spacing(abs(rounded)))))
    return np.array(errors)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "exact", "samples", "limit"),
    [
        ("sine", mpmath.sin, between(-10, 10), 2),
        ("sine", mpmath.sin, sizes(-320, 5), 2),
        ("sine", mpmath.sin, near_multiples(np.pi, 31_000), 2),
        ("cosine", mpmath.cos, between(-10, 10), 2),
        ("cosine", mpmath.cos, sizes(-320, 5), 2),
        ("cosine", mpmath.cos, near_multiples(np.pi / 2, 62_000), 2),
        ("tangent", mpmath.tan, between(-10, 10), 4),
        ("tangent", mpmath.tan, sizes(-300, 5), 4),
        ("tangent", mpmath.tan, near_multiples(np.pi / 2, 62_000), 4),
        ("exponential", mpmath.exp, between(-745, 709.7), 1.5),
        ("exponential", mpmath.exp, sizes(-20, 0), 1.5),
        ("logarithm", mpmath.log, lambda rng: 10 ** rng.uniform(-323, 308, N), 1.5),
        ("logarithm", mpmath.log, between(0.5, 1.5), 1.5),
        ("logarithm", mpmath.log, lambda rng: 1 + 10 ** rng.uniform(-15, -1, N), 1.5),
        ("arcsine", mpmath.asin, between(-1, 1), 3),
        ("arcsine", mpmath.asin, sizes(-320, 0), 3),
        ("arccosine", mpmath.acos, between(-1, 1), 2),
        ("arccosine", mpmath.acos, lambda rng: 1 - 10 ** rng.uniform(-15, 0, N), 2),
        ("arctangent", mpmath.atan, between(-5, 5), 2),
        ("arctangent", mpmath.atan, sizes(-320, 300), 2),
        ("hyperbolic_sine", mpmath.sinh, between(-3, 3), 3),
        ("hyperbolic_sine", mpmath.sinh, between(-710.4, 710.4), 3),
        ("hyperbolic_sine", mpmath.sinh, sizes(-320, 0), 3),
        ("hyperbolic_cosine", mpmath.cosh, between(-3, 3), 2),
        ("hyperbolic_cosine", mpmath.cosh, between(-710.4, 710.4), 2),
        ("hyperbolic_tangent", mpmath.tanh, between(-3, 3), 3),
        ("hyperbolic_tangent", mpmath.tanh, sizes(-300, 2), 3),
        ("cube_root", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), between(-10, 10), 1.5),
        ("cube_root", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), sizes(-323, 308), 1.5),
    ],
)
def test_a_function_is_off_by_a_few_last_places_at_most(name, exact, samples, limit, rng):
    x = samples(rng)
    with mpmath.workprec(150):
        true = [exact(mpmath.mpf(float(value))) for value in x]
        errors = errors_in_last_places(FUNCTIONS[name](x), true)
    worst = int(np.argmax(errors))
    assert errors[worst] <= limit, f"{name}({x[worst]!r}) is off by {errors[worst]:.2f}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nan_stays_nan(name):
    assert np.isnan(FUNCTIONS[name]([np.nan] * 9)).all()


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("sine", 0.0, 0.0),
        ("cosine", 0.0, 1.0),
        ("exponential", 0.0, 1.0),
        ("exponential", 710.0, np.inf),
        ("exponential", np.inf, np.inf),
        ("exponential", -np.inf, 0.0),
        ("exponential", -745.0, 5e-324),
        ("logarithm", 1.0, 0.0),
        ("logarithm", 0.0, np.nan),
        ("logarithm", -0.0, np.nan),
        ("logarithm", -1.0, np.nan),
        ("logarithm", -5e-324, np.nan),
        ("logarithm", -np.inf, np.nan),
        ("logarithm", np.inf, np.inf),
        ("arcsine", 1.0, np.pi / 2),
        ("arcsine", -1.0, -np.pi / 2),
        ("arcsine", 1.0000000000000002, np.nan),
        ("arcsine", np.inf, np.nan),
        ("arccosine", 1.0, 0.0),
        ("arccosine", -1.0, np.pi),
        ("arccosine", -1.0000000000000002, np.nan),
        ("arctangent", np.inf, np.pi / 2),
        ("arctangent", -np.inf, -np.pi / 2),
        ("hyperbolic_sine", 711.0, np.inf),
        ("hyperbolic_sine", -np.inf, -np.inf),
        ("hyperbolic_cosine", 0.0, 1.0),
        ("hyperbolic_cosine", -np.inf, np.inf),
        ("hyperbolic_tangent", 0.0, 0.0),
        ("hyperbolic_tangent", np.inf, 1.0),
        ("hyperbolic_tangent", -40.0, -1.0),
        ("cube_root", 0.0, 0.0),
        ("cube_root", -8.0, -2.0),
        ("cube_root", np.inf, np.inf),
        ("cube_root", -np.inf, -np.inf),
    ],
)
def test_a_function_is_exact_at_the_edges_of_its_domain(name, x, expected):
    np.testing.assert_array_equal(FUNCTIONS[name]([x] * 9), expected)


@kernel
def raise_each(a, b, out):
    for j in range(out.size):
        out[j] = vector_math.power(a[j], b[j])


@pytest.mark.parametrize(
    "base", [lambda rng: 10 ** rng.uniform(-307, 308, N), between(0.5, 2.0), between(0.999, 1.001)]
)
def test_a_power_is_off_by_two_last_places_at_most(base, rng):
    a = base(rng)
    b = rng.uniform(-745, 709, N) / np.log(a)
    out = np.empty(N)
    with np.errstate(all="ignore"):
        raise_each(a, b, out)
    with mpmath.workprec(150):
        true = [mpmath.mpf(float(x)) ** mpmath.mpf(float(y)) for x, y in zip(a, b, strict=True)]
        assert errors_in_last_places(out, true).max() <= 2


def test_powers_overflow_to_infinity_and_underflow_to_zero():
    out = np.empty(4)
    with np.errstate(all="ignore"):
        raise_each(np.array([2.0, 2.0, 0.5, 1.5]), np.array([1024.0, -1075.5, 1e9, 1e9]), out)
    np.testing.assert_array_equal(out, [np.inf, 0.0, 0.0, np.inf])
