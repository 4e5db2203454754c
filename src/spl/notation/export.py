"""Exports formulas and systems by format: sympy, LaTeX, or source code of a programming language."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from spl.errors import SettingError, suggest_name
from spl.formulas.own_numbers import write_own_table
from spl.formulas.program import Program
from spl.formulas.rates import explicit_system
from spl.formulas.text import make_token, quote_name
from spl.kernels.programs import tokens as tk
from spl.notation.function_layouts import LAYOUTS, SystemShape
from spl.notation.languages import LANGUAGES
from spl.notation.latex import latex_name, to_latex
from spl.notation.source_code import Code, write_code
from spl.notation.to_sympy import sympy_text, to_sympy

if TYPE_CHECKING:
    from spl.formulas.system import System

ALL_DIGITS, LATEX_DIGITS = 17, 6  # of own numbers
FORMATS = ("sympy", "latex", *LANGUAGES)


def check_format(given: str) -> str:
    """Return the format if it exists; raise otherwise.

    Examples:
        >>> check_format("pyton")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `format` must be one of sympy, latex, python, c, julia, matlab, torch, jax; got 'pyton'. Did
            you mean 'python'?
    """
    if given not in FORMATS:
        raise SettingError(
            f"`format` must be one of {', '.join(FORMATS)}; got {given!r}.{suggest_name(str(given), FORMATS)}"
        )
    return given


def export_program(program: Program, format: str, *, target: str = "y", function: str = "predict") -> str:
    """Return a formula in a format: one line for sympy and LaTeX, otherwise a file with a function `predict` of all columns.

    Numbers have all their digits, except in LaTeX, where they have six.

    Args:
        program: the formula.
        format: one of `FORMATS`.
        target: the name of the target, for a comment in the code.
        function: the name of the function in the code.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("2.6 * sin('flow rate')", Vocabulary(("flow rate",)))
        >>> print(export_program(program, "sympy"))
        2.6*sin(Symbol('flow rate'))
        >>> print(export_program(program, "python"))
        # y = 2.6*sin('flow rate')
        # flow_rate is 'flow rate'
        import numpy as np
        <BLANKLINE>
        <BLANKLINE>
        def predict(flow_rate):
            flow_rate = np.asarray(flow_rate, dtype=float)
            return 2.6 * np.sin(flow_rate)
    """
    if check_format(format) == "sympy":
        return sympy_text(to_sympy(program))
    if format == "latex":
        return to_latex(program)
    return LAYOUTS[format].function(_write([program], [quote_name(target)], format), function)


def export_system(system: "System", format: str) -> str:
    """Return the equations of a system in a format.

    sympy: a list of right-hand sides. LaTeX: aligned equations. A language: a file with a function `derivatives` of the
    state, and of the inputs if there are any, that returns how the state changes; for order 2 the state is positions and
    velocities. Own numbers of runs are the last inputs; a table of them follows the equations, in a language as a comment. The
    function of a map is `next_state`. The state may hold many points, one row per state. Equations with rates on
    both sides are solved for the rates first.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.system import System
        >>> decay = System(("x",), (), (parse_expression("-2 * x", Vocabulary(("x",))),))
        >>> print(export_system(decay, "c"))
        // x' = -2*x
        <BLANKLINE>
        #include <math.h>
        <BLANKLINE>
        void derivatives(const double *state, double *out)
        {
            const double x = state[0];
            out[0] = -2.0 * x;
        }
    """
    check_format(format)
    system = explicit_system(system)
    if format == "sympy":
        text = f"[{', '.join(sympy_text(to_sympy(program)) for program in system.programs)}]"
        return "\n".join([text, *(f"# {line}" for line in write_own_table(system.own, ALL_DIGITS))])
    if format == "latex":
        return "\n\n".join([_align(system), *([_tabulate(system)] if system.own else [])])
    states = system.first_order_states
    positions = states[: len(states) - len(system.programs)]  # for order 2: their slopes are the velocities
    velocities = [_variable(system, len(positions) + k) for k in range(len(positions))]
    left_sides = [f"{quote_name(name)}{'[k+1]' if system.is_discrete else chr(39)}" for name in states]
    shape = SystemShape("next_state" if system.is_discrete else "derivatives", len(states), len(system.inputs))
    code = _write([*velocities, *system.programs], left_sides, format)
    code = replace(code, comments=(*code.comments, *write_own_table(system.own, ALL_DIGITS)))
    return LAYOUTS[format].system(code, shape)


def _tabulate(system: "System") -> str:
    """Return the own numbers of all runs as a LaTeX array."""
    heads = " & ".join([r"\text{run}", *(latex_name(number.name) for number in system.own)])
    rows = [
        " & ".join([rf"\text{{{label}}}", *(f"{number.value_of(label):.{LATEX_DIGITS}g}" for number in system.own)])
        for label in system.run_labels
    ]
    columns = "l" + "r" * len(system.own)
    return "\n".join([rf"\begin{{array}}{{{columns}}}", " \\\\\n".join([heads, *rows]), r"\end{array}"])


def _write(programs: Sequence[Program], left_sides: Sequence[str], format: str) -> Code:
    return write_code(programs, left_sides, LANGUAGES[format], LAYOUTS[format].define)


def _variable(system: "System", column: int) -> Program:
    return Program((make_token(tk.VARIABLE, column),), system.programs[0].vocabulary)


def _align(system: "System") -> str:
    left = "{}[k+1]" if system.is_discrete else r"\dot{{{}}}" if system.order == 1 else r"\ddot{{{}}}"
    lines = [
        f"{left.format(latex_name(name))} &= {to_latex(program)}"
        for name, program in zip(system.states, system.programs, strict=True)
    ]
    return "\n".join([r"\begin{aligned}", " \\\\\n".join(lines), r"\end{aligned}"])
