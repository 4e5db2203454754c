"""Kernels that Python calls: compiled by the first process, loaded by the next one, and usable wherever they are kept."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from spl.kernels.programs.normal_equations import FIT_WORK
from spl.kernels.runtime import compiler, store
from spl.kernels.runtime.building import link_unit
from spl.kernels.runtime.compiler import kernel, make_record
from spl.kernels.runtime.store import cache_folder
from spl.kernels.tree.derivation import DERIVATION
from spl.kernels.tree.ledger import RECORD
from spl.kernels.tree.program_keys import KEY_WORK
from spl.kernels.tree.search import NODE

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
KERNELS = Path(store.__file__).parents[1]

# A kernel within another one, called once. Prints the values and how many passes the compiler ran.
SCRIPT = """
import json, numba.core.event, numpy as np
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from toy_kernels import double_all
    a = np.arange(4.0)
    double_all(a, a.size)
from spl.kernels.runtime.store import troubles
found = {"values": a.tolist(), "n_passes": len(recorder.buffer), "troubles": troubles}
print(json.dumps(found))
"""
TOY = """
from spl.kernels.runtime.compiler import kernel

@kernel
def double(x):
    return 2.0 * x

@kernel
def double_all(a, n):
    for i in range(n):
        a[i] = double(a[i])
"""
DOUBLED = [0.0, 2.0, 4.0, 6.0]


def run_script(folder, script, **environment):
    """Run a script in a process of its own, with the modules of a folder; return what it prints, read as JSON."""
    ours = {
        "PYTHONPATH": os.pathsep.join([str(folder), str(KERNELS.parent.parent)]),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python does not notice a change of a file within a second
        "SPL_CACHE": str(folder / "cache"),
    }
    found = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | ours | environment,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


@pytest.fixture
def toy_folder(tmp_path):
    (tmp_path / "toy_kernels.py").write_text(TOY)
    return tmp_path


@pytest.mark.process
@needs_compiler
def test_the_first_process_compiles_and_the_second_loads(toy_folder):
    first, second = (run_script(toy_folder, SCRIPT) for _ in range(2))
    assert first["n_passes"] > 0
    assert second["n_passes"] == 0
    assert first["values"] == second["values"] == DOUBLED


# A kernel that calls another twice, so that it has its own copy of it, optimised again. Prints errors to the last bit.
BITS_SCRIPT = """
import json, numpy as np
from fits import fit_both
a, b = np.random.default_rng(0).normal(size=(2, 60))
errors = np.zeros(60)
fit_both(a, b, errors, errors.size)
print(json.dumps([error.hex() for error in errors.tolist()]))
"""
FITS = """
from spl.kernels.bank.value_index import UP_TO_SCALE_AND_OFFSET, correlate
from spl.kernels.runtime.compiler import kernel

@kernel
def fit_both(a, b, errors, n):
    for k in range(2, n):
        errors[k] = correlate(a, 0, b, 0, k, UP_TO_SCALE_AND_OFFSET)[2]
    errors[0] = correlate(b, 0, a, 0, n, UP_TO_SCALE_AND_OFFSET)[2]
"""


@pytest.mark.process
@needs_compiler
def test_the_process_that_compiles_computes_the_same_bits_as_the_one_that_loads(tmp_path):
    (tmp_path / "fits.py").write_text(FITS)
    first, second = (run_script(tmp_path, BITS_SCRIPT) for _ in range(2))
    assert first == second


def change(path, old, new):
    source = path.read_text(encoding="utf-8")
    assert old in source
    path.write_text(source.replace(old, new), encoding="utf-8")


@pytest.mark.process
@needs_compiler
def test_a_changed_kernel_is_compiled_anew(toy_folder):
    run_script(toy_folder, SCRIPT)
    change(toy_folder / "toy_kernels.py", "2.0 * x", "3.0 * x")
    found = run_script(toy_folder, SCRIPT)
    assert found["n_passes"] > 0
    assert found["values"] == [0.0, 3.0, 6.0, 9.0]


@pytest.mark.process
@needs_compiler
def test_a_comment_does_not_compile_anything_anew(toy_folder):
    run_script(toy_folder, SCRIPT)
    change(toy_folder / "toy_kernels.py", "    return", "    # twice as much\n    return")
    assert run_script(toy_folder, SCRIPT)["n_passes"] == 0


@pytest.mark.process
@needs_compiler
def test_another_way_of_compiling_compiles_everything_anew(toy_folder):
    sources = toy_folder / "spl"
    shutil.copytree(KERNELS.parent, sources, ignore=shutil.ignore_patterns("__pycache__"))
    run_script(toy_folder, SCRIPT)
    with (sources / "kernels" / "runtime" / "units.py").open("a", encoding="utf-8") as source:
        source.write("# changed\n")
    assert run_script(toy_folder, SCRIPT)["n_passes"] > 0


# Two kernels that differ only in a number that they close over, as tests make them
MADE = """
from spl.kernels.runtime.compiler import kernel

def make(factor):
    @kernel
    def scale(x):
        return factor * x
    return scale
"""
CALL_MADE = "import json; from made import make; print(json.dumps([make(factor)(1.0) for factor in FACTORS]))"


@pytest.mark.process
@needs_compiler
def test_kernels_of_the_same_name_are_kept_apart(tmp_path):
    (tmp_path / "made.py").write_text(MADE)
    for factors in ([2.0], [3.0], [2.0, 3.0], [3.0, 2.0]):
        assert run_script(tmp_path, CALL_MADE.replace("FACTORS", repr(factors))) == factors


@needs_compiler
def test_a_kernel_is_linked_once_for_each_type_of_its_arguments(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "kernel_folder", lambda: tmp_path)
    linked = []
    monkeypatch.setattr(compiler, "link_unit", lambda unit: linked.append(unit.arguments) or link_unit(unit))

    @kernel
    def double(x):
        return x + x

    assert [double(1.0), double(2.0), double(3), double(4), double(5.0)] == [2.0, 4.0, 6, 8, 10.0]
    assert linked == [(numba.float64,), (numba.int64,)]


@needs_compiler
def test_two_threads_may_call_a_kernel_for_the_first_time(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "kernel_folder", lambda: tmp_path)
    for factor in (2.0, 3.0, 4.0):

        @kernel
        def scale(x, factor=factor):
            return factor * x

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(scale, [1.0, 2.0, 3.0, 4.0])) == [factor, 2 * factor, 3 * factor, 4 * factor]


# Prints how many folders take the place of the store, beside what the script before prints
LIST_TEMPORARY = """
import os, tempfile
found |= {"temporary": sum(name.startswith("symbolic-physics-learner-") for name in os.listdir(tempfile.gettempdir()))}
print(json.dumps(found))
"""


def assert_kept_elsewhere(folder, cache):
    """Check that a process compiles into a new folder, where nobody else can have put code, says so, and leaves nothing behind."""
    elsewhere = folder / "temporary"
    elsewhere.mkdir()
    found = run_script(folder, SCRIPT + LIST_TEMPORARY, SPL_CACHE=str(cache), TMPDIR=str(elsewhere))
    assert found["values"] == DOUBLED
    assert len(found["troubles"]) == 1
    assert found["temporary"] == 1
    assert not list(elsewhere.glob("symbolic-physics-learner-*"))


@pytest.mark.process
@needs_compiler
def test_a_cache_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(toy_folder):
    (toy_folder / "a_file").write_text("")
    assert_kept_elsewhere(toy_folder, toy_folder / "a_file")


@pytest.mark.process
@needs_compiler
def test_a_file_in_place_of_the_folder_of_kernels_does_not_matter(toy_folder):
    folder = toy_folder / "cache" / "symbolic-physics-learner"
    folder.mkdir(parents=True)
    (folder / "kernels").write_text("")
    assert_kept_elsewhere(toy_folder, toy_folder / "cache")


@pytest.mark.process
@needs_compiler
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_cache_folder_is_replaced_by_a_temporary_one(toy_folder):
    locked = toy_folder / "locked"
    locked.mkdir(mode=0o500)
    assert_kept_elsewhere(toy_folder, locked)


SEARCH_SCRIPT = """
import json, numba.core.event
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from spl.settings import Limits, SearchConfig
    from spl.data.dataset import Dataset
    from spl.regression.discover import discover
    from spl.regression.request import RegressionRequest
    from spl.formulas.grammar import Grammar
    data = Dataset.from_arrays([[0.5], [1.0], [2.0], [3.0]], [1.5, 2.0, 3.0, 4.0], names=["x"])
    grammar = Grammar.from_text("f -> f + f | C * f | x | C")
    found = discover(RegressionRequest(data, grammar, limits=Limits(max_evaluations=20)))
print(json.dumps({"loss": found.front[-1].loss, "n_passes": len(recorder.buffer)}))
"""


@pytest.mark.process
@needs_compiler
@pytest.mark.skipif(bool(numba.config.BOUNDSCHECK), reason="the same code, and a minute to compile")
def test_a_second_process_searches_without_compiling_anything(tmp_path):
    cache = {"SPL_CACHE": str(cache_folder().parent)}  # that of this process, so that it is rarely empty
    run_script(tmp_path, SEARCH_SCRIPT, **cache)
    assert run_script(tmp_path, SEARCH_SCRIPT, **cache)["n_passes"] == 0


# Files of more than 1 kB are refused from here on, as all are when the disk is full
FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
"""


@pytest.mark.process
@needs_compiler
def test_kernels_run_where_the_disk_is_full(toy_folder):
    found = run_script(toy_folder, FULL_DISK + SCRIPT, TMPDIR=str(toy_folder))
    assert found["values"] == DOUBLED
    assert len(found["troubles"]) == 1
    assert [path.name for path in toy_folder.rglob("*") if path.is_file()] == ["toy_kernels.py"]


def test_a_record_is_zeroed_and_read_by_attribute():
    record = make_record(np.dtype([("n", np.int64), ("values", np.float64, 3)]))
    assert record.n == 0
    np.testing.assert_array_equal(record.values, np.zeros(3))


@pytest.mark.parametrize("dtype", [DERIVATION, FIT_WORK, KEY_WORK, NODE, RECORD])
def test_no_field_of_a_record_hides_behind_an_attribute_of_numpy(dtype):
    # Python would read record.size as numpy's 1, whatever the kernels wrote there
    assert not [name for name in dtype.names if hasattr(np.record, name) or hasattr(np.recarray, name)]
