"""Tables of laws as they are measured: with even noise, relative noise, gross errors, or as counts.

Every variant has a partner with the same information: the same law and the same rows, with noise as large in each of them, but normal
and known to the search. A search that has to find out the noise by itself can be compared with it.

variant     noise of the table                                        partner
even        normal, 5 % of the root mean square of the exact values   the table itself
relative    normal, 5 % of each exact value, over decades             the same rows, with their standard deviations
outliers    normal, 1 % of the root mean square; one row in ten is    the other nine rows of ten
            moved by 3 to 10 times the spread of the exact values
counts      Poisson counts, over decades                              normal noise as large as that of the counts, with its standard
                                                                      deviations: the roots of the exact values
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.datasets.laws import Law
from spl.errors import SettingError, explain_unknown

TABLE_VARIANTS = ("even", "relative", "outliers", "counts")
OVER_DECADES = ("relative", "counts")  # variants whose targets cover at least three decades
EVEN_SHARE = 0.05  # standard deviation of even noise / root mean square of the exact values
RELATIVE_SHARE = 0.05  # standard deviation of relative noise / exact value
FINE_SHARE = 0.01  # as EVEN_SHARE, of the good rows of a table with outliers
OUTLIER_SHARE = 0.1  # of the rows
OUTLIER_SIZES = (3.0, 10.0)  # of their errors, in standard deviations of the exact values
N_LAW_ROWS = 200
N_LAW_TEST_ROWS = 1000
_TEST_STREAM = 1  # separates the random numbers of the test rows from those of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class LawTable:
    """A table made from a law, and what is known of its noise."""

    table: NDArray[np.float64]  # [N, D]
    target: NDArray[np.float64]  # [N]
    exact: NDArray[np.float64]  # [N]: the target without noise
    deviations: NDArray[np.float64]  # [N]: true standard deviations of the target, gross errors aside
    is_outlier: NDArray[np.bool_]  # [N]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.target)


def make_law_table(law: Law, variant: str, seed: int, n_rows: int = N_LAW_ROWS) -> LawTable:
    """Return a table of a law as it is measured.

    Args:
        law: one of `LAWS`.
        variant: one of `TABLE_VARIANTS`.
        seed: random seed of the rows and of their noise.
        n_rows: number of rows.

    Examples:
        >>> from spl.datasets import load_law
        >>> rows = make_law_table(load_law("hill"), "outliers", seed=0)
        >>> rows.table.shape, int(rows.is_outlier.sum())
        ((200, 1), 20)
        >>> make_law_table(load_law("gutenberg_richter"), "counts", seed=0, n_rows=4).target
        array([  5., 134., 745., 838.])
    """
    rng = np.random.default_rng(seed)
    rows = _with_normal_noise(law, variant, rng, n_rows)
    if variant == "outliers":
        return _with_outliers(rows, rng)
    if variant == "counts":
        return replace(rows, target=rng.poisson(rows.exact).astype(np.float64))
    return rows


def make_informed_table(law: Law, variant: str, seed: int, n_rows: int = N_LAW_ROWS) -> LawTable:
    """Return the partner of a table: what its rows would be if their noise were normal. Its standard deviations may be told.

    Args:
        law: one of `LAWS`.
        variant: one of `TABLE_VARIANTS`.
        seed: that of the table.
        n_rows: that of the table.

    Examples:
        >>> from spl.datasets import load_law
        >>> make_informed_table(load_law("hill"), "outliers", seed=0).n_rows
        180
    """
    measured = make_law_table(law, variant, seed, n_rows)
    informed = _with_normal_noise(law, variant, np.random.default_rng(seed), n_rows)
    good = ~measured.is_outlier
    return LawTable(
        table=informed.table[good],
        target=informed.target[good],
        exact=informed.exact[good],
        deviations=informed.deviations[good],
        is_outlier=informed.is_outlier[good],
    )


def make_law_test(law: Law, variant: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return other rows from the same ranges, X [1000, D], and their exact y [1000].

    Args:
        law: one of `LAWS`.
        variant: one of `TABLE_VARIANTS`.
        seed: that of the table.

    Examples:
        >>> from spl.datasets import load_law
        >>> X, y = make_law_test(load_law("darcy"), "counts", seed=0)
        >>> X.shape, y.shape
        ((1000, 4), (1000,))
    """
    table = law.draw_rows(
        np.random.default_rng([seed, _TEST_STREAM]), N_LAW_TEST_ROWS, over_decades=variant in OVER_DECADES
    )
    return table, _exact_target(law, variant, table)


def _exact_target(law: Law, variant: str, table: NDArray[np.float64]) -> NDArray[np.float64]:
    factor = law.counts_factor if variant == "counts" else 1.0
    return factor * law.truth_at(table)


def _with_normal_noise(law: Law, variant: str, rng: np.random.Generator, n_rows: int) -> LawTable:
    """Return a table with normal noise, as large in each row as the noise of the variant is without gross errors."""
    if variant not in TABLE_VARIANTS:
        raise SettingError(explain_unknown("variant", variant, TABLE_VARIANTS))
    table = law.draw_rows(rng, n_rows, over_decades=variant in OVER_DECADES)
    exact = _exact_target(law, variant, table)
    root_mean_square = np.full(n_rows, np.sqrt(np.mean(exact**2)))
    deviations = {
        "even": EVEN_SHARE * root_mean_square,
        "relative": RELATIVE_SHARE * exact,
        "outliers": FINE_SHARE * root_mean_square,
        "counts": np.sqrt(exact),
    }[variant]
    target = exact + deviations * rng.standard_normal(n_rows)
    no_outlier = np.zeros(n_rows, dtype=np.bool_)
    return LawTable(table=table, target=target, exact=exact, deviations=deviations, is_outlier=no_outlier)


def _with_outliers(rows: LawTable, rng: np.random.Generator) -> LawTable:
    """Return the table with gross errors in one row of ten, up or down."""
    moved = rng.permutation(rows.n_rows)[: round(OUTLIER_SHARE * rows.n_rows)]
    sizes = rng.uniform(*OUTLIER_SIZES, len(moved)) * rng.choice([-1.0, 1.0], len(moved))
    target, is_outlier = rows.target.copy(), rows.is_outlier.copy()
    target[moved] += sizes * np.std(rows.exact)
    is_outlier[moved] = True
    return replace(rows, target=target, is_outlier=is_outlier)
