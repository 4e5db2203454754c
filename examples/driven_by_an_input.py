"""A system with an external input: a cup of coffee on a hot plate whose power keeps changing.

python examples/driven_by_an_input.py [folder]
"""

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from spl import SPLDynamics


def power(t):
    """Return the power of the plate, which switches between four levels."""
    return np.array([0.0, 3.0, 1.0, 2.0])[(np.asarray(t) // 5).astype(int) % 4]


def main(folder: Path) -> None:
    t = np.linspace(0, 40, 801)
    temperature = solve_ivp(
        lambda t, x: -0.3 * (x - 20) + 4 * power(t), (0, 40), [60.0], t_eval=t, max_step=0.05, rtol=1e-8
    ).y.T
    measured = temperature + 0.02 * np.random.default_rng(0).standard_normal(temperature.shape)

    model = SPLDynamics(operators=("+", "-", "*"), timeout=6, random_state=0)
    model.fit(measured, t, u=power(t).reshape(-1, 1), feature_names=["temperature", "power"])
    model.print()
    constant = model.simulate([20.0], t, u=lambda t: [2.0])  # predict the effect of a constant power
    print(f"At a constant power of 2 the cup reaches {constant[-1, 0]:.1f} degrees.")
    model.plot().savefig(folder / "coffee.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
