"""Compare the evaluation of programs with the machine's practical limit, a plain C++ loop over the same four programs.

    python benchmarks/evaluation.py [--yardstick PATH] [--repeats 5]

Prints, for each program and number of samples, the time of one evaluation, ours and the yardstick's, each the best of
alternating repeats. Both loops are compiled, so the overhead of Python calls is not measured.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from spl.kernels.programs.evaluate import BLOCK, Alphabet, evaluate
from spl.kernels.programs.tokens import ADD, COS, DIV, EXP, KIND_SHIFT, LOG, MUL, SIN, SQRT, SUB, VARIABLE
from spl.kernels.runtime.compiler import kernel

YARDSTICK = Path(__file__).resolve().parents[2] / "shared" / "limits" / "evaluate.cpp"
X0 = VARIABLE << KIND_SHIFT
X1 = X0 + 1
# The programs of the yardstick, by the first word of their name there.
PROGRAMS = {
    "arithmetic": [SUB, ADD, MUL, MUL, X0, X0, X0, MUL, X0, X1, DIV, X1, X0],
    "trig": [SUB, MUL, SIN, MUL, X0, X0, COS, X0, DIV, ADD, X0, X1, X1],
    "exp/log": [ADD, EXP, MUL, X1, LOG, X0, EXP, X0],
    "root": [SQRT, ADD, MUL, X0, X0, MUL, X1, X1],
}
LIMITS = {20: 2.0, 100: 2.0, 1000: 1.5, 10_000: 1.5}  # how many times the yardstick's time we may take


@kernel
def evaluate_often(n_rounds, tokens, constants, alphabet, columns, stack):
    """Evaluate a program `n_rounds` times, each on slightly different data; use the values in place, as the fit does."""
    n_samples = columns.shape[1]
    total = 0.0
    for r in range(n_rounds):
        columns[0, r % n_samples] += 1e-12
        for first in range(0, n_samples, BLOCK):
            n = min(BLOCK, n_samples - first)
            evaluate(tokens, tokens.size, constants, alphabet, columns, first, n, stack)
            total += stack[n - 1]
    return total


def measure_ours(program: list[int], n_samples: int) -> float:
    """Return the microseconds of one evaluation."""
    tokens = np.array(program, dtype=np.int64)
    columns = np.random.default_rng(0).uniform(0.1, 2.0, (2, n_samples))
    alphabet = Alphabet(np.zeros(0), np.zeros((0, 3), dtype=np.int64))
    state = tokens, np.zeros(0), alphabet, columns, np.empty(16 * BLOCK)
    n_rounds = 8_000_000 // (n_samples * len(program))  # as the yardstick
    evaluate_often(1, *state)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        evaluate_often(n_rounds, *state)
        times.append((time.perf_counter() - start) / n_rounds)
    return min(times) * 1e6


def build_yardstick(source: Path, folder: Path) -> Path | None:
    """Return the compiled yardstick; None, with a printed reason, if it cannot be built."""
    if not source.is_file():
        print(f"No yardstick at {source}: only our own times follow. Set its path with --yardstick.")
        return None
    if shutil.which("g++") is None:
        print("There is no g++ to build the yardstick: only our own times follow.")
        return None
    program = folder / "yardstick"
    subprocess.run(["g++", "-O3", "-march=native", "-ffast-math", source, "-o", program], check=True)
    return program


def measure_yardstick(program: Path) -> dict[tuple[str, int], float]:
    """Return the yardstick's microseconds by program and number of samples."""
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^(\S+) .*N=(\d+)\s+([\d.]+) us", output, flags=re.MULTILINE)
    return {(name, int(n_samples)): float(microseconds) for name, n_samples, microseconds in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the evaluation of programs with a C++ loop.")
    parser.add_argument("--yardstick", type=Path, default=YARDSTICK, help="source of the C++ loop")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    ours: dict[tuple[str, int], float] = {}
    theirs: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        yardstick = build_yardstick(arguments.yardstick, Path(folder))
        for _ in range(arguments.repeats):
            for key, value in (measure_yardstick(yardstick) if yardstick else {}).items():
                theirs[key] = min(value, theirs.get(key, np.inf))
            for name, program in PROGRAMS.items():
                for n_samples in LIMITS:
                    value = measure_ours(program, n_samples)
                    ours[name, n_samples] = min(value, ours.get((name, n_samples), np.inf))
    print(f"{'program':<12} {'N':>6} {'ours us':>10} {'C++ us':>10} {'ratio':>6} {'limit':>6}")
    n_over = 0
    for (name, n_samples), value in sorted(ours.items(), key=lambda item: item[0][1]):
        limit = LIMITS[n_samples]
        reference = theirs.get((name, n_samples), np.nan)
        is_over = value > limit * reference
        n_over += is_over
        times = f"{value:>10.3f} {reference:>10.3f} {value / reference:>6.2f}"
        print(f"{name:<12} {n_samples:>6} {times} {limit:>6.1f} {'OVER' * is_over}")
    sys.exit(n_over > 0)


if __name__ == "__main__":
    main()
