"""Small tables of groups, and formulas with own numbers, for the tests of grouped searches."""

from dataclasses import replace

import numpy as np

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.groups.formula import GroupedFormula, name_variables
from spl.groups.rows import GroupedRows


def make_rows(x, target, *labels, noise=None, **more):
    """Return rows of one column `x` with groupings `g`, `h`, and so on."""
    data = replace(Dataset.from_arrays(np.asarray(x)[:, np.newaxis], target, names=["x"], **more), noise=noise)
    return GroupedRows(data, tuple(Grouping.from_labels(each, name) for each, name in zip(labels, "gh", strict=False)))


def make_formula(text, constants=(), values=(), scopes=None):
    """Return a formula of `x` with own numbers `k1`, `k2`, and so on; they belong to the first grouping unless told otherwise."""
    words = name_variables(Vocabulary(("x",)), ("x",), len(values))
    program = parse_expression(text, words).with_constants(np.array(constants, float))
    own = tuple(np.array(each, float) for each in values)
    return GroupedFormula(program, tuple(scopes or (0,) * len(own)), own, 1)
