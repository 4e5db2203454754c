"""The cache of compiled kernels: another one for other sources, the same one for the next process, always somewhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from spl.errors import SplError
from spl.kernels.programs.normal_equations import FIT_WORK
from spl.kernels.runtime import compiler
from spl.kernels.runtime.compiler import cache_folder, kernels_are_compiled, make_record, source_digest
from spl.kernels.tree.derivation import DERIVATION
from spl.kernels.tree.ledger import RECORD
from spl.kernels.tree.program_keys import KEY_WORK
from spl.kernels.tree.search import NODE
from spl.regression.warm_up import warm_up

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
KERNELS = Path(compiler.__file__).parents[1]

# Kernels of two files, called once. Prints what came from the cache and how many passes the compiler ran.
SCRIPT = """
import json, numba.core.event, numpy as np
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from toy_kernels import double_all
    a = np.arange(4.0)
    double_all(a, a.size)
print(json.dumps({"values": a.tolist(), "n_passes": len(recorder.buffer),
    "hits": sum(double_all.stats.cache_hits.values()), "misses": sum(double_all.stats.cache_misses.values())}))
"""
TOY = """
from spl.kernels.runtime.compiler import kernel

@kernel
def double(x):
    return 2.0 * x

@kernel(entry=True)
def double_all(a, n):
    for i in range(n):
        a[i] = double(a[i])
"""


def run_script(folder, script, **environment):
    """Run a script in a process of its own, with the modules of a folder; return what it prints, read as JSON."""
    path = os.pathsep.join([str(folder), str(KERNELS.parent.parent)])
    found = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": path, "SPL_CACHE": str(folder / "cache")} | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


@pytest.fixture
def toy_folder(tmp_path):
    (tmp_path / "toy_kernels.py").write_text(TOY)
    return tmp_path


@pytest.fixture
def copied_sources(tmp_path, monkeypatch):
    """A copy of the kernel sources that counts as theirs."""
    folder = tmp_path / "kernels"
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiler, "_KERNEL_FOLDER", folder)
    return folder


def digest_now():
    return source_digest.__wrapped__()


def test_a_copy_of_the_sources_has_the_same_digest(copied_sources):
    assert digest_now() == source_digest()


@pytest.mark.parametrize("name", sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.py")))
def test_a_change_in_any_kernel_source_changes_the_digest(copied_sources, name):
    with (copied_sources / name).open("a", encoding="utf-8") as source:
        source.write("# changed\n")
    assert digest_now() != source_digest()


def test_a_new_kernel_source_changes_the_digest(copied_sources):
    (copied_sources / "another.py").write_text("")
    assert digest_now() != source_digest()


def test_a_renamed_kernel_source_changes_the_digest(copied_sources):
    (copied_sources / "tree" / "program_keys.py").rename(copied_sources / "tree" / "locks.py")
    assert digest_now() != source_digest()


def test_checking_bounds_changes_the_digest(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None if numba.config.BOUNDSCHECK else 1)
    assert digest_now() != source_digest()


def test_the_folder_of_the_cache_is_named_after_the_digest():
    assert source_digest() in str(cache_folder())
    assert cache_folder().is_dir()


@pytest.mark.process
@needs_compiler
def test_the_first_process_compiles_and_the_second_loads(toy_folder):
    first, second = (run_script(toy_folder, SCRIPT) for _ in range(2))
    assert (first["hits"], first["misses"]) == (0, 1)
    assert (second["hits"], second["misses"], second["n_passes"]) == (1, 0, 0)
    assert first["values"] == second["values"] == [0.0, 2.0, 4.0, 6.0]


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

@kernel(entry=True)
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


@pytest.mark.process
@needs_compiler
def test_a_changed_kernel_source_is_compiled_anew(toy_folder):
    sources = toy_folder / "spl"
    shutil.copytree(KERNELS.parent, sources, ignore=shutil.ignore_patterns("__pycache__"))
    run_script(toy_folder, SCRIPT)
    with (sources / "kernels" / "programs" / "tokens.py").open("a", encoding="utf-8") as source:
        source.write("# changed\n")
    assert run_script(toy_folder, SCRIPT)["misses"] == 1


@pytest.mark.process
@needs_compiler
def test_a_cache_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(toy_folder):
    (toy_folder / "a_file").write_text("")
    elsewhere = toy_folder / "temporary"
    elsewhere.mkdir()
    for n_folders in (1, 2):  # each process has its own, where nobody else can have put code
        found = run_script(toy_folder, SCRIPT, SPL_CACHE=str(toy_folder / "a_file"), TMPDIR=str(elsewhere))
        assert found["values"] == [0.0, 2.0, 4.0, 6.0]
        assert len(list(elsewhere.glob("symbolic-physics-learner-*"))) == n_folders


@pytest.mark.process
@needs_compiler
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_cache_folder_is_replaced_by_a_temporary_one(toy_folder):
    locked = toy_folder / "locked"
    locked.mkdir(mode=0o500)
    found = run_script(toy_folder, SCRIPT, SPL_CACHE=str(locked), TMPDIR=str(toy_folder))
    assert found["values"] == [0.0, 2.0, 4.0, 6.0]


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
    cache = {"SPL_CACHE": str(cache_folder().parent.parent)}  # that of this process, so that it is rarely empty
    run_script(tmp_path, SEARCH_SCRIPT, **cache)
    assert run_script(tmp_path, SEARCH_SCRIPT, **cache)["n_passes"] == 0


@pytest.mark.process
@needs_compiler
def test_compiled_kernels_are_noticed(monkeypatch, tmp_path):
    warm_up()
    assert kernels_are_compiled()
    monkeypatch.setattr(compiler, "cache_folder", lambda: tmp_path)
    assert not kernels_are_compiled()


# Files of more than 1 kB are refused from here on, as all are when the disk is full
FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
"""


@pytest.mark.process
@needs_compiler
def test_kernels_run_where_the_disk_is_full(toy_folder):
    found = run_script(toy_folder, FULL_DISK + SCRIPT)
    assert (found["hits"], found["misses"], found["values"]) == (0, 1, [0.0, 2.0, 4.0, 6.0])
    assert not [path for path in (toy_folder / "cache").rglob("*") if path.is_file()]


def test_a_record_is_zeroed_and_read_by_attribute():
    record = make_record(np.dtype([("n", np.int64), ("values", np.float64, 3)]))
    assert record.n == 0
    np.testing.assert_array_equal(record.values, np.zeros(3))


@pytest.mark.parametrize("dtype", [DERIVATION, FIT_WORK, KEY_WORK, NODE, RECORD])
def test_no_field_of_a_record_hides_behind_an_attribute_of_numpy(dtype):
    # Python would read record.size as numpy's 1, whatever the kernels wrote there
    assert not [name for name in dtype.names if hasattr(np.record, name) or hasattr(np.recarray, name)]


@pytest.mark.parametrize("version", ["0.60.0", "0.68.1", "0.68.0rc1"])
def test_tested_versions_of_numba_are_taken(version):
    assert compiler.check_numba_version(version) is None


@pytest.mark.parametrize("version", ["0.69.0", "0.69.0rc1", "0.100.0", "1.0.0"])
def test_a_newer_numba_is_refused_with_the_remedy(version):
    with pytest.raises(SplError, match=rf'numba {version} is installed; .* up to 0\.68\. .*pip install "numba<0\.69"'):
        compiler.check_numba_version(version)
