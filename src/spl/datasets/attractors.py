"""Chaotic attractors besides those of Lorenz and Rössler, simulated and measured with noise.

All generators take the number of samples and the step between them, then `noise` as a share of the root mean square of
each state, the `seed` of the noise, the `initial` states, and the parameters of the system. By default they start on the attractor.
"""

from collections.abc import Sequence

import numpy as np

from spl.datasets.simulation import Rows, Sampling, SystemData, simulate_system, write_numbers


def make_thomas(
    n_samples: int = 4000,
    step: float = 0.1,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (1.9, 3.0, 2.7),
    damping: float = 0.2,
) -> SystemData:
    """Simulate the cyclic system of Thomas (1999): x' = sin(y) - damping*x, y' = sin(z) - damping*y, z' = sin(x) - damping*z.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x, y and z at t = 0.
        damping: factor of each state in its own equation; below 0.208 the system is chaotic.

    Examples:
        >>> make_thomas(100).equations["x"]
        'sin(y) - 0.2*x'
    """
    (b,) = write_numbers(damping=damping)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y, z = states
        return np.sin(y) - damping * x, np.sin(z) - damping * y, np.sin(x) - damping * z

    equations = {"x": f"sin(y) - {b}*x", "y": f"sin(z) - {b}*y", "z": f"sin(x) - {b}*z"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_halvorsen(
    n_samples: int = 4000,
    step: float = 0.01,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (-5.5, 4.9, -4.9),
    damping: float = 1.4,
    coupling: float = 4.0,
) -> SystemData:
    """Simulate the cyclic system of Halvorsen (Sprott 2003): x' = -damping*x - coupling*y - coupling*z - y**2.

    y' and z' follow by replacing x, y, z with y, z, x, and with z, x, y.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x, y and z at t = 0.
        damping: factor of each state in its own equation.
        coupling: factor of the other two.

    Examples:
        >>> make_halvorsen(100).equations["z"]
        '-1.4*z - 4*x - 4*y - x**2'
    """
    a, c = write_numbers(damping=damping, coupling=coupling)

    def slope(own: Rows, second: Rows, third: Rows) -> Rows:
        return -damping * own - coupling * second - coupling * third - second**2

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y, z = states
        return slope(x, y, z), slope(y, z, x), slope(z, x, y)

    equations = {
        own: f"-{a}*{own} - {c}*{second} - {c}*{third} - {second}**2" for own, second, third in ("xyz", "yzx", "zxy")
    }
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_hyperchaotic_rossler(
    n_samples: int = 5000,
    step: float = 0.02,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (-20.0, 0.0, 0.0, 15.0),
    a: float = 0.25,
    b: float = 3.0,
    c: float = 0.5,
    d: float = 0.05,
) -> SystemData:
    """Simulate the hyperchaotic system of Rössler (1979): x' = -y - z, y' = x + a*y + w, z' = b + x*z, w' = -c*z + d*w.

    Neighbouring trajectories diverge in two directions. z is near 0 most of the time, with short bursts.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x, y, z and w at t = 0.
        a: factor of y in y'.
        b: constant in z'.
        c: factor of z in w', subtracted.
        d: factor of w in w'.

    Examples:
        >>> make_hyperchaotic_rossler(100).equations
        {'x': '-y - z', 'y': 'x + 0.25*y + w', 'z': '3 + x*z', 'w': '-0.5*z + 0.05*w'}
    """
    a_text, b_text, c_text, d_text = write_numbers(a=a, b=b, c=c, d=d)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y, z, w = states
        return -y - z, x + a * y + w, b + x * z, -c * z + d * w

    equations = {"x": "-y - z", "y": f"x + {a_text}*y + w", "z": f"{b_text} + x*z", "w": f"-{c_text}*z + {d_text}*w"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))
