"""Relations between own numbers are found where there are any."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.fit import fit_jointly
from spl.groups.formula import GroupedFormula
from spl.groups.relations import _find_relations, relate_own_numbers
from spl.groups.rows import GroupedRows
from spl.regression.fit import evaluate


def relate(slopes, offsets, rng, has_operator=lambda opcode: True):
    """Return the formula of lines with these slopes and offsets after relations were looked for."""
    codes = np.repeat(np.arange(slopes.size), 20)
    x = rng.uniform(0.0, 3.0, codes.size)
    target = slopes[codes] * x + offsets[codes] + 0.01 * rng.normal(size=x.size)
    rows = GroupedRows(Dataset.from_arrays(x[:, None], target, names=["x"]), (Grouping.from_labels(codes, "g"),))
    program = parse_expression("k1*x + k2", Vocabulary(("x", "k1", "k2")))
    formula = GroupedFormula(program, (0, 0), (slopes.copy(), offsets.copy()), 1)
    return relate_own_numbers(fit_jointly(formula, rows), rows, has_operator, lambda: False).formula


@pytest.mark.parametrize(("factor", "shift"), [(1.7, 0.0), (1.0, 0.8)])
def test_a_number_that_follows_another_is_not_own(rng, factor, shift):
    slopes = rng.uniform(1, 3, 10)
    found = relate(slopes, factor * slopes + shift, rng)
    assert len(found.scopes) == 1
    [constant] = found.program.constants
    assert min(abs(constant - value) for value in (factor, 1 / factor, shift, -shift)) < 0.02


def test_independent_numbers_stay_own(rng):
    assert len(relate(rng.uniform(1, 3, 10), rng.uniform(1, 3, 10), rng).scopes) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda k: 0.5 * k - 1.0,
        lambda k: 1.6 * k**2 + 5.0,
        lambda k: 3.0 / k,
    ],
)
def test_a_number_that_is_a_function_of_another_is_not_own(rng, function):
    slopes = rng.uniform(1, 3, 10)
    found = relate(slopes, function(slopes), rng)
    [kept] = found.values
    x = np.linspace(0.5, 3.0, kept.size)
    np.testing.assert_allclose(
        evaluate(found.program, np.array([x, kept])), slopes * x + function(slopes), rtol=0.05, atol=0.05
    )


def test_a_relation_has_only_operators_of_the_grammar(rng):
    slopes = rng.uniform(1, 3, 10)
    found = relate(slopes, 1.6 * slopes**2 + 5.0, rng, lambda opcode: False)
    assert "**" not in to_text(found.program)


def test_with_few_groups_numbers_stay_own(rng):
    slopes = np.array([1.0, 2.0, 2.7])
    assert len(relate(slopes, 0.5 * slopes - 1.0, rng).scopes) == 2


def test_numbers_that_no_group_determines_have_no_relations():
    unknown = np.full(4, np.nan)
    assert list(_find_relations(unknown, np.ones(4), 0, lambda opcode: True)) == []
