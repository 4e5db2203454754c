import numpy as np
import pytest

from spl.datasets import make_unrelated
from spl.datasets.unrelated import TARGET_KINDS
from spl.errors import SettingError

N_TABLES = 30


def all_targets(kind):
    return [make_unrelated(number, kind)[1] for number in range(N_TABLES)]


@pytest.mark.parametrize("kind", TARGET_KINDS)
def test_tables_have_20_to_1000_rows_and_1_to_10_columns(kind):
    tables = [make_unrelated(number, kind) for number in range(N_TABLES)]
    assert all(20 <= len(y) <= 1000 and X.shape[0] == len(y) and 1 <= X.shape[1] <= 10 for X, y in tables)
    assert all(np.isfinite(X).all() and np.isfinite(y).all() for X, y in tables)


def test_all_kinds_of_a_number_have_the_same_size():
    assert len({make_unrelated(4, kind)[0].shape for kind in TARGET_KINDS}) == 1


def test_targets_are_what_their_kind_says():
    assert all(np.all(y > 0) for y in all_targets("relative"))
    assert all(np.array_equal(y, np.round(y)) and y.min() >= 0 for y in all_targets("poisson"))
    assert all(set(y) == {0.0, 1.0} for y in all_targets("binomial"))
    assert max(np.max(np.abs(y - np.median(y))) for y in all_targets("student")) > 8


def test_the_tables_stay_the_same():
    X, y = make_unrelated(3)
    assert X.shape == (243, 1)
    assert y[0] == pytest.approx(make_unrelated(3)[1][0])
    assert not np.array_equal(y, make_unrelated(3, "student")[1])


def test_an_unknown_kind_is_refused():
    with pytest.raises(SettingError, match=r"There is no kind of target 'poison'\. Did you mean 'poisson'\?"):
        make_unrelated(0, "poison")
