"""Time limits under load: how far a search exceeds its limit, on an idle machine and on a busy one.

Each case runs in a separate process and is measured after its imports, from the first call to the answer, including the time to load
kernels from the cache. The goal is an overrun of at most 10 % of the limit or 1 s, however many processes are busy. No law can be
found within its limit.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas  # noqa: F401 (imports come before the clock starts)
import sympy  # noqa: F401

import spl.dynamics.discover  # noqa: F401
from spl import SPLDynamics, SPLRegressor
from spl.datasets import make_lorenz, make_lotka_volterra

SHARE, SECONDS = 0.10, 1.0  # allowed overrun: a share of the limit, or this many seconds if that is more


def make_table(n_rows: int, n_columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a law under noise that takes longer to find than there is time."""
    random = np.random.default_rng(0)
    X = random.uniform(0.5, 3.0, (n_rows, n_columns))
    y = np.sin(7 * X[:, 0] * X[:, 1]) + np.sin(9 * X[:, 2]) / X[:, 3] + np.sin(40 * X[:, 0])
    return X, y + 0.1 * random.standard_normal(n_rows)


def fit_table(n_rows: int, seconds: float, n_jobs: int = 1) -> float:
    X, y = make_table(n_rows)
    began = time.monotonic()
    SPLRegressor(timeout=seconds, n_jobs=n_jobs, random_state=0).fit(X, y)
    return time.monotonic() - began


def fit_file(n_rows: int, seconds: float, *options: str) -> float:
    """Return the time of `spl fit` from the start of the process to its end, minus that of its imports."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        X, y = make_table(n_rows)
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
        command = ["fit", str(path), "--target", "y", "--timeout", str(seconds), "--quiet"]
        return run_command([*command, *(option.replace("FOLDER", folder) for option in options)])


def run_command(words: list[str]) -> float:
    imports = "import numba, pandas, rich, click, sympy, scipy.optimize, spl.cli.main"
    took = []
    for code in (imports, "from spl.cli.main import main; main(prog_name='spl')"):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True)
        took.append(time.monotonic() - began)
    return took[1] - took[0]


def fit_system(make: Callable[..., object], seconds: float, n_jobs: int = 1) -> float:
    data = make(noise=0.05)
    began = time.monotonic()
    model = SPLDynamics(timeout=seconds, n_jobs=n_jobs, random_state=0)
    model.fit(data.states, data.t, feature_names=data.names)
    return time.monotonic() - began


CASES: dict[str, Callable[[float], float]] = {
    "table, 200 rows": lambda seconds: fit_table(200, seconds),
    "table, 200 rows, two jobs": lambda seconds: fit_table(200, seconds, n_jobs=2),
    "table, 100,000 rows": lambda seconds: fit_table(100_000, seconds),
    "spl fit, 200 rows": lambda seconds: fit_file(200, seconds),
    "spl fit, 200 rows, run file": lambda seconds: fit_file(200, seconds, "--run", "FOLDER/run.spl"),
    "system, Lotka-Volterra": lambda seconds: fit_system(make_lotka_volterra, seconds),
    "system, Lorenz, two jobs": lambda seconds: fit_system(make_lorenz, seconds, n_jobs=2),
}


@contextmanager
def busy(n_processes: int) -> Iterator[None]:
    """Keep this many processes busy."""
    workers = [multiprocessing.get_context("spawn").Process(target=_be_busy, daemon=True) for _ in range(n_processes)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def _be_busy() -> None:
    while True:
        pass


def measure(case: str, seconds: float) -> float:
    """Return the time of a case in a new process."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", case, "--seconds", str(seconds)], check=True, capture_output=True, text=True
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="+", default=[3.0, 12.0], help="limits of each search")
    parser.add_argument("--load", type=int, nargs="+", default=[0, 3], help="busy processes on each processor")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(CASES[arguments.one](arguments.seconds[0])))
        return
    measure(next(iter(CASES)), 1.0)  # compiles the kernels
    print(f"{'busy / core':>11}{'limit':>7}{'took':>8}{'over':>8}  case")
    for load in arguments.load:
        with busy(load * (os.cpu_count() or 1)):
            for seconds in arguments.seconds:
                for case in CASES:
                    if arguments.only not in case:
                        continue
                    took = measure(case, seconds)
                    is_kept = took - seconds <= max(SHARE * seconds, SECONDS)
                    print(
                        f"{load:11}{seconds:7.1f}{took:8.1f}{took - seconds:8.1f}  {case}{'' if is_kept else '  TOO LATE'}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
