"""The system: one program for each state, which together say how the states change."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError, ExpressionError, SettingError
from spl.expression import to_text
from spl.kernels import tokens as tk
from spl.kernels.evaluate import BLOCK, evaluate_all
from spl.kernels.integrate import Equations, IntegrateWork
from spl.packing import pack_alphabet
from spl.program import Program, Vocabulary
from spl.trajectories import velocity_names


@dataclass(frozen=True, slots=True)
class System:
    """The equations of a dynamical system. Each program is over the variables `columns`, in that order.

    Order 1: a program is the slope of its state, or its next value if the system is a map. Order 2: it is the
    acceleration, and velocities are named after their states: `dx`.

    Examples:
        >>> from spl.expression import parse_expression
        >>> program = parse_expression("-2 * x", Vocabulary(("x",)))
        >>> decay = System(("x",), (), (program,))
        >>> decay.equations(3), decay.slopes([[1.0, 5.0]]).tolist()
        (['-2*x'], [[-2.0, -10.0]])
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    programs: tuple[Program, ...]
    order: int = 1
    is_discrete: bool = False

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise SettingError(f"`order` must be 1 or 2; it is {self.order!r}.")
        if self.is_discrete and self.order == 2:
            raise SettingError("A map has order 1. Leave out `order=2`, or give past values as further states.")
        if not self.states or len(self.programs) != len(self.states):
            raise ExpressionError(
                f"There are {len(self.programs)} programs for {len(self.states)} states. Give one for each state."
            )
        if len(set(self.columns)) < len(self.columns):
            raise DataError(f"Two columns have the same name: {', '.join(self.columns)}. Give each its own.")
        for name, program in zip(self.states, self.programs, strict=True):
            if program.vocabulary.variables != self.columns:
                raise ExpressionError(
                    f"The program of '{name}' is over {', '.join(program.vocabulary.variables)}; "
                    f"it must be over {', '.join(self.columns)}, in this order."
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of the programs: states, for order 2 their velocities, then inputs."""
        return self.first_order_states + self.inputs

    @property
    def first_order_states(self) -> tuple[str, ...]:
        """All that must be known to go on from a point: the states, for order 2 also their velocities."""
        return self.states + (velocity_names(self.states) if self.order == 2 else ())

    @property
    def n_constants(self) -> int:
        """How many fitted numbers all programs have together."""
        return sum(len(program.constants) for program in self.programs)

    @property
    def constants(self) -> NDArray[np.float64]:
        """The fitted numbers of all programs, in order."""
        return np.array([value for program in self.programs for value in program.constants], dtype=np.float64)

    def with_constants(self, values: ArrayLike) -> "System":
        """Return the same equations with other numbers."""
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (self.n_constants,):
            raise ExpressionError(f"The system has {self.n_constants} constants, but {numbers.size} values were given.")
        ends = np.cumsum([len(program.constants) for program in self.programs])
        parts = np.split(numbers, ends[:-1])
        programs = (program.with_constants(part) for program, part in zip(self.programs, parts, strict=True))
        return replace(self, programs=tuple(programs))

    def slopes(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the values of the programs on rows [columns, M], as [D, M]; NaN outside the domain."""
        columns = np.ascontiguousarray(rows, dtype=np.float64)
        if columns.ndim != 2 or len(columns) != len(self.columns):
            raise DataError(
                f"There must be one row for each of {', '.join(self.columns)}; the shape is {columns.shape}."
            )
        equations = pack_system(self)
        out = np.empty((len(self.programs), columns.shape[1]))
        stack = make_stack(equations)
        for p, (tokens, length) in enumerate(zip(equations.tokens, equations.lengths, strict=True)):
            evaluate_all(tokens, length, equations.constants[p], equations.alphabet, columns, out[p], stack)
        return out

    def equations(self, digits: int | None = None) -> list[str]:
        """Return the right-hand sides as text, one for each state, numbers with so many digits."""
        return [to_text(program, digits) for program in self.programs]


@functools.lru_cache(maxsize=64)
def pack_system(system: System) -> Equations:
    """Return a system as the arrays that kernels take; not to be changed.

    Programs may differ in their literals and operators of the user: the arrays have one table of each for all.
    """
    words = _merge_vocabularies([program.vocabulary for program in system.programs])
    shape = (len(system.programs), max(len(program) for program in system.programs))
    tokens = np.zeros(shape, np.int32)
    for row, program in zip(tokens, system.programs, strict=True):
        row[: len(program)] = [_translate(token, program.vocabulary, words) for token in program.tokens]
    lengths = np.array([len(program) for program in system.programs], np.int64)
    constants = np.zeros((shape[0], 1 + max(len(program.constants) for program in system.programs)))
    for numbers, program in zip(constants, system.programs, strict=True):
        numbers[: len(program.constants)] = program.constants
    return Equations(tokens, lengths, constants, pack_alphabet(words))


def constants_as_columns(system: System) -> Equations:
    """Return a system whose constants are further columns, so that they can differ from row to row."""
    equations = pack_system(system)
    tokens = equations.tokens.copy()
    n_columns = len(system.columns)
    is_constant = (tokens >> tk.KIND_SHIFT == tk.CONSTANT) & (
        np.arange(tokens.shape[1]) < equations.lengths[:, np.newaxis]
    )
    tokens[is_constant] = (tk.VARIABLE << tk.KIND_SHIFT) + n_columns + np.arange(is_constant.sum())
    return equations._replace(tokens=tokens)


def make_stack(equations: Equations) -> NDArray[np.float64]:
    """Return the scratch that evaluating any of the programs needs."""
    return np.empty((equations.tokens.shape[1] + 1) // 2 * BLOCK)


def make_integrate_work(system: System) -> IntegrateWork:
    """Return the scratch that integrating the system needs, also with its constants as columns."""
    n_states = len(system.first_order_states)
    start, slope, total = np.empty((3, n_states, BLOCK))
    columns = np.empty((len(system.columns) + system.n_constants, BLOCK))
    return IntegrateWork(columns, start, slope, total, np.empty(BLOCK), make_stack(pack_system(system)))


def _merge_vocabularies(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    literals = dict.fromkeys(number for words in vocabularies for number in words.literals)
    own = dict.fromkeys(operator for words in vocabularies for operator in words.own)
    return Vocabulary(vocabularies[0].variables, tuple(literals), tuple(own))


def _translate(token: int, words: Vocabulary, target: Vocabulary) -> int:
    """Return the token that means in the target vocabulary what `token` means in `words`."""
    kind = token >> tk.KIND_SHIFT
    if kind == tk.LITERAL:
        return target.literal_token(words.literals[token & tk.PAYLOAD_MASK])
    if kind == tk.OPERATOR and token >= tk.USER_UNARY:
        return target.operator_token(words.operator_of(token))
    return token
