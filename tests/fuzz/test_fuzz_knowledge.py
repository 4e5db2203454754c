"""Statements of strangers: each is read or refused in words, and what was read can be judged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.texts import anything, piece, soup

from spl.data.dataset import Dataset
from spl.errors import KnowledgeError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.knowledge import Judge, Knowledge

pytestmark = pytest.mark.slow

DATA = Dataset.from_arrays(
    [[0.0, 1.0, 1.0], [2.0, 3.0, -1.0], [-1.0, 2.0, 5.0]], [1.0, 2.0, 3.0], names=["x", "y", "flow rate"]
)
PROGRAMS = [parse_expression(text, Vocabulary(DATA.names)) for text in ("x*y", "1/x", "exp(x) - log(y)", "2")]
BEGINNINGS = [
    "f > ", "f < ", "0 < f < ", "f(x=", "f(x=0) = ", "f -> ", "f -> 0 as x -> ", "increasing in ", "even in ", "symmetric in x, ",
    "depends on ", "f > 0 for ", "convex in x for x < ",
]  # fmt: skip
statement = st.one_of(
    soup, anything, st.tuples(st.sampled_from(BEGINNINGS), st.one_of(piece, soup, anything)).map("".join)
)


@cases(600)
@given(statement)
def test_any_text_is_a_statement_or_an_error_in_words(text):
    with guarded("statements"):
        try:
            judge = Judge(Knowledge.read([text], DATA.names), DATA)
        except KnowledgeError as error:
            assert len(str(error)) < 1_000
            return
        for program in PROGRAMS:
            [verdict] = judge.judge(program)
            assert verdict.status in ("proved", "checked", "broken")
            assert (judge.find_broken(program) is None) == (verdict.status != "broken")


@cases(200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_any_bounds_are_read_or_refused_in_words(bounds):
    with guarded("statements"):
        try:
            known = Knowledge.read(["f > 0"], DATA.names, bounds=bounds)
        except KnowledgeError as error:
            assert len(str(error)) < 1_000
            return
        assert all(np.isfinite(pair).all() for pair in known.bounds.values())
