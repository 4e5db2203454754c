"""Start-up: from the command to the first formula and to the end, with and without compiled kernels.

Every measurement runs `spl fit` on 200 rows of an easy law in a process of its own, with kernels in a temporary folder. Times are also
given as multiples of the time that importing numba and compiling one small function takes in the same run. `--source` measures
another checkout as well.

    python benchmarks/startup.py
    python benchmarks/startup.py --source ../before/src --rounds 20
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).parents[1] / "src"
SMALL_FUNCTION = "import numba; numba.njit(lambda x: x + 1.0)(1.0)"
LAW = "y = 2.5*x1*x2 + sin(x1)"
N_WARM = 5
CHANGED = ("spl/kernels/tree/bank_closers.py", "\nN_QUOTIENTS = 3 ", "\nN_QUOTIENTS = 4 ")  # what an upgrade changes


class Start(NamedTuple):
    """What one command took, in seconds."""

    first: float  # to the first formula
    end: float
    n_files: int  # in the store afterwards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, nargs="*", default=[], help="folder that contains another spl")
    parser.add_argument("--rounds", type=int, default=0, help="how often two processes start at once on an empty store")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "easy.csv")
        write_table(table)
        for source in [*options.source, HERE]:
            print(f"\n{source}")
            for cores in ("", "0"):
                measure(source.resolve(), table, Path(folder), cores)
        if options.rounds:
            start_two_at_once(table, Path(folder), options.rounds)


def write_table(path: Path) -> None:
    x1, x2 = np.random.default_rng(0).uniform(1.0, 5.0, (2, 200))
    table = np.column_stack([x1, x2, 2.5 * x1 * x2 + np.sin(x1)])
    np.savetxt(path, table, delimiter=",", header="x1,x2,y", comments="")


def measure(source: Path, table: Path, folder: Path, cores: str) -> None:
    """Print one line for each kind of start, on all cores or on one."""
    cache = Path(tempfile.mkdtemp(dir=folder))
    unit = statistics.median(seconds_of(SMALL_FUNCTION, cores) for _ in range(3))
    print(f"{'one core' if cores else 'all cores'}; numba and one small function: {unit:.2f} s")

    def show(name: str, start: Start) -> None:
        print(
            f"  {name:<24} first formula {start.first:6.2f} s ({start.first / unit:4.1f} times)"
            f"  end {start.end:6.2f} s  files {start.n_files}"
        )

    show("cold", fit(source, table, cache, cores))
    warm = [fit(source, table, cache, cores) for _ in range(N_WARM)]
    show("warm, median of five", min(warm, key=lambda each: abs(each.end - statistics.median(w.end for w in warm))))
    show("one kernel changed", fit(change_one_kernel(source, Path(tempfile.mkdtemp(dir=folder))), table, cache, cores))


def change_one_kernel(source: Path, folder: Path) -> Path:
    """Return a copy of the sources in which one kernel is different."""
    shutil.copytree(source / "spl", folder / "spl", ignore=shutil.ignore_patterns("__pycache__"))
    name, before, after = CHANGED
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count(before) == 1
    (folder / name).write_text(text.replace(before, after), encoding="utf-8")
    return folder


def seconds_of(code: str, cores: str) -> float:
    began = time.perf_counter()
    subprocess.run([*pinned(cores), sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def pinned(cores: str) -> list[str]:
    return ["taskset", "--cpu-list", cores] if cores else []


def fit(source: Path, table: Path, cache: Path, cores: str = "") -> Start:
    """Run the command; fail if it does not find the law."""
    command = [*pinned(cores), sys.executable, "-P", "-m", "spl", "fit", str(table), "--target", "y"]
    environment = os.environ | {"PYTHONPATH": str(source), "SPL_CACHE": str(cache), "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode
    began = time.perf_counter()
    running = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    )
    first, lines = 0.0, []
    assert running.stdout is not None
    for line in running.stdout:
        lines.append(line.strip())
        if not first and " loss " in line:
            first = time.perf_counter() - began
    assert running.wait() == 0, lines
    assert LAW in lines, lines
    return Start(first, time.perf_counter() - began, sum(1 for _ in cache.rglob("*.nbc")))


def start_two_at_once(table: Path, folder: Path, n_rounds: int) -> None:
    """Start two commands at the same moment on an empty store, again and again; both must find the law."""
    for number in range(n_rounds):
        cache = Path(tempfile.mkdtemp(dir=folder))
        with ThreadPoolExecutor(2) as pool:
            starts = list(pool.map(lambda _, cache=cache: fit(HERE, table, cache), range(2)))
        print(
            f"  two at once, round {number + 1}: both right, after {max(start.end for start in starts):.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
