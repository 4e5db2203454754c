import os
import signal
import sys
import threading
import time
import types

import cloudpickle
import joblib
import pytest

from spl.errors import OperatorError, SettingError, WorkerError
from spl.regression import parallel
from spl.regression.parallel import Parcel, Workers, pack, run_all, use_cluster

pytestmark = pytest.mark.process


@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def wait_and_tell(k):
        time.sleep(0.01 * (5 - k))
        return k

    assert run_all([lambda k=k: wait_and_tell(k) for k in range(5)], n_jobs) == list(range(5))


def test_workers_are_threads_if_joblib_was_never_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "joblib")
    assert Workers(2).share_memory
    assert "joblib" not in sys.modules


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_tasks_have_no_results(n_jobs):
    assert run_all([], n_jobs) == []


def test_one_job_runs_the_tasks_here():
    assert run_all([threading.get_ident] * 3, 1) == [threading.get_ident()] * 3


def test_two_jobs_run_at_the_same_time():
    barrier = threading.Barrier(2, timeout=10)
    assert sorted(run_all([barrier.wait, barrier.wait], 2)) == [0, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_share_the_memory_of_the_caller(n_jobs):
    seen = []
    run_all([lambda k=k: seen.append(k) for k in range(4)], n_jobs)
    assert sorted(seen) == list(range(4))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_a_task_reaches_the_caller(n_jobs):
    def fail():
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        run_all([fail, lambda: 1], n_jobs)


# ---- workers in other processes ----------------------------------------------------------------------


def test_calls_in_processes_have_their_results_in_order():
    with joblib.parallel_config("loky"):
        found = Workers(2).run(lambda k: (k, os.getpid()), [(k,) for k in range(5)])
    assert [k for k, _ in found] == list(range(5))
    assert os.getpid() not in {process for _, process in found}


def test_threads_are_the_default_and_share_memory():
    assert Workers(2).share_memory
    with joblib.parallel_config("threading"):
        assert Workers(2).share_memory
    with joblib.parallel_config("loky"):
        assert not Workers(2).share_memory
        assert Workers(1).share_memory  # one job works here


def test_a_call_whose_process_was_lost_is_made_again(tmp_path):
    def fail_once(k):
        if k == 1 and not (tmp_path / "lost").exists():
            (tmp_path / "lost").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return k

    with joblib.parallel_config("loky"):
        assert Workers(2).run(fail_once, ((k,) for k in range(4))) == [0, 1, 2, 3]


@pytest.mark.search
def test_processes_that_are_lost_again_and_again_are_an_error():
    with joblib.parallel_config("loky"), pytest.raises(WorkerError, match="lost 3 times"):
        Workers(2).run(lambda: os.kill(os.getpid(), signal.SIGKILL), [()])


def test_an_error_in_a_process_reaches_the_caller():
    with joblib.parallel_config("loky"), pytest.raises(ZeroDivisionError):
        Workers(2).run(lambda: 1 / 0, [(), ()])


def test_workers_of_another_version_are_refused(monkeypatch):
    monkeypatch.setattr(parallel, "_own_version", lambda: "99.0")
    with joblib.parallel_config("loky"), pytest.raises(WorkerError, match=r"Here is spl 99.0, but a worker has"):
        Workers(2).greet(lambda: None)


def test_parcels_with_the_same_content_are_equal():
    assert pack((1, 2)) == pack((1, 2)) != pack((1, 3))
    assert hash(pack((1, 2))) == hash(pack((1, 2)))


def test_what_cannot_be_packed_is_refused():
    with pytest.raises(OperatorError, match="cannot be sent to other processes"):
        pack(threading.Lock())


def test_a_module_that_a_worker_does_not_have_is_named(monkeypatch):
    module = types.ModuleType("laws_of_mine")
    exec("def law(x):\n    return x", module.__dict__)
    monkeypatch.setitem(sys.modules, "laws_of_mine", module)
    content = cloudpickle.dumps(module.law)
    monkeypatch.delitem(sys.modules, "laws_of_mine")
    with pytest.raises(WorkerError, match=r"cannot load what was sent to it: No module named 'laws_of_mine'"):
        Parcel("digest", content).unpack()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "ftp://a:1"])
def test_an_address_without_a_scheduler_is_named(address, monkeypatch):
    monkeypatch.setattr(parallel, "CONNECT_SECONDS", 0.5)
    with pytest.raises(SettingError, match="There is no Dask scheduler at"), use_cluster(address):
        pass
