"""Hostile values: what may be handed over instead of a number, a list or a table."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

NUMBERS = [
    0, 1, -1, 2, 7, 10**30, -(10**30), 2**63, 0.0, -0.0, 0.5, -0.5, 1e-320, 1e308, float("inf"), float("-inf"), float("nan"), True, False, 1j,
    np.float32(2), np.int8(3), np.nan, np.array(3.0), np.array([3.0]), decimal.Decimal("1.5"), fractions.Fraction(1, 3),
]  # fmt: skip
OTHERS = [
    None, "", "1", "mdl", "auto", "x", "\0", "x" * 10_000, "f -> x0", "f -> f + f | C * x0 | x0", "f ->", b"1", (), [], {}, set(), [1, 2], (1,), {"a": 1}, [[]], [None],
    object(), object, int, len, (lambda a: a), ..., NotImplemented, range(3), slice(1), np.array([]), np.array(["a"]), np.array([None, 1], dtype=object),
    np.zeros((2, 2)), np.random.default_rng(0), np.random.RandomState(0), pd.Series([1.0]), pd.DataFrame(), datetime.datetime(2024, 1, 1), iter([1, 2]),
]  # fmt: skip
anything = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(OTHERS), st.text(max_size=5), st.floats(), st.integers())

RNG = np.random.default_rng(0)
GOOD = RNG.normal(size=(20, 2))
TABLES = [
    GOOD, GOOD * 1e300, GOOD * 1e-300, GOOD * 1e-320, np.round(GOOD), np.zeros((20, 2)), np.ones((20, 2)), GOOD.astype(np.float16), GOOD.astype(np.float32),
    GOOD.astype(np.longdouble), GOOD.astype(int), GOOD > 0, GOOD.astype(object), GOOD.astype(str), GOOD.astype(complex), GOOD + 1j, GOOD.T, GOOD[:, 0],
    GOOD[:1], GOOD[:2], GOOD[:0], GOOD[:, :0], GOOD[::2], GOOD[::-1, ::-1], np.asfortranarray(GOOD), GOOD.tolist(), [GOOD[0].tolist(), [1.0]],
    GOOD[:, :, None], np.where(GOOD > 1, np.nan, GOOD), np.where(GOOD > 1, np.inf, GOOD), np.where(GOOD > 1, 1e308, GOOD), np.tile(GOOD[:1], (20, 1)),
    pd.DataFrame(GOOD), pd.DataFrame(GOOD, columns=["C", "sin"]), pd.DataFrame(GOOD, columns=["x", "x"]), pd.DataFrame(GOOD, columns=["", "\0"]),
    pd.DataFrame(GOOD, columns=["lambda", "I"]), pd.DataFrame(GOOD, columns=[1, "a"]), pd.DataFrame({"a": ["u", "v"] * 10, "b": range(20)}),
    pd.DataFrame({"a": pd.Categorical(["u", "v"] * 10), "b": range(20)}), pd.DataFrame({"a": pd.date_range("2024", periods=20), "b": range(20)}),
    pd.DataFrame({"a": pd.array([1, None] * 10, dtype="Int64"), "b": range(20)}), pd.DataFrame(GOOD, index=[0] * 20), pd.Series(GOOD[:, 0]),
    sparse.csr_matrix(GOOD), np.ma.masked_array(GOOD, GOOD > 1), np.zeros(20, dtype=[("a", float), ("b", int)]), np.datetime64("2024-01-01"),
    GOOD * 1e149, GOOD * 1e-149, GOOD * 7e307, np.where(GOOD > 1, 1e150, GOOD), np.where(GOOD > 1, 5e-324, GOOD), np.full((20, 2), 1.7e308), GOOD.astype(np.longdouble) * np.longdouble(10)**4000,
    np.where(GOOD > 1, -np.inf, GOOD).astype(object), [[10**400, 1]] * 20, [[10**4400, 1]] * 2, [[1, None], [2, 3]] * 10, [["1.5", "-"], ["1,5", "n/a"]] * 10, [["bad", 1.0]] + [[2.0, 3.0]] * 19,
    [[datetime.datetime(2024, 1, 1), datetime.date(2024, 1, 1)]] * 20, [[datetime.time(12), datetime.timedelta(1)]] * 20, np.full((20, 2), np.datetime64("NaT", "s")), np.arange(40).reshape(20, 2).astype("datetime64[D]"),
    np.arange(40).reshape(20, 2).astype("timedelta64[h]"), [[decimal.Decimal("NaN"), fractions.Fraction(1, 3)]] * 20, [["2024-01-01", "01/02/2024"]] * 20, pd.DataFrame({"a": [pd.NA, 1.0] * 10, "b": [True, None] * 10}),
    pd.DataFrame({"a": pd.date_range("2024", periods=20, tz="Asia/Tokyo"), "b": pd.timedelta_range("1s", periods=20)}), pd.DataFrame({"a": pd.period_range("2024", periods=20, freq="D"), "b": range(20)}),
    pd.DataFrame({"a": pd.Series([10**400] * 20, dtype=object), "b": range(20)}), pd.DataFrame({"a": ["x"] * 20, "b": [complex(1, 1)] * 20}), np.ma.masked_array(GOOD.astype(object), GOOD > 1), np.ma.masked_all((20, 2)),
    np.array([["1", "2"], ["3", "x"]] * 10), np.array([[b"1", b"2"]] * 20), [[None, 1.0]] * 20, [["a", "b"]] * 20, "table", None, 5, float("nan"), {}, {"a": [1, 2]},
]  # fmt: skip
table = st.one_of(
    st.sampled_from(TABLES),
    st.lists(
        st.lists(st.one_of(st.floats(), st.sampled_from(NUMBERS), st.none(), st.text(max_size=2)), max_size=3),
        max_size=6,
    ),
)
TARGETS = [
    *(t for t in TABLES if getattr(t, "ndim", 0) == 1),
    GOOD[:, 0],
    GOOD[:, :1],
    GOOD[:, 0] * 1e305,
    GOOD[:, 0] * 1e-310,
    np.zeros(20),
    np.full(20, np.nan),
    np.full(20, np.inf),
    np.where(GOOD[:, 0] > 1, np.nan, GOOD[:, 0]),
    np.where(GOOD[:, 0] > 1, 1.7e308, GOOD[:, 0]),
    np.where(GOOD[:, 0] > 1, 1e150, -1e150),
    np.where(GOOD[:, 0] > 1, 5e-324, 0.0),
    GOOD[:, 0] * 7e307,
    [10**400, *range(19)],
    ["1,5", "-", *map(str, range(18))],
    pd.date_range("2024", periods=20),
    list("ab" * 10),
]
target = st.one_of(st.just(GOOD[:, 0]), st.sampled_from(TARGETS), table)
