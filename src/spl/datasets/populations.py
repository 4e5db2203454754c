"""Populations of animals, patients and molecules, simulated and measured with noise.

All generators take the number of samples and the step between them, then `noise` as a share of the root mean square of
each state, the `seed` of the noise, the `initial` states, and the parameters of the system.
"""

from collections.abc import Sequence

from spl.datasets.simulation import Rows, Sampling, SystemData, simulate_system, write_numbers
from spl.settings import check_number


def make_lotka_volterra(
    n_samples: int = 1000,
    step: float = 0.04,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (34.0, 6.0),
    birth: float = 0.55,
    predation: float = 0.028,
    growth: float = 0.026,
    death: float = 0.84,
) -> SystemData:
    """Simulate prey and predators after Lotka (1925) and Volterra (1926).

    prey' = birth*prey - predation*prey*predator, predator' = growth*prey*predator - death*predator. The defaults describe
    hares and lynxes of the Hudson Bay from 1900 to 1920, in thousands of pelts and years (Carpenter 2018); four cycles.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: prey and predators at t = 0.
        birth: rate at which prey multiplies.
        predation: rate at which one predator eats prey.
        growth: rate at which predators multiply per prey.
        death: rate at which predators die.

    Examples:
        >>> make_lotka_volterra(100).equations["prey"]
        '0.55*prey - 0.028*prey*predator'
    """
    b, p, g, d = write_numbers(birth=birth, predation=predation, growth=growth, death=death)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        prey, predator = states
        return prey * (birth - predation * predator), predator * (growth * prey - death)

    equations = {"prey": f"{b}*prey - {p}*prey*predator", "predator": f"{g}*prey*predator - {d}*predator"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_rosenzweig_macarthur(
    n_samples: int = 1000,
    step: float = 0.15,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (1.0, 0.5),
    capacity: float = 2.0,
    attack: float = 1.2,
    half: float = 0.4,
    growth: float = 0.6,
    death: float = 0.35,
) -> SystemData:
    """Simulate prey and predators that can be sated, after Rosenzweig and MacArthur (1963).

    prey' = prey*(1 - prey/capacity) - attack*prey*predator/(half + prey) and
    predator' = growth*prey*predator/(half + prey) - death*predator. The unit of time is one over the growth rate of the prey. From the
    default start it approaches its limit cycle.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: prey and predators at t = 0.
        capacity: prey that the environment can feed, without predators.
        attack: the highest rate at which one predator eats prey.
        half: the prey at which that rate is half as high.
        growth: the highest rate at which predators multiply.
        death: rate at which predators die.

    Examples:
        >>> make_rosenzweig_macarthur(100).equations["predator"]
        '0.6*prey*predator/(0.4 + prey) - 0.35*predator'
    """
    k, a, h, g, d = write_numbers(capacity=capacity, attack=attack, half=half, growth=growth, death=death)
    check_number("capacity", capacity, above=0.0)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        prey, predator = states
        meals = prey * predator / (half + prey)
        return prey * (1 - prey / capacity) - attack * meals, growth * meals - death * predator

    equations = {
        "prey": f"prey*(1 - prey/{k}) - {a}*prey*predator/({h} + prey)",
        "predator": f"{g}*prey*predator/({h} + prey) - {d}*predator",
    }
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_sir(
    n_samples: int = 400,
    step: float = 0.04,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (762 / 763, 1 / 763, 0.0),
    infection: float = 1.66,
    recovery: float = 0.44,
) -> SystemData:
    """Simulate an epidemic after Kermack and McKendrick (1927): shares that are susceptible, infected, recovered.

    The defaults describe influenza among 763 boys of a boarding school in 1978, in days (Murray 2002, section 10.2).
    The three shares add up to 1, so each equation can be written in several ways; `equations` has the usual one.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: the three shares at t = 0.
        infection: infections caused per infected and unit of time while all others are susceptible.
        recovery: share of the infected that recovers per unit of time.

    Examples:
        >>> make_sir(100).equations["infected"]
        '1.66*susceptible*infected - 0.44*infected'
    """
    b, g = write_numbers(infection=infection, recovery=recovery)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        susceptible, infected, _recovered = states
        infections, recoveries = infection * susceptible * infected, recovery * infected
        return -infections, infections - recoveries, recoveries

    equations = {
        "susceptible": f"-{b}*susceptible*infected",
        "infected": f"{b}*susceptible*infected - {g}*infected",
        "recovered": f"{g}*infected",
    }
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))


def make_michaelis_menten(
    n_samples: int = 800,
    step: float = 0.01,
    *,
    noise: float = 0.0,
    seed: int = 0,
    initial: Sequence[float] = (3.0, 0.0),
    inflow: float = 0.6,
    v_max: float = 1.5,
    k_m: float = 0.3,
    decay: float = 0.5,
) -> SystemData:
    """Simulate an enzyme after Michaelis and Menten (1913), with an inflow of substrate and a product that decays.

    The rate is v = v_max*substrate/(k_m + substrate); substrate' = inflow - v, product' = v - decay*product. Inflow and
    rate are those of Mangan et al. (2016). From the default start the enzyme is saturated at first, but not at the end.

    Args:
        n_samples: number of samples.
        step: time between samples.
        noise: standard deviation of the noise, as a share of the root mean square of each state.
        seed: random seed of the noise.
        initial: substrate and product at t = 0.
        inflow: substrate added per unit of time.
        v_max: the highest rate.
        k_m: the substrate at which the rate is half of that.
        decay: rate at which the product decays.

    Examples:
        >>> make_michaelis_menten(100).equations["substrate"]
        '0.6 - 1.5*substrate/(0.3 + substrate)'
    """
    j, v, k, d = write_numbers(inflow=inflow, v_max=v_max, k_m=k_m, decay=decay)

    def slopes(states: Rows, _: Sequence[Rows]) -> Sequence[Rows]:
        substrate, product = states
        rate = v_max * substrate / (k_m + substrate)
        return inflow - rate, rate - decay * product

    rate_text = f"{v}*substrate/({k} + substrate)"
    equations = {"substrate": f"{j} - {rate_text}", "product": f"{rate_text} - {d}*product"}
    return simulate_system(slopes, equations, initial, Sampling(n_samples, step, noise, seed))
