import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate
from spl.regression.scales import Scale, Scales, choose_scales

WORDS = Vocabulary(("x", "y"))
FORMULAS = [
    "x",
    "C",
    "x + y",
    "x - 2*y",
    "C*x + C*y + C",
    "x*y/(x + y)",
    "sqrt(x**2 + y**2)",
    "log(x) + log(C*y)",
    "C*sin(C*x) + y**3",
    "exp(-x)*y + C",
    "abs(x - y)**0.3",
    "max(x, y)/cbrt(x)",
    "1/(C*x + y)",
    "-x/(-y)",
    "(x + 1)**y",
    "min(x, C)*5",
]


def make_data(sizes=(1.0, 1.0, 1.0), offsets=(0.0, 0.0, 0.0)):
    """Two columns and a target."""
    values = np.random.default_rng(1).uniform(0.5, 3.0, (30, 3)) * sizes + offsets
    return Dataset.from_arrays(values[:, :2], values[:, 2], names=["x", "y"])


def choose(grammar, *arguments):
    return choose_scales(make_data(*arguments), Grammar.from_text(grammar).bind(["x", "y"]))


def decades_of(scales):
    return [scale.decades for scale in (*scales.columns, scales.target)]


def express(text, scales):
    program = parse_expression(text, WORDS)
    program = Program(program.tokens, program.vocabulary, tuple(1.5 + k for k in range(program.n_constants)))
    return program, scales.express(Candidate(program, 2.0, 0.5))


FREE = "f -> f + f | f * f | f / f | sin(f) | C * f | C | x | y"


def test_data_of_ordinary_size_stays_as_it_is():
    data = make_data((20.0, 0.05, 1.0))
    scales = choose_scales(data, Grammar.from_text(FREE).bind(["x", "y"]))
    assert scales.are_plain
    assert scales.measure(data) is data


def test_columns_of_extreme_sizes_get_powers_of_ten():
    assert decades_of(choose(FREE, (1e-19, 1e30, 1e6))) == [-19, 30, 6]


def test_columns_of_like_sizes_keep_their_proportion():
    assert decades_of(choose(FREE, (1e8, 2e9, 1e-3))) == [9, 9, -3]


def test_a_long_row_of_sizes_does_not_become_one_group():
    sizes = 10.0 ** np.arange(0, 13)
    data = Dataset.from_arrays(np.tile(sizes[:-1], (5, 1)), np.full(5, sizes[-1]))
    scales = choose_scales(data, Grammar.from_operators(["+", "*"], data.names))
    assert max(abs(np.log10(sizes) - decades_of(scales))) <= 2


def test_a_column_that_hardly_varies_is_measured_from_a_round_number():
    scales = choose(FREE, (1e-3, 1.0, 1e-3), (1e9, 0.0, -7e9))
    assert [scale.origin for scale in (*scales.columns, scales.target)] == [1e9, 0.0, -7e9]
    assert decades_of(scales) == [-3, 0, -3]


@pytest.mark.parametrize("grammar", ["f -> f + f | x | y", "f -> sin(x) | f * f | x + y | C * f", "f -> C + f | x | y"])
def test_where_the_grammar_cannot_write_a_factor_nothing_changes(grammar):
    assert choose(grammar, (1e10, 1e10, 1.0)).are_plain


@pytest.mark.parametrize(
    ("grammar", "decades"),
    [
        ("f -> f + f | C * f | x | sin(y)", [10, 0, -20]),
        ("f -> f + f | C * x | C * y", [10, 10, 0]),
        ("f -> f + f | f * C | x**2 | x/y", [10, 10, -20]),
        ("f -> f + g | g\ng -> C * x**2 | C * y", [10, 10, 0]),
    ],
)
def test_only_what_the_grammar_can_write_is_scaled(grammar, decades):
    assert decades_of(choose(grammar, (1e10, 1e10, 1e-20))) == decades


def test_values_of_weight_0_do_not_count():
    data = Dataset.from_arrays([[1.0], [1e30], [1e30]], [1.0, 2.0, 3.0], weights=[1.0, 0.0, 0.0])
    assert choose_scales(data, Grammar.from_text("f -> C * f | x0")).are_plain


def test_columns_of_zeros_and_of_one_number_are_no_problem():
    data = Dataset.from_arrays([[0.0, 1e20], [0.0, 1e20]], [0.0, 0.0], names=["x", "y"])
    assert decades_of(choose_scales(data, Grammar.from_text(FREE).bind(["x", "y"]))) == [0, 20, 0]


def test_the_largest_and_smallest_numbers_are_measured():
    scales = choose(FREE, (1e149, 1e-149, 1e149))
    measured = scales.measure(make_data((1e149, 1e-149, 1e149)))
    assert np.all(np.isfinite(measured.columns))


@pytest.mark.slow
@given(
    st.sampled_from(FORMULAS),
    st.lists(st.integers(-20, 20), min_size=3, max_size=3),
    st.lists(st.sampled_from([0.0, 0.0, 7.0]), min_size=3, max_size=3),
)
@settings(max_examples=300)
def test_an_expressed_formula_has_the_values_of_the_measured_one(text, decades, origins):
    x, y, target = (Scale(d, o * 10.0**d) for d, o in zip(decades, origins, strict=True))
    scales = Scales((x, y), target)
    data = make_data((10.0**x.decades, 10.0**y.decades, 10.0**target.decades), (x.origin, y.origin, target.origin))
    program, expressed = express(text, scales)
    expected = evaluate(program, scales.measure(data).columns) * 10.0**target.decades + target.origin
    found = evaluate(expressed.program, data.columns)
    assert np.all((np.abs(found / expected - 1) < 1e-9) | (np.isnan(expected) & np.isnan(found)))
    assert expressed.loss == pytest.approx(2.0 * 10.0**target.decades)


@pytest.mark.parametrize(
    ("text", "n_constants"),
    [
        ("x*y/x**2", 1),
        ("C*x*y", 1),
        ("C*x + C*y + C", 3),
        ("x/(x + y)", 2),
        ("sqrt(x**2 + y**2)", 2),
        ("C*sin(C*x)", 2),
    ],
)
def test_factors_are_merged(text, n_constants):
    _, expressed = express(text, Scales((Scale(5), Scale(-7)), Scale(3)))
    assert expressed.program.n_constants == n_constants


def test_a_column_that_is_scaled_like_its_sum_costs_nothing():
    _, expressed = express("x + y", Scales((Scale(9), Scale(9)), Scale(9)))
    assert to_text(expressed.program) == "x + y"


def test_a_formula_whose_numbers_are_too_large_is_given_up():
    _, expressed = express("x**20", Scales((Scale(-30), Scale()), Scale()))
    assert expressed is None


def test_a_formula_that_gets_too_long_is_given_up():
    n = tk.MAX_PROGRAM_LENGTH // 2 - 2
    program = parse_expression(" + ".join(["sin(x)"] * (n // 2)), WORDS)
    assert Scales((Scale(9), Scale()), Scale()).express(Candidate(program, 0.0, 0.0)) is None


def test_pure_numbers_of_ordinary_size_keep_it_beside_large_ones():
    data = Dataset.from_arrays([[0.1, 2e6], [0.3, 3e6], [0.2, 7e6]], [0.2, 0.5, 0.4], names=["e", "mass"])
    grammar = Grammar.from_operators(["+", "*"], data.names)
    assert choose_scales(data, grammar).columns == (Scale(-1), Scale(6))
    pure = choose_scales(data, grammar, are_pure=True)
    assert (pure.columns, pure.target) == ((Scale(0), Scale(6)), Scale(0))
