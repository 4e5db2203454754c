"""Measured data: as published, with named columns."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from spl.datasets import fetch_ball_drop, fetch_double_pendulum, fetch_lorenz_paper, measured
from spl.errors import DataError


def copy_as_upstream(real_data: Path, server: Path) -> None:
    """Lay the measured data out as the two repositories do."""
    places = {
        "ball_drop/Ball_drops_data.xls": "balls/Data/Ball_drops_data.xls",
        **{f"lorenz/Lorenz_{s}.csv": f"paper/dynamics_task/data/Lorenz_data/Lorenz_{s}.csv" for s in "xyz"},
        **{f"double_pendulum/dp_f2_{p}.csv": f"paper/dynamics_task/data/dp_f2_{p}.csv" for p in ("train", "test")},
    }
    for number in range(21):
        target = f"paper/dynamics_task/data/dp_ibm_raw/original/dpc_dataset_csv/{number}.csv"
        places[f"double_pendulum/raw/{number}.csv"] = target
    for source, target in places.items():
        (server / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(real_data / source, server / target)


def test_eleven_balls_fall_twice(real_data):
    balls = fetch_ball_drop()
    assert len(balls.balls) == 11
    assert [(drop.ball, drop.number) for drop in balls.drops] == [(b, n) for b in balls.balls for n in (1, 2)]
    for drop in balls.drops:
        assert drop.time_s.shape == drop.height_m.shape
        assert drop.time_s[0] == 0
        assert np.all(np.diff(drop.time_s) > 0)
        assert drop.height_m[0] > 40 > drop.height_m[-1]
    np.testing.assert_allclose(balls.select_drop("Golf Ball").height_m[:2], [49.47, 49.44], atol=5e-3)


def test_a_ball_that_does_not_exist_is_answered_with_the_nearest(real_data):
    balls = fetch_ball_drop()
    assert balls.select_drop("Volleyball", 2).number == 2
    with pytest.raises(DataError, match=r"There is no ball 'volleyball'\. Did you mean 'Volleyball'"):
        balls.select_drop("volleyball")
    with pytest.raises(DataError, match="There is no drop 3 of 'Volleyball'"):
        balls.select_drop("Volleyball", 3)


def test_the_workbook_and_the_table_hold_the_same_drops(real_data):
    table = measured._gather_drops(measured._rows_of_table(real_data / "ball_drop/ball_drops.csv"))
    workbook = measured._gather_drops(measured._rows_of_workbook(real_data / "ball_drop/Ball_drops_data.xls"))
    assert table.balls == workbook.balls
    for one, two in zip(table.drops, workbook.drops, strict=True):
        assert (one.ball, one.number) == (two.ball, two.number)
        np.testing.assert_array_equal(one.time_s, two.time_s)
        np.testing.assert_array_equal(one.height_m, two.height_m)


def test_the_lorenz_data_of_the_paper_nearly_obey_the_equations(real_data):
    data = fetch_lorenz_paper()
    assert data.states.shape == data.derivatives.shape == (9505, 3)
    assert (data.step, data.names) == (0.01, ("x", "y", "z"))
    x, y, z = data.states.T
    truth = np.column_stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    assert np.all(np.std(truth - data.derivatives, axis=0) < 0.25 * np.std(truth, axis=0))
    rise = (data.states[2:] - data.states[:-2]) / 2
    steps = np.sum(rise * data.derivatives[1:-1], axis=0) / np.sum(data.derivatives[1:-1] ** 2, axis=0)
    np.testing.assert_allclose(steps, data.step, rtol=0.05)


def test_prepared_samples_of_the_pendulum_have_named_columns(real_data):
    data = fetch_double_pendulum()
    assert data.names == ("theta1", "theta2", "omega1", "omega2", "domega1", "domega2")
    assert (data.train.shape, data.test.shape) == ((5000, 6), (2000, 6))
    np.testing.assert_array_equal(data.select_column("omega1", "test"), data.test[:, 2])
    with pytest.raises(DataError, match=r"There is no column 'theta'\. Did you mean"):
        data.select_column("theta")


@pytest.mark.parametrize("part", ["train", "test"])
def test_both_files_of_prepared_samples_hold_the_same(part, real_data):
    other = np.loadtxt(real_data / f"double_pendulum/dp_f1_{part}.csv", delimiter=",")
    np.testing.assert_array_equal(getattr(fetch_double_pendulum(), part), other[:, [0, 1, 2, 3, 5, 4]])


def test_tracks_of_the_camera_show_two_rods_of_constant_length(real_data):
    tracks = fetch_double_pendulum(raw=True)
    assert len(tracks) == 21
    for track in tracks:
        assert track.shape[0] > 17_000
        assert track.shape[1] == len(measured.TRACK_COLUMNS)
        points = track.reshape(-1, 3, 2)
        rods = np.linalg.norm(np.diff(points, axis=1), axis=2)
        assert np.all(np.std(rods, axis=0) < 0.03 * np.mean(rods, axis=0))


@pytest.mark.slow
def test_everything_can_be_downloaded_and_is_the_same(real_data, cache, server, monkeypatch):
    copy_as_upstream(real_data, server)
    monkeypatch.setattr(measured, "BALLS_BASE", f"{(server / 'balls').as_uri()}/")
    monkeypatch.setattr(measured, "PAPER_BASE", f"{(server / 'paper').as_uri()}/")
    balls, lorenz, samples = fetch_ball_drop(), fetch_lorenz_paper(), fetch_double_pendulum()
    tracks = fetch_double_pendulum(raw=True)
    assert len(list(cache.rglob("*.*"))) == 1 + 3 + 2 + 21
    monkeypatch.setenv("SPL_DATA", str(real_data))
    np.testing.assert_array_equal(balls.drops[7].height_m, fetch_ball_drop().drops[7].height_m)
    np.testing.assert_array_equal(lorenz.derivatives, fetch_lorenz_paper().derivatives)
    np.testing.assert_array_equal(samples.train, fetch_double_pendulum().train)
    np.testing.assert_array_equal(tracks[20], fetch_double_pendulum(raw=True)[20])


def test_without_data_and_network_the_message_names_the_folder_and_the_address(cache, server, monkeypatch):
    monkeypatch.setattr(measured, "PAPER_BASE", f"{server.as_uri()}/")
    with pytest.raises(DataError, match=r"lorenz/Lorenz_x\.csv is not on this machine.* set SPL_DATA to that folder"):
        fetch_lorenz_paper()
