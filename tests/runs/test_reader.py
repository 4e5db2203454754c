import sqlite3
from contextlib import closing

import numpy as np
import pytest
from tests.run_examples import NO_LIMIT, RULES, make_config, make_data, make_plan, search_in_file, summary

from spl.checked_values import Damage
from spl.data.dataset import Dataset, RowPlaces
from spl.data.hold_out import hold_out
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.runs import reader as stored_run
from spl.runs.reader import read_run, read_state
from spl.runs.regression import discover_in_file
from spl.runs.writer import RunFile
from spl.settings import Limits


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.spl"
    found = search_in_file(path, facts={"source": "table.csv", "selection": "bic"})
    return found, read_run(path)


@pytest.mark.search
def test_the_front_comes_back_bit_for_bit(stored):
    found, run = stored
    assert summary(run.searches[0].discovery) == summary(found) == summary(run.searches[0])


def test_the_numbers_of_the_search_come_back(stored):
    found, run = stored
    again = run.searches[0].discovery
    assert (again.n_rows, again.floor, again.seconds, again.n_episodes, again.n_evaluations, again.stopped) == (
        found.n_rows, found.floor, found.seconds, found.n_episodes, found.n_evaluations, found.stopped
    )  # fmt: skip


def test_the_data_comes_back_bit_for_bit(stored):
    data, run = make_data(), stored[1]
    assert run.data.names == data.names
    for name in ("columns", "target", "weights"):
        np.testing.assert_array_equal(getattr(run.data, name), getattr(data, name))


def test_a_run_says_what_it_is_and_how_it_stands(stored):
    _, run = stored
    assert (run.kind, run.status, run.stopped) == ("regression", "finished", "schedules")
    assert run.config == make_config()
    assert run.settings["seed"] == 3
    assert run.settings["limits"] == {"timeout": None, "max_evaluations": None}
    assert {"symbolic-physics-learner", "python", "numpy"} <= set(run.versions)
    assert (run.facts["source"], run.facts["selection"]) == ("table.csv", "bic")
    assert run.searches[0].name == "z"
    assert run.searches[0].grammar == Grammar.from_text(RULES).bind(["x", "y"])


def test_the_history_goes_forward_and_ends_with_the_last_numbers(stored):
    found, run = stored
    history = run.searches[0].history
    for name in ("seconds", "n_episodes", "n_evaluations", "n_rounds"):
        values = [getattr(moment, name) for moment in history]
        assert values == sorted(values)
    losses = [moment.loss for moment in history]
    assert losses == sorted(losses, reverse=True)
    assert (history[-1].n_episodes, history[-1].n_rounds) == (found.n_episodes, 2)
    assert run.seconds == history[-1].seconds


@pytest.mark.search
def test_every_improvement_is_there_with_its_time(stored):
    _, run = stored
    seen = []
    request = RegressionRequest(make_data(), Grammar.from_text(RULES), config=make_config(), limits=NO_LIMIT, seed=3)
    discover(request, watch=lambda progress: seen.append({to_text(c.program) for c in progress.front}))
    improvements = run.searches[0].improvements
    assert {improvement.equation for improvement in improvements} <= set().union(*seen)
    assert {to_text(c.program) for c in run.searches[0].front} & {i.equation for i in improvements}
    assert [i.seconds for i in improvements] == sorted(i.seconds for i in improvements)


@pytest.mark.search
def test_a_run_can_be_read_while_it_goes_on(tmp_path):
    path, seen = tmp_path / "run.spl", []
    search_in_file(path, 2, watch=lambda progress: seen.append(read_run(path)))
    assert all(run.status == "running" for run in seen)
    assert seen[0].searches[0].discovery is None
    assert seen[-1].searches[0].discovery.stopped == ""
    assert len(seen[-1].searches[0].front)


@pytest.mark.search
def test_a_run_whose_process_is_gone_has_died(tmp_path):
    path, dead = tmp_path / "run.spl", tmp_path / "dead.spl"
    search_in_file(path, watch=lambda progress: copy_run(path, dead))
    assert read_run(tmp_path / "dead.spl").status == "died"


def copy_run(path, target):
    for suffix in ("", "-wal"):
        target.with_name(target.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())


@pytest.mark.search
def test_a_run_that_ends_between_the_looks_at_its_file_and_at_its_lock_has_not_died(tmp_path, monkeypatch):
    """The lock is looked at after the file: the process may have ended in order meanwhile."""
    path = tmp_path / "run.spl"
    search_in_file(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # as while a run is written
    for read in (read_run, read_state):
        set_status(path, "running")

        def ends_meanwhile(path):
            set_status(path, "finished")
            return False

        monkeypatch.setattr(stored_run, "is_locked", ends_meanwhile)
        assert read(path).status == "finished"


def set_status(path, status):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE facts SET value = ? WHERE name = 'status'", (f'"{status}"',))


@pytest.mark.search
def test_before_the_first_formula_the_lowest_loss_is_infinite(tmp_path):
    path = tmp_path / "run.spl"
    search_in_file(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE history SET loss = NULL")
    assert all(moment.loss == np.inf for moment in read_run(path).searches[0].history)


@pytest.mark.search
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET value = '{' WHERE name = 'settings'",
        "DELETE FROM facts",
        "DELETE FROM searches",
        "DELETE FROM arrays",
        "UPDATE arrays SET shape = '[1000000000, 1000000000]'",
        "UPDATE facts SET value = '\"poem\"' WHERE name = 'kind'",
        'UPDATE front SET program = \'{"tokens": [0], "constants": [], "literals": []}\'',
        "UPDATE front SET loss = 'low'",
        "UPDATE searches SET rules = '[]'",
        "UPDATE searches SET result = '{}'",
        "UPDATE searches SET result = json_set(result, '$.outliers', json('[1000]'))",
    ],
)
def test_a_file_with_something_else_in_its_tables_is_said_to_be_damaged(tmp_path, statement):
    path = tmp_path / "run.spl"
    search_in_file(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(RunFileError, match=r"run\.spl' is damaged: "):
        read_run(path)


@pytest.mark.search
def test_a_mistake_of_ours_while_a_run_is_read_is_not_blamed_on_the_file(tmp_path, monkeypatch):
    path = tmp_path / "run.spl"
    search_in_file(path)
    monkeypatch.setattr(stored_run, "_read_dataset", lambda facts: None)  # called with other arguments
    with pytest.raises(TypeError):
        read_run(path)


# ---- places --------------------------------------------------------------------------------------


def test_error_bars_and_the_lines_of_rows_are_kept(tmp_path):
    data = Dataset.from_arrays(
        [[1.0, 1.5], [2.0, 2.5]],
        [3.0, 5.0],
        names=["x", "y"],
        sigma=[0.1, 0.2],
        sigma_columns=[0.3, 0.0],
        places=RowPlaces(np.array([2, 5]), "line"),
    )
    path = tmp_path / "run.spl"
    RunFile(path, make_plan(data=data), NO_LIMIT, 1).close()
    read = read_run(path).data
    assert [read.places.name(row) for row in range(2)] == ["line 2", "line 5"]
    np.testing.assert_array_equal(read.sigma, [0.1, 0.2])
    np.testing.assert_array_equal(read.sigma_columns, [[0.3, 0.3], [0.0, 0.0]])


# ---- held-out rows -------------------------------------------------------------------------------


@pytest.mark.search
def test_held_out_rows_and_what_they_say_come_back(tmp_path, rng):
    columns = rng.uniform(1, 3, (40, 2))
    target = columns[:, 0] * columns[:, 1] + 0.1 * rng.standard_normal(40)
    weights = rng.uniform(0.5, 2.0, 40)
    all_rows = Dataset.from_arrays(columns, target, names=["a", "b"], weights=weights)
    data, held_out = hold_out(all_rows, 0.25, seed=0)
    request = RegressionRequest(
        data,
        Grammar.from_operators(["+", "*"], ["a", "b"]),
        limits=Limits(timeout=None, max_evaluations=100),
        held_out=held_out,
    )
    path = tmp_path / "run.spl"
    found = discover_in_file(path, request)
    run = read_run(path)
    for name in ("columns", "target", "weights"):
        np.testing.assert_array_equal(getattr(run.held_out, name), getattr(held_out, name))
    assert run.held_out.mean_weight == held_out.mean_weight
    assert run.searches[0].discovery.held_out == found.held_out
    assert len(found.held_out.losses) == len(found.front)
    assert [describe(each) for each in run.searches[0].discovery.rivals] == [describe(each) for each in found.rivals]
    assert len(found.rivals) > 0


def describe(candidate):
    return to_text(candidate.program), candidate.loss, candidate.reward, candidate.number_nats


@pytest.mark.search
def test_a_file_from_before_rivals_is_read_without_them(tmp_path):
    path = tmp_path / "run.spl"
    found = search_in_file(path)
    with closing(sqlite3.connect(path)) as connection:
        for newer in ("rivals", "own_numbers"):
            connection.execute(f"DROP TABLE {newer}")
        connection.execute("PRAGMA user_version = 3")
    [search] = read_run(path).searches
    assert summary(search.discovery) == summary(found)
    assert search.discovery.rivals == ()


@pytest.mark.search
def test_losses_of_held_out_rows_that_do_not_fit_the_front_are_damage(stored):
    front = stored[1].searches[0].front
    plain = {
        "n_rows": 9,
        "losses": [1.0] * len(front),
        "constant_loss": 1.0,
        "preferred": 0,
        "tested_loss": 1.0,
        "chance": 0.5,
    }
    assert stored_run._read_verdict(plain, front).n_rows == 9
    assert stored_run._read_verdict(None, front) is None
    for wrong in ({"losses": [1.0] * (len(front) + 1)}, {"preferred": len(front)}, {"chance": "often"}):
        with pytest.raises(Damage):
            stored_run._read_verdict(plain | wrong, front)
