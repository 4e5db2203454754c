"""Fingerprints: another one when the machine code may change, the same one otherwise."""

import importlib
import pkgutil
import shutil
import sys
from pathlib import Path

import numba
import pytest
from tests.kernels.runtime.test_compiler import needs_compiler, run_script

import spl.kernels
from spl.kernels.runtime import fingerprint as module
from spl.kernels.runtime.fingerprint import describe_options, digest_of_sources, fingerprint, platform
from spl.kernels.runtime.units import LINKED_KERNELS

KERNELS = Path(module.__file__).parents[1]
PLATFORM, DIGEST = platform(), digest_of_sources()

TOY = """
from types import ModuleType
from typing import NamedTuple
import numpy as np
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

FACTOR, SHIFT, UNUSED = 2.0, 1.0, 0.0
TABLE = np.array([1.0, 2.0])
PAIR = (3, np.int64(4))
codes = ModuleType("codes")
codes.ADD, codes.UNUSED = 5, 6

class Point(NamedTuple):
    x: float
    y: float

@linked_kernel
def far(x) -> float:
    return x + 5.0

@kernel
def near(x):
    return FACTOR * x

def close_over(bound):
    @kernel
    def clip(x):
        return min(x, bound)
    return clip

clip = close_over(100.0)

@kernel
def root(x, power=2):
    point = Point(near(x), SHIFT + TABLE[0] + PAIR[1] + codes.ADD)
    for _ in range(power):
        x = clip(x) * np.sqrt(point.y)
    return far(x)
"""


def fingerprint_of_root(source):
    namespace = {"__name__": "toy"}
    exec(compile(source, "toy.py", "exec"), namespace)
    return fingerprint(namespace["root"].py_func)


def fingerprint_after(old, new):
    assert old in TOY
    return fingerprint_of_root(TOY.replace(old, new, 1))


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return far(x)", "return far(-x)"),
        ("np.sqrt", "np.cbrt"),
        ("clip(x) *", "clip(x) * 3.0 *"),
        ("power=2", "power=3"),
        ("SHIFT, UNUSED = 2.0, 1.0", "SHIFT, UNUSED = 2.0, 1"),
        ("[1.0, 2.0]", "[1.0, 2.5]"),
        ("[1.0, 2.0]", "[[1.0], [2.0]]"),
        ("(3, np.int64(4))", "(3, np.int64(5))"),
        ("(3, np.int64(4))", "(3, np.int32(4))"),
        ("codes.UNUSED = 5", "codes.UNUSED = 7"),
        ("    x: float\n    y: float", "    y: float\n    x: float"),
        ("FACTOR * x", "FACTOR * x * x"),
        ("FACTOR, SHIFT, UNUSED = 2.0", "FACTOR, SHIFT, UNUSED = 3.0"),
        ("close_over(100.0)", "close_over(200.0)"),
        ("min(x, bound)", "max(x, bound)"),
        ("@kernel\ndef near", "@kernel(fastmath={'nsz'})\ndef near"),
        ("-> float", "-> int"),
        ("far", "farther"),
    ],
)
def test_it_changes_with_whatever_is_compiled_into_the_kernel(old, new):
    assert fingerprint_after(old, new) != fingerprint_of_root(TOY)


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n\nFACTOR", "\n\n\n\nFACTOR"),
        ("    return far(x)", "    # the last step\n\n    return far(x)"),
        ("    return FACTOR * x", "    return (\n        FACTOR\n        * x\n    )"),
        ("x + 5.0", "x * near(x)"),
        ("UNUSED = 2.0, 1.0, 0.0", "UNUSED = 2.0, 1.0, 9.0"),
        ("5, 6", "5, 7"),
        ("class Point", "class Unused:\n    pass\n\nclass Point"),
    ],
)
def test_it_stays_the_same_when_the_machine_code_does(old, new):
    assert fingerprint_after(old, new) == fingerprint_of_root(TOY)


@pytest.mark.parametrize("value", [{"a": 1}, [1.0], {1, 2}, (1, [2]), object()])
def test_a_value_that_cannot_be_described_is_refused(value):
    with pytest.raises(TypeError, match=r"a kernel uses a value of type (dict|list|set|object), which has no finger"):
        fingerprint(eval("lambda x: x + VALUE", {"VALUE": value}))


def kernels_of_the_package():
    """Return the functions of all kernels, by name."""
    for _, name, _ in pkgutil.walk_packages(spl.kernels.__path__, "spl.kernels."):
        importlib.import_module(name)
    values = [value for name, part in sys.modules.items() if name.startswith("spl.") for value in vars(part).values()]
    found = {name: linked.function for name, linked in LINKED_KERNELS.items() if name.startswith("spl.")}
    return found | {value.unit_kernel.name: value.py_func for value in values if hasattr(value, "unit_kernel")}


@needs_compiler
def test_every_kernel_of_the_package_has_one():
    found = {name: fingerprint(function) for name, function in kernels_of_the_package().items()}
    assert len(found) > 200
    assert all(len(digest) == 24 for digest in found.values())


PRINT_ALL = """
import json
from tests.kernels.runtime.test_fingerprint import fingerprint, kernels_of_the_package
found = {name: fingerprint(function) for name, function in kernels_of_the_package().items()}
words = fingerprint(lambda x: x in {"some", "words", "and", "a", "few", "more"})
print(json.dumps(found | {"words": words}))
"""


@pytest.mark.process
@needs_compiler
def test_it_is_the_same_in_every_process():
    root = Path(__file__).parents[3]
    first, second = (run_script(root, PRINT_ALL, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert len(first) > 200
    assert first == second


def test_options_are_described_in_one_order():
    one = describe_options({"fastmath": {"nsz", "arcp", "contract"}, "nogil": True})
    assert one == describe_options({"nogil": True, "fastmath": {"contract", "arcp", "nsz"}})
    assert one != describe_options({"nogil": True, "fastmath": {"contract", "arcp"}})


# ---- what all kernels depend on ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["numba.__version__", "numpy.__version__", "sys.implementation.cache_tag"])
def test_another_version_makes_another_platform(name, monkeypatch):
    monkeypatch.setattr(name, "another")
    assert platform.__wrapped__() != PLATFORM


def test_checking_bounds_makes_another_platform(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None if numba.config.BOUNDSCHECK else 1)
    assert platform.__wrapped__() != PLATFORM


@pytest.fixture
def copied_sources(tmp_path, monkeypatch):
    """A copy of the sources of the kernels that counts as theirs."""
    folder = tmp_path / "kernels"
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "__file__", str(folder / "runtime" / "fingerprint.py"))
    return folder


def append(path, text):
    with path.open("a", encoding="utf-8") as source:
        source.write(text)


def test_a_copy_of_the_sources_has_the_same_digest(copied_sources):
    assert platform.__wrapped__() == PLATFORM
    assert digest_of_sources.__wrapped__() == DIGEST


@pytest.mark.parametrize("name", sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.glob("*/*.py")))
def test_a_change_in_any_source_changes_the_digest(copied_sources, name):
    append(copied_sources / name, "# changed\n")
    assert digest_of_sources.__wrapped__() != DIGEST
    is_runtime = name.startswith("runtime/")
    assert (platform.__wrapped__() != PLATFORM) == is_runtime


def test_a_new_source_changes_the_digest(copied_sources):
    (copied_sources / "tree" / "another.py").write_text("")
    assert digest_of_sources.__wrapped__() != DIGEST
