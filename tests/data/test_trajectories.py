"""Trajectories from callers: read, repaired with a note, or refused with a reason."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spl.data.trajectories import MIN_RUN_SAMPLES, Trajectories, Trajectory
from spl.errors import DataError

N = 20
TIMES = 0.1 * np.arange(N)
WAVES = np.column_stack([np.sin(TIMES), np.cos(TIMES)])


def with_holes(*rows: int, column: int = 0) -> np.ndarray:
    """Return the waves without the values at some rows."""
    x = WAVES.copy()
    x[list(rows), column] = np.nan
    return x


# ---- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [WAVES, WAVES.tolist(), tuple(map(tuple, WAVES)), pd.DataFrame(WAVES), [WAVES]])
@pytest.mark.parametrize("t", [0.1, np.float64(0.1), np.array(0.1), TIMES, TIMES.tolist(), pd.Series(TIMES), [TIMES]])
def test_one_trajectory_is_read_from_every_form(x, t):
    data = Trajectories.from_arrays(x, t)
    (run,) = data.runs
    np.testing.assert_array_equal(run.x, WAVES)
    np.testing.assert_allclose(run.t, TIMES, rtol=1e-15)
    assert run.u.shape == (N, 0)
    assert run.x_dot is None
    assert (data.n_samples, data.notes) == (N, ())


@pytest.mark.parametrize(
    ("x", "t"),
    [
        ([WAVES, WAVES[:9]], 0.1),
        ((WAVES, WAVES[:9]), [TIMES, TIMES[:9]]),
        ([WAVES.tolist(), WAVES[:9].tolist()], (TIMES, TIMES[:9])),
        ([WAVES.tolist(), WAVES[:9].tolist()], [TIMES.tolist(), TIMES[:9].tolist()]),
        ([pd.DataFrame(WAVES), pd.DataFrame(WAVES[:9])], 0.1),
    ],
)
def test_several_trajectories_are_a_list(x, t):
    data = Trajectories.from_arrays(x, t)
    assert [run.n_samples for run in data.runs] == [N, 9]
    assert data.n_samples == N + 9
    np.testing.assert_array_equal(data.runs[1].x, WAVES[:9])


def test_trajectories_of_one_state_may_be_flat():
    one, two = WAVES.T
    assert Trajectories.from_arrays(one, TIMES).runs[0].x.shape == (N, 1)
    assert Trajectories.from_arrays(one.tolist(), TIMES).runs[0].x.shape == (N, 1)
    assert [run.x.shape for run in Trajectories.from_arrays([one, two], 0.1).runs] == [(N, 1), (N, 1)]
    nested = Trajectories.from_arrays([one.tolist(), two.tolist()], [TIMES, TIMES])
    assert [run.x.shape for run in nested.runs] == [(N, 1), (N, 1)]


def test_times_are_shared_by_trajectories_of_the_same_length():
    data = Trajectories.from_arrays([WAVES, 2 * WAVES], TIMES)
    assert all(np.array_equal(run.t, TIMES) for run in data.runs)


def test_inputs_and_derivatives_stay_with_their_samples():
    slopes = np.gradient(WAVES, 0.1, axis=0)
    data = Trajectories.from_arrays([WAVES, WAVES[:9]], 0.1, x_dot=[slopes, slopes[:9]], u=[TIMES, TIMES[:9]])
    for run, n in zip(data.runs, (N, 9), strict=True):
        np.testing.assert_array_equal(run.x_dot, slopes[:n])
        np.testing.assert_array_equal(run.u, TIMES[:n, np.newaxis])


def test_a_list_of_one_trajectory_takes_inputs_without_a_list():
    assert Trajectories.from_arrays([WAVES], 0.1, u=TIMES).runs[0].u.shape == (N, 1)


def test_integers_booleans_and_masked_values_are_numbers():
    switch = np.arange(N) % 2 == 0
    masked = np.ma.MaskedArray(WAVES, mask=np.zeros_like(WAVES, dtype=bool))
    masked[3, 1] = np.ma.masked
    data = Trajectories.from_arrays(masked, 1, u=switch)
    np.testing.assert_array_equal(data.runs[0].u[:, 0], np.delete(switch, 3))
    assert data.n_samples == N - 1


def test_missing_values_of_pandas_and_none_are_missing():
    frame = pd.DataFrame({"a": pd.array([*range(N - 1), None], dtype="Int64"), "b": np.arange(N)})
    assert Trajectories.from_arrays(frame, 1.0).n_samples == N - 1
    assert Trajectories.from_arrays([[1.0], [None], [3.0], [2.0], [5.0], [4.0]], 1.0).n_samples == 5


def test_nothing_of_the_caller_is_shared_or_changed():
    x, t, u = WAVES.copy(), TIMES.copy(), TIMES.copy()
    run = Trajectories.from_arrays(x, t, x_dot=x, u=u).runs[0]
    for own in (run.x, run.t, run.u, run.x_dot):
        assert not any(np.shares_memory(own, given) for given in (x, t, u))
        own[:] = 0
    np.testing.assert_array_equal(x, WAVES)
    np.testing.assert_array_equal(t, TIMES)


def test_reading_arrays_does_not_load_pandas():
    code = (
        "import sys, numpy as np; from spl.data.trajectories import Trajectories;"
        "Trajectories.from_arrays(np.arange(9.0), 0.1); sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- names ---------------------------------------------------------------------------------------


def test_names_are_numbered_unless_given():
    data = Trajectories.from_arrays(WAVES, 0.1, u=WAVES)
    assert data.names == ("x0", "x1", "u0", "u1")
    assert Trajectories.from_arrays(WAVES, 0.1, u=TIMES).names == ("x0", "x1", "u")
    named = Trajectories.from_arrays(WAVES, 0.1, u=TIMES, names=["a", "b"], input_names=["force"])
    assert (named.states, named.inputs) == (("a", "b"), ("force",))


def test_names_come_from_frames_unless_given():
    frame, inputs = pd.DataFrame(WAVES, columns=["a", "b"]), pd.Series(TIMES, name="push")
    assert Trajectories.from_arrays(frame, 0.1, u=inputs).names == ("a", "b", "push")
    assert Trajectories.from_arrays([frame, frame], 0.1).states == ("a", "b")
    assert Trajectories.from_arrays(frame, 0.1, names=["c", "d"]).states == ("c", "d")
    assert Trajectories.from_arrays(frame["a"], 0.1).states == ("a",)
    assert Trajectories.from_arrays(WAVES[:, 0], 0.1, names="a").states == ("a",)


def test_columns_that_are_only_numbered_give_no_names():
    assert Trajectories.from_arrays(pd.DataFrame(WAVES), 0.1, u=pd.Series(TIMES)).names == ("x0", "x1", "u")


# ---- the step ------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.0, -3.0, 1.7e9])
def test_even_times_have_a_step_whatever_they_start_at(start):
    assert Trajectories.from_arrays(WAVES, start + TIMES).runs[0].step == pytest.approx(0.1, rel=1e-6)


def test_uneven_times_have_no_step():
    uneven = TIMES.copy()
    uneven[3] += 1e-5
    assert Trajectories.from_arrays(WAVES, uneven).runs[0].step is None


# ---- repairs -------------------------------------------------------------------------------------


def test_single_missing_samples_are_left_out_and_make_times_irregular():
    data = Trajectories.from_arrays(with_holes(4, 9), TIMES)
    (run,) = data.runs
    np.testing.assert_array_equal(run.t, np.delete(TIMES, [4, 9]))
    assert run.step is None
    assert data.notes == ("The trajectory: 2 of 20 samples with missing values left out.",)


@pytest.mark.parametrize("field", ["x", "x_dot", "u"])
def test_a_gap_of_two_samples_splits_a_run(field):
    given = {"x": WAVES, "x_dot": WAVES, "u": WAVES} | {field: with_holes(7, 8, column=1)}
    data = Trajectories.from_arrays(given.pop("x"), TIMES, **given)
    assert [run.n_samples for run in data.runs] == [7, 11]
    assert [run.step for run in data.runs] == pytest.approx([0.1, 0.1])
    assert data.notes[1] == "The trajectory: split at 1 gap(s) in time, the first before t = 0.9."


def test_missing_samples_at_the_ends_split_nothing():
    data = Trajectories.from_arrays(with_holes(0, 1, 2, N - 1), TIMES)
    assert [run.n_samples for run in data.runs] == [N - 4]
    assert len(data.notes) == 1


def test_short_pieces_are_dropped_with_a_note():
    data = Trajectories.from_arrays([WAVES, with_holes(3, 4, 5)], 0.1)
    assert [run.n_samples for run in data.runs] == [N, N - 6]
    assert data.notes[0] == "Trajectory 2 of 2: 3 of 20 samples with missing values left out."
    assert data.notes[2] == "Trajectory 2 of 2: 3 samples in pieces of fewer than 5 left out."


def test_a_pause_in_regular_times_splits_a_run():
    t = np.concatenate([TIMES[:10], 5.0 + TIMES[10:]])
    data = Trajectories.from_arrays(WAVES, t)
    assert [run.n_samples for run in data.runs] == [10, 10]
    assert "the first before t = 6" in data.notes[0]


@pytest.mark.parametrize(
    "t",
    [
        np.geomspace(0.01, 100, N),
        np.cumsum(np.random.default_rng(0).exponential(size=N)),
        np.concatenate([TIMES[:18], [3.0, 5.0]]),  # slower and slower: no piece would be left of the last samples
    ],
)
def test_irregular_times_without_missing_values_are_left_as_they_are(t):
    data = Trajectories.from_arrays(WAVES, t)
    np.testing.assert_array_equal(data.runs[0].t, t)
    assert data.notes == ()


def test_a_long_gap_of_missing_values_splits_irregular_times():
    t = TIMES + 0.03 * np.sin(7.0 * np.arange(N))
    assert [run.n_samples for run in Trajectories.from_arrays(with_holes(8), t).runs] == [N - 1]
    assert [run.n_samples for run in Trajectories.from_arrays(with_holes(8, 9, 10, 11), t).runs] == [8, 8]


@given(st.lists(st.booleans(), min_size=MIN_RUN_SAMPLES, max_size=60))
def test_pieces_hold_complete_samples_only_in_order_and_without_gaps(is_missing):
    assume(longest_piece(is_missing) >= MIN_RUN_SAMPLES)
    t = np.arange(len(is_missing), dtype=float)
    data = Trajectories.from_arrays(np.where(is_missing, np.nan, t), t)
    kept = np.concatenate([run.t for run in data.runs])
    assert np.all(np.diff(kept) > 0)
    for run in data.runs:
        assert run.n_samples >= MIN_RUN_SAMPLES
        np.testing.assert_array_equal(run.x[:, 0], run.t)
        assert np.all(np.diff(run.t) <= 2)


@given(st.lists(st.booleans(), min_size=MIN_RUN_SAMPLES, max_size=30))
def test_data_of_short_pieces_is_refused(is_missing):
    assume(longest_piece(is_missing) < MIN_RUN_SAMPLES)
    t = np.arange(len(is_missing), dtype=float)
    with pytest.raises(DataError):
        Trajectories.from_arrays(np.where(is_missing, np.nan, t), t)


def longest_piece(is_missing: list[bool]) -> int:
    """Count the samples of the longest stretch in which no two neighbours are missing."""
    text = "".join("-" if missing else "x" for missing in is_missing)
    return max(piece.count("x") for piece in text.split("--"))


# ---- mistakes ------------------------------------------------------------------------------------


def changed(row: int, value: float) -> np.ndarray:
    x = WAVES.copy()
    x[row, 1] = value
    return x


@pytest.mark.parametrize(
    ("x", "t", "options", "message"),
    [
        ([], 0.1, {}, "There are 0 trajectories"),
        (WAVES[:4], 0.1, {}, "`x` has 4 samples; at least 5 are needed"),
        (WAVES.T, 0.1, {}, "transpose it"),
        ([WAVES, WAVES[:3]], 0.1, {}, "`x` of trajectory 2 of 2 has 3 samples"),
        (np.empty((0, 2)), 0.1, {}, "`x` has 0 samples"),
        (np.empty((9, 0)), 0.1, {}, "`x` has no columns"),
        (WAVES[np.newaxis], 0.1, {}, "`x` has 3 dimensions.* give several as a list"),
        (5.0, 0.1, {}, "`x` has 0 dimensions"),
        ([WAVES, WAVES[:, :1]], 0.1, {}, r"`x` of trajectory 2 of 2 has 1 column\(s\), but that of the first .* 2"),
        ([[1.0, 2.0], [3.0]], 0.1, {}, "rows of different lengths"),
        (list(WAVES), 0.1, {}, r"`x` is a list of 20 flat arrays of 2 numbers.* give np.array\(x\)"),
        (WAVES.astype(str), 0.1, {}, "`x` holds text: '0.0'"),
        (pd.DataFrame({"a": WAVES[:, 0], "b": "word"}), 0.1, {}, "`x` holds text: 'word'"),
        (WAVES + 1j, 0.1, {}, "`x` holds complex numbers"),
        ([[1.0], [object()], [3.0], [2.0], [5.0]], 0.1, {}, "`x` holds something that is not a number"),
        (changed(3, np.inf), 0.1, {}, "`x` is infinite at row 3 of 'x1'"),
        (WAVES, 0.1, {"x_dot": changed(4, -np.inf)}, "`x_dot` is infinite at row 4 of 'x1'"),
        (WAVES, 0.1, {"u": WAVES, "input_names": "a"}, r"There are 1 input names for 2 input\(s\): a"),
        (WAVES, 0.1, {"u": changed(5, np.inf)}, "`u` is infinite at row 5 of 'u1'"),
        (WAVES, 0.0, {}, "`t` must be a step greater than 0, or the times of the samples; got 0.0"),
        (WAVES, -1, {}, "got -1"),
        (WAVES, np.nan, {}, "got nan"),
        (WAVES, True, {}, "got True"),
        (WAVES, None, {}, "`t` is None"),
        (WAVES, "0.1", {}, "`t` holds text: '0.1'"),
        (WAVES, TIMES[:9], {}, "`t` has 9 times, but `x` has 20 samples"),
        (WAVES, WAVES, {}, r"`t` has the shape \(20, 2\)"),
        ([WAVES, WAVES[:9]], TIMES, {}, "`t` of trajectory 2 of 2 has 20 times, but `x` has 9 samples"),
        ([WAVES, WAVES], [TIMES], {}, "`t` is a list of 1, but there are 2 trajectories"),
        (WAVES, TIMES[::-1], {}, "`t` goes back from 1.9 to 1.8 at row 1. Sort the samples"),
        (WAVES, np.floor(TIMES * 5), {}, "`t` is 0 twice, at rows 0 and 1"),
        (WAVES, np.where(TIMES > 1, np.nan, TIMES), {}, "`t` is nan at row 11"),
        (WAVES * [1, 0], 0.1, {}, "The state 'x1' is constant in all trajectories"),
        ([WAVES * [1, 0], WAVES * [1, 0] + 3], 0.1, {"names": ["a", "b"]}, "The state 'b' is constant"),
        (with_holes(*range(0, N, 3), *range(1, N, 3)), 0.1, {}, "No 5 consecutive samples are complete"),
        (WAVES, 0.1, {"x_dot": WAVES[:, 0]}, r"`x_dot` has shape \(20, 1\), but `x` has \(20, 2\)"),
        (WAVES, 0.1, {"u": TIMES[:7]}, "`u` has 7 samples, but `x` has 20"),
        ([WAVES, WAVES], 0.1, {"u": [TIMES, None]}, "only some trajectories: it is None for trajectory 2 of 2"),
        ([WAVES, WAVES], 0.1, {"u": [TIMES]}, "`u` is a list of 1, but there are 2 trajectories"),
        ([WAVES, WAVES], 0.1, {"u": TIMES}, "`u` is not a list"),
        ([WAVES, WAVES], 0.1, {"u": [TIMES, WAVES]}, "`u` of trajectory 2 of 2 has 2"),
        (WAVES, 0.1, {"names": ["a"]}, r"There are 1 state names for 2 state\(s\)"),
        (WAVES, 0.1, {"names": ["a", "a"]}, "The name 'a' appears twice"),
        (WAVES, 0.1, {"names": ["a", "u"], "u": TIMES}, "The name 'u' appears twice"),
        (WAVES, 0.1, {"names": ["a", ""]}, "A name is empty"),
        ([pd.DataFrame(WAVES, columns=list(pair)) for pair in ("ab", "ba")], 0.1, {}, "a, b at first, but b, a in"),
    ],
)
def test_a_mistake_is_named_with_its_value(x, t, options, message):
    with pytest.raises(DataError, match=message):
        Trajectories.from_arrays(x, t, **options)


def test_a_state_that_moves_in_one_run_is_not_constant():
    assert len(Trajectories.from_arrays([WAVES * [1, 0], WAVES], 0.1).runs) == 2


def test_a_trajectory_counts_its_samples():
    assert Trajectory(TIMES, WAVES, WAVES[:, :0], None).n_samples == N


def test_pieces_of_a_trajectory_know_which_it_was():
    x = np.sin(np.arange(40.0))[:, np.newaxis]
    broken = x.copy()
    broken[15:25] = np.nan
    data = Trajectories.from_arrays([broken, x], [np.arange(40.0)] * 2, labels=["first", "second"])
    assert [run.experiment for run in data.runs] == [0, 0, 1]
    assert data.run_labels == ("first", "second")


def test_trajectories_without_usable_samples_lose_their_labels():
    x = np.sin(np.arange(40.0))[:, np.newaxis]
    data = Trajectories.from_arrays([np.full_like(x, np.nan), x], [np.arange(40.0)] * 2, labels=["first", "second"])
    assert data.run_labels == ("second",)
    assert data.runs[0].experiment == 0


def test_trajectories_are_taken_in_any_order():
    x = np.sin(np.arange(40.0))[:, np.newaxis]
    data = Trajectories.from_arrays([x, 2 * x, 3 * x], [np.arange(40.0)] * 3).take([2, 0])
    assert data.run_labels == ("2", "0")
    assert [run.experiment for run in data.runs] == [0, 1]
