"""How a found system is shown: left-hand sides, quality, numbers with their errors; as lines, LaTeX, HTML and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.display.notebook import front_html, model_html
from spl.display.numbers import (
    NUMBERS_HEADING,
    describe_numbers,
    finite_or_none,
    number_lines,
    text_with_unit,
    with_error,
)
from spl.display.results import SHOWN_DIGITS, front_rows
from spl.dynamics.discover import SystemDiscovery
from spl.dynamics.quality import followed_until, measure_r2
from spl.dynamics.rows import FLOW_METHOD, Plan, SystemRows
from spl.dynamics.spline import MIN_SPLINE_SAMPLES
from spl.formulas.printed_numbers import number_positions, printed_numbers
from spl.formulas.program import Program
from spl.formulas.rates import explicit_system, rate_matrix
from spl.formulas.system import System, rate_names
from spl.formulas.text import quote_name, to_text
from spl.notation.latex import latex_name, to_latex
from spl.notation.mathml import mathml_derivative, mathml_name, to_mathml
from spl.notation.to_sympy import to_sympy
from spl.units.number_units import units_of_numbers
from spl.units.system_units import SystemUnits
from spl.units.table_units import ANY, TableUnits

Numbers = NDArray[np.float64]

SOLVED_HEADING = "Solved for the rates:"
METHOD_NAMES = {
    "finite_difference": "finite differences",
    "savgol": "central differences and a Savitzky-Golay filter",
    "spline": "smoothing splines",
    "flow": "a model that leads from each sample to the next",
    "weak": "no derivatives: means against test functions (weak form)",
    "measured": "derivatives as measured",
    "map": "no derivatives: each sample leads to the next",
}


def left_side(state: str, order: int = 1, is_discrete: bool = False) -> str:
    """Return the left-hand side of the equation of a state.

    Examples:
        >>> left_side("x"), left_side("flow rate", order=2), left_side("x", is_discrete=True)
        ('dx/dt', 'd2(flow rate)/dt2', 'x[k+1]')
    """
    name = state if state.isidentifier() else f"({state})"
    if is_discrete:
        return f"{name}[k+1]"
    return f"d{name}/dt" if order == 1 else f"d{order}{name}/dt{order}"


def left_sides(system: System) -> list[str]:
    """Return the left-hand sides of the equations as they were found: with primes if rates appear on the right.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("-x", Vocabulary(("x", "x'")))
        >>> left_sides(System(("x",), (), (program,), is_implicit=True))
        ["x'"]
    """
    if system.is_implicit:
        return [quote_name(name) for name in rate_names(system.states, system.order)]
    return [left_side(state, system.order, system.is_discrete) for state in system.states]


def solved_equations(system: System) -> list[tuple[str, Program]]:
    """Return the state and the program of each equation that had rates on the right, solved for its rate; empty if there are none.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> programs = [parse_expression(text, Vocabulary(("x", "y", "x'", "y'"))) for text in ("y' - x", "2*x'", )]
        >>> solved_equations(System(("x", "y"), (), tuple(programs), is_implicit=True))
        [('x', Program('x')), ('y', Program('2*x'))]
    """
    if not system.is_implicit:
        return []
    has_rates = [any(part is not None for part in row) for row in rate_matrix(system)]
    solved = zip(system.states, explicit_system(system).programs, has_rates, strict=True)
    return [(state, program) for state, program, is_changed in solved if is_changed]


def latex_derivative(state: str, order: int = 1, is_discrete: bool = False) -> str:
    r"""Return the left-hand side of the equation of a state in LaTeX.

    Examples:
        >>> latex_derivative("x"), latex_derivative("theta", order=2), latex_derivative("x", is_discrete=True)
        ('\\frac{d x}{d t}', '\\frac{d^{2} \\theta}{d t^{2}}', '{x}_{k+1}')
    """
    name = latex_name(state)
    if is_discrete:
        return f"{{{name}}}_{{k+1}}"
    power = "" if order == 1 else f"^{{{order}}}"
    return rf"\frac{{d{power} {name}}}{{d t{power}}}"


def aligned_latex(system: System) -> str:
    """Return the equations as LaTeX, aligned at their equality signs."""
    sides = [latex_derivative(state, system.order, system.is_discrete) for state in system.states]
    if system.is_implicit:
        sides = [latex_name(name) for name in rate_names(system.states, system.order)]
    lines = [rf"{left} &= {to_latex(program)}" for left, program in zip(sides, system.programs, strict=True)]
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


def system_html(found: SystemDiscovery) -> str:
    """Return the equations as HTML, and the front of each state as a table that opens on a click."""
    system = found.system
    equations = [
        *(to_mathml(program, left=left) for program, left in zip(system.programs, mathml_sides(system), strict=True)),
        *(
            to_mathml(program, left=mathml_derivative(state, system.order))
            for state, program in solved_equations(system)
        ),
    ]
    tables = [
        front_html(front_rows(search.front, chosen, search.floor), title=f"front of {state}", is_open=False)
        for state, search, chosen in zip(system.states, found.searches, found.chosen, strict=True)
    ]
    return model_html("SPLDynamics, fitted", equations, tables)


def mathml_sides(system: System) -> list[str]:
    """Return the left-hand sides of the equations as they were found, in MathML."""
    if system.is_implicit:
        return [mathml_name(name) for name in rate_names(system.states, system.order)]
    return [mathml_derivative(state, system.order, system.is_discrete) for state in system.states]


# ---- lines ---------------------------------------------------------------------------------------


def noise_shares(data: Trajectories, noise: Numbers) -> Numbers:
    """Return the noise of each state as a share of its root mean square [D]."""
    states = np.concatenate([run.x for run in data.runs])
    size = np.sqrt(np.mean(states**2, axis=0))
    return np.asarray(noise / np.where(size > 0, size, 1.0))


def method_line(data: Trajectories, rows: SystemRows, plan: Plan) -> str:
    """Return how derivatives were estimated, why in this way, and how much noise there is."""
    shares = zip(data.states, noise_shares(data, rows.noise), strict=True)
    noise = ", ".join(f"{100 * share:.2g} % of {name}" for name, share in shares)
    method = METHOD_NAMES.get(rows.method, rows.method)
    how = method[0].upper() + method[1:] if rows.method in ("weak", "measured", "map") else f"Derivatives by {method}"
    why = f", because {_reason(data, rows)}" if plan.method == "auto" and how.startswith("Derivatives by") else ""
    return f"{how}{why}. Estimated noise: {noise}."


def _reason(data: Trajectories, rows: SystemRows) -> str:
    if rows.method == FLOW_METHOD:
        return "the samples are far apart"
    if rows.method != "finite_difference":
        return "there is noise"
    is_short = max(run.n_samples for run in data.runs) < MIN_SPLINE_SAMPLES
    return "there are few samples" if is_short else "there is hardly any noise"


def equation_lines(system: System, digits: int | None = SHOWN_DIGITS) -> list[str]:
    """Return the equations as they were found, one per line."""
    sides = left_sides(system)
    width = max(map(len, sides))
    return [f"{side:<{width}} = {text}" for side, text in zip(sides, system.equations(digits), strict=True)]


def solved_lines(system: System, digits: int | None = SHOWN_DIGITS) -> list[str]:
    """Return the equations that had rates on the right, solved for the rates, under a heading; nothing if there are none."""
    solved = solved_equations(system)
    heading = ["", SOLVED_HEADING] if solved else []
    return [*heading, *(f"{left_side(state, system.order)} = {to_text(program, digits)}" for state, program in solved)]


def unit_lines(units: SystemUnits | None) -> list[str]:
    """Return the units of states, inputs and time, and the named constants; nothing without units.

    Examples:
        >>> from spl.units.system_units import read_system_units
        >>> unit_lines(read_system_units({"x": "m", "n": ""}, "s", {"g": "9.81 m/s**2"}, states=["x", "n"]))
        ['Units: x in m, n in 1; time in s; g = 9.81 m/s**2.']
    """
    if units is None:
        return []
    columns = ", ".join(f"{quote_name(name)} in {unit}" for name, unit in units.measured.items())
    known = ", ".join(f"{name} = {quantity}" for name, quantity in units.known.items())
    time = "" if units.is_discrete else f"time in {units.time}"
    return [f"Units: {'; '.join(filter(None, [columns, time, known]))}."]


def quality_lines(found: SystemDiscovery) -> list[str]:
    """Return R2 and the numbers of each equation with their standard errors, under a heading."""
    qualities = [f"R2 {share:.5f}" for share in measure_r2(found.system, found.rows)]
    return system_number_lines(found.system, found.standard_errors, qualities, found.units)


def system_number_lines(
    system: System, errors: Sequence[Numbers], qualities: Sequence[str], units: SystemUnits | None = None
) -> list[str]:
    """Return one line per equation with its quality, each followed by one line per number with its standard error and its term."""
    sides = left_sides(system)
    numbers = system_numbers(system, errors, units=units)
    texts = [number.text for of_state in numbers for number in of_state]
    left, right = max(map(len, sides)), max(map(len, texts), default=0)
    lines = [NUMBERS_HEADING] if texts else []
    for side, quality, of_state in zip(sides, qualities, numbers, strict=True):
        lines.append(f"{side:<{left}}  {quality}".rstrip())
        lines.extend(number_lines(of_state, right))
    return lines


def own_number_lines(system: System, own_errors: Sequence[Sequence[float]]) -> list[str]:
    """Return a table of the own numbers with their standard errors, one line per run; nothing if there are none."""
    own = system.own
    if not own:
        return []
    cells = [["run", *(number.name for number in own)]]
    for place, label in enumerate(system.run_labels):
        pairs = zip(own, own_errors, strict=True)
        cells.append([label, *(with_error(number.values[place], errors[place]) for number, errors in pairs)])
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return ["Numbers of the runs, with their standard errors:", *lines]


def own_numbers_text(system: System, own_errors: Sequence[Sequence[float]]) -> str:
    """Return the own numbers of all runs with their standard errors as one text; "" if there are none."""
    texts = []
    for number, errors in zip(system.own, own_errors, strict=True):
        of_runs = zip(number.labels, number.values, errors, strict=True)
        values = ", ".join(f"{label} {with_error(value, error)}" for label, value, error in of_runs)
        texts.append(f"{number.name} by {number.grouping}: {values}.")
    return " ".join(texts)


def summary_lines(found: SystemDiscovery, data: Trajectories) -> list[str]:
    """Return how long a simulation follows the data, and how long the run took."""
    end = "; interrupted, this is the best so far" if found.is_interrupted else ""
    return [followed_line(found.system, data, found.rows), f"{found.seconds:.1f} s{end}."]


def followed_line(system: System, data: Trajectories, rows: SystemRows) -> str:
    """Return how long a simulation follows the data."""
    run = data.runs[0]
    until, whole = followed_until(system, data, rows) - run.t[0], run.t[-1] - run.t[0]
    far = "to the end" if until >= whole else f"for a time of {until:.3g} out of {whole:.3g}"
    which = "the data" if len(data.runs) == 1 else "the first run"
    return f"A simulation from the first sample follows {which} {far}."


@dataclass(frozen=True, slots=True)
class SystemNumber:
    """A number of an equation as it is printed, and how well it is known."""

    state: str
    value: float  # with its sign in print
    standard_error: float  # before rounding; NaN if there is none, inf if the data does not determine the number
    kind: str  # "fitted", "rounded" to a simple number that the data does not distinguish from it, or "exact"
    term: str  # that it is part of, with the number in square brackets
    unit: str = ""  # "1" for a pure number; "" without units, and if it is not known

    @property
    def text(self) -> str:
        """The number with its error and its unit, for people."""
        return text_with_unit(self)


def system_numbers(
    system: System, errors: Sequence[Numbers], digits: int = SHOWN_DIGITS, *, units: SystemUnits | None = None
) -> list[list[SystemNumber]]:
    """Return for each state the numbers of its equation, in the order they are printed in.

    Args:
        system: its equations.
        errors: the standard errors of the numbers of each equation, as in `ChosenSystem`.
        digits: of the numbers in the terms.
        units: of the system, if the numbers are to have theirs.
    """
    tables = [None] * len(system.states) if units is None else units.tables
    return [
        [
            SystemNumber(state, number.value, float(error), number.kind(float(error)), number.term, unit)
            for number, error, unit in zip(
                printed_numbers(program, digits), of_state, _units_of_numbers(program, table), strict=True
            )
        ]
        for state, program, of_state, table in zip(system.states, system.programs, errors, tables, strict=True)
    ]


def _units_of_numbers(program: Program, units: TableUnits | None) -> list[str]:
    """Return the unit of each number; "" without units."""
    return [""] * len(number_positions(program)) if units is None else units_of_numbers(program, units)


# ---- JSON ----------------------------------------------------------------------------------------


def describe_system(found: SystemDiscovery, data: Trajectories, notes: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the result as `--json` prints it; infinite numbers and NaN are null."""
    system = found.system
    return {
        "states": list(data.states),
        "inputs": list(system.driving_inputs if found.units is None else found.units.inputs),
        "order": system.order,
        "discrete": system.is_discrete,
        "implicit": system.is_implicit,
        "equations": _describe_equations(found),
        **describe_own_numbers(system, found.own_errors),
        **describe_system_units(found.units),
        "noise": dict(zip(data.states, found.rows.noise.tolist(), strict=True)),
        "derivative": found.rows.method,
        "followed_until": followed_until(system, data, found.rows),
        "samples": data.n_samples,
        "runs": len(data.runs),
        "notes": list(notes),
        "seconds": found.seconds,
        "seed": seed,
        "interrupted": found.is_interrupted,
    }


def describe_system_numbers(numbers: Sequence[SystemNumber], units: SystemUnits | None) -> list[dict[str, Any]]:
    """Return the numbers of an equation as `--json` prints them, with their units if the system has any."""
    described = describe_numbers(numbers)
    if units is None:
        return described
    return [each | {"unit": number.unit} for each, number in zip(described, numbers, strict=True)]


def describe_system_units(units: SystemUnits | None) -> dict[str, Any]:
    """Return the units of a system as `--json` prints them; nothing if there are none."""
    if units is None:
        return {}
    known = units.known.items()
    return {
        "units": {
            "columns": {name: unit.text for name, unit in units.measured.items()},
            "time": units.time.text,
            "known": {name: {"value": quantity.value, "unit": quantity.unit.text} for name, quantity in known},
            "numbers": ANY if units.are_numbers_free else "pure",
        }
    }


def describe_own_numbers(system: System, own_errors: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the own numbers of runs as `--json` prints them; nothing if there are none."""
    if not system.own:
        return {}
    return {
        "own_numbers": [
            {
                "name": number.name,
                "runs": [
                    {"run": label, "value": value, "standard_error": finite_or_none(error)}
                    for label, value, error in zip(number.labels, number.values, errors, strict=True)
                ],
            }
            for number, errors in zip(system.own, own_errors, strict=True)
        ]
    }


def _describe_equations(found: SystemDiscovery) -> list[dict[str, Any]]:
    system = found.system
    shares = measure_r2(system, found.rows).tolist()
    numbers = system_numbers(system, found.standard_errors, units=found.units)
    sides, solved = left_sides(system), dict(solved_equations(system))
    return [
        {
            "state": state,
            "left_side": sides[place],
            **_describe_formula(program),
            "solved": _describe_formula(solved[state]) if state in solved else None,
            "r2": finite_or_none(shares[place]),
            "numbers": describe_system_numbers(numbers[place], found.units),
            "front": [
                {"cost": row.cost, "loss": row.loss, "score": row.score, "equation": row.equation}
                for row in front_rows(search.front, found.chosen[place], search.floor, digits=None)
            ],
        }
        for place, (state, program, search) in enumerate(
            zip(system.states, system.programs, found.searches, strict=True)
        )
    ]


def _describe_formula(program: Program) -> dict[str, str]:
    return {"equation": to_text(program), "sympy": str(to_sympy(program)), "latex": to_latex(program)}
