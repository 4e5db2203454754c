"""Functions around formulas: each language has its own frame, and constants get the shape of a column."""

import pytest

from spl.notation.function_layouts import LAYOUTS, SystemShape
from spl.notation.languages import LANGUAGES
from spl.notation.source_code import Code, Formula

CODE = Code(("x", "u"), frozenset({"x"}), (Formula("2.0 * x", True),), (), ("y = 2*x",))
CONSTANT = Code(("x",), frozenset(), (Formula("3.0", False),), (), ())
SYSTEM = Code(("x", "v", "u"), frozenset({"v", "u"}), (Formula("v", True), Formula("u - v", True)), (), ("x' = v",))
SHAPE = SystemShape("derivatives", n_states=2, n_inputs=1)


def test_every_language_has_a_layout():
    assert set(LAYOUTS) == set(LANGUAGES)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "python",
            "# y = 2*x\nimport numpy as np\n\n\n"
            "def predict(x, u):\n    x = np.asarray(x, dtype=float)\n    return 2.0 * x",
        ),
        ("torch", "# y = 2*x\nimport torch\n\n\ndef predict(x, u):\n    return 2.0 * x"),
        ("jax", "# y = 2*x\nimport jax.numpy as jnp\n\n\ndef predict(x, u):\n    return 2.0 * x"),
        ("c", "// y = 2*x\n\n#include <math.h>\n\ndouble predict(double x, double u)\n{\n    return 2.0 * x;\n}"),
        ("julia", "# y = 2*x\n\nfunction predict(x, u)\n    return 2.0 * x\nend"),
        ("matlab", "% y = 2*x\n\nfunction result = predict(x, u)\n    result = 2.0 * x;\nend"),
    ],
)
def test_a_function_takes_all_columns(language, text):
    assert LAYOUTS[language].function(CODE, "predict") == text


@pytest.mark.parametrize(
    ("language", "value"),
    [("python", "np.full_like(x, 3.0)"), ("torch", "torch.full_like(x, 3.0)"), ("matlab", "3.0 + zeros(size(x))")],
)
def test_a_constant_has_the_shape_of_the_first_column(language, value):
    assert value in LAYOUTS[language].function(CONSTANT, "predict")


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("python", ["def derivatives(state, inputs):", "    u, = np.asarray(inputs, dtype=float)", "        u - v,"]),
        ("c", ["    const double v = state[1];", "    const double u = inputs[0];", "    out[1] = u - v;"]),
        ("julia", ["function derivatives(state, inputs)", "    x, v, = state", "    u, = inputs"]),
        (
            "matlab",
            ["function result = derivatives(state, inputs)", "    u = inputs(1, :);", "    result(2, :) = u - v;"],
        ),
    ],
)
def test_a_system_reads_its_state_and_inputs_and_returns_all_slopes(language, lines):
    written = LAYOUTS[language].system(SYSTEM, SHAPE).splitlines()
    assert [line for line in lines if line not in written] == []


def test_columns_that_no_formula_needs_are_not_read_in_c():
    assert "state[0]" not in LAYOUTS["c"].system(SYSTEM, SHAPE)


@pytest.mark.parametrize("language", LAYOUTS)
def test_a_system_without_inputs_takes_the_state_alone(language):
    code = Code(("x",), frozenset({"x"}), (Formula("-x", True),), (), ())
    assert "inputs" not in LAYOUTS[language].system(code, SystemShape("derivatives", 1, 0))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def blend(a, b):\n    return a + b"),
        ("c", "static double blend(double a, double b)\n{\n    return a + b;\n}"),
        ("julia", "blend(a, b) = a + b"),
        ("matlab", "function result = blend(a, b)\n    result = a + b;\nend"),
    ],
)
def test_an_operator_is_a_function_of_numbers(language, text):
    assert LAYOUTS[language].define("blend", ("a", "b"), "a + b") == text
