"""Compiling what is missing, alone and together with other processes."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numba.core.event
import pytest
from tests.kernels.runtime.linked_toys import add_one, add_two
from tests.kernels.runtime.test_compiler import needs_compiler, run_script

from spl.kernels.runtime import building, store
from spl.kernels.runtime.building import build, link_unit
from spl.kernels.runtime.compiler import kernel, unit_of
from spl.kernels.runtime.units import compile_unit, make_python_function

pytestmark = needs_compiler


@kernel
def first(x):
    return add_one(x) + add_two(x)


@kernel
def second(x):
    return 2.0 * add_two(x)


@kernel
def third(x):
    return 3.0 * x


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder of kernels."""
    monkeypatch.setattr(store, "kernel_folder", lambda: tmp_path)
    monkeypatch.setattr(building, "_compiled_here", {})
    monkeypatch.setattr(store, "troubles", [])
    return tmp_path


@pytest.fixture
def compiled(monkeypatch):
    """The names of the kernels that were compiled, in order."""
    names = []

    def compile_and_note(unit):
        names.append(unit.kernel.name.rpartition(".")[2])
        return compile_unit(unit)

    monkeypatch.setattr(building, "compile_unit", compile_and_note)
    return names


def units():
    return [unit_of(called, 1.0) for called in (first, second, third)]


def names_of_files(folder):
    return sorted(path.name.partition("-")[0].rpartition(".")[2] for path in folder.iterdir())


def test_everything_that_units_refer_to_is_compiled_once(folder, compiled):
    build(units())
    assert sorted(compiled) == ["add_one", "add_two", "first", "second", "third"] == names_of_files(folder)


def test_nothing_is_compiled_that_is_there(compiled):
    build(units())
    compiled.clear()
    building._compiled_here.clear()
    build(units())
    assert compiled == []


def test_only_what_is_missing_is_compiled(folder, compiled):
    build(units())
    compiled.clear()
    building._compiled_here.clear()
    for path in folder.glob("*add_one*"):
        path.unlink()
    build(units())
    assert compiled == ["add_one"]


def test_a_damaged_file_is_compiled_anew(folder, compiled):
    build(units())
    compiled.clear()
    building._compiled_here.clear()
    for path in folder.glob("*add_two*"):
        path.write_bytes(path.read_bytes()[:-1])
    build(units())
    assert compiled == ["add_two"]
    assert store.read(next(folder.glob("*add_two*")).name) is not None


@pytest.mark.parametrize(
    ("from_end", "order"),
    [
        (False, ["first", "second", "third", "add_one", "add_two"]),
        (True, ["third", "second", "add_two", "add_one", "first"]),
    ],
)
def test_two_processes_can_begin_at_both_ends(compiled, from_end, order):
    build(units(), from_end=from_end)
    assert compiled == order


def test_no_claims_are_left(folder):
    build(units())
    assert {path.suffix for path in folder.iterdir()} == {".nbc"}


def test_no_claim_is_left_when_another_process_was_faster(folder, compiled, monkeypatch):
    build([unit_of(third, 1.0)])
    compiled.clear()
    building._compiled_here.clear()
    monkeypatch.setattr(store, "contains", lambda name: False)  # it is written right after this look
    build([unit_of(third, 1.0)])
    assert compiled == []
    assert names_of_files(folder) == ["third"]


def test_no_claim_is_left_when_the_compiler_fails(folder, monkeypatch):
    def fail(unit):
        assert (folder / f"{unit.file}.claim").exists()
        raise MemoryError

    monkeypatch.setattr(building, "compile_unit", fail)
    with pytest.raises(MemoryError):
        build([unit_of(third, 1.0)])
    assert list(folder.iterdir()) == []


def test_what_another_process_compiles_is_awaited_while_there_is_other_work(compiled):
    awaited = unit_of(first, 1.0)
    code = compile_unit(awaited)
    (store.kernel_folder() / awaited.file).unlink()
    assert store.claim(awaited.file)

    def finish_when_the_rest_is_done():
        while "third" not in compiled:
            time.sleep(0.01)
        store.write(awaited.file, code)
        store.release(awaited.file)

    other = threading.Thread(target=finish_when_the_rest_is_done)
    other.start()
    build(units())
    other.join()
    assert sorted(compiled) == ["add_one", "add_two", "second", "third"]


def test_a_claim_of_the_dead_delays_but_does_not_stop(compiled, monkeypatch):
    monkeypatch.setattr(store, "MAX_CLAIM_SECONDS", 0.5)
    unit = unit_of(third, 1.0)
    assert store.claim(unit.file)
    began = time.monotonic()
    build([unit])
    assert time.monotonic() - began > 0.4
    assert compiled == ["third"]


def test_a_unit_is_linked_with_what_it_refers_to():
    assert make_python_function(link_unit(unit_of(first, 1.0)))(1.0) == 2.0 + 3.0


def test_kernels_are_linked_where_nothing_can_be_kept(monkeypatch):
    def refuse(name, value):
        pass

    monkeypatch.setattr(store, "write", refuse)
    assert make_python_function(link_unit(unit_of(second, 1.0)))(1.0) == 6.0


def test_code_is_not_kept_once_it_is_linked():
    link_unit(unit_of(third, 1.0))
    assert building._compiled_here == {}


def test_what_is_there_is_linked_without_the_compiler():
    build(units())
    building._compiled_here.clear()
    with numba.core.event.install_recorder("numba:run_pass") as recorder:
        for unit in units():
            link_unit(unit)
    assert recorder.buffer == []


# ---- several processes ---------------------------------------------------------------------------

N_ROUNDS = 6
TOY = """
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

@linked_kernel
def add(x) -> float:
    return x + ROUND

@linked_kernel
def add_twice(x) -> float:
    return add(add(x))

@linked_kernel
def multiply(x) -> float:
    return x * add(1.0)

@kernel
def enter(x):
    return add_twice(x) + 100.0 * multiply(x)
"""

# Both processes wait for each other before each round, so that they look into the cache at the same moment.
SCRIPT = """
import importlib, json, time
from pathlib import Path
from spl.kernels.runtime.building import build
from spl.kernels.runtime.compiler import unit_of

found = []
for round in range(N_ROUNDS):
    enter = importlib.import_module(f"toy_{round}").enter
    unit = unit_of(enter, 1.0)
    unit.file
    Path(f"FOLDER/ready-{round}-ME").touch()
    while not Path(f"FOLDER/ready-{round}-OTHER").exists():
        time.sleep(0.0005)
    if IS_HELPER:
        build([unit], from_end=True)
    found.append(enter(1.0))
print(json.dumps(found))
"""


@pytest.mark.process
@pytest.mark.parametrize("has_helper", [False, True])
def test_two_processes_that_start_with_an_empty_cache_at_the_same_moment_both_compute_the_right_values(
    tmp_path_factory, has_helper
):
    place = tmp_path_factory.mktemp("together")
    for k in range(N_ROUNDS):
        (place / f"toy_{k}.py").write_text(TOY.replace("ROUND", f"{k}.0"))
    script = SCRIPT.replace("N_ROUNDS", str(N_ROUNDS)).replace("FOLDER", str(place))
    scripts = [
        script.replace("ME", "1").replace("OTHER", "2").replace("IS_HELPER", "False"),
        script.replace("ME", "2").replace("OTHER", "1").replace("IS_HELPER", str(has_helper)),
    ]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run_script, 2 * [place], scripts))
    assert runs == 2 * [[1.0 + 2.0 * k + 100.0 * (1.0 + k) for k in range(N_ROUNDS)]]
    kept = names_of_files(place / "cache" / "symbolic-physics-learner" / "kernels")
    assert kept == sorted(N_ROUNDS * ["add", "add_twice", "enter", "multiply"])
