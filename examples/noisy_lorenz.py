"""The equations of a chaotic system from noisy states, without derivatives.

python examples/noisy_lorenz.py [folder] [seconds]
"""

import sys
from pathlib import Path

from spl import SPLDynamics
from spl.datasets import make_lorenz


def main(folder: Path, seconds: float = 40) -> None:
    data = make_lorenz(noise=0.02)
    model = SPLDynamics(operators=("+", "-", "*"), timeout=seconds, n_jobs=-1, random_state=0)
    model.fit(data.states, data.t, feature_names=["x", "y", "z"])
    model.print()
    print(model.constants_)
    model.plot().savefig(folder / "lorenz.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), *map(float, sys.argv[2:3]))
