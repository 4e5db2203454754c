"""Ten systems that oscillate, to be sampled a few times per turn: how coarse may samples be?

They were chosen before any of them was searched. Five are chaotic, five have periodic orbits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from spl.datasets.attractors import make_halvorsen, make_hyperchaotic_rossler, make_thomas
from spl.datasets.lorenz import make_lorenz
from spl.datasets.oscillators import make_brusselator, make_fitzhugh_nagumo, make_rossler, make_van_der_pol
from spl.datasets.populations import make_lotka_volterra, make_rosenzweig_macarthur
from spl.datasets.simulation import SystemData
from spl.settings import check_count

N_TURNS = 40  # of a trajectory, however many samples a turn has


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSystem:
    """A system that oscillates, with the time that a turn takes.

    Examples:
        >>> SAMPLED_SYSTEMS["brusselator"].sample(5).states.shape
        (200, 2)
    """

    make: Callable[..., SystemData]
    turn: float  # mean time between maxima of the state that oscillates
    parameters: Mapping[str, Any] = field(default_factory=dict)  # where they are not the defaults

    def sample(self, samples_per_turn: int, *, noise: float = 0.0, seed: int = 0) -> SystemData:
        """Return 40 turns of the system, measured a given number of times per turn.

        Args:
            samples_per_turn: 2 or more.
            noise: standard deviation of the noise, as a share of the root mean square of each state.
            seed: random seed of the noise.
        """
        check_count("samples_per_turn", samples_per_turn, at_least=2)
        n_samples, step = N_TURNS * samples_per_turn, self.turn / samples_per_turn
        return self.make(n_samples, step, noise=noise, seed=seed, **self.parameters)


# Turns are rounded to three digits. Those of periodic orbits are 1 to 3 % longer than the period, which is in the comment: with the
# period itself, every turn would be sampled at the same points again. Within these limits, the lengths are those at which the samples
# cover the orbit most evenly. Chaotic systems begin on their attractor; the others keep the default start, away from their cycle.
SAMPLED_SYSTEMS: Mapping[str, SampledSystem] = MappingProxyType(
    {
        "lorenz": SampledSystem(make=make_lorenz, turn=0.751, parameters={"initial": (-6.1, -10.5, 13.9)}),  # of z
        "rossler": SampledSystem(make=make_rossler, turn=5.86, parameters={"initial": (10.8, -3.9, 1.6)}),
        "van_der_pol": SampledSystem(make=make_van_der_pol, turn=6.78, parameters={"mu": 1.0}),  # 6.663
        "lotka_volterra": SampledSystem(make=make_lotka_volterra, turn=10.0),  # 9.883
        "fitzhugh_nagumo": SampledSystem(make=make_fitzhugh_nagumo, turn=40.0),  # 39.47
        "brusselator": SampledSystem(make=make_brusselator, turn=7.36),  # 7.157
        "rosenzweig_macarthur": SampledSystem(make=make_rosenzweig_macarthur, turn=27.5),  # 26.74
        "thomas": SampledSystem(make=make_thomas, turn=10.2),
        "halvorsen": SampledSystem(make=make_halvorsen, turn=0.89),
        "hyperchaotic_rossler": SampledSystem(make=make_hyperchaotic_rossler, turn=6.73),  # of y
    }
)
