"""Twenty systems, each measured along one trajectory: of ten, the trajectory cannot tell the law from another simple one.

They were chosen before any of them was searched. "Cannot be told apart" is strict: `rival` is a system with other terms, whose
trajectory from the same start agrees with that of the law so closely that the measurements cannot tell them apart. Of the others, the
trajectory fills more than a curve, or a curve that no simple formula describes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from spl.datasets.simulation import Rows, Sampling, Signal, Slopes, SystemData, multi_sine, simulate_system


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleTrajectory:
    """A system measured along one trajectory, and whether that is enough to know its equations.

    Examples:
        >>> case = SINGLE_TRAJECTORIES["oscillator"]
        >>> case.rival
        {'x': 'y*(x**2 + y**2)', 'y': '-x'}
        >>> case.measure(seed=0).states.shape
        (200, 2)
    """

    equations: Mapping[str, str]
    slopes: Slopes  # the same as the equations
    initial: tuple[float, ...]
    n_samples: int
    step: float
    noise: float  # standard deviation, as a share of the root mean square of each state
    rival: Mapping[str, str] = field(default_factory=dict)  # another system that fits as well; empty if there is none
    inputs: Mapping[str, Signal] = field(default_factory=dict)

    @property
    def is_unique(self) -> bool:
        """Whether the trajectory tells the law from all other simple ones."""
        return not self.rival

    def measure(self, seed: int = 0) -> SystemData:
        """Return the trajectory with noise."""
        sampling = Sampling(self.n_samples, self.step, self.noise, seed)
        return simulate_system(self.slopes, self.equations, self.initial, sampling, inputs=self.inputs)


def _steady(value: float) -> Signal:
    """Return an input that never changes."""
    return lambda t: np.full_like(t, value, dtype=np.float64)


def _hopf(x: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
    square = x[0] ** 2 + x[1] ** 2
    return [x[0] - x[1] - x[0] * square, x[0] + x[1] - x[1] * square]


_AMBIGUOUS = {
    # On a circle, x**2 + y**2 is a number.
    "oscillator": SingleTrajectory(
        equations={"x": "y", "y": "-x"},
        slopes=lambda x, _: [x[1], -x[0]],
        initial=(1.0, 0.0),
        n_samples=200,
        step=0.1,
        noise=0.01,
        rival={"x": "y*(x**2 + y**2)", "y": "-x"},
    ),
    # Started on its limit cycle, nothing shows what happens elsewhere.
    "limit_cycle": SingleTrajectory(
        equations={"x": "x - y - x*(x**2 + y**2)", "y": "x + y - y*(x**2 + y**2)"},
        slopes=_hopf,
        initial=(1.0, 0.0),
        n_samples=200,
        step=0.1,
        noise=0.01,
        rival={"x": "-y", "y": "x"},
    ),
    # Both states decay at the same rate, so one is always twice the other.
    "equal_decays": SingleTrajectory(
        equations={"x": "-0.5*x", "y": "-0.5*y"},
        slopes=lambda x, _: [-0.5 * x[0], -0.5 * x[1]],
        initial=(2.0, 1.0),
        n_samples=100,
        step=0.05,
        noise=0.02,
        rival={"x": "-y", "y": "-0.5*y"},
    ),
    # z changes by a thousandth of its value during the run: far less than its noise.
    "still_state": SingleTrajectory(
        equations={"x": "z*y", "y": "-x", "z": "-0.00005*z"},
        slopes=lambda x, _: [x[2] * x[1], -x[0], -0.00005 * x[2]],
        initial=(1.0, 0.0, 1.5),
        n_samples=200,
        step=0.1,
        noise=0.02,
        rival={"x": "1.4993*y", "y": "-x", "z": "-0.00005*z"},
    ),
    # So close to the equilibrium, the law is linear within the noise.
    "near_equilibrium": SingleTrajectory(
        equations={"x": "x - x*y", "y": "x*y - y"},
        slopes=lambda x, _: [x[0] - x[0] * x[1], x[0] * x[1] - x[1]],
        initial=(1.06, 1.0),
        n_samples=200,
        step=0.1,
        noise=0.02,
        rival={"x": "1 - y", "y": "x - 1"},
    ),
    # The three shares always add up to 1.
    "epidemic": SingleTrajectory(
        equations={"s": "-1.5*s*i", "i": "1.5*s*i - 0.5*i", "r": "0.5*i"},
        slopes=lambda x, _: [-1.5 * x[0] * x[1], 1.5 * x[0] * x[1] - 0.5 * x[1], 0.5 * x[1]],
        initial=(0.95, 0.05, 0.0),
        n_samples=200,
        step=0.1,
        noise=0.01,
        rival={"s": "-1.5*s*i", "i": "1.5*s*i - 0.5*i*(s + i + r)", "r": "0.5*i"},
    ),
    # Small swings of a pendulum are those of a spring.
    "small_swing": SingleTrajectory(
        equations={"angle": "speed", "speed": "-sin(angle)"},
        slopes=lambda x, _: [x[1], -np.sin(x[0])],
        initial=(0.15, 0.0),
        n_samples=300,
        step=0.1,
        noise=0.02,
        rival={"angle": "speed", "speed": "-0.9972*angle"},
    ),
    # Two species that start alike stay alike.
    "equal_rivals": SingleTrajectory(
        equations={"x": "x*(1 - x - 0.5*y)", "y": "y*(1 - y - 0.5*x)"},
        slopes=lambda x, _: [x[0] * (1 - x[0] - 0.5 * x[1]), x[1] * (1 - x[1] - 0.5 * x[0])],
        initial=(0.05, 0.05),
        n_samples=150,
        step=0.1,
        noise=0.02,
        rival={"x": "x - 1.5*x*y", "y": "y - 1.5*y**2"},
    ),
    # What leaves one vessel enters the other: x + y is always 1.
    "two_vessels": SingleTrajectory(
        equations={"x": "0.1*y - 0.4*x", "y": "0.4*x - 0.1*y"},
        slopes=lambda x, _: [0.1 * x[1] - 0.4 * x[0], 0.4 * x[0] - 0.1 * x[1]],
        initial=(1.0, 0.0),
        n_samples=150,
        step=0.1,
        noise=0.01,
        rival={"x": "0.1 - 0.5*x", "y": "0.4 - 0.5*y"},
    ),
    # An input that never changes may appear in any power.
    "steady_input": SingleTrajectory(
        equations={"x": "y", "y": "u - x - 0.3*y"},
        slopes=lambda x, u: [x[1], u[0] - x[0] - 0.3 * x[1]],
        initial=(0.0, 0.0),
        n_samples=200,
        step=0.1,
        noise=0.01,
        rival={"x": "y", "y": "0.5*u**2 - x - 0.3*y"},
        inputs=MappingProxyType({"u": _steady(2.0)}),
    ),
}

_UNIQUE = {
    "lorenz": SingleTrajectory(
        equations={"x": "10*(y - x)", "y": "x*(28 - z) - y", "z": "x*y - 8/3*z"},
        slopes=lambda x, _: [10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]],
        initial=(-8.0, 7.0, 27.0),
        n_samples=1000,
        step=0.01,
        noise=0.01,
    ),
    "rossler": SingleTrajectory(
        equations={"x": "-y - z", "y": "x + 0.2*y", "z": "0.2 + z*(x - 5.7)"},
        slopes=lambda x, _: [-x[1] - x[2], x[0] + 0.2 * x[1], 0.2 + x[2] * (x[0] - 5.7)],
        initial=(10.8, -3.9, 1.6),
        n_samples=1000,
        step=0.05,
        noise=0.01,
    ),
    "spiral": SingleTrajectory(
        equations={"x": "y", "y": "-x - 0.2*y"},
        slopes=lambda x, _: [x[1], -x[0] - 0.2 * x[1]],
        initial=(2.0, 0.0),
        n_samples=300,
        step=0.1,
        noise=0.01,
    ),
    "predator_prey": SingleTrajectory(
        equations={"x": "x - 0.5*x*y", "y": "0.3*x*y - 0.8*y"},
        slopes=lambda x, _: [x[0] - 0.5 * x[0] * x[1], 0.3 * x[0] * x[1] - 0.8 * x[1]],
        initial=(6.0, 1.0),
        n_samples=300,
        step=0.1,
        noise=0.01,
    ),
    "van_der_pol": SingleTrajectory(
        equations={"x": "y", "y": "2*(1 - x**2)*y - x"},
        slopes=lambda x, _: [x[1], 2 * (1 - x[0] ** 2) * x[1] - x[0]],
        initial=(0.1, 0.0),
        n_samples=400,
        step=0.05,
        noise=0.01,
    ),
    "two_wells": SingleTrajectory(
        equations={"x": "y", "y": "x - x**3 - 0.15*y"},
        slopes=lambda x, _: [x[1], x[0] - x[0] ** 3 - 0.15 * x[1]],
        initial=(2.0, 0.0),
        n_samples=400,
        step=0.05,
        noise=0.01,
    ),
    "brusselator": SingleTrajectory(
        equations={"x": "1 + x**2*y - 4*x", "y": "3*x - x**2*y"},
        slopes=lambda x, _: [1 + x[0] ** 2 * x[1] - 4 * x[0], 3 * x[0] - x[0] ** 2 * x[1]],
        initial=(1.0, 2.0),
        n_samples=500,
        step=0.05,
        noise=0.01,
    ),
    "driven_spring": SingleTrajectory(
        equations={"x": "y", "y": "u - x - 0.3*y"},
        slopes=lambda x, u: [x[1], u[0] - x[0] - 0.3 * x[1]],
        initial=(0.0, 0.0),
        n_samples=400,
        step=0.1,
        noise=0.01,
        inputs=MappingProxyType({"u": multi_sine(2.0)}),
    ),
    "thomas": SingleTrajectory(
        equations={"x": "sin(y) - 0.2*x", "y": "sin(z) - 0.2*y", "z": "sin(x) - 0.2*z"},
        slopes=lambda x, _: [np.sin(x[1]) - 0.2 * x[0], np.sin(x[2]) - 0.2 * x[1], np.sin(x[0]) - 0.2 * x[2]],
        initial=(1.0, 1.1, -0.1),
        n_samples=1000,
        step=0.1,
        noise=0.01,
    ),
    "large_swing": SingleTrajectory(
        equations={"angle": "speed", "speed": "-sin(angle) - 0.1*speed"},
        slopes=lambda x, _: [x[1], -np.sin(x[0]) - 0.1 * x[1]],
        initial=(2.8, 0.0),
        n_samples=400,
        step=0.1,
        noise=0.01,
    ),
}

SINGLE_TRAJECTORIES: Mapping[str, SingleTrajectory] = MappingProxyType(_AMBIGUOUS | _UNIQUE)
