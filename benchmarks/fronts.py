"""Record the fronts of small seeded searches, and compare them later: a change of structure must not change a result.

    python -m benchmarks.fronts record before.json
    python -m benchmarks.fronts compare before.json

All budgets are counts, so the fronts do not depend on the speed of the machine. They do depend on the processor and on the versions
of the libraries: record and compare on the same machine.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spl import Operator, SearchConfig, SPLDynamics, SPLRegressor
from spl.datasets import SYSTEMS, load_random_formula

Front = list[list[Any]]  # one row per formula: cost, loss, equation
PAPER = SearchConfig(n_completions=0, patience=None)
GRAMMAR = """
    f   -> f + f | f * f | C * f | sin(arg) | x1
    arg -> C * x0 | x0
"""


def search_table(X: Any, y: Any, evaluations: int, **settings: Any) -> Front:
    model = SPLRegressor(random_state=0, timeout=None, max_evaluations=evaluations, **settings)
    table = model.fit(X, y).equations_
    return [[int(row.cost), float(row.loss), row.equation] for row in table.itertuples()]


def search_random_formula(place: int, noise: float) -> Front:
    law = load_random_formula(f"random-{place:03d}")
    X, y = law.make_train(0, noise=noise)
    return search_table(X, y, 2_000)


def search_paper_method(power: int) -> Front:
    x = np.linspace(-1, 1, 20)[:, np.newaxis]
    y = sum(x[:, 0] ** k for k in range(1, power + 1))
    return search_table(x, y, 2_000, search=PAPER, operators=("+", "-", "*", "/", "sin", "cos", "exp", "log"))


def search_with_grammar() -> Front:
    X = np.random.default_rng(0).uniform(-3, 3, size=(200, 2))
    return search_table(X, 2.5 * np.sin(X[:, 0]) + X[:, 1] ** 2, 2_000, grammar=GRAMMAR)


def search_with_own_operator() -> Front:
    X = np.random.default_rng(1).uniform(0.1, 3, size=(100, 2))
    hill = Operator("hill", lambda a: a / (1 + a), sympy=lambda a: a / (1 + a))
    return search_table(X, 2 * X[:, 0] / (1 + X[:, 0]) + X[:, 1], 2_000, operators=("+", "*", hill))


def search_units() -> Front:
    X = np.random.default_rng(2).uniform(1e6, 5e6, size=(300, 3))
    return search_table(X, 6.67e-11 * X[:, 0] * X[:, 1] / X[:, 2] ** 2, 2_000, n_jobs=2)


def search_unrelated() -> Front:
    random = np.random.default_rng(3)
    return search_table(random.standard_normal((80, 4)), random.standard_normal(80), 4_000)


def search_system(name: str, noise: float, **settings: Any) -> Front:
    data = SYSTEMS[name](noise=noise)
    model = SPLDynamics(random_state=0, timeout=None, max_evaluations=3_000, **settings)
    model.fit(data.states, data.t, feature_names=data.names)
    chosen = [[0, float(number), str(state)] for state, number in zip(data.names, model.r2_, strict=False)]
    chosen += [[0, 0.0, str(equation)] for equation in model.sympy()]
    fronts = (row for front in model.equations_ for row in front.itertuples())
    return chosen + [[int(row.cost), float(row.loss), row.equation] for row in fronts]


def searches() -> Iterator[tuple[str, Callable[[], Front]]]:
    """Yield the searches by name."""
    for place in range(12):
        for noise in (0.0, 0.05):
            yield f"random formula {place}, noise {noise:g}", lambda p=place, n=noise: search_random_formula(p, n)
    for power in (3, 4, 5, 6):
        yield f"paper's method, powers up to {power}", lambda p=power: search_paper_method(p)
    yield "grammar", search_with_grammar
    yield "own operator", search_with_own_operator
    yield "units", search_units
    yield "unrelated columns", search_unrelated
    for name in ("lotka_volterra", "van_der_pol", "sir", "rossler", "damped_pendulum"):
        yield f"{name}, noise 0.02", lambda n=name: search_system(n, 0.02)
    yield "lorenz, noise 0", lambda: search_system("lorenz", 0.0)
    yield "van_der_pol, weak", lambda: search_system("van_der_pol", 0.02, derivative="weak")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # about short searches
    before = json.loads(options.file.read_text()) if options.action == "compare" else {}
    fronts = {}
    n_changed = 0
    for name, search in searches():
        fronts[name] = search()
        if options.action == "record":
            print(f"{name}: {len(fronts[name])} formulas, {fronts[name][-1][2]}", flush=True)
        elif fronts[name] != before.get(name):
            n_changed += 1
            print(f"changed: {name}\n  before {before.get(name)}\n  now    {fronts[name]}", flush=True)
    if options.action == "record":
        options.file.write_text(json.dumps(fronts, indent=1) + "\n")
    else:
        print(f"{len(fronts) - n_changed} of {len(fronts)} fronts are the same")
    return 1 if n_changed else 0


if __name__ == "__main__":
    sys.exit(main())
