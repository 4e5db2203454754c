import threading
import time

import pytest

from spl.parallel import run_all


@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def wait_and_tell(k):
        time.sleep(0.01 * (5 - k))
        return k

    assert run_all([lambda k=k: wait_and_tell(k) for k in range(5)], n_jobs) == list(range(5))


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
