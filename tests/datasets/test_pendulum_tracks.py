import numpy as np
import pytest

from spl.datasets.pendulum_tracks import EDGE_FRAMES, smooth_track, track_to_angles
from spl.errors import DataError

T = np.arange(1200) / 400


def make_track(theta1, theta2, pivot=(1200.0, 1220.0)):
    """Return camera positions of a pendulum with arms of 600 and 470 units; y points down."""
    y, x = np.full_like(theta1, pivot[0]), np.full_like(theta1, pivot[1])
    y1, x1 = y + 600 * np.cos(theta1), x + 600 * np.sin(theta1)
    return np.column_stack([y, x, y1, x1, y1 + 470 * np.cos(theta2), x1 + 470 * np.sin(theta2)])


def test_angles_come_back_without_jumps():
    theta = np.column_stack([0.3 + 4 * T, 1.0 - 9 * T])  # several turns
    assert np.allclose(track_to_angles(make_track(*theta.T)), theta)


def test_a_hanging_pendulum_is_at_zero():
    assert np.allclose(track_to_angles(make_track(np.zeros(3), np.zeros(3))), 0)


@pytest.mark.parametrize(("method", "tolerance"), [("savgol", 1.0), ("spline", 1.0)])
def test_rates_and_accelerations_survive_the_pixels_of_the_camera(method, tolerance):
    theta = np.column_stack([np.sin(6 * T), np.cos(5 * T)])
    run = smooth_track(np.round(make_track(*theta.T)), method)
    t = run.time_s
    assert np.allclose(run.select_column("omega1"), 6 * np.cos(6 * t), atol=0.1 * tolerance)
    assert np.allclose(run.select_column("domega2"), -25 * np.cos(5 * t), atol=3 * tolerance)


def test_the_ends_are_cut_off():
    run = smooth_track(make_track(np.sin(T), np.cos(T)), "finite_difference")
    assert len(run.time_s) == len(run.table) == len(T) - 2 * EDGE_FRAMES
    assert run.time_s[0] == EDGE_FRAMES / 400


def test_a_part_of_a_run_is_chosen_by_its_times():
    part = smooth_track(make_track(np.sin(T), np.cos(T)), "finite_difference").select_times(1.0, 2.0)
    assert (part.time_s[0], part.time_s[-1]) == (1.0, 2.0)
    assert len(part.table) == len(part.time_s)


def test_a_track_without_six_columns_is_refused():
    with pytest.raises(DataError, match=r"A track must have the columns pivot_y, .*; got shape \(5, 4\)\."):
        track_to_angles(np.zeros((5, 4)))


def test_a_short_track_is_refused():
    with pytest.raises(DataError, match=r"A track must have 144 frames or more; got 20\."):
        smooth_track(np.zeros((20, 6)))
