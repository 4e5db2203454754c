"""Speed of the search: episodes and evaluations per second on Nguyen problems in the paper's setting, one thread.

An evaluation is a distinct program whose values were computed and whose constants, if any, were fitted. On such a machine, the
original implementation reaches 1,300 to 2,500 evaluations/s without constants, and 13 to 16 with them.
"""

import argparse
import time

import numpy as np

from spl.data.dataset import Dataset
from spl.datasets import load_nguyen
from spl.formulas.grammar import Grammar
from spl.regression.bank_build import make_completion
from spl.regression.searcher import Searcher
from spl.regression.warm_up import compile_kernels
from spl.settings import SearchConfig

PROBLEMS = ("Nguyen-1", "Nguyen-5", "Nguyen-12", "Nguyen-1c", "Nguyen-9c")
ORIGINAL = {False: 2500, True: 16}  # evaluations/s of the original implementation, by whether there are constants


def measure(name: str, seconds: float) -> tuple[float, float]:
    """Return episodes and evaluations per second of one tree after another, as in the paper, until the time is up."""
    problem = load_nguyen(name)
    table, target = problem.make_train(seed=0)
    data = Dataset.from_arrays(table, target, names=problem.variables)
    config = SearchConfig(
        max_rules=problem.t_max,
        n_episodes=problem.episodes_between_transplants,
        relative_loss=False,
        n_trees=1,
        n_completions=0,
    )
    sample = data.sample(config.max_rows, np.random.default_rng(0))
    grammar = Grammar.from_text(problem.grammar_text).bind(data.names)
    searcher = Searcher(grammar, sample, config, 0, make_completion(grammar, sample, is_used=False))
    began = time.perf_counter()
    deadline = began + seconds
    while time.perf_counter() < deadline:
        searcher.plant((), config.module_size)
        searcher.grow(config.n_episodes, np.iinfo(np.int64).max, lambda: time.perf_counter() >= deadline)
    elapsed = time.perf_counter() - began
    return searcher.n_episodes / elapsed, searcher.n_evaluations / elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each problem")
    arguments = parser.parse_args()
    began = time.perf_counter()
    compile_kernels()
    print(f"kernels ready after {time.perf_counter() - began:.1f} s")
    print(f"{'problem':12}{'episodes/s':>12}{'evaluations/s':>16}{'original':>10}{'ratio':>8}{'goal':>7}")
    for name in PROBLEMS:
        episodes, evaluations = measure(name, arguments.seconds)
        has_constants = name.endswith("c")
        original = ORIGINAL[has_constants]
        goal = 1000 if has_constants else 100
        print(f"{name:12}{episodes:12.0f}{evaluations:16.0f}{original:10d}{evaluations / original:8.0f}{goal:7d}")


if __name__ == "__main__":
    main()
