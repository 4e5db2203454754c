"""Six systems, each measured in eight experiments: one law of motion, with one or two parameters that differ between experiments.

They were chosen, with their ranges, before any search with own parameters existed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from spl.datasets.laws import Range, uniform
from spl.datasets.mechanics import make_damped_pendulum
from spl.datasets.oscillators import make_duffing, make_van_der_pol
from spl.datasets.populations import make_lotka_volterra, make_michaelis_menten, make_sir
from spl.datasets.simulation import SystemData
from spl.settings import check_count

N_RUNS = 8
_OWN, _NOISE = range(2)  # streams of random numbers


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemRuns:
    """Experiments with one system: each has its own start, and its own values of some parameters."""

    runs: tuple[SystemData, ...]
    own: dict[str, NDArray[np.float64]]  # the true values of each parameter [runs]

    @property
    def states(self) -> list[NDArray[np.float64]]:
        """The measured states of each experiment [N, D]."""
        return [run.states for run in self.runs]

    @property
    def times(self) -> list[NDArray[np.float64]]:
        """The times of each experiment [N]."""
        return [run.t for run in self.runs]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedSystem:
    """A system with what differs between its experiments.

    Examples:
        >>> system = GROUPED_SYSTEMS["damped_pendulum"]
        >>> list(system.own), system.terms
        (['length', 'damping'], (('omega', 'sin(theta)'), ('omega', 'omega')))
        >>> system.measure(3, seed=1).states[0].shape
        (200, 2)
    """

    make: Callable[..., SystemData]
    about: str  # what the experiments are
    own: Mapping[str, Range]  # parameters that differ between experiments
    initial: tuple[Range | float, ...]  # of each state, where the experiments begin
    terms: tuple[
        tuple[str, str], ...
    ]  # states, and the terms of their equations whose factors differ, as `linear_terms` writes them
    n_samples: int
    step: float

    def measure(self, n_runs: int = N_RUNS, *, noise: float = 0.0, seed: int = 0) -> SystemRuns:
        """Return experiments with the system.

        Args:
            n_runs: number of experiments.
            noise: standard deviation of the noise, as a share of the root mean square of each state of an experiment.
            seed: random seed of parameters, starts and noise.
        """
        check_count("n_runs", n_runs, at_least=1)
        random = np.random.default_rng([seed, _OWN, *" ".join(self.own).encode()])
        own = {name: each.at(random.uniform(size=n_runs)) for name, each in self.own.items()}
        starts = np.column_stack(
            [each.at(random.uniform(size=n_runs)) if isinstance(each, Range) else np.full(n_runs, each)
             for each in self.initial]
        )  # fmt: skip
        seeds = np.random.SeedSequence([seed, _NOISE]).generate_state(n_runs)
        runs = tuple(
            self.make(
                self.n_samples,
                self.step,
                noise=noise,
                seed=int(seeds[run]),
                initial=tuple(starts[run].tolist()),
                **{name: float(values[run]) for name, values in own.items()},
            )
            for run in range(n_runs)
        )
        return SystemRuns(runs=runs, own=own)


GROUPED_SYSTEMS: Mapping[str, GroupedSystem] = MappingProxyType(
    {
        "lotka_volterra": GroupedSystem(
            make=make_lotka_volterra,
            about="predator and prey in ponds in which the predator dies at different rates",
            own={"death": uniform(0.5, 1.2)},
            initial=(uniform(20.0, 40.0), uniform(4.0, 12.0)),
            terms=(("predator", "predator"),),
            n_samples=250,
            step=0.1,
        ),
        "damped_pendulum": GroupedSystem(
            make=make_damped_pendulum,
            about="pendulums of different lengths with different friction",
            own={"length": uniform(0.6, 1.6), "damping": uniform(0.1, 0.5)},
            initial=(uniform(1.0, 2.5), 0.0),
            terms=(("omega", "sin(theta)"), ("omega", "omega")),
            n_samples=200,
            step=0.04,
        ),
        "van_der_pol": GroupedSystem(
            make=make_van_der_pol,
            about="circuits with different damping, which appears in two terms",
            own={"mu": uniform(0.4, 2.5)},
            initial=(uniform(-2.0, 2.0), uniform(-2.0, 2.0)),
            terms=(("y", "y"), ("y", "x**2*y")),
            n_samples=250,
            step=0.06,
        ),
        "duffing": GroupedSystem(
            make=make_duffing,
            about="springs of different stiffness with different friction, and the same cubic term",
            own={"damping": uniform(0.05, 0.4), "stiffness": uniform(0.5, 3.0)},
            initial=(uniform(1.0, 2.5), 0.0),
            terms=(("v", "v"), ("v", "x")),
            n_samples=250,
            step=0.06,
        ),
        "sir": GroupedSystem(
            make=make_sir,
            about="an epidemic in towns where people meet more or less often: a rate that appears in two equations",
            own={"infection": uniform(0.9, 2.4)},
            initial=(0.98, 0.02, 0.0),
            terms=(("susceptible", "infected*susceptible"), ("infected", "infected*susceptible")),
            n_samples=150,
            step=0.1,
        ),
        "michaelis_menten": GroupedSystem(
            make=make_michaelis_menten,
            about="an enzyme whose substrate flows in at different rates",
            own={"inflow": uniform(0.2, 1.2)},
            initial=(uniform(1.0, 4.0), 0.0),
            terms=(("substrate", "1"),),
            n_samples=200,
            step=0.05,
        ),
    }
)
