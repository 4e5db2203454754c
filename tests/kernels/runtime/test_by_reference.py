"""Linked kernels receive all that records hold."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from tests.kernels.runtime.test_compiler import run_script

from spl.kernels.runtime.by_reference import RecordReference

# Kept out of this file for the same reason as in test_linking
TOY = """
from typing import NamedTuple
import numpy as np
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.compiler import kernel

class Inner(NamedTuple):
    row: np.ndarray
    factor: float

class Outer(NamedTuple):
    size: int
    table: np.ndarray
    inner: Inner
    flags: np.ndarray

class Numbers(NamedTuple):
    a: int
    b: float

@linked_kernel
def sum_up(outer, numbers) -> float:
    total = 0.0
    for i in range(outer.size):
        for j in range(outer.table.shape[1]):
            total += outer.table[i, j] * outer.inner.row[j] * outer.inner.factor
    return total + numbers.a * numbers.b

@linked_kernel
def double(inner) -> None:
    for j in range(inner.row.size):
        inner.row[j] *= 2.0

@linked_kernel
def double_and_sum_up(outer, numbers) -> float:
    double(outer.inner)
    outer.flags[0] = True
    return sum_up(outer, numbers)

@kernel
def enter(outer, numbers, n_times):
    total = 0.0
    for _ in range(n_times):
        total += double_and_sum_up(outer, numbers)
    return total
"""
SCRIPT = """
import json, numpy as np
from toy_references import Inner, Numbers, Outer, enter
table = np.arange(20.0).reshape(5, 4)
outer = Outer(2, table, Inner(np.ones(4), 1.5), np.zeros(2, np.bool_))
found = {"once": enter(outer, Numbers(7, 0.5), 1)}
found["thrice"] = enter(outer._replace(inner=Inner(outer.inner.row, 1.0)), Numbers(0, 0.0), 3)
found["row"], found["flags"] = outer.inner.row.tolist(), outer.flags.tolist()
found["other"] = enter(Outer(1, table, Inner(np.full(4, 0.5), 1.0), outer.flags), Numbers(1, 1.0), 1)
print(json.dumps(found))
"""
TWO_ROWS = sum(range(8))  # of the table


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references")
    (folder / "toy_references.py").write_text(TOY)
    return run_script(folder, SCRIPT)


@pytest.mark.slow
def test_a_record_has_the_values_that_it_was_given(found):
    assert found["once"] == 2 * 1.5 * TWO_ROWS + 7 * 0.5


def test_what_one_kernel_writes_the_next_one_reads(found):
    assert found["thrice"] == (4 + 8 + 16) * TWO_ROWS
    assert (found["row"], found["flags"]) == ([16.0] * 4, [True, False])


def test_records_of_another_call_are_other_records(found):
    assert found["other"] == sum(range(4)) + 1.0


def test_references_to_records_with_other_names_of_members_are_other_types():
    records = [NamedTuple("Record", [(name, np.ndarray), ("n", int)]) for name in ("row", "column")]
    references = [RecordReference(numba.typeof(record(np.zeros(1), 1))) for record in records]
    assert len(set(map(str, references))) == 1
    assert references[0] != references[1]
    assert references[0] == RecordReference(references[0].record)
