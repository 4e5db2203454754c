"""Exported code computes what `predict` and `simulate` compute, whatever the columns are called."""

import ast
import ctypes
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from numpy.typing import NDArray
from tests.own_operators import BLEND, SINC
from tests.program_twins import WORDS, draw_programs, positive_columns

from spl.dynamics.system_packing import evaluate_slopes
from spl.errors import ExpressionError, OperatorError, SettingError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression, to_text
from spl.notation.export import FORMATS, check_format, export_program, export_system
from spl.regression.fit import evaluate

COLUMNS = positive_columns()
PROGRAMS = draw_programs(160, seed=0, own=(SINC, BLEND))
HOSTILE = (
    "x",
    "x ",
    "lambda",
    "double",
    "end",
    "np",
    "predict",
    "",
    '\n*/ system("rm"); /*',
    "θ",
    "state",
    "2",
    "unix",
    "a\\",
)
C_COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_c = pytest.mark.skipif(C_COMPILER is None, reason="there is no C compiler")
python_formats = pytest.mark.parametrize(
    "format",
    [
        "python",
        *(pytest.param(name, marks=pytest.mark.skipif(not find_spec(name), reason=name)) for name in ("torch", "jax")),
    ],
)


def read(text: str, *names: str) -> Program:
    return parse_expression(text, Vocabulary(names or ("x", "y")))


def run_python(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), namespace)
    return namespace


def to_array(format: str, values: NDArray[np.float64]) -> Any:
    if format == "torch":
        import torch

        return torch.from_numpy(np.array(values))
    if format == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.numpy.asarray(values)
    return values


def compile_c(sources: list[str], folder: Path) -> ctypes.CDLL:
    """Return one library of all sources, whose functions are numbered; a warning of the compiler is an error."""
    assert C_COMPILER is not None
    library = folder / "exported.so"
    files = []
    for number, source in enumerate(sources):
        files.append(folder / f"law_{number}.c")
        files[-1].write_text(source.replace("double predict(", f"double predict_{number}("), encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Werror", "-O0", "-shared", "-fPIC"]
    subprocess.run([C_COMPILER, *flags, "-o", str(library), *map(str, files), "-lm"], check=True)
    return ctypes.CDLL(str(library))


# ---- values ----------------------------------------------------------------------------------------


@python_formats
def test_exported_python_has_the_values_of_the_kernels(format: str) -> None:
    columns = [to_array(format, column) for column in COLUMNS]
    for program in PROGRAMS:
        found = run_python(export_program(program, format))["predict"](*columns)
        np.testing.assert_allclose(np.asarray(found), evaluate(program, COLUMNS), rtol=1e-10, err_msg=to_text(program))


@pytest.mark.slow
@needs_c
def test_exported_c_has_the_values_of_the_kernels(tmp_path: Path) -> None:
    programs = PROGRAMS[:64]  # each operator twice
    library = compile_c([export_program(program, "c") for program in programs], tmp_path)
    for number, program in enumerate(programs):
        function = library[f"predict_{number}"]
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * len(COLUMNS)
        found = [function(*row) for row in COLUMNS.T]
        np.testing.assert_allclose(found, evaluate(program, COLUMNS), rtol=1e-10, err_msg=to_text(program))


def test_exported_sympy_reads_back_as_the_same_formula() -> None:
    symbols = [sympy.Symbol(name) for name in WORDS.variables]
    plain = draw_programs(60, seed=1)
    for program in plain:
        expression = sympy.sympify(export_program(program, "sympy"))
        found = sympy.lambdify(symbols, expression, modules="numpy")(*COLUMNS)
        np.testing.assert_allclose(
            found * np.ones(COLUMNS.shape[1]), evaluate(program, COLUMNS), rtol=1e-9, err_msg=to_text(program)
        )


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("sympy", "latex")])
def test_every_operator_can_be_written_in_every_language(format: str) -> None:
    for program in PROGRAMS:
        assert "predict" in export_program(program, format)


@pytest.mark.parametrize("format", ["python", "torch", "jax"])
def test_python_is_python_even_where_its_library_is_missing(format: str) -> None:
    for program in PROGRAMS:
        tree = ast.parse(export_program(program, format))
        assert "predict" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("format", ["python", "c", "julia", "matlab", "torch", "jax"])
def test_numbers_have_all_their_digits(format: str) -> None:
    program = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([0.1 + 0.2]))
    assert "0.30000000000000004" in export_program(program, format)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sqrt(x)", [np.nan, 1.0]),
        ("log(x)", [np.nan, 0.0]),
        ("x**y", [np.nan, 1.0]),
        ("min(x, sqrt(x))", [np.nan, 1.0]),
    ],
)
def test_outside_its_domain_a_formula_is_nan(text: str, values: list[float]) -> None:
    with np.errstate(invalid="ignore"):
        found = run_python(export_program(read(text), "python"))["predict"]([-4.0, 1.0], [0.5, 0.5])
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("format", ["python", "matlab"])
def test_a_constant_law_has_a_value_for_every_row(format: str) -> None:
    source = export_program(read("log(2) + 1"), format)
    if format == "python":
        np.testing.assert_array_equal(run_python(source)["predict"]([1, 2, 3], [1, 2, 3]), [np.log(2) + 1] * 3)
    else:
        assert "1.6931471805599454 + zeros(size(x))" in source


def test_whole_numbers_and_single_numbers_may_be_given_too() -> None:
    predict = run_python(export_program(read("x**-2 + sqrt(y)"), "python"))["predict"]
    np.testing.assert_array_equal(predict(np.array([1, 2]), [4, 9]), [3.0, 3.25])
    assert predict(2, 9) == 3.25


# ---- names -----------------------------------------------------------------------------------------


def test_python_works_whatever_the_columns_are_called() -> None:
    names = HOSTILE
    program = parse_expression(" + ".join(f"{k + 1} * {name!r}" for k, name in enumerate(names)), Vocabulary(names))
    columns = np.random.default_rng(0).uniform(1, 2, (len(names), 5))
    found = run_python(export_program(program, "python", target="\n1/0"))["predict"](*columns)
    np.testing.assert_allclose(found, evaluate(program, columns), rtol=1e-12)


@needs_c
def test_c_works_whatever_the_columns_are_called(tmp_path: Path) -> None:
    names = (*HOSTILE, "sin", "y1", "M_PI", "main")
    text = " + ".join(f"{k + 1} * sin({name!r})" for k, name in enumerate(names))
    program = parse_expression(text, Vocabulary(names))
    predict = compile_c([export_program(program, "c", target="\n#error")], tmp_path)["predict_0"]
    predict.restype, predict.argtypes = ctypes.c_double, [ctypes.c_double] * len(names)
    row = np.random.default_rng(0).uniform(1, 2, len(names))
    assert predict(*row) == pytest.approx(evaluate(program, row[:, np.newaxis])[0], rel=1e-12)


@pytest.mark.parametrize("format", ["julia", "matlab"])
def test_no_column_takes_the_name_of_a_word_of_the_language(format: str) -> None:
    names = ("end", "function", "NaN", "result", "sin")
    program = parse_expression(" + ".join(f"sin({name!r})" for name in names), Vocabulary(names))
    assert "end_2, function_2, NaN_2" in export_program(program, format)


def test_a_hostile_name_stays_on_its_line_of_comment() -> None:
    program = parse_expression(f"{HOSTILE[8]!r} + 1", Vocabulary(HOSTILE))
    for format in ("python", "c", "julia", "matlab", "torch", "jax"):
        lines = [line for line in export_program(program, format).splitlines() if "rm" in line]
        assert len(lines) >= 2, format
        assert all(line.startswith(("#", "//", "%")) or "system_rm" in line for line in lines)


@pytest.mark.parametrize("name", ["flow rate", "beta", "lambda", "I", "x'y", "θ"])
def test_sympy_keeps_the_names_of_columns(name: str) -> None:
    expression = sympy.sympify(export_program(parse_expression(f"2 * {name!r}", Vocabulary((name,))), "sympy"))
    assert expression == 2 * sympy.Symbol(name)


# ---- operators of the user -------------------------------------------------------------------------


def test_an_operator_of_the_user_is_a_function_of_its_name() -> None:
    words = Vocabulary(("x", "sinc"), own=(SINC,))
    source = export_program(parse_expression("sinc('sinc') + x", words), "julia")
    assert "sinc(a) = sin(a) / a" in source
    assert "return sinc(sinc_2) + x" in source


def test_an_operator_whose_name_is_a_word_of_the_language_gets_another() -> None:
    words = Vocabulary(("x",), own=(Operator("double", lambda x: 2 * x),))
    assert "static double double_2(double a)" in export_program(parse_expression("double(x)", words), "c")


def test_an_operator_that_cannot_be_followed_is_written_by_its_form_in_sympy() -> None:
    relu = Operator("relu", lambda x: x if x > 0 else 0.0, sympy=lambda x: sympy.Max(x, 0))
    predict = run_python(export_program(parse_expression("relu(x)", Vocabulary(("x",), own=(relu,))), "python"))[
        "predict"
    ]
    np.testing.assert_array_equal(predict([-1.0, 2.0]), [0.0, 2.0])


def test_an_operator_that_cannot_be_written_is_named() -> None:
    step = Operator("relu", lambda x: x if x > 0 else 0.0)
    program = parse_expression("relu(x)", Vocabulary(("x",), own=(step,)))
    with pytest.raises(OperatorError, match=r"'relu' cannot be written in another language.*sympy="):
        export_program(program, "c")


def test_an_opaque_operator_named_like_a_function_of_sympy_stays_the_users() -> None:
    own = Operator("gamma", lambda x: x + 1)
    text = export_program(parse_expression("gamma(x)", Vocabulary(("x",), own=(own,))), "sympy")
    assert sympy.sympify(text) == sympy.Function("gamma")(sympy.Symbol("x"))


# ---- systems ---------------------------------------------------------------------------------------

SYSTEMS = {
    "lorenz": System(
        ("x", "y", "rate z"),
        (),
        tuple(
            parse_expression(text, Vocabulary(("x", "y", "rate z")))
            for text in ("10.1*(y - x)", "x*(28 - 'rate z') - y", "x*y - 2.666666*'rate z'")
        ),
    ),
    "driven": System(("x",), ("u",), (read("sin(u) - 0.31*x", "x", "u"),)),
    "pendulum": System(
        ("q", "p"),
        ("u",),
        tuple(read(text, "q", "p", "dq", "dp", "u") for text in ("-9.81*sin(q) - 0.1*dq", "u - dp*q + 2.5")),
        order=2,
    ),
    "constant": System(("x", "y"), (), (read("2.5"), read("x"))),
    "map": System(("x",), (), (read("3.7*x*(1 - x)", "x"),), is_discrete=True),
}


def slopes_of(system: System, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how the whole state changes, velocities first where there are any."""
    n_positions = len(system.first_order_states) - len(system.states)
    return np.vstack([points[n_positions : 2 * n_positions], evaluate_slopes(system, points)])


def split_points(system: System, points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    n_states = len(system.first_order_states)
    return [points[:n_states], *([points[n_states:]] if system.inputs else [])]


@python_formats
@pytest.mark.parametrize("name", SYSTEMS)
def test_an_exported_system_has_the_slopes_of_the_system(name: str, format: str) -> None:
    system = SYSTEMS[name]
    points = np.random.default_rng(0).uniform(0.1, 0.9, (len(system.columns), 7))
    function = run_python(export_system(system, format))["next_state" if system.is_discrete else "derivatives"]
    parts = [to_array(format, part) for part in split_points(system, points)]
    np.testing.assert_allclose(np.asarray(function(*parts)), slopes_of(system, points), rtol=1e-12)
    one = function(*(part[:, 0] for part in parts))
    np.testing.assert_allclose(np.asarray(one), slopes_of(system, points)[:, 0], rtol=1e-12)


@needs_c
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_in_c_has_the_slopes_of_the_system(name: str, tmp_path: Path) -> None:
    system = SYSTEMS[name]
    points = np.random.default_rng(0).uniform(0.1, 0.9, (len(system.columns), 1))
    library = compile_c([export_system(system, "c")], tmp_path)
    function = library["next_state" if system.is_discrete else "derivatives"]
    out = np.empty(len(system.first_order_states))
    arrays = [np.ascontiguousarray(part[:, 0]) for part in split_points(system, points)] + [out]
    function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    np.testing.assert_allclose(out, slopes_of(system, points)[:, 0], rtol=1e-12)


def test_a_system_in_latex_is_aligned_equations() -> None:
    assert export_system(SYSTEMS["driven"], "latex").splitlines() == [
        r"\begin{aligned}",
        r"\dot{x} &= \sin\left(u\right) - 0.31 x",
        r"\end{aligned}",
    ]
    assert r"\ddot{q} &=" in export_system(SYSTEMS["pendulum"], "latex")
    assert r"x[k+1] &=" in export_system(SYSTEMS["map"], "latex")


def test_a_system_in_sympy_is_the_list_of_right_hand_sides() -> None:
    x, y = sympy.symbols("x y")
    right_sides = sympy.sympify(export_system(SYSTEMS["lorenz"], "sympy"))
    assert len(right_sides) == 3
    assert sympy.expand(right_sides[0] - 10.1 * (y - x)) == 0


# ---- mistakes --------------------------------------------------------------------------------------


def test_an_unknown_format_is_answered_by_the_nearest() -> None:
    with pytest.raises(
        SettingError, match=r"must be one of sympy, latex, python, .* got 'pyton'. Did you mean 'python'"
    ):
        check_format("pyton")


def test_constants_without_a_value_are_refused() -> None:
    with pytest.raises(ExpressionError, match="Fit them first"):
        export_program(read("C * x"), "python")
