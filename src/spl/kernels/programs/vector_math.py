"""Elementary functions of one number, written so that a loop over them becomes vector instructions.

numba from PyPI has no vector math library: `np.sin` in a loop is one call of the C library per sample. The functions here are plain
arithmetic and bit operations without branches (a conditional expression of two computed values is no branch), so the compiler turns
loops over them into vector code, 2 to 8 times as fast. Each gives NaN for NaN and outside its domain. Largest errors measured, in
units of the last place:

    exp, log, cbrt, atan, acos  1.1
    power, cosh                 1.4
    sin, cos                    1.8
    asin, sinh, tanh            2.3
    tan                         3.2

Sums of products may be contracted here, but not rearranged. `sine`, `cosine` and `tangent` are valid up to `TRIG_LIMIT`, `power` where
`is_plain_power`; `rows` takes the rest from the C library.
"""

import functools

import numpy as np

from spl.kernels.runtime.compiler import kernel

_branch_free = functools.partial(kernel, forceinline=True, fastmath={"contract"})

TRIG_LIMIT = 1e5  # up to here the multiples of the three parts of pi are exact

# Added to a number below 2**51, it rounds that to an integer, which is then in the low bits of the sum.
_ROUNDER = 1.5 * 2.0**52

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.6931471805592082  # 40 bits
_LN2_LOW = 7.371002565167799e-13

# pi in parts of 36, 36 and 53 bits
_PI_HIGH = 3.1415926535846666
_PI_MIDDLE = 5.1266883031679116e-12
_PI_LOW = 2.1125998133974855e-23
_INVERSE_PI = 0.3183098861837907
_HALF_PI = 1.5707963267948966
_HALF_PI_LOW = 6.123233995736766e-17

_SMALLEST_NORMAL = 2.2250738585072014e-308
_EXPONENT_BIAS = 1023
_MANTISSA_BITS = 52
_MANTISSA_MASK = 0x000FFFFFFFFFFFFF
_EXPONENT_MASK = 0x7FF
_TWO_52_BITS = 0x4330000000000000  # of 2.0 ** 52, whose last bits are free for an integer
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD  # of sqrt(0.5)
_ONE_MINUS_ROOT_HALF_BITS = 0x3FF0000000000000 - 0x3FE6A09E667F3BCD
_ONE_BITS = 0x3FF0000000000000
_HIGH_MASK = np.int64(-(2**32))
_LN2 = 0.6931471805599453
_TWO_THIRDS_LOG2_E = 0.9617966939259756
_TWO_THIRDS_LOG2_E_HIGH = 0.9617966860532761  # 26 bits
_TWO_THIRDS_LOG2_E_LOW = 7.872699542894897e-09


@_branch_free
def bits_of(x):
    """Return the bit pattern of a number as an integer."""
    return np.float64(x).view(np.int64)


@_branch_free
def number_of(bits):
    """Return the number with that bit pattern."""
    return np.int64(bits).view(np.float64)


# Polynomials: minimax up to the rounding of their coefficients (Chebyshev interpolation in 60 digits).


@_branch_free
def _exp_tail(r):
    """Return (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2."""
    r2 = r * r
    r4 = r2 * r2
    low = (0.5000000000000001 + r * 0.16666666666666669) + r2 * (0.04166666666662404 + r * 0.008333333333330055)
    middle = (0.0013888888917258759 + r * 0.00019841269863088255) + r2 * (
        2.4801521225986432e-05 + r * 2.7557268406190795e-06
    )
    return low + r4 * (middle + r4 * (2.7620121717381933e-07 + r * 2.51004110820149e-08))


@_branch_free
def _sin_tail(z):
    """Return (sin(r) / r - 1) / z for z = r**2, |r| <= pi / 2."""
    z2 = z * z
    low = -0.0001984126984125486 + z * 2.7557319219132584e-06
    high = (-2.5052107613095433e-08 + z * 1.6058977059718268e-10) + z2 * (
        -7.643962232442654e-13 + z * 2.731344277439919e-15
    )
    return -0.16666666666666666 + z * (0.008333333333333316 + z * (low + z2 * high))


@_branch_free
def sine(x):
    """Return sin(x) for |x| <= TRIG_LIMIT: x - k pi, and the sign by whether k is odd."""
    shifted = x * _INVERSE_PI + _ROUNDER
    k = shifted - _ROUNDER
    r = ((x - k * _PI_HIGH) - k * _PI_MIDDLE) - k * _PI_LOW
    z = r * r
    value = r + r * (z * _sin_tail(z))
    return number_of(bits_of(value) ^ (bits_of(shifted) << 63))


@_branch_free
def cosine(x):
    """Return cos(x) for |x| <= TRIG_LIMIT: as the sine of x - (k - 1/2) pi, and the sign by whether k is odd."""
    shifted = (x * _INVERSE_PI + 0.5) + _ROUNDER
    k = (shifted - _ROUNDER) - 0.5
    r = ((x - k * _PI_HIGH) - k * _PI_MIDDLE) - k * _PI_LOW
    z = r * r
    value = r + r * (z * _sin_tail(z))
    return number_of(bits_of(value) ^ (bits_of(shifted) << 63))


@_branch_free
def tangent(x):
    """Return tan(x) for |x| <= TRIG_LIMIT."""
    return sine(x) / cosine(x)


@_branch_free
def _split_exponential(x, shift):
    """Return (p, f, g) with exp(x) 2**shift = (1 + p) f g, for |x| < 800.

    With x = k log(2) + r, p is exp(r) - 1, and f g = 2**(k + shift). The power of two comes in two factors, so that
    results beyond 2**-1022 and 2**1023 are right as well.
    """
    shifted = x * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    half = bits_of(k * 0.5 + _ROUNDER)
    rest = bits_of(shifted) - half
    first = number_of((half + _EXPONENT_BIAS) << _MANTISSA_BITS)
    second = number_of((rest + (_EXPONENT_BIAS + shift)) << _MANTISSA_BITS)
    return r + r * r * _exp_tail(r), first, second


@_branch_free
def exponential(x):
    """Return exp(x)."""
    y = 710.0 if x > 710.0 else x
    y = -746.0 if y < -746.0 else y
    p, first, second = _split_exponential(y, 0)
    return (1.0 + p) * first * second


@_branch_free
def hyperbolic_sine(x):
    """Return sinh(x): from (exp(|x|) - 1) / 2, and where exp(-|x|) does not matter from exp(|x|) / 2."""
    a = abs(x)
    a = 711.0 if a > 711.0 else a
    p, first, second = _split_exponential(a, -1)
    m = p * first * second + (first * second - 0.5)
    value = (1.0 + p) * first * second if a > 22.0 else m + m / (2.0 * m + 1.0)
    value = a if a < 1e-9 else value
    return -value if x < 0.0 else value


@_branch_free
def hyperbolic_cosine(x):
    """Return cosh(x)."""
    a = abs(x)
    a = 711.0 if a > 711.0 else a
    p, first, second = _split_exponential(a, -1)
    h = (1.0 + p) * first * second
    return h + 0.25 / h


@_branch_free
def hyperbolic_tangent(x):
    """Return tanh(x) = m / (m + 1) with m = (exp(2 |x|) - 1) / 2."""
    a = abs(x)
    a = 22.0 if a > 22.0 else a
    p, first, second = _split_exponential(2.0 * a, -1)
    m = p * first * second + (first * second - 0.5)
    value = m / (m + 1.0)
    return -value if x < 0.0 else value


@_branch_free
def _split_number(x):
    """Return (e, m) with x = 2**e m and sqrt(1/2) <= m < sqrt(2), for a positive normal number."""
    moved = bits_of(x) + _ONE_MINUS_ROOT_HALF_BITS
    m = number_of((moved & _MANTISSA_MASK) + _ROOT_HALF_BITS)
    e = number_of(((moved >> _MANTISSA_BITS) & _EXPONENT_MASK) | _TWO_52_BITS) - (2.0**52 + _EXPONENT_BIAS)
    return e, m


@_branch_free
def logarithm(x):
    """Return log(x), NaN for x <= 0: with x = 2**e m, e log(2) and for log(m) a series in s = (m - 1) / (m + 1)."""
    is_tiny = x < _SMALLEST_NORMAL
    e, m = _split_number(x * 2.0**54 if is_tiny else x)
    e = e - 54.0 if is_tiny else e
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    low = 0.666666666666667 + z * 0.3999999999989924
    high = (0.2857142862609589 + z * 0.2222221111514416) + z2 * (
        0.18182890556695602 + z * (0.1533167403016786 + z * 0.1461703754879165)
    )
    tail = z * (low + z2 * high)
    half_square = 0.5 * f * f
    value = e * _LN2_HIGH - ((half_square - (s * (half_square + tail) + e * _LN2_LOW)) - f)
    value = value if x > 0.0 else np.nan
    return value if x < np.inf else x + x


@_branch_free
def _asin_tail(z):
    """Return (asin(r) / r - 1) / z for z = r**2, |r| <= 1/2."""
    z2 = z * z
    z4 = z2 * z2
    low = (0.16666666666666669 + z * 0.07499999999998425) + z2 * (0.04464285714637338 + z * 0.030381944137085216)
    middle = (0.022372173002005596 + z * 0.017352391265909227) + z2 * (0.013971235301124539 + z * 0.011478952690257387)
    high = (0.010324318288744113 + z * 0.00545087818772055) + z2 * (0.017419357964884856 + z * -0.014881409392818066)
    return low + z4 * (middle + z4 * (high + z4 * 0.02877844261259304))


@_branch_free
def arcsine(x):
    """Return asin(x), NaN for |x| > 1; beyond 1/2 as pi/2 - 2 asin(sqrt((1 - |x|) / 2))."""
    a = abs(x)
    is_large = a > 0.5
    z = 0.5 * (1.0 - a) if is_large else a * a
    s = np.sqrt(z) if is_large else a
    w = s + s * (z * _asin_tail(z))
    value = _HALF_PI - (2.0 * w - _HALF_PI_LOW) if is_large else w
    return -value if x < 0.0 else value


@_branch_free
def arccosine(x):
    """Return acos(x), NaN for |x| > 1; beyond 1/2 as 2 asin(sqrt((1 - |x|) / 2)), or pi less that."""
    a = abs(x)
    is_large = a > 0.5
    z = 0.5 * (1.0 - a) if is_large else a * a
    s = np.sqrt(z) if is_large else x
    w = s + s * (z * _asin_tail(z))
    complement = _HALF_PI - (w - _HALF_PI_LOW)
    large = 2.0 * (complement if x < 0.0 else w)
    return large if is_large else complement


@_branch_free
def _atan_tail(z):
    """Return (atan(r) / r - 1) / z for z = r**2, |r| <= sqrt(2) - 1."""
    z2 = z * z
    z4 = z2 * z2
    low = (-0.3333333333333333 + z * 0.19999999999999804) + z2 * (-0.14285714285659457 + z * 0.11111111105119366)
    middle = (-0.09090908751706075 + z * 0.07692296323157785) + z2 * (-0.06666423954373413 + z * 0.058789182929757273)
    high = (-0.05230375457576669 + z * 0.04551233844829568) + z2 * (-0.03456132296826231 + z * 0.01627552168389342)
    return low + z4 * (middle + z4 * high)


@_branch_free
def arctangent(x):
    """Return atan(x), by the angle to 0, pi/4 or pi/2, whichever is closest."""
    a = abs(x)
    is_large = a > 2.414213562373095
    is_middle = a > 0.41421356237309503
    above = -1.0 if is_large else (a - 1.0 if is_middle else a)
    below = a if is_large else (a + 1.0 if is_middle else 1.0)
    base = _HALF_PI if is_large else (0.5 * _HALF_PI if is_middle else 0.0)
    base_low = _HALF_PI_LOW if is_large else (0.5 * _HALF_PI_LOW if is_middle else 0.0)
    t = above / below
    z = t * t
    value = base + (t + (t * (z * _atan_tail(z)) + base_low))
    return -value if x < 0.0 else value


@_branch_free
def cube_root(x):
    """Return the real cube root: with |x| = 2**(3 q) m, m in [1/2, 4), a polynomial in m and two steps of Halley."""
    a = abs(x)
    is_tiny = a < _SMALLEST_NORMAL
    bits = bits_of(a * 2.0**54 if is_tiny else a)
    e = number_of((bits >> _MANTISSA_BITS) | _TWO_52_BITS) - (2.0**52 + _EXPONENT_BIAS)
    shifted = e * (1.0 / 3.0) + _ROUNDER
    left = e - 3.0 * (shifted - _ROUNDER)
    m = number_of((bits & _MANTISSA_MASK) | _ONE_BITS)
    m = m * (0.5 if left < 0.0 else (2.0 if left > 0.0 else 1.0))
    y = (0.4829151149886364 + m * 0.7759412160878565) + m * m * (-0.3559591501893991 + m * 0.1158907961168667)
    y = y + (m * m) * (m * m) * (-0.020279205113045675 + m * 0.0014363452109175817)
    y3 = y * y * y
    y = y - y * ((y3 - m) / (2.0 * y3 + m))
    y3 = y * y * y
    y = y - y * ((y3 - m) / (2.0 * y3 + m))
    value = y * number_of((bits_of(shifted) + _EXPONENT_BIAS) << _MANTISSA_BITS)
    value = value * 2.0**-18 if is_tiny else value
    value = -value if x < 0.0 else value
    return value if (a > 0.0) & (a < np.inf) else x


@_branch_free
def _high_part(x):
    """Return x with the last 32 of its 53 bits cleared: products of two such numbers are exact."""
    return number_of(bits_of(x) & _HIGH_MASK)


@_branch_free
def _log2_parts(x):
    """Return log2(x) as the exact sum of a number of 21 bits and a small one, for a positive normal number.

    With s = (m - 1) / (m + 1), log(m) = 2/3 s (3 + s**2 + r), r = s**4 (3/5 + 3/7 s**2 + ...); each factor in two
    parts, as in fdlibm's pow (Sun Microsystems, 1993).
    """
    e, m = _split_number(x)
    f = m - 1.0
    v = 1.0 / (m + 1.0)
    s = f * v
    s_high = _high_part(s)
    t_high = _high_part(m + 1.0)
    s_low = v * ((f - s_high * t_high) - s_high * (m - (t_high - 1.0)))
    z = s * s
    z2 = z * z
    tail = (0.6 + z * 0.42857142857144054) + z2 * (0.333333333324821 + z * 0.27272727503481237)
    tail = tail + z2 * z2 * (
        (0.23076892401896876 + z * 0.20002209318150904) + z2 * (0.17559293534822049 + z * 0.17585405434358117)
    )
    r = z2 * tail + s_low * (s_high + s)
    square = s_high * s_high
    t_high = _high_part(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u = s_high * t_high
    v = s_low * t_high + t_low * s
    p_high = _high_part(u + v)
    p_low = v - (p_high - u)
    w_high = _TWO_THIRDS_LOG2_E_HIGH * p_high
    w_low = _TWO_THIRDS_LOG2_E_LOW * p_high + p_low * _TWO_THIRDS_LOG2_E
    high = _high_part((w_high + w_low) + e)
    return high, w_low - ((high - e) - w_high)


@_branch_free
def is_plain_power(a, b):
    """Return whether `power` is valid for a ** b."""
    return (a >= _SMALLEST_NORMAL) & (a < np.inf) & (abs(b) <= 1e9)


@_branch_free
def power(a, b):
    """Return a ** b = 2 ** (b log2(a)), the exponent in two parts, where `is_plain_power`."""
    log_high, log_low = _log2_parts(a)
    b_high = _high_part(b)
    high = b_high * log_high
    low = (b - b_high) * log_high + b * log_low
    exponent = high + low
    shifted = exponent + _ROUNDER
    k = shifted - _ROUNDER
    r = ((high - k) + low) * _LN2
    half = bits_of(k * 0.5 + _ROUNDER)
    rest = bits_of(shifted) - half
    first = number_of((half + _EXPONENT_BIAS) << _MANTISSA_BITS)
    second = number_of((rest + _EXPONENT_BIAS) << _MANTISSA_BITS)
    value = (1.0 + (r + r * r * _exp_tail(r))) * first * second
    value = np.inf if exponent > 1025.0 else value
    return 0.0 if exponent < -1080.0 else value
