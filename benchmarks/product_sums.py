"""Laws that are sums of products: how many the search recovers with the closer for them and without it.

Twenty laws as mechanics writes them, at the root, below a bar, or inside a root or function; 256 rows, without noise and with 5 %.
They were written down before any of them was tried. The two searches of a table follow each other, so that they run under the same
conditions.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.bench.random import is_law
from spl.bench.trials import noise_of
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import CLOSERS, Limits, SearchConfig

N_TRAIN, N_TEST = 256, 1000
NOISE_LEVELS = (0.0, 0.05)  # standard deviation of the noise / root mean square of the exact values
POSITIVE, SIGNED = (0.5, 2.5), (-2.0, 2.0)  # ranges of the variables


class Law(NamedTuple):
    """A law, its variables, and which of them are positive."""

    name: str
    text: str
    variables: str
    positive: str = ""


LAWS = (
    Law("pendulum-2", "1.3*w*cos(p-q) + 0.7*v**2*sin(p-q) + 2.1*sin(p)", "pqvw"),
    Law("pendulum-drive", "-1.7*sin(p) - 0.4*v + 0.9*u*cos(p)", "pvu"),
    Law("cart-pole", "0.8*v**2*sin(p) - 1.4*sin(p)*cos(p) + 0.6*u", "pvu"),
    Law("spring-coupled", "-2.2*x*y**2 + 0.9*x**3 - 0.5*v*sin(x)", "xyv"),
    Law("arm-torque", "1.1*a*cos(q) + 0.6*v*w*sin(q) + 3.2*cos(p+q)", "pqvwa"),
    Law("rotor", "0.7*v*w*cos(p) - 1.9*z*sin(p) + 0.3*v*exp(-z)", "pvwz", "z"),
    Law("wind", "1.6*v*sqrt(z)*cos(p) + 0.8*w*log(z)*sin(p)", "pvwz", "z"),
    Law("dipoles", "1.5*cos(p)*cos(q) - 0.6*sin(p)*sin(q)*cos(r)", "pqr"),
    Law("van-der-waals-like", "2.3*x/z + 0.9*y*z - 1.2*x*y**2", "xyz", "z"),
    Law("wave-mix", "1.2*x*sin(y) - 0.8*y*cos(z) + 0.5*z*sin(x)", "xyz"),
    Law("damping", "0.9*x*exp(-z)*cos(y) - 1.1*v*exp(-z)", "xyzv", "z"),
    Law("four-terms", "0.5*x*y - 1.4*y*sin(z) + 0.8*v*cos(x) + 1.7*z*v", "xyzv"),
    Law("acceleration", "(1.2*u + 0.7*v**2*sin(p) - 1.8*sin(p)*cos(p))/(1 + 0.5*sin(p)**2)", "pvu"),
    Law("inertia-below", "u/(2.5 + 0.8*m*cos(q) + 0.6*m**2)", "uqm", "m"),
    Law("two-link-share", "(0.9*v*w*sin(q) + 1.5*cos(p))/z", "pqvwz", "z"),
    Law("rate-below", "x*z/(1.4*z + 0.7*z*exp(y) + 0.9*x**2)", "xyz", "xz"),
    Law("distance", "sqrt(x**2 + y**2 - 1.4*x*y*cos(p))", "xyp", "xy"),
    Law("speed", "sqrt(6 + 1.5*v**2 + 1.2*v*w*cos(p-q))", "pqvw"),
    Law("phase", "sin(0.5*x*cos(y) + 0.3*z*sin(y))", "xyz"),
    Law("decay", "exp(0.6*x*cos(p) - 0.4*z*v)", "xpzv", "z"),
)


def make_rows(law: Law, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a table of points, those of the search first, and the exact values of the law."""
    rng = np.random.default_rng([seed, *law.name.encode()])
    ranges = [POSITIVE if name in law.positive else SIGNED for name in law.variables]
    table = np.column_stack([rng.uniform(*limits, N_TRAIN + N_TEST) for limits in ranges])
    program = parse_expression(law.text, Vocabulary(tuple(law.variables)))
    return table, evaluate(program, np.ascontiguousarray(table.T))


def search(law: Law, noise: float, config: SearchConfig, timeout: float, seed: int) -> tuple[bool, float, str]:
    """Return whether the law was recovered, the seconds, and what was chosen."""
    table, truth = make_rows(law, seed)
    size = noise * np.sqrt(np.mean(truth[:N_TRAIN] ** 2))
    target = truth[:N_TRAIN] + size * np.random.default_rng([seed, 7]).standard_normal(N_TRAIN)
    names = tuple(law.variables)
    began = time.perf_counter()
    found = discover(
        RegressionRequest(
            Dataset.from_arrays(table[:N_TRAIN], target, names=names),
            Grammar.from_operators(DEFAULT_OPERATORS, names),
            config=config,
            noise=noise_of(config),
            limits=Limits(timeout=timeout),
            n_jobs=1,
            seed=seed,
        )
    )
    seconds = time.perf_counter() - began
    program = found.front[found.front.choose("mdl", found.n_rows, found.floor)].program
    is_recovered = is_law(program, table[N_TRAIN:], truth[N_TRAIN:], is_noisy=noise > 0)
    return is_recovered, seconds, to_text(program, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    without = tuple(name for name in CLOSERS if name != "products")
    configs = {"with": SearchConfig(), "without": SearchConfig(closers=without)}
    counts = {(noise, name): [0, 0.0] for noise in NOISE_LEVELS for name in configs}
    for law in LAWS:
        for noise in NOISE_LEVELS:
            for name, config in configs.items():
                is_recovered, seconds, text = search(law, noise, config, options.seconds, options.seed)
                counts[noise, name][0] += is_recovered
                counts[noise, name][1] += seconds
                verdict = "recovered" if is_recovered else "missed"
                print(f"{law.name}, noise {noise:g}, {name}: {verdict} after {seconds:.1f} s: {text}", flush=True)
    for (noise, name), (n_recovered, seconds) in counts.items():
        print(f"noise {noise:g}, {name}: {n_recovered} of {len(LAWS)} recovered, {seconds:.0f} s")


if __name__ == "__main__":
    main()
