"""Processor time of `SPLRegressor.fit` in two checkouts, problem by problem in turn, in one run.

Exact Nguyen problems end by themselves; random formulas with 1 % noise end after a number of evaluations, so that both checkouts do
the same work. One process per checkout fits everything, one problem after the other, and which of the two begins alternates. The
summary is the median of the ratios of times, with the quartiles.

    python benchmarks/fit_time.py ../before/src
    python benchmarks/fit_time.py ../before/src --leave-out products    # without a closer that the other checkout does not have
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parents[1] / "src"
NOISE = 0.01  # standard deviation over the root mean square of the exact values
TIMEOUT = 60.0  # seconds per search; nothing but the polish of a few formulas comes near it
WORKER = "--worker"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="folder that contains the other spl")
    parser.add_argument("--problems", type=int, default=12, help="Nguyen problems, and as many random formulas")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each problem")
    parser.add_argument("--evaluations", type=int, default=20_000, help="of each search of noisy data")
    parser.add_argument(
        "--leave-out", nargs="*", default=[], metavar="CLOSER", help="closers that neither checkout uses"
    )
    options = parser.parse_args()
    print(f"{options.before.resolve()} against {HERE}; ratios above 1 mean that the latter takes longer")
    workers = [Worker(source.resolve(), options.leave_out) for source in (options.before, HERE)]
    for kind in ("nguyen", "random"):
        trials = [
            (kind, number, seed, options.evaluations)
            for seed in range(options.seeds)
            for number in range(options.problems)
        ]
        show(kind, list(compare(workers, trials)))


class Worker:
    """A process that fits problems with the spl of one checkout."""

    def __init__(self, source: Path, left_out: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, WORKER, *left_out],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source)},
        )
        self.fit("nguyen", 0, 0, 1000)  # loads what the first fit loads

    def fit(self, *trial: str | int) -> tuple[float, str]:
        """Return the seconds of processor time of a fit, and the formula."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(trial), file=self._process.stdin, flush=True)
        seconds, formula = json.loads(self._process.stdout.readline())
        return float(seconds), str(formula)


def compare(
    workers: Sequence[Worker], trials: Sequence[tuple[str, int, int, int]]
) -> Iterator[tuple[float, float, bool]]:
    """Yield the seconds in both checkouts, and whether both formulas are the same."""
    for place, trial in enumerate(trials):
        order = (0, 1) if place % 2 == 0 else (1, 0)
        found = {which: workers[which].fit(*trial) for which in order}
        print(f"  {' '.join(map(str, trial)):<28}{found[0][0]:8.3f}{found[1][0]:8.3f}  {found[1][1]}", flush=True)
        yield found[0][0], found[1][0], found[0][1] == found[1][1]


def show(kind: str, found: Sequence[tuple[float, float, bool]]) -> None:
    ratios = [after / before for before, after, _ in found]
    low, middle, high = statistics.quantiles(ratios, n=4)
    total = sum(after for _, after, _ in found) / sum(before for before, _, _ in found)
    added = statistics.median(after - before for before, after, _ in found)
    print(
        f"{kind}: {len(found)} pairs, median ratio {middle:.3f} (quartiles {low:.3f} and {high:.3f}), ratio of totals {total:.3f}, "
        f"median added {added:.3f} s; same formula in {sum(is_same for _, _, is_same in found)}"
    )


def work(left_out: Sequence[str]) -> None:
    """Fit what standard input names, line by line."""
    import pandas as pd

    from spl import SPLRegressor
    from spl.datasets.nguyen import nguyen_problems
    from spl.datasets.random_formulas import make_random_formulas
    from spl.settings import CLOSERS, SearchConfig

    warnings.simplefilter("ignore")
    problems = {"nguyen": nguyen_problems(), "random": make_random_formulas(200)}
    closers = tuple(closer for closer in CLOSERS if closer not in left_out)
    for line in sys.stdin:
        kind, number, seed, n_evaluations = json.loads(line)
        problem = problems[kind][number]
        table, target = problem.make_train(seed) if kind == "nguyen" else problem.make_train(seed, noise=NOISE)
        grammar = {"grammar": problem.grammar_text} if kind == "nguyen" else {}
        limits = {} if kind == "nguyen" else {"max_evaluations": n_evaluations}
        model = SPLRegressor(
            **grammar, **limits, timeout=TIMEOUT, n_jobs=1, random_state=seed, search=SearchConfig(closers=closers)
        )
        rows = pd.DataFrame(table, columns=list(problem.variables))
        began = time.process_time()
        model.fit(rows, target)
        seconds = time.process_time() - began
        print(json.dumps([seconds, str(model.get_best()["equation"])]), flush=True)


if __name__ == "__main__":
    if WORKER in sys.argv:
        work([word for word in sys.argv[1:] if word != WORKER])
    else:
        main()
