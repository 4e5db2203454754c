"""A known system, simulated and measured with noise: its record, and the function that makes it.

`systems` lists the systems; each defines its slopes, its equations as text, and its defaults.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError
from spl.settings import check_number

TOLERANCE = 1e-11  # of the integration, relative and absolute
_RATES = (0.5, 1.1, 1.9, 3.1, 4.7)  # of the sines of an input, in radians per unit of time; no two have a common period
_RATE_SIGNS = (1.0, -1.0, 1.0, 1.0, -1.0)
_COUNTS = ("no", "one", "two", "three", "four")

Rows = NDArray[np.float64]
Slopes = Callable[[Rows, Sequence[Rows]], Sequence[Rows]]  # from states [D, ...] and U inputs [...] to D rows [...]
Signal = Callable[[Rows], Rows]  # from times to values


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemData:
    """A simulated trajectory of a system, its measurement, its true derivative and its true equations.

    Examples:
        >>> from spl.datasets import make_van_der_pol
        >>> data = make_van_der_pol(100, noise=0.01)
        >>> data.names, data.states.shape, data.u.shape
        (('x', 'y'), (100, 2), (100, 0))
        >>> data.equations
        {'x': 'y', 'y': '2*(1 - x**2)*y - x'}
    """

    t: NDArray[np.float64]  # [N]
    states: NDArray[np.float64]  # [N, D], measured: with noise
    clean: NDArray[np.float64]  # [N, D]
    derivatives: NDArray[np.float64]  # [N, D], true ones of the clean states
    u: NDArray[np.float64]  # [N, U], inputs, known exactly; U may be 0
    names: tuple[str, ...]  # of the states
    input_names: tuple[str, ...]
    equations: dict[str, str]  # right-hand side of each state, in terms of states and inputs


class Sampling(NamedTuple):
    """How a system is measured. Noise is a share of the root mean square of each state."""

    n_samples: int
    step: float
    noise: float
    seed: int


def simulate_system(
    slopes: Slopes,
    equations: Mapping[str, str],
    initial: Sequence[float],
    sampling: Sampling,
    *,
    inputs: Mapping[str, Signal] | None = None,
) -> SystemData:
    """Integrate a system from its initial values, and measure it with Gaussian noise.

    The slopes and the text of the equations state the same, so that each can test the other.

    Examples:
        >>> decay = simulate_system(lambda x, u: [-x[0]], {"x": "-x"}, [1.0], Sampling(5, 0.5, 0.0, 0))
        >>> bool(np.allclose(decay.clean[:, 0], np.exp(-decay.t)))
        True
    """
    _check(sampling, initial, len(equations))
    signals = inputs or {}

    def inputs_at(t: Rows) -> Sequence[Rows]:
        return [signal(t) for signal in signals.values()]

    t = np.arange(sampling.n_samples, dtype=np.float64) * sampling.step
    clean = _integrate(slopes, inputs_at, t, initial)
    u = inputs_at(t)
    scale = sampling.noise * np.sqrt(np.mean(clean**2, axis=0))
    return SystemData(
        t=t,
        states=clean + scale * np.random.default_rng(sampling.seed).standard_normal(clean.shape),
        clean=clean,
        derivatives=np.column_stack(slopes(clean.T, u)),
        u=np.array(u).reshape(len(signals), t.size).T.copy(),
        names=tuple(equations),
        input_names=tuple(signals),
        equations=dict(equations),
    )


def multi_sine(amplitude: float) -> Signal:
    """Return a smooth input that never repeats: a sum of five sines bounded by the amplitude.

    They begin at their crests, so that the integral of the input also stays near 0: a cart that it pushes does not run away.

    Examples:
        >>> signal = multi_sine(2.0)(np.linspace(0.0, 100.0, 1000))
        >>> 1.0 < float(np.max(np.abs(signal))) <= 2.0
        True
    """

    def signal(t: Rows) -> Rows:
        total = sum(sign * np.cos(rate * t) for rate, sign in zip(_RATES, _RATE_SIGNS, strict=True))
        return amplitude / len(_RATES) * np.asarray(total)

    return signal


def write_number(value: float) -> str:
    """Return a number as text that reads back exactly; in brackets if it is negative.

    Examples:
        >>> write_number(10.0), write_number(8 / 3), write_number(-1.0)
        ('10', '2.6666666666666665', '(-1)')
    """
    text = repr(float(value)).removesuffix(".0")
    return f"({text})" if value < 0 else text


def write_numbers(**parameters: float) -> list[str]:
    """Check that parameters are finite numbers, and return each as text.

    Examples:
        >>> write_numbers(rate=0.5, size=2.0)
        ['0.5', '2']
    """
    for name, value in parameters.items():
        check_number(name, value)
    return [write_number(value) for value in parameters.values()]


def _check(sampling: Sampling, initial: Sequence[float], n_states: int) -> None:
    n_samples = sampling.n_samples
    if isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 2:
        raise SettingError(f"`n_samples` must be a whole number, 2 or more; got {n_samples!r}.")
    if not np.isfinite(sampling.step) or sampling.step <= 0:
        raise SettingError(f"`step` must be a number above 0; got {sampling.step!r}.")
    if not np.isfinite(sampling.noise) or sampling.noise < 0:
        raise SettingError(f"`noise` must be 0 or more; got {sampling.noise!r}.")
    if np.shape(initial) != (n_states,) or not np.all(np.isfinite(initial)):
        raise SettingError(f"`initial` must be {_COUNTS[n_states]} numbers; got {initial!r}.")


def _integrate(slopes: Slopes, inputs_at: Callable[[Rows], Sequence[Rows]], t: Rows, initial: Sequence[float]) -> Rows:
    """Return the states [N, D] at the times."""
    from scipy.integrate import solve_ivp  # slow to import

    with np.errstate(all="ignore"):  # a system that diverges is reported below
        solution = solve_ivp(
            lambda time, state: np.array(slopes(state, inputs_at(time))),
            (t[0], t[-1]),
            np.asarray(initial, dtype=np.float64),
            method="DOP853",
            t_eval=t,
            rtol=TOLERANCE,
            atol=TOLERANCE,
        )
    if not solution.success or not np.all(np.isfinite(solution.y)):
        raise SettingError(
            f"The system cannot be simulated from {tuple(float(value) for value in initial)} beyond t = {solution.t[-1]:g}. "
            "Choose other parameters or initial values, or fewer samples."
        )
    return np.ascontiguousarray(solution.y.T)
