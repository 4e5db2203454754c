"""Kernels are compiled once, all of them, with whoever watches told how far it is."""

import os
import subprocess
import sys

import numba
import pytest
from tests.kernels.runtime.test_compiler import needs_compiler, run_script

from spl.kernels.runtime import store
from spl.kernels.runtime.building import are_all_stored
from spl.regression import warm_up as module
from spl.regression.warm_up import (
    N_KERNELS,
    compile_once,
    estimate_seconds,
    start_helpers,
    warm_up,
)

# A small search with the kernels in a new folder. Prints how many were counted, and how many were compiled after that.
COUNT = """
from spl.kernels.runtime import building
from spl.regression.warm_up import compile_once, warm_up
counts, late = [], []
compile_once(counts.append)
compile_unit = building.compile_unit
building.compile_unit = lambda unit: late.append(unit) or compile_unit(unit)
warm_up()
print(counts == list(range(1, len(counts) + 1)), len(counts), len(late))
"""


def test_nothing_is_counted_when_all_kernels_are_on_disk():
    warm_up()
    counts = []
    compile_once(counts.append)
    assert counts == []
    assert are_all_stored()


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(bool(numba.config.BOUNDSCHECK), reason="the same code, and a minute to compile")
def test_all_kernels_that_a_search_needs_are_compiled_and_counted(tmp_path):
    environment = os.environ | {"SPL_CACHE": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, check=True)
    is_in_order, n_counted, n_late = found.stdout.split()
    assert is_in_order == "True"
    assert int(n_counted) == pytest.approx(N_KERNELS, abs=8)
    assert int(n_late) == 0


@pytest.mark.parametrize(("n_cores", "n_helpers"), [(1, 0), (2, 1), (4, 3), (64, 7)])
def test_every_other_core_helps_up_to_a_bound(monkeypatch, n_cores, n_helpers):
    monkeypatch.setattr("joblib.cpu_count", lambda: n_cores)
    monkeypatch.setattr("subprocess.Popen", lambda command, **streams: command)
    assert len(start_helpers()) == n_helpers


def test_a_process_that_cannot_be_started_is_done_without(monkeypatch):
    tried = []

    def fail(command, **streams):
        tried.append(command)
        raise BlockingIOError

    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    monkeypatch.setattr("subprocess.Popen", fail)
    assert start_helpers() == []
    assert len(tried) == 2


@pytest.mark.process
def test_helpers_do_not_outlive_the_compilation(monkeypatch):
    def be_interrupted():
        raise KeyboardInterrupt

    wait_for_ever = [sys.executable, "-c", "import time; time.sleep(1000)"]
    started = [subprocess.Popen(wait_for_ever) for _ in range(2)]
    monkeypatch.setattr(module, "are_all_stored", lambda: False)
    monkeypatch.setattr(module, "start_helpers", lambda: started)
    with pytest.raises(KeyboardInterrupt):
        compile_once(lambda n_ready: None, be_interrupted)
    assert None not in [helper.returncode for helper in started]


HELP = """
import json, numba.core.event
from spl.regression.warm_up import help_compiling
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    help_compiling()
print(json.dumps(len(recorder.buffer)))
"""


@pytest.mark.process
@needs_compiler
def test_helpers_compile_nothing_but_what_a_search_needs(tmp_path):
    warm_up()
    assert run_script(tmp_path, HELP, SPL_CACHE=str(store.cache_folder().parent)) == 0


def test_more_cores_are_expected_to_take_less_time(monkeypatch):
    seconds = []
    for n_cores in (1, 2, 8):
        monkeypatch.setattr("joblib.cpu_count", lambda n=n_cores: n)
        seconds.append(estimate_seconds())
    assert seconds == [35, 20, 10]
