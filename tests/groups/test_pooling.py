"""Pooled targets: offset and scale of groups are taken out without knowing the law."""

import numpy as np

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.groups.pooling import BOTH, OFFSET, SCALE, pool_target
from spl.groups.rows import GroupedRows


def correlate(kind, rng, n_rows, make):
    """Return how well a pooled target follows the law behind it."""
    codes = np.repeat(np.arange(40), n_rows)
    x = rng.uniform(0, 3, codes.size)
    law = np.exp(-x) + 0.2 * x
    target = make(law, rng.uniform(1, 3, 40)[codes], rng.uniform(-2, 2, 40)[codes])
    rows = GroupedRows(Dataset.from_arrays(x[:, None], target, names=["x"]), (Grouping.from_labels(codes, "g"),))
    pooled = pool_target(rows, 0, kind)
    order, expected = np.argsort(pooled.columns[0]), np.argsort(x)
    return abs(np.corrcoef(pooled.target[order], law[expected])[0, 1])


def test_offsets_of_groups_of_two_rows_are_taken_out(rng):
    assert correlate(OFFSET, rng, 2, lambda law, a, b: law + b) > 0.999


def test_scales_of_groups_of_two_rows_are_taken_out(rng):
    assert correlate(SCALE, rng, 2, lambda law, a, b: a * law) > 0.99


def test_scale_and_offset_of_larger_groups_are_taken_out_together(rng):
    assert correlate(BOTH, rng, 8, lambda law, a, b: a * law + b) > 0.99
