"""The operators: one table with one row per operator. Everything that is known about an operator is read from its row.

The compiled value and derivative of a built-in operator are in `kernels/programs`, under the opcode of its row. A user's own operator
is an `Operator` made from a plain Python function; it is compiled as soon as it is made.
"""

import inspect
import keyword
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

import numpy as np

from spl.errors import OperatorError, shorten, suggest_name
from spl.kernels.programs import tokens as tk

POWER_NAME = re.compile(r"pow([1-9][0-9]?)")  # in a list of operators: `"pow3"` is the third power


class Binding(IntEnum):
    """How tightly a written form binds, loosest first. Each notation uses the levels it needs."""

    SUM = 1
    SIGNED = 2  # in mathematics: a product after a minus sign, which needs brackets as a factor
    PRODUCT = 3
    MINUS = 4  # in code: a minus sign binds more tightly than a product, but less than a power
    POWER = 5
    ATOM = 6


class Gap(NamedTuple):
    """Where an operator has no value: as text, with `{0}` and `{1}` for its arguments, and as a test of their values."""

    words: str
    holds: Callable[..., Any]


class Domain(NamedTuple):
    """Where an operator of `a` and `b` has a value: as text, and as a list of all gaps."""

    text: str
    gaps: tuple[Gap, ...] = ()


EVERYWHERE = Domain("everywhere")
NOT_ZERO = Domain("a not 0", (Gap("{0} is 0", lambda a: a == 0),))
_UP_TO_ONE = Domain("-1 <= a <= 1", (Gap("abs({0}) > 1", lambda a: np.abs(a) > 1),))
_POWER_DOMAIN = Domain(
    "a > 0; a < 0 only for whole b",
    (
        Gap("{0} < 0", lambda a, b: (a < 0) & (b != np.rint(b))),
        Gap("{0} is 0", lambda a, b: (a == 0) & (b < 0)),
    ),
)

Family = Literal["", "arithmetic", "powers and roots", "exponential", "trigonometric", "hyperbolic", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is known about an operator. The defaults hold for a user's own operator, about which nothing is known."""

    family: Family = ""
    is_function: bool = True  # False for arithmetic and whole powers, which are cheaper to describe
    is_smooth: bool = True  # False if the value or the slope jumps
    is_never_negative: bool = False
    is_periodic: bool = False  # whether values repeat after 2*pi
    parity: Literal["", "even", "odd"] = ""
    degree: float | None = None  # f(c*x) = c**degree * f(x) for every c > 0; None if there is no such number but 0
    is_power: bool = False  # whether it is x**degree
    inverse: str = ""  # the operator that solves f(x) = y for x, on its principal branch
    domain: Domain = EVERYWHERE
    infix: str = ""  # the sign between two arguments
    binding: Binding = Binding.ATOM  # of a formula with that sign
    written: str = ""  # the name in mathematics, if it is another


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A function that formulas may use.

    Args:
        name: its name in grammars, formulas and `operators=`.
        function: takes one or two numbers (or arrays) and returns one; it may use numpy's functions.
        derivative: one function per argument, each of all arguments; left out, it is derived from `sympy` or numerically.
        sympy: its form in sympy, as a function of sympy expressions; left out, an undefined function of that name.
        cost: what it adds to the cost of a formula.
        opcode: the number of a built-in operator in the kernels; leave out this and `traits` for your own.
        traits: what is known about a built-in operator.

    Examples:
        >>> sinc = Operator("sinc", lambda x: np.sin(x) / x)
        >>> sinc.arity
        1
    """

    name: str
    function: Callable[..., Any]
    derivative: Callable[..., Any] | tuple[Callable[..., Any], ...] | None = None
    sympy: Callable[..., Any] | None = None
    cost: int = 1
    opcode: int = -1
    traits: Traits = Traits()

    def __post_init__(self) -> None:
        if (
            not isinstance(self.name, str)
            or not self.name.isidentifier()
            or keyword.iskeyword(self.name)
            or self.name == "C"
        ):
            raise OperatorError(f"An operator's name must be a plain word other than 'C'; got {self.name!r}.")
        if not callable(self.function):
            raise OperatorError(f"Operator '{self.name}' needs a Python function; it has {self.function!r}.")
        if isinstance(self.cost, bool) or not isinstance(self.cost, int) or not 1 <= self.cost <= 100:
            raise OperatorError(
                f"The cost of operator '{self.name}' must be a whole number from 1 to 100; got {self.cost!r}."
            )
        if self.arity not in (1, 2):
            takes = "any number of" if self.arity < 0 else self.arity
            raise OperatorError(f"Operator '{self.name}' takes {takes} arguments; it must take one or two.")
        if self.opcode < 0:
            if self.name in BUILT_IN or self.name in SPELLINGS or POWER_NAME.fullmatch(self.name):
                raise OperatorError(f"There is a built-in operator '{self.name}'. Give yours another name.")
            self._check_function()

    def _check_function(self) -> None:
        from spl.formulas.user_operators import check_own_operator  # it imports numba, which is slow

        check_own_operator(self)

    def __repr__(self) -> str:
        return f"Operator({self.name!r})"

    @property
    def arity(self) -> int:
        """The number of arguments; -1 if it takes any number."""
        if isinstance(self.function, np.ufunc):
            return int(self.function.nin)
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):
            raise OperatorError(
                f"Python does not know how many arguments the function of operator '{self.name}' takes. "
                f"Write it as a function of your own, such as `lambda x: ...`."
            ) from None
        needed = sum(
            1 for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        )
        return -1 if not needed and any(p.kind is p.VAR_POSITIONAL for p in parameters) else needed

    @property
    def infix(self) -> str:
        """The sign between its two arguments; empty if it is written as a function."""
        return self.traits.infix

    @property
    def derivatives(self) -> tuple[Callable[..., Any], ...]:
        """The given derivatives, one per argument; empty if there are none."""
        if self.derivative is None:
            return ()
        return tuple(self.derivative) if isinstance(self.derivative, tuple | list) else (self.derivative,)


def _sympy(name: str) -> Callable[..., Any]:
    """Return a function that imports sympy's function when it is called (sympy is slow to import)."""

    def call(*arguments: Any) -> Any:
        import sympy

        return getattr(sympy, name)(*arguments)

    return call


def _real_cube_root(x: Any) -> Any:
    import sympy

    return sympy.sign(x) * sympy.Abs(x) ** sympy.Rational(1, 3)


def _row(name: str, opcode: int, function: Callable[..., Any], derivative: Any, sympy: Any, **traits: Any) -> Operator:
    return Operator(name, function, derivative, sympy, opcode=opcode, traits=Traits(**traits))


# fmt: off
_ROWS = (
    _row("add", tk.ADD, lambda a, b: a + b, (lambda a, b: 1.0, lambda a, b: 1.0), lambda a, b: a + b,
         family="arithmetic", is_function=False, infix="+", binding=Binding.SUM),
    _row("sub", tk.SUB, lambda a, b: a - b, (lambda a, b: 1.0, lambda a, b: -1.0), lambda a, b: a - b,
         family="arithmetic", is_function=False, infix="-", binding=Binding.SUM),
    _row("mul", tk.MUL, lambda a, b: a * b, (lambda a, b: b, lambda a, b: a), lambda a, b: a * b,
         family="arithmetic", is_function=False, infix="*", binding=Binding.PRODUCT),
    _row("div", tk.DIV, lambda a, b: a / b, (lambda a, b: 1 / b, lambda a, b: -a / b**2), lambda a, b: a / b,
         family="arithmetic", is_function=False, infix="/", binding=Binding.PRODUCT,
         domain=Domain("b not 0", (Gap("{1} is 0", lambda a, b: b == 0),))),
    _row("square", tk.SQUARE, lambda a: a * a, lambda a: 2 * a, lambda a: a**2, family="powers and roots", is_function=False,
         degree=2.0, is_power=True, parity="even", is_never_negative=True, inverse="sqrt"),
    _row("cube", tk.CUBE, lambda a: a * a * a, lambda a: 3 * a * a, lambda a: a**3, family="powers and roots", is_function=False,
         degree=3.0, is_power=True, parity="odd", inverse="cbrt"),
    _row("sqrt", tk.SQRT, np.sqrt, lambda a: 0.5 / np.sqrt(a), _sympy("sqrt"), family="powers and roots",
         degree=0.5, is_power=True, is_never_negative=True, inverse="square",
         domain=Domain("a >= 0", (Gap("{0} < 0", lambda a: a < 0),))),
    _row("cbrt", tk.CBRT, np.cbrt, lambda a: 1 / (3 * np.cbrt(a) ** 2), _real_cube_root, family="powers and roots",
         degree=1 / 3, parity="odd", inverse="cube"),
    _row("pow", tk.POW, np.power, (lambda a, b: b * a ** (b - 1), lambda a, b: a**b * np.log(a)), lambda a, b: a**b,
         family="powers and roots", infix="**", binding=Binding.POWER, domain=_POWER_DOMAIN),
    _row("inv", tk.INV, lambda a: 1 / a, lambda a: -1 / a**2, lambda a: 1 / a, family="powers and roots", is_function=False,
         degree=-1.0, is_power=True, parity="odd", inverse="inv", domain=NOT_ZERO),
    _row("exp", tk.EXP, np.exp, np.exp, _sympy("exp"), family="exponential", is_never_negative=True, inverse="log"),
    _row("log", tk.LOG, np.log, lambda a: 1 / a, _sympy("log"), family="exponential", inverse="exp", written="ln",
         domain=Domain("a > 0", (Gap("{0} <= 0", lambda a: a <= 0),))),
    _row("sin", tk.SIN, np.sin, np.cos, _sympy("sin"), family="trigonometric", is_periodic=True, parity="odd",
         inverse="asin"),
    _row("cos", tk.COS, np.cos, lambda a: -np.sin(a), _sympy("cos"), family="trigonometric", is_periodic=True, parity="even",
         inverse="acos"),
    _row("tan", tk.TAN, np.tan, lambda a: 1 + np.tan(a) ** 2, _sympy("tan"), family="trigonometric", is_periodic=True, parity="odd",
         inverse="atan"),
    _row("asin", tk.ASIN, np.arcsin, lambda a: 1 / np.sqrt(1 - a * a), _sympy("asin"),
         family="trigonometric", parity="odd", inverse="sin", domain=_UP_TO_ONE, written="arcsin"),
    _row("acos", tk.ACOS, np.arccos, lambda a: -1 / np.sqrt(1 - a * a), _sympy("acos"),
         family="trigonometric", is_never_negative=True, inverse="cos", domain=_UP_TO_ONE, written="arccos"),
    _row("atan", tk.ATAN, np.arctan, lambda a: 1 / (1 + a * a), _sympy("atan"),
         family="trigonometric", parity="odd", inverse="tan", written="arctan"),
    _row("sinh", tk.SINH, np.sinh, np.cosh, _sympy("sinh"), family="hyperbolic", parity="odd"),
    _row("cosh", tk.COSH, np.cosh, np.sinh, _sympy("cosh"), family="hyperbolic", parity="even", is_never_negative=True),
    _row("tanh", tk.TANH, np.tanh, lambda a: 1 - np.tanh(a) ** 2, _sympy("tanh"), family="hyperbolic", parity="odd"),
    _row("abs", tk.ABS, np.abs, np.sign, _sympy("Abs"),
         family="other", is_smooth=False, degree=1.0, parity="even", is_never_negative=True),
    _row("sign", tk.SIGN, np.sign, lambda a: 0.0, _sympy("sign"), family="other", is_smooth=False, parity="odd"),
    _row("min", tk.MIN, np.minimum, (lambda a, b: 1.0 * (a <= b), lambda a, b: 1.0 * (a > b)), _sympy("Min"),
         family="other", is_smooth=False),
    _row("max", tk.MAX, np.maximum, (lambda a, b: 1.0 * (a >= b), lambda a, b: 1.0 * (a < b)), _sympy("Max"),
         family="other", is_smooth=False),
    _row("neg", tk.NEG, lambda a: -a, lambda a: -1.0, lambda a: -a, family="other", is_function=False,
         degree=1.0, parity="odd", inverse="neg"),
)
# fmt: on

BUILT_IN: dict[str, Operator] = {row.name: row for row in _ROWS}
BY_OPCODE: dict[int, Operator] = {row.opcode: row for row in _ROWS}
SPELLINGS: dict[str, str] = {  # signs and names other than our own
    **{row.traits.infix: row.name for row in _ROWS if row.traits.infix},
    "^": "pow",
    **{row.traits.written: row.name for row in _ROWS if row.traits.written},
}
ARITHMETIC = frozenset(row.opcode for row in _ROWS if not row.traits.is_function)
EVEN_FUNCTIONS = frozenset(row.opcode for row in _ROWS if row.traits.is_function and row.traits.parity == "even")
ODD_FUNCTIONS = frozenset(row.opcode for row in _ROWS if row.traits.is_function and row.traits.parity == "odd")
NAMED_POWERS = {row.traits.degree: row.opcode for row in _ROWS if row.traits.is_power and row.traits.degree is not None}


def is_function(token: int) -> bool:
    """Return whether a token is a function: not a leaf, arithmetic or a whole power. A user's own operator is a function.

    Examples:
        >>> is_function(tk.SIN), is_function(tk.MUL), is_function(tk.SQUARE)
        (True, False, False)
    """
    return token >> tk.KIND_SHIFT == tk.OPERATOR and token not in ARITHMETIC


def find_operator(name: str, own: Iterable[Operator] = ()) -> Operator:
    """Return the operator with a name or sign, built-in or the user's own.

    Examples:
        >>> find_operator("+").name
        'add'
        >>> find_operator("sine")
        Traceback (most recent call last):
        ...
        spl.errors.OperatorError: There is no operator 'sine'. Did you mean 'sin'?
    """
    rows = BUILT_IN | {operator.name: operator for operator in own}
    name = SPELLINGS.get(name, name)
    if name not in rows:
        raise OperatorError(
            f"There is no operator '{shorten(name)}'.{suggest_name(name, rows) or ' Known operators: ' + ', '.join(rows) + '.'}"
        )
    return rows[name]
