import numpy as np

from spl.data.dataset import Dataset
from spl.knowledge.box import BORDER_SHARE, Box
from spl.knowledge.statements import Range


def make_box(n_columns: int) -> Box:
    return Box(tuple(f"x{k}" for k in range(n_columns)), np.zeros(n_columns), np.arange(1.0, n_columns + 1))


def test_points_fill_the_box_and_reach_its_corners():
    for n_columns in (1, 2, 5, 12):
        box = make_box(n_columns)
        points = box.points(np.empty((n_columns, 0)))
        assert box.holds(points).all()
        shares = points / box.high[:, np.newaxis]
        assert (shares.min(axis=1) <= BORDER_SHARE).all()
        assert (shares.max(axis=1) >= 1 - BORDER_SHARE).all()
        assert (np.histogram(shares[0], 10, (0, 1))[0] > 0.5 * shares.shape[1] / 20).all()


def test_rows_in_the_box_are_points():
    rows = np.array([[0.25, 5.0], [0.75, 1.0]])
    points = make_box(2).points(rows)
    assert (points[:, -1] == [0.25, 0.75]).all()


def test_rows_of_weight_0_do_not_widen_the_box():
    data = Dataset.from_arrays([[1.0], [2.0], [9.0]], [1.0, 2.0, 3.0], names=["x"], weights=[1, 1, 0])
    assert Box.of(data, {}).high.tolist() == [2.0]


def test_a_region_narrows_the_box():
    part = make_box(2).narrow([Range("x1", 0.5, 9.0)], "f > 0 for x1 > 0.5")
    assert (part.low.tolist(), part.high.tolist()) == ([0.0, 0.5], [1.0, 2.0])
