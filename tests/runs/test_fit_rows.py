"""What a stored run was fitted to, and when that cannot be told."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.examples import make_run, make_system_run
from tests.run_examples import make_config, search_in_file

from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import decode_grammar, encode_grammar
from spl.formulas.operators import Operator
from spl.noise.loss_codec import encode_loss
from spl.noise.own_loss import Loss
from spl.regression.front import Front
from spl.runs.fit_rows import fit_rows_of
from spl.runs.reader import read_run
from spl.settings import Limits


@pytest.mark.search
def test_the_rows_of_a_file_are_those_of_the_search(tmp_path):
    search_in_file(tmp_path / "run.spl", limits=Limits(max_evaluations=200), config=make_config(n_episodes=20))
    run = read_run(tmp_path / "run.spl")
    np.testing.assert_array_equal(fit_rows_of(run).rows.target, run.data.target)


def test_numbers_of_the_grammar_are_exact():
    assert fit_rows_of(make_run(names=("x", "u"), formulas=("x",), rules="f -> x | u | 9.81*x")).given == (9.81,)


def test_a_system_and_a_run_without_formulas_have_no_such_rows():
    run = make_run()
    [search] = run.searches
    for nothing in (replace(search, discovery=None), replace(search, front=Front(()))):
        assert fit_rows_of(replace(run, searches=(nothing,))) is None
    assert fit_rows_of(make_system_run()) is None


def test_own_operators_and_losses_are_not_in_the_file():
    run = make_run(names=("x", "u"), formulas=("x",), rules="f -> x | u")
    [search] = run.searches
    own = Operator("wave", lambda a: a)
    grammar = decode_grammar(encode_grammar(Grammar.from_text("f -> wave(f) | x", [own]).bind(["x", "u"])))
    assert fit_rows_of(replace(run, searches=(replace(search, grammar=grammar),))) is None
    loss = Loss("absolute", lambda y, f: abs(f - y))
    assert fit_rows_of(replace(run, settings={"noise": encode_loss(loss)})) is None
