"""Problems to try, test and measure with: rows of data and simulated systems.

nguyen    the Nguyen problems of the paper, with their grammars, settings and published results
lorenz    noisy trajectories of the Lorenz system
"""

from spl.datasets.lorenz import LorenzData, make_lorenz
from spl.datasets.nguyen import Problem, load_nguyen, nguyen_problems

__all__ = ["LorenzData", "Problem", "load_nguyen", "make_lorenz", "nguyen_problems"]
