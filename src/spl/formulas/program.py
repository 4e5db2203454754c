"""The program: a formula as a flat prefix sequence of tokens, with its constants and the vocabulary of the tokens."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spl.errors import ExpressionError, OperatorError
from spl.formulas.operators import BY_OPCODE, Operator
from spl.kernels.programs import tokens as tk


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the tokens of a program refer to: columns, literal numbers and the user's own operators.

    Examples:
        >>> Vocabulary(variables=("x", "y")).variable_token("y") == tk.VARIABLE << tk.KIND_SHIFT | 1
        True
    """

    variables: tuple[str, ...]
    literals: tuple[float, ...] = ()
    own: tuple[Operator, ...] = ()  # in the order of their slots; unary and binary ones are counted separately

    def __post_init__(self) -> None:
        for arity in (1, 2):
            if sum(operator.arity == arity for operator in self.own) > tk.MAX_USER:
                raise OperatorError(
                    f"There are more than {tk.MAX_USER} operators of your own with {arity} argument(s). Use fewer."
                )
        names = [operator.name for operator in self.own]
        if len(set(names)) < len(names):
            raise OperatorError(f"Two operators have the same name: {', '.join(sorted(names))}. Give each its own.")

    def variable_token(self, name: str) -> int:
        """Return the token of a column."""
        return tk.VARIABLE << tk.KIND_SHIFT | self.variables.index(name)

    def literal_token(self, number: float) -> int:
        """Return the token of a number in the table of literals."""
        return tk.LITERAL << tk.KIND_SHIFT | self.literals.index(number)

    def operator_token(self, operator: Operator) -> int:
        """Return the token of an operator, built-in or the user's own."""
        if operator.opcode >= 0:
            return operator.opcode
        alike = [other for other in self.own if other.arity == operator.arity]
        return (tk.USER_UNARY if operator.arity == 1 else tk.USER_BINARY) + alike.index(operator)

    def operator_of(self, token: int) -> Operator:
        """Return the operator behind an operator token."""
        if token in BY_OPCODE:
            return BY_OPCODE[token]
        arity, slot = (2, token - tk.USER_BINARY) if token >= tk.USER_BINARY else (1, token - tk.USER_UNARY)
        return [operator for operator in self.own if operator.arity == arity][slot]

    def arity_of(self, token: int) -> int:
        """Return how many arguments a token takes: 0 for a leaf."""
        kind = token >> tk.KIND_SHIFT
        if kind == tk.OPERATOR:
            return 2 if token < tk.FIRST_UNARY or token >= tk.USER_BINARY else 1
        return 1 if kind == tk.POWER else 0

    def with_literal(self, number: float) -> "Vocabulary":
        """Return a vocabulary that also has the number."""
        return self if number in self.literals else replace(self, literals=(*self.literals, float(number)))


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A formula. `constants` holds one number per constant token, in the order of the tokens.

    Examples:
        >>> words = Vocabulary(variables=("x",))
        >>> len(Program((tk.SIN, words.variable_token("x")), words))
        2
    """

    tokens: tuple[int, ...]
    vocabulary: Vocabulary
    constants: tuple[float, ...] = field(default=())
    cost: int = field(init=False, repr=False)  # of all its tokens: 1 each, unless an operator costs more

    def __post_init__(self) -> None:
        open_arguments = 1
        for token in self.tokens:
            if open_arguments == 0:
                raise ExpressionError(f"The program continues after its end: {list(self.tokens)}.")
            open_arguments += self.vocabulary.arity_of(token) - 1
        if open_arguments:
            raise ExpressionError(f"The program ends before its last argument: {list(self.tokens)}.")
        n_constants = self.count_constants(len(self.tokens))
        if len(self.constants) != n_constants:
            raise ExpressionError(
                f"The program has {n_constants} constants, but {len(self.constants)} values were given."
            )
        object.__setattr__(self, "cost", sum(token_cost(token, self.vocabulary) for token in self.tokens))

    def __repr__(self) -> str:
        from spl.formulas.text import to_text  # it writes programs, so it imports this file

        return f"Program({to_text(self)!r})"

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self.tokens == other.tokens and self.constants == other.constants and self.vocabulary == other.vocabulary

    def __hash__(self) -> int:
        return hash((self.tokens, self.constants))

    @property
    def n_constants(self) -> int:
        """The number of fitted constants."""
        return len(self.constants)

    def count_constants(self, end: int) -> int:
        """Return the number of constants before a position."""
        return sum(token >> tk.KIND_SHIFT == tk.CONSTANT for token in self.tokens[:end])

    def with_constants(self, constants: NDArray[np.float64]) -> "Program":
        """Return the same formula with other constants."""
        return replace(self, constants=tuple(float(value) for value in constants))

    def arguments_of(self, position: int) -> tuple[int, ...]:
        """Return the position of each argument of the token at a position."""
        starts = []
        at = position + 1
        for _ in range(self.vocabulary.arity_of(self.tokens[position])):
            starts.append(at)
            at = self.end_of(at)
        return tuple(starts)

    def end_of(self, position: int) -> int:
        """Return the position after the subtree at a position."""
        open_arguments = 1
        at = position
        while open_arguments:
            open_arguments += self.vocabulary.arity_of(self.tokens[at]) - 1
            at += 1
        return at

    def parents(self) -> list[int]:
        """Return the position of each token's parent; -1 for the first."""
        parents = [-1] * len(self)
        for position in range(len(self)):
            for argument in self.arguments_of(position):
                parents[argument] = position
        return parents

    def part(self, position: int) -> "Program":
        """Return the subtree at a position as a program."""
        end = self.end_of(position)
        first, last = self.count_constants(position), self.count_constants(end)
        return Program(self.tokens[position:end], self.vocabulary, self.constants[first:last])

    def with_part(self, position: int, part: "Program") -> "Program":
        """Return the program with another subtree at a position; the part's vocabulary must extend the program's."""
        end = self.end_of(position)
        first, last = self.count_constants(position), self.count_constants(end)
        tokens = (*self.tokens[:position], *part.tokens, *self.tokens[end:])
        constants = (*self.constants[:first], *part.constants, *self.constants[last:])
        return Program(tokens, part.vocabulary, constants)


def join_programs(token: int, left: Program, right: Program) -> Program:
    """Return a binary operator applied to two programs."""
    return Program((token, *left.tokens, *right.tokens), left.vocabulary, (*left.constants, *right.constants))


def token_cost(token: int, vocabulary: Vocabulary) -> int:
    """Return what one token adds to the cost of a formula."""
    return vocabulary.operator_of(token).cost if token >> tk.KIND_SHIFT == tk.OPERATOR else 1
