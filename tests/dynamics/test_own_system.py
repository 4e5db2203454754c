"""Systems written with own numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.dynamics.own_examples import make_growth

from spl.dynamics.own_system import all_own, with_own_columns, write_own_system
from spl.dynamics.sharing import SHARED, Sharing
from spl.errors import DataError
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

WORDS = Vocabulary(("x",))
VALUES = np.array([[-1.0, 0.2], [-2.0, 0.4]])


@pytest.fixture
def plain():
    return System(("x",), (), (parse_expression("C*x + C*x*x", WORDS).with_constants([1.0, 1.0]),))


def test_an_own_number_that_is_negative_everywhere_is_written_with_a_minus_sign(plain):
    system = write_own_system(plain, "ab", Sharing((0, SHARED)), VALUES, np.ones(2))
    assert system.equations(4) == ["-k1*x + 0.3*x*x"]
    assert system.own[0].values == (1.0, 2.0)


def test_a_multiple_of_an_own_number_is_written_with_its_factor(plain):
    system = write_own_system(plain, "ab", Sharing((0, 0)), VALUES, np.array([1.0, -0.2]))
    assert system.equations() == ["-k1*x + 0.2*k1*x*x"]
    assert system.of_run("b").equations(4) == ["-2*x + 0.2*2*x*x"]


def test_own_numbers_get_the_names_that_are_given(plain):
    system = write_own_system(plain, "ab", all_own(2), VALUES, np.ones(2), ("rate", "loss"))
    assert system.inputs == ("rate", "loss")
    assert system.driving_inputs == ()


def test_free_values_can_be_exchanged(plain):
    system = write_own_system(plain, "ab", Sharing((0, SHARED)), VALUES, np.ones(2))
    other = system.with_free_values(np.array([7.0, 8.0, 9.0]))
    assert_allclose(other.constants, [7.0])
    assert other.own[0].values == (8.0, 9.0)
    assert_allclose(other.free_values, [7.0, 8.0, 9.0])


def test_a_run_that_is_not_known_is_named_in_the_error(plain):
    system = write_own_system(plain, ["oak", "ash"], all_own(2), VALUES, np.ones(2))
    with pytest.raises(DataError, match=r"There is no run .oka.\. Did you mean .oak.\?"):
        system.of_run("oka")


def test_columns_of_own_numbers_are_constant_along_each_run(plain):
    data = make_growth()
    values = np.array([[rate, 0.0] for rate in (1.0, 2.0, 3.0, 4.0)])
    system = write_own_system(plain, data.run_labels, Sharing((0, SHARED)), values, np.ones(2))
    wide = with_own_columns(data, system)
    assert wide.inputs == ("k1",)
    assert [set(run.u[:, 0]) for run in wide.runs] == [{1.0}, {2.0}, {3.0}, {4.0}]
