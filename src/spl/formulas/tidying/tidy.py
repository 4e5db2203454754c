"""Formulas as people would write them, in milliseconds. Every formula that is shown goes through here.

Numbers are merged and written first, equal terms and factors are collected, phases are reduced, waves of one frequency are joined,
and functions of inverse functions become roots. Whatever takes longer is left to `regression/simplify`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from spl.formulas.program import Program, Vocabulary, token_cost
from spl.formulas.text import exponent_of
from spl.formulas.tidying.algebra import (
    MINUS_ONE,
    Call,
    Leaf,
    Node,
    Number,
    Term,
    Total,
    add,
    multiply,
    negate,
    number_of,
    raise_to,
)
from spl.formulas.tidying.algebra_spelling import Prefix, ReadingEffort, measure_effort, spell, to_program
from spl.formulas.tidying.function_rules import apply_function, reduce_phases, undo_inverse
from spl.formulas.tidying.sum_rules import find_other_forms
from spl.kernels.programs import tokens as tk

MAX_TIDY_STEPS = 40  # improvements of one part of a formula
MAX_TIDY_ROUNDS = 4  # over the whole formula: one round may make room for the next


def tidy(program: Program) -> Program:
    """Return the formula tidied up, with the same values up to rounding. Only roots for inverse functions may cost more than before.

    Fitted numbers stay fitted, and there are never more of them. The result may have values where the formula had none: x for x**2/x.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> words = Vocabulary(variables=("x", "v", "c"))
        >>> for text in ("x*2*3 + x + x", "x - -x*x", "1/cos(asin(v/c))"):
        ...     print(to_text(tidy(parse_expression(text, words))))
        8*x
        x**2 + x
        1/sqrt(1 - v**2/c**2)
    """
    if len(program) > tk.MAX_PROGRAM_LENGTH or not all(map(math.isfinite, program.constants)):
        return program
    for _ in range(MAX_TIDY_ROUNDS):
        tidied = _Tidier(program.vocabulary).tidy(program)
        if tidied == program or tidied.n_constants > tk.MAX_CONSTANTS or len(tidied) > tk.MAX_PROGRAM_LENGTH:
            return program
        program = tidied
    return program


@dataclass(slots=True)
class _Part:
    """A part of a formula while it is read."""

    token: int
    arguments: "list[_Part]"
    made: Node  # not yet in its best form: it may still merge with its parent
    cost: int  # the most it may cost
    n_fitted: int
    best: Node | None = None  # its best form by itself; found when needed


class _Tidier:
    """Tidies formulas of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = vocabulary

    def tidy(self, program: Program) -> Program:
        """Return the program after one round."""
        whole = self._read(iter(program.tokens), iter(program.constants))
        return to_program(self._close(whole), self._words)

    def _read(self, tokens: Iterator[int], constants: Iterator[float]) -> _Part:
        """Return the next part of a formula."""
        token = next(tokens)
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.CONSTANT:
            return _Part(token, [], Term(Number(next(constants), is_fitted=True)), 1, 1)
        if kind == tk.LITERAL:
            return _Part(token, [], Term(Number(self._words.literals[payload])), 1, 0)
        if kind == tk.VARIABLE:
            return _Part(token, [], Leaf(token), 1, 0)
        parts = [self._read(tokens, constants) for _ in range(self._words.arity_of(token))]
        arguments = [part.made if _can_merge(token, part.made) else self._close(part) for part in parts]
        undone = undo_inverse(token, arguments[0])
        cost = token_cost(token, self._words) + sum(part.cost for part in parts)
        if undone is not None:
            return _Part(
                token, parts, undone, max(cost, self._effort(undone).cost), sum(part.n_fitted for part in parts)
            )
        return _Part(token, parts, self._make(token, arguments), cost, sum(part.n_fitted for part in parts))

    def _make(self, token: int, arguments: list[Node]) -> Node:
        """Return an operator applied to its arguments."""
        exponent = exponent_of(token)
        if exponent is not None:
            return raise_to(arguments[0], Number(exponent))
        match token, arguments:
            case tk.ADD, [left, right]:
                return add((left, right))
            case tk.SUB, [left, right]:
                return add((left, negate(right)))
            case tk.MUL, [left, right]:
                return multiply((left, right))
            case tk.DIV, [left, right]:
                return multiply((left, raise_to(right, MINUS_ONE)))
            case tk.NEG, [inner]:
                return negate(inner)
            case tk.POW, [base, power] if (number := number_of(power)) is not None:
                return raise_to(base, number)
        return apply_function(token, arguments)

    def _close(self, part: _Part) -> Node:
        """Return the best form of a part by itself, or the part as it was if that is cheaper or has fewer fitted numbers."""
        if part.best is None:
            best = self._improve(part.made)
            effort = self._effort(best)
            if effort.cost > part.cost or effort.n_fitted > part.n_fitted:
                best = Call(part.token, tuple(self._close(argument) for argument in part.arguments))
            part.best = best
        return part.best

    def _improve(self, node: Node) -> Node:
        """Return the form of a node that is easiest to read, found step by step."""
        node = reduce_phases(node)
        for _ in range(MAX_TIDY_STEPS):
            better = self._find_better(node)
            if better is None:
                break
            node = better
        return node

    def _find_better(self, node: Node) -> Node | None:
        effort = self._effort(node)
        for other in find_other_forms(node):
            reduced = reduce_phases(other)
            prefix = spell(reduced)
            if self._cost(prefix) <= effort.cost:
                other_effort = measure_effort(prefix, self._cost(prefix))
                if other_effort.n_fitted <= effort.n_fitted and other_effort < effort:
                    return reduced
        return None

    def _effort(self, node: Node) -> ReadingEffort:
        prefix = spell(node)
        return measure_effort(prefix, self._cost(prefix))

    def _cost(self, prefix: Prefix) -> int:
        if not self._words.own:  # built-in operators cost 1
            return len(prefix)
        return sum(1 if isinstance(item, Number) else token_cost(item, self._words) for item in prefix)


def _can_merge(token: int, made: Node) -> bool:
    """Return whether an operator merges with its argument: sums within sums, products within products."""
    if token in (tk.ADD, tk.SUB, tk.NEG):
        return isinstance(made, Total)
    is_whole_power = exponent_of(token) is not None and token != tk.SQRT
    return isinstance(made, Term) and (token in (tk.MUL, tk.DIV) or is_whole_power)
