"""What people hand to `SPLDynamics`: trajectories, rows of states and inputs, and one grammar per state."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.arrays import read_matrix
from spl.data.groupings import read_labels
from spl.data.trajectories import Trajectories, read_names
from spl.dynamics.implicit import share_grammar
from spl.dynamics.rows import Plan
from spl.errors import DataError, SettingError, count_noun, explain_unknown, list_names, show_value
from spl.estimators.parameters import make_grammar
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.formulas.system import System, rate_names
from spl.units.system_units import SystemUnits

GrammarLike = Grammar | str | Path


def read_trajectories(
    x: Any, t: Any, x_dot: Any, u: Any, feature_names: Sequence[str] | None, run_names: Sequence[Any] | None = None
) -> Trajectories:
    """Return checked trajectories; names may be those of the states alone, or of states and inputs."""
    if feature_names is None or u is None:
        return Trajectories.from_arrays(x, t, x_dot=x_dot, u=u, names=feature_names, labels=run_names)
    unnamed = Trajectories.from_arrays(x, t, x_dot=x_dot, u=u)
    n_states = len(unnamed.states)
    given = read_names(feature_names)
    if len(given) == len(unnamed.names):
        names, inputs = given[:n_states], given[n_states:]
        return Trajectories.from_arrays(x, t, x_dot=x_dot, u=u, names=names, input_names=inputs, labels=run_names)
    return Trajectories.from_arrays(x, t, x_dot=x_dot, u=u, names=given, labels=run_names)


def find_run_label(system: System, run: Any) -> str:
    """Return the label of the run whose own numbers are asked for; a clear error if it is missing or unknown.

    Examples:
        >>> from spl.formulas.own_numbers import OwnNumber
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> program = parse_expression("-k1*x", Vocabulary(("x", "k1")))
        >>> system = System(("x",), ("k1",), (program,), own=(OwnNumber("k1", "run", ("a", "b"), (2.0, 3.0)),))
        >>> find_run_label(system, "a")
        'a'
        >>> find_run_label(system, None)
        Traceback (most recent call last):
        ...
        spl.errors.DataError: The runs have own numbers: say with `run` whose are meant. The runs are: a, b.
    """
    if not system.own:
        if run is not None:
            raise SettingError(
                f"`run` is {show_value(run)}, but all runs share the numbers of this system. Leave it out."
            )
        return ""
    if run is None:
        known = list_names(system.run_labels)
        raise DataError(f"The runs have own numbers: say with `run` whose are meant. The runs are: {known}.")
    [label] = read_labels([run], "run")
    if label not in system.run_labels:
        raise DataError(explain_unknown("run", label, system.run_labels))
    return label


def check_not_in_grammar(own: Sequence[str], grammar: object) -> None:
    """Raise a clear error if rules, given as text, have the name of an own number: they cannot say where it stands.

    Examples:
        >>> check_not_in_grammar(("k",), "f -> k*x | C*x")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: The grammar has the name 'k' of an own number. Write C in its place: the data decides which numbers
            differ between runs.
    """
    texts = (
        grammar.values()
        if isinstance(grammar, Mapping)
        else grammar
        if isinstance(grammar, list | tuple)
        else [grammar]
    )
    for name in own:
        if any(isinstance(text, str) and re.search(rf"\b{name}\b", text) for text in texts):
            raise SettingError(
                f"The grammar has the name '{name}' of an own number. Write C in its place: the data decides which numbers differ "
                "between runs."
            )


def with_known_inputs(u: Any, units: SystemUnits | None, n_rows: int) -> Any:
    """Return inputs with the named constants as their last columns: a table, or a function of time if they are one.

    Examples:
        >>> from spl.units.system_units import read_system_units
        >>> units = read_system_units({"x": "m"}, "s", {"g": "9.81 m/s**2"}, states=["x"])
        >>> with_known_inputs(None, units, 2)
        array([[9.81],
               [9.81]])
    """
    if units is None or not units.known:
        return u
    values = list(units.known_values.values())
    if callable(u):
        return lambda time: np.append(u(time), values)
    n_measured = len(units.inputs)
    if u is None:
        return np.tile(values, (n_rows, 1)) if not n_measured else None
    rows = as_rows(u, "`u`")
    if rows.shape != (n_rows, n_measured):
        raise DataError(
            f"`u` must have {n_rows} rows of {count_noun(n_measured, 'input')}, without named constants; its shape is {rows.shape}."
        )
    return np.hstack([rows, np.tile(values, (n_rows, 1))])


def read_columns(x: Any, u: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Return states [N, D] and inputs [N, U] as one column per name, [D + U, N]; `u` is None if there are no inputs."""
    parts = [as_rows(x, "`x`"), *([] if u is None else [as_rows(u, "`u`")])]
    if len(parts[0]) != len(parts[-1]):
        raise DataError(
            f"`x` has {len(parts[0])} rows, but `u` {len(parts[-1])}. Give one row of inputs for each state."
        )
    rows = np.column_stack(parts)
    if rows.shape[1] != len(names):
        raise DataError(
            f"There are {rows.shape[1]} columns of states and inputs; the equations need {len(names)}: "
            f"{', '.join(names)}."
        )
    return np.ascontiguousarray(rows.T)


def as_rows(values: Any, what: str) -> NDArray[np.float64]:
    """Return rows of states or inputs; a number is one row."""
    return read_matrix([values] if np.isscalar(values) else values, what)


def make_grammars(
    given: GrammarLike | Sequence[GrammarLike] | Mapping[str, GrammarLike] | None,
    operators: Sequence[str | Operator],
    constants: bool | str,
    data: Trajectories,
    plan: Plan,
) -> list[Grammar]:
    """Return one grammar per state; with rates on both sides, one for all states has no rate in its own equation."""
    columns = data.columns(plan.order)
    names = columns + (rate_names(data.states, plan.order) if plan.is_implicit else ())
    grammars = [make_grammar(each, operators, constants, names) for each in list_grammars(given, data.states)]
    if plan.is_implicit and (given is None or isinstance(given, str | Path | Grammar)):
        return share_grammar(grammars[0], data.states, plan.order, columns)
    return grammars


def list_grammars(
    given: GrammarLike | Sequence[GrammarLike] | Mapping[str, GrammarLike] | None, states: Sequence[str]
) -> list[GrammarLike | None]:
    """Return what is given as the grammar of each state: one for all, a list, or by name.

    Examples:
        >>> list_grammars({"y": "f -> x", "x": "f -> y"}, ["x", "y"])
        ['f -> y', 'f -> x']
    """
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in states]
        missing = [name for name in states if name not in given]
        if unknown or missing:
            what = f"there is no state {unknown[0]!r}" if unknown else f"there is none for {missing[0]!r}"
            raise SettingError(f"`grammar` must have one entry for each of {', '.join(states)}; {what}.")
        return [given[name] for name in states]
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != len(states):
            raise SettingError(f"`grammar` has {len(given)} entries for {len(states)} states. Give one for each.")
        return list(given)
    return [given] * len(states)
