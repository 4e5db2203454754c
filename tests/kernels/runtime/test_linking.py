"""Linked kernels compute the same as ordinary ones, and come from the cache together with their callers."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.kernels.runtime.test_compiler import needs_compiler, run_script

from spl.kernels.runtime.linking import linked_kernel

pytestmark = pytest.mark.process

# Kept out of this file, and with a cache of its own, for processes that compile them and others that load them
TOY = """
from typing import NamedTuple
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.compiler import kernel

@linked_kernel
def add_scaled(a, factor, n) -> float:
    total = 0.0
    for i in range(n):
        total += factor * a[i]
    return total

@linked_kernel
def first_and_half(a, n) -> float:
    if n == 0:
        return -1.0
    return a[0] + add_scaled(a, 0.5, n)

@linked_kernel
def fill(a, n) -> None:
    for i in range(n):
        a[i] = 7.0

class Extremes(NamedTuple):
    least: float
    at: int
    is_first: bool

@linked_kernel
def find_least(a, n) -> Extremes:
    at = 0
    for i in range(n):
        if a[i] < a[at]:
            at = i
    return Extremes(a[at], at, at == 0)

@linked_kernel
def count_above(a, bound, n) -> int:
    count = 0
    for i in range(n):
        count += a[i] > bound
    return count

@linked_kernel
def is_rising(a, n) -> bool:
    for i in range(1, n):
        if a[i] <= a[i - 1]:
            return False
    return True

@kernel
def call_many(a, n):
    least = find_least(a, n)
    return least.least, least.at, least.is_first, count_above(a, 1.5, n), is_rising(a, n)

@kernel
def call_both(a, factor, n):
    return add_scaled(a, factor, n) + first_and_half(a, n)

@kernel
def call_fill(a, n):
    fill(a, n)

@kernel
def call_with_two_types(a, n):
    return add_scaled(a, 2, n) + 100.0 * add_scaled(a, 2.5, n)
"""
SCRIPT = """
import json, numba.core.event, numpy as np
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from toy_linked import call_both, call_fill, call_many, call_with_two_types
    a, filled = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    call_fill(filled, 2)
    found = {
        "three": call_both(a, 3.0, 3),
        "none": call_both(a, 3.0, 0),
        "whole numbers": call_both(np.array([1, 2, 4]), 3.0, 3),
        "two types": call_with_two_types(a, 2),
        "filled": filled.tolist(),
        "rising": [float(value) for value in call_many(a, 3)],
        "falling": [float(value) for value in call_many(a[::-1].copy(), 3)],
    }
print(json.dumps(found | {"n_passes": len(recorder.buffer)}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("linked")
    (folder / "toy_linked.py").write_text(TOY)
    return folder


@pytest.fixture(scope="module")
def first_run(folder):
    return run_script(folder, SCRIPT)


@pytest.mark.parametrize(("case", "value"), [("three", 21.0 + 1.0 + 3.5), ("none", -1.0), ("whole numbers", 25.5)])
def test_a_linked_kernel_returns_what_it_would_within_its_caller(first_run, case, value):
    assert first_run[case] == value


def test_a_linked_kernel_takes_arguments_of_several_types(first_run):
    assert first_run["two types"] == 6.0 + 750.0


def test_a_linked_kernel_writes_into_the_arrays_of_its_caller(first_run):
    assert first_run["filled"] == [7.0, 7.0, 0.0]


def test_a_linked_kernel_returns_what_its_annotation_says(first_run):
    assert first_run["rising"] == [1.0, 0, True, 2, True]
    assert first_run["falling"] == [1.0, 2, False, 2, False]


@needs_compiler
def test_a_second_process_loads_linked_kernels_and_their_callers(folder, first_run):
    second_run = run_script(folder, SCRIPT)
    assert first_run["n_passes"] > 0
    assert second_run == first_run | {"n_passes": 0}


def test_a_linked_kernel_is_a_plain_function_without_the_compiler(tmp_path):
    (tmp_path / "toy_linked.py").write_text(TOY)
    script = "import json, toy_linked; print(json.dumps(toy_linked.add_scaled([1.0, 2.0], 3.0, 2)))"
    assert run_script(tmp_path, script, NUMBA_DISABLE_JIT="1") == 9.0


@needs_compiler
def test_a_linked_kernel_is_not_made_inside_a_function():
    def double(x) -> float:
        return 2.0 * x

    with pytest.raises(ValueError, match=r"double is linked by its name"):
        linked_kernel(double)


# An index beyond the end of an array, in a kernel that is linked to the one that Python calls
OUT_OF_BOUNDS = """
import json, numpy as np
from reading import read_plus_one
try:
    read_plus_one(np.arange(3.0), 7)
except IndexError as error:
    print(json.dumps({"value": read_plus_one(np.arange(3.0), 1), "error": str(error)}))
"""
READING = """
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

@linked_kernel
def read(a, k) -> float:
    return a[k]

@kernel
def read_plus_one(a, k):
    return read(a, k) + 1.0
"""


@needs_compiler
def test_callers_pass_on_the_bounds_errors_of_linked_kernels(tmp_path):
    (tmp_path / "reading.py").write_text(READING)
    runs = [run_script(tmp_path, OUT_OF_BOUNDS, NUMBA_BOUNDSCHECK="1") for _ in range(2)]
    assert runs == 2 * [{"value": 2.0, "error": "index is out of bounds"}]


def stored(folder):
    """Return the files of the cache of a folder."""
    return sorted(path for path in (folder / "cache").rglob("*") if path.is_file())


@needs_compiler
def test_any_file_of_the_cache_may_be_missing(folder, first_run):
    files = stored(folder)
    assert len(files) >= 13  # ten kernels, some of them for two types
    for path in files:
        path.unlink()
        assert run_script(folder, SCRIPT)["n_passes"] > 0, path
    assert stored(folder) == files
    assert run_script(folder, SCRIPT) == first_run | {"n_passes": 0}


@needs_compiler
def test_files_of_the_cache_that_were_cut_short_are_made_anew(folder, first_run):
    for path in stored(folder)[::2]:
        os.truncate(path, path.stat().st_size // 2)
    assert run_script(folder, SCRIPT)["n_passes"] > 0
    assert run_script(folder, SCRIPT) == first_run | {"n_passes": 0}


@needs_compiler
def test_a_missing_callee_is_compiled_and_its_callers_are_loaded(folder, first_run):
    for path in stored(folder):
        if "add_scaled" in path.name:
            path.unlink()
    found = run_script(folder, SCRIPT)
    assert 0 < found["n_passes"] < first_run["n_passes"]
    assert found["three"] == first_run["three"]


LOAD = """
import json, numpy as np
from toy_linked import call_both, call_fill, call_with_two_types
a = np.array([1.0, 2.0])
call_fill(a.copy(), 2)
found = {"before": call_both(a, 3.0, 2)}
"""
BE_OVERTAKEN = """
import numba.core.event, subprocess, sys
other = "import numpy as np; from toy_linked import *; call_with_two_types(np.array([1.0, 2.0]), 2)"
subprocess.run([sys.executable, "-c", other], check=True)
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    found |= {"after": call_with_two_types(a, 2), "n_passes": len(recorder.buffer)}
"""
PRINT = """
print(json.dumps(found))
"""


@needs_compiler
def test_a_kernel_loads_with_callees_that_another_process_compiled_meanwhile(tmp_path):
    (tmp_path / "toy_linked.py").write_text(TOY)
    assert run_script(tmp_path, LOAD + PRINT) == {"before": 11.5}
    found = run_script(tmp_path, LOAD + BE_OVERTAKEN + PRINT)
    assert found == {"before": 11.5, "after": 756.0, "n_passes": 0}


TYPES = ["float64", "float32", "int64", "int32", "int16"]
AT_ONCE = """
import json, numba.core.event, numpy as np
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from toy_linked import call_both
    found = [call_both(np.array([1, 2, 4], dtype), 3.0, 3) for dtype in TYPES]
print(json.dumps({"found": found, "n_passes": len(recorder.buffer)}))
"""


@needs_compiler
def test_processes_that_fill_one_cache_at_once_all_leave_their_kernels_in_it(tmp_path):
    (tmp_path / "toy_linked.py").write_text(TOY)
    with ThreadPoolExecutor(len(TYPES)) as pool:
        scripts = [AT_ONCE.replace("TYPES", repr([dtype])) for dtype in TYPES]
        assert [run["found"] for run in pool.map(run_script, [tmp_path] * len(TYPES), scripts)] == [[25.5]] * len(TYPES)
    assert run_script(tmp_path, AT_ONCE.replace("TYPES", repr(TYPES))) == {"found": [25.5] * len(TYPES), "n_passes": 0}
