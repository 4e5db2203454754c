"""Factors of the closer by products: distinct, the cheapest first, only where the grammar can use them."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.kernels.programs import tokens as tk
from spl.regression.bank_build import make_completion, own_scratch, spell_entry
from spl.regression.packing import unpack_program

TEXT = "f -> f + f | f - f | f * f | f / f | C * f | sin(f) | C | x | y"


def complete(text, n_entries=2000, n_rows=40):
    grammar = Grammar.from_text(text).bind(("x", "y"))
    columns = np.random.default_rng(0).uniform(0.5, 2.0, (n_rows, 2))
    return grammar, make_completion(grammar, Dataset.from_arrays(columns, columns[:, 0]), n_entries=n_entries)


@pytest.fixture(scope="module")
def completed():
    return complete(TEXT)


def spell(completed, entry):
    grammar, completion = completed
    tokens = spell_entry(completion.bank, completion.rules, int(entry))
    return to_text(unpack_program(tokens, np.ones(9), grammar.vocabulary))


def test_factors_differ_by_more_than_a_scale(completed):
    table = completed[1].factor_table
    values = table.values[0, : table.n_first[0]]
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    cosines = np.abs(unit @ unit.T) - np.eye(len(unit))
    assert len(unit) > 30
    assert cosines.max() < 1 - 1e-13


def test_distinct_products_differ_by_more_than_a_scale_and_all_others_equal_one_of_them(completed):
    table = completed[1].factor_table
    values = table.values[0, : table.n_first[0]]
    products = (values[: table.n_second[0], np.newaxis] * values).reshape(-1, values.shape[1])[:4000]
    unit = products / np.linalg.norm(products, axis=1, keepdims=True)
    is_distinct = table.is_distinct[0, :4000]
    same = 1 - np.abs(unit @ unit[is_distinct].T) < 1e-13
    assert np.all(same[is_distinct].sum(axis=1) == 1)
    is_cheaper_elsewhere = ~same.any(axis=1)  # the distinct one has a number beyond those examined
    assert is_cheaper_elsewhere.mean() < 0.5


def test_a_product_is_spelled_by_its_cheapest_factors(completed):
    table = completed[1].factor_table
    values = table.values[0, : table.n_first[0]]
    x = 1 + [spell(completed, entry) for entry in table.entry[0, 1 : table.n_first[0]]].index("x")
    wanted = values[x] ** 2
    second, first = np.divmod(np.flatnonzero(table.is_distinct[0]), table.n_first[0])
    found = [
        (a, b)
        for a, b in zip(first, second, strict=True)
        if np.allclose(values[a] * values[b] / wanted, (values[a] * values[b] / wanted)[0], rtol=1e-10)
    ]
    assert found == [(x, x)]


def test_costly_factors_are_no_sums_or_products(completed):
    (_, completion), table = completed, completed[1].factor_table
    entries = table.entry[0, table.n_second[0] : table.n_first[0]]
    operators = set(completion.rules.operator[completion.bank.rule[entries]].tolist())
    assert operators == {tk.DIV, tk.SIN}


@pytest.mark.parametrize(("text", "expected"), [(TEXT, True), (TEXT.replace("| C |", "|"), False)])
def test_the_number_1_is_a_factor_and_a_product_only_if_the_grammar_has_numbers(text, expected):
    table = complete(text)[1].factor_table
    assert np.all(table.values[0, 0] == 1.0)
    assert table.entry[0, 0] == -1
    assert bool(table.is_distinct[0, 0]) == expected


@pytest.mark.parametrize("text", ["f -> f + f | f * f | x | y", "f -> f + f | C * f | x | y", "f -> C * f | f * f | x"])
def test_a_symbol_without_sums_of_scaled_products_has_no_factors(text):
    table = complete(text, n_entries=50)[1].factor_table
    assert table.n_first[0] == 0


@pytest.mark.parametrize(("n_rows", "expected"), [(19, False), (20, True)])
def test_there_are_factors_only_if_there_are_four_rows_per_term(n_rows, expected):
    table = complete(TEXT, n_entries=50, n_rows=n_rows)[1].factor_table
    assert bool(table.n_first[0] > 0) == expected


def test_trees_have_their_own_scratch(completed):
    table, other = completed[1].factor_table, own_scratch(completed[1]).factor_table
    for name in ("row", "vector", "size", "goal", "inner", "along", "own", "left"):
        assert not np.shares_memory(getattr(table, name), getattr(other, name))
    assert np.shares_memory(table.values, other.values)
