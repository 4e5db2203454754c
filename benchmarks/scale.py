"""Scale: a million rows against ten thousand, and two threads against one. Ratios within one run.

Rows: time to the solution of a law with four variables and constants, with the default search, and the memory of the process. Threads:
evaluations per second on a law that is not found in time, as the median over pairs of consecutive runs.
"""

import argparse
import resource
import statistics
import time

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.regression.warm_up import compile_kernels
from spl.settings import Limits

NAMES = ("a", "b", "c", "d")
ROWS = (10_000, 1_000_000)


def make_table(n_rows: int, noise: float) -> Dataset:
    """Return rows of a law that takes a few hundred episodes to find."""
    random = np.random.default_rng(0)
    table = random.uniform(0.5, 3.0, (n_rows, len(NAMES)))
    a, b, c, d = table.T
    target = 2.5 * a * np.sin(b) / (c + 0.7) + d**2
    return Dataset.from_arrays(table, target + noise * np.std(target) * random.standard_normal(n_rows), names=NAMES)


def measure_rows(n_seeds: int) -> None:
    """Print the time to the solution for both sizes of tables."""
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, NAMES)
    print(f"{'rows':>10}{'seconds':>10}{'memory MB':>11}  found")
    medians = []
    for n_rows in ROWS:
        data = make_table(n_rows, noise=0.0)
        seconds = []
        for seed in range(n_seeds):
            began = time.perf_counter()
            found = discover(RegressionRequest(data, grammar, limits=Limits(timeout=120.0), seed=seed))
            seconds.append(time.perf_counter() - began)
        medians.append(statistics.median(seconds))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        best = found.front[found.front.choose("mdl", found.n_rows, found.floor)]
        print(f"{n_rows:10,}{medians[-1]:10.2f}{memory:11.0f}  {to_text(best.program, 4)} ({found.stopped})")
    print(f"ratio {medians[1] / medians[0]:.2f} (goal: at most 3, below 2,048 MB)")


def measure_threads(seconds: float, n_pairs: int) -> None:
    """Print the evaluations per second with one thread and with two."""
    data = make_table(1000, noise=0.1)
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, NAMES)
    ratios = []
    for pair in range(n_pairs):
        rates = []
        for n_jobs in (1, 2):
            found = discover(RegressionRequest(data, grammar, limits=Limits(timeout=seconds), n_jobs=n_jobs, seed=pair))
            rates.append(found.n_evaluations / found.seconds)
        ratios.append(rates[1] / rates[0])
        print(f"evaluations/s: {rates[0]:8.0f} with one thread, {rates[1]:8.0f} with two, ratio {ratios[-1]:.2f}")
    print(f"median ratio {statistics.median(ratios):.2f} (goal: at least 1.7)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="time for each run of the threads")
    parser.add_argument("--seeds", type=int, default=3, help="searches for each size of the table")
    arguments = parser.parse_args()
    compile_kernels()
    measure_rows(arguments.seeds)
    measure_threads(arguments.seconds, 3)


if __name__ == "__main__":
    main()
