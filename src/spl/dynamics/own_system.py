"""Equations written with own numbers: which constants become variables of their own, and their values."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.sharing import Sharing
from spl.formulas.own_numbers import BY_RUN, OwnNumber, name_own_numbers
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk

Numbers = NDArray[np.float64]


def write_own_system(
    plain: System,
    labels: Sequence[str],
    sharing: Sharing,
    values: Numbers,
    factors: Numbers,
    names: Sequence[str] = (),
    *,
    writes_signs: bool = True,
) -> System:
    """Return a system with own numbers in place of some of its constants.

    Args:
        plain: the equations with constants alone.
        labels: of the runs.
        sharing: the role of each constant.
        values: of all constants for each run [G, C].
        factors: of the constants that are multiples of own numbers [C].
        names: of the own numbers; by default k1, k2, ...
        writes_signs: whether an own number that is negative in all runs is written as a positive one with a minus sign.

    Examples:
        >>> from spl.dynamics.sharing import SHARED
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> program = parse_expression("C*x + C", Vocabulary(("x",))).with_constants([1.0, 3.0])
        >>> system = write_own_system(
        ...     System(("x",), (), (program,)), ["a", "b"], Sharing((0, SHARED)), np.array([[1.0, 3.0], [2.0, 3.0]]), np.ones(2)
        ... )
        >>> system.equations(), system.own[0].values
        (['k1*x + 3'], (1.0, 2.0))
    """
    if not sharing.own:
        return plain.with_constants(values.mean(axis=0))
    taken = plain.first_order_states + plain.inputs
    chosen = tuple(names)[: len(sharing.own)] or name_own_numbers(len(sharing.own), taken)
    name_of = dict(zip(sharing.own, chosen, strict=True))
    means = values.mean(axis=0)
    is_negative = [writes_signs and bool((column < 0).all()) for column in values.T]
    signs = np.where(is_negative, -1.0, 1.0)
    programs, first = [], 0
    for program in plain.programs:
        places = range(first, first + program.n_constants)
        roles = [(name_of.get(sharing.leaders[k]), k in sharing.multiples) for k in places]
        numbers = [
            float(factors[k] * signs[sharing.leaders[k]] if is_multiple else means[k])
            for k, (_, is_multiple) in zip(places, roles, strict=True)
        ]
        programs.append(_write_own(program, roles, numbers, [is_negative[k] for k in places], chosen))
        first += program.n_constants
    own = tuple(
        OwnNumber(name, BY_RUN, tuple(labels), tuple((signs[place] * values[:, place]).tolist()))
        for place, name in name_of.items()
    )
    return replace(plain, inputs=(*plain.inputs, *chosen), programs=tuple(programs), own=own)


def _write_own(
    program: Program,
    roles: Sequence[tuple[str | None, bool]],
    numbers: Sequence[float],
    is_negative: Sequence[bool],
    names: Sequence[str],
) -> Program:
    """Return a program with an own number, or a multiple of one, in place of each constant that has a name."""
    words = replace(program.vocabulary, variables=(*program.vocabulary.variables, *names))
    tokens: list[int] = []
    constants: list[float] = []
    place = 0
    for token in program.tokens:
        if token != CONSTANT_TOKEN:
            tokens.append(token)
            continue
        name, is_multiple = roles[place]
        if is_multiple:
            tokens.append(tk.MUL)
        if name is None or is_multiple:
            tokens.append(CONSTANT_TOKEN)
            constants.append(numbers[place])
        elif is_negative[place]:
            tokens.append(tk.NEG)
        if name is not None:
            tokens.append(words.variable_token(name))
        place += 1
    return Program(tuple(tokens), words, tuple(constants))


def all_own(n_constants: int) -> Sharing:
    """Return the way of sharing in which each run has all constants for itself."""
    return Sharing(tuple(range(n_constants)))


def with_own_columns(data: Trajectories, system: System) -> Trajectories:
    """Return trajectories with the own numbers of a system as further inputs, which are constant along each run."""
    if not system.own:
        return data
    table = np.array([number.values for number in system.own])  # [K, G]
    runs = tuple(
        replace(run, u=np.hstack([run.u, np.tile(table[:, run.experiment], (run.n_samples, 1))])) for run in data.runs
    )
    return replace(data, inputs=(*data.inputs, *(number.name for number in system.own)), runs=runs)
