"""Where a search is, as run files of this version and of older ones have it; `test_recorder` has the way there and back."""

import json
from contextlib import closing

import numpy as np
import pytest

from spl.checked_values import Damage
from spl.kernels.tree.ledger import RECORD
from spl.regression.checkpoint import to_bytes
from spl.runs.checkpoint_reader import read_checkpoint
from spl.runs.sqlite_file import open_to_write

VIEW = {"schedule": 1, "round": 2, "segment": 3, "episodes_at_exact": None}


@pytest.fixture
def connection(tmp_path):
    with closing(open_to_write(tmp_path / "run.spl")) as connection:
        yield connection


def write(connection, position, **arrays):
    stored = {"front": np.zeros(3, RECORD), "seen": np.zeros(2, RECORD)} | arrays
    row = (0, json.dumps({"seconds": 1.5, "n_entries": 10} | position), to_bytes(stored))
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", row)


def test_a_run_of_an_older_version_has_one_view_of_all_rows_and_columns(connection):
    write(connection, VIEW)
    found = read_checkpoint(connection, 0)
    [view] = found.views
    assert (found.lead, view.noise, view.columns, view.n_restarts, view.n_before) == (0, "normal", (), 0, (0, 0))
    assert (view.schedule, view.round, view.batch, view.front.size, view.seen.size) == (1, 2, 3, 3, 2)


def test_each_view_has_its_part_of_the_arrays(connection):
    counts = {"n_seen": 1, "n_weights": 2, "n_trees": 0}
    views = [VIEW | counts | {"n_front": 1, "noise": "normal"}, VIEW | counts | {"n_front": 2, "noise": "student"}]
    write(connection, {"views": views, "lead": 1}, weights=np.arange(4.0))
    one, other = read_checkpoint(connection, 0).views
    assert (one.front.size, other.front.size, other.noise) == (1, 2, "student")
    assert (one.weights.tolist(), other.weights.tolist()) == ([0.0, 1.0], [2.0, 3.0])


@pytest.mark.parametrize(
    "wrong", [{"n_front": 9}, {"n_before": [1]}, {"n_trees": 4}, {"columns": [-1]}], ids=lambda wrong: next(iter(wrong))
)
def test_damaged_views_are_noticed(connection, wrong):
    write(connection, {"views": [VIEW | wrong]})
    with pytest.raises(Damage):
        read_checkpoint(connection, 0)


def test_older_runs_have_no_further_literals_and_damaged_ones_are_noticed(connection):
    write(connection, VIEW)
    assert read_checkpoint(connection, 0).literals == ()
    connection.execute("DELETE FROM checkpoints")
    write(connection, {"views": [VIEW], "literals": [1.0, "x"]})
    with pytest.raises(Damage):
        read_checkpoint(connection, 0)


def test_the_leading_view_must_exist(connection):
    write(connection, {"views": [VIEW], "lead": 1})
    with pytest.raises(Damage):
        read_checkpoint(connection, 0)
