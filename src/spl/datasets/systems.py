"""All simulated systems by name, for tables and benchmarks."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from spl.datasets.lorenz import make_lorenz
from spl.datasets.mechanics import make_cart_pole, make_damped_pendulum, make_double_pendulum, make_driven_pendulum
from spl.datasets.oscillators import make_duffing, make_glycolytic_oscillator, make_rossler, make_van_der_pol
from spl.datasets.populations import make_lotka_volterra, make_michaelis_menten, make_sir
from spl.datasets.simulation import SystemData

SYSTEMS: Mapping[str, Callable[..., SystemData]] = MappingProxyType(
    {
        "lorenz": make_lorenz,
        "rossler": make_rossler,
        "van_der_pol": make_van_der_pol,
        "duffing": make_duffing,
        "glycolytic_oscillator": make_glycolytic_oscillator,
        "lotka_volterra": make_lotka_volterra,
        "sir": make_sir,
        "michaelis_menten": make_michaelis_menten,
        "damped_pendulum": make_damped_pendulum,
        "driven_pendulum": make_driven_pendulum,
        "double_pendulum": make_double_pendulum,
        "cart_pole": make_cart_pole,
    }
)
