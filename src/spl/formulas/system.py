"""The system: one program per state; together they say how the states change."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError, ExpressionError, SettingError, explain_unknown
from spl.formulas.own_numbers import OwnNumber, fill_in_values
from spl.formulas.primes import PRIME
from spl.formulas.program import Program
from spl.formulas.text import to_text

NO_RATES_OF_MAP = "A map has no rates, so none can appear in its equations. Leave out `implicit`, or `discrete`."


@dataclass(frozen=True, slots=True)
class System:
    """The equations of a dynamical system. Each program is over `variables`, in that order.

    Order 1: a program gives the slope of its state, or its next value if the system is a map. Order 2: it gives the
    acceleration; the velocity of `x` is named `dx`. In an implicit system, the programs may also contain the rates of other states
    (`y'`, for order 2 `y''`): M(x) x' = r(x). Constants are those of the equations as they stand; `formulas/rates` solves them.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> program = parse_expression("-2 * x", Vocabulary(("x",)))
        >>> decay = System(("x",), (), (program,))
        >>> decay.equations(3)
        ['-2*x']
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    programs: tuple[Program, ...]
    order: int = 1
    is_discrete: bool = False
    is_implicit: bool = False  # whether rates may appear on the right
    own: tuple[OwnNumber, ...] = ()  # numbers that each run has for itself; their names are the last of the inputs

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise SettingError(f"`order` must be 1 or 2; got {self.order!r}.")
        if self.is_discrete and self.order == 2:
            raise SettingError("A map has order 1. Leave out `order=2`, or give past values as further states.")
        if not self.states or len(self.programs) != len(self.states):
            raise ExpressionError(
                f"There are {len(self.programs)} programs for {len(self.states)} states. Give one for each state."
            )
        if self.is_discrete and self.is_implicit:
            raise SettingError(NO_RATES_OF_MAP)
        own_names = tuple(number.name for number in self.own)
        if own_names != self.inputs[len(self.inputs) - len(self.own) :]:
            raise ExpressionError(f"The own numbers {', '.join(own_names)} must be the last of the inputs.")
        if len(set(self.variables)) < len(self.variables):
            raise DataError(f"Two columns have the same name: {', '.join(self.variables)}. Give each its own.")
        for name, program in zip(self.states, self.programs, strict=True):
            if program.vocabulary.variables != self.variables:
                raise ExpressionError(
                    f"The program of '{name}' is over {', '.join(program.vocabulary.variables)}; "
                    f"it must be over {', '.join(self.variables)}, in this order."
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """What is measured at each point: states, for order 2 their velocities, then inputs."""
        return self.first_order_states + self.inputs

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the programs: the columns and, if the system is implicit, the rates of all states."""
        return self.columns + (rate_names(self.states, self.order) if self.is_implicit else ())

    @property
    def first_order_states(self) -> tuple[str, ...]:
        """All that must be known to continue from a point: the states and, for order 2, their velocities."""
        return self.states + (velocity_names(self.states) if self.order == 2 else ())

    @property
    def n_constants(self) -> int:
        """The number of fitted constants in all programs."""
        return sum(len(program.constants) for program in self.programs)

    @property
    def constants(self) -> NDArray[np.float64]:
        """The fitted constants of all programs, in order."""
        return np.array([value for program in self.programs for value in program.constants], dtype=np.float64)

    @property
    def driving_inputs(self) -> tuple[str, ...]:
        """The inputs that are measured: all but the own numbers."""
        return self.inputs[: len(self.inputs) - len(self.own)]

    @property
    def run_labels(self) -> tuple[str, ...]:
        """The labels of the runs that have own numbers; empty if there are no own numbers."""
        return self.own[0].labels if self.own else ()

    @property
    def free_values(self) -> NDArray[np.float64]:
        """All that a fit determines: the constants, then the values of each own number, one per run."""
        return np.concatenate([self.constants, *(np.array(number.values) for number in self.own)])

    def with_free_values(self, values: NDArray[np.float64]) -> "System":
        """Return the same equations with other constants and own numbers."""
        if not self.own:
            return self.with_constants(values)
        tables = values[self.n_constants :].reshape(len(self.own), -1)
        own = tuple(number.with_values(table) for number, table in zip(self.own, tables, strict=True))
        return replace(self.with_constants(values[: self.n_constants]), own=own)

    def with_own_as_inputs(self) -> "System":
        """Return the system for which own numbers are inputs like others, known exactly."""
        return replace(self, own=())

    def of_run(self, label: str) -> "System":
        """Return the system of one run, with the values of its own numbers as constants.

        Examples:
            >>> from spl.formulas.program import Vocabulary
            >>> from spl.formulas.text import parse_expression
            >>> program = parse_expression("-k1 * x", Vocabulary(("x", "k1")))
            >>> decay = System(("x",), ("k1",), (program,), own=(OwnNumber("k1", "run", ("a", "b"), (2.0, 3.0)),))
            >>> decay.of_run("b").equations(), decay.of_run("b").inputs
            (['-3*x'], ())
        """
        if not self.own:
            return self
        if label not in self.run_labels:
            raise DataError(explain_unknown("run", label, self.run_labels))
        values = {number.name: number.value_of(label) for number in self.own}
        programs = tuple(fill_in_values(program, values) for program in self.programs)
        return replace(self, inputs=self.driving_inputs, programs=programs, own=())

    def with_constants(self, values: ArrayLike) -> "System":
        """Return the same equations with other constants."""
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != (self.n_constants,):
            raise ExpressionError(f"The system has {self.n_constants} constants, but {numbers.size} values were given.")
        ends = np.cumsum([len(program.constants) for program in self.programs])
        parts = np.split(numbers, ends[:-1])
        programs = (program.with_constants(part) for program, part in zip(self.programs, parts, strict=True))
        return replace(self, programs=tuple(programs))

    def equations(self, digits: int | None = None) -> list[str]:
        """Return the right-hand side of each state as text, with numbers of `digits` significant digits."""
        return [to_text(program, digits) for program in self.programs]


def velocity_names(states: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the velocities of states: `dx` for `x`."""
    return tuple(f"d{name}" for name in states)


def rate_names(states: tuple[str, ...], order: int = 1) -> tuple[str, ...]:
    """Return the names of the rates of states, which their equations give: `x'` for `x`, for order 2 `x''`."""
    return tuple(f"{name}{PRIME * order}" for name in states)
