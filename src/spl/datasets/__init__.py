"""Problems for examples, tests and benchmarks: formulas, simulated systems and measured data.

nguyen             the Nguyen problems of the paper, with their grammars, settings and published results
random_formulas    random formulas of 5 to 15 tokens over 1 to 5 variables
laws               well-known laws of engineering, chemistry, biology and earth science
law_tables         tables of these laws as they are measured: noise, gross errors, counts
handbook_laws      laws of engineering, chemistry, earth science and astronomy with their units
handbook_tables    tables of them
small_laws         simple laws for small noisy tables
wide_tables        laws among many columns
grouped_laws       laws with numbers that each group of rows has for itself
grouped_tables     tables of them
grouped_systems    systems measured in several experiments, with parameters that differ between them
unrelated          tables whose columns do not explain the target
systems            well-known dynamical systems by name: noisy trajectories with their true equations
sampled_systems    systems that oscillate, to be sampled a few times per turn
single_trajectories  systems measured along one trajectory, which is enough for some of them
lorenz             the Lorenz system
attractors         the chaotic systems of Thomas and Halvorsen, and Rössler's hyperchaos
oscillators        Van der Pol, Duffing, Rössler, Sel'kov's glycolytic oscillator, FitzHugh-Nagumo, and the Brusselator
populations        Lotka-Volterra, Rosenzweig-MacArthur, an epidemic, and an enzyme
mechanics          pendulums, damped, driven and double, and a cart with a pole
simulation         how a system is simulated and measured
measured           falling balls, the Lorenz data of the paper, and a filmed double pendulum
pendulum_tracks    angles of the double pendulum from camera tracks
download           files of measured data: found in a folder, or downloaded and checked
workbook           the tables of an Excel workbook
"""

from spl.datasets.attractors import make_halvorsen, make_hyperchaotic_rossler, make_thomas
from spl.datasets.grouped_laws import GROUPED_LAWS, PAIRED_LAWS, GroupedLaw, load_grouped_law
from spl.datasets.grouped_systems import GROUPED_SYSTEMS, GroupedSystem, SystemRuns
from spl.datasets.grouped_tables import GroupedTable, make_grouped_table, make_grouped_test
from spl.datasets.handbook_laws import HANDBOOK_LAWS, HandbookLaw, load_handbook_law
from spl.datasets.handbook_tables import make_handbook_table, make_handbook_test
from spl.datasets.law_tables import LawTable, make_informed_table, make_law_table, make_law_test
from spl.datasets.laws import LAWS, Law, load_law
from spl.datasets.lorenz import make_lorenz
from spl.datasets.measured import (
    BallDrop,
    DoublePendulum,
    Drop,
    LorenzPaper,
    fetch_ball_drop,
    fetch_double_pendulum,
    fetch_lorenz_paper,
)
from spl.datasets.mechanics import make_cart_pole, make_damped_pendulum, make_double_pendulum, make_driven_pendulum
from spl.datasets.nguyen import Problem, load_nguyen, nguyen_problems
from spl.datasets.oscillators import (
    make_brusselator,
    make_duffing,
    make_fitzhugh_nagumo,
    make_glycolytic_oscillator,
    make_rossler,
    make_van_der_pol,
)
from spl.datasets.populations import make_lotka_volterra, make_michaelis_menten, make_rosenzweig_macarthur, make_sir
from spl.datasets.random_formulas import RandomFormula, load_random_formula, make_random_formulas
from spl.datasets.sampled_systems import SAMPLED_SYSTEMS, SampledSystem
from spl.datasets.simulation import SystemData
from spl.datasets.single_trajectories import SINGLE_TRAJECTORIES, SingleTrajectory
from spl.datasets.systems import SYSTEMS
from spl.datasets.unrelated import make_unrelated
from spl.datasets.wide_tables import WIDE_LAWS, WideLaw, load_wide_law, make_wide_table, make_wide_test

__all__ = [
    "GROUPED_LAWS",
    "GROUPED_SYSTEMS",
    "HANDBOOK_LAWS",
    "LAWS",
    "PAIRED_LAWS",
    "SAMPLED_SYSTEMS",
    "SINGLE_TRAJECTORIES",
    "SYSTEMS",
    "WIDE_LAWS",
    "BallDrop",
    "DoublePendulum",
    "Drop",
    "GroupedLaw",
    "GroupedSystem",
    "GroupedTable",
    "HandbookLaw",
    "Law",
    "LawTable",
    "LorenzPaper",
    "Problem",
    "RandomFormula",
    "SampledSystem",
    "SingleTrajectory",
    "SystemData",
    "SystemRuns",
    "WideLaw",
    "fetch_ball_drop",
    "fetch_double_pendulum",
    "fetch_lorenz_paper",
    "load_grouped_law",
    "load_handbook_law",
    "load_law",
    "load_nguyen",
    "load_random_formula",
    "load_wide_law",
    "make_brusselator",
    "make_cart_pole",
    "make_damped_pendulum",
    "make_double_pendulum",
    "make_driven_pendulum",
    "make_duffing",
    "make_fitzhugh_nagumo",
    "make_glycolytic_oscillator",
    "make_grouped_table",
    "make_grouped_test",
    "make_halvorsen",
    "make_handbook_table",
    "make_handbook_test",
    "make_hyperchaotic_rossler",
    "make_informed_table",
    "make_law_table",
    "make_law_test",
    "make_lorenz",
    "make_lotka_volterra",
    "make_michaelis_menten",
    "make_random_formulas",
    "make_rosenzweig_macarthur",
    "make_rossler",
    "make_sir",
    "make_thomas",
    "make_unrelated",
    "make_van_der_pol",
    "make_wide_table",
    "make_wide_test",
    "nguyen_problems",
]
