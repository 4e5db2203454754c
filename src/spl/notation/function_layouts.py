"""Functions in other languages around formulas of `source_code`: of the columns, or of a system's state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from spl.notation.source_code import Code, Define, Formula

INDENT = " " * 4


@dataclass(frozen=True, slots=True)
class SystemShape:
    """The name of a function of a system's state, and how many states and inputs it takes."""

    name: str
    n_states: int
    n_inputs: int


@dataclass(frozen=True, slots=True)
class Layout:
    """How a language writes functions."""

    define: Define  # writes a function of numbers
    function: Callable[[Code, str], str]  # writes a function of the columns with a name
    system: Callable[[Code, SystemShape], str]  # writes a function of the state, and of the inputs if there are any


def _join(*parts: str) -> str:
    """Return the parts of a file, separated by blank lines."""
    return "\n\n".join(part for part in parts if part)


def _comment(sign: str, code: Code) -> str:
    return "\n".join(f"{sign} {line}" for line in code.comments)


def _block(first: str, lines: Sequence[str], last: str = "") -> str:
    return "\n".join([first, *(INDENT + line for line in lines), *([last] if last else [])])


# ---- Python: numpy, torch, jax -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The spellings of one array library of Python."""

    imports: str
    name: str  # of the module
    convert: str  # makes an array of {0}; empty if callers must pass arrays
    fill: str  # makes an array like {0}, filled with the number {1}
    broadcast: str


_NUMPY_ARRAYS = _Arrays(
    "import numpy as np", "np", "np.asarray({0}, dtype=float)", "np.full_like({0}, {1})", "np.broadcast_arrays"
)
_JAX_ARRAYS = _Arrays("import jax.numpy as jnp", "jnp", "", "jnp.full_like({0}, {1})", "jnp.broadcast_arrays")
_TORCH_ARRAYS = _Arrays("import torch", "torch", "", "torch.full_like({0}, {1})", "torch.broadcast_tensors")


def _python_define(name: str, arguments: Sequence[str], value: str) -> str:
    return f"def {name}({', '.join(arguments)}):\n{INDENT}return {value}"


def _python_value(arrays: _Arrays, formula: Formula, like: str) -> str:
    return formula.text if formula.has_columns else arrays.fill.format(like, formula.text)


def _python_file(arrays: _Arrays, code: Code, function: str) -> str:
    head = f"{_comment('#', code)}\n{arrays.imports}"
    return "\n\n\n".join([head, *code.helpers, function])


def _python_function(arrays: _Arrays, code: Code, name: str) -> str:
    [formula] = code.formulas
    needed = [column for column in code.columns if column in code.used] or list(code.columns[:1])
    lines = [f"{column} = {arrays.convert.format(column)}" for column in needed if arrays.convert]
    lines.append(f"return {_python_value(arrays, formula, needed[0])}")
    return _python_file(arrays, code, _block(f"def {name}({', '.join(code.columns)}):", lines))


def _python_system(arrays: _Arrays, code: Code, shape: SystemShape) -> str:
    parts = [("state", code.columns[: shape.n_states]), ("inputs", code.columns[shape.n_states :])]
    parts = [(name, columns) for name, columns in parts if columns]
    convert = arrays.convert or "{0}"
    lines = [f"{', '.join(columns)}{',' * (len(columns) == 1)} = {convert.format(name)}" for name, columns in parts]
    values = [f"{INDENT}{_python_value(arrays, formula, code.columns[0])}," for formula in code.formulas]
    lines += [f"slopes = {arrays.broadcast}(", *values, ")", f"return {arrays.name}.stack(slopes)"]
    return _python_file(arrays, code, _block(f"def {shape.name}({', '.join(name for name, _ in parts)}):", lines))


# ---- C -------------------------------------------------------------------------------------------


def _c_define(name: str, arguments: Sequence[str], value: str) -> str:
    parameters = ", ".join(f"double {argument}" for argument in arguments)
    return f"static double {name}({parameters})\n{{\n{INDENT}return {value};\n}}"


def _c_function(code: Code, name: str) -> str:
    function = _c_define(name, code.columns, code.formulas[0].text).removeprefix("static ")
    return _join(_comment("//", code), "#include <math.h>", *code.helpers, function)


def _c_system(code: Code, shape: SystemShape) -> str:
    places = [f"state[{k}]" for k in range(shape.n_states)] + [f"inputs[{k}]" for k in range(shape.n_inputs)]
    lines = [
        f"const double {column} = {place};"
        for column, place in zip(code.columns, places, strict=True)
        if column in code.used
    ]
    lines += [f"out[{k}] = {formula.text};" for k, formula in enumerate(code.formulas)]
    inputs = "const double *inputs, " if shape.n_inputs else ""
    function = _block(f"void {shape.name}(const double *state, {inputs}double *out)\n{{", lines, "}")
    return _join(_comment("//", code), "#include <math.h>", *code.helpers, function)


# ---- Julia ---------------------------------------------------------------------------------------


def _julia_define(name: str, arguments: Sequence[str], value: str) -> str:
    return f"{name}({', '.join(arguments)}) = {value}"


def _julia_function(code: Code, name: str) -> str:
    function = _block(f"function {name}({', '.join(code.columns)})", [f"return {code.formulas[0].text}"], "end")
    return _join(_comment("#", code), *code.helpers, function)


def _julia_system(code: Code, shape: SystemShape) -> str:
    lines = [f"{', '.join(code.columns[: shape.n_states])}, = state"]
    if shape.n_inputs:
        lines.append(f"{', '.join(code.columns[shape.n_states :])}, = inputs")
    lines += ["return [", *(f"{INDENT}{formula.text}," for formula in code.formulas), "]"]
    function = _block(f"function {shape.name}(state{', inputs' * (shape.n_inputs > 0)})", lines, "end")
    return _join(_comment("#", code), *code.helpers, function)


# ---- MATLAB --------------------------------------------------------------------------------------


def _matlab_define(name: str, arguments: Sequence[str], value: str) -> str:
    return f"function result = {name}({', '.join(arguments)})\n{INDENT}result = {value};\nend"


def _matlab_value(formula: Formula, like: str) -> str:
    return formula.text if formula.has_columns else f"{formula.text} + zeros(size({like}))"


def _matlab_function(code: Code, name: str) -> str:
    function = _matlab_define(name, code.columns, _matlab_value(code.formulas[0], code.columns[0]))
    return _join(_comment("%", code), function, *code.helpers)


def _matlab_system(code: Code, shape: SystemShape) -> str:
    places = [f"state({k + 1}, :)" for k in range(shape.n_states)]
    places += [f"inputs({k + 1}, :)" for k in range(shape.n_inputs)]
    needed = code.used | {code.columns[0]}
    lines = [f"{column} = {place};" for column, place in zip(code.columns, places, strict=True) if column in needed]
    lines += [
        f"result({k + 1}, :) = {_matlab_value(formula, code.columns[0])};" for k, formula in enumerate(code.formulas)
    ]
    inputs = ", inputs" if shape.n_inputs else ""
    function = _block(f"function result = {shape.name}(state{inputs})", lines, "end")
    return _join(_comment("%", code), function, *code.helpers)


LAYOUTS = {
    "python": Layout(_python_define, partial(_python_function, _NUMPY_ARRAYS), partial(_python_system, _NUMPY_ARRAYS)),
    "c": Layout(_c_define, _c_function, _c_system),
    "julia": Layout(_julia_define, _julia_function, _julia_system),
    "matlab": Layout(_matlab_define, _matlab_function, _matlab_system),
    "torch": Layout(_python_define, partial(_python_function, _TORCH_ARRAYS), partial(_python_system, _TORCH_ARRAYS)),
    "jax": Layout(_python_define, partial(_python_function, _JAX_ARRAYS), partial(_python_system, _JAX_ARRAYS)),
}
