"""The choice of shared numbers, for laws with different own numbers."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.datasets.grouped_laws import load_grouped_law
from spl.datasets.grouped_tables import make_grouped_table
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.rows import GroupedRows
from spl.groups.sharing import Sharing

N_GROUPS, N_PER_GROUP = 8, 20


def make_rows(law, rng, noise=0.0, n_groups=N_GROUPS, n_rows=N_PER_GROUP):
    codes = np.repeat(np.arange(n_groups), n_rows)
    x = rng.uniform(0.1, 6.0, codes.size)
    values = law(x, lambda low, high: rng.uniform(low, high, n_groups)[codes])
    target = values + noise * values.std() * rng.normal(size=x.size)
    return GroupedRows(Dataset.from_arrays(x[:, None], target, names=["x"]), (Grouping.from_labels(codes, "g"),))


def choose(text, rows):
    program = parse_expression(text, Vocabulary(("x",)))
    return Sharing(program, rows).choose()


LAWS = {
    "k1*exp(C*x)": ("C*exp(C*x)", lambda x, own: own(1, 3) * np.exp(-0.7 * x)),
    "C*exp(k1*x)": ("C*exp(C*x)", lambda x, own: 2 * np.exp(-own(0.2, 1.0) * x)),
    "k1*x + k2": ("C*x + C", lambda x, own: own(1, 3) * x + own(-2, 2)),
    "k1*x/(x + C)": ("C*x/(x + C)", lambda x, own: own(1, 3) * x / (x + 1.3)),
    "C*exp(k1*x)*cos(C*x + k2)": (
        "C*exp(C*x)*cos(C*x + C)",
        lambda x, own: 2 * np.exp(-own(0.1, 0.5) * x) * np.cos(2.1 * x + own(-1, 1)),
    ),
    "C*exp(C*x) + C": ("C*exp(C*x) + C", lambda x, own: 2 * np.exp(-0.4 * x) + 1),
}


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("expected", LAWS)
def test_the_numbers_that_differ_between_groups_become_own(rng, expected, noise):
    text, law = LAWS[expected]
    found = choose(text, make_rows(law, rng, noise)).formula.program
    shape = to_text(found.with_constants(np.full(found.n_constants, np.nan))).replace(" - C", " + C")
    assert shape == expected


def test_groups_of_two_rows_share_what_they_cannot_know(rng):
    rows = make_rows(lambda x, own: own(1, 3) * np.exp(-0.7 * x), rng, 0.01, n_groups=40, n_rows=2)
    found = choose("C*exp(C*x)", rows)
    assert to_text(found.formula.program, 2) == "k1*exp(-0.7*x)"


def test_random_labels_make_no_number_own(rng):
    n_own = 0
    for _ in range(20):
        rows = make_rows(lambda x, own: 2 * np.exp(-0.4 * x) + 1, rng, 0.1)
        n_own += len(choose("C*exp(C*x) + C", rows).formula.scopes)
    assert n_own <= 1


def test_each_number_may_depend_on_another_grouping(rng):
    first, second = np.repeat(np.arange(6), 30), np.tile(np.arange(5), 36)
    x = rng.uniform(0, 3, 180)
    target = rng.uniform(1, 3, 6)[first] * x + rng.uniform(-2, 2, 5)[second] + 0.01 * rng.normal(size=180)
    groupings = (Grouping.from_labels(first, "lab"), Grouping.from_labels(second, "day"))
    found = choose("C*x + C", GroupedRows(Dataset.from_arrays(x[:, None], target, names=["x"]), groupings))
    assert found.formula.scopes == (0, 1)


def test_a_number_that_is_the_same_in_all_groups_is_shared_in_exact_data():
    data = make_grouped_table(load_grouped_law("spectral_line"), 10, noise=0.0, seed=0)
    lines = Grouping.from_labels(data.labels["pressure"], "pressure")
    rows = GroupedRows(Dataset.from_arrays(data.table, data.target, names=["x"]), (lines,))
    assert to_text(choose("C/(x**2 + C*x + C)", rows).formula.program, 4) == "k1/(x**2 - 10.4*x + k2)"
