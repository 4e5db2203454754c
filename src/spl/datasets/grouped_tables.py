"""Tables of the grouped laws: any number of groups and rows, with labels, noise, and the true values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.grouped_laws import GroupedLaw
from spl.settings import check_count, check_number

N_GROUPS = 10
N_GROUP_ROWS = 30
N_SECOND_GROUPS = 6  # of the second grouping, if a law has two
N_UNSEEN_GROUP_ROWS = 50
_OWN, _TABLE, _UNSEEN, _LABELS = range(4)  # streams of random numbers: unseen rows do not depend on the number of rows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GroupedTable:
    """A table whose rows come in groups."""

    table: NDArray[np.float64]  # [N, D]
    target: NDArray[np.float64]  # [N], measured: with noise
    exact: NDArray[np.float64]  # [N]
    labels: dict[str, NDArray[np.str_]]  # [N], of each grouping
    own: dict[str, NDArray[np.float64]]  # the true own numbers in each row [N]

    def rows_of(self, grouping: str, label: str) -> NDArray[np.bool_]:
        """Return which rows belong to a group [N]."""
        return np.asarray(self.labels[grouping] == label)


def make_grouped_table(
    law: GroupedLaw, n_groups: int = N_GROUPS, n_rows: int = N_GROUP_ROWS, *, noise: float = 0.0, seed: int = 0
) -> GroupedTable:
    """Return a table of a law, in random order.

    If a law has two groupings, the rows of each group of the first belong to the six groups of the second in turn.

    Args:
        law: one of `GROUPED_LAWS` or `PAIRED_LAWS`.
        n_groups: number of groups, of the first grouping.
        n_rows: number of rows of each.
        noise: standard deviation of the noise, as a share of the root mean square of the exact values.
        seed: random seed of own numbers, rows and noise.

    Examples:
        >>> from spl.datasets import load_grouped_law
        >>> data = make_grouped_table(load_grouped_law("cooling"), 3, 2)
        >>> data.table.shape, sorted(set(data.labels["cup"].tolist()))
        ((6, 2), ['cup 1', 'cup 2', 'cup 3'])
    """
    check_number("noise", noise, at_least=0.0)
    rows = _draw(law, n_groups, n_rows, seed, _TABLE)
    random = np.random.default_rng([seed, _LABELS])
    order = random.permutation(len(rows.exact))
    scatter = noise * float(np.sqrt(np.mean(rows.exact**2)))
    return GroupedTable(
        table=rows.table[order],
        target=rows.exact[order] + scatter * random.standard_normal(len(order)),
        exact=rows.exact[order],
        labels={grouping: labels[order] for grouping, labels in rows.labels.items()},
        own={name: values[order] for name, values in rows.own.items()},
    )


def make_grouped_test(
    law: GroupedLaw, n_groups: int = N_GROUPS, n_rows: int = N_UNSEEN_GROUP_ROWS, *, seed: int = 0
) -> GroupedTable:
    """Return other rows of the same groups with exact values, group by group.

    Args:
        law: that of the table.
        n_groups: that of the table.
        n_rows: number of rows of each group.
        seed: that of the table.
    """
    return _draw(law, n_groups, n_rows, seed, _UNSEEN)


def _draw(law: GroupedLaw, n_groups: int, n_rows: int, seed: int, stream: int) -> GroupedTable:
    check_count("n_groups", n_groups, at_least=1)
    check_count("n_rows", n_rows, at_least=1)
    table = law.draw_rows(np.random.default_rng([seed, stream, *law.name.encode()]), n_groups * n_rows)
    place = np.arange(n_groups * n_rows)
    codes = dict(zip(law.groupings, (place // n_rows, place % N_SECOND_GROUPS), strict=False))
    sizes = dict(zip(law.groupings, (n_groups, N_SECOND_GROUPS), strict=False))
    random = np.random.default_rng([seed, _OWN, *law.name.encode()])
    own = {
        number.name: number.values.at(random.uniform(size=sizes[number.grouping]))[codes[number.grouping]]
        for number in law.own
    }
    exact = law.truth_at(table, own)
    labels = {name: np.array([f"{name} {code + 1}" for code in each.tolist()]) for name, each in codes.items()}
    return GroupedTable(table=table, target=exact, exact=exact, labels=labels, own=own)
