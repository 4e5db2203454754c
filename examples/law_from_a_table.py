"""A law from a table: Kepler's third law from the eight planets, as an equation, a figure and code.

python examples/law_from_a_table.py [folder]
"""

import sys
from pathlib import Path

import pandas as pd

from spl import SPLRegressor

PLANETS = pd.DataFrame(
    {
        "planet": ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"],
        "distance": [0.387, 0.723, 1.0, 1.524, 5.203, 9.537, 19.19, 30.07],  # from the sun, in astronomical units
        "period": [0.2408, 0.6152, 1.0, 1.881, 11.86, 29.45, 84.02, 164.8],  # years
    }
)


def main(folder: Path) -> None:
    model = SPLRegressor(operators=("+", "*", "/", "sqrt"), timeout=3, random_state=0)
    model.fit(PLANETS[["distance"]], PLANETS["period"], sample_weight=1 / PLANETS["period"] ** 2)
    print("period =", model.get_best()["equation"])
    print(model.export("python"))
    model.plot().savefig(folder / "kepler.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
