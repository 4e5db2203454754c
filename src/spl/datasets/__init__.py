"""Problems to try, test and measure with: rows of data and simulated systems.

nguyen             the Nguyen problems of the paper, with their grammars, settings and published results
random_formulas    random formulas of 5 to 15 tokens over 1 to 5 variables
lorenz             noisy trajectories of the Lorenz system
"""

from spl.datasets.lorenz import LorenzData, make_lorenz
from spl.datasets.nguyen import Problem, load_nguyen, nguyen_problems
from spl.datasets.random_formulas import RandomFormula, load_random_formula, make_random_formulas

__all__ = [
    "LorenzData",
    "Problem",
    "RandomFormula",
    "load_nguyen",
    "load_random_formula",
    "make_lorenz",
    "make_random_formulas",
    "nguyen_problems",
]
