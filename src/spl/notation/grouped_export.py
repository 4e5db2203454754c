"""Exports formulas with the numbers of groups: a function of columns and groups, and the table of numbers it needs.

The formula itself becomes a function `law` of the columns and the numbers, by `export`. Labels appear only as quoted text.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import partial

from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Program
from spl.notation.export import check_format, export_program
from spl.notation.function_layouts import INDENT
from spl.notation.identifiers import make_identifiers
from spl.notation.languages import LANGUAGES
from spl.notation.latex import latex_name, latex_number, to_latex
from spl.notation.to_sympy import sympy_text, to_sympy

LAW = "law"  # the function of columns and numbers
TABLES = "NUMBERS"  # the beginning of the names of tables


def export_grouped(program: Program, own: Sequence[OwnNumber], format: str, *, target: str = "y") -> str:
    """Return a formula with own numbers in a format, with the numbers of all groups.

    Args:
        program: the formula; its own numbers are variables after the columns.
        own: these numbers.
        format: one of `FORMATS`. Code defines `predict` of all columns and of the group: its label, or its number from 0 in C.
        target: the name of the target, for a comment in the code.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> height = OwnNumber("k1", "wood", ("oak", "ash"), (0.7, 0.65))
        >>> print(export_grouped(parse_expression("k1*x", Vocabulary(("x", "k1"))), [height], "python"))
        # y = k1*x
        import numpy as np
        <BLANKLINE>
        <BLANKLINE>
        def law(x, k1):
            x = np.asarray(x, dtype=float)
            k1 = np.asarray(k1, dtype=float)
            return k1 * x
        <BLANKLINE>
        <BLANKLINE>
        NUMBERS_wood = {  # k1
            "oak": (0.7,),
            "ash": (0.65,),
        }
        <BLANKLINE>
        <BLANKLINE>
        def predict(x, wood):
            k1, = np.array([NUMBERS_wood[label] for label in np.ravel(wood)]).T
            return law(x, k1)
    """
    check_format(format)
    tables = _find_tables(own)
    if format == "sympy":
        lines = [f"# {each.name} = {dict(zip(each.labels, each.values, strict=True))}" for each in own]
        return "\n".join([sympy_text(to_sympy(program)), *lines])
    if format == "latex":
        return "\n\n".join([to_latex(program), *(latex_numbers(numbers) for numbers in tables.values())])
    names = program.vocabulary.variables
    reserved = LANGUAGES[format].reserved.union({LAW, TABLES})
    words = make_identifiers([*names, *tables], reserved)
    law = export_program(program, format, target=target, function=LAW)
    columns, groups = words[: len(names) - len(own)], dict(zip(tables, words[len(names) :], strict=True))
    identifiers = dict(zip((each.name for each in own), words[len(names) - len(own) : len(names)], strict=True))
    parts = [
        _Table(groups[name], tuple(identifiers[each.name] for each in numbers), tuple(numbers))
        for name, numbers in tables.items()
    ]
    return _WRITERS[format](law, columns, tuple(identifiers.values()), parts)


class _Table:
    """The numbers of one grouping."""

    def __init__(self, word: str, names: tuple[str, ...], numbers: tuple[OwnNumber, ...]) -> None:
        self.word, self.names, self.numbers = word, names, numbers

    @property
    def rows(self) -> list[tuple[str, list[float]]]:
        """The label and the numbers of each group."""
        return [(label, [each.values[k] for each in self.numbers]) for k, label in enumerate(self.numbers[0].labels)]


def _find_tables(own: Sequence[OwnNumber]) -> dict[str, list[OwnNumber]]:
    """Return the numbers of each grouping."""
    tables: dict[str, list[OwnNumber]] = {}
    for each in own:
        tables.setdefault(each.grouping, []).append(each)
    return tables


def latex_numbers(numbers: Sequence[OwnNumber]) -> str:
    r"""Return the own numbers of one grouping as a LaTeX table (package booktabs).

    Examples:
        >>> print(latex_numbers([OwnNumber("k1", "wood", ("oak", "ash"), (0.7, 0.65))]))
        \begin{tabular}{lr}
        \toprule
        $\mathrm{wood}$ & $k_{1}$ \\
        \midrule
        $\mathrm{oak}$ & $0.7$ \\
        $\mathrm{ash}$ & $0.65$ \\
        \bottomrule
        \end{tabular}
    """
    head = " & ".join([f"${latex_name(numbers[0].grouping)}$", *(f"${latex_name(each.name)}$" for each in numbers)])
    lines = [
        " & ".join([f"${latex_name(label)}$", *(_latex_value(each.values[k]) for each in numbers)])
        for k, label in enumerate(numbers[0].labels)
    ]
    columns = "l" + "r" * len(numbers)
    body = [rf"{line} \\" for line in lines]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _latex_value(value: float) -> str:
    return f"${latex_number(value)}$" if math.isfinite(value) else "--"


# ---- languages -----------------------------------------------------------------------------------


def _write_python(
    law: str, columns: Sequence[str], names: Sequence[str], tables: Sequence[_Table], array: str, nan: str
) -> str:
    parts = [law]
    lines = []
    for table in tables:
        rows = [
            f"{INDENT}{json.dumps(label)}: ({', '.join(_number(value, nan) for value in values)}{',' * (len(values) == 1)}),"
            for label, values in table.rows
        ]
        parts.append("\n".join([f"{TABLES}_{table.word} = {{  # {', '.join(table.names)}", *rows, "}"]))
        lines.append(
            f"{', '.join(table.names)}{',' * (len(table.names) == 1)} = "
            + array.format(f"[{TABLES}_{table.word}[label] for label in {_RAVEL[array].format(table.word)}]")
        )
    lines.append(f"return {LAW}({', '.join([*columns, *names])})")
    head = f"def predict({', '.join([*columns, *(table.word for table in tables)])}):"
    parts.append("\n".join([head, *(INDENT + line for line in lines)]))
    return "\n\n\n".join(parts)


_NUMPY, _TORCH, _JAX = "np.array({}).T", "torch.tensor({}, dtype=torch.float64).T", "jnp.array({}).T"
_RAVEL = {_NUMPY: "np.ravel({})", _TORCH: "{}", _JAX: "{}"}


def _number(value: float, nan: str) -> str:
    return repr(value) if math.isfinite(value) else nan


def _write_c(law: str, columns: Sequence[str], names: Sequence[str], tables: Sequence[_Table]) -> str:
    parts, places = [law], {}
    for table in tables:
        lines = [f"// {table.word} {k} is {json.dumps(label)}" for k, (label, _) in enumerate(table.rows)]
        for name, number in zip(table.names, table.numbers, strict=True):
            values = ", ".join(_number(value, "NAN") for value in number.values)
            lines.append(f"static const double {TABLES}_{name}[] = {{{values}}};")
            places[name] = f"{TABLES}_{name}[{table.word}]"
        parts.append("\n".join(lines))
    arguments = ", ".join([*(f"double {column}" for column in columns), *(f"int {table.word}" for table in tables)])
    call = ", ".join([*columns, *(places[name] for name in names)])
    parts.append(f"double predict({arguments})\n{{\n{INDENT}return {LAW}({call});\n}}")
    return "\n\n".join(parts)


def _write_julia(law: str, columns: Sequence[str], names: Sequence[str], tables: Sequence[_Table]) -> str:
    parts, lines = [law], []
    for table in tables:
        rows = [
            f"{INDENT}{_quote_julia(label)} => ({', '.join(_number(value, 'NaN') for value in values)},),"
            for label, values in table.rows
        ]
        parts.append("\n".join([f"const {TABLES}_{table.word} = Dict(  # {', '.join(table.names)}", *rows, ")"]))
        lines.append(f"{INDENT}{', '.join(table.names)}, = {TABLES}_{table.word}[{table.word}]")
    head = f"function predict({', '.join([*columns, *(table.word for table in tables)])})"
    call = f"{INDENT}return {LAW}({', '.join([*columns, *names])})"
    parts.append("\n".join([head, *lines, call, "end"]))
    return "\n\n".join(parts)


def _quote_julia(label: str) -> str:
    return json.dumps(label).replace("$", "\\$")


def _write_matlab(law: str, columns: Sequence[str], names: Sequence[str], tables: Sequence[_Table]) -> str:
    lines = []
    for table in tables:
        labels = ", ".join(_quote_matlab(label) for label, _ in table.rows)
        lines.append(f"[~, at] = ismember(cellstr({table.word}), {{{labels}}});")
        for name, number in zip(table.names, table.numbers, strict=True):
            values = ", ".join(_number(value, "NaN") for value in number.values)
            lines += [f"{name} = [{values}];", f"{name} = {name}(at);"]
    lines.append(f"result = {LAW}({', '.join([*columns, *names])});")
    head = f"function result = predict({', '.join([*columns, *(table.word for table in tables)])})"
    return "\n\n".join(["\n".join([head, *(INDENT + line for line in lines), "end"]), law])


def _quote_matlab(label: str) -> str:
    doubled = "".join(letter if letter.isprintable() else " " for letter in label).replace("'", "''")
    return f"'{doubled}'"


_WRITERS: dict[str, Callable[[str, Sequence[str], Sequence[str], Sequence[_Table]], str]] = {
    "python": partial(_write_python, array=_NUMPY, nan="np.nan"),
    "torch": partial(_write_python, array=_TORCH, nan="torch.nan"),
    "jax": partial(_write_python, array=_JAX, nan="jnp.nan"),
    "c": _write_c,
    "julia": _write_julia,
    "matlab": _write_matlab,
}
