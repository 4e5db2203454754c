"""Units: told apart by all that their code depends on, compiled only when that changed, linked with what they refer to."""

import re
import shutil
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from llvmlite.binding import Linkage
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from tests.kernels.runtime import linked_toys
from tests.kernels.runtime.linked_toys import add_one, add_two
from tests.kernels.runtime.test_compiler import change, needs_compiler, run_script

from spl.kernels.runtime import store
from spl.kernels.runtime.by_reference import RecordReference
from spl.kernels.runtime.compiler import FAST_MATH, kernel, unit_of
from spl.kernels.runtime.units import LINKED_KERNELS, Unit, UnitKernel, callees_of, compile_unit, describe_types

pytestmark = needs_compiler


@kernel
def add_all(x):
    return add_one(x) + add_two(x) + add_two(2.0 * x)


@kernel
def count_paths(n):
    if n < 2:
        return 1
    return count_paths(n - 1) + count_paths(n - 2)


@kernel
def count_twice(n):
    return 2 * count_paths(n)


def twice(x):
    return 2.0 * x


class Point(NamedTuple):
    x: float
    y: float


class Other(NamedTuple):
    y: float
    x: float


Other.__qualname__ = Other.__name__ = "Point"  # to numba the two look the same


class Outer(NamedTuple):
    inner: Any
    n: int


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [
        lambda record: record,
        RecordReference,
        lambda record: types.UniTuple(record, 2),
        lambda record: types.Tuple((types.int64, record)),
        lambda record: types.NamedTuple([record, types.int64], Outer),
        lambda record: RecordReference(types.NamedTuple([record, types.int64], Outer)),
    ],
)
def test_records_whose_members_have_other_names_make_other_units(wrap):
    one, other = (wrap(numba.typeof(record(1.0, 2.0))) for record in (Point, Other))
    assert str(one) == str(other)
    units = [Unit(LINKED_KERNELS[f"{linked_toys.__name__}.add_one"], (kind,)) for kind in (one, other)]
    assert units[0].symbol != units[1].symbol
    assert units[0].file != units[1].file


def test_other_types_make_other_units():
    units = [unit_of(add_all, value) for value in (1.0, 1, np.float32(1.0), np.zeros(1), np.zeros((1, 1)))]
    assert len({unit.file for unit in units}) == len({unit.symbol for unit in units}) == len(units)


def test_records_of_numpy_are_described_with_their_members():
    described = describe_types((numba.typeof(np.zeros(1, [("first", np.int64), ("second", np.float64)])[0]),))
    assert re.search("first.*int64.*second.*float64", described)


def test_options_of_the_compiler_and_the_result_make_other_files():
    kernels = [
        UnitKernel(twice, is_called=True),
        UnitKernel(twice, is_called=True, options={"fastmath": FAST_MATH}),
        UnitKernel(twice, is_called=True, returns=types.float64),
        UnitKernel(twice, is_called=True, returns=types.float32),
    ]
    assert len({Unit(made, (types.float64,)).file for made in kernels}) == len(kernels)


def test_the_same_kernel_made_twice_has_the_same_file():
    assert len({Unit(UnitKernel(twice, is_called=True), (types.float64,)).file for _ in range(2)}) == 1


def test_a_file_is_named_after_its_kernel():
    assert re.fullmatch(rf"{re.escape(__name__)}\.add_all-[0-9a-f]{{24}}\.nbc", unit_of(add_all, 1.0).file)


# ---- compilation ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of kernels."""
    monkeypatch.setattr(store, "kernel_folder", lambda: tmp_path)
    return tmp_path


def test_a_unit_is_compiled_without_those_that_it_refers_to(folder):
    unit = unit_of(add_all, 1.0)
    code = compile_unit(unit)
    assert [path.name for path in folder.iterdir()] == [unit.file]
    assert store.read(unit.file).machine_code == code.machine_code
    assert sorted(callee.kernel.name for callee in callees_of(code)) == [
        f"{linked_toys.__name__}.add_one",
        f"{linked_toys.__name__}.add_two",
    ]


def test_nothing_else_calls_the_copies_of_callees_in_a_unit():
    unit = unit_of(count_twice, 3)
    with global_compiler_lock:
        compiled = unit.kernel._compiler.compile(unit.arguments, None)
        compiled.library.finalize()
    defined = [function for function in compiled.library._final_module.functions if not function.is_declaration]
    copies = [function for function in defined if "count_pathsB" in function.name]
    assert copies
    assert {function.linkage for function in copies} == {Linkage.internal}
    assert {function.name for function in defined if function.linkage != Linkage.internal} == {
        compiled.fndesc.llvm_func_name,
        compiled.fndesc.llvm_cpython_wrapper_name,
    }


def test_linked_units_compute_what_python_does():
    assert add_all(1.0) == 2.0 + 3.0 + 4.0


# ---- what a change compiles ----------------------------------------------------------------------

# enter -> (inlined) scale; enter -> (linked) middle -> (inlined) shift; middle -> (linked) deep
TOY = """
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

FACTOR = 2.0

@kernel
def scale(x):
    return FACTOR * x

@kernel
def shift(x):
    return x + 10.0

@linked_kernel
def deep(x) -> float:
    return x + 100.0

@linked_kernel
def middle(x) -> float:
    return shift(deep(x))

@kernel
def enter(x):
    return scale(x) + 1000.0 * middle(x)
"""
SCRIPT = """
import json, numba.core.event
with numba.core.event.install_recorder("numba:run_pass") as recorder:
    from toy_units import enter
    value = enter(1.0)
print(json.dumps({"value": value, "n_passes": len(recorder.buffer)}))
"""


@pytest.fixture(scope="module")
def compiled_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("units")
    (folder / "toy_units.py").write_text(TOY)
    first = run_script(folder, SCRIPT)
    assert first["value"] == 111_002.0
    assert sorted(kernels_in(folder).values()) == ["deep", "enter", "middle"]
    return folder, first["n_passes"]


def kernels_in(folder):
    """Return the files of the cache of a folder, each with the name of its kernel."""
    paths = (folder / "cache" / "symbolic-physics-learner" / "kernels").iterdir()
    return {path.name: path.name.rpartition("-")[0].rpartition(".")[2] for path in paths}


@pytest.mark.process
@pytest.mark.parametrize(
    ("old", "new", "value", "compiled"),
    [
        ("FACTOR = 2.0", "FACTOR = 3.0", 111_003.0, ["enter"]),
        ("FACTOR * x", "FACTOR + x", 111_003.0, ["enter"]),
        ("x + 10.0", "x + 20.0", 121_002.0, ["middle"]),
        ("x + 100.0", "x + 200.0", 211_002.0, ["deep"]),
        ("shift(deep(x))", "deep(shift(x)) + 0.5", 111_502.0, ["middle"]),
        ("scale(x) +", "scale(x) -", -110_998.0, ["enter"]),
        ("x + 10.0", "x + 10.0  # a comment", 111_002.0, []),
    ],
)
def test_a_change_compiles_only_the_units_that_contain_it(compiled_folder, tmp_path, old, new, value, compiled):
    folder, n_passes_of_all = compiled_folder
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    before = kernels_in(tmp_path)
    change(tmp_path / "toy_units.py", old, new)
    found = run_script(tmp_path, SCRIPT)
    after = kernels_in(tmp_path)
    assert found["value"] == value
    assert before.items() <= after.items()
    assert [after[name] for name in after.keys() - before.keys()] == compiled
    assert (found["n_passes"] > 0) == bool(compiled)
    assert found["n_passes"] < n_passes_of_all
