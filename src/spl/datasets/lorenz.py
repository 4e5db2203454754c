"""The Lorenz system, simulated and measured with noise: the paper's first example of chaotic dynamics."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spl.datasets.simulation import Rows, Sampling, SystemData, simulate_system, write_numbers

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0  # the values of the paper, and of Lorenz (1963)


def make_lorenz(
    n_samples: int = 6000,
    step: float = 0.01,
    *,
    noise: float = 0.05,
    initial: Sequence[float] = (-8.0, 7.0, 27.0),
    seed: int = 0,
    sigma: float = SIGMA,
    rho: float = RHO,
    beta: float = BETA,
) -> SystemData:
    """Simulate the Lorenz system and measure it with Gaussian noise.

    Args:
        n_samples: number of samples; the paper trains on 6000.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state; the paper has 0.05.
        initial: x, y and z at t = 0.
        seed: random seed of the noise.
        sigma: the Prandtl number.
        rho: the Rayleigh number over its critical value.
        beta: a ratio of lengths.

    Examples:
        >>> data = make_lorenz(100, noise=0.0)
        >>> data.states.shape
        (100, 3)
        >>> x, y, z = data.clean.T
        >>> bool(np.allclose(data.derivatives[:, 0], 10 * (y - x)))
        True
    """
    s, r, b = write_numbers(sigma=sigma, rho=rho, beta=beta)
    return simulate_system(
        lambda states, _: _slopes(states, sigma, rho, beta),
        {"x": f"{s}*(y - x)", "y": f"x*({r} - z) - y", "z": f"x*y - {b}*z"},
        initial,
        Sampling(n_samples, step, noise, seed),
    )


def lorenz_derivative(states: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the time derivative of states [..., 3] with the values of the paper.

    Examples:
        >>> lorenz_derivative(np.array([1.0, 2.0, 3.0]))
        array([10., 23., -6.])
    """
    return np.stack(_slopes(np.moveaxis(states, -1, 0), SIGMA, RHO, BETA), axis=-1)


def _slopes(states: Rows, sigma: float, rho: float, beta: float) -> Sequence[Rows]:
    x, y, z = states
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z
