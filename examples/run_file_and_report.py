"""A run in a file: interrupted by its time limit, inspected, continued, reported.

python examples/run_file_and_report.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

from spl import SPLRegressor
from spl.cli.main import main as spl


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3, (150, 2))
    y = X[:, 0] * np.exp(-X[:, 1]) + 0.01 * rng.standard_normal(150)
    run = folder / "decay.spl"

    SPLRegressor(timeout=2, random_state=0, run_file=run).fit(X, y)  # a short time limit
    print("so far:   ", SPLRegressor.from_run(run).get_best()["equation"])
    model = SPLRegressor(timeout=4, random_state=0, run_file=run).fit(X, y)  # continues for two more seconds
    print("continued:", model.get_best()["equation"])

    report = folder / "decay.html"
    spl(["report", str(run), "-o", str(report)], standalone_mode=False)  # the command `spl report`


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
