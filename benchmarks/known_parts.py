"""How much a form helps: laws with known parts, searched with the form and without it.

    python benchmarks/known_parts.py [SECONDS] [SEEDS]

Each search has one core. A law counts as found if its error on 200 other rows is below 1e-6 of the spread of the target.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl import SPLRegressor

N_ROWS, N_TEST_ROWS = 100, 200
FOUND = 1e-6  # of the spread of the target

Column = NDArray[np.float64]


class Case(NamedTuple):
    """A law, and what is known about it; columns are uniform between 0.5 and 3."""

    form: str
    law: Callable[[dict[str, Column]], Column]
    columns: str


CASES = [
    Case("a(T)*exp(-b(p, T)) + C", lambda c: 2.5 * c["T"] ** 1.5 * np.exp(-1.7 * c["p"] / c["T"]) + 0.8, "pT"),
    Case("a(T)*exp(-b(p, T)) + C", lambda c: (1 + 2 * c["T"]) * np.exp(-c["p"] / (c["T"] + 0.5)) + 3, "pT"),
    Case("9.81 - a(v, m)", lambda c: 9.81 - (0.25 * c["v"] ** 2 + 0.4 * c["v"]) / (c["m"] + 0.3), "vm"),
    Case(
        "a(T)*x/(b(p) + x) + c(T)",
        lambda c: (2 * c["T"] + 1) * c["x"] / (np.sqrt(c["p"]) + 0.5 + c["x"]) + np.exp(-c["T"]),
        "Tpx",
    ),
    Case("a(x)*sin(b(t))", lambda c: (c["x"] ** 2 + 1) * np.sin(2.3 * c["t"] ** 2 + 0.5), "xt"),
    Case("sqrt(a(x)**2 + b(y))", lambda c: np.sqrt((c["x"] * np.exp(c["x"])) ** 2 + 4 * np.sin(c["y"]) + 5), "xy"),
    Case("C/(1 + exp(-a(t, T)))", lambda c: 40 / (1 + np.exp(-1.3 * (c["t"] - 2 / c["T"]))), "tT"),
]


def search(case: Case, form: str | None, seconds: float, seed: int) -> tuple[bool, float]:
    """Return whether the law was found, and how long it took."""
    random = np.random.default_rng(seed)
    table, other = (
        pd.DataFrame({name: random.uniform(0.5, 3.0, n) for name in case.columns}) for n in (N_ROWS, N_TEST_ROWS)
    )
    target, truth = (case.law({name: rows[name].to_numpy() for name in rows}) for rows in (table, other))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SPLRegressor(form=form, timeout=seconds, random_state=seed).fit(table, target)
        errors = model.predict(other) - truth
    is_found = bool(np.sqrt(np.mean(errors**2)) <= FOUND * truth.std())
    return is_found, time.perf_counter() - began


def main(seconds: float = 20.0, n_seeds: int = 2) -> None:
    """Print a table: for each law, how often it was found, and the median time of all searches."""
    print(f"{'form':<28} {'with the form':>18} {'without':>18}")
    for case in CASES:
        cells = []
        for form in (case.form, None):
            found = [search(case, form, seconds, seed) for seed in range(n_seeds)]
            taken = float(np.median([each for _, each in found]))
            cells.append(f"{sum(is_found for is_found, _ in found)} of {n_seeds}, {taken:.1f} s")
        print(f"{case.form:<28} {cells[0]:>18} {cells[1]:>18}", flush=True)


if __name__ == "__main__":
    main(*(float(sys.argv[1]),) if len(sys.argv) > 1 else (), *(int(sys.argv[2]),) if len(sys.argv) > 2 else ())
