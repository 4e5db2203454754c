"""The rows of each trajectory by itself."""

import numpy as np
from tests.dynamics.own_examples import RATES, make_growth

from spl.dynamics.own_system import all_own, write_own_system
from spl.dynamics.rows import Plan
from spl.dynamics.run_rows import RunRows
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression


def test_rows_are_those_of_each_run_with_its_derivative():
    rows = RunRows.make(make_growth(), Plan())
    for data, rate in zip(rows.datasets[0], RATES, strict=True):
        x = data.columns[0]
        np.testing.assert_allclose(data.target, rate * x * (1 - 0.1 * x), atol=1e-4)


def test_pieces_know_their_trajectory():
    rows = RunRows.make(make_growth(), Plan())
    assert [piece.experiment for piece in rows.pieces] == [0, 1, 2, 3]


def test_joined_rows_say_which_run_they_are_from():
    joined, codes = RunRows.make(make_growth(), Plan()).join(0)
    assert joined.n_rows == codes.size
    assert np.unique(codes).tolist() == [0, 1, 2, 3]


def test_own_numbers_become_columns():
    rows = RunRows.make(make_growth(), Plan())
    plain = System(("x",), (), (parse_expression("C*x", Vocabulary(("x",))),))
    system = write_own_system(plain, rows.data.run_labels, all_own(1), np.array(RATES)[:, np.newaxis], np.ones(1))
    wide = rows.with_own_columns(system)
    assert wide.names == ("x", "k1")
    assert set(wide.table[:, 1]) == set(RATES)
