"""From tables to trajectories: roles of columns and runs."""

import numpy as np
import pytest

from spl.data.table_files import read_table
from spl.data.trajectory_files import prepare_trajectories
from spl.errors import DataError

HEADER = "t,x,y,force,run,note"


def write(tmp_path, lines, header=HEADER):
    path = tmp_path / "data.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return read_table(str(path))


def rows(n_rows, run="a", start=0.0):
    return [f"{start + k / 10},{k},{k * k},{1 - k},{run},hello" for k in range(n_rows)]


def test_one_run_has_all_rows(tmp_path):
    data, notes = prepare_trajectories(write(tmp_path, rows(8)), time="t", states=["x", "y"], inputs=["force"])
    assert (data.states, data.inputs, len(data.runs)) == (("x", "y"), ("force",), 1)
    np.testing.assert_allclose(data.runs[0].t, np.arange(8) / 10)
    np.testing.assert_array_equal(data.runs[0].x[:, 1], np.arange(8) ** 2)
    np.testing.assert_array_equal(data.runs[0].u[:, 0], 1 - np.arange(8))
    assert notes == []


def test_states_are_all_other_numbers_if_none_are_named(tmp_path):
    data, notes = prepare_trajectories(write(tmp_path, rows(8)), time="t", inputs=["force"])
    assert data.states == ("x", "y")
    assert notes == ["2 columns of text left out: run, note."]


@pytest.mark.parametrize("labels", [("a", "b"), ("7", "3"), ("2.5", "1e3")])
def test_a_column_tells_runs_apart_be_it_text_or_numbers(tmp_path, labels):
    table = write(tmp_path, rows(6, labels[0]) + rows(9, labels[1]))
    data, _ = prepare_trajectories(table, time="t", states=["x", "y"], group="run")
    assert [run.n_samples for run in data.runs] == [6, 9]


def test_rows_of_runs_may_be_mixed(tmp_path):
    mixed = [line for pair in zip(rows(6, "a"), rows(6, "b"), strict=True) for line in pair]
    data, _ = prepare_trajectories(write(tmp_path, mixed), time="t", states=["x"], group="run")
    assert [run.x[:, 0].tolist() for run in data.runs] == [[0, 1, 2, 3, 4, 5]] * 2


def test_incomplete_rows_keep_their_times(tmp_path):
    lines = rows(20)
    lines[8:12] = [f"{k / 10},,{k},1,a,hello" for k in range(8, 12)]
    data, _ = prepare_trajectories(write(tmp_path, lines), time="t", states=["x", "y"])
    assert [run.n_samples for run in data.runs] == [8, 8]
    assert any("4 of 20 samples with missing values" in note for note in data.notes)


def test_infinite_values_are_missing_with_a_note(tmp_path):
    lines = rows(20)
    lines[8] = "0.8,inf,8,1,a,hello"
    data, notes = prepare_trajectories(write(tmp_path, lines), time="t", states=["x", "y"])
    assert notes == ["Column 'x': 1 infinite value read as missing (the first: line 10)."]
    assert data.n_samples == 19
    assert list(data.notes[: len(notes)]) == notes


def test_rows_without_a_time_or_a_run_are_left_out_with_a_note(tmp_path):
    lines = [*rows(8, "a"), ",1,1,1,a,hello", "3,1,1,1,,hello", *rows(8, "b")]
    data, notes = prepare_trajectories(write(tmp_path, lines), time="t", states=["x"], group="run")
    assert data.n_samples == 16
    assert notes == [
        "1 row of 18 without a time in 't' left out.",
        "1 row of 18 without a value of 'run' left out.",
    ]


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (rows(8), {"time": "z"}, "There is no column 'z' in"),
        (rows(8), {"time": "note"}, "The column 'note' of"),
        (rows(8), {"time": "t", "states": ["x", "note"]}, "Leave it out of --states."),
        (rows(8), {"time": "t", "inputs": ["note"]}, "Leave it out of --inputs."),
        (rows(8), {"time": "t", "states": ["t"]}, "The column 't' is the time and a state. Give it one role."),
        (rows(8), {"time": "t", "states": ["x"], "inputs": ["x"]}, "'x' is a state and an input."),
        (rows(8), {"time": "t", "states": ["x"], "group": "x"}, "'x' is a state and the group."),
        (rows(8), {"time": "t", "group": "runs"}, "There is no column 'runs'"),
        (rows(8) + rows(8), {"time": "t"}, "goes back from 0.7 to 0 in line 10 of"),
        (rows(8) + rows(8), {"time": "t"}, "separate runs with --group COLUMN."),
        (rows(8) + rows(8), {"time": "t", "group": "run"}, "Sort the rows by time."),
        ([*rows(8), rows(8)[7]], {"time": "t"}, "is 0.7 twice, again in line 10 of"),
        (rows(3), {"time": "t", "states": ["x"]}, "has 3 samples; at least 5 are needed."),
        ([f"{k},{k},1,1,a,b" for k in range(9)], {"time": "t", "states": ["y"]}, "The state 'y' is constant"),
        ([f",{k},1,1,a,b" for k in range(9)], {"time": "t"}, "holds no times"),
        ([f"{k},{k},1,1,,b" for k in range(9)], {"time": "t", "states": ["x"], "group": "run"}, "No row of"),
    ],
)
def test_what_is_wrong_is_said_with_the_remedy(tmp_path, lines, options, message):
    table = write(tmp_path, lines)
    with pytest.raises(DataError) as error:
        prepare_trajectories(table, **options)
    assert message in str(error.value)


def test_a_table_without_a_state_is_refused(tmp_path):
    table = write(tmp_path, ["1,a", "2,b", "3,c"], header="t,note")
    with pytest.raises(DataError, match="no column of numbers besides 't'"):
        prepare_trajectories(table, time="t")
