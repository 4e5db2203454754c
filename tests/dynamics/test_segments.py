"""Runs cut into segments."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectory
from spl.dynamics.segments import (
    MIN_LENGTH,
    STRETCH,
    as_set,
    choose_length,
    cut_segments,
    even_edges,
    join_pairs,
    spread_samples,
)


def make_run(t, x, u=None):
    return Trajectory(t, x, np.empty((t.size, 0)) if u is None else u, None)


def make_numbered_runs(*sizes):
    """Return runs whose state is the number of the sample, a second one that of the run."""
    return [
        make_run(0.1 * np.arange(n), np.column_stack([np.arange(n), np.full(n, k)]).astype(float), np.ones((n, 1)) * k)
        for k, n in enumerate(sizes)
    ]


def test_segments_know_where_runs_were_cut():
    runs = [make_run(np.arange(50.0), np.zeros((50, 1))), make_run(np.arange(20.0), np.zeros((20, 1)))]
    edges = [np.array([0, 7, 30, 50]), np.array([0, 20])]
    found = cut_segments(runs, np.ones(1), edges).edges
    assert [each.tolist() for each in found] == [each.tolist() for each in edges]


def test_every_sample_is_in_one_segment(rng):
    runs = [make_run(np.arange(float(n)), rng.normal(size=(n, 1))) for n in (23, 5)]
    edges = even_edges(runs, 7)
    segments = cut_segments(runs, np.array([0.5]), edges)
    assert segments.size.sum() == 28
    assert (segments.weights > 0).sum() == 28
    assert segments.weights.max() == 2
    assert [len(e) for e in join_pairs(edges, set())] == [3, 2]


def test_of_very_long_runs_stretches_are_taken_from_beginning_to_end():
    runs = [make_run(np.arange(float(n)), np.zeros((n, 1))) for n in (150_000, 30, 50_000)]
    parts, states = spread_samples(runs, [run.t[:, np.newaxis] for run in runs])
    assert 90_000 <= sum(run.n_samples for run in parts) <= 100_000
    assert [(run.t[0], run.t[-1]) for run in parts] == [(rows[0, 0], rows[-1, 0]) for rows in states]
    assert parts[0].t[0] == 0
    assert parts[-1].t[-1] == 49_999
    assert max(np.diff([run.t[0] for run in parts])) <= 6000  # never far from one stretch to the next


def test_runs_that_are_not_too_long_are_left_alone():
    runs = [make_run(np.arange(50.0), np.zeros((50, 1)))] * 3
    assert spread_samples(runs, [run.x for run in runs], most=150)[0] is runs


def test_a_segment_holds_the_samples_from_its_edge_to_the_next():
    runs = make_numbered_runs(9, 4)
    segments = cut_segments(runs, np.array([1.0, 2.0]), [np.array([0, 6, 9]), np.array([0, 4])])
    for m, (run, first, size) in enumerate([(0, 0, 6), (0, 6, 3), (1, 0, 4)]):
        assert (segments.run[m], segments.first[m], segments.size[m]) == (run, first, size)
        np.testing.assert_array_equal(segments.measured[0, m, :size], np.arange(first, first + size))
        np.testing.assert_array_equal(segments.measured[1, m, :size], run)
        np.testing.assert_array_equal(segments.times[m, :size], runs[run].t[first : first + size])
        np.testing.assert_array_equal(segments.inputs[0, m, :size], run)


def test_padding_repeats_the_last_sample_with_weight_0():
    runs = make_numbered_runs(9, 4)
    segments = cut_segments(runs, np.array([1.0, 2.0]), [np.array([0, 6, 9]), np.array([0, 4])])
    np.testing.assert_array_equal(segments.times[1, 3:], runs[0].t[-1])
    np.testing.assert_array_equal(segments.weights[:, 1, 3:], 0.0)
    np.testing.assert_array_equal(segments.weights[:, 1, :3], [[1.0] * 3, [0.5] * 3])


def test_first_states_are_those_at_the_edges():
    runs = make_numbered_runs(9, 4)
    segments = cut_segments(runs, np.ones(2), [np.array([0, 6, 9]), np.array([0, 4])])
    np.testing.assert_array_equal(segments.initial_states([run.x for run in runs]), [[0, 6, 0], [0, 0, 1]])


def test_observations_are_counted_in_the_segments_that_are_used():
    segments = cut_segments(make_numbered_runs(9, 4), np.ones(2), [np.array([0, 6, 9]), np.array([0, 4])])
    assert segments.n_observations(np.array([True, False, True])) == 2 * (6 + 4)


def test_parts_know_the_segment_that_they_are_in():
    runs = make_numbered_runs(20, 8)
    coarse = cut_segments(runs, np.ones(2), [np.array([0, 12, 20]), np.array([0, 8])])
    fine = cut_segments(runs, np.ones(2), [np.array([0, 5, 12, 16, 20]), np.array([0, 4, 8])])
    assert coarse.home_of(fine).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("n_samples", "length"), [(100, 10), (23, 7), (5, 8)])
def test_even_edges_cut_into_about_equal_parts(n_samples, length):
    [edges] = even_edges(make_numbered_runs(n_samples), length)
    assert (edges[0], edges[-1]) == (0, n_samples)
    assert np.ptp(np.diff(edges)) <= 1
    assert len(edges) - 1 == max(1, round(n_samples / length))


@pytest.mark.parametrize("n_parts", [1, 2, 5, 8])
def test_joining_pairs_halves_the_number_of_segments(n_parts):
    edges = [3 * np.arange(n_parts + 1)]
    [joined] = join_pairs(edges, set())
    assert len(joined) - 1 == -(-n_parts // 2)
    assert as_set([joined]) <= as_set(edges)


def test_first_segments_are_so_long_that_the_states_move_more_than_their_noise():
    t = np.arange(2000) * 0.01
    slow = np.sin(0.5 * t)[:, np.newaxis]
    lengths = [choose_length([make_run(t, slow)], [slow], np.array([noise])) for noise in (1e-4, 0.01, 0.1)]
    assert lengths[0] == MIN_LENGTH
    assert lengths[0] < lengths[1] < lengths[2]
    moved = slow[lengths[1] :] - slow[: -lengths[1]]
    assert np.sqrt(np.mean(moved**2)) >= 3 * 0.01


def test_states_that_hardly_move_get_segments_in_which_they_move_most_of_the_way():
    t = np.arange(1000) * 0.01
    still = 1e-3 * np.sin(t)[:, np.newaxis]
    length = choose_length([make_run(t, still)], [still], np.array([1.0]))
    assert MIN_LENGTH < length < 1000


def test_stretches_of_a_long_run_have_the_same_length():
    runs = [make_run(np.arange(150_000.0), np.zeros((150_000, 1)))]
    parts, _ = spread_samples(runs, [run.x for run in runs])
    assert {run.n_samples for run in parts} == {STRETCH}
