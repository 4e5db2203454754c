"""Oscillators from the textbooks, simulated and measured with noise: Van der Pol, Duffing, Rössler, Sel'kov,
FitzHugh and Nagumo, and the Brusselator.

All generators take the number of samples and the step between them, then `noise` as a share of the root mean square of
each state, the `seed` of the noise, the `initial` states, and the parameters of the system.
"""

from collections.abc import Sequence

from spl.datasets.simulation import Rows, Sampling, SystemData, simulate_system, write_numbers


def make_van_der_pol(
    n_samples: int = 1000,
    step: float = 0.02,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (0.5, 0.0),
    mu: float = 2.0,
) -> SystemData:
    """Simulate the oscillator of Van der Pol (1926): x' = y, y' = mu*(1 - x**2)*y - x.

    From the default start it spirals out to its limit cycle and follows it for two turns.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x and y at t = 0.
        mu: strength of the damping.

    Examples:
        >>> make_van_der_pol(100, mu=0.5).equations["y"]
        '0.5*(1 - x**2)*y - x'
    """
    (m,) = write_numbers(mu=mu)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y = states
        return y, mu * (1 - x**2) * y - x

    equations = {"x": "y", "y": f"{m}*(1 - x**2)*y - x"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_duffing(
    n_samples: int = 1500,
    step: float = 0.02,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (2.0, 0.0),
    damping: float = 0.1,
    stiffness: float = -1.0,
    cubic: float = 1.0,
) -> SystemData:
    """Simulate the oscillator of Duffing (1918): x' = v, v' = -damping*v - stiffness*x - cubic*x**3.

    The negative stiffness gives it two wells (Guckenheimer and Holmes 1983, section 2.2). From the default start it
    swings over both of them until it is caught in one.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x and v at t = 0.
        damping: factor of v.
        stiffness: factor of x.
        cubic: factor of x**3.

    Examples:
        >>> make_duffing(100).equations["v"]
        '-0.1*v + 1*x - 1*x**3'
    """
    d, pull, c = write_numbers(damping=damping, stiffness=-stiffness, cubic=cubic)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, v = states
        return v, -damping * v - stiffness * x - cubic * x**3

    equations = {"x": "v", "v": f"-{d}*v + {pull}*x - {c}*x**3"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_rossler(
    n_samples: int = 5000,
    step: float = 0.02,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (-5.0, -5.0, 0.0),
    a: float = 0.2,
    b: float = 0.2,
    c: float = 5.7,
) -> SystemData:
    """Simulate the chaotic system of Rössler (1976): x' = -y - z, y' = x + a*y, z' = b + z*(x - c).

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x, y and z at t = 0.
        a: factor of y in y'.
        b: constant in z'.
        c: subtracted from x in z'.

    Examples:
        >>> make_rossler(100).equations
        {'x': '-y - z', 'y': 'x + 0.2*y', 'z': '0.2 + z*(x - 5.7)'}
    """
    a_text, b_text, c_text = write_numbers(a=a, b=b, c=c)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y, z = states
        return -y - z, x + a * y, b + z * (x - c)

    equations = {"x": "-y - z", "y": f"x + {a_text}*y", "z": f"{b_text} + z*(x - {c_text})"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_glycolytic_oscillator(
    n_samples: int = 1000,
    step: float = 0.04,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (0.3, 2.0),
    a: float = 0.08,
    b: float = 0.6,
) -> SystemData:
    """Simulate glycolysis after Sel'kov (1968): x' = -x + a*y + x**2*y, y' = b - a*y - x**2*y.

    x is the concentration of ADP, y of fructose-6-phosphate; the defaults give a limit cycle (Strogatz 1994, section 7.3).

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x and y at t = 0.
        a: factor of y.
        b: inflow of y.

    Examples:
        >>> make_glycolytic_oscillator(100).equations
        {'x': '-x + 0.08*y + x**2*y', 'y': '0.6 - 0.08*y - x**2*y'}
    """
    a_text, b_text = write_numbers(a=a, b=b)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y = states
        turnover = (a + x**2) * y
        return turnover - x, b - turnover

    equations = {"x": f"-x + {a_text}*y + x**2*y", "y": f"{b_text} - {a_text}*y - x**2*y"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_fitzhugh_nagumo(
    n_samples: int = 1500,
    step: float = 0.1,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (-1.0, 1.0),
    current: float = 0.5,
    rate: float = 0.08,
    a: float = 0.7,
    b: float = 0.8,
) -> SystemData:
    """Simulate a nerve cell after FitzHugh (1961) and Nagumo (1962): v' = v - v**3/3 - w + current, w' = rate*(v + a - b*w).

    v is the voltage of the membrane, w its slow recovery. With the default current it fires again and again.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: v and w at t = 0.
        current: what stimulates the cell.
        rate: how fast it recovers.
        a: constant in w'.
        b: factor of w in w'.

    Examples:
        >>> make_fitzhugh_nagumo(100).equations
        {'v': 'v - 0.3333333333333333*v**3 - w + 0.5', 'w': '0.08*(v + 0.7 - 0.8*w)'}
    """
    third, i, r, a_text, b_text = write_numbers(third=1 / 3, current=current, rate=rate, a=a, b=b)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        v, w = states
        return v - v**3 / 3 - w + current, rate * (v + a - b * w)

    equations = {"v": f"v - {third}*v**3 - w + {i}", "w": f"{r}*(v + {a_text} - {b_text}*w)"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_brusselator(
    n_samples: int = 1000,
    step: float = 0.03,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (1.0, 1.0),
    a: float = 1.0,
    b: float = 3.0,
) -> SystemData:
    """Simulate the Brusselator, a chemical clock of Prigogine and Lefever (1968): x' = a + x**2*y - (b + 1)*x, y' = b*x - x**2*y.

    With b above 1 + a**2, it has a limit cycle.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: x and y at t = 0.
        a: inflow of x.
        b: rate at which x becomes y.

    Examples:
        >>> make_brusselator(100).equations
        {'x': '1 + x**2*y - 4*x', 'y': '3*x - x**2*y'}
    """
    a_text, b_text, loss = write_numbers(a=a, b=b, loss=b + 1)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        x, y = states
        return a + x**2 * y - (b + 1) * x, b * x - x**2 * y

    equations = {"x": f"{a_text} + x**2*y - {loss}*x", "y": f"{b_text}*x - x**2*y"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))
