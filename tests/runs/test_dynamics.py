import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from tests.dynamics.coupled_rates import make_coupled_data, make_open_request

from spl import SPLDynamics
from spl.data.trajectories import Trajectories
from spl.display.systems import describe_system
from spl.dynamics.implicit_choice import drop_rates
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import number_positions
from spl.runs.dynamics import discover_system_in_file, load_system, resume_system, stored_plan
from spl.runs.reader import read_run
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.search

CONFIG = SearchConfig(max_rules=10, n_episodes=60, n_transplants=1, max_schedules=1)
NO_LIMITS = Limits(timeout=None)  # the searches end with their schedule, whatever the clock says
RULES = "f -> f + f | f * f | C * f | x | v"
T = np.linspace(0, 6, 120)
X = np.column_stack([np.sin(2 * T), 2 * np.cos(2 * T)])


class Killed(BaseException):
    """Ends a search as abruptly as can be in one process."""


def make_data(u=None, scale=1.0):
    return Trajectories.from_arrays([X * scale, X[:50] * scale], [T, T[:50]], names=["x", "v"], u=u)


def search(path, data=None, watch=None, **more):
    settings = {"plan": Plan(method="spline"), "config": CONFIG, "limits": NO_LIMITS, "seed": 1} | more
    request = SystemRequest(data=data or make_data(), grammars=[Grammar.from_text(RULES)] * 2, **settings)
    return discover_system_in_file(path, request, watch=watch)


def summary(found):
    fronts = [[(c.program.tokens, c.program.constants, c.loss) for c in one.front] for one in found.searches]
    return (
        [(p.tokens, p.constants) for p in found.system.programs],
        fronts,
        found.chosen,
        [errors.tolist() for errors in found.standard_errors],
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.spl"
    return path, search(path)


def test_a_system_comes_back_from_its_file_as_it_was_found(stored):
    path, found = stored
    run = read_run(path)
    assert (run.kind, run.status, run.stopped) == ("dynamics", "finished", "done")
    again = load_system(run, stored_plan(run))
    assert summary(again) == summary(found)
    one, two = (describe_system(each, make_data(), each.notes, 1) for each in (found, again))
    assert one == two


def test_the_trajectories_come_back_bit_for_bit(stored):
    data, run = make_data(), read_run(stored[0])
    assert (run.data.states, run.data.inputs, run.data.notes) == (data.states, data.inputs, data.notes)
    for one, two in zip(run.data.runs, data.runs, strict=True):
        for name in ("t", "x", "u"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_system_that_is_done_is_read_and_not_run_again(stored):
    path, found = stored

    def watch(progress):
        raise Killed

    assert summary(search(path, watch=watch)) == summary(found)


@pytest.mark.parametrize("n_looks", [1, 2])
def test_a_system_that_was_cut_off_goes_on_at_the_state_it_was_at(tmp_path, stored, n_looks):
    looks, states = iter(range(n_looks)), []

    def watch(progress):
        if next(looks, None) is None:
            raise Killed

    with pytest.raises(Killed):
        search(tmp_path / "run.spl", watch=watch)
    run = read_run(tmp_path / "run.spl")
    assert run.system is None
    found = resume_system(run, limits=NO_LIMITS, watch=lambda progress: states.append(progress.state))
    assert summary(found) == summary(stored[1])
    n_done = sum(one.discovery is not None and one.discovery.stopped == "schedules" for one in run.searches)
    assert sorted(set(states)) == sorted(["x", "v"][n_done:])


COUNTED = {"config": SearchConfig(max_rules=10, patience=None), "limits": Limits(timeout=None, max_evaluations=1500)}


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.spl"
    return path, search(path, **COUNTED)


@pytest.mark.parametrize("state", ["x", "v"])
def test_a_system_whose_length_is_counted_ends_as_if_it_had_never_been_cut_off(tmp_path, counted, state):
    looks = iter(range(1))

    def watch(progress):
        if progress.state == state and next(looks, None) is None:
            raise Killed

    with pytest.raises(Killed):
        search(tmp_path / "run.spl", watch=watch, **COUNTED)
    found = resume_system(read_run(tmp_path / "run.spl"), limits=COUNTED["limits"])
    assert summary(found) == summary(counted[1])


NOISE = np.random.default_rng(0).normal(0, 0.03, X.shape)


@pytest.mark.parametrize("n_looks", [1, 3, 6, 9])  # in the short searches, and in the long ones
def test_a_noisy_system_ends_as_if_it_had_never_been_cut_off(tmp_path, n_looks):
    jumps = X * [1.0, 0.0] + [[0.0, 1.0]] * np.sign(np.sin(0.9 * T))[:, np.newaxis]  # the choice does not settle
    data = Trajectories.from_arrays(jumps + NOISE, T, names=["x", "v"])
    settings = {"data": data, "limits": Limits(timeout=None, max_evaluations=3000), "plan": Plan()}
    config = SearchConfig(max_rules=10, n_episodes=60)
    whole = search(tmp_path / "whole.spl", config=config, **settings)
    looks = []

    def watch(seen):
        looks.append(seen)
        if len(looks) == n_looks:
            raise Killed

    with pytest.raises(Killed):
        search(tmp_path / "cut.spl", config=config, watch=watch, **settings)
    assert summary(search(tmp_path / "cut.spl", config=config, **settings)) == summary(whole)


def test_a_system_whose_length_is_counted_goes_on_if_it_may_try_more(tmp_path, counted):
    path = tmp_path / "run.spl"
    shutil.copy(counted[0], path)
    before = [one.n_evaluations for one in counted[1].searches]
    found = resume_system(read_run(path), limits=Limits(timeout=None, max_evaluations=3000))
    assert all(one.n_evaluations > count for one, count in zip(found.searches, before, strict=True))
    assert read_run(path).settings["limits"]["max_evaluations"] == 3000


def test_standard_errors_of_older_runs_which_belong_to_other_numbers_are_left_out(tmp_path, stored):
    path = tmp_path / "old.spl"
    shutil.copy(stored[0], path)
    with closing(sqlite3.connect(path)) as connection, connection:
        [plain] = connection.execute("SELECT value FROM facts WHERE name = 'system'").fetchone()
        system = json.loads(plain)
        old = {**system, "free": system["programs"], "standard_errors": [0.1, 0.2, 0.3]}
        connection.execute("UPDATE facts SET value = ? WHERE name = 'system'", (json.dumps(old),))
    for program, errors in zip(
        read_run(path).system.system.programs, read_run(path).system.standard_errors, strict=True
    ):
        assert np.isnan(errors).all()
        assert len(errors) == len(number_positions(program))


def test_another_plan_or_other_data_is_refused(stored):
    with pytest.raises(RunFileError, match="`plan` was"):
        search(stored[0], plan=Plan(method="weak"))
    with pytest.raises(RunFileError, match="data changed since the run"):
        search(stored[0], data=make_data(scale=2.0))


def test_a_method_of_the_users_own_must_be_given_again(tmp_path):
    def slopes(t, x):
        return np.gradient(x, t, axis=0)

    search(tmp_path / "run.spl", plan=Plan(method=slopes))
    run = read_run(tmp_path / "run.spl")
    with pytest.raises(RunFileError, match=r"function of yours.*derivative="):
        stored_plan(run)
    assert len(resume_system(run, limits=NO_LIMITS, derivative=slopes).system.programs) == 2


def test_an_estimator_is_read_from_a_run(tmp_path, stored):
    model = SPLDynamics.from_run(stored[0])
    assert model.equations() == stored[1].system.equations(4)
    assert model.score([X, X[:50]], [T, T[:50]]) > 0.99
    assert model.fit([X, X[:50]], [T, T[:50]], feature_names=["x", "v"]).equations() == stored[1].system.equations(4)


def test_a_run_of_a_table_is_no_run_of_a_system(tmp_path, stored):
    from spl import SPLRegressor

    with pytest.raises(RunFileError, match=r"SPLDynamics.from_run"):
        SPLRegressor.from_run(stored[0])
    SPLRegressor(search=CONFIG, run_file=tmp_path / "run.spl").fit(X, X[:, 0])
    with pytest.raises(RunFileError, match=r"SPLRegressor.from_run"):
        SPLDynamics.from_run(tmp_path / "run.spl")
    with pytest.raises(RunFileError, match="run of another kind: regression"):
        search(tmp_path / "run.spl")


def test_inputs_and_measured_derivatives_are_kept(tmp_path):
    u = np.sin(3 * T)[:, None]
    data = Trajectories.from_arrays(X, T, x_dot=np.gradient(X, T, axis=0), u=u, names=["x", "v"])
    grammars = [Grammar.from_text(RULES + " | u")] * 2
    request = SystemRequest(data=data, grammars=grammars, config=CONFIG, limits=NO_LIMITS)
    discover_system_in_file(tmp_path / "run.spl", request)
    [run] = read_run(tmp_path / "run.spl").data.runs
    np.testing.assert_array_equal(run.u, u)
    np.testing.assert_array_equal(run.x_dot, data.runs[0].x_dot)


# ---- rates on both sides -------------------------------------------------------------------------

RATE_RULES = ["f -> f + f | C * v' | C * v", "f -> C * x"]


def search_with_rates(path, watch=None):
    words = ["x", "v", "x'", "v'"]
    grammars = [Grammar.from_text(rules, variables=words) for rules in RATE_RULES]
    plan = Plan(method="spline", is_implicit=True)
    request = SystemRequest(data=make_data(), grammars=grammars, plan=plan, config=CONFIG, limits=NO_LIMITS, seed=1)
    return discover_system_in_file(path, request, watch=watch)


def test_a_run_with_rates_that_was_killed_ends_as_if_it_had_not_been(tmp_path):
    whole = search_with_rates(tmp_path / "whole.spl")

    def kill(progress):
        if progress.state == "v":
            raise Killed

    with pytest.raises(Killed):
        search_with_rates(tmp_path / "killed.spl", watch=kill)
    run = read_run(tmp_path / "killed.spl")
    assert stored_plan(run) == Plan(method="spline", is_implicit=True)
    found = resume_system(run, limits=NO_LIMITS)
    assert summary(found) == summary(whole)
    assert found.system.is_implicit
    assert load_system(read_run(tmp_path / "killed.spl"), stored_plan(run)).system == found.system


def test_a_run_without_rates_is_not_continued_with_them(tmp_path, stored):
    shutil.copy(stored[0], tmp_path / "run.spl")
    with pytest.raises(RunFileError):
        search_with_rates(tmp_path / "run.spl")


# ---- the data decides whether there are rates ----------------------------------------------------


@pytest.fixture(scope="module")
def open_run(tmp_path_factory):
    """A run whose data chose rates on both sides."""
    path = tmp_path_factory.mktemp("runs") / "open.spl"
    return path, discover_system_in_file(path, make_open_request(make_coupled_data()))


def test_a_run_file_has_the_plan_that_the_data_chose(open_run):
    path, found = open_run
    assert stored_plan(read_run(path)) == Plan(is_implicit=True)
    assert read_run(path).notes == found.notes


def test_an_open_request_continues_the_run_in_its_file_as_that_was_decided(open_run):
    path, found = open_run
    other_seed = make_open_request(make_coupled_data(), seed=7)
    again = discover_system_in_file(path, other_seed, is_any_seed=True)
    assert summary(again) == summary(found)


def test_an_open_request_continues_a_run_without_rates_without_them(tmp_path):
    request = make_open_request(make_coupled_data())
    discover_system_in_file(tmp_path / "run.spl", drop_rates(request))
    assert not discover_system_in_file(tmp_path / "run.spl", request).system.is_implicit


def test_a_run_that_chose_rates_and_was_killed_ends_as_if_it_had_not_been(tmp_path, open_run):
    def kill(progress):
        raise Killed

    with pytest.raises(Killed):
        discover_system_in_file(tmp_path / "run.spl", make_open_request(make_coupled_data()), watch=kill)
    found = resume_system(read_run(tmp_path / "run.spl"), limits=Limits(timeout=None, max_evaluations=300))
    assert summary(found) == summary(open_run[1])
    assert found.notes == open_run[1].notes


def test_a_file_that_is_no_run_is_refused_with_its_reason_also_if_the_data_decides(tmp_path):
    (tmp_path / "run.spl").write_text("x,y\n1,2\n" * 100)
    with pytest.raises(RunFileError, match="is not a run"):
        discover_system_in_file(tmp_path / "run.spl", make_open_request(make_coupled_data()))
