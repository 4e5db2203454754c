"""Memory of a long run: the resident set of the process, every ten seconds, during a search that only its time limit ends.

The law is Nguyen-12 with noise, so that no formula is exact; the run is kept in a file, like any long run. Prints whether the memory
is flat over the last half, and draws it.

    python -m benchmarks.memory --seconds 3600 --output memory.csv
"""

import argparse
import csv
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.regression.request import RegressionRequest
from spl.regression.warm_up import compile_kernels
from spl.runs.regression import discover_in_file
from spl.settings import Limits

PAUSE_SECONDS = 10.0
FLAT = 0.02  # largest relative growth over the last half that counts as none
MEGABYTE = 2**20


def make_data() -> Dataset:
    """Return 200 rows of Nguyen-12 on the range of the paper's variant, with noise of a tenth of its spread."""
    random = np.random.default_rng(0)
    x, y = random.uniform(0.0, 10.0, (2, 200))
    target = x**4 - x**3 + y**2 / 2 - y
    noisy = target + 0.1 * np.std(target) * random.standard_normal(target.size)
    return Dataset.from_arrays(np.stack([x, y], axis=1), noisy, names=["x", "y"])


def resident_megabytes() -> float:
    """Return the memory of this process (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


class Recorder(threading.Thread):
    """Records the memory and the size of the run file, line by line, until it is told to stop."""

    def __init__(self, output: Path, run: Path) -> None:
        super().__init__(daemon=True)
        self._output, self._run = output, run
        self.over = threading.Event()

    def run(self) -> None:
        began = time.monotonic()
        with self._output.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["seconds", "resident_mb", "run_file_mb"])
            while True:
                size = self._run.stat().st_size / MEGABYTE if self._run.exists() else 0.0
                writer.writerow([f"{time.monotonic() - began:.1f}", f"{resident_megabytes():.2f}", f"{size:.2f}"])
                file.flush()
                if self.over.wait(PAUSE_SECONDS):
                    return


def read_rows(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def describe(rows: np.ndarray) -> str:
    """Return a description of the last half, by a straight line fitted to it."""
    seconds, memory = rows[:, 0], rows[:, 1]
    is_late = seconds >= seconds[-1] / 2
    slope, start = np.polyfit(seconds[is_late], memory[is_late], 1)
    growth = slope * (seconds[is_late][-1] - seconds[is_late][0])
    share = growth / (start + slope * seconds[is_late][0])
    verdict = "flat" if abs(share) <= FLAT else "not flat"
    return (
        f"{seconds[-1]:.0f} s; highest {memory.max():.0f} MB; over the last half {memory[is_late].min():.1f} to "
        f"{memory[is_late].max():.1f} MB, {growth:+.1f} MB by a line through it ({100 * share:+.2f} %): {verdict}"
    )


def draw(rows: np.ndarray, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(rows[:, 0] / 60, rows[:, 1], label="memory of the process")
    axes.plot(rows[:, 0] / 60, rows[:, 2], label="run file")
    axes.axvspan(rows[-1, 0] / 120, rows[-1, 0] / 60, color="0.93", zorder=0)
    axes.set(xlabel="minutes", ylabel="MB", ylim=(0, None), xlim=(0, rows[-1, 0] / 60))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--output", type=Path, default=Path("memory.csv"), help="the figure goes next to it, as .png")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    data = make_data()
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, data.names)
    compile_kernels()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "memory.spl"
        recorder = Recorder(arguments.output, run)
        recorder.start()
        found = discover_in_file(
            run,
            RegressionRequest(data, grammar, limits=Limits(timeout=arguments.seconds), n_jobs=arguments.jobs, seed=0),
        )
        recorder.over.set()
        recorder.join()
    rows = read_rows(arguments.output)
    draw(rows, arguments.output.with_suffix(".png"))
    print(f"{found.n_evaluations:,} evaluations, {found.n_episodes:,} episodes, stopped: {found.stopped}")
    print(describe(rows))


if __name__ == "__main__":
    main()
