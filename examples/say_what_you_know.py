"""Prior knowledge as a grammar: a swing with friction of an unknown form.

python examples/say_what_you_know.py [folder]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from spl import Grammar, SPLRegressor

# Gravity certainly pulls with the sine of the angle. Friction is an odd power of the speed, or a sum of such powers.

KNOWN = Grammar.from_text("""
    acceleration -> C * sin(angle) + friction
    friction     -> friction + friction | C * drag
    drag         -> speed | speed * abs(speed) | speed**3
""")


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"angle": rng.uniform(-1, 1, 200), "speed": rng.uniform(-3, 3, 200)})
    pull = -9.81 * np.sin(table["angle"]) - 0.4 * table["speed"] * np.abs(table["speed"])
    acceleration = pd.Series(pull + 0.05 * rng.standard_normal(200), name="acceleration")

    print(KNOWN.explain())
    model = SPLRegressor(grammar=KNOWN, timeout=3, random_state=0).fit(table, acceleration)
    print("acceleration =", model.get_best()["equation"])
    model.plot().savefig(folder / "swing.png")
    model.plot_tree().savefig(folder / "swing-tree.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
