"""The Lorenz system, simulated and measured with noise: the paper's first example of chaotic dynamics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0  # the values of the paper, and of Lorenz (1963)
TOLERANCE = 1e-11  # of the integration, relative and absolute


@dataclass(frozen=True, slots=True, eq=False)
class LorenzData:
    """A simulated trajectory of the Lorenz system, its measurement and its true derivative."""

    t: NDArray[np.float64]  # [N]
    states: NDArray[np.float64]  # [N, 3], measured: with noise
    clean: NDArray[np.float64]  # [N, 3]
    derivatives: NDArray[np.float64]  # [N, 3], true ones of the clean states


def make_lorenz(
    n_samples: int = 6000,
    step: float = 0.01,
    *,
    noise: float = 0.05,
    initial: tuple[float, float, float] = (-8.0, 7.0, 27.0),
    seed: int = 0,
) -> LorenzData:
    """Simulate the Lorenz system and measure it with Gaussian noise.

    Args:
        n_samples: how many; the paper trains on 6000.
        step: time between samples.
        noise: the noise of each state, as a share of the root mean square of that state; the paper has 0.05.
        initial: x, y and z at t = 0.
        seed: of the noise.

    Examples:
        >>> data = make_lorenz(100, noise=0.0)
        >>> data.states.shape
        (100, 3)
        >>> x, y, z = data.clean.T
        >>> bool(np.allclose(data.derivatives[:, 0], 10 * (y - x)))
        True
    """
    if isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 2:
        raise SettingError(f"`n_samples` must be a whole number, 2 or more; it is {n_samples!r}.")
    if not np.isfinite(step) or step <= 0:
        raise SettingError(f"`step` must be a number above 0; it is {step!r}.")
    if not np.isfinite(noise) or noise < 0:
        raise SettingError(f"`noise` must be 0 or more; it is {noise!r}.")
    if len(initial) != 3 or not np.all(np.isfinite(initial)):
        raise SettingError(f"`initial` must be three numbers; it is {initial!r}.")

    t = np.arange(n_samples, dtype=np.float64) * step
    clean = _integrate(t, initial)
    scale = noise * np.sqrt(np.mean(clean**2, axis=0))
    states = clean + scale * np.random.default_rng(seed).standard_normal(clean.shape)
    return LorenzData(t=t, states=states, clean=clean, derivatives=lorenz_derivative(clean))


def lorenz_derivative(states: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the time derivative of states [..., 3].

    Examples:
        >>> lorenz_derivative(np.array([1.0, 2.0, 3.0]))
        array([10., 23., -6.])
    """
    x, y, z = np.moveaxis(states, -1, 0)
    return np.stack([SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z], axis=-1)


def _integrate(t: NDArray[np.float64], initial: tuple[float, float, float]) -> NDArray[np.float64]:
    from scipy.integrate import solve_ivp  # slow to import

    solution = solve_ivp(
        lambda _, state: lorenz_derivative(state),
        (t[0], t[-1]),
        initial,
        method="DOP853",
        t_eval=t,
        rtol=TOLERANCE,
        atol=TOLERANCE,
    )
    return np.ascontiguousarray(solution.y.T)
