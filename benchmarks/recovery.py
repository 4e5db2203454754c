"""Recovery of the Nguyen problems with the paper's grammars, hyperparameters and data, one tree, one thread.

Recovered means: equal to the truth to a relative error of 1e-6 on the separate test range, which the search never saw.
"""

import argparse
import time

import numpy as np

from spl.config import Limits, SearchConfig
from spl.data import Dataset
from spl.datasets import load_nguyen, nguyen_problems
from spl.discover import discover
from spl.expression import to_text
from spl.fit import evaluate
from spl.grammar import Grammar
from spl.search import compile_kernels

TOLERANCE = 1e-6


def run_trial(name: str, seed: int) -> tuple[bool, float, int, str]:
    """Return whether the law was recovered, the seconds, the evaluations and the formula."""
    problem = load_nguyen(name)
    table, target = problem.make_train(seed)
    config = SearchConfig(
        max_rules=problem.t_max,
        n_episodes=problem.episodes_between_transplants,
        n_transplants=problem.module_transplants,
        max_modules=problem.max_modules,
        max_schedules=1,
        relative_loss=False,
        n_trees=1,
    )
    data = Dataset.from_arrays(table, target, names=problem.variables)
    began = time.perf_counter()
    found = discover(
        data, Grammar.from_text(problem.grammar_text), config=config, limits=Limits(timeout=None), seed=seed
    )
    seconds = time.perf_counter() - began
    program = found.front[found.front.choose("mdl", data.n_rows, found.floor)].program
    test_table, truth = problem.make_test()
    error = np.max(np.abs(evaluate(program, np.ascontiguousarray(test_table.T)) - truth)) / np.max(np.abs(truth))
    return bool(error <= TOLERANCE), seconds, found.n_evaluations, to_text(program, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", default=",".join(problem.name for problem in nguyen_problems()))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    compile_kernels()
    print(f"{'problem':16}{'recovered':>12}{'paper':>8}{'median s':>10}{'worst s':>10}{'evaluations':>13}")
    for name in arguments.problems.split(","):
        trials = [run_trial(name, seed) for seed in range(arguments.seeds)]
        paper = load_nguyen(name).paper_spl
        share = "" if paper is None else f"{paper:.0%}"
        n_recovered = sum(trial[0] for trial in trials)
        seconds = [trial[1] for trial in trials]
        evaluations = int(np.median([trial[2] for trial in trials]))
        rate = f"{n_recovered} of {len(trials)}"
        print(
            f"{name:16}{rate:>12}{share:>8}{np.median(seconds):>10.2f}{max(seconds):>10.2f}{evaluations:>13}",
            flush=True,
        )
        for seed, trial in enumerate(trials):
            if not trial[0]:
                print(f"    seed {seed}: {trial[3]}")


if __name__ == "__main__":
    main()
