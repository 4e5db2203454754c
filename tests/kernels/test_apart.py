"""Kernels compiled apart: they compute as if they were not, and come from the cache together with their callers."""

import numba
import pytest
from tests.kernels.test_compiler import needs_compiler, run_script

# Kept out of this file, and with a cache of its own: what kernels come from a cache is told by the sources of spl alone
TOY = """
from spl.kernels.apart import apart
from spl.kernels.compiler import kernel

@apart
def add_scaled(a, factor, n):
    total = 0.0
    for i in range(n):
        total += factor * a[i]
    return total

@apart
def first_and_half(a, n):
    if n == 0:
        return -1.0
    return a[0] + add_scaled(a, 0.5, n)

@apart
def fill(a, n):
    for i in range(n):
        a[i] = 7.0

@kernel(entry=True)
def call_both(a, factor, n):
    return add_scaled(a, factor, n) + first_and_half(a, n)

@kernel(entry=True)
def call_fill(a, n):
    fill(a, n)

@kernel(entry=True)
def call_with_two_types(a, n):
    return add_scaled(a, 2, n) + 100.0 * add_scaled(a, 2.5, n)
"""
SCRIPT = """
import json, numba.core.event, numpy as np
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from toy_apart import call_both, call_fill, call_with_two_types
    a, filled = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    call_fill(filled, 2)
    found = {
        "three": call_both(a, 3.0, 3),
        "none": call_both(a, 3.0, 0),
        "whole numbers": call_both(np.array([1, 2, 4]), 3.0, 3),
        "two types": call_with_two_types(a, 2),
        "filled": filled.tolist(),
    }
print(json.dumps(found | {"n_passes": len(recorder.buffer)}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("apart")
    (folder / "toy_apart.py").write_text(TOY)
    return folder


@pytest.fixture(scope="module")
def first_run(folder):
    return run_script(folder, SCRIPT)


@pytest.mark.parametrize(("case", "value"), [("three", 21.0 + 1.0 + 3.5), ("none", -1.0), ("whole numbers", 25.5)])
def test_a_kernel_apart_returns_what_it_would_within_its_caller(first_run, case, value):
    assert first_run[case] == value


def test_a_kernel_apart_takes_arguments_of_several_types(first_run):
    assert first_run["two types"] == 6.0 + 750.0


def test_a_kernel_apart_writes_into_the_arrays_of_its_caller(first_run):
    assert first_run["filled"] == [7.0, 7.0, 0.0]


@needs_compiler
def test_a_second_process_loads_kernels_apart_and_their_callers(folder, first_run):
    second_run = run_script(folder, SCRIPT)
    assert first_run["n_passes"] > 0
    assert second_run == first_run | {"n_passes": 0}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK), reason="nothing is compiled apart")
def test_a_caller_whose_callee_is_missing_from_the_cache_still_works(folder, first_run):
    removed = list((folder / "cache").rglob("*add_scaled*.nb*"))
    assert removed
    for path in removed:
        path.unlink()
    assert run_script(folder, SCRIPT)["three"] == first_run["three"]
