"""The operators: one table, one row each, from which opcodes, printing, derivatives, costs, sympy forms and the documentation are read.

The compiled value of each built-in operator is in `kernels`, under the opcode that stands in its row here. A user's own operator is
an `Operator` made from a plain Python function; it is compiled as soon as it is made.
"""

import inspect
import keyword
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spl.errors import OperatorError, shorten, suggest_name
from spl.kernels.programs import tokens

ATOM, POWER, PRODUCT, SUM = 4, 3, 2, 1  # how tightly a printed form binds
POWER_NAME = re.compile(r"pow([1-9][0-9]?)")  # in a list of operators: `"pow3"` is the third power


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A function that formulas may use.

    Args:
        name: what grammars, formulas and `operators=` call it.
        function: takes one or two numbers (or arrays) and returns one; written with numpy's functions.
        derivative: one function for each argument, each taking all arguments; left out, it is derived from `sympy`, or numerically.
        sympy: what it becomes in sympy, as a function of sympy expressions; left out, a function of that name.
        cost: what it adds to the cost of a formula.
        infix: the sign of a built-in operator; leave it out for your own, as all that follows.
        binding: how tightly that sign binds.
        opcode: what the kernels call a built-in operator.

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
    infix: str = ""
    binding: int = ATOM
    opcode: int = -1

    def __post_init__(self) -> None:
        if (
            not isinstance(self.name, str)
            or not self.name.isidentifier()
            or keyword.iskeyword(self.name)
            or self.name == "C"
        ):
            raise OperatorError(f"An operator's name must be a plain word other than 'C'; it is {self.name!r}.")
        if not callable(self.function):
            raise OperatorError(f"Operator '{self.name}' needs a Python function; it has {self.function!r}.")
        if isinstance(self.cost, bool) or not isinstance(self.cost, int) or not 1 <= self.cost <= 100:
            raise OperatorError(
                f"The cost of operator '{self.name}' must be a whole number from 1 to 100; it is {self.cost!r}."
            )
        if self.arity not in (1, 2):
            takes = "any number of" if self.arity < 0 else self.arity
            raise OperatorError(f"Operator '{self.name}' takes {takes} arguments; it must take one or two.")
        if self.opcode < 0:
            if self.name in BUILT_IN or self.name in SPELLINGS or POWER_NAME.fullmatch(self.name):
                raise OperatorError(f"There is a built-in operator '{self.name}'. Give yours another name.")
            self._check_function()

    def _check_function(self) -> None:
        from spl.formulas.user_operators import check_own_operator  # it compiles: numba is slow to import

        check_own_operator(self)

    def __repr__(self) -> str:
        return f"Operator({self.name!r})"

    @property
    def arity(self) -> int:
        """How many arguments it takes; -1 if any number of them."""
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
    def derivatives(self) -> tuple[Callable[..., Any], ...]:
        """The given derivatives, one an argument; empty if none is given."""
        if self.derivative is None:
            return ()
        return tuple(self.derivative) if isinstance(self.derivative, tuple | list) else (self.derivative,)


def _sympy(name: str) -> Callable[..., Any]:
    """Return a function that looks up sympy's own function when it is first needed (sympy is slow to import)."""

    def call(*arguments: Any) -> Any:
        import sympy

        return getattr(sympy, name)(*arguments)

    return call


def _real_cube_root(x: Any) -> Any:
    import sympy

    return sympy.sign(x) * sympy.Abs(x) ** sympy.Rational(1, 3)


def _row(name: str, opcode: int, function: Callable[..., Any], derivative: Any, sympy: Any, **more: Any) -> Operator:
    return Operator(name, function, derivative, sympy, opcode=opcode, **more)


# fmt: off
_ROWS = (
    _row("add", tokens.ADD, lambda a, b: a + b, (lambda a, b: 1.0, lambda a, b: 1.0), lambda a, b: a + b, infix="+", binding=SUM),
    _row("sub", tokens.SUB, lambda a, b: a - b, (lambda a, b: 1.0, lambda a, b: -1.0), lambda a, b: a - b, infix="-", binding=SUM),
    _row("mul", tokens.MUL, lambda a, b: a * b, (lambda a, b: b, lambda a, b: a), lambda a, b: a * b, infix="*", binding=PRODUCT),
    _row("div", tokens.DIV, lambda a, b: a / b, (lambda a, b: 1 / b, lambda a, b: -a / b**2), lambda a, b: a / b, infix="/", binding=PRODUCT),
    _row("min", tokens.MIN, np.minimum, (lambda a, b: 1.0 * (a <= b), lambda a, b: 1.0 * (a > b)), _sympy("Min")),
    _row("max", tokens.MAX, np.maximum, (lambda a, b: 1.0 * (a >= b), lambda a, b: 1.0 * (a < b)), _sympy("Max")),
    _row("pow", tokens.POW, np.power, (lambda a, b: b * a ** (b - 1), lambda a, b: a**b * np.log(a)), lambda a, b: a**b, infix="**", binding=POWER),
    _row("neg", tokens.NEG, lambda a: -a, lambda a: -1.0, lambda a: -a),
    _row("inv", tokens.INV, lambda a: 1 / a, lambda a: -1 / a**2, lambda a: 1 / a),
    _row("square", tokens.SQUARE, lambda a: a * a, lambda a: 2 * a, lambda a: a**2),
    _row("cube", tokens.CUBE, lambda a: a * a * a, lambda a: 3 * a * a, lambda a: a**3),
    _row("sqrt", tokens.SQRT, np.sqrt, lambda a: 0.5 / np.sqrt(a), _sympy("sqrt")),
    _row("cbrt", tokens.CBRT, np.cbrt, lambda a: 1 / (3 * np.cbrt(a) ** 2), _real_cube_root),
    _row("exp", tokens.EXP, np.exp, np.exp, _sympy("exp")),
    _row("log", tokens.LOG, np.log, lambda a: 1 / a, _sympy("log")),
    _row("sin", tokens.SIN, np.sin, np.cos, _sympy("sin")),
    _row("cos", tokens.COS, np.cos, lambda a: -np.sin(a), _sympy("cos")),
    _row("tan", tokens.TAN, np.tan, lambda a: 1 + np.tan(a) ** 2, _sympy("tan")),
    _row("asin", tokens.ASIN, np.arcsin, lambda a: 1 / np.sqrt(1 - a * a), _sympy("asin")),
    _row("acos", tokens.ACOS, np.arccos, lambda a: -1 / np.sqrt(1 - a * a), _sympy("acos")),
    _row("atan", tokens.ATAN, np.arctan, lambda a: 1 / (1 + a * a), _sympy("atan")),
    _row("sinh", tokens.SINH, np.sinh, np.cosh, _sympy("sinh")),
    _row("cosh", tokens.COSH, np.cosh, np.sinh, _sympy("cosh")),
    _row("tanh", tokens.TANH, np.tanh, lambda a: 1 - np.tanh(a) ** 2, _sympy("tanh")),
    _row("abs", tokens.ABS, np.abs, np.sign, _sympy("Abs")),
    _row("sign", tokens.SIGN, np.sign, lambda a: 0.0, _sympy("sign")),
)
# fmt: on

BUILT_IN: dict[str, Operator] = {row.name: row for row in _ROWS}
BY_OPCODE: dict[int, Operator] = {row.opcode: row for row in _ROWS}
# fmt: off
SPELLINGS: dict[str, str] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow", "^": "pow",
    "ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
}
# fmt: on


def find_operator(name: str, own: Iterable[Operator] = ()) -> Operator:
    """Return the operator of that name or sign, built-in or the user's own.

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
            f"There is no operator '{shorten(name)}'.{suggest_name(name, rows) or ' Known are: ' + ', '.join(rows) + '.'}"
        )
    return rows[name]
