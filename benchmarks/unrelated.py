"""Unrelated columns: how often a search says that they do not explain the target, for several time limits.

Tables of 20 to 1,000 rows and 1 to 10 columns, all numbers drawn independently. The answer is right if the chosen formula
contains no column. One search per table and time limit, `--jobs` of them in parallel.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from spl.data.dataset import Dataset
from spl.datasets.unrelated import make_unrelated
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.text import to_text
from spl.noise.models import AUTO
from spl.regression.discover import discover
from spl.regression.doubts import UNEXPLAINED
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig


def search(number: int, seconds: float, is_patient: bool) -> tuple[bool, str]:
    """Return whether the search says that the columns explain nothing, and its choice."""
    data = Dataset.from_arrays(*make_unrelated(number))
    config = SearchConfig(patience=None) if is_patient else SearchConfig()
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, data.names)
    found = discover(
        RegressionRequest(data, grammar, config=config, limits=Limits(timeout=seconds), noise=AUTO, seed=number)
    )
    chosen = found.front[found.front.choose("mdl", found.n_rows, found.floor)]
    return UNEXPLAINED in found.notes, f"{data.n_rows} rows: {to_text(chosen.program, 4)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seconds", type=float, nargs="+", default=[5.0, 20.0, 60.0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--patient", action="store_true", help="use all of the time, even if the choice stays the same for long"
    )
    options = parser.parse_args()
    trials = list(product(options.seconds, range(options.tables)))
    with ProcessPoolExecutor(options.jobs) as pool:
        answers = pool.map(search, [n for _, n in trials], [s for s, _ in trials], [options.patient] * len(trials))
        n_right = dict.fromkeys(options.seconds, 0)
        for (seconds, number), (is_right, chosen) in zip(trials, answers, strict=True):
            n_right[seconds] += is_right
            if not is_right:
                print(f"{seconds:g} s, table {number}, {chosen}", flush=True)
            if number == options.tables - 1:
                print(f"{seconds:g} s: right answer in {n_right[seconds]} of {options.tables} tables", flush=True)


if __name__ == "__main__":
    main()
