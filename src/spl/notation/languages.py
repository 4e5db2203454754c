"""The spelling of operators in other languages: one row per language.

This file holds facts only; `source_code` puts them together.
"""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from spl.formulas.operators import BUILT_IN

_OUR_NAMES = tuple(row.name for row in BUILT_IN.values() if row.traits.is_function and row.arity == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language: its signs, its functions, and words that no variable may have as its name.

    Sums and the minus sign are the same everywhere; powers with a whole exponent use the sign `power`.
    """

    name: str
    calls: Mapping[str, str]  # by operator; {0} and {1} are the arguments
    with_number: Mapping[str, str] = field(default_factory=dict)  # the same, if the second argument is a number
    helpers: Mapping[str, str] = field(default_factory=dict)  # definitions of functions that calls use, by name
    power: str = ""  # the sign; without one, there is a call of "pow"
    times: str = " * "
    over: str = " / "
    nan: str
    comment: str
    keywords: frozenset[str]

    @property
    def reserved(self) -> frozenset[str]:
        """Every word that already has a meaning."""
        spellings = (*self.calls.values(), *self.with_number.values(), *self.helpers, self.nan)
        return self.keywords.union(*(re.findall(r"[A-Za-z_]\w*", spelling) for spelling in spellings))


def _call_all(prefix: str = "", **others: str) -> dict[str, str]:
    """Return calls for all functions: under our names, unless others are given."""
    functions = {name: f"{prefix}{name}({{0}})" for name in _OUR_NAMES}
    return functions | {"min": f"{prefix}minimum({{0}}, {{1}})", "max": f"{prefix}maximum({{0}}, {{1}})"} | others


_OUR_WORDS = (
    "predict",
    "derivatives",
    "next_state",
    "state",
    "inputs",
    "slopes",
    "out",
    "result",
)  # in `function_layouts`
_PYTHON_WORDS = frozenset([*keyword.kwlist, *keyword.softkwlist, *_OUR_WORDS])

_PYTHON = Language(
    name="python",
    calls=_call_all("np.", asin="np.arcsin({0})", acos="np.arccos({0})", atan="np.arctan({0})"),
    power="**",
    nan="np.nan",
    comment="#",
    keywords=_PYTHON_WORDS,
)

_JAX = Language(
    name="jax",
    calls=_call_all("jnp.", asin="jnp.arcsin({0})", acos="jnp.arccos({0})", atan="jnp.arctan({0})"),
    power="**",
    nan="jnp.nan",
    comment="#",
    keywords=_PYTHON_WORDS | {"jax"},
)

_TORCH = Language(
    name="torch",
    calls=_call_all("torch.", cbrt="real_cube_root({0})"),
    with_number={"min": "torch.clamp({0}, max={1})", "max": "torch.clamp({0}, min={1})"},
    helpers={"real_cube_root": "def real_cube_root(x):\n    return torch.sign(x) * torch.abs(x) ** (1 / 3)"},
    power="**",
    nan="torch.nan",
    comment="#",
    keywords=_PYTHON_WORDS,
)

_C_CHOICE = "static double {name}(double a, double b)\n{{\n    return a {sign} b || isnan(a) ? a : b;\n}}"

_C_LANGUAGE = Language(
    name="c",
    calls=_call_all(
        abs="fabs({0})",
        sign="sign_of({0})",
        min="smaller({0}, {1})",
        max="larger({0}, {1})",
        pow="pow({0}, {1})",
    ),
    helpers={
        "sign_of": "static double sign_of(double x)\n{\n    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;\n}",
        "smaller": _C_CHOICE.format(name="smaller", sign="<"),
        "larger": _C_CHOICE.format(name="larger", sign=">"),
    },
    nan="NAN",
    comment="//",
    # keywords of C and C++, and macros of common compilers and of math.h
    keywords=frozenset(
        """
        alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const consteval
        constexpr constinit const_cast continue decltype default delete do double dynamic_cast else enum explicit export
        extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator
        or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static
        static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof
        union unsigned using virtual void volatile wchar_t while xor xor_eq
        linux unix i386 NULL NAN INFINITY HUGE HUGE_VAL HUGE_VALF HUGE_VALL M_E M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_LN2
        M_LN10 M_LOG2E M_LOG10E M_SQRT2 M_SQRT1_2 M_2_SQRTPI DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS
        """.split()  # noqa: SIM905
    ).union(_OUR_WORDS),
)

_JULIA = Language(
    name="julia",
    calls=_call_all(
        min="min({0}, {1})",
        max="max({0}, {1})",
        sqrt="nan_sqrt({0})",
        log="nan_log({0})",
        asin="nan_asin({0})",
        acos="nan_acos({0})",
        pow="nan_power({0}, {1})",
    ),
    # Julia raises an error where a function is not real
    helpers={
        "nan_sqrt": "nan_sqrt(x) = x < 0 ? NaN : sqrt(x)",
        "nan_log": "nan_log(x) = x < 0 ? NaN : log(x)",
        "nan_asin": "nan_asin(x) = abs(x) > 1 ? NaN : asin(x)",
        "nan_acos": "nan_acos(x) = abs(x) > 1 ? NaN : acos(x)",
        "nan_power": "nan_power(x, y) = x < 0 && y != floor(y) ? NaN : x^y",
    },
    power="^",
    nan="NaN",
    comment="#",
    keywords=frozenset(
        """
        abstract baremodule begin break catch const continue do else elseif end export false finally for function global
        if import in isa let local macro module mutable outer primitive public quote return struct true try type using
        where while Inf NaN im pi
        """.split()  # noqa: SIM905
    ).union(_OUR_WORDS),
)

_MATLAB_CHOICE = "function m = {name}(a, b)\n    m = {function}(a, b);\n    m(isnan(a) | isnan(b)) = NaN;\nend"

_MATLAB = Language(
    name="matlab",
    calls=_call_all(
        sqrt="real_or_nan(sqrt({0}))",
        log="real_or_nan(log({0}))",
        asin="real_or_nan(asin({0}))",
        acos="real_or_nan(acos({0}))",
        pow="real_or_nan(({0}) .^ ({1}))",
        cbrt="nthroot({0}, 3)",
        min="smaller({0}, {1})",
        max="larger({0}, {1})",
    ),
    # MATLAB continues with complex numbers where a function is not real, and its min and max ignore NaN
    helpers={
        "real_or_nan": "function x = real_or_nan(x)\n    x(imag(x) ~= 0) = NaN;\n    x = real(x);\nend",
        "smaller": _MATLAB_CHOICE.format(name="smaller", function="min"),
        "larger": _MATLAB_CHOICE.format(name="larger", function="max"),
    },
    power=".^",
    times=" .* ",
    over=" ./ ",
    nan="NaN",
    comment="%",
    keywords=frozenset(
        """
        break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor endfunction endif
        endparfor endswitch endwhile events for function global if methods otherwise parfor persistent properties return
        spmd switch try until unwind_protect unwind_protect_cleanup while Inf NaN size zeros
        """.split()  # noqa: SIM905
    ).union(_OUR_WORDS),
)

LANGUAGES: Mapping[str, Language] = {row.name: row for row in (_PYTHON, _C_LANGUAGE, _JULIA, _MATLAB, _TORCH, _JAX)}
