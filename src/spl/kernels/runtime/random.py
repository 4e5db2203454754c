"""Random numbers for the kernels (splitmix64): one state per tree, passed down; no global state."""

import numpy as np

from spl.kernels.runtime.compiler import kernel

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(32)
_UNIT = 1.0 / 9007199254740992.0  # 2**-53


@kernel
def scramble(z):
    """Return a well-mixed function of 64 bits."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@kernel
def random_bits(state):
    """Advance the state (uint64[1]) and return 64 random bits."""
    state[0] += _GAMMA
    return scramble(state[0])


@kernel
def random_below(state, n):
    """Return a random integer from 0 to n - 1."""
    return np.int64(((random_bits(state) >> _S32) * np.uint64(n)) >> _S32)


@kernel
def random_unit(state):
    """Return a random number from 0 up to, not including, 1."""
    return np.float64(random_bits(state) >> _S11) * _UNIT


@kernel
def random_normal(state):
    """Return a random number of the standard normal distribution (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - random_unit(state)))
    return radius * np.cos(2.0 * np.pi * random_unit(state))
