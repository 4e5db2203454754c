"""Pendulums and a cart, simulated and measured with noise. Angles are 0 where the pendulum hangs.

All generators take the number of samples and the step between them, then `noise` as a share of the root mean square of
each state, the `seed` of the noise, the `initial` states, and the parameters of the system in SI units. Inputs are known
exactly.
"""

from collections.abc import Sequence

import numpy as np

from spl.datasets.simulation import (
    Rows,
    Sampling,
    SystemData,
    multi_sine,
    simulate_system,
    write_number,
    write_numbers,
)
from spl.settings import check_number

GRAVITY = 9.81


def make_damped_pendulum(
    n_samples: int = 1000,
    step: float = 0.02,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (2.5, 0.0),
    length: float = 1.0,
    damping: float = 0.2,
    gravity: float = GRAVITY,
) -> SystemData:
    """Simulate a pendulum with friction: theta' = omega, omega' = -gravity/length*sin(theta) - damping*omega.

    From the default start it first swings far enough that the sine is not linear.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: theta and omega at t = 0.
        length: length of the pendulum, in metres.
        damping: factor of omega.
        gravity: acceleration of free fall.

    Examples:
        >>> make_damped_pendulum(100).equations["omega"]
        '-9.81*sin(theta) - 0.2*omega'
    """
    _check_positive(length=length)
    pull, d = write_numbers(gravity=gravity / length, damping=damping)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        theta, omega = states
        return omega, -gravity / length * np.sin(theta) - damping * omega

    equations = {"theta": "omega", "omega": f"-{pull}*sin(theta) - {d}*omega"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_driven_pendulum(
    n_samples: int = 1500,
    step: float = 0.02,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (0.5, 0.0),
    length: float = 1.0,
    mass: float = 0.5,
    damping: float = 0.2,
    gravity: float = GRAVITY,
    amplitude: float = 3.0,
) -> SystemData:
    """Simulate a pendulum with friction and a torque u, a sum of five sines bounded by the amplitude.

    theta' = omega, omega' = -gravity/length*sin(theta) - damping*omega + u/(mass*length**2).

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: theta and omega at t = 0.
        length: length of the pendulum, in metres.
        mass: mass of the bob.
        damping: factor of omega.
        gravity: acceleration of free fall.
        amplitude: the largest torque.

    Examples:
        >>> data = make_driven_pendulum(100)
        >>> data.equations["omega"], data.input_names, data.u.shape
        ('-9.81*sin(theta) - 0.2*omega + 2*u', ('u',), (100, 1))
    """
    _check_positive(length=length, mass=mass)
    check_number("amplitude", amplitude)
    inertia = mass * length**2
    pull, d, push = write_numbers(gravity=gravity / length, damping=damping, push=1 / inertia)

    def slopes(states: Rows, inputs: Sequence[Rows]) -> Sequence[Rows]:
        theta, omega = states
        return omega, inputs[0] / inertia - gravity / length * np.sin(theta) - damping * omega

    equations = {"theta": "omega", "omega": f"-{pull}*sin(theta) - {d}*omega + {push}*u"}
    sampling = Sampling(n_samples, step, noise, seed)
    return simulate_system(slopes, equations, initial, sampling, inputs={"u": multi_sine(amplitude)})


def make_double_pendulum(
    n_samples: int = 2000,
    step: float = 0.01,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (1.4, 0.7, 0.0, 0.0),
    masses: tuple[float, float] = (1.0, 1.0),
    lengths: tuple[float, float] = (1.0, 1.0),
    gravity: float = GRAVITY,
) -> SystemData:
    """Simulate a pendulum that hangs from another, without friction.

    The states are the angles theta1 and theta2 against the vertical, and the angular velocities omega1 and omega2. From the
    default start both swing widely, but do not turn over.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: both angles and both angular velocities at t = 0.
        masses: masses of the upper and the lower bob.
        lengths: lengths of the upper and the lower pendulum.
        gravity: acceleration of free fall.

    Examples:
        >>> make_double_pendulum(100).names
        ('theta1', 'theta2', 'omega1', 'omega2')
    """
    (m1, m2), (l1, l2) = masses, lengths
    _check_positive(mass1=m1, mass2=m2, length1=l1, length2=l2)
    check_number("gravity", gravity)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        """Solve the two equations of Lagrange for the accelerations."""
        theta1, theta2, omega1, omega2 = states
        sine, cosine = np.sin(theta1 - theta2), np.cos(theta1 - theta2)
        force1 = -m2 * l2 * omega2**2 * sine - (m1 + m2) * gravity * np.sin(theta1)
        force2 = l1 * omega1**2 * sine - gravity * np.sin(theta2)
        alpha1 = (force1 - m2 * cosine * force2) / (l1 * (m1 + m2 * sine**2))
        return omega1, omega2, alpha1, (force2 - l1 * alpha1 * cosine) / l2

    equations = _double_pendulum_equations(masses, lengths, gravity)
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def _double_pendulum_equations(
    masses: tuple[float, float], lengths: tuple[float, float], gravity: float
) -> dict[str, str]:
    """Return the equations in the usual form of textbooks."""
    (m1, m2), (l1, l2) = masses, lengths
    total, weight1, weight2 = (
        write_number(2 * m1 + m2),
        write_number(gravity * (2 * m1 + m2)),
        write_number(gravity * m2),
    )
    both, pull = write_number(l1 * (m1 + m2)), write_number(gravity * (m1 + m2))
    m, first, second, outer = write_number(m2), write_number(l1), write_number(l2), write_number(l2 * m2)
    turn = "(theta1 - theta2)"
    shared = f"({total} - {m}*cos(2*theta1 - 2*theta2))"
    top1 = (
        f"-{weight1}*sin(theta1) - {weight2}*sin(theta1 - 2*theta2)"
        f" - 2*sin{turn}*{m}*({second}*omega2**2 + {first}*omega1**2*cos{turn})"
    )
    top2 = f"2*sin{turn}*({both}*omega1**2 + {pull}*cos(theta1) + {outer}*omega2**2*cos{turn})"
    return {
        "theta1": "omega1",
        "theta2": "omega2",
        "omega1": f"({top1})/({first}*{shared})",
        "omega2": f"({top2})/({second}*{shared})",
    }


def make_cart_pole(
    n_samples: int = 2000,
    step: float = 0.01,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (0.0, 0.0, 1.5, 0.0),
    cart_mass: float = 1.0,
    pole_mass: float = 0.5,
    length: float = 0.5,
    gravity: float = GRAVITY,
    amplitude: float = 4.0,
) -> SystemData:
    """Simulate a cart on a rail with a pendulum, pushed by a force u, a sum of five sines bounded by the amplitude.

    The states are x and v of the cart, theta (0 where the pole hangs) and omega of the pole, whose mass is at its end.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x, v, theta and omega at t = 0.
        cart_mass: mass of the cart.
        pole_mass: mass at the end of the pole.
        length: length of the pendulum, in metres.
        gravity: acceleration of free fall.
        amplitude: the largest force.

    Examples:
        >>> data = make_cart_pole(100)
        >>> data.names, data.input_names
        (('x', 'v', 'theta', 'omega'), ('u',))
    """
    _check_positive(cart_mass=cart_mass, pole_mass=pole_mass, length=length)
    check_number("amplitude", amplitude)
    both = cart_mass + pole_mass
    cart, pole, arm = write_numbers(cart_mass=cart_mass, pole_mass=pole_mass, length=length)
    weight, pole_weight = write_numbers(gravity=both * gravity, pole_weight=pole_mass * gravity)

    def slopes(states: Rows, inputs: Sequence[Rows]) -> Sequence[Rows]:
        """Solve both*v' + pole*length*(omega'*cos - omega**2*sin) = u and length*omega' + v'*cos + gravity*sin = 0."""
        _, v, theta, omega = states
        sine, cosine = np.sin(theta), np.cos(theta)
        force = inputs[0] + pole_mass * length * omega**2 * sine
        alpha = -(force * cosine + both * gravity * sine) / (length * (both - pole_mass * cosine**2))
        return v, (force - pole_mass * length * alpha * cosine) / both, omega, alpha

    shared = f"({cart} + {pole}*sin(theta)**2)"
    swing = f"{write_number(pole_mass * length)}*omega**2*sin(theta)"
    equations = {
        "x": "v",
        "v": f"(u + {swing} + {pole_weight}*sin(theta)*cos(theta))/{shared}",
        "theta": "omega",
        "omega": f"-(u*cos(theta) + {swing}*cos(theta) + {weight}*sin(theta))/({arm}*{shared})",
    }
    sampling = Sampling(n_samples, step, noise, seed)
    return simulate_system(slopes, equations, initial, sampling, inputs={"u": multi_sine(amplitude)})


def _check_positive(**parameters: float) -> None:
    for name, value in parameters.items():
        check_number(name, value, above=0.0)
