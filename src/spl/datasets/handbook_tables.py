"""Tables of the laws from handbooks: rows, noisy targets, and exact rows that a search never sees."""

import numpy as np
from numpy.typing import NDArray

from spl.datasets.handbook_laws import HandbookLaw
from spl.settings import check_count, check_number

N_HANDBOOK_ROWS = 1_000
_TRAIN, _UNSEEN = range(2)  # streams of random numbers


def make_handbook_table(
    law: HandbookLaw, seed: int, *, noise: float = 0.0, n_rows: int = N_HANDBOOK_ROWS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return X [N, D] and y [N] with normal noise, each column in its unit. All levels of noise scale the same random numbers.

    Args:
        law: one of `HANDBOOK_LAWS`.
        seed: random seed of rows and noise.
        noise: standard deviation of the noise, as a share of that of the exact values.
        n_rows: number of rows.

    Examples:
        >>> from spl.datasets import load_handbook_law
        >>> table, target = make_handbook_table(load_handbook_law("pump_power"), 0, noise=0.01)
        >>> table.shape, target.shape
        ((1000, 4), (1000,))
    """
    check_number("noise", noise, at_least=0.0)
    check_count("n_rows", n_rows, at_least=1)
    random = np.random.default_rng([seed, _TRAIN, *law.name.encode()])
    table = law.draw_rows(random, n_rows)
    exact = law.truth_at(table)
    return table, exact + noise * float(np.std(exact)) * random.standard_normal(n_rows)


def make_handbook_test(
    law: HandbookLaw, seed: int, n_rows: int = N_HANDBOOK_ROWS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return other rows, X [N, D], and their exact y [N].

    Args:
        law: that of the table.
        seed: that of the table.
        n_rows: number of rows.
    """
    check_count("n_rows", n_rows, at_least=1)
    table = law.draw_rows(np.random.default_rng([seed, _UNSEEN, *law.name.encode()]), n_rows)
    return table, law.truth_at(table)
