"""The slow, obvious twin of programs: their values by definition; and random programs over all operators."""

import math
import random
from dataclasses import replace

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from spl.formulas.operators import BUILT_IN, Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, parse_expression
from spl.kernels.programs import tokens as tk

WORDS = Vocabulary(variables=("x", "y", "flow rate [m/s]"), literals=(1.0, 2.0, 0.5, 3.0, math.pi))


def read(text: str, *constants: float) -> Program:
    program = parse_expression(text, WORDS)
    return program.with_constants(np.array(constants)) if constants else program


def twin_values(program: Program, columns: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Return the values of every subtree, by definition, that of the whole formula last."""
    constants = list(program.constants)
    stack: list[NDArray[np.floating]] = []
    values = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(columns[payload])
        elif kind in (tk.LITERAL, tk.CONSTANT):
            number = program.vocabulary.literals[payload] if kind == tk.LITERAL else constants.pop()
            stack.append(np.full_like(columns[0], number))
        elif kind == tk.POWER:
            stack.append(stack.pop() ** (payload - tk.POWER_OFFSET))
        else:
            operator = program.vocabulary.operator_of(token)
            stack.append(operator.function(*(stack.pop() for _ in range(operator.arity))))
        values.append(stack[-1])
    return values


def find_conditioned_values(program: Program, columns: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the program's values; None where it leaves its domain or lives on rounding errors."""
    with np.errstate(all="ignore"):
        values = twin_values(program, columns)
        finer = twin_values(program, columns.astype(np.longdouble))
    for value, fine in zip(values, finer, strict=True):
        size = np.abs(value)
        if not (np.isfinite(value).all() and (size < 1e6).all() and ((size > 1e-4) | (size == 0)).all()):
            return None
        if not np.allclose(value, fine.astype(float), rtol=1e-11, atol=0):
            return None
    return values[-1]


def well_conditioned_values(program: Program, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the program's values; the example is dropped where it leaves its domain or lives on rounding errors."""
    values = find_conditioned_values(program, columns)
    assume(values is not None)
    assert values is not None
    return values


def draw_programs(n_programs: int, seed: int, own: tuple[Operator, ...] = ()) -> list[Program]:
    """Return this many well-conditioned programs over all operators, the same for a seed; each operator occurs."""
    choose = random.Random(seed)
    words = replace(WORDS, own=own)
    exponents = [tk.POWER << tk.KIND_SHIFT | exponent + tk.POWER_OFFSET for exponent in (-3, -2, 4, 5)]
    operators = [words.operator_token(operator) for operator in (*BUILT_IN.values(), *own)] + exponents
    columns = positive_columns()

    def draw(first: int | None, depth: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        if first is None and (depth == 0 or choose.random() < 0.2):
            leaf = choose.choice([*map(words.variable_token, words.variables)] * 2 + [CONSTANT_TOKEN])
            return (leaf,), ((choose.uniform(-3, 3),) if leaf == CONSTANT_TOKEN else ())
        token = choose.choice(operators) if first is None else first
        parts = [draw(None, depth - 1) for _ in range(words.arity_of(token))]
        return (token, *(t for part in parts for t in part[0])), tuple(c for part in parts for c in part[1])

    found: list[Program] = []
    while len(found) < n_programs:
        tokens, constants = draw(operators[len(found) % len(operators)], 4)
        program = Program(tokens, words, constants)
        if find_conditioned_values(program, columns) is not None:
            found.append(program)
    return found


def leaves() -> st.SearchStrategy[tuple[tuple[int, ...], tuple[float, ...]]]:
    variables = st.sampled_from(WORDS.variables).map(lambda name: ((WORDS.variable_token(name),), ()))
    literals = st.sampled_from(WORDS.literals).map(lambda number: ((WORDS.literal_token(number),), ()))
    numbers = st.sampled_from([-2.0, -0.7123, 0.25, 1.2345678901234, 3.0, math.pi / 3])
    return variables | literals | numbers.map(lambda number: ((tk.CONSTANT << tk.KIND_SHIFT,), (number,)))


def programs(max_leaves: int = 8) -> st.SearchStrategy[Program]:
    powers = [tk.POWER << tk.KIND_SHIFT | exponent + tk.POWER_OFFSET for exponent in (-3, -2, 4, 5)]
    unary = [operator.opcode for operator in BUILT_IN.values() if operator.arity == 1] + powers
    binary = [operator.opcode for operator in BUILT_IN.values() if operator.arity == 2]

    def extend(inner: st.SearchStrategy) -> st.SearchStrategy:
        one = st.tuples(st.sampled_from(unary), inner).map(lambda part: ((part[0], *part[1][0]), part[1][1]))
        two = st.tuples(st.sampled_from(binary), inner, inner).map(
            lambda part: ((part[0], *part[1][0], *part[2][0]), part[1][1] + part[2][1])
        )
        return one | two

    tree = st.recursive(leaves(), extend, max_leaves=max_leaves)
    return tree.map(lambda part: Program(part[0], WORDS, part[1]))


def positive_columns() -> NDArray[np.float64]:
    return np.random.default_rng(1).uniform(0.5, 2.0, size=(len(WORDS.variables), 12))
